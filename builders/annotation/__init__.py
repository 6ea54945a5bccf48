"""Annotation: batches for annotators, their answers, agreement, gold labels, validated patterns.

A folder of batches holds all that a later session needs: for each batch the question, the
annotators, and the answers that came back.

Source: SciNLI, section 3.3; MSciNLI, section on its test and development sets; BioNLI,
section 3.5; SpaceNLI, section 3.1.
"""
