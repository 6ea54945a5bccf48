"""Plan a publication, and carry it out: one commit, which is tried out and then tagged."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from datasets import Version

from ..loaders.errors import HubError, RaceError, UsageError
from ..loaders.progress import Tell, silent
from .card import is_handwritten
from .changes import Change, Level, check_number, published_numbers, version_tag
from .repository import Content, HubRepository, StoredFile

CARD = "README.md"
#: Files that the Hub itself puts into a new repository.
OF_NEW_REPOSITORIES = {".gitattributes", CARD}
#: The endings of files that nobody changes by hand.
_NOT_EDITED_BY_HAND = (".parquet", ".py", ".txt")


@dataclass(frozen=True)
class FileChanges:
    """The paths of files that publishing a version changes.

    Attributes:
        added: Those that are not there yet.
        changed: Those that are there with another content.
        removed: Those that go.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def sent(self) -> tuple[str, ...]:
        """The paths of the files that are sent."""
        return (*self.added, *self.changed)

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True)
class Publication:
    """A version that is on the Hub, as it was built.

    Attributes:
        repository: ``ORG/NAME``.
        version: Its number.
        commit: Its commit.
        url: Its address.
        was_there: Whether it was there before.
        use: The line that its users type.
    """

    repository: str
    version: str
    commit: str
    url: str
    was_there: bool
    use: str


@dataclass(frozen=True, kw_only=True)
class RepositoryState:
    """What a repository holds before a version is published there.

    Attributes:
        repository: The repository.
        number: The number of the version.
        head: The newest commit there; None where there is no such repository.
        published: The published versions, each with its commit, the oldest first.
        there: The files at the head, by path.
        card: The card at the head; None where there is none.
        private: Whether a repository that is made is private.
    """

    repository: HubRepository
    number: Version
    head: str | None
    published: Mapping[Version, str]
    there: Mapping[str, StoredFile]
    card: str | None
    private: bool

    @classmethod
    def look(
        cls, repository: HubRepository, number: Version, *, mark: str, private: bool
    ) -> "RepositoryState":
        """Look at a repository of ours, or one that is still to be made.

        Args:
            repository: The repository.
            number: The number of the version to publish.
            mark: A file that every version of ours has.
            private: Whether the repository should be private.

        Raises:
            UsageError: It is somebody else's, or public where it should be private.
            HubError: The Hub refuses, or cannot be reached.
        """
        head = repository.head()
        if head is not None and private and not repository.is_private():
            raise UsageError(
                f"{repository.name} exists and is public; --private only makes a new one private."
            )
        there = repository.files(head) if head is not None else {}
        if mark not in there and (foreign := sorted(set(there) - OF_NEW_REPOSITORIES)):
            raise UsageError(
                f"{repository.name} holds something else ({', '.join(foreign[:5])}), which nlihub "
                "did not put there. Choose another name."
            )
        return cls(
            repository=repository,
            number=number,
            head=head,
            published=published_numbers(repository.tags()) if head is not None else {},
            there=there,
            card=repository.read_text(CARD, head) if head is not None else None,
            private=private,
        )

    @property
    def newest(self) -> Version | None:
        """The newest published version, if any."""
        return list(self.published)[-1] if self.published else None

    @property
    def compared(self) -> Version | None:
        """The published version to compare with: that of the number, or else the newest."""
        return self.number if self.number in self.published else self.newest

    @property
    def tag(self) -> str:
        """The tag of the version."""
        return version_tag(self.number)

    def plan(
        self,
        contents: Mapping[str, Content],
        changes: Sequence[Change],
        *,
        listed: Collection[str],
        try_out: Callable[[str], None],
        use: str,
    ) -> "Plan":
        """Plan to publish a version; nothing is changed.

        A version that is published already usually needs no change: people may have edited the card
        and other texts since. But if it is the newest, and a file that nobody edits by hand is
        missing or differs at the head, every file that differs is sent again.

        Args:
            contents: All files of the version, by path.
            changes: What it changes since the version ``compared``, the gravest first.
            listed: The files at the head that belong to the version before.
            try_out: Takes a revision, and raises an error unless it is what was to be published.
            use: The line that users will type.

        Raises:
            VersionError: The number is taken by something else, does not follow the newest or is
                too small a step, or nothing has changed.
        """
        check_number(self.number, self.published, changes)
        files = compare_files(contents, self.there, listed)
        if self.number in self.published:
            is_damaged = any(path.endswith(_NOT_EDITED_BY_HAND) for path in files.sent)
            if self.number != self.newest or not is_damaged:
                files = FileChanges()
        return Plan(
            **vars(self), contents=contents, changes=changes, files=files, try_out=try_out, use=use
        )


