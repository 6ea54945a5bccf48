"""Commands for tasks for people: pairs, negatives, patterns, errors."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt
from cyclopts.validators import Number

from ..builders.annotation.agreement import (
    GOLD_DIFFERS,
    KEPT,
    NO_MAJORITY,
    NOT_ENOUGH_ANSWERS,
    AnnotatorAgreement,
    CodeTally,
    Quality,
    Review,
    Share,
    Verdict,
    show_kappa,
    to_json,
)
from ..builders.annotation.batch import Batch
from ..builders.annotation.pattern_labels import LOW_AGREEMENT, PatternValidation
from ..builders.core.options import Names, parse_quotas, read_by
from ..loaders.errors import UsageError
from .options import Input, Json, answer, plural, tell

#: Confirmed pairs by split.
Quotas = read_by(parse_quotas, "SPLIT=N,...")
Annotators = Annotated[int, Parameter(validator=Number(gte=2))]
#: Shown for errors without a value.
_BLANK = "(none)"
_MAX_COLUMNS = 8


def export_command(
    version: Path,
    /,
    *,
    batches: Path,
    per_class: Annotated[Mapping[str, int], Quotas],
    pairs: PositiveInt | None = None,
    annotators: Annotators = 3,
    seed: int = 1,
    as_json: Json = False,
) -> None:
    """Write the next batch: a sheet for each annotator, tasks for Label Studio, instructions.

    Args:
        version: The folder of the version, as it was built.
        batches: The folder of all batches of this annotation.
        per_class: Confirmed pairs of each class and domain that are wanted:
            validation=500,test=1000
        pairs: How many pairs there are, in proportion to what each class and domain lacks;
            default what they lack.
        annotators: People who judge each pair.
        seed: Decides which pairs are drawn.
    """
    from .. import annotation

    made = annotation.export(
        version, batches, per_class, n_pairs=pairs, n_annotators=annotators, seed=seed
    )
    _tell_batch(made, as_json)


def sample_command(
    version: Path,
    /,
    *,
    batches: Path,
    strategies: Names = (),
    controls: NonNegativeInt | None = None,
    patterns: Names = (),
    pairs: PositiveInt | None = None,
    annotators: Annotators | None = None,
    seed: int = 1,
    as_json: Json = False,
) -> None:
    """Write a blind sample: of adversarial negatives, or of the problems of each pattern.

    Of negatives, as BioNLI's, experts are asked whether the hypothesis can be concluded; of
    patterns, as SpaceNLI's, to what extent the hypothesis is true, on a scale of five points.

    Args:
        version: The folder of the version, as it was built.
        batches: The folder of all batches of this annotation.
        strategies: Draw negatives of these, as in GEN,GEN-ND; default all.
        controls: How many of the pairs are positives; default 0.
        patterns: Draw from these patterns; default all.
        pairs: How many pairs there are, as many of each strategy or pattern; default 25 of each
            strategy, or 3 of each pattern.
        annotators: People who judge each pair; default 2, of patterns 3.
        seed: Decides which pairs are drawn.
    """
    from .. import annotation
    from ..builders.versions.version import BuiltVersion
    from ..loaders.corpora.patterns.pattern_bank import LABELS

    of_negatives = {"strategies": strategies or None, "n_controls": controls}
    of_patterns = {"patterns": patterns or None}
    is_of_patterns = tuple(BuiltVersion(version).manifest.labels) == LABELS
    given, others = (of_patterns, of_negatives) if is_of_patterns else (of_negatives, of_patterns)
    if any(value is not None for value in others.values()):
        flags = "--strategies and --controls" if is_of_patterns else "--patterns"
        raise UsageError(f"Leave out {flags}: the version has no such pairs.")
    options: dict[str, Any] = {**given, "n_pairs": pairs, "n_annotators": annotators}
    draw = annotation.sample_patterns if is_of_patterns else annotation.sample_negatives
    options = {name: value for name, value in options.items() if value is not None}
    _tell_batch(draw(version, batches, **options, seed=seed), as_json)


def _tell_batch(made: Batch, as_json: bool) -> None:
    for kind, lacking in made.short.items():
        tell(f"{kind}: {lacking:,} fewer than asked for are left")
    tell(f"{made.n_pairs:,} pairs; hand out {made.sheets} alone")
    answer(str(made.folder), as_json, lambda: str(made.folder))


def import_command(batches: Path, /, *answers: Input, as_json: Json = False) -> None:
    """Import answers to any batches of a folder, and report agreement.

    Args:
        batches: The folder of batches: of pairs, or of errors.
        answers: Sheets, or Label Studio's JSON.
    """
    from .. import annotation

    annotation.import_answers(batches, answers)
    _show(batches, as_json)


def review_command(batches: Path, /, *, as_json: Json = False) -> None:
    """Report on the answers: agreement, kappa, what is missing, labels that hold.

    Args:
        batches: The folder of batches: of pairs, or of errors.
    """
    _show(batches, as_json)


def build_command(
    version: Path,
    /,
    *,
    batches: Path,
    output: Annotated[Path, Parameter(alias="-o", metavar="FOLDER")],
    per_class: Annotated[Mapping[str, int] | None, Quotas] = None,
    as_json: Json = False,
) -> None:
    """Build the version whose evaluation splits have only confirmed pairs.

    Args:
        version: The folder of the version, as it was built.
        batches: The folder of all batches of this annotation.
        output: Builds FOLDER/NAME.
        per_class: Confirmed pairs of each class and domain that are wanted; default as in export.
    """
    from .. import annotation

    folder = annotation.build(version, batches, output, per_class)
    answer(str(folder), as_json, lambda: str(folder))


def _show(batches: Path, as_json: bool) -> None:
    from .. import annotation

    shown: Mapping[type, Callable[[Any], Iterator[str]]] = {
        CodeTally: _codes_as_text,
        Review: _review_as_text,
        Quality: _quality_as_text,
        PatternValidation: _patterns_as_text,
    }
    found = annotation.review(batches)
    answer(to_json(found), as_json, lambda: "\n".join(shown[type(found)](found)))


def _quality_as_text(found: Quality) -> Iterator[str]:
    for name, verdict in {**found.strategies, "all negatives": found.negatives}.items():
        yield f"{name:14} {_verdict_as_text(verdict, 'true negatives')}"
    if found.controls:
        yield f"{'controls':14} {_verdict_as_text(found.controls, 'judged entailed')}"
    yield from _agreement_as_text(found.agreement)


def _verdict_as_text(verdict: Verdict, what: str) -> str:
    share = verdict.as_expected
    if verdict.interval is None:
        return f"{verdict.n_pairs:,} pairs, none decided"
    low, high = verdict.interval
    return (
        f"{share.n:,} of {share.of:,} {what} ({100 * share.value:.1f} %, 95 % interval "
        f"{100 * low:.1f}-{100 * high:.1f}); of single answers {100 * verdict.answers.value:.1f} %"
    )


def _agreement_as_text(agreement: AnnotatorAgreement) -> Iterator[str]:
    yield f"Fleiss' kappa  {_kappa_as_text(agreement)}"
    for outcome, number in agreement.outcomes.items():
        yield f"{outcome:14} {number:,}"


def _kappa_as_text(found: AnnotatorAgreement | CodeTally) -> str:
    if not found.n_for_kappa:
        return "not measured: no pair has all its answers"
    return f"{show_kappa(found.kappa)} over {found.n_for_kappa:,} pairs"


def _review_as_text(found: Review) -> Iterator[str]:
    agreement = found.agreement
    shares = {"all": agreement.overall, **agreement.by_class}
    for name, share in shares.items():
        yield f"{name:14} {_share(share, ' confirmed')}"
    yield from _agreement_as_text(agreement)
    n_sentences = sum(map(len, found.completed.values()))
    yield f"{'completed':14} {n_sentences:,} sentences of {len(found.completed):,} pairs"
    for key, columns in found.conflicts.items():
        for column, texts in columns.items():
            yield f"{'conflict':14} {key} {column}:"
            yield from (f"{'':14}   {name}: {text}" for name, text in texts.items())
    if found.conflicts:
        yield f"{'':14} Write the same into their sheets, and import these again."
    for cell, number in found.missing.items():
        yield f"missing        {number:,} {cell}"
    if found.is_complete:
        yield "Every class has its quota: build the version with nlihub annotate build."
    else:
        yield "Ask for the next batch: nlihub annotate export."


def _patterns_as_text(found: PatternValidation) -> Iterator[str]:
    for name, mapping in found.mappings.items():
        given = found.answers[name]
        n = sum(given.values())
        others = ", ".join(f"{answer} {n:,}" for answer, n in list(given.items())[5:])
        sizes = "-".join(str(n) for n in Counter(mapping.values()).values())
        yield f"{name:16} scale {sizes} (false-unknown-true); {n:,} answers, {others}"
    yield f"Cohen's kappa    {show_kappa(found.kappa)}, the mean of {len(found.pairs)} pairs"
    for pair, kappa in found.pairs.items():
        yield f"  {' and '.join(pair)}: {show_kappa(kappa)}"
    for outcome, number in found.problems.items():
        yield f"{'problems':16} {number:,} {outcome}"
    yield "unanimous with the label of the pattern; then without patterns to remove"
    for name, share in found.unanimous.items():
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


def _share(share: Share, what: str = "") -> str:
    return f"{share.n:,} of {share.of:,}{what} ({_percent(share)})" if share.of else "none decided"


def _codes_as_text(found: CodeTally) -> Iterator[str]:
    from ..metrics.rows import Rows, show_rows_as_text

    n_codings = sum(share.n for share in found.codes.values())
    yield f"{' against '.join(found.origin['systems'])}: {plural(found.n_errors, 'error')} drawn"
    yield f"{found.n_errors - found.n_uncoded:,} coded, {found.n_uncoded:,} not; " + plural(
        n_codings, "coding"
    )
    if not n_codings:
        yield "Hand out the sheets, and import them: nlihub annotate import FOLDER ANSWERS..."
        return
    rows: Rows = [["code", "codings", "share"]]
    rows += [[name, share.n, _percent(share)] for name, share in found.codes.items()]
    yield from ("", show_rows_as_text(rows))
    for column, shares in found.by.items():
        title = f"By {column.replace('_', ' ')}"
        if len(shares) > _MAX_COLUMNS:
            yield from ("", f"{title}: {len(shares):,} values; see --json")
        else:
            yield from ("", title, show_rows_as_text(_codes_by_value(shares)))
    yield ""
    yield f"Fleiss' kappa  {_kappa_as_text(found)}"
    if found.origin["by"] is not None or len(found.origin["systems"]) > 1:
        yield "The draw is balanced: shares are those of the errors drawn, not of all errors."


def _codes_by_value(shares: Mapping[str, Mapping[str, Share]]) -> list[list[Any]]:
    """Return a table of codes by value: codings, and their share among those of the value."""
    names = list(next(iter(shares.values())))
    rows = [["code", *(value or _BLANK for value in shares)]]
    for name in names:
        cells = (found[name] for found in shares.values())
        rows.append([name, *(f"{one.n} ({_percent(one)})" if one.n else "0" for one in cells)])
    return rows


def _percent(share: Share) -> str:
    return f"{100 * share.value:.1f} %"
