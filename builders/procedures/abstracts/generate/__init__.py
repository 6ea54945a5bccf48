"""Negatives that a model writes: GEN, and GEN-ND under lexical constraints.

Training and asking a model needs ``nlihub[baselines]``; naming settings does not.

Source:
    BioNLI, section 3.3.2 and Appendix B.
"""