@dataclass(frozen=True, kw_only=True)
class Plan(RepositoryState):
    """What publishing a version would do.

    Attributes:
        contents: All files of the version, by path.
        changes: What the version changes since the newest that is published, the gravest first.
        files: The files that a commit would change.
        try_out: Takes a revision, and raises an error unless it is what was to be published.
        use: The line that users will type.
    """

    contents: Mapping[str, Content]
    changes: Sequence[Change]
    files: FileChanges
    try_out: Callable[[str], None]
    use: str

    @property
    def tagged(self) -> str | None:
        """The commit that has the number's tag already, if any."""
        return self.published.get(self.number)

    @property
    def card_to_be(self) -> str:
        """The card of the version, as it will be on the Hub."""
        content = self.contents[CARD]
        text = content.read_bytes() if isinstance(content, Path) else content
        return text.decode("utf-8")

    @property
    def n_bytes(self) -> int:
        """Size of the files that are sent."""
        contents = (self.contents[path] for path in self.files.sent)
        return sum(c.stat().st_size if isinstance(c, Path) else len(c) for c in contents)

    @property
    def keeps_text(self) -> bool:
        """Whether people changed the card's text on the Hub, so that it stays."""
        return self.card is not None and is_handwritten(self.card)

    def publish(self, tell: Tell = silent) -> Publication:
        """Do what is planned. Interrupted anywhere, a new plan goes on where this one was.

        The tag is set only after the commit was tried out.

        Args:
            tell: Takes a line on each step.

        Raises:
            RaceError: Somebody else published or changed the repository at the same time.
            HubError: The Hub refuses, cannot be reached, or gives something else than was built.
        """
        repository, head = self.repository, self.head
        if head is None:
            tell(f"Making {repository.name}")
            head = repository.create(private=self.private)
            if set(repository.files(head)) - OF_NEW_REPOSITORIES:
                raise _race(f"{repository.name} was made by somebody else at the same time")
        if self.files:
            tell(f"Committing {len(self.files.sent)} files")
            head = repository.commit(
                {path: self.contents[path] for path in self.files.sent},
                remove=self.files.removed,
                message=f"Version {self.number}",
                parent=head,
            )
        commit = self.tagged or head
        tell("Reading back what was committed")
        try:
            self.try_out(commit)
        except HubError as error:  # a transfer may have torn, whatever the error calls it
            done = "committed and tagged" if self.tagged else "committed, and not tagged"
            raise HubError(
                f"{error} It is {done}. Run the command again: it goes on where it was."
            ) from error
        if self.tagged is None:
            tags = published_numbers(repository.tags())
            tags.pop(self.number, None)  # repository.tag refuses another holder of our own
            if repository.head() != commit or tags != dict(self.published):
                raise _race(f"{repository.name} was changed by somebody else before it was tagged")
            repository.tag(self.tag, commit)
            if repository.head() != commit:
                raise _race(
                    f"{self.tag} of {repository.name} is published, but somebody else changed the "
                    "repository at the same time"
                )
        return Publication(
            repository=repository.name,
            version=str(self.number),
            commit=commit,
            url=f"{repository.url}/tree/{self.tag}",
            was_there=self.tagged is not None,
            use=self.use,
        )


def _race(what: str) -> RaceError:
    return RaceError(f"{what}. Run the command again to see what it holds now.")


def compare_files(
    contents: Mapping[str, Content],
    there: Mapping[str, StoredFile],
    listed: Collection[str] = (),
) -> FileChanges:
    """Compare the files of a version with those of its repository on the Hub.

    Args:
        contents: The files of the version.
        there: The files of the repository.
        listed: Those of them that belong to the version before.
    """
    return FileChanges(
        added=tuple(sorted(contents.keys() - there.keys())),
        changed=tuple(
            path
            for path in sorted(contents.keys() & there.keys())
            if not there[path].holds(contents[path])
        ),
        removed=tuple(sorted((there.keys() & set(listed)) - contents.keys())),
    )


def list_file_changes(
    contents: Mapping[str, Content], there: Mapping[str, StoredFile]
) -> list[Change]:
    """List what files change; each is a PATCH."""
    found = compare_files(contents, there, there)
    return [
        *(Change(Level.PATCH, f"{path} is added") for path in found.added),
        *(Change(Level.PATCH, f"{path} is removed") for path in found.removed),
        *(Change(Level.PATCH, f"{path} is another") for path in found.changed),
    ]
