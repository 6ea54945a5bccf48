"""Build a dataset made from papers once people have judged its evaluation pairs.

Source:
    SciNLI, sections 3.3 and 3.4: annotated pairs are kept where the gold label is the automatic
    one, and the larger classes are cut to the size of the smallest.
"""

import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import CorpusError, UsageError
from ...loaders.hashing import hash_file
from ...loaders.paths import local_path
from ...loaders.releases import Oddities
from ..core.base import Batch
from ..core.kappa import show_kappa
from ..core.keyed import keyed_number
from ..core.options import BuildOptions, Key
from ..core.schema import uniform_features
from ..procedures.papers.declaration import ORIGINALS, UNBALANCED
from ..procedures.procedure import declared_builder
from ..versions.open import PathLike
from ..versions.version import BuiltVersion
from ..versions.write import build_version
from .agreement import Review, measure_relations, to_json
from .answers import ANSWERS_FILE, count_sentences, read_answers
from .batch import COMPLETIONS_FILE
from .sheets import COMPLETED, TEXTS
from .task import EVALUATION, check_unchanged, list_domains, open_batches, read_rows

#: By pair and column of ``COMPLETED``, the completed sentence; None for one that stays.
_Completed = Mapping[str, Mapping[str, str | None]]


def build(
    version: PathLike,
    batches: PathLike,
    output: PathLike,
    per_class: Mapping[str, int] | None = None,
) -> Path:
    """Build the version whose evaluation splits have confirmed pairs alone; return its folder.

    Args:
        version: Folder of a version that was made from papers.
        batches: The folder of all batches.
        output: The folder to build in; ``output/NAME`` must be another than ``version``.
        per_class: By split, how many confirmed pairs of each class and domain are wanted; None
            takes what the last batch was drawn for.

    Raises:
        UsageError: There is no batch of pairs from papers, a quota is wrong, or the output is the
            folder of the version.
        CorpusError: A class has fewer confirmed pairs than wanted, or people completed a sentence
            of a confirmed pair differently.
        VerificationError: A file of the version was changed since it was built.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: There is something else at ``output/NAME``.

    Source: SciNLI, section 3.3. Completed sentences stand in place of the broken ones, as they were
        written: nothing is cleaned or cut in them.
    """
    built = BuiltVersion(local_path(version)).require_whole()
    folder, target = local_path(batches), local_path(output)
    there = open_batches(folder)
    if there[0].question.name != "relation":
        raise UsageError(f"{folder} has no pairs from papers, so no version can be built of it.")
    answers = read_answers(folder, there)
    review = measure_relations(there, answers, per_class)
    list_domains(built, review.per_class)
    check_unchanged(built, UNBALANCED, there)
    manifest = built.manifest
    if (target / manifest.dataset).resolve() == built.folder.resolve():
        raise UsageError(
            f"{built.folder} has the pairs that may still be annotated; build into another folder."
        )
    _check(review)
    confirmed = set(review.confirmed)
    completed = {id_: t for id_, t in review.completions.texts.items() if id_ in confirmed}
    rows = AnnotatedRows(built, review, completed, hash_file(folder / ANSWERS_FILE))
    n_sentences = sum(map(count_sentences, completed.values()))
    construction = {
        **manifest.construction,
        "annotation": _describe(review, len(completed), n_sentences),
        "agreement": to_json(review.agreement),
        "completed": {"pairs": len(completed), "sentences": n_sentences},
    }
    declaration = {**manifest.declaration, "is_annotated": True}
    builder = declared_builder(declaration, rows, construction)
    return build_version(builder, target, BuildOptions()).folder


def _check(review: Review) -> None:
    if review.missing:
        missing = ", ".join(f"{number:,} {cell}" for cell, number in review.missing.items())
        raise CorpusError(
            f"Too few pairs are confirmed: {missing} are missing. Go on with nlihub annotate "
            "export, or ask for fewer: --per-class."
        )
    conflicts = [one for one in review.completions.conflicts if one.id in review.confirmed]
    if conflicts:
        raise CorpusError(
            f"Sentences are completed in different ways: {len(conflicts):,}, "
            f"{conflicts[0].column} of {conflicts[0].key} among them (nlihub annotate review lists "
            f"all). Write the one to take, or the original, into the sheet {COMPLETIONS_FILE} of "
            "its batch, and import that."
        )


