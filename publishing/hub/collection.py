"""A collection on the Hub: the page that shows all that belongs together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from huggingface_hub import CollectionItem, HfApi

from .calls import ask

_MAX_NOTE_CHARS = 500


@dataclass(frozen=True)
class Entry:
    """What a collection shows.

    Attributes:
        repository: ``ORG/NAME``.
        kind: ``dataset`` or ``space``.
        note: What it is, in a line.
    """

    repository: str
    kind: Literal["dataset", "space"]
    note: str


def publish_collection(
    organization: str,
    title: str,
    description: str,
    entries: Sequence[Entry],
    *,
    private: bool = False,
) -> str:
    """Makes a collection, or completes the one of that title: entries are added, notes renewed.

    What people added to it stays.

    Args:
        organization: Whose it is.
        title: Its title.
        description: What it is, up to 150 characters.
        entries: What it shows, in order.
        private: Whether a collection that is made is private.

    Returns:
        Its address.

    Raises:
        HubError: The Hub refuses, or cannot be reached.
    """
    api = HfApi(library_name="nlihub")
    of, what = f"The collection {title!r} of {organization}", "is not complete"
    made = ask(
        of,
        what,
        lambda: api.create_collection(
            title,
            namespace=organization,
            description=description,
            private=private,
            exists_ok=True,
        ),
    )
    there = {
        (item.item_id, item.item_type): item
        for item in ask(of, what, lambda: api.get_collection(made.slug)).items
    }
    for entry in entries:
        ask(of, what, partial(_show, api, made.slug, entry, there))
    return str(made.url)


def _show(
    api: HfApi, slug: str, entry: Entry, there: Mapping[tuple[str, str], CollectionItem]
) -> None:
    """Adds an entry to a collection, or renews its note."""
    note = entry.note[:_MAX_NOTE_CHARS]
    item = there.get((entry.repository, entry.kind))
    if item is None:
        api.add_collection_item(
            slug, entry.repository, item_type=entry.kind, note=note, exists_ok=True
        )
    elif item.note != note:
        api.update_collection_item(slug, item.item_object_id, note=note)
