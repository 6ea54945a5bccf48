"""Version numbers: MAJOR records, labels or order; MINOR columns or splits added; PATCH bytes."""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum

from datasets import Version

from ...loaders.errors import UsageError, VersionError

_TAG = re.compile(r"v((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2})")


class Level(IntEnum):
    """How much a version differs from the one before, by what its users notice."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


def parse_number(text: str) -> Version:
    """The version number that a text is, with or without ``v`` before it.

    Raises:
        UsageError: It is none.
    """
    try:
        number = Version(text.removeprefix("v"))
    except (ValueError, TypeError) as error:
        raise UsageError(f"{text!r} is no version number; expected X.Y.Z, as in 1.0.0.") from error
    if str(number) != text.removeprefix("v"):  # 01.0.0
        raise UsageError(f"{text!r} is no version number; did you mean {number}?")
    return number


def tag_of(number: Version) -> str:
    """The tag of a version."""
    return f"v{number}"


def published_numbers(tags: Mapping[str, str]) -> dict[Version, str]:
    """The versions among the tags of a repository, each with its commit, the oldest first."""
    found = {
        Version(match[1]): commit for tag, commit in tags.items() if (match := _TAG.fullmatch(tag))
    }
    return dict(sorted(found.items(), key=lambda item: order(item[0])))


def order(number: Version) -> tuple[int, int, int]:
    """What versions are sorted by."""
    return int(number.major), int(number.minor), int(number.patch)


def smallest_after(number: Version, level: Level) -> Version:
    """The first number that may follow a version, by how much has changed since."""
    major, minor, patch = order(number)
    following = {
        Level.MAJOR: (major + 1, 0, 0),
        Level.MINOR: (major, minor + 1, 0),
        Level.PATCH: (major, minor, patch + 1),
    }
    return Version("{}.{}.{}".format(*following[level]))


def check_follows(number: Version, newest: Version, level: Level, reasons: Iterable[str]) -> None:
    """Refuse a number that says less than what has changed.

    Args:
        number: The number that is wanted.
        newest: The newest that is published.
        level: How much has changed since that.
        reasons: What has, for the message.

    Raises:
        VersionError: It does not follow the newest, or it is too small a step.
    """
    if order(number) <= order(newest):
        raise VersionError(
            f"{number} does not follow {newest}, the newest version that is published."
        )
    needed = smallest_after(newest, level)
    if order(number) < order(needed):
        raise VersionError(
            f"{number} is too small a step from {newest}: {'; '.join(reasons)}. That is a "
            f"{level.name} change; expected {needed} or higher."
        )


def matching(asked: str, published: Iterable[Version]) -> Version:
    """The version that a number means: ``X.Y.Z`` itself, ``X.Y`` the newest of its PATCHes.

    Of ``X`` alone there may be versions with other columns, so that it names no version.

    Raises:
        UsageError: It is no number of a version.
        VersionError: There is no such version.
    """
    known = list(published)
    parts = asked.removeprefix("v").split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        raise UsageError(f"version is {asked!r}; expected X.Y or X.Y.Z, as in 1.2 or 1.2.0.")
    wanted = tuple(map(int, parts))
    found = [number for number in known if order(number)[: len(wanted)] == wanted]
    if not found:
        shown = ", ".join(map(str, known)) or "none"
        raise VersionError(f"There is no version {asked}. Published: {shown}.")
    return max(found, key=order)
