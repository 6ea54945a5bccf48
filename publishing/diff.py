"""The difference between two built versions of a dataset, row by row, and as text."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..builders.core.row_digests import row_hashes
from ..builders.core.sql import Database, open_database
from ..builders.versions.version import BuiltVersion, Manifest
from ..loaders.errors import UsageError, VerificationError
from ..loaders.paths import default_cache_dir
from ..loaders.progress import progress_bar

_HASH_BYTES = 8


@dataclass(frozen=True)
class NameChanges:
    """What a version changed of its labels, columns, configs or splits.

    Attributes:
        added: Those that only the new version has.
        removed: Those that only the old version has.
        changed: What a label or column was and is: the label's id, the column's type.
        reordered: Whether those that both have stand in another order.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, tuple[Any, Any]]
    reordered: bool


@dataclass(frozen=True)
class Relabelling:
    """A row that has another label.

    Attributes:
        id: Its id.
        before: Name of the label that it had.
        after: Name of the label that it has.
        columns: Its other columns that differ.
    """

    id: str
    before: str
    after: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class RowEdit:
    """A row that has the same label, and something else in another column.

    Attributes:
        id: Its id.
        columns: The columns that differ.
    """

    id: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class RowMove:
    """A row that stands in another split of its config.

    Attributes:
        id: Its id.
        before: The split where it stood.
        after: The split where it stands.
    """

    id: str
    before: str
    after: str


@dataclass(frozen=True)
class SplitDiff:
    """What became of the rows of a split.

    A move is listed at both splits, so that ``rows_after`` is ``rows_before`` and the rows added
    and moved here, less those removed and moved away. Where a moved row changed too, its change is
    listed as well, at the split where it stands now.

    Attributes:
        rows_before: Its number of rows in the old version; 0 where that has no such split.
        rows_after: Its number of rows in the new version; 0 where that has no such split.
        added: Ids that no split of the config had before.
        removed: Ids that no split of the config has any more.
        relabelled: Rows whose label has another name.
        edited: Rows of which something else differs, among the columns that both versions have.
        moved: Rows that came from another split, or went to one.
        reordered: Whether the rows that stayed stand in another order. If nothing else is listed,
            their order is all that changed.
    """

    rows_before: int
    rows_after: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    relabelled: tuple[Relabelling, ...] = ()
    edited: tuple[RowEdit, ...] = ()
    moved: tuple[RowMove, ...] = ()
    reordered: bool = False


