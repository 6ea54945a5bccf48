"""What publishing would do, found out before anything is changed; and how it is done.

A plan is carried out in one commit, which is proved by trying it out, and then tagged.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from datasets import Version

from ..loaders.errors import HubError, RaceError, UsageError, VersionError
from ..loaders.progress import Tell, silent
from .changes import Change, check_follows, level_of, published_numbers, smallest_after, tag_of
from .hub.repository import Content, HubRepository, StoredFile, content_hash

CARD = "README.md"
#: Files that the Hub itself puts into a repository that is made.
OF_NEW_REPOSITORIES = {".gitattributes", CARD}


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
        changes: What the version changes since the newest that is published, the gravest first.
        files: The files that a commit would change.
        published: The versions that are published, each with its commit, the oldest first.
        keeps_text: Whether people changed the card's text on the Hub, so that it stays.
        private: Whether a repository that is made is private.
    """

    repository: HubRepository
    number: Version
    contents: Mapping[str, Content]
    head: str | None
    published: Mapping[Version, str]
    changes: Sequence[Change]
    files: FileChanges
    keeps_text: bool
    private: bool = False

    @property
    def newest(self) -> Version | None:
        """The newest version that is published, if any is."""
        return list(self.published)[-1] if self.published else None

    @property
    def tagged(self) -> str | None:
        """The commit that has the number's tag already, if one has."""
        return self.published.get(self.number)

    @property
    def tag(self) -> str:
        """The tag of the version."""
        return tag_of(self.number)


def check_number(number: Version, published: Sequence[Version], changes: Sequence[Change]) -> None:
    """Refuse a number that is taken by something else, or says less than what has changed.

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
            needed = smallest_after(published[-1], level_of(changes))
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


def files_to_restore(files: FileChanges, data: Collection[str], *, is_newest: bool) -> FileChanges:
    """What a commit has to change where the version is published already: nothing, as a rule.

    People may change the card and other texts after that. But if the data at the head are not those
    of the newest version, as when two publishers were at work at once, all is put there again.

    Args:
        files: What differs between the version and the head.
        data: The files of the version that nobody changes by hand.
        is_newest: Whether the version is the newest.
    """
    touched = {*files.added, *files.changed}
    return files if is_newest and touched.intersection(data) else FileChanges()


def check_repository(
    repository: HubRepository, head: str | None, mark: str, *, private: bool
) -> None:
    """Refuse a repository that is somebody else's, or public where it should be private.

    Args:
        repository: The repository.
        head: Its newest commit; None where there is no such repository.
        mark: A file that every version of ours has.
        private: Whether it should be private.

    Raises:
        UsageError: It is refused.
        HubError: The Hub refuses, or cannot be reached.
    """
    if head is None:
        return
    if private and not repository.is_private():
        raise UsageError(f"{repository.name} is there, and is public; --private is for a new one.")
    there = set(repository.files(head))
    if mark not in there and (foreign := sorted(there - OF_NEW_REPOSITORIES)):
        raise UsageError(
            f"{repository.name} holds something else ({', '.join(foreign[:5])}), which nlihub did "
            "not put there. Choose another name."
        )


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


def publish(
    plan: Plan,
    *,
    try_out: Callable[[str], None],
    use: str,
    tell: Tell = silent,
) -> Publication:
    """Do what a plan says. Interrupted anywhere, a new plan goes on where it was.

    The tag is set only after the commit was tried out.

    Args:
        plan: The plan.
        try_out: Takes a revision, and raises an error unless it is what was to be published.
        use: The line that users will type.
        tell: Takes a line on each step.

    Returns:
        What is on the Hub now.

    Raises:
        RaceError: Somebody else published or changed the repository at the same time.
        HubError: The Hub refuses, cannot be reached, or what it gives is something else.
    """
    repository = plan.repository
    head = plan.head
    if head is None:
        tell(f"Making {repository.name}")
        head = _make(plan)
    if plan.files:
        tell(f"Committing {len(plan.files.added) + len(plan.files.changed)} files")
        head = _commit(plan, head)
    commit = plan.tagged or head
    if plan.tagged is None:
        tell("Trying out what was committed")
        try:
            try_out(commit)
        except HubError as error:
            raise HubError(f"{error} It is committed, and not tagged.") from error
        _check_unchanged(plan, commit)
        repository.tag(plan.tag, commit)
    tell(f"Trying out {plan.tag}")
    try_out(plan.tag)
    if plan.tagged is None and repository.head() != commit:
        raise RaceError(
            f"{plan.tag} of {repository.name} is published, but somebody else changed the "
            "repository at the same time. Run the command again to see what its main branch holds."
        )
    return Publication(
        repository=repository.name,
        version=str(plan.number),
        commit=commit,
        url=f"{repository.url}/tree/{plan.tag}",
        was_there=plan.tagged is not None,
        use=use,
    )


def _check_unchanged(plan: Plan, commit: str) -> None:
    """Refuse to tag where somebody else has changed the repository since it was planned."""
    repository = plan.repository
    tags = published_numbers(repository.tags())
    tags.pop(plan.number, None)  # whoever set it to another commit is told when it is set
    if repository.head() != commit or tags != dict(plan.published):
        raise RaceError(
            f"{repository.name} was changed by somebody else before it was tagged. Run the command "
            "again to see what it holds now."
        )


def _make(plan: Plan) -> str:
    """Make the repository with its first commit."""
    repository = plan.repository
    repository.create(private=plan.private)
    head = repository.head()
    if head is None:
        raise HubError(f"{repository.name} was made, but is not found. Run the command again.")
    if set(repository.files(head)) - OF_NEW_REPOSITORIES:
        raise RaceError(
            f"{repository.name} was made by somebody else at the same time. Run the command again "
            "to see what it holds now."
        )
    return head


def _commit(plan: Plan, head: str) -> str:
    """Commit the files of a plan; where the answer is lost, finds out whether it was done."""
    paths = (*plan.files.added, *plan.files.changed)
    try:
        return plan.repository.commit(
            {path: plan.contents[path] for path in paths},
            remove=plan.files.removed,
            message=f"Version {plan.number}",
            parent=head,
        )
    except HubError:
        now = plan.repository.head()
        if now is not None and now != head and _holds(plan, now):
            return now
        raise


def _holds(plan: Plan, commit: str) -> bool:
    """Whether a commit has the files of a plan."""
    there = plan.repository.files(commit)
    return not set(plan.files.removed) & set(there) and all(
        path in there and there[path].holds(content_hash(content))
        for path, content in plan.contents.items()
    )
