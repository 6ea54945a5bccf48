"""Have people judge pairs: evaluation pairs from papers, samples of negatives or patterns, errors.

``export`` draws evaluation pairs of a version that was made from papers, and ``build`` builds the
one that people have confirmed (SciNLI, section 3.3). ``sample_negatives`` asks experts how many
negatives are true ones (BioNLI, section 3.5), ``sample_patterns`` on a 5-point scale whether
problems have the label of their pattern (SpaceNLI, section 3.1), ``sample_errors`` what makes a
system err (BioNLI, Table 6; SciNLI, section 5). ``import_answers`` takes the answers to any of
them, and ``review`` measures these.
"""

from .baselines.evaluation.errors import sample_errors
from .builders.annotation.build import build
from .builders.annotation.task import (
    export,
    import_answers,
    review,
    sample_negatives,
    sample_patterns,
)

__all__ = [
    "build",
    "export",
    "import_answers",
    "review",
    "sample_errors",
    "sample_negatives",
    "sample_patterns",
]
