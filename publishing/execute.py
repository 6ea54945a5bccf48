"""Carries a plan out: one commit, proved by trying it out, and then its tag."""

from collections.abc import Callable
from dataclasses import dataclass

from ..loaders.errors import HubError, RaceError
from ..loaders.progress import Tell, silent
from .compare.numbers import published_numbers
from .hub.repository import content_hash
from .plan import OF_NEW_REPOSITORIES, Plan


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
    """Does what a plan says. Interrupted anywhere, a new plan goes on where it was.

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
    """Refuses to tag where somebody else has changed the repository since it was planned."""
    repository = plan.repository
    tags = published_numbers(repository.tags())
    tags.pop(plan.number, None)  # whoever set it to another commit is told when it is set
    if repository.head() != commit or tags != dict(plan.published):
        raise RaceError(
            f"{repository.name} was changed by somebody else before it was tagged. Run the command "
            "again to see what it holds now."
        )


def _make(plan: Plan) -> str:
    """Makes the repository; its first commit."""
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
    """Commits the files of a plan; where the answer is lost, finds out whether it was done."""
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
