"""Readers of raw material: papers, annotated abstracts, pattern banks and mini worlds."""
