"""The papers' published results, read from ``published.json``."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ...loaders.errors import NLIHubError, SchemaError
from ..runs.config import VIEWS, Subset

_SCORE = re.compile(
    r"(macro_f1|accuracy|f1_positive|f1_negative)"
    r"|(macro_f1|f1|recall|macro_recall) [\w-]+"
    r"|(pattern_accuracy|consistency) [01]\.\d+"
)
_SOURCE = re.compile(r"(\w+), (Tables? .+|section .+)")


@dataclass(frozen=True)
class PublishedScore:
    """A published score.

    Attributes:
        mean: Mean over runs, from 0 to 1.
        std: Standard deviation over runs, from 0 to 0.5; None if the paper prints none.
        is_lower_bound: Whether the paper only states that the score is above ``mean``.

    Raises:
        SchemaError: A number is out of its range.
    """

    mean: float
    std: float | None = None
    is_lower_bound: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.mean <= 1 or not (self.std is None or 0 <= self.std <= 0.5):
            raise SchemaError(
                f"{self.mean} ± {self.std} is not a score; expected a mean from 0 to 1 and a "
                "standard deviation from 0 to 0.5."
            )


@dataclass(frozen=True)
class PublishedResult:
    """The published result of one system on one test set.

    Attributes:
        source: The paper and its table, ``"SciNLI, Table 6"``.
        system: The paper's name of the system.
        preset: The preset of the same system.
        train: Short name of the training set, ``scinli`` or ``mscinli/hardware``; None without one.
        test: Short name of the test set.
        view: What the system saw of a pair: ``pair`` or ``hypothesis``.
        n_shots: Training rows of each pattern, or exemplars in the prompt; None for none.
        scores: The scores, named like those of ``read_runs.Evaluation.scores``.
        n_runs: Number of runs of the means; None if the paper does not state it.
        subset: The subset of the training rows that the system saw.
        details: Further settings of the system, a part of ``RunConfig.details``.
        needs: Details that a run needs to be the same system, besides those of the preset.
        note: What is odd about the result.

    Raises:
        SchemaError: A score, the source or the view is malformed.
    """

    source: str
    system: str
    preset: str
    train: str | None
    test: str
    view: str
    n_shots: int | None
    scores: Mapping[str, PublishedScore]
    n_runs: int | None = None
    subset: Subset | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    note: str | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.scores if not _SCORE.fullmatch(name)]
        if unknown or not self.scores:
            raise SchemaError(
                f"{', '.join(unknown) or 'nothing'} is not the name of a score; expected one such "
                "as macro_f1."
            )
        if not _SOURCE.fullmatch(self.source):
            raise SchemaError(
                f"{self.source!r} is not a source; expected one such as 'SciNLI, Table 6'."
            )
        if self.view not in VIEWS:
            raise SchemaError(f"{self.view!r} is not a view; expected one of {', '.join(VIEWS)}.")


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return the results of the papers' tables, in the order of the papers and their tables.

    Source: SciNLI, Tables 4 to 7; MSciNLI, Tables 3 to 9, 14, 15, 17 and 19; BioNLI, Table 5;
        SpaceNLI, Tables 4 and 5, section 4.2.3.
    """
    text = (files(__package__) / "published.json").read_text(encoding="utf-8")
    return read_published_results(json.loads(text))


def read_published_results(entries: Sequence[Mapping[str, Any]]) -> tuple[PublishedResult, ...]:
    """Read published results of papers from JSON objects with the fields of ``PublishedResult``.

    Raises:
        SchemaError: Some results are malformed; the message lists all of them.
    """
    results, problems = [], []
    for number, entry in enumerate(entries, 1):
        try:
            results.append(_result(**entry))
        except (NLIHubError, TypeError, AttributeError) as error:
            problems.append(f"result {number} ({entry.get('source')}): {error}")
    if problems:
        raise SchemaError(f"{len(problems)} published results are wrong:\n" + "\n".join(problems))
    return tuple(results)


def _result(
    *,
    scores: Mapping[str, Any],
    subset: Mapping[str, Any] | None = None,
    needs: Sequence[str] = (),
    **others: Any,
) -> PublishedResult:
    return PublishedResult(
        scores={name: PublishedScore(**score) for name, score in scores.items()},
        subset=None if subset is None else Subset(**subset, run=""),  # the run is none of ours
        needs=tuple(needs),
        **others,
    )
