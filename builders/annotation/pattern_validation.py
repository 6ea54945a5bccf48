"""The public functions on the labels of patterns: problems for annotators, and what they answer."""

from collections.abc import Sequence

import pyarrow as pa

from ...loaders.errors import UsageError
from ...loaders.paths import local_path
from ..procedures.patterns.answer_scale import SCALE
from ..versions.open import PathLike
from ..versions.version import BuiltVersion
from .answers import check_answered, import_answer_files, read_answers
from .batches import (
    AnnotationBatch,
    BatchExport,
    check_batches,
    export_batch,
    read_annotation_batches,
)
from .pattern_labels import MIN_AGREEMENT, PatternValidation, measure_patterns
from .pattern_problems import draw_problems, read_problems
from .questions import EXTENT_OF_TRUTH

__all__ = ["import_validation", "review_validation", "sample_patterns"]

_COMMAND = "nlihub annotate sample"


def sample_patterns(
    version: PathLike,
    batches: PathLike,
    *,
    per_pattern: int = 3,
    patterns: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    n_annotators: int = 3,
    seed: int = 1,
) -> BatchExport:
    """Write a blind sample of each pattern for annotators: to what extent is the hypothesis true?

    Args:
        version: Folder of a version that was drawn from patterns: SpaceNLI, or a bank of one's own.
        batches: The folder of all batches; a new one is made in it, of other problems than the
            earlier ones.
        per_pattern: Problems of each pattern.
        patterns: The patterns; None for all.
        categories: The inference classes of the patterns; None for all.
        n_annotators: How many people judge each problem, 2 or more.
        seed: Decides which problems are drawn.

    Raises:
        UnknownNameError: There is no such pattern or inference class.
        UsageError: The version is none of that kind, nothing is asked for or left, the last batch
            has no answers yet, or the batches ask something else or others.
        AnnotationError: The batches, or the answers to them, are malformed or of other problems.
        OutputError: Another batch was written at the same time.

    Source: SpaceNLI, section 3.1: a 5-point scale, ``difficult`` and ``skip``; three annotators and
        three random problems of each pattern.
    """
    built = BuiltVersion(local_path(version))
    folder = local_path(batches)
    problems = read_problems(built)
    earlier = read_annotation_batches(folder)
    _check_question(earlier)
    check_answered(earlier)
    done = _ids(earlier)
    check_batches(earlier, read_problems(built, done))
    ids, short = draw_problems(
        problems, done, per_pattern, seed, patterns=patterns, categories=categories
    )
    found = read_problems(built, ids)
    places = {id_: row for row, id_ in enumerate(found["id"].to_pylist())}
    drawn = found.take(pa.array([places[id_] for id_ in ids], pa.int64()))
    batch = export_batch(folder, earlier, drawn, SCALE, n_annotators, EXTENT_OF_TRUTH)
    return BatchExport(batch.folder, batch.sheets, len(drawn), short)


def import_validation(
    version: PathLike,
    batches: PathLike,
    answers: Sequence[PathLike],
    *,
    min_agreement: float = MIN_AGREEMENT,
) -> PatternValidation:
    """Import answers to the last sample of patterns, and measure agreement and labels.

    Args:
        version: Folder of the version that the sample was drawn from.
        batches: The folder of all batches.
        answers: The sheets, filled in, or an export of Label Studio.
        min_agreement: A pattern is of low agreement where a smaller share of the pairs of
            annotators gave the same label, from 0 to 1.

    Raises:
        UsageError: There is no batch, nothing is answered, or the batches ask something else.
        AnnotationError: An answer is malformed; then nothing is imported.
    """
    folder = local_path(batches)
    there = read_annotation_batches(folder)
    _check_question(there)
    files = [local_path(path) for path in answers]
    import_answer_files(folder, there, files, _COMMAND)
    return review_validation(version, batches, min_agreement=min_agreement)


def review_validation(
    version: PathLike, batches: PathLike, *, min_agreement: float = MIN_AGREEMENT
) -> PatternValidation:
    """Measure how far annotators agree, and whether they give problems the label of their pattern.

    Args:
        version: Folder of the version that the samples were drawn from.
        batches: The folder of all batches.
        min_agreement: A pattern is of low agreement where a smaller share of the pairs of
            annotators gave the same label, from 0 to 1.

    Raises:
        UsageError: There is no batch, the batches ask something else, or the share is not one.
        AnnotationError: The batches, or the answers to them, are malformed or of other problems.

    Source: SpaceNLI, sections 3.1 and 3.2.
    """
    there = read_annotation_batches(local_path(batches))
    if not there:
        raise UsageError(f"{batches} has no batch; make one: {_COMMAND}.")
    _check_question(there)
    problems = read_problems(BuiltVersion(local_path(version)), _ids(there))
    check_batches(there, problems)
    by_problem = read_answers(there).by_pair
    return measure_patterns(problems, by_problem, there[0].n_annotators, min_agreement)


def _ids(batches: Sequence[AnnotationBatch]) -> frozenset[str]:
    return frozenset().union(*(batch.ids for batch in batches))


def _check_question(batches: Sequence[AnnotationBatch]) -> None:
    if batches and batches[0].labels != SCALE:
        raise UsageError(
            f"{batches[0].folder} asks for {', '.join(batches[0].labels)}, not to what extent a "
            "hypothesis is true, so it is not a sample of patterns; begin another folder, or give "
            "the version that the batches were drawn from."
        )
