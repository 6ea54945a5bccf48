"""Mechanisms and their negatives as rows of the uniform schema, dealt into configs and splits."""

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
from .distributions import BALANCED
from .mechanisms.mechanism import Mechanism
from .negatives import Negative
from .perturb.marked import find_places

_BATCH_ROWS = 5_000


class _Row(NamedTuple):
    id: str
    mechanism: int
    negative: Negative | None

    @property
    def category(self) -> str:
        return POSITIVE if self.negative is None else self.negative.category

    @property
    def kind(self) -> str:
        return POSITIVE if self.negative is None else self.negative.kind


@dataclass(frozen=True)
class AbstractRows:
    """The rows of a dataset that is made from abstracts; see ``Rows``.

    Attributes:
        mechanisms: n mechanisms.
        splits: The split of each.
        negatives: The negatives of each in the full distribution.
        is_balanced: Whether each is in the balanced one.
        domain: The domain of all.
        parameters: All that the rows depend on, besides the abstracts.
        seed: Decides the order of the rows.
        keys: The configs and splits to make.
    """

    mechanisms: Sequence[Mechanism]
    splits: Sequence[str]
    negatives: Sequence[Sequence[Negative]]
    is_balanced: Sequence[bool]
    domain: str
    parameters: Mapping[str, Any]
    seed: int
    keys: frozenset[Key]

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The abstracts that are taken, as one source: how many, and a hash of their mechanisms."""
        content = hashlib.sha256()
        for one in self.mechanisms:
            content.update(orjson.dumps(one))
        return [
            {
                "url": "the abstracts",
                "abstracts": len(self.mechanisms),
                "sha256": content.hexdigest(),
            }
        ]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """The rows, in the order of a keyed hash, so that places tell no labels."""
        features = uniform_features(LABELS, EXTRA)
        schema = features.arrow_schema
        rows = self._rows
        for start in range(0, len(rows), _BATCH_ROWS):
            some = rows[start : start + _BATCH_ROWS]
            yield Batch(encode(self._columns(some), features, schema), self._members(some))

    @cached_property
    def _rows(self) -> list[_Row]:
        rows = []
        for n, mechanism in enumerate(self.mechanisms):
            rows.append(_Row(f"{mechanism.pmid}-{POSITIVE}", n, None))
            rows += [_Row(f"{mechanism.pmid}-{one.kind}", n, one) for one in self.negatives[n]]
        if len({row.id for row in rows}) < len(rows):
            raise CorpusError("Two rows have one id: a pmid ends like the name of a kind.")
        return sorted(rows, key=lambda row: (keyed_number(self.seed, "order", row.id), row.id))

    def _columns(self, rows: Sequence[_Row]) -> dict[str, Any]:
        mechanisms = [self.mechanisms[row.mechanism] for row in rows]
        hypotheses = [
            one.conclusion if row.negative is None else row.negative.text
            for row, one in zip(rows, mechanisms, strict=True)
        ]
        edits = [row.negative.edit if row.negative else None for row in rows]
        entities = [_entities(text) for text in hypotheses]
        pmids = [one.pmid for one in mechanisms]
        return {
            "id": [row.id for row in rows],
            "premise": [" ".join(one.supporting) for one in mechanisms],
            "hypothesis": hypotheses,
            "label": [LABELS[row.negative is None] for row in rows],
            "group": pmids,
            "category": [row.category for row in rows],
            "domain": [self.domain] * len(rows),
            "source": pmids,
            "kind": [row.kind for row in rows],
            "edit": pa.array(edits, pa.string()),
            "regulator": [regulator for regulator, _ in entities],
            "regulated": [regulated for _, regulated in entities],
            "original_hypothesis": [one.conclusion for one in mechanisms],
        }

    def _members(self, rows: Sequence[_Row]) -> dict[Key, pa.BooleanArray | None]:
        members: dict[Key, pa.BooleanArray | None] = {}
        for config, split in self.keys:
            members[config, split] = pa.array(
                self.splits[row.mechanism] == split
                and (config != BALANCED or self.is_balanced[row.mechanism])
                for row in rows
            )
        return members


def _entities(text: str) -> tuple[str | None, str | None]:
    """What a hypothesis marks as the regulator and as the regulated entity."""
    places = find_places(text)
    if places is None:
        return None, None
    regulator, regulated = (text[place.name_start : place.name_end] for place in places)
    return regulator, regulated
