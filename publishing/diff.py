"""The difference between two built versions of a dataset, row by row, and as text."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from ..builders.core.row_digests import row_hashes
from ..builders.versions.manifest import Manifest
from ..builders.versions.version import BuiltVersion
from ..loaders.errors import UsageError, VerificationError
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
    by values (not types) and by the names of labels (not their ids). A split that the manifests
    say to be equal is not read; of the others about 500 bytes a row are kept in memory, no text.

    Args:
        old: The version before.
        new: The version after.

    Returns:
        Ids stand in the order of the new version, those of removed rows in that of the old.

    Raises:
        UsageError: They are versions of different datasets.
        VerificationError: A manifest or file is missing or malformed, an id occurs twice in a
            config, or a label is none of the label set.
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
    changes = _compare(
        _read(old, config, [split for split in before if split not in equal], columns),
        _read(new, config, [split for split in after if split not in equal], columns),
        columns,
    )
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for split, kind, change in changes:
        found[split, kind].append(change)
    for split in equal:
        if before[split].order_digest != after[split].order_digest:
            found[split, "reordered"].append(True)
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
    """Return the splits of a config with the same rows in any order, as the manifests tell."""
    if list(old.columns) != list(new.columns):
        return set()  # a digest has the names of labels, but not those of columns
    before, after = old.configs.get(config, {}), new.configs.get(config, {})
    return {name for name in before if name in after and before[name].digest == after[name].digest}


class _Row(NamedTuple):
    """What is kept of a row: no text, but the first bytes of the hash of every column."""

    split: str
    label: str
    hashes: bytes


def _read(
    version: BuiltVersion, config: str, splits: Sequence[str], columns: Sequence[str]
) -> dict[str, _Row]:
    """Return what is kept of the rows of some splits of a config, by id, in order."""
    labels = version.manifest.labels
    rows: dict[str, _Row] = {}
    for split in splits:
        for batch in version.batches(config, split, columns):
            if problem := _problem(batch, columns, labels, rows.keys()):
                raise VerificationError(
                    f"{version.folder}: {config}/{split} {problem}. "
                    f"See whether more is wrong: nlihub verify."
                )
            hashes = (row_hashes(batch.select([name]), labels) for name in columns)
            for key, label, of_columns in zip(
                batch["id"].to_pylist(),
                batch["label"].to_pylist(),
                zip(*hashes, strict=True),
                strict=True,
            ):
                short = b"".join(value[:_HASH_BYTES] for value in of_columns)
                rows[key] = _Row(split, labels[label], short)
    return rows


def _problem(
    batch: pa.Table, columns: Sequence[str], labels: Sequence[str], known: Set[str]
) -> str | None:
    """Return why rows cannot be compared; None where they can."""
    if missing := [name for name in columns if name not in batch.column_names]:
        return f"has no column {missing[0]!r}"
    if others := set(batch["label"].to_pylist()) - set(range(len(labels))):
        return f"has the label {others.pop()}, expected 0 to {len(labels) - 1}"
    ids = batch["id"].to_pylist()
    repeated = known & set(ids) or [key for key, times in Counter(ids).items() if times > 1]
    return (
        f"has the id {min(repeated, key=str)!r} of another row of the config" if repeated else None
    )


def _compare(
    old: Mapping[str, _Row], new: Mapping[str, _Row], columns: Sequence[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield the changes of a config, each with its split and the kind of list it belongs to."""
    for key, row in old.items():
        if key not in new:
            yield row.split, "removed", key
    for key, row in new.items():
        if key not in old:
            yield row.split, "added", key
            continue
        was = old[key]
        others = tuple(name for name in _differing(was, row, columns) if name != "label")
        if was.label != row.label:
            yield row.split, "relabelled", Relabelling(key, was.label, row.label, others)
        elif others:
            yield row.split, "edited", RowEdit(key, others)
        if was.split != row.split:
            for split in (was.split, row.split):
                yield split, "moved", RowMove(key, was.split, row.split)
    before, after = _stayed(old, new), _stayed(new, old)
    for split, keys in after.items():
        if keys != before[split]:
            yield split, "reordered", True


def _differing(was: _Row, row: _Row, columns: Sequence[str]) -> Iterator[str]:
    if was.hashes == row.hashes:
        return
    for number, name in enumerate(columns):
        part = slice(number * _HASH_BYTES, (number + 1) * _HASH_BYTES)
        if was.hashes[part] != row.hashes[part]:
            yield name


def _stayed(rows: Mapping[str, _Row], others: Mapping[str, _Row]) -> dict[str, list[str]]:
    """Return the ids of the rows that stand in the same split in both, by split, in order."""
    ids = defaultdict(list)
    for key, row in rows.items():
        if key in others and others[key].split == row.split:
            ids[row.split].append(key)
    return ids


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
