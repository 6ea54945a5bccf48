"""Errors to read: the options of ``nlihub score`` that draw them, and their codes as text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..loaders.errors import UsageError
from .options import tell

if TYPE_CHECKING:
    from ..baselines.evaluation.errors import ErrorsSample
    from ..builders.annotation.agreement import CodeTally, Share

    Draw = Callable[..., ErrorsSample]

_SUBJECT = "Errors to read"
#: The value of ``--errors-by`` that draws among all errors alike.
_NOTHING = "none"
#: Shown for rows without a value.
_BLANK = "(none)"
_MAX_COLUMNS = 8
_MAX_KINDS = 12


@dataclass(frozen=True)
class ErrorOptions:
    """The draw of errors for people to code."""

    errors: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Draw N errors into sheets for coders; with --against, of both systems.",
            rich_help_panel=_SUBJECT,
        ),
    ] = None
    codes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The coding scheme: a CSV file with the columns code and description.",
            rich_help_panel=_SUBJECT,
        ),
    ] = None
    errors_to: Annotated[
        Path | None,
        typer.Option(
            "--errors-to", metavar="FOLDER", help="The folder to make.", rich_help_panel=_SUBJECT
        ),
    ] = None
    errors_by: Annotated[
        str | None,
        typer.Option(
            "--errors-by",
            metavar="COLUMN|none",
            help="Balance errors over a column: label (default), category, group, ...",
            rich_help_panel=_SUBJECT,
        ),
    ] = None
    coders: Annotated[
        int | None,
        typer.Option(
            min=1, help="People who code every error; default 2.", rich_help_panel=_SUBJECT
        ),
    ] = None

    def plan(self, predictions: Sequence[Path]) -> "Draw | None":
        """Check the options before anything is scored; return the draw, None where none is asked.

        Raises:
            UsageError: One option needs another, or the predictions are of several runs.
            AnnotationError: The coding scheme is malformed.
            OutputError: The folder exists.
        """
        if self.errors is None:
            others = (self.codes, self.errors_to, self.errors_by, self.coders)
            if any(value is not None for value in others):
                raise UsageError("Say how many errors to draw: --errors N.")
            return None
        if self.codes is None or self.errors_to is None:
            raise UsageError("--errors needs a coding scheme and a folder: --codes, --errors-to.")
        if len(predictions) > 1:
            raise UsageError("Errors are drawn of one run; give one file of predictions.")
        from .. import annotation
        from ..baselines.evaluation.errors import check_output
        from ..builders.annotation.questions import read_coding_scheme

        read_coding_scheme(self.codes)
        check_output(self.errors_to)
        return partial(
            annotation.sample_errors,
            predictions[0],
            output=self.errors_to,
            codes=self.codes,
            n_errors=self.errors,
            by=None if self.errors_by == _NOTHING else self.errors_by or "label",
            n_coders=self.coders or 2,
        )


def tell_errors(found: "ErrorsSample") -> None:
    """Say on stderr which errors were drawn, and what to hand out."""
    if found.n_lacking:
        tell(f"{_plural(found.n_lacking, 'error')} fewer than asked for: these are all there are")
    if len(found.strata) > _MAX_KINDS:
        tell(f"balanced over {len(found.strata):,} kinds of errors; see --json")
    else:
        for part in found.strata:
            names = (part.missed_by, _BLANK if part.value == "" else part.value)
            kind = ", ".join(name for name in names if name) or "errors"
            tell(f"{kind}: {part.n_drawn:,} of {_plural(part.n_errors, 'error')}")
    tell(f"{_plural(found.n_errors, 'error')} to code; hand out {found.sheets} alone")


def show_codes(found: "CodeTally") -> str:
    """Show the codes of errors: tables by code, value and coder, and the agreement of coders."""
    return "\n".join(_lines(found))


def _lines(found: "CodeTally") -> Iterator[str]:
    from ..builders.core.kappa import show_kappa
    from ..metrics.rows import Rows, show_rows_as_text

    n_codings = sum(share.n for share in found.codes.values())
    yield f"{' against '.join(found.origin['systems'])}: {_plural(found.n_errors, 'error')} drawn"
    yield f"{found.n_errors - found.n_uncoded:,} coded, {found.n_uncoded:,} not; " + _plural(
        n_codings, "coding"
    )
    if not n_codings:
        yield "Hand out the sheets, and import them: nlihub annotate import FOLDER ANSWERS..."
        return
    rows: Rows = [["code", "codings", "share", "as a further code"]]
    for name, share in found.codes.items():
        rows.append([name, share.n, _percent(share), found.further[name].n])
    yield from ("", show_rows_as_text(rows))
    if len(found.by_coder) > 1:
        yield from ("", "By coder", show_rows_as_text(_table(found.by_coder)))
    for column, shares in found.by.items():
        title = f"By {column.replace('_', ' ')}"
        if len(shares) > _MAX_COLUMNS:
            yield from ("", f"{title}: {len(shares):,} values; see --json")
        else:
            yield from ("", title, show_rows_as_text(_table(shares)))
    yield ""
    for coder, number in found.blank.items():
        yield f"{coder}: {_plural(number, 'error')} left blank"
    if found.same_main.of:
        yield (
            f"Fleiss' kappa of the main code {show_kappa(found.kappa)}; the same main code for "
            f"{found.same_main.n:,} of {_plural(found.same_main.of, 'error')} that all have coded "
            f"({_percent(found.same_main)})"
        )
    by = found.origin["by"]
    if by is not None or len(found.origin["systems"]) > 1:
        yield "The draw is balanced: shares are those of the errors drawn, not of all errors."


def _table(shares: "Mapping[str, Mapping[str, Share]]") -> list[list[Any]]:
    """Return a table of codes by value: codings, and their share among those of the value."""
    names = list(next(iter(shares.values())))
    rows = [["code", *(value or _BLANK for value in shares)]]
    for name in names:
        cells = (found[name] for found in shares.values())
        rows.append([name, *(f"{one.n} ({_percent(one)})" if one.n else "0" for one in cells)])
    return rows


def _percent(share: "Share") -> str:
    return f"{100 * share.value:.1f} %"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
