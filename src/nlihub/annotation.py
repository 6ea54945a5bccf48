"""Have people judge pairs: evaluation pairs from papers, samples of negatives or patterns, errors.

``export``, ``import_answers``, ``review`` and ``build`` lead from a version that was made from
papers to one whose evaluation pairs people have confirmed (SciNLI, section 3.3).
``sample_negatives``, ``import_judgements`` and ``review_judgements`` ask experts how many negatives
are true ones (BioNLI, section 3.5). ``sample_patterns``, ``import_validation`` and
``review_validation`` ask on a 5-point scale whether problems have the label of their pattern
(SpaceNLI, section 3.1). ``sample_errors``, ``import_codes`` and ``review_codes`` have people code
what makes a system err (BioNLI, Table 6; SciNLI, section 5).
"""

from .baselines.evaluation.errors import sample_errors
from .builders.annotation.error_codes import import_codes, review_codes
from .builders.annotation.judgements import (
    import_judgements,
    review_judgements,
    sample_negatives,
)
from .builders.annotation.pattern_validation import (
    import_validation,
    review_validation,
    sample_patterns,
)
from .builders.annotation.rounds import build, export, import_answers, review

__all__ = [
    "build",
    "export",
    "import_answers",
    "import_codes",
    "import_judgements",
    "import_validation",
    "review",
    "review_codes",
    "review_judgements",
    "review_validation",
    "sample_errors",
    "sample_negatives",
    "sample_patterns",
]
