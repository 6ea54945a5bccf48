"""Scores: their means over runs, their names, the rows that they are of, and how they are shown."""

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...builders.core.markdown import markdown_table
from ...builders.core.registry import builders, get_builder
from ...metrics.rows import Rows
from .names import short_dataset_name

#: A test set by its short name, and the name of a score on it: see ``place_of``.
Place = tuple[str, str]

_TITLES = {
    "macro_f1": "macro-F1",
    "f1": "F1",
    "f1_positive": "F1 positive",
    "f1_negative": "F1 negative",
    "pattern_accuracy": "PA",
}


class MeanScore(NamedTuple):
    """A score of ours, or one that is published.

    Attributes:
        mean: Mean over runs, or the score of one; from 0 to 1.
        std: Standard deviation over runs (over n - 1); None of one run, or where a paper prints
            none.
        is_lower_bound: Whether a paper only states that the score is above ``mean``.
    """

    mean: float
    std: float | None = None
    is_lower_bound: bool = False

    def show(self, decimals: int = 2) -> str:
        """Write the score as a percentage.

        >>> MeanScore(0.7806, 0.0039).show()
        '78.06 ± 0.39'
        """
        spread = "" if self.std is None else f" ± {100 * self.std:.{decimals}f}"
        return f"{'> ' * self.is_lower_bound}{100 * self.mean:.{decimals}f}{spread}"


def mean_scores(runs: Sequence[Mapping[str, float]]) -> dict[str, MeanScore]:
    """Average the scores that all runs have; empty without runs."""
    shared = [name for name in runs[0] if all(name in run for run in runs)] if runs else []
    values = {name: [run[name] for run in runs] for name in shared}
    return {
        name: MeanScore(
            statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else None
        )
        for name, found in values.items()
    }


def place_of(test: str, score: str) -> Place:
    """Return the smallest test set that a score on a test set covers, and the score's name there.

    The rows of a domain are the same in every config that has them.

    >>> place_of("mscinli", "macro_f1 networks")
    ('mscinli/networks', 'macro_f1')
    """
    dataset, _, config = test.partition("/")
    if dataset not in builders():
        return test, score
    spec = get_builder(dataset).SPEC
    if config in spec.configs and (same := spec.configs[config].test_of):
        test = short_dataset_name(f"{dataset}/{same}")
    name, _, domain = score.partition(" ")
    if name == "macro_f1" and domain in spec.domains:
        if domain in spec.configs:
            return f"{dataset}/{domain}", name
        if domain == "acl" and dataset != "scinli":
            return "scinli", name
    return test, score


def full_title(name: str) -> str:
    """Return the title of a score where nothing else says which it is."""
    kind, _, part = name.partition(" ")
    return f"{_TITLES.get(kind, kind)} {part}".replace("_", " ").strip()


def score_title(name: str) -> str:
    """Return the title of a score as the head of a column, in a table that says its kind."""
    kind, _, part = name.partition(" ")
    if kind == "recall" or (kind == "macro_f1" and part):
        return part
    return f"mean, {part.replace('_', '-')}" if kind == "macro_recall" else full_title(name)


def show_difference(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.2f}"


def show_table(rows: Rows) -> str:
    """Write a table of a report in Markdown, numbers to the right."""
    return markdown_table(rows[0], rows[1:], aligns_numbers=True)
