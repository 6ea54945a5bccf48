"""The rows of a dataset made from papers, once its evaluation splits are annotated.

Source:
    SciNLI, sections 3.3 and 3.4: annotated pairs are kept where the gold label is the automatic
    one, and the larger classes are cut to the size of the smallest.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.releases import Oddities
from ..core.base import Batch
from ..core.keyed import keyed_number
from ..core.options import BuildOptions, Key
from ..core.schema import SPLITS, uniform_features
from ..procedures.papers.choose import class_sizes
from ..procedures.papers.declaration import ORIGINALS, UNBALANCED
from ..versions.version import BuiltVersion
from .candidates import SPLITS as EVALUATION
from .completions import CompletedTexts


class AnnotatedRows:
    """The rows of a version, its evaluation splits cut to the pairs that annotators confirmed.

    Args:
        version: The version whose evaluation pairs were annotated.
        confirmed: Ids of the confirmed pairs.
        answers_hash: sha256 of the answers.
        quotas: By split, the number of pairs of each class and domain; a split without a quota is
            cut to its smallest class.
        completed: By pair, the completed first and second sentence; None for one that stays.
        parameters: Other parameters of the rows, for the manifest.

    Raises:
        CorpusError: A split and domain has no confirmed pair of a class, or fewer than its quota.
        VerificationError: A file of the version is missing or malformed.
    """

    def __init__(
        self,
        version: BuiltVersion,
        confirmed: Collection[str],
        answers_hash: str,
        quotas: Mapping[str, int],
        completed: CompletedTexts,
        parameters: Mapping[str, Any],
    ) -> None:
        self._version = version
        self._evaluation = [s for s in EVALUATION if s in version.manifest.configs[UNBALANCED]]
        self._confirmed = pa.array(sorted(confirmed), pa.string())
        self._answers_hash = answers_hash
        self._completed = completed
        self._parameters = parameters
        self._balanced = self._balance(quotas)

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The sources of the version, and the answers of the annotators."""
        answers = {"url": "the answers of the annotators", "sha256": self._answers_hash}
        return [*self._version.manifest.sources, answers]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the version, and those of the annotation."""
        return {**self._version.manifest.parameters, **self._parameters}

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
        for place, name in enumerate(("premise", "hypothesis")):
            texts = [self._completed.get(id_, (None, None))[place] for id_ in ids]
            completed = pa.array(texts, pa.string())
            is_new, old = completed.is_valid(), table[name].combine_chunks()
            # if_else would keep, and count, the bytes of all texts.
            before = pc.replace_with_mask(
                pa.nulls(len(old), pa.string()), is_new, old.filter(is_new)
            )
            now = pc.coalesce(completed, table[name])
            table = table.set_column(table.schema.get_field_index(name), name, now)
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
            if config == UNBALANCED:
                members[config, name] = None
            elif config in self._version.builder.SPEC.domains:
                is_there = pc.equal(table["domain"], config).combine_chunks()
                members[config, name] = pc.and_(is_balanced, is_there)
            else:
                members[config, name] = is_balanced
        return members

    def _balance(self, quotas: Mapping[str, int]) -> pa.Array:
        """Return the ids of the rows that remain once classes are balanced."""
        columns = ("id", "label", "domain")
        main = self._version.main_config
        train = [s for s in self._version.manifest.configs[main] if s not in EVALUATION]
        ids = [self._version.table(main, split, ("id",))["id"] for split in train]
        tables = []
        for split in self._evaluation:
            table = self._version.table(UNBALANCED, split, columns)
            number = pa.repeat(SPLITS.index(split), len(table))
            tables.append(table.append_column("split", number))
        rows = pa.concat_tables(tables)
        rows = rows.filter(pc.is_in(rows["id"], self._confirmed))
        domains = self._version.builder.SPEC.domains
        label, split = (rows[name].to_numpy().astype(np.int64) for name in ("label", "split"))
        domain = pc.index_in(rows["domain"], pa.array(domains)).to_numpy().astype(np.int64)
        labels = self._version.manifest.labels
        counts = Counter(zip(split.tolist(), domain.tolist(), label.tolist(), strict=True))
        sizes = class_sizes(counts, self._evaluation, domains, labels, quotas)
        left = np.zeros(len(rows), bool)
        hashes = [keyed_number(0, "annotated", key) for key in rows["id"].to_pylist()]
        n_left = Counter[tuple[int, int, int]]()
        for row in sorted(range(len(rows)), key=hashes.__getitem__):
            place = int(split[row]), int(domain[row]), int(label[row])
            n_left[place] += 1
            left[row] = n_left[place] <= sizes[place[:2]]
        return pa.concat_arrays(
            [
                *(column.combine_chunks() for column in ids),
                rows["id"].combine_chunks().filter(pa.array(left)),
            ]
        )
