"""Commands for the annotation of evaluation pairs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command import command
from .options import Json, answer, names, quotas, tell

if TYPE_CHECKING:
    from ..builders.annotation.agreement import AnnotatorAgreement, Share
    from ..builders.annotation.completions import Completions
    from ..builders.annotation.pattern_labels import PatternValidation
    from ..builders.annotation.rounds import Review
    from ..builders.annotation.true_negatives import Quality, Verdict

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
MinAgreement = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Of patterns: share of pairs of annotators with the same label, below which a "
        "pattern is of low agreement; default two thirds.",
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
    per_strategy: Annotated[
        int | None, typer.Option(min=1, help="Negatives of each strategy; default 25.")
    ] = None,
    controls: Annotated[
        int | None, typer.Option(min=0, help="Positives among the negatives; default 0.")
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
    per_pattern: Annotated[
        int | None, typer.Option(min=1, help="Problems of each pattern; default 3.")
    ] = None,
    annotators: Annotated[
        int | None,
        typer.Option(min=2, help="People who judge each pair; default 2, of patterns 3."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which pairs are drawn.")] = 1,
    as_json: Json = False,
) -> None:
    """Write a blind sample: of adversarial negatives, or of the problems of each pattern.

    Of negatives, as BioNLI's, experts are asked whether the hypothesis can be concluded; of
    patterns, as SpaceNLI's, to what extent the hypothesis is true, on a scale of five points.
    """
    from .. import annotation

    common = _given({"seed": seed, "n_annotators": annotators})
    of_negatives = {
        "strategies": names(strategies) or None,
        "per_strategy": per_strategy,
        "n_controls": controls,
    }
    of_patterns = {
        "patterns": names(patterns) or None,
        "categories": names(categories) or None,
        "per_pattern": per_pattern,
    }
    if _has_patterns(version):
        _refuse("negatives", "--strategies, --per-strategy and --controls", of_negatives)
        made = annotation.sample_patterns(version, batches, **_given(of_patterns), **common)
    else:
        _refuse("patterns", "--patterns, --categories and --per-pattern", of_patterns)
        made = annotation.sample_negatives(version, batches, **_given(of_negatives), **common)
    what = "pattern " if _has_patterns(version) else ""
    for kind, lacking in made.short.items():
        tell(f"{what}{kind}: {lacking:,} fewer than asked for are left")
    tell(f"{made.n_pairs:,} pairs; hand out {made.sheets} alone")
    answer(str(made.folder), as_json, lambda: str(made.folder))


@command(app)
def import_command(
    version: Version,
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="Sheets, or Label Studio's JSON or CSV."),
    ],
    batches: Batches,
    per_class: PerClassOfPapers = None,
    min_agreement: MinAgreement = None,
    as_json: Json = False,
) -> None:
    """Import the answers to the last batch, and report the state of the annotation."""
    from .. import annotation

    bound = _bound(version, min_agreement)
    if per_class is None and bound is not None:
        _show_patterns(annotation.import_validation(version, batches, answers, **bound), as_json)
        return
    if per_class is None:
        _show_quality(annotation.import_judgements(version, batches, answers), as_json)
        return
    _show(annotation.import_answers(version, batches, answers, quotas(per_class)), as_json)


@command(app)
def review_command(
    version: Version,
    batches: Batches,
    per_class: PerClassOfPapers = None,
    min_agreement: MinAgreement = None,
    as_json: Json = False,
) -> None:
    """Report the state of the annotation: agreement, kappa, what is missing, labels that hold."""
    from .. import annotation

    bound = _bound(version, min_agreement)
    if per_class is None and bound is not None:
        _show_patterns(annotation.review_validation(version, batches, **bound), as_json)
        return
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
        typer.Argument(
            metavar="[ANSWERS...]",
            help="Sheets, or Label Studio's JSON or CSV, to import.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tally the codes of errors: by code, label, category and coder, with agreement."""
    from .. import annotation
    from .errors import show_codes

    imported = annotation.import_codes(folder, answers) if answers else None
    found = imported or annotation.review_codes(folder)
    answer(found.as_json(), as_json, lambda: show_codes(found))


def _has_patterns(version: Path) -> bool:
    from ..builders.annotation.pattern_problems import has_patterns
    from ..builders.versions.version import BuiltVersion

    return has_patterns(BuiltVersion(version))


def _bound(version: Path, min_agreement: float | None) -> dict[str, float] | None:
    """Return the bound of low agreement as it was given; None where there are no patterns."""
    of_patterns = _given({"min_agreement": min_agreement})
    if _has_patterns(version):
        return of_patterns
    _refuse("patterns", "--min-agreement", of_patterns)
    return None


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(kind: str, flags: str, options: dict[str, Any]) -> None:
    if _given(options):
        raise typer.BadParameter(f"The version has no {kind}: leave out {flags}.")


