"""Readers of the official release files: strict about form, tolerant of the texts' oddities."""

from collections import Counter

#: Number of texts, or of columns, by what is odd about them, and kept as it is.
Oddities = Counter[str]