def _describe(review: Review, n_pairs: int, n_sentences: int) -> str:
    """Return the card's text on the annotation."""
    found = review.agreement
    by_class = ", ".join(f"{name} {100 * s.value:.1f} %" for name, s in found.by_class.items())
    completed = "No sentence of them was completed by hand."
    if n_pairs:
        completed = (
            f"People completed {n_sentences:,} sentences that the extraction of the papers had "
            f"broken, in {n_pairs:,} confirmed pairs; `original_premise` and "
            "`original_hypothesis` have them as they were extracted."
        )
    text = (
        f"The labels of {' and '.join(sorted(review.per_class, reverse=True))} were judged by "
        f"annotators: a pair is kept where the majority of {review.n_annotators}, who saw the two "
        "sentences alone, chose the label that the linking phrase or the way to the neutral pair "
        f"gives. That was so for {found.overall.n:,} of {found.overall.of:,} pairs "
        f"({100 * found.overall.value:.1f} %; {by_class}); Fleiss' kappa is "
        f"{show_kappa(found.kappa)}. **All other labels are automatic.** {completed} The counts "
        "below are of the version that was annotated."
    )
    return textwrap.fill(text, 100)


class AnnotatedRows:
    """The rows of a version, its evaluation splits cut to the pairs that annotators confirmed.

    Args:
        version: The version whose evaluation pairs were annotated.
        review: The state of the annotation.
        completed: The completed sentences of confirmed pairs.
        answers_hash: sha256 of the file of answers.

    Raises:
        VerificationError: A file of the version is missing or malformed.
    """

    def __init__(
        self, version: BuiltVersion, review: Review, completed: _Completed, answers_hash: str
    ) -> None:
        self._version = version
        self._confirmed = pa.array(sorted(review.confirmed), pa.string())
        self._balanced = pa.array(_balance(version, review), pa.string())
        self._completed = completed
        answers = {"url": "the answers of the annotators", "sha256": answers_hash}
        #: The sources of the version, and the answers of the annotators.
        self.sources: list[Mapping[str, Any]] = [*version.manifest.sources, answers]
        #: The parameters of the version, and those of the annotation.
        self.parameters: Mapping[str, Any] = {
            **version.manifest.parameters,
            "annotated_per_class": dict(review.per_class),
            "batches": review.n_batches,
        }

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of the version; no oddities are counted."""
        spec = self._version.builder.SPEC
        keys = BuildOptions().keys(spec)
        schema = uniform_features(spec.labels, {**spec.extra, **ORIGINALS}).arrow_schema
        for split in self._version.manifest.configs[UNBALANCED]:
            for batch in self._version.batches(UNBALANCED, split):
                table = batch
                if split in EVALUATION:
                    table = batch.filter(pc.is_in(batch["id"], self._confirmed))
                members = self._members(table, split, keys)
                yield Batch(self._complete(table).cast(schema), members)

    def _complete(self, table: pa.Table) -> pa.Table:
        """Return rows with completed sentences in place of the broken ones, and these beside."""
        ids = table["id"].to_pylist()
        for name, column in zip(TEXTS, COMPLETED, strict=True):
            texts = [self._completed.get(id_, {}).get(column) for id_ in ids]
            completed = pa.array(texts, pa.string())
            is_new, old = completed.is_valid(), table[name].combine_chunks()
            # if_else would keep, and count, the bytes of all texts.
            before = pc.replace_with_mask(
                pa.nulls(len(old), pa.string()), is_new, old.filter(is_new)
            )
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pc.coalesce(completed, table[name]))
            table = table.append_column(f"original_{name}", before)
        return table

    def _members(
        self, table: pa.Table, split: str, keys: Collection[Key]
    ) -> dict[Key, pa.BooleanArray | None]:
        is_balanced = pc.is_in(table["id"], self._balanced).combine_chunks()
        members: dict[Key, pa.BooleanArray | None] = {}
        for config, name in keys:
            if name != split:
                continue
            members[config, name] = None if config == UNBALANCED else is_balanced
            if config in self._version.builder.SPEC.domains:
                is_there = pc.equal(table["domain"], config).combine_chunks()
                members[config, name] = pc.and_(is_balanced, is_there)
        return members


def _balance(version: BuiltVersion, review: Review) -> list[str]:
    """Return the ids of the balanced training set, and of as many confirmed pairs as are wanted."""
    main = version.main_config
    ids: list[str] = []
    for split in version.manifest.configs[main].keys() - {*EVALUATION}:
        ids += version.table(main, split, ("id",))["id"].to_pylist()
    cells: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    columns = ("id", "label", "domain")
    for row in read_rows(version, UNBALANCED, columns, EVALUATION, review.confirmed):
        cells[row["split"], row["domain"], row["label"]].append(row["id"])
    for (split, *_), found in cells.items():
        ranked = sorted(found, key=lambda id_: keyed_number(0, "annotated", id_))
        ids += ranked[: review.per_class[split]]
    return ids
