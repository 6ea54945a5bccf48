"""Negatives that a model writes: GEN, and GEN-ND under lexical constraints.

Needs ``nlihub[baselines]`` where a model is trained or asked; the names of settings do not.

Source:
    BioNLI, section 3.3.2 and Appendix B.
"""
