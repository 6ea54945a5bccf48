"""A dataset made from papers whose evaluation splits were annotated: candidates, and what is left.

Source:
    SciNLI, sections 3.3 and 3.4: of what was annotated, the pairs whose gold label is the automatic
    one are kept, and the larger classes are cut to the smallest.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UsageError
from ...loaders.releases.tables import Oddities
from ..core.base import Batch
from ..core.keyed import key_of
from ..core.options import BuildOptions, Key
from ..core.schema import SPLITS
from ..procedures.papers.balance import balance, class_sizes
from ..procedures.papers.declaration import UNBALANCED
from ..versions.version import BuiltVersion
from .candidates import SPLITS as EVALUATION


def candidates_of(version: BuiltVersion) -> pa.Table:
    """The evaluation pairs of a version, before classes were balanced.

    Args:
        version: A version that was made from papers.

    Returns:
        The columns ``id``, ``premise``, ``hypothesis``, ``label`` (by name), ``domain``, ``split``.

    Raises:
        UsageError: It has no such pairs.
        VerificationError: A file is missing or malformed.
    """
    labels = pa.array(version.manifest.labels)
    tables = []
    for split in EVALUATION:
        if split not in version.manifest.configs.get(UNBALANCED, {}):
            continue
        table = version.table(UNBALANCED, split, ("id", "premise", "hypothesis", "label", "domain"))
        place = table.schema.get_field_index("label")
        table = table.set_column(place, "label", labels.take(table["label"].combine_chunks()))
        tables.append(table.append_column("split", pa.repeat(split, len(table))))
    if not tables or "agreement" in version.manifest.construction:
        raise UsageError(
            f"{version.folder} has no candidates to annotate; expected a version that nlihub build "
            "made from papers, before annotation."
        )
    return pa.concat_tables(tables).replace_schema_metadata(None)


class AnnotatedRows:
    """The rows of a version, with only those evaluation pairs that annotators confirmed.

    Args:
        version: The version whose evaluation pairs were annotated.
        confirmed: The ids of the pairs that they confirmed.
        answers_hash: A sha256 of their answers.
        quotas: By split, how many pairs of each class and domain are left; a split that is not
            named has as many as its smallest class.
        parameters: What else the rows depend on, for the manifest.

    Raises:
        CorpusError: A split and domain has no confirmed pair of a class, or fewer than its quota.
    """

    def __init__(
        self,
        version: BuiltVersion,
        confirmed: Collection[str],
        answers_hash: str,
        quotas: Mapping[str, int],
        parameters: Mapping[str, Any],
    ) -> None:
        self._version = version
        self._evaluation = [s for s in EVALUATION if s in version.manifest.configs[UNBALANCED]]
        self._confirmed = pa.array(sorted(confirmed), pa.string())
        self._answers_hash = answers_hash
        self._parameters = parameters
        self._balanced = self._balance(quotas)

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """Those of the version, and the answers of the annotators."""
        answers = {"url": "the answers of the annotators", "sha256": self._answers_hash}
        return [*self._version.manifest.sources, answers]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those of the version, and what was given."""
        return {**self._version.manifest.parameters, **self._parameters}

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """The rows in the order of the version."""
        spec = self._version.builder.SPEC
        keys = BuildOptions().keys(spec)
        for split in self._version.manifest.configs[UNBALANCED]:
            for batch in self._version.batches(UNBALANCED, split):
                table = batch
                if split in EVALUATION:
                    table = batch.filter(pc.is_in(batch["id"], self._confirmed))
                yield Batch(table, self._members(table, split, keys))

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
        """The ids of the rows that are left when classes are balanced."""
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
        sizes = class_sizes(label, split, domain, self._evaluation, domains, labels, quotas)
        hashes = [key_of(0, "annotated", key) for key in rows["id"].to_pylist()]
        left = balance(label, split, domain, np.array(hashes, np.uint64), sizes)
        return pa.concat_arrays(
            [
                *(column.combine_chunks() for column in ids),
                rows["id"].combine_chunks().filter(pa.array(left)),
            ]
        )
