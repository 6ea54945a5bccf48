"""Ways to make a conclusion wrong by rule, each in a module of its own.

Source:
    BioNLI, section 3.3.1.
"""
