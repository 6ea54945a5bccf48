"""Consistency over a positive and its adversarial negatives, as in BioNLI (section 4.4)."""
