"""Show the scores of systems as text, Markdown, LaTeX and CSV.

Systems are rows and scores are columns; broken down, the parts are rows and the systems columns.
"""

import csv
import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...builders.core.markdown import markdown_table
from ...metrics.rows import show_p_value, show_rows_as_text
from .systems import SystemScore, SystemTable

#: Columns that fit the line of a page.
_MAX_COLUMNS = 5
#: What the parts of the names of scores are called in tables.
_NAMES = {
    "macro_f1": "macro-F1",
    "f1": "F1",
    "pattern_accuracy": "PA",
    "area_under_curve": "area under the curve",
}
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    **{char: f"${char}$" for char in "<>"},
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "†": r"\textsuperscript{$\dagger$}",
}


@dataclass(frozen=True)
class _Table:
    """A table of cells.

    Attributes:
        score: The score that it is of; None if its columns are scores.
        head: The first row.
        rows: The first cell of each row, and the scores in its others.
    """

    score: str | None
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[SystemScore]]]


def name_score(name: str) -> str:
    """Return what a score is called in tables.

    >>> name_score("pattern_accuracy 0.95"), name_score("f1 neutral")
    ('PA 0.95', 'F1 neutral')
    """
    score, *rest = name.split(" ", 1)
    return " ".join([_NAMES.get(score, score.replace("_", " ")), *rest])


def _tables(table: SystemTable) -> Iterator[_Table]:
    """Yield the tables to show: one of all rows, or for each column and score one of its parts."""
    found = {(s.by, s.score, s.part, s.system): s for s in table.scores}
    columns = list(dict.fromkeys(score.by for score in table.scores))
    if columns == [None]:
        rows = [
            (name, [found[None, score, None, name] for score in table.shown])
            for name in table.systems
        ]
        yield _Table(None, ["system", *map(name_score, table.shown)], rows)
        return
    for by in columns:
        parts = list(dict.fromkeys(score.part for score in table.scores if score.by == by))
        for score in table.shown:
            rows = [
                (f"{part}", [found[by, score, part, name] for name in table.systems])
                for part in parts
            ]
            yield _Table(score, [str(by), *table.systems], rows)


def _value(score: SystemScore) -> str:
    """Show a score in per cent, with the standard deviation over its runs if it has several."""
    shown = f"{100 * score.mean:.1f}"
    return shown if score.std is None else f"{shown} ±{100 * score.std:.1f}"


def _interval(score: SystemScore) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"[{100 * score.low:.1f}, {100 * score.high:.1f}]"


def _p_value(score: SystemScore) -> str:
    return "" if score.p_value is None else f"p {show_p_value(score.p_corrected)}"


def _legend(table: SystemTable, best: str) -> str:
    """Say what a table shows, in one paragraph."""
    level = 100 * table.confidence_level
    legend = f"In per cent, with {level:g} % confidence intervals (Korn and Graubard)."
    if any(len(files) > 1 for files in table.systems.values()):
        legend += " Means and standard deviations over the runs."
    if len(table.systems) > 1:
        tests = "systems" if table.scores[0].by is None else "cells"
        legend += (
            f" {best}: the best; †: not significantly worse (two-sided exchange test, p-values "
            f"corrected by Holm's method over the {tests} of a score)."
        )
    return legend


def _title(table: SystemTable) -> str:
    told = table.dataset
    where = [str(told[key]) for key in ("config", "split") if told[key] is not None]
    name = " ".join(str(part) for part in (told["name"], told["version"]) if part is not None)
    return ", ".join([name, *where]) + f": {told['rows']:,} rows"


def as_text(table: SystemTable) -> str:
    """Return the tables as text: two lines a row, value and interval, and p-values below."""
    lines = [_title(table)]
    lines += [f"{name}: {', '.join(files)}" for name, files in table.systems.items()]
    for one in _tables(table):
        if one.score is not None:
            lines += ["", name_score(one.score)]
        cells: list[list[Any]] = [list(one.head)]
        for name, scores in one.rows:
            cells.append(
                [name, *(_value(s) + (" *" * s.is_best or " †" * s.is_close) for s in scores)]
            )
            below = [_interval(score) for score in scores]
            cells += [["", *below]] * any(below)
            tests = [_p_value(score) for score in scores]
            cells += [["", *tests]] * any(tests)
        lines += ["", show_rows_as_text(cells)]
    lines += ["", *textwrap.wrap(_legend(table, "*"), 100)]
    lines += [f"Note: {note}" for note in table.notes]
    return "\n".join([*lines, "", table.signature])


def as_markdown(table: SystemTable) -> str:
    """Return the tables in Markdown."""
    parts = [_title(table)]
    for one in _tables(table):
        if one.score is not None:
            parts.append(f"**{name_score(one.score)}**")
        rows = [
            [
                name,
                *(
                    "<br>".join(
                        filter(
                            None,
                            [
                                f"**{_value(s)}**" if s.is_best else _value(s) + "†" * s.is_close,
                                _interval(s),
                                _p_value(s),
                            ],
                        )
                    )
                    for s in scores
                ),
            ]
            for name, scores in one.rows
        ]
        parts.append(markdown_table(list(one.head), rows))
    parts += [_legend(table, "Bold"), *(f"Note: {note}" for note in table.notes)]
    return "\n\n".join([*parts, f"`{table.signature}`"]) + "\n"


def as_latex(table: SystemTable, *, caption: str | None, label: str | None) -> str:
    """Return a float for each table, ready to paste; wide ones are scaled to the line."""
    floats = []
    for number, one in enumerate(_tables(table), 1):
        of = f"{name_score(one.score)} on " if one.score is not None else ""
        name = re.sub(r"\W+", "-", str(table.dataset["name"])).strip("-")
        tag = (label or f"tab:{name}") + (f"-{number}" if one.score is not None else "")
        is_wide = len(one.head) > _MAX_COLUMNS
        lines = [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{_escape(caption or of + _title(table))}}}",
            rf"\label{{{tag}}}",
            *[r"\resizebox{\linewidth}{!}{%"] * is_wide,
            rf"\begin{{tabular}}{{l{'r' * (len(one.head) - 1)}}}",
            r"\toprule",
            " & ".join(map(_escape, one.head)) + r" \\",
            r"\midrule",
        ]
        for head, scores in one.rows:
            cells = [
                rf"\textbf{{{_escape(_value(s))}}}"
                if s.is_best
                else _escape(_value(s) + "†" * s.is_close)
                for s in scores
            ]
            lines.append(" & ".join([_escape(head), *cells]) + r" \\")
            for show in (_interval, _p_value):
                if any(below := [_escape(show(score)) for score in scores]):
                    small = [rf"{{\scriptsize {text}}}" for text in below]
                    lines.append(" & ".join(["", *small]).lstrip() + r" \\")
        note = f"{_legend(table, 'Bold')} {table.signature}"
        lines += [
            r"\bottomrule",
            r"\end{tabular}" + "}" * is_wide,
            rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {_breakable(note)}}}",
            r"\end{table}",
        ]
        floats.append("\n".join(lines))
    return "\n\n".join(floats) + "\n"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def _breakable(text: str) -> str:
    """Escape a text in which lines may break after what joins the parts of a signature."""
    return re.sub(r"(\\textbar\{\}|[,:])(?=\S)", r"\1\\allowbreak{}", _escape(text))


def as_csv(table: SystemTable) -> str:
    """Return a line for each score of each system."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text, [field.name for field in fields(SystemScore)], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(_plain(asdict(score)) for score in table.scores)
    return text.getvalue()


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in record.items()}
