"""Readers of the official release files: strict about form, tolerant of the texts' oddities."""
