"""Read one shard of abstracts and find its mechanisms: what a worker does, on any engine."""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ....loaders.atomic_write import whole_folder
from ....loaders.corpora.abstracts.abstract import Abstract, ReadUnit, SkippedAbstract
from ....loaders.corpora.abstracts.mechanism_records import MechanismRecord
from ....loaders.corpora.abstracts.read import read_part
from ....loaders.corpora.papers.files import PaperFile, printable
from .mechanisms.find import MechanismRules, find_mechanism
from .mechanisms.mechanism import Mechanism, Mention, NoMechanism
from .perturb.entity_pool import list_entities, order_of_name, small_name
from .tables import ENTITIES, MECHANISMS, PARTS, UNITS, TableWriter

if TYPE_CHECKING:
    from ..shards import CorpusShard

_REPORT = "report.json"
#: Units of which each is an abstract that was found; the others are parts of one.
_WHOLE = ("abstract", "record", "file")


@dataclass(frozen=True)
class FindingJob:
    """What a worker does with each shard; it can be sent to another process or machine.

    Attributes:
        rules: How mechanisms are found.
    """

    rules: MechanismRules

    def run(self, shard: "CorpusShard") -> None:
        """Write what was read of a shard, its mechanisms and their entities; see ``tables``.

        What depends on other shards, such as an abstract that was read before, is left open.

        Raises:
            OutputError: The folder cannot be written.
        """
        with whole_folder(shard.folder, lambda _: True) as work:
            with ExitStack() as stack:
                tables = {
                    name: stack.enter_context(TableWriter(work, name))
                    for name in (UNITS, PARTS, MECHANISMS, ENTITIES)
                }
                writer = _ShardWriter(shard_number(shard.folder), tables, self.rules)
                n_lines = [writer.write(n, file) for n, file in enumerate(shard.files)]
            report = {"n_lines": n_lines, "is_final": not writer.is_any_unreadable}
            (work / _REPORT).write_bytes(orjson.dumps(report))

    def identity(self) -> list[Any]:
        """Return all that the mechanism of an abstract depends on, besides its text and code."""
        rules = self.rules
        return [
            {name: list(phrases) for name, phrases in rules.phrases.sets.items()},
            [rules.min_supporting, rules.max_supporting, rules.max_after, rules.by_order],
            f"{rules.split.__module__}.{rules.split.__qualname__}",
            [f"{name} {installed_version(name)}" for name in ("nupunkt", "orjson", "pyarrow")],
        ]

    def modules(self) -> list[str]:
        """Return the modules that mechanisms depend on, with all that these import."""
        return [__name__, self.rules.split.__module__]

    def is_final(self, folder: Path) -> bool:
        """Return whether reading again would give the same; not where a file was not readable."""
        return bool(orjson.loads((folder / _REPORT).read_bytes())["is_final"])


def shard_number(folder: Path) -> int:
    """Return the number of 63 bits that names a shard in its tables."""
    return int.from_bytes(hashlib.sha256(folder.name.encode()).digest()[:8], "big") >> 1


def read_line_counts(folder: Path) -> list[int]:
    """Return for each file of a shard the number of lines, where it is a part of a file; else 0."""
    counts: list[int] = orjson.loads((folder / _REPORT).read_bytes())["n_lines"]
    return counts


def _digest_text(mechanism: Mechanism) -> bytes:
    """Return a digest of 16 bytes of a supporting set, however it is cut into sentences."""
    text = " ".join(" ".join(mechanism.supporting).split())
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def read_mechanism(content: bytes) -> Mechanism:
    """Read a mechanism as the table has it."""
    found = orjson.loads(content)
    for name in ("supporting", "regulator_ids", "regulated_ids"):
        found[name] = tuple(found[name])
    found["related"] = tuple(map(tuple, found["related"]))
    found["mentions"] = tuple(
        Mention(one["text"], one["type"], one["where"], tuple(one["ids"]))
        for one in found["mentions"]
    )
    return Mechanism(**found)


class _ShardWriter:
    def __init__(self, shard: int, tables: dict[str, TableWriter], rules: MechanismRules) -> None:
        self._shard = shard
        self._tables = tables
        self._rules = rules
        self._seq = 0
        self.is_any_unreadable = False

    def write(self, number: int, file: PaperFile) -> int:
        """Write what is read of a file; return its number of lines, where it is a part of one."""
        self._file, self._name = number, printable(str(file.path))
        found = read_part(file)
        while True:
            try:
                unit = next(found)
            except StopIteration as end:
                n_lines: int = end.value
                return n_lines
            self._write_unit(unit)

    def _write_unit(self, found: ReadUnit) -> None:
        unit, skipped = found
        goes_with = None
        if isinstance(unit, SkippedAbstract):
            if unit.unit in _WHOLE:
                self.is_any_unreadable |= unit.reason == "unreadable"
                self._add(unit, unit.unit, unit)
            else:
                self._skip(unit, None)
        else:
            goes_with = self._seq
            one = find_mechanism(unit, self._rules)
            if isinstance(one, Mechanism):
                self._add_mechanism(one)
            self._add(unit, "abstract" if isinstance(unit, Abstract) else "record", one)
        for part in skipped:
            self._skip(part, goes_with)

    def _add(
        self,
        unit: Abstract | MechanismRecord | SkippedAbstract,
        kind: str,
        found: Mechanism | NoMechanism | SkippedAbstract,
    ) -> None:
        reason = detail = digest = None
        if isinstance(found, Mechanism):
            digest = _digest_text(found)
        else:
            reason, detail = found.reason, found.detail
        self._tables[UNITS].add(
            self._shard,
            self._seq,
            unit.pmid,
            not isinstance(unit, SkippedAbstract),
            reason,
            detail,
            kind,
            *self._place(unit),
            digest,
        )
        self._seq += 1

    def _add_mechanism(self, one: Mechanism) -> None:
        self._tables[MECHANISMS].add(self._shard, self._seq, one.pmid, orjson.dumps(one))
        for type_, entity in list_entities(one):
            small = small_name(entity.name)
            for id_ in sorted(entity.ids) or (None,):
                self._tables[ENTITIES].add(
                    self._shard,
                    self._seq,
                    type_,
                    entity.name,
                    order_of_name(entity.name),
                    small,
                    None if small is None else order_of_name(small),
                    entity.uses.value,
                    id_,
                )

    def _skip(self, part: SkippedAbstract, goes_with: int | None) -> None:
        self._tables[PARTS].add(
            self._shard,
            goes_with,
            part.pmid,
            part.reason,
            part.detail,
            part.unit,
            *self._place(part),
        )

    def _place(
        self, unit: Abstract | MechanismRecord | SkippedAbstract
    ) -> tuple[int, str | None, int]:
        """Return the number of the file of a unit, the member of an archive, and the line."""
        return self._file, unit.file[len(self._name) + 1 :] or None, unit.line
