"""Balance negated forms among positives and negatives, so that they do not give labels away.

Flipping a predicate mostly negates an affirmed conclusion, and few conclusions are denied: where a
hypothesis is negated, it is hardly ever entailed. What can be done is to keep few of these
negatives, and all of those that affirm what is denied.

Source:
    BioNLI, Table 5: a model that sees the hypothesis alone tells VNeg at 94 %.
"""

import re
from collections.abc import Sequence

from ...core.keyed import keyed_number
from .mechanisms.mechanism import Mechanism
from .negatives import Negative

#: Why a negative is left out.
UNBALANCED = "its form would give it away"
_NEGATED = re.compile(
    r"\b(?:not|cannot|no|never|neither|nor|none|without)\b|n['\u2019]t\b", re.IGNORECASE
)
_FLIPPED = "VNeg"


def is_negated(text: str) -> bool:
    """Return whether a sentence has a word of negation.

    >>> is_negated("Aspirin does not cause fever."), is_negated("Aspirin causes fever.")
    (True, False)
    """
    return _NEGATED.search(text) is not None


def balance_negation(
    mechanisms: Sequence[Mechanism], made: Sequence[Sequence[Negative]], seed: int
) -> list[list[Negative]]:
    """Leave out negated ``VNeg`` until negatives are negated as often as positives.

    Args:
        mechanisms: n positives.
        made: The negatives of each.
        seed: Decides which are left out.

    Returns:
        The negatives that are left.
    """
    share = sum(is_negated(one.conclusion) for one in mechanisms) / max(len(mechanisms), 1)
    flipped = [
        (keyed_number(seed, "balance", one.pmid), number)
        for number, (one, negatives) in enumerate(zip(mechanisms, made, strict=True))
        if any(n.category == _FLIPPED and is_negated(n.text) for n in negatives)
    ]
    others = [
        n
        for negatives in made
        for n in negatives
        if n.category != _FLIPPED or not is_negated(n.text)
    ]
    n_negated = sum(is_negated(n.text) for n in others)
    # (kept + n_negated) / (kept + others) = share
    n_kept = int((share * len(others) - n_negated) / (1 - share)) if share < 1 else len(flipped)
    left_out = {number for _, number in sorted(flipped)[max(n_kept, 0) :]}
    return [
        [n for n in negatives if number not in left_out or n.category != _FLIPPED]
        for number, negatives in enumerate(made)
    ]
