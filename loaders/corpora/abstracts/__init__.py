"""Readers of annotated abstracts, and of records of mechanisms."""
