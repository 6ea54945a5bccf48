"""Commands for tasks for people: pairs, negatives, patterns, errors."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command import command
from .options import Json, answer, names, quotas, tell

if TYPE_CHECKING:
    from ..builders.annotation.agreement import AnnotatorAgreement, Quality, Review, Share, Verdict
    from ..builders.annotation.answers import Completions
    from ..builders.annotation.batch import Batch as ExportedBatch
    from ..builders.annotation.pattern_labels import PatternValidation

app = typer.Typer(
    help="Have people judge the evaluation pairs of a dataset that was built from papers, a "
    "sample of adversarial negatives or of the problems of each pattern, or code errors of a "
    "system.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Version = Annotated[Path, typer.Argument(metavar="FOLDER", help="The version, as it was built.")]
Batches = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder of all batches of this annotation.")
]
Batch = Annotated[
    Path,
    typer.Argument(metavar="BATCHES", help="The folder of batches: of pairs, or of errors."),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many pairs there are, as many of each class and domain, strategy or pattern; "
        "default all that are missing, 25 of each strategy, or 3 of each pattern.",
    ),
]
_QUOTAS = typer.Option(
    metavar="SPLIT=N,...",
    help="Confirmed pairs of each class and domain that are wanted: validation=500,test=1000",
)
MinAgreement = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Of patterns: share of pairs of annotators with the same label, below which a "
        "pattern is of low agreement; default two thirds.",
    ),
]
Seed = Annotated[int, typer.Option(help="Decides which pairs are drawn.")]


@command(app)
def export_command(
    version: Version,
    batches: Batches,
    per_class: Annotated[str, _QUOTAS],
    pairs: Pairs = None,
    annotators: Annotated[int, typer.Option(min=2, help="People who judge each pair.")] = 3,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Write the next batch: a sheet for each annotator, tasks for Label Studio, instructions."""
    from .. import annotation

    wanted = quotas(per_class)
    made = annotation.export(
        version, batches, wanted, n_pairs=pairs, n_annotators=annotators, seed=seed
    )
    _tell_batch(made, as_json)


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
    controls: Annotated[
        int | None, typer.Option(min=0, help="How many of the pairs are positives; default 0.")
    ] = None,
    patterns: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Draw from these patterns; default all.")
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Draw from patterns of these inference classes, as in directional; default all.",
        ),
    ] = None,
    pairs: Pairs = None,
    annotators: Annotated[
        int | None,
        typer.Option(min=2, help="People who judge each pair; default 2, of patterns 3."),
    ] = None,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Write a blind sample: of adversarial negatives, or of the problems of each pattern.

    Of negatives, as BioNLI's, experts are asked whether the hypothesis can be concluded; of
    patterns, as SpaceNLI's, to what extent the hypothesis is true, on a scale of five points.
    """
    from .. import annotation
    from ..builders.annotation.task import has_patterns
    from ..builders.versions.version import BuiltVersion

    of_negatives = {"strategies": names(strategies) or None, "n_controls": controls}
    of_patterns = {"patterns": names(patterns) or None, "categories": names(categories) or None}
    is_of_patterns = has_patterns(BuiltVersion(version))
    given, others = (of_patterns, of_negatives) if is_of_patterns else (of_negatives, of_patterns)
    if any(value is not None for value in others.values()):
        flags = "--strategies and --controls" if is_of_patterns else "--patterns and --categories"
        raise typer.BadParameter(f"Leave out {flags}: the version has no such pairs.")
    options: dict[str, Any] = {**given, "n_pairs": pairs, "n_annotators": annotators}
    draw = annotation.sample_patterns if is_of_patterns else annotation.sample_negatives
    options = {name: value for name, value in options.items() if value is not None}
    _tell_batch(draw(version, batches, **options, seed=seed), as_json)


def _tell_batch(made: "ExportedBatch", as_json: bool) -> None:
    for kind, lacking in made.short.items():
        tell(f"{kind}: {lacking:,} fewer than asked for are left")
    tell(f"{made.n_pairs:,} pairs; hand out {made.sheets} alone")
    answer(str(made.folder), as_json, lambda: str(made.folder))


@command(app)
def import_command(
    batches: Batch,
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="Sheets, or Label Studio's JSON or CSV."),
    ],
    min_agreement: MinAgreement = None,
    as_json: Json = False,
) -> None:
    """Import answers to any batches of a folder, and report agreement."""
    from .. import annotation

    if min_agreement is not None:
        annotation.review(batches, min_agreement=min_agreement)  # refuses what has no patterns
    annotation.import_answers(batches, answers)
    _show(batches, min_agreement, as_json)


@command(app)
def review_command(
    batches: Batch, min_agreement: MinAgreement = None, as_json: Json = False
) -> None:
    """Report on the answers: agreement, kappa, what is missing, labels that hold."""
    _show(batches, min_agreement, as_json)


@command(app)
def build_command(
    version: Version,
    batches: Batches,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Builds FOLDER/NAME.")
    ],
    per_class: Annotated[
        str | None,
        typer.Option(metavar="SPLIT=N,...", help=f"{_QUOTAS.help}; default as in export."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build the version whose evaluation splits have only confirmed pairs."""
    from .. import annotation

    wanted = None if per_class is None else quotas(per_class)
    folder = annotation.build(version, batches, output, wanted)
    answer(str(folder), as_json, lambda: str(folder))


