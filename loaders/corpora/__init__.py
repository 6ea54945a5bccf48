"""Readers of raw material: pattern banks and mini worlds."""
