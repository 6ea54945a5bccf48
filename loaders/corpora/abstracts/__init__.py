"""Reads annotated abstracts, and records of mechanisms."""
