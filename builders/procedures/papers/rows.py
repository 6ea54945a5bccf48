"""Make rows of the uniform schema from the pairs of papers, in configs and splits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from ....loaders.atomic_write import working_folder
from ....loaders.releases import Oddities
from ...core.base import Batch
from ...core.encode import encode
from ...core.options import Key
from ...core.schema import SPLITS, uniform_features
from .declaration import EXTRA, UNBALANCED
from .phrases import LinkingPhrases
from .select_pairs import Pairs, taken_pairs
from .select_papers import Papers

#: Rows that are sorted in memory at a time.
SORTED_ROWS = 300_000
_BATCH_ROWS = 20_000
_MAX_PARTS = 200  # files that are open at a time


@dataclass(frozen=True)
class PaperRows:
    """The rows of a dataset that is made from papers; see ``Rows``.

    Attributes:
        folders: The folders of the shards.
        papers: The papers.
        pairs: The pairs.
        parameters: All that the rows depend on, besides the papers.
        phrases: The linking phrases.
        keys: The configs and splits to make.
    """

    folders: Sequence[Path]
    papers: Papers
    pairs: Pairs
    parameters: Mapping[str, Any]
    phrases: LinkingPhrases
    keys: frozenset[Key]

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The papers that are taken, as one source: how many, and a hash of their content."""
        papers = self.papers
        n_sentences = papers.table["n_sentences"].to_numpy()[papers.split >= 0].sum()
        return [
            {
                "url": "the papers",
                "papers": papers.n_taken,
                "sentences": int(n_sentences),
                "sha256": papers.hash(),
            }
        ]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of a keyed hash."""
        n_rows = int((self.pairs.split >= 0).sum())
        n_parts = min(max(1, -(-n_rows // SORTED_ROWS)), _MAX_PARTS)
        features = uniform_features(self.phrases.label_names, EXTRA)
        schema = features.arrow_schema
        with working_folder(self.folders[0].parent, "sorted-") as place:
            for part in self._parts(n_parts, place):
                table = part.sort_by("order")
                for start in range(0, len(table), _BATCH_ROWS):
                    some = table.slice(start, _BATCH_ROWS)
                    members = self._members(some["number"].to_numpy())
                    yield Batch(encode(self._columns(some), features, schema), members)

    def _parts(self, n_parts: int, place: Path) -> Iterator[pa.Table]:
        """Yield the pairs with their numbers, in as many parts by order as are asked for."""
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
        for writer in writers.values():
            writer.close()
        for part in sorted(writers):
            path = place / f"{part}.arrow"
            with pa.OSFile(str(path)) as file:
                yield pa.ipc.open_file(file).read_all()
            path.unlink()

    def _columns(self, table: pa.Table) -> dict[str, Any]:
        papers, pairs = self.papers, self.pairs
        numbers = table["number"].to_numpy()
        labels, categories = self.phrases.label_names, self.phrases.categories
        rows = table["paper"].to_numpy()
        names = papers.table["id"].take(pa.array(rows)).to_pylist()
        places = zip(names, table["first"].to_pylist(), table["second"].to_pylist(), strict=True)
        ids = [f"{name}:{first}:{second}" for name, first, second in places]
        return {
            "id": ids,
            "premise": table["premise"],
            "hypothesis": table["hypothesis"],
            "label": [labels[n] for n in pairs.label[numbers]],
            "group": pa.nulls(len(table)),
            "category": [categories[n] for n in table["category"].to_pylist()],
            "domain": [papers.domains[n] for n in papers.domain[rows]],
            "source": ids,
            "year": papers.table["year"].take(pa.array(rows)),
        }

    def _members(self, numbers: Any) -> dict[Key, pa.BooleanArray | None]:
        pairs, domains = self.pairs, self.papers.domains
        split, domain = pairs.split[numbers], pairs.domain[numbers]
        members: dict[Key, pa.BooleanArray | None] = {}
        for config, name in self.keys:
            chosen = split == SPLITS.index(name)
            if config != UNBALANCED:
                chosen &= pairs.is_balanced[numbers]
            if config in domains and len(domains) > 1:
                chosen &= domain == domains.index(config)
            members[config, name] = pa.array(chosen)
        return members
