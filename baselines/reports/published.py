"""The results that the papers print, as ``published.json`` holds them."""

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
    """A score as a paper prints it.

    Attributes:
        mean: From 0 to 1.
        std: Its standard deviation over runs; None where none is printed.
        is_lower_bound: Whether the paper says only that the score is above the mean.
    """

    mean: float
    std: float | None = None
    is_lower_bound: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.mean <= 1 or not (self.std is None or 0 <= self.std <= 0.5):
            raise SchemaError(f"{self.mean} ± {self.std} is no score; expected shares of 1.")


@dataclass(frozen=True)
class PublishedResult:
    """What a table of a paper says of one system on one test set.

    Attributes:
        source: The paper and its table, ``"SciNLI, Table 6"``.
        system: The system as the paper calls it.
        preset: The preset that sets a run up in the same way.
        train: What it was trained on, ``scinli`` or ``mscinli/hardware``; None if on nothing.
        test: What it was tested on.
        view: What of a pair it saw.
        n_shots: Rows a pattern that it was trained on, or exemplars in its prompt; None for none.
        scores: Its scores, named like those of ``Evaluation.scores``.
        n_runs: Over how many runs the means are; None where that is not said.
        subset: The part of the training rows that it saw.
        details: What else sets it apart, as in ``RunConfig.details``.
        needs: Details that a run has to have to be the same system, though its preset has them not.
        note: What is odd about it.
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
            raise SchemaError(f"{', '.join(unknown) or 'nothing'} is no score.")
        if not _SOURCE.fullmatch(self.source):
            raise SchemaError(f"{self.source!r} names no paper and table.")
        if self.view not in VIEWS:
            raise SchemaError(f"{self.view!r} is no view; expected one of {', '.join(VIEWS)}.")


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """The results of the papers' tables, in the order of the papers and their tables.

    Source: SciNLI, Tables 4 to 7; MSciNLI, Tables 3 to 9, 14, 15, 17 and 19; BioNLI, Table 5;
        SpaceNLI, Tables 4 and 5, section 4.2.3.
    """
    text = (files(__package__) / "published.json").read_text(encoding="utf-8")
    return read_results(json.loads(text))


def read_results(entries: Sequence[Mapping[str, Any]]) -> tuple[PublishedResult, ...]:
    """Reads published results, objects with the fields of ``PublishedResult``.

    Raises:
        SchemaError: Some are malformed; all of them are listed.
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