def _show(found: "Review", as_json: bool) -> None:
    missing = {"/".join(cell): number for cell, number in found.gold.missing.items() if number}
    value: dict[str, Any] = {
        **found.agreement.as_json(),
        "dropped": dict(found.gold.dropped),
        "missing": missing,
        "is_complete": found.gold.is_complete,
        "completions": found.completions.as_json(),
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
    from ..builders.procedures.patterns.answer_scale import show_kappa

    if not agreement.n_for_kappa:
        return "not measured: no pair has all its answers"
    return f"{show_kappa(agreement.kappa)} over {agreement.n_for_kappa:,} pairs"


def _completions_as_text(found: "Completions") -> Iterator[str]:
    by_person = ", ".join(f"{name} {number:,}" for name, number in found.by_person.items())
    told = f" (written by {by_person})" if by_person else ""
    yield f"{'completed':14} {found.n_sentences:,} sentences of {len(found.texts):,} pairs{told}"
    for one in found.conflicts:
        yield f"{'conflict':14} {one.key} {one.column}, {one.id}:"
        yield from (f"{'':14}   {name}: {text}" for name, text in one.texts.items())
    if found.conflicts:
        yield f"{'':14} Write which to take into completions.csv of the batch, and import it."


def _as_text(found: "Review") -> Iterator[str]:
    agreement = found.agreement
    shares = {"all": agreement.overall, **agreement.by_class}
    for name, share in shares.items():
        yield f"{name:14} {share.n:,} of {share.of:,} confirmed ({100 * share.value:.1f} %)"
    yield f"Fleiss' kappa  {_kappa_as_text(agreement)}"
    for outcome, number in agreement.outcomes.items():
        yield f"{outcome:14} {number:,}"
    yield from _completions_as_text(found.completions)
    for cell, number in found.gold.missing.items():
        if number:
            yield f"missing        {number:,} {cell.label} in {cell.split} of {cell.domain}"
    if found.gold.is_complete:
        yield "Every class has its quota: build the version with nlihub annotate build."
    else:
        yield "Ask for the next batch: nlihub annotate export."


def _show_patterns(found: "PatternValidation", as_json: bool) -> None:
    answer(found.as_json(), as_json, lambda: "\n".join(_patterns_as_text(found)))


def _patterns_as_text(found: "PatternValidation") -> Iterator[str]:
    from ..builders.annotation.gold import (
        GOLD_DIFFERS,
        KEPT,
        NO_MAJORITY,
        NOT_ENOUGH_ANSWERS,
    )
    from ..builders.annotation.pattern_labels import LOW_AGREEMENT, OTHERS
    from ..builders.procedures.patterns.answer_scale import show_kappa

    for name, one in found.annotators.items():
        others = ", ".join(f"{answer} {one.answers[answer]:,}" for answer in OTHERS)
        n = sum(one.answers.values())
        yield f"{name:16} scale {one.mapping} (false-unknown-true); {n:,} answers, {others}"
    n_pairs = len(found.kappas)
    yield (
        f"Cohen's kappa    {show_kappa(found.kappa)}, the mean of {n_pairs} pairs "
        f"({show_kappa(found.symmetric_kappa)} with the scale 2-1-2 for all)"
    )
    for pair, kappa in found.kappas.items():
        yield (
            f"  {' and '.join(pair)}: {show_kappa(kappa.chosen)} over {kappa.n_problems:,} "
            f"problems ({show_kappa(kappa.symmetric)})"
        )
    for outcome, number in found.outcomes.items():
        yield f"{'problems':16} {number:,} {outcome}"
    shares = {"all": found.unanimity, **found.by_label, **found.by_category}
    yield "unanimous with the label of the pattern; then without patterns to remove"
    for name, share in shares.items():
        yield f"  {name:20} {_share(share.before)}; {_share(share.after)}"
    yield f"{'patterns':16} {len(found.with_status(KEPT)):,} of {len(found.patterns):,} hold"
    if n_open := len(found.with_status(NOT_ENOUGH_ANSWERS)):
        yield f"{'':16} {n_open:,} have not enough answers"
    for status in (NO_MAJORITY, LOW_AGREEMENT, GOLD_DIFFERS):
        if these := found.with_status(status):
            yield f"{status:16} {len(these):,}: {', '.join(these)}"
    if removed := len(found.with_status(NO_MAJORITY)) + len(found.with_status(LOW_AGREEMENT)):
        yield f"Remove or revise the {removed:,} patterns of {NO_MAJORITY} or {LOW_AGREEMENT}."


def _share(share: "Share") -> str:
    if not share.of:
        return "none answered by all"
    return f"{share.n:,} of {share.of:,} ({100 * share.value:.1f} %)"
