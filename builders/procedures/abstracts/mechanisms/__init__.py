"""Finds mechanisms in annotated abstracts: BioNLI's positive instances."""
