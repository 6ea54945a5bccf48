"""Mechanisms in annotated abstracts: BioNLI's positive instances."""