@dataclass(frozen=True)
class VersionDiff:
    """What differs between two versions of a dataset.

    Attributes:
        dataset: Name of the dataset.
        before: Number of the old version.
        after: Number of the new version.
        labels: What became of the label set.
        columns: What became of the columns.
        configs: What became of the configs.
        splits: What became of the splits, named ``CONFIG/SPLIT``, those of configs that were
            added or removed included.
        rows: For each config and split of either version what became of its rows.
    """

    dataset: str
    before: str
    after: str
    labels: NameChanges
    columns: NameChanges
    configs: NameChanges
    splits: NameChanges
    rows: Mapping[str, Mapping[str, SplitDiff]]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, which JSON can hold."""
        return asdict(self)


def diff_versions(old: BuiltVersion, new: BuiltVersion) -> VersionDiff:
    """Compare two versions of a dataset row by row.

    Rows match by id within a config. They are compared by the columns that both versions have,
    by values (not types) and by the names of labels (not their ids). A split with the same
    files is not read; of the others hashes are compared on disk, and only what differs is
    held in memory.

    Args:
        old: The version before; its files have the hashes in its manifest.
        new: The version after; likewise.

    Returns:
        Ids stand in the order of the new version, those of removed rows in that of the old.

    Raises:
        OutputError: Memory or the disk is full.
        UsageError: They are versions of different datasets.
        VerificationError: A manifest or file is missing or malformed, an id occurs twice in a
            config, or a label is not in the label set.
    """
    before, after = old.manifest, new.manifest
    if before.dataset != after.dataset:
        raise UsageError(
            f"{old.folder} is a version of {before.dataset}, {new.folder} of {after.dataset}; "
            f"expected two versions of one dataset."
        )
    configs = dict.fromkeys([*after.configs, *before.configs])
    return VersionDiff(
        dataset=after.dataset,
        before=before.version,
        after=after.version,
        labels=_names(_ids(before), _ids(after)),
        columns=_names(before.columns, after.columns),
        configs=_names(dict.fromkeys(before.configs), dict.fromkeys(after.configs)),
        splits=_names(_splits(before), _splits(after)),
        rows={
            config: _diff_config(old, new, config)
            for config in progress_bar("Comparing", configs, unit="config")
        },
    )


def _ids(manifest: Manifest) -> dict[str, int]:
    return {label: number for number, label in enumerate(manifest.labels)}


def _splits(manifest: Manifest) -> dict[str, None]:
    names = (f"{config}/{split}" for config, splits in manifest.configs.items() for split in splits)
    return dict.fromkeys(names)


def _names(old: Mapping[str, Any], new: Mapping[str, Any]) -> NameChanges:
    kept = [name for name in new if name in old]
    return NameChanges(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed={name: (old[name], new[name]) for name in kept if old[name] != new[name]},
        reordered=kept != [name for name in old if name in new],
    )


def _diff_config(old: BuiltVersion, new: BuiltVersion, config: str) -> dict[str, SplitDiff]:
    before, after = (version.manifest.configs.get(config, {}) for version in (old, new))
    columns = [name for name in new.manifest.columns if name in old.manifest.columns]
    equal = _equal_splits(old.manifest, new.manifest, config)
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    if equal != {*before, *after}:
        with open_database(default_cache_dir()) as database:
            for name, version, splits in (("before", old, before), ("after", new, after)):
                others = [split for split in splits if split not in equal]
                _read(version, config, others, columns, database, name)
            for split, kind, change in _compare(database, columns):
                found[split, kind].append(change)
    return {
        split: SplitDiff(
            rows_before=before[split].rows if split in before else 0,
            rows_after=after[split].rows if split in after else 0,
            added=tuple(found[split, "added"]),
            removed=tuple(found[split, "removed"]),
            relabelled=tuple(found[split, "relabelled"]),
            edited=tuple(found[split, "edited"]),
            moved=tuple(found[split, "moved"]),
            reordered=bool(found[split, "reordered"]),
        )
        for split in dict.fromkeys([*after, *before])
    }


def _equal_splits(old: Manifest, new: Manifest, config: str) -> set[str]:
    """Return the splits of a config whose files are the same; their hashes were checked."""
    if list(old.columns) != list(new.columns) or list(old.labels) != list(new.labels):
        return set()
    before, after = (
        {name: [shard.sha256 for shard in split.shards] for name, split in splits.items()}
        for splits in (old.configs.get(config, {}), new.configs.get(config, {}))
    )
    return {name for name in before if before[name] == after.get(name)}


#: Of a row no text is kept, but the first bytes of the hash of every column.
_KEPT = pa.schema({"id": "string", "split": "string", "label": "string", "hashes": "binary"})


def _read(
    version: BuiltVersion,
    config: str,
    splits: Sequence[str],
    columns: Sequence[str],
    database: Database,
    name: str,
) -> None:
    """Make a table of what is kept of the rows of some splits of a config, numbered in order."""
    path = database.folder / f"{name}.parquet"
    labels = version.manifest.labels
    with pq.ParquetWriter(path, _KEPT) as writer:
        for split in splits:
            for batch in version.batches(config, split, columns):
                try:
                    problem = _problem(batch, columns, labels)
                except pa.ArrowInvalid:
                    problem = "has a text that is not UTF-8"
                if problem:
                    raise _unreadable(version, config, split, problem)
                hashes = (row_hashes(batch.select([column]), labels) for column in columns)
                short = [
                    b"".join(h[:_HASH_BYTES] for h in row) for row in zip(*hashes, strict=True)
                ]
                arrays = [
                    batch["id"].combine_chunks(),
                    pa.repeat(split, len(batch)),
                    pa.array([labels[label] for label in batch["label"].to_pylist()], pa.string()),
                    pa.array(short, pa.binary()),
                ]
                writer.write_batch(pa.record_batch(arrays, schema=_KEPT))
    rows = database.scan([path])
    database.execute(f"CREATE VIEW {name} AS SELECT *, file_row_number AS number FROM {rows}")
    repeated = database.execute(
        f"""
        SELECT split, id FROM (
            SELECT split, id, number, row_number() OVER (PARTITION BY id ORDER BY number) AS times
            FROM {name} WHERE id IN (SELECT id FROM {name} GROUP BY id HAVING count(*) > 1)
        ) WHERE times > 1 ORDER BY number LIMIT 1
        """
    )
    for split, key in repeated:
        problem = f"has the id {key!r} of another row of the config"
        raise _unreadable(version, config, split, problem)


def _unreadable(version: BuiltVersion, config: str, split: str, problem: str) -> VerificationError:
    return VerificationError(
        f"{version.folder}: {config}/{split} {problem}. See whether more is wrong: nlihub verify."
    )


def _problem(batch: pa.Table, columns: Sequence[str], labels: Sequence[str]) -> str | None:
    """Return why rows cannot be compared; None where they can."""
    if missing := [name for name in columns if name not in batch.column_names]:
        return f"has no column {missing[0]!r}"
    if others := set(batch["label"].to_pylist()) - set(range(len(labels))):
        return f"has the label {others.pop()}, expected 0 to {len(labels) - 1}"
    if batch["id"].null_count:
        return "has a row without an id"
    for name in batch.column_names:
        batch[name].validate(full=True)  # also that texts are UTF-8
    return None


def _compare(database: Database, columns: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield the changes of a config, each with its split and the kind of list it belongs to."""
    for kind, table, other in (("removed", "before", "after"), ("added", "after", "before")):
        rows = f"SELECT split, id FROM {table} ANTI JOIN {other} USING (id) ORDER BY number"
        for split, key in _stream(database, rows):
            yield split, kind, key
    rows = """
        SELECT id, before.split, after.split, before.label, after.label, before.hashes, after.hashes
        FROM after JOIN before USING (id)
        WHERE before.split <> after.split OR before.hashes <> after.hashes ORDER BY after.number
    """
    for key, was, now, old_label, new_label, old, new in _stream(database, rows):
        others = tuple(name for name in _differing(old, new, columns) if name != "label")
        if old_label != new_label:
            yield now, "relabelled", Relabelling(key, old_label, new_label, others)
        elif others:
            yield now, "edited", RowEdit(key, others)
        if was != now:
            for split in (was, now):
                yield split, "moved", RowMove(key, was, now)
    rows = """
        SELECT split FROM (
            SELECT split, place < lag(place) OVER (PARTITION BY split ORDER BY number) AS is_earlier
            FROM (
                SELECT after.split, after.number, before.number AS place
                FROM after JOIN before USING (id) WHERE before.split = after.split
            )
        ) GROUP BY split HAVING bool_or(is_earlier)
    """
    for (split,) in _stream(database, rows):
        yield split, "reordered", True


