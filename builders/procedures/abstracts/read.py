"""Read the abstracts of a shard, and find their mechanisms."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from ....loaders.corpora.abstracts.abstract import Abstract, SkippedAbstract
from ....loaders.corpora.abstracts.mechanism_records import MechanismRecord
from ....loaders.corpora.abstracts.read import read_part
from ...dataflow.tables import TableWriter
from .mechanisms.find import find_mechanism
from .mechanisms.mechanism import Mechanism, Mention, NoMechanism
from .mechanisms.rules import MechanismRules
from .perturb.entity_pool import ENTITIES, list_entities, order_of_name

if TYPE_CHECKING:
    from ...dataflow.work import Shard

UNITS, PARTS, MECHANISMS = ("units", "parts", "mechanisms")
#: Units of which each is an abstract that was found; the others are parts of one.
_WHOLE = ("abstract", "record", "file")
#: Where something stands in the files, and why it is left out.
_PLACE = {
    "shard": pa.int64(),
    "seq": pa.int64(),  # number of the unit in the shard; null for a part that goes with none
    "pmid": pa.string(),
    "unit": pa.string(),
    "file": pa.string(),
    "line": pa.int64(),
    "reason": pa.string(),  # null for a mechanism
    "detail": pa.string(),
}
SCHEMAS: Mapping[str, pa.Schema] = {
    # Abstracts, records and files.
    UNITS: pa.schema(
        {
            **_PLACE,
            "was_read": pa.bool_(),  # an abstract or a record, whose pmid counts
            "content": pa.int64(),  # hash of all that is known of it
            "digest": pa.binary(16),  # digest of its supporting set
        }
    ),
    # What was left out of abstracts.
    PARTS: pa.schema(_PLACE),
    MECHANISMS: pa.schema(
        {"shard": pa.int64(), "seq": pa.int64(), "pmid": pa.string(), "json": pa.binary()}
    ),
    # The entities of mechanisms, a row for each concept id of theirs, or one without.
    ENTITIES: pa.schema(
        {
            "shard": pa.int64(),
            "seq": pa.int64(),  # of the mechanism
            "type": pa.string(),
            "name": pa.string(),
            "name_order": pa.binary(16),
            "id": pa.string(),
        }
    ),
}


@dataclass(frozen=True)
class ReadAbstracts:
    """Reads the abstracts of a shard.

    Attributes:
        rules: How mechanisms are found.
    """

    rules: MechanismRules

    def __call__(self, shard: "Shard", folder: Path) -> None:
        """Write the tables of ``SCHEMAS``; what depends on other shards is left open."""
        with ExitStack() as stack:
            units, parts, mechanisms, entities = (
                stack.enter_context(TableWriter(folder, name, schema, 5_000))
                for name, schema in SCHEMAS.items()
            )
            key, seq = shard.key, 0
            for file in shard.files:
                for unit, left_out in read_part(file):
                    here: int | None = None
                    if isinstance(unit, SkippedAbstract) and unit.unit not in _WHOLE:
                        parts.add(*_place(key, None, unit, unit.unit, unit))
                    else:
                        here = seq
                        tables = units, mechanisms, entities
                        _add_unit(key, seq, unit, left_out, self.rules, *tables)
                        seq += 1
                    for part in left_out:
                        parts.add(*_place(key, here, part, part.unit, part))


def _add_unit(
    shard: int,
    seq: int,
    unit: Abstract | MechanismRecord | SkippedAbstract,
    left_out: Sequence[SkippedAbstract],
    rules: MechanismRules,
    units: TableWriter,
    mechanisms: TableWriter,
    entities: TableWriter,
) -> None:
    if isinstance(unit, SkippedAbstract):
        units.add(*_place(shard, seq, unit, unit.unit, unit), False, None, None)
        return
    kind = "abstract" if isinstance(unit, Abstract) else "record"
    found = find_mechanism(unit, rules)
    key = hash_content(found, left_out)
    if isinstance(found, NoMechanism):
        units.add(*_place(shard, seq, unit, kind, found), True, key, None)
        return
    units.add(*_place(shard, seq, unit, kind, None), True, key, _digest_text(found))
    mechanisms.add(shard, seq, found.pmid, orjson.dumps(found))
    for type_, entity in list_entities(found):
        order = order_of_name(entity.name)
        for id_ in sorted(entity.ids) or (None,):
            entities.add(shard, seq, type_, entity.name, order, id_)


def hash_content(found: Mechanism | NoMechanism, left_out: Sequence[SkippedAbstract]) -> int:
    """Return a number of 64 bits, signed, by which one of several abstracts of a pmid is taken."""
    known = (found.reason, found.detail) if isinstance(found, NoMechanism) else found
    parts = [(part.unit, part.reason, part.detail) for part in left_out]
    return xxh3_64_intdigest(repr((known, parts)).encode("utf-8", "replace")) - (1 << 63)


def _place(
    shard: int,
    seq: int | None,
    unit: Abstract | MechanismRecord | SkippedAbstract,
    kind: str,
    why: SkippedAbstract | NoMechanism | None,
) -> tuple[Any, ...]:
    reason = (None, None) if why is None else (why.reason, why.detail)
    return shard, seq, unit.pmid, kind, unit.file, unit.line, *reason


def _digest_text(mechanism: Mechanism) -> bytes:
    """Return a digest of 16 bytes of a supporting set, however it is cut into sentences."""
    text = " ".join(" ".join(mechanism.supporting).split())
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def parse_mechanism(content: bytes) -> Mechanism:
    """Return a mechanism as its table has it."""
    found = orjson.loads(content)
    for name in ("supporting", "regulator_ids", "regulated_ids"):
        found[name] = tuple(found[name])
    found["related"] = tuple(map(tuple, found["related"]))
    found["mentions"] = tuple(
        Mention(one["text"], one["type"], one["where"], tuple(one["ids"]))
        for one in found["mentions"]
    )
    return Mechanism(**found)
