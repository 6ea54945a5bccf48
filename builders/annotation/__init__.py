"""Annotation: tasks for people, their answers, agreement, and the version that they confirm.

``task`` has the four questions and the public functions; ``batch`` writes
them for people, ``answers`` imports what comes back, ``agreement`` and ``pattern_labels`` measure
it, and ``build`` builds the version.

Source: SciNLI, section 3.3; MSciNLI, section on its test and development sets; BioNLI,
sections 3.5 and 4.5; SpaceNLI, section 3.1.
"""