def _stream(database: Database, query: str) -> Iterator[tuple[Any, ...]]:
    for batch in database.batches(query):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _differing(was: bytes, now: bytes, columns: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(columns):
        part = slice(number * _HASH_BYTES, (number + 1) * _HASH_BYTES)
        if was[part] != now[part]:
            yield name


def show_diff(diff: VersionDiff, max_examples: int = 10) -> str:
    """Show the difference of two published versions: names, configs and splits, then examples.

    Args:
        diff: The difference.
        max_examples: How many rows of each kind of change to name; a row of several configs once.
    """
    lines = [f"{diff.dataset} {diff.before} -> {diff.after}"]
    for what in ("labels", "columns", "configs", "splits"):
        if shown := "; ".join(_changed_names(getattr(diff, what))):
            lines.append(f"{what}: {shown}")
    splits = {
        f"{config}/{split}": (split, rows)
        for config, splits in diff.rows.items()
        for split, rows in splits.items()
    }
    width = max(map(len, splits), default=0)
    for name, (split, rows) in splits.items():
        counts = ", ".join(_counts(split, rows)) or "no change"
        lines.append(f"  {name:{width}}  {_n_rows(rows)}: {counts}")
    for kind in ("added", "removed", "relabelled", "edited", "moved"):
        changes = (change for _, rows in splits.values() for change in getattr(rows, kind))
        examples = list(dict.fromkeys(map(_example, changes)))
        if examples and max_examples:
            lines += [f"{kind}:", *(f"  {example}" for example in examples[:max_examples])]
            if len(examples) > max_examples:
                lines.append(f"  and {len(examples) - max_examples:,} more")
    return "\n".join(lines)


def _changed_names(names: NameChanges) -> Iterator[str]:
    if names.added:
        yield f"added {', '.join(names.added)}"
    if names.removed:
        yield f"removed {', '.join(names.removed)}"
    yield from (f"{name} was {old}, is {new}" for name, (old, new) in names.changed.items())
    if names.reordered:
        yield "in another order"


def _n_rows(rows: SplitDiff) -> str:
    before = f"{rows.rows_before:,} -> " if rows.rows_before != rows.rows_after else ""
    return f"{before}{rows.rows_after:,} rows"


def _counts(split: str, rows: SplitDiff) -> Iterator[str]:
    n_moved_here = sum(move.after == split for move in rows.moved)
    numbers = {
        "added": len(rows.added),
        "removed": len(rows.removed),
        "relabelled": len(rows.relabelled),
        "edited": len(rows.edited),
        "moved here": n_moved_here,
        "moved away": len(rows.moved) - n_moved_here,
    }
    yield from (f"{number:,} {what}" for what, number in numbers.items() if number)
    if rows.reordered:
        yield "in another order"


def _example(change: str | Relabelling | RowEdit | RowMove) -> str:
    match change:
        case Relabelling(row, before, after, columns):
            return f"{row}: {before} -> {after}" + f", also {', '.join(columns)}" * bool(columns)
        case RowEdit(row, columns):
            return f"{row}: {', '.join(columns)}"
        case RowMove(row, before, after):
            return f"{row}: {before} -> {after}"
        case _:
            return change
