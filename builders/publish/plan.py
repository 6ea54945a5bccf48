"""What publishing would do: found out before anything is changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from datasets import Version

from ...loaders.errors import VersionError
from ..release.manifest import FILE_NAME as MANIFEST
from .compare.changes import Change, level_of
from .compare.numbers import check_follows, smallest_after, tag_of
from .hub.repository import Content, HubRepository, StoredFile, content_hash

CARD = "README.md"


@dataclass(frozen=True)
class FileChanges:
    """The paths of files that a commit changes.

    Attributes:
        added: Those that are not there yet.
        changed: Those that are there with another content.
        removed: Those that go.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True)
class Plan:
    """What publishing would do.

    Attributes:
        repository: The repository.
        number: The version number.
        contents: All files of the version, by path.
        head: The newest commit there; None where there is no such repository.
        newest: The newest version that is published, if any is.
        changes: What the version changes since then, the gravest first.
        files: The files that a commit would change.
        tagged: The commit that has the number's tag already, if one has.
        keeps_text: Whether people changed the card's text on the Hub, so that it stays.
        private: Whether a repository that is made is private.
        sdk: What a Space that is made runs on.
    """

    repository: HubRepository
    number: Version
    contents: Mapping[str, Content]
    head: str | None
    newest: Version | None
    changes: Sequence[Change]
    files: FileChanges
    tagged: str | None
    keeps_text: bool
    private: bool = False
    sdk: str | None = None

    @property
    def tag(self) -> str:
        """The tag of the version."""
        return tag_of(self.number)


def check_number(number: Version, published: Sequence[Version], changes: Sequence[Change]) -> None:
    """Refuses a number that is taken by something else, or says less than what has changed.

    Args:
        number: The number.
        published: The numbers that are published, the oldest first.
        changes: What has changed since the version of that number, or else since the newest.

    Raises:
        VersionError: It is refused.
    """
    reasons = [change.what for change in changes]
    if number in published:
        if changes:
            needed = smallest_after(number, level_of(changes))
            raise VersionError(
                f"{number} is published already, and is another: {'; '.join(reasons)}. "
                f"Expected a number such as {needed}."
            )
    elif published:
        if not changes:
            raise VersionError(
                f"Nothing has changed since {published[-1]}, so there is nothing to publish."
            )
        check_follows(number, published[-1], level_of(changes), reasons)


def compare_files(
    contents: Mapping[str, Content],
    there: Mapping[str, StoredFile],
    listed: Collection[str] = (),
) -> FileChanges:
    """What has to change so that a version's files are there, and none of the one before.

    Args:
        contents: The files of the version.
        there: The files of the repository.
        listed: Those of them that belong to the version before.
    """
    new = {path for path in contents if path not in there}
    return FileChanges(
        added=tuple(sorted(new)),
        changed=tuple(
            path
            for path in sorted(set(contents) - new)
            if not there[path].holds(content_hash(contents[path]))
        ),
        removed=tuple(sorted(set(there).intersection(listed) - set(contents))),
    )


def files_to_restore(files: FileChanges, *, is_newest: bool) -> FileChanges:
    """What a commit has to change where the version is published already: nothing, as a rule.

    People may change the card after that. But if other files at the head are not those of the
    newest version, as when two publishers were at work at once, they are put there again.

    Args:
        files: What differs between the version and the head.
        is_newest: Whether the version is the newest.
    """
    touched = {*files.added, *files.changed, *files.removed}
    return files if is_newest and touched - {CARD, MANIFEST} else FileChanges()
