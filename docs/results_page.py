"""The page of all results: those of papers, and those of ``benchmarks/scores.json``."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from nlihub.baselines.reports.names import place_of
from nlihub.baselines.reports.published import PublishedResult, published_results
from nlihub.baselines.tables import MeanScore
from nlihub.builders.core.markdown import markdown_table
from nlihub.builders.core.registry import get_builder

#: Titles of the columns; ``results.js`` knows them from the table's head.
COLUMNS = (
    "dataset",
    "tested on",
    "system",
    "trained on",
    "setting",
    "metric",
    "score in %",
    "source",
    "kind",
    "comparable",
)
#: Columns that a reader can choose a value of.
_CHOSEN = ("dataset", "tested on", "metric", "kind", "comparable")

_PAGE = """---
hide: [toc]
search: {{exclude: true}}
---

<link rel="stylesheet" href="results.css">

# All results

What papers print and what we measured, a row for each score. A published result is *comparable*
where `nlihub baseline report` sets it beside a run in the same setting, a measured one where a
paper has its setting; otherwise the cell says what differs. "±" is the standard deviation over
runs, and "> 99" is all that the paper states. Commands of measured scores are explained in [What
was measured](../measured.md).

{controls}

{table}

<script src="results.js"></script>
"""


class Row(NamedTuple):
    """A row of the table, as Markdown; the fields are those of ``COLUMNS``."""

    dataset: str
    tested_on: str
    system: str
    trained_on: str
    setting: str
    metric: str
    score: str
    source: str
    kind: str
    comparable: str


def results_page(root: Path) -> str:
    """Return the page.

    Args:
        root: The checkout.
    """
    rows = [*published_rows(), *measured_rows(root)]
    table = markdown_table(COLUMNS, rows, aligns_numbers=True)
    return _PAGE.format(controls=_controls(rows), table=table)


def published_rows() -> Iterator[Row]:
    """Yield a row for each score of each published result, in their order."""
    for result in published_results():
        needed = ("GloVe vectors",) if "vectors" in result.details else ()
        for name, score in result.scores.items():
            yield Row(
                *_place(result.test, name),
                result.system,
                result.train or "",
                _setting(result.view, result.n_shots, result.n_runs, *needed),
                place_of(result.test, name)[1],
                str(score),
                with_note(result.source, result.note),
                "published",
                _comparable(result.differs),
            )


def measured_rows(root: Path) -> Iterator[Row]:
    """Yield a row for each score of ``benchmarks/scores.json``, in the order of the file."""
    for result in measured_results(root):
        for name, score in result["scores"].items():
            yield Row(
                *_place(result["test"], name),
                result["system"],
                result["train"] or "",
                _setting(result["view"], result["n_shots"], result["n_runs"]),
                place_of(result["test"], name)[1],
                str(MeanScore(**score, decimals=result["decimals"])),
                with_note(f"`{result['command']}`", result.get("note")),
                "measured",
                _comparable(result["differs"]),
            )


def measured_results(root: Path) -> list[dict[str, Any]]:
    """Read ``benchmarks/scores.json``: the scores that ``benchmarks/README.md`` tells, as data."""
    return json.loads((root / "benchmarks" / "scores.json").read_text(encoding="utf-8"))


def with_note(source: str, note: str | None) -> str:
    """Write a source, and what is odd about the result."""
    return f"{source}; {note}" if note else source


def describe_system(result: PublishedResult) -> str:
    """Write the name of a system with what it saw, where the paper's name does not say it."""
    system = result.system
    if result.view != "pair" and "alone" not in system:
        system += f", {result.view} alone"
    if result.n_shots is not None and "shot" not in system:
        system += f", {result.n_shots} shots"
    return system


def _place(test: str, score: str) -> tuple[str, str]:
    dataset, _, config = place_of(test, score)[0].partition("/")
    return dataset, f"{config or get_builder(dataset).SPEC.default_config}, test"


def _setting(view: str, n_shots: int | None, n_runs: int | None, *more: str) -> str:
    told = [f"{view} only"] if view != "pair" else []
    if n_shots is not None:
        told.append(f"{n_shots} shot{'s' * (n_shots != 1)}")
    if n_runs is not None:
        told.append(f"{n_runs} run{'s' * (n_runs != 1)}")
    return ", ".join([*told, *more])


def _comparable(differs: str | None) -> str:
    return f"no: {differs}" if differs else "yes"


def _controls(rows: list[Row]) -> str:
    """Write the form, which the script shows: a search field, and a list for each chosen column."""
    fields = ['<label>search <input type="search" name="search"></label>']
    for title in _CHOSEN:
        values = {row[COLUMNS.index(title)].partition(":")[0] for row in rows}
        options = "".join(f"<option>{escape(value)}</option>" for value in sorted(values))
        choice = f'<select name="{title}"><option value="">all</option>{options}</select>'
        fields.append(f"<label>{title} {choice}</label>")
    fields += ['<button type="reset">Show all</button>', '<output aria-live="polite"></output>']
    return '<form class="results" hidden>\n' + "\n".join(fields) + "\n</form>"
