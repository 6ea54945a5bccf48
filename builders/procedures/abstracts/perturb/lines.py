"""Negatives as records to write, one for each line of JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..mechanisms.mechanism import Mechanism
from .run import AllNegatives


def list_lines(mechanism: Mechanism, found: AllNegatives) -> Iterator[dict[str, Any]]:
    """The negatives of a mechanism, by strategy and in the order in which they were drawn.

    Args:
        mechanism: The positive.
        found: What was made of it.

    Yields:
        For each negative its fields. The ``id`` has pmid and strategy, and from the second negative
        of a strategy on its number; ``edits`` are offsets in ``positive``, in characters.
    """
    for strategy, made in found.made.items():
        for number, perturbed in enumerate(made, start=1):
            name = f"{mechanism.pmid}-{strategy}"
            yield {
                "id": name if number == 1 else f"{name}-{number}",
                "pmid": mechanism.pmid,
                "strategy": strategy,
                "premise": " ".join(mechanism.supporting),
                "positive": mechanism.conclusion,
                "negative": perturbed.text,
                "detail": perturbed.detail,
                "edits": [asdict(edit) for edit in perturbed.edits],
                "regulator": mechanism.regulator,
                "regulated": mechanism.regulated,
            }
