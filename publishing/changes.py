"""What a version of a dataset changes by its manifest, and the number that this calls for.

MAJOR: records, labels or order; MINOR: columns, configs or splits added; PATCH: the bytes alone.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from datasets import Version

from ..builders.core.row_digests import both_digests, row_hashes
from ..builders.versions.version import BuiltVersion, Manifest, Split
from ..loaders.atomic_write import working_folder
from ..loaders.errors import UsageError, VersionError
from ..loaders.paths import default_cache_dir

_TAG = re.compile(r"v((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2})")


class Level(IntEnum):
    """How much a version differs from the one before, by what its users notice."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


def parse_number(text: str) -> Version:
    """Parse the number of a published version, with or without ``v`` before it.

    Raises:
        UsageError: It is not of the form ``X.Y.Z``.
    """
    try:
        number = Version(text.removeprefix("v"))
    except (ValueError, TypeError) as error:
        raise UsageError(f"{text!r} is not a version; expected X.Y.Z, as in 1.0.0.") from error
    if str(number) != text.removeprefix("v"):  # 01.0.0
        raise UsageError(f"{text!r} is not a version; did you mean {number}?")
    return number


def version_tag(number: Version) -> str:
    """Return the tag of a version on the Hub."""
    return f"v{number}"


def published_numbers(tags: Mapping[str, str]) -> dict[Version, str]:
    """Return the versions among a repository's tags, each with its commit, the oldest first."""
    found = {
        Version(match[1]): commit for tag, commit in tags.items() if (match := _TAG.fullmatch(tag))
    }
    return dict(sorted(found.items(), key=lambda item: _parts(item[0])))


def _parts(number: Version) -> tuple[int, int, int]:
    return int(number.major), int(number.minor), int(number.patch)


def smallest_after(number: Version, level: Level) -> Version:
    """Return the first number that may follow a published version, by how much has changed."""
    major, minor, patch = _parts(number)
    following = {
        Level.MAJOR: f"{major + 1}.0.0",
        Level.MINOR: f"{major}.{minor + 1}.0",
        Level.PATCH: f"{major}.{minor}.{patch + 1}",
    }
    return Version(following[level])


def check_follows(number: Version, newest: Version, level: Level, reasons: Iterable[str]) -> None:
    """Refuse to publish a version under a number that says less than what has changed.

    Args:
        number: The number that is wanted.
        newest: The newest that is published.
        level: How much has changed since that.
        reasons: What has, for the message.

    Raises:
        VersionError: It does not follow the newest, or it is too small a step.
    """
    if _parts(number) <= _parts(newest):
        raise VersionError(f"{number} does not follow {newest}, the newest published version.")
    needed = smallest_after(newest, level)
    if _parts(number) < _parts(needed):
        raise VersionError(
            f"{number} is too small a step from {newest}: {'; '.join(reasons)}. That is a "
            f"{level.name} change; expected {needed} or higher."
        )


def match_version(asked: str, published: Iterable[Version]) -> Version:
    """Return the version that a number means: ``X.Y.Z`` itself, ``X.Y`` the newest of its PATCHes.

    Versions of one ``X`` may have other columns, so ``X`` alone names no version.

    Raises:
        UsageError: It is not a version number.
        VersionError: There is no such version.
    """
    known = list(published)
    parts = asked.removeprefix("v").split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise UsageError(f"version is {asked!r}; expected X.Y or X.Y.Z, as in 1.2 or 1.2.0.")
    wanted = tuple(map(int, parts))
    found = [number for number in known if _parts(number)[: len(wanted)] == wanted]
    if not found:
        shown = ", ".join(map(str, known)) or "none"
        raise VersionError(f"There is no version {asked}. Published: {shown}.")
    return max(found, key=_parts)


@dataclass(frozen=True)
class Change:
    """One thing that a version changes since a published one.

    Attributes:
        level: How much it matters.
        what: The difference, in words.
    """

    level: Level
    what: str


#: Digest and order digest of the rows of a split, as far as some columns go.
_DigestsOf = Callable[[str, str, Sequence[str]], tuple[str, str]]


