"""A run: what was asked, where it is kept, and what came out."""