def _show(batches: Path, min_agreement: float | None, as_json: bool) -> None:
    from .. import annotation
    from ..builders.annotation.agreement import CodeTally, Quality, Review, to_json
    from .errors import show_codes

    found = annotation.review(batches, min_agreement=min_agreement)
    if isinstance(found, CodeTally):
        answer(to_json(found), as_json, lambda: show_codes(found))
    elif isinstance(found, Review):
        answer(to_json(found), as_json, lambda: "\n".join(_review_as_text(found)))
    elif isinstance(found, Quality):
        answer(to_json(found), as_json, lambda: "\n".join(_quality_as_text(found)))
    else:
        answer(to_json(found), as_json, lambda: "\n".join(_patterns_as_text(found)))


def _quality_as_text(found: "Quality") -> Iterator[str]:
    from ..builders.annotation.agreement import (
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
    from ..builders.core.kappa import show_kappa

    if not agreement.n_for_kappa:
        return "not measured: no pair has all its answers"
    return f"{show_kappa(agreement.kappa)} over {agreement.n_for_kappa:,} pairs"


def _completions_as_text(found: "Completions") -> Iterator[str]:
    by_person = ", ".join(f"{name} {number:,}" for name, number in found.by_person.items())
    told = f" (written by {by_person})" if by_person else ""
    yield f"{'completed':14} {found.sentences:,} sentences of {found.pairs:,} pairs{told}"
    for one in found.conflicts:
        yield f"{'conflict':14} {one.key} {one.column}, {one.id}:"
        yield from (f"{'':14}   {name}: {text}" for name, text in one.texts.items())
    if found.conflicts:
        yield f"{'':14} Write which to take into completions.csv of the batch, and import it."


def _review_as_text(found: "Review") -> Iterator[str]:
    agreement = found.agreement
    shares = {"all": agreement.overall, **agreement.by_class}
    for name, share in shares.items():
        shown = f"{share.n:,} of {share.of:,} confirmed ({100 * share.value:.1f} %)"
        yield f"{name:14} {shown if share.of else 'none decided'}"
    yield f"Fleiss' kappa  {_kappa_as_text(agreement)}"
    for outcome, number in agreement.outcomes.items():
        yield f"{outcome:14} {number:,}"
    yield from _completions_as_text(found.completions)
    for cell, number in found.missing.items():
        yield f"missing        {number:,} {cell}"
    if found.is_complete:
        yield "Every class has its quota: build the version with nlihub annotate build."
    else:
        yield "Ask for the next batch: nlihub annotate export."


def _patterns_as_text(found: "PatternValidation") -> Iterator[str]:
    from ..builders.annotation.agreement import (
        GOLD_DIFFERS,
        KEPT,
        NO_MAJORITY,
        NOT_ENOUGH_ANSWERS,
    )
    from ..builders.annotation.pattern_labels import LOW_AGREEMENT
    from ..builders.core.kappa import show_kappa

    for name, one in found.annotators.items():
        others = ", ".join(f"{answer} {n:,}" for answer, n in list(one.answers.items())[5:])
        sizes = "-".join(str(n) for n in Counter(one.mapping.values()).values())
        n = sum(one.answers.values())
        yield f"{name:16} scale {sizes} (false-unknown-true); {n:,} answers, {others}"
    yield (
        f"Cohen's kappa    {show_kappa(found.kappa)}, the mean of {len(found.pairs)} pairs "
        f"({show_kappa(found.symmetric_kappa)} with the scale 2-1-2 for all)"
    )
    for kappa in found.pairs:
        yield (
            f"  {' and '.join(kappa.annotators)}: {show_kappa(kappa.chosen)} over "
            f"{kappa.n_problems:,} problems ({show_kappa(kappa.symmetric)})"
        )
    for outcome, number in found.problems.items():
        yield f"{'problems':16} {number:,} {outcome}"
    shares = {"all": found.unanimous, **found.by_label, **found.by_category}
    yield "unanimous with the label of the pattern; then without patterns to remove"
    for name, share in shares.items():
        yield f"  {name:20} {_share(share.before)}; {_share(share.after)}"
    yield f"{'patterns':16} {len(found.with_status(KEPT)):,} of {len(found.patterns):,} hold"
    if n_open := len(found.with_status(NOT_ENOUGH_ANSWERS)):
        yield f"{'':16} {n_open:,} have not enough answers"
    for status in (NO_MAJORITY, LOW_AGREEMENT, GOLD_DIFFERS):
        if these := found.with_status(status):
            yield f"{status:16} {len(these):,}: {', '.join(these)}"
    if found.to_remove:
        n = len(found.to_remove)
        yield f"Remove or revise the {n:,} patterns of {NO_MAJORITY} or {LOW_AGREEMENT}."


def _share(share: "Share") -> str:
    if not share.of:
        return "none answered by all"
    return f"{share.n:,} of {share.of:,} ({100 * share.value:.1f} %)"