def list_changes(old: Manifest, new: BuiltVersion) -> list[Change]:
    """List what a version changes since a published one, the gravest first.

    Where columns were added, the rows are read and compared by the columns that were there.

    Args:
        old: Manifest of the version before.
        new: The version, verified.

    Raises:
        VerificationError: A file of the version is missing or malformed.
    """
    changes = [*_labels(old, new.manifest), *_columns(old, new.manifest)]
    was_main = old.main_config(new.builder.SPEC.default_config)
    if new.main_config != was_main:
        what = f"config {new.main_config} takes the place of {was_main} where none is named"
        changes.append(Change(Level.MAJOR, what))
    kept = [column for column in old.columns if column in new.manifest.columns]
    digests = _reader(new) if kept != list(new.manifest.columns) else _known(new.manifest)
    rows = _rows(old, new.manifest, kept, digests)
    if kept != list(new.manifest.columns):  # with more columns the bytes are others anyway
        rows = [change for change in rows if change.level > Level.PATCH]
    changes += rows
    return sorted(changes, key=lambda change: -change.level)


def gravest_level(changes: Sequence[Change]) -> Level:
    """Return the level of the gravest change of a version."""
    return max((change.level for change in changes), default=Level.NONE)


def _labels(old: Manifest, new: Manifest) -> list[Change]:
    if list(old.labels) == list(new.labels):
        return []
    what = f"labels {', '.join(old.labels)} become {', '.join(new.labels)}"
    return [Change(Level.MAJOR, what)]


def _columns(old: Manifest, new: Manifest) -> list[Change]:
    changes = []
    for name, kind in old.columns.items():
        if name not in new.columns:
            changes.append(Change(Level.MAJOR, f"column {name} is removed"))
        elif new.columns[name] != kind:
            what = f"column {name} was {kind} and becomes {new.columns[name]}"
            changes.append(Change(Level.MAJOR, what))
    kept = [name for name in new.columns if name in old.columns]
    if kept != [name for name in old.columns if name in new.columns]:
        changes.append(Change(Level.MAJOR, "columns stand in another order"))
    added = [name for name in new.columns if name not in old.columns]
    changes += [Change(Level.MINOR, f"column {name} is added") for name in added]
    return changes


def _rows(old: Manifest, new: Manifest, kept: Sequence[str], digests: _DigestsOf) -> list[Change]:
    changes = []
    is_comparable = len(kept) == len(old.columns)  # else the rows differ by a column at least
    for config, splits in old.configs.items():
        if config not in new.configs:
            changes.append(Change(Level.MAJOR, f"config {config} is removed"))
            continue
        for split, before in splits.items():
            where = f"{config}/{split}"
            if split not in new.configs[config]:
                changes.append(Change(Level.MAJOR, f"{where} is removed"))
            elif is_comparable:
                after = new.configs[config][split]
                found = digests(config, split, kept)
                changes += _split(where, before, after, *found)
    for config, splits in new.configs.items():
        if config not in old.configs:
            changes.append(Change(Level.MINOR, f"config {config} is added"))
            continue
        added = [split for split in splits if split not in old.configs[config]]
        changes += [Change(Level.MINOR, f"{config}/{split} is added") for split in added]
    return changes


def _split(
    where: str, before: Split, after: Split, digest_now: str, order_now: str
) -> list[Change]:
    if before.rows != after.rows:
        return [Change(Level.MAJOR, f"{where} has {after.rows:,} rows, it had {before.rows:,}")]
    if before.digest != digest_now:
        return [Change(Level.MAJOR, f"{where} has other rows")]
    if before.order_digest != order_now:
        return [Change(Level.MAJOR, f"{where} has its rows in another order")]
    if [shard.sha256 for shard in before.shards] != [shard.sha256 for shard in after.shards]:
        return [Change(Level.PATCH, f"{where} has the same rows in other bytes")]
    return []


def _known(manifest: Manifest) -> _DigestsOf:
    def digests(config: str, split: str, _: Sequence[str]) -> tuple[str, str]:
        entry = manifest.configs[config][split]
        return entry.digest, entry.order_digest

    return digests


def _reader(version: BuiltVersion) -> _DigestsOf:
    def digests(config: str, split: str, columns: Sequence[str]) -> tuple[str, str]:
        labels = version.manifest.labels
        batches = version.batches(config, split, columns)
        with working_folder(default_cache_dir(), "digests-") as folder:
            return both_digests((b"".join(row_hashes(b, labels)) for b in batches), folder)

    return digests
