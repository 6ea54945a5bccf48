"""Publishes a metric as a Space."""

from collections.abc import Mapping

from ...loaders.errors import VersionError
from ..card import is_handwritten, merge_cards
from ..compare.changes import Change
from ..compare.numbers import Level, parse_number, published_numbers
from ..hub.repository import HubRepository
from ..plan import (
    CARD,
    OF_NEW_REPOSITORIES,
    Plan,
    check_number,
    check_repository,
    compare_files,
    files_to_restore,
)


def plan_space(
    files: Mapping[str, bytes],
    repository: HubRepository,
    number: str,
    *,
    mark: str,
    private: bool = False,
) -> Plan:
    """Compares the files of a Space with what is published.

    How much has changed for its users nobody can tell from its files: any number that follows the
    newest is taken.

    Args:
        files: The content of each file, by path; a card among them.
        repository: Where it would go.
        number: ``X.Y.Z``, from 1.0.0 on: ``evaluate`` looks for a module under the tag of its own
            version, such as ``v0.4.6``, before it takes the newest.
        mark: A file that every version has, by which a Space of ours is known.
        private: Whether a Space that is made is private.

    Returns:
        The plan; nothing was changed.

    Raises:
        UsageError: The number is none, or the Space is somebody else's, or public where it should
            be private.
        VersionError: It is below 1.0.0, is taken by other files, does not follow the newest, or
            nothing has changed since the newest.
        HubError: The Hub refuses, or cannot be reached.
    """
    wanted = parse_number(number)
    if int(wanted.major) < 1:
        raise VersionError(
            f"{number} could be taken for a version of evaluate, which looks for modules under the "
            "tag of its own; expected 1.0.0 or higher."
        )
    head = repository.head()
    check_repository(repository, head, mark, private=private)
    tags = published_numbers(repository.tags()) if head is not None else {}
    newest = list(tags)[-1] if tags else None
    compared = wanted if wanted in tags else newest
    changes = [] if compared is None else _changes_since(tags[compared], files, repository)
    check_number(wanted, list(tags), changes)
    card = repository.read_text(CARD, head) if head is not None else None
    contents = _with_card(files, card)
    there = repository.files(head) if head is not None else {}
    before = repository.files(tags[newest]) if newest is not None else {}
    differing = compare_files(contents, there, set(before) - OF_NEW_REPOSITORIES)
    if wanted in tags:
        data = set(contents) - {CARD}
        differing = files_to_restore(differing, data, is_newest=wanted == newest)
    return Plan(
        repository=repository,
        number=wanted,
        contents=contents,
        head=head,
        published=tags,
        changes=changes,
        files=differing,
        keeps_text=card is not None and is_handwritten(card),
        private=private,
    )


def _changes_since(
    commit: str, files: Mapping[str, bytes], repository: HubRepository
) -> list[Change]:
    contents = _with_card(files, repository.read_text(CARD, commit))
    there = repository.files(commit)
    found = compare_files(contents, there, set(there) - OF_NEW_REPOSITORIES)
    return [
        *(Change(Level.PATCH, f"{path} is removed") for path in found.removed),
        *(Change(Level.PATCH, f"{path} is added") for path in found.added),
        *(Change(Level.PATCH, f"{path} is another") for path in found.changed),
    ]


def _with_card(files: Mapping[str, bytes], theirs: str | None) -> dict[str, bytes]:
    return {**files, CARD: merge_cards(files[CARD].decode(), theirs).encode()}
