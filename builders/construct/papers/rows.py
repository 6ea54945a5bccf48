"""The pairs of a corpus as rows of the uniform schema, dealt into configs and splits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from ....loaders.releases.oddities import Oddities
from ...base import Batch
from ...declared.papers import EXTRA, UNBALANCED
from ...options import Key
from ...schema import SPLITS, encode, uniform_features
from .combine import Pairs, Papers, corpus_hash, taken_pairs
from .procedure import Procedure
from .splits import Splitting

#: Rows that are sorted in memory at a time.
SORTED_ROWS = 300_000
_BATCH_ROWS = 20_000


@dataclass(frozen=True)
class PaperRows:
    """The rows of a dataset that is made from papers; see ``Rows``.

    Attributes:
        folders: The folders of the corpus' shards.
        papers: The papers.
        pairs: The pairs that are taken.
        procedure: How they were made.
        splitting: How papers were split.
        quotas: By split, pairs of each class and domain; empty where nobody asked for a number.
        keys: The configs and splits to make.
    """

    folders: Sequence[Path]
    papers: Papers
    pairs: Pairs
    procedure: Procedure
    splitting: Splitting
    quotas: Mapping[str, int]
    keys: frozenset[Key]

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The papers that are taken, as one source: how many, and a hash of their content."""
        taken = self.papers.split >= 0
        return [
            {
                "url": "the papers",
                "papers": int(taken.sum()),
                "sentences": int(self.papers.table["n_sentences"].to_numpy()[taken].sum()),
                "sha256": corpus_hash(self.papers),
            }
        ]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The procedure, and how papers were split."""
        quotas = {"per_class": dict(self.quotas)} if self.quotas else {}
        return {**self.procedure.as_json(), "split": self.splitting.as_json(), **quotas}

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """The rows, in the order of a keyed hash."""
        n_rows = int((self.pairs.split >= 0).sum())
        n_parts = max(1, -(-n_rows // SORTED_ROWS))
        features = uniform_features(self.procedure.phrases.label_names, EXTRA)
        schema = features.arrow_schema
        with TemporaryDirectory(dir=self.folders[0].parent if self.folders else None) as place:
            for part in self._parts(n_parts, Path(place)):
                table = part.sort_by("order")
                for start in range(0, len(table), _BATCH_ROWS):
                    some = table.slice(start, _BATCH_ROWS)
                    numbers = some["number"].to_numpy()
                    yield Batch(
                        encode(self._columns(some), features, schema), self._members(numbers)
                    )

    def _parts(self, n_parts: int, place: Path) -> Iterator[pa.Table]:
        """The pairs with their numbers, in as many parts by order as are asked for."""
        tables = taken_pairs(self.folders, self.papers, self.pairs)
        if n_parts == 1:
            yield pa.concat_tables(tables)
            return
        bounds = np.array([2**64 * n // n_parts for n in range(1, n_parts)], np.uint64)
        writers: dict[int, Any] = {}
        for table in tables:
            parts = np.searchsorted(bounds, table["order"].to_numpy(), side="right")
            for part in np.unique(parts).tolist():
                some = table.filter(pa.array(parts == part))
                if part not in writers:
                    writers[part] = pa.ipc.new_file(str(place / f"{part}.arrow"), some.schema)
                writers[part].write(some)
        for part in sorted(writers):
            writers[part].close()
        for part in sorted(writers):
            path = place / f"{part}.arrow"
            with pa.OSFile(str(path)) as file:
                yield pa.ipc.open_file(file).read_all()
            path.unlink()

    def _columns(self, table: pa.Table) -> dict[str, Any]:
        papers = self.papers.table
        numbers = table["number"].to_numpy()
        labels = self.procedure.phrases.label_names
        categories = self.procedure.phrases.categories
        rows = table["paper"].to_numpy()
        names = papers["id"].take(pa.array(rows)).to_pylist()
        places = zip(names, table["first"].to_pylist(), table["second"].to_pylist(), strict=True)
        ids = [f"{name}:{first}:{second}" for name, first, second in places]
        return {
            "id": ids,
            "premise": table["premise"],
            "hypothesis": table["hypothesis"],
            "label": [labels[n] for n in self.pairs.label[numbers]],
            "group": pa.nulls(len(table)),
            "category": [categories[n] for n in table["category"].to_pylist()],
            "domain": [self.papers.domains[n] for n in self.papers.domain[rows]],
            "source": ids,
            "year": papers["year"].take(pa.array(rows)),
        }

    def _members(self, numbers: Any) -> dict[Key, pa.BooleanArray | None]:
        split, is_balanced = self.pairs.split[numbers], self.pairs.is_balanced[numbers]
        domain = self.pairs.domain[numbers]
        members: dict[Key, pa.BooleanArray | None] = {}
        for config, name in self.keys:
            chosen = split == SPLITS.index(name)
            if config != UNBALANCED:
                chosen &= is_balanced
            if config in self.papers.domains and len(self.papers.domains) > 1:
                chosen &= domain == self.papers.domains.index(config)
            members[config, name] = pa.array(chosen)
        return members
