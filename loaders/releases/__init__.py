"""Readers of the official release files: strict about form, tolerant of the texts' oddities."""

from collections import Counter

#: Number of texts, or of columns, by the oddity that they have and keep.
Oddities = Counter[str]
