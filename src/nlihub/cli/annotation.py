"""Commands for the annotation of evaluation pairs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command import command
from .options import Json, answer, names, quotas, tell

if TYPE_CHECKING:
    from ..builders.annotation.agreement import AnnotatorAgreement
    from ..builders.annotation.rounds import Review
    from ..builders.annotation.true_negatives import Quality, Verdict

app = typer.Typer(
    help="Have people judge the evaluation pairs of a dataset that was built from papers, or a "
    "sample of adversarial negatives, or code errors of a system.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Version = Annotated[Path, typer.Argument(metavar="FOLDER", help="The version, as it was built.")]
Batches = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder of all batches of this annotation.")
]
_QUOTAS = typer.Option(
    metavar="SPLIT=N,...",
    help="Confirmed pairs of each class and domain that are wanted: validation=500,test=1000",
)
PerClass = Annotated[str, _QUOTAS]
PerClassOfPapers = Annotated[
    str | None,
    typer.Option(
        metavar="SPLIT=N,...", help=f"Of pairs from papers, not of a sample. {_QUOTAS.help}"
    ),
]


@command(app)
def export_command(
    version: Version,
    batches: Batches,
    per_class: PerClass,
    size: Annotated[
        int | None,
        typer.Option(min=1, help="Pairs of each class and domain; default all that are missing."),
    ] = None,
    annotators: Annotated[int, typer.Option(min=2, help="People who judge each pair.")] = 3,
    seed: Annotated[int, typer.Option(help="Decides which pairs are drawn.")] = 1,
    as_json: Json = False,
) -> None:
    """Write the next batch: a sheet for each annotator, tasks for Label Studio, instructions."""
    from .. import annotation

    made = annotation.export(
        version,
        batches,
        quotas(per_class),
        size_per_class=size,
        n_annotators=annotators,
        seed=seed,
    )
    for cell, lacking in made.short.items():
        place = f"{cell.label} in {cell.split} of {cell.domain}"
        tell(f"{place}: {lacking:,} fewer than asked for are left")
    tell(f"{made.n_pairs:,} pairs; hand out {made.sheets} alone")
    answer(str(made.folder), as_json, lambda: str(made.folder))


@command(app)
def sample_command(
    version: Version,
    batches: Batches,
    strategies: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Draw negatives of these, as in GEN,GEN-ND; default all."
        ),
    ] = None,
    per_strategy: Annotated[int, typer.Option(min=1, help="Negatives of each strategy.")] = 25,
    controls: Annotated[int, typer.Option(min=0, help="Positives that are mixed in.")] = 0,
    annotators: Annotated[int, typer.Option(min=2, help="Experts who judge each pair.")] = 2,
    seed: Annotated[int, typer.Option(help="Decides which pairs are drawn.")] = 1,
    as_json: Json = False,
) -> None:
    """Write a blind sample of adversarial negatives: can the hypothesis be concluded?"""
    from .. import annotation

    made = annotation.sample_negatives(
        version,
        batches,
        strategies=names(strategies) or None,
        per_strategy=per_strategy,
        n_controls=controls,
        n_annotators=annotators,
        seed=seed,
    )
    for kind, lacking in made.short.items():
        tell(f"{kind}: {lacking:,} fewer than asked for are left")
    tell(f"{made.n_pairs:,} pairs; hand out {made.sheets} alone")
    answer(str(made.folder), as_json, lambda: str(made.folder))


@command(app)
def import_command(
    version: Version,
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS...", help="Sheets, or Label Studio's export.")
    ],
    batches: Batches,
    per_class: PerClassOfPapers = None,
    as_json: Json = False,
) -> None:
    """Import the answers to the last batch, and report the state of the annotation."""
    from .. import annotation

    if per_class is None:
        _show_quality(annotation.import_judgements(version, batches, answers), as_json)
        return
    _show(annotation.import_answers(version, batches, answers, quotas(per_class)), as_json)


@command(app)
def review_command(
    version: Version,
    batches: Batches,
    per_class: PerClassOfPapers = None,
    as_json: Json = False,
) -> None:
    """Report the state of the annotation: agreement, kappa, what is missing, true negatives."""
    from .. import annotation

    if per_class is None:
        _show_quality(annotation.review_judgements(version, batches), as_json)
        return
    _show(annotation.review(version, batches, quotas(per_class)), as_json)


@command(app)
def build_command(
    version: Version,
    batches: Batches,
    per_class: PerClass,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Builds FOLDER/NAME.")
    ],
    as_json: Json = False,
) -> None:
    """Build the version whose evaluation splits have only confirmed pairs."""
    from .. import annotation

    folder = annotation.build(version, batches, output, quotas(per_class))
    answer(str(folder), as_json, lambda: str(folder))


@command(app)
def codes_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Errors that nlihub score --errors drew.")
    ],
    answers: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[ANSWERS...]", help="Sheets, or Label Studio's export, to import."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tally the codes of errors: by code, label, category and coder, with agreement."""
    from .. import annotation
    from .errors import show_codes

    imported = annotation.import_codes(folder, answers) if answers else None
    found = imported or annotation.review_codes(folder)
    answer(found.as_json(), as_json, lambda: show_codes(found))


