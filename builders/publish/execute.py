"""Carries a plan out: one commit, proved by trying it out, and then its tag."""

from collections.abc import Callable
from dataclasses import dataclass

from ...loaders.errors import HubError, RaceError
from .hub.repository import content_hash
from .plan import Plan


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
    tell: Callable[[str], None] = lambda _: None,
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
        repository.create(private=plan.private, sdk=plan.sdk)
        head = repository.head()
    if plan.files:
        tell(f"Committing {len(plan.files.added) + len(plan.files.changed)} files")
        head = _commit(plan, head)
    if head is None:
        raise HubError(f"{repository.name} was made, but is not found. Run the command again.")
    commit = plan.tagged or head
    if plan.tagged is None:
        tell("Trying out what was committed")
        try_out(commit)
        if repository.head() != commit:
            raise RaceError(
                f"{repository.name} was changed by somebody else before it was tagged. Run the "
                "command again to see what it holds now."
            )
        repository.tag(plan.tag, commit, f"Version {plan.number}")
    tell(f"Trying out {plan.tag}")
    try_out(plan.tag)
    return Publication(
        repository=repository.name,
        version=str(plan.number),
        commit=commit,
        url=f"{repository.url}/tree/{plan.tag}",
        was_there=plan.tagged is not None,
        use=use,
    )


def _commit(plan: Plan, head: str | None) -> str:
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
