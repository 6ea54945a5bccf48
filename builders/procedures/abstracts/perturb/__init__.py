"""Strategies that make a conclusion wrong by rule, and the grammar that they share.

Source:
    BioNLI, section 3.3.1.
"""