def _show(found: "Review", as_json: bool) -> None:
    missing = {"/".join(cell): number for cell, number in found.gold.missing.items() if number}
    value: dict[str, Any] = {
        **found.agreement.as_json(),
        "dropped": dict(found.gold.dropped),
        "missing": missing,
        "is_complete": found.gold.is_complete,
    }
    answer(value, as_json, lambda: "\n".join(_as_text(found)))


def _show_quality(found: "Quality", as_json: bool) -> None:
    answer(found.as_json(), as_json, lambda: "\n".join(_quality_as_text(found)))


def _quality_as_text(found: "Quality") -> Iterator[str]:
    from ..builders.annotation.gold import (
        NO_MAJORITY,
        NOT_ANNOTATED,
        NOT_ENOUGH_ANSWERS,
        UNCLEAR_MAJORITY,
    )

    for name, verdict in {**found.strategies, "all negatives": found.negatives}.items():
        yield f"{name:14} {_verdict_as_text(verdict, 'true negatives')}"
    if found.controls:
        yield f"{'controls':14} {_verdict_as_text(found.controls, 'judged entailed')}"
    agreement = found.agreement
    yield f"Fleiss' kappa  {_kappa_as_text(agreement)}"
    for outcome in (NO_MAJORITY, UNCLEAR_MAJORITY, NOT_ENOUGH_ANSWERS, NOT_ANNOTATED):
        yield f"{outcome:14} {agreement.outcomes[outcome]:,}"


def _verdict_as_text(verdict: "Verdict", what: str) -> str:
    share = verdict.as_expected
    if verdict.interval is None:
        return f"{verdict.n_pairs:,} pairs, none decided"
    low, high = verdict.interval
    return (
        f"{share.n:,} of {share.of:,} {what} ({100 * share.value:.1f} %, 95 % interval "
        f"{100 * low:.1f}-{100 * high:.1f}); of single answers {100 * verdict.answers.value:.1f} %"
    )


def _kappa_as_text(agreement: "AnnotatorAgreement") -> str:
    if not agreement.n_for_kappa:
        return "not measured: no pair has all its answers"
    return f"{agreement.kappa:.2f} over {agreement.n_for_kappa:,} pairs"


def _as_text(found: "Review") -> Iterator[str]:
    agreement = found.agreement
    shares = {"all": agreement.overall, **agreement.by_class}
    for name, share in shares.items():
        yield f"{name:14} {share.n:,} of {share.of:,} confirmed ({100 * share.value:.1f} %)"
    yield f"Fleiss' kappa  {_kappa_as_text(agreement)}"
    for outcome, number in agreement.outcomes.items():
        yield f"{outcome:14} {number:,}"
    for cell, number in found.gold.missing.items():
        if number:
            yield f"missing        {number:,} {cell.label} in {cell.split} of {cell.domain}"
    if found.gold.is_complete:
        yield "Every class has its quota: build the version with nlihub annotate build."
    else:
        yield "Ask for the next batch: nlihub annotate export."
