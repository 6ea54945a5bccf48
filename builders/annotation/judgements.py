"""The public functions on the quality of negatives: a blind sample, and what experts make of it."""

from collections.abc import Sequence

import pyarrow as pa

from ...loaders.errors import UsageError
from ...loaders.paths import local_path
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
from .gold import judge_pairs
from .questions import FOLLOWS
from .true_negatives import (
    CONTROLS,
    EXPECTED,
    Quality,
    draw_sample,
    list_sample_pairs,
    measure_negatives,
    read_sampled_pairs,
)

__all__ = ["import_judgements", "review_judgements", "sample_negatives"]

_COMMAND = "nlihub annotate sample"


def sample_negatives(
    version: PathLike,
    batches: PathLike,
    *,
    strategies: Sequence[str] | None = None,
    per_strategy: int = 25,
    n_controls: int = 0,
    n_annotators: int = 2,
    seed: int = 1,
) -> BatchExport:
    """Write a blind sample of negatives for experts: can the hypothesis be concluded?

    Args:
        version: Folder of a version with adversarial negatives, as BioNLI's; its main config.
        batches: The folder of all batches; a new one is made in it, of other pairs than the
            earlier ones.
        strategies: The strategies, by category; None takes all that it has.
        per_strategy: Negatives of each.
        n_controls: Positives among them, so that "no" is not always right.
        n_annotators: How many experts judge each pair, 2 or more.
        seed: Decides which pairs are drawn.

    Raises:
        UnknownNameError: There is no negative of a strategy.
        UsageError: The version is none of that kind, nothing is asked for or left, the last batch
            has no answers yet, or the batches ask something else or others.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: Another batch was written at the same time.

    Source: BioNLI, section 3.5.
    """
    built = BuiltVersion(local_path(version))
    pairs = list_sample_pairs(built)
    folder = local_path(batches)
    earlier = read_annotation_batches(folder)
    _check_question(earlier)
    check_answered(earlier)
    done = _ids(earlier)
    check_batches(earlier, read_sampled_pairs(built, done))
    names = sorted(pairs.keys() - {CONTROLS}) if strategies is None else strategies
    wanted = {**dict.fromkeys(names, per_strategy), CONTROLS: n_controls}
    sample = draw_sample(pairs, done, wanted, seed)
    found = read_sampled_pairs(built, sample.ids)
    places = {id_: row for row, id_ in enumerate(found["id"].to_pylist())}
    drawn = found.take(pa.array([places[id_] for id_ in sample.ids], pa.int64()))
    batch = export_batch(folder, earlier, drawn, EXPECTED, n_annotators, FOLLOWS)
    return BatchExport(batch.folder, batch.sheets, len(drawn), sample.short)


def import_judgements(version: PathLike, batches: PathLike, answers: Sequence[PathLike]) -> Quality:
    """Import experts' answers to the last sample, and measure how many negatives are true ones.

    Args:
        version: Folder of a version with adversarial negatives, as BioNLI's.
        batches: The folder of all batches.
        answers: The sheets, filled in, or an export of Label Studio.

    Raises:
        UsageError: There is no batch, nothing is answered, or the batches ask something else.
        AnnotationError: An answer is malformed; then nothing is imported.
    """
    folder = local_path(batches)
    there = read_annotation_batches(folder)
    _check_question(there)
    files = [local_path(path) for path in answers]
    import_answer_files(folder, there, files, _COMMAND)
    return review_judgements(version, batches)


def review_judgements(version: PathLike, batches: PathLike) -> Quality:
    """Measure how many negatives of the samples are true ones.

    Args:
        version: Folder of a version with adversarial negatives, as BioNLI's.
        batches: The folder of all batches.

    Raises:
        UsageError: There is no batch, or the batches ask something else.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
    """
    there = read_annotation_batches(local_path(batches))
    if not there:
        raise UsageError(f"{batches} has no batch; make one: {_COMMAND}.")
    _check_question(there)
    pairs = read_sampled_pairs(BuiltVersion(local_path(version)), _ids(there))
    check_batches(there, pairs)
    n_annotators = there[0].n_annotators
    judged = judge_pairs(pairs, read_answers(there).by_pair, n_annotators)
    return measure_negatives(pairs, judged, n_annotators)


def _ids(batches: Sequence[AnnotationBatch]) -> frozenset[str]:
    return frozenset().union(*(batch.ids for batch in batches))


def _check_question(batches: Sequence[AnnotationBatch]) -> None:
    if batches and batches[0].labels != EXPECTED:
        raise UsageError(
            f"{batches[0].folder} asks for {', '.join(batches[0].labels)}, not whether a "
            "conclusion can be drawn, so it is not a sample of negatives. For pairs from papers, "
            "give --per-class."
        )
