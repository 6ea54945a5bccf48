"""Consistency over a positive and its adversarial negatives (BioNLI, section 4.4)."""
