"""Confidence and variability of groups (SpaceNLI, section 5; MSciNLI)."""
