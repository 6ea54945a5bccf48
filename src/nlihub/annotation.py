"""Have people judge pairs: evaluation pairs made from papers, or a sample of adversarial negatives.

``export``, ``import_answers``, ``review`` and ``build`` lead from a version that was made from
papers to one whose evaluation pairs people have confirmed (SciNLI, section 3.3).
``sample_negatives``, ``import_judgements`` and ``review_judgements`` ask experts how many negatives
are true ones (BioNLI, section 3.5).
"""

from .builders.annotation.judgements import (
    import_judgements,
    review_judgements,
    sample_negatives,
)
from .builders.annotation.rounds import build, export, import_answers, review

__all__ = [
    "build",
    "export",
    "import_answers",
    "import_judgements",
    "review",
    "review_judgements",
    "sample_negatives",
]
