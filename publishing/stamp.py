"""A built version as it stands on the Hub: under its number there, in its repository."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..builders.versions.card import (
    fill_blocks,
    front_matter,
    read_blocks,
    split_card,
    version_blocks,
)
from ..builders.versions.manifest import FILE_NAME as MANIFEST
from ..builders.versions.manifest import Manifest
from ..builders.versions.version import BuiltVersion
from ..loaders.hashing import identify
from .card import merge_cards
from .hub.repository import Content
from .plan import CARD

#: Files that stay as they are, besides those with the rows.
_KEPT = ("LICENSE", "CITATION.bib")
#: Makes files of a manifest, such as a description of the version in another format.
Extra = Callable[[Manifest], Mapping[str, bytes]]


@dataclass(frozen=True)
class Stamped:
    """A version under a number.

    Attributes:
        manifest: Its manifest.
        files: All its files by path, the manifest too.
    """

    manifest: Manifest
    files: Mapping[str, Content]


def stamp(
    version: BuiltVersion,
    number: str,
    repository: str,
    *,
    their_card: str | None = None,
    extra: Extra | None = None,
) -> Stamped:
    """A built version under a number, for a repository; its rows and their files stay.

    Args:
        version: The built version.
        number: The number.
        repository: ``ORG/NAME``.
        their_card: The card in the repository, of which is kept what people wrote.
        extra: Makes further files of the manifest.

    Returns:
        The version as it is to be published.

    Raises:
        HubError: The front matter of their card cannot be read.
    """
    spec = version.builder.SPEC
    manifest = replace(version.manifest, version=number, repository=repository)
    body = split_card((version.folder / CARD).read_text(encoding="utf-8"))[1]
    body = fill_blocks(body, read_blocks(body) | version_blocks(spec, manifest))
    card = f"---\n{front_matter(spec, manifest)}---\n\n{body}"
    kept = {name: sha256 for name, sha256 in manifest.files.items() if name in _KEPT}
    manifest = replace(manifest, files=kept)
    texts = {CARD: merge_cards(card, their_card).encode(), **(extra(manifest) if extra else {})}
    hashes = {name: identify(text).sha256 for name, text in texts.items()}
    stored = {name: version.folder / name for name in manifest.hashes()}
    manifest = replace(manifest, files={**kept, **hashes})
    return Stamped(manifest, {**stored, **texts, MANIFEST: manifest.to_bytes()})
