"""Rows of the uniform schema from mechanisms and their negatives, by configs and splits."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from ....loaders.errors import CorpusError
from ....loaders.releases import Oddities
from ....loaders.releases.bionli import LABELS
from ...core.base import Batch
from ...core.encode import encode
from ...core.keyed import keyed_number
from ...core.options import Key
from ...core.schema import uniform_features
from .declaration import EXTRA, POSITIVE
from .distributions import Membership
from .mechanisms.mechanism import Mechanism
from .negatives import Negative
from .perturb.names import find_places

_BATCH_ROWS = 5_000


class _Row(NamedTuple):
    mechanism: int
    id: str
    category: str
    kind: str
    hypothesis: str
    edit: str | None


@dataclass(frozen=True)
class AbstractRows:
    """The rows of a dataset that is made from abstracts; see ``Rows``.

    Attributes:
        mechanisms: The mechanisms.
        negatives: All negatives of each.
        memberships: By config, where the rows of each are.
        domain: The domain of all.
        parameters: Everything that the rows depend on, besides the abstracts.
        seed: Seed of the order of the rows.
        keys: The configs and splits to make.
    """

    mechanisms: Sequence[Mechanism]
    negatives: Sequence[Sequence[Negative]]
    memberships: Mapping[str, Sequence[Membership]]
    domain: str
    parameters: Mapping[str, Any]
    seed: int
    keys: frozenset[Key]

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """Return the abstracts as one source: their number, and a hash of their mechanisms."""
        content = hashlib.sha256(b"".join(map(orjson.dumps, self.mechanisms))).hexdigest()
        return [{"url": "the abstracts", "abstracts": len(self.mechanisms), "sha256": content}]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of a keyed hash, so that places tell no labels."""
        features = uniform_features(LABELS, EXTRA)
        schema = features.arrow_schema
        rows = self._rows
        for start in range(0, len(rows), _BATCH_ROWS):
            some = rows[start : start + _BATCH_ROWS]
            yield Batch(encode(self._columns(some), features, schema), self._members(some))

    @cached_property
    def _rows(self) -> list[_Row]:
        rows = [
            _Row(n, f"{one.pmid}-{POSITIVE}", POSITIVE, POSITIVE, one.conclusion, None)
            for n, one in enumerate(self.mechanisms)
        ]
        rows += [
            _Row(n, f"{mechanism.pmid}-{one.kind}", one.category, one.kind, one.text, one.edit)
            for n, mechanism in enumerate(self.mechanisms)
            for one in self.negatives[n]
        ]
        if len({row.id for row in rows}) < len(rows):
            raise CorpusError("Two rows have one id: a pmid ends like the name of a kind.")
        rows = [row for row in rows if any(self._is_in(row, *key) for key in self.keys)]
        return sorted(rows, key=lambda row: (keyed_number(self.seed, "order", row.id), row.id))

    def _is_in(self, row: _Row, config: str, split: str) -> bool:
        return self.memberships[config][row.mechanism].has(split, row.kind)

    def _columns(self, rows: Sequence[_Row]) -> dict[str, Any]:
        mechanisms = [self.mechanisms[row.mechanism] for row in rows]
        entities = [_entities(row.hypothesis) for row in rows]
        pmids = [one.pmid for one in mechanisms]
        return {
            "id": [row.id for row in rows],
            "premise": [" ".join(one.supporting) for one in mechanisms],
            "hypothesis": [row.hypothesis for row in rows],
            "label": [LABELS[row.kind == POSITIVE] for row in rows],
            "group": pmids,
            "category": [row.category for row in rows],
            "domain": [self.domain] * len(rows),
            "source": pmids,
            "kind": [row.kind for row in rows],
            "edit": pa.array([row.edit for row in rows], pa.string()),
            "regulator": [regulator for regulator, _ in entities],
            "regulated": [regulated for _, regulated in entities],
            "original_hypothesis": [one.conclusion for one in mechanisms],
        }

    def _members(self, rows: Sequence[_Row]) -> dict[Key, pa.BooleanArray | None]:
        return {
            key: pa.array([self._is_in(row, *key) for row in rows], pa.bool_()) for key in self.keys
        }


def _entities(text: str) -> tuple[str | None, str | None]:
    """Return the regulator and the regulated entity that a hypothesis marks."""
    places = find_places(text)
    if places is None:
        return None, None
    regulator, regulated = (text[place.name_start : place.name_end] for place in places)
    return regulator, regulated
