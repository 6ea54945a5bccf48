"""Publishes a version of a dataset, under its number on the Hub and in its repository there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial

from datasets import Version

from ..builders.versions.card import (
    fill_blocks,
    front_matter,
    read_blocks,
    split_card,
    version_blocks,
)
from ..builders.versions.manifest import FILE_NAME as MANIFEST
from ..builders.versions.manifest import Manifest
from ..builders.versions.verify import require_verified
from ..builders.versions.version import BuiltVersion
from ..loaders.atomic_write import working_folder
from ..loaders.errors import UsageError, VersionError
from ..loaders.fetching.obtain import default_cache_dir
from ..loaders.hashing import identify
from ..loaders.progress import Tell, silent
from .card import is_handwritten, merge_cards
from .changes import Change, Level, compare, parse_number, published_numbers
from .hub.repository import Content, HubRepository, StoredFile
from .plan import (
    CARD,
    Plan,
    Publication,
    check_number,
    check_repository,
    compare_files,
    files_to_restore,
    publish,
)
from .read_back import read_back

#: Files that stay as they are, besides those with the rows.
_KEPT = ("LICENSE", "CITATION.bib")
#: Makes files of a manifest, such as a description of the version in another format.
Extra = Callable[[Manifest], Mapping[str, bytes]]


@dataclass(frozen=True, kw_only=True)
class DatasetPlan(Plan):
    """What publishing a version of a dataset would do.

    Attributes:
        manifest: The version's manifest, as it would be published.
    """

    manifest: Manifest


def plan_dataset(
    version: BuiltVersion,
    repository: HubRepository,
    number: str,
    *,
    private: bool = False,
    extra: Extra | None = None,
) -> DatasetPlan:
    """Verify a version, and compare it with what is published.

    Args:
        version: The built version.
        repository: Where it would go.
        number: ``X.Y.Z``.
        private: Whether a repository that is made is private.
        extra: Makes further files of the manifest.

    Returns:
        The plan; nothing was changed.

    Raises:
        VerificationError: The version fails a check.
        VersionError: The number is taken by other rows or bytes, does not follow the newest, is
            too small a step, or nothing has changed since the newest.
        UsageError: The number is none, or the repository is public and should be private, or holds
            another dataset, or files that would be loaded with the version's.
        HubError: The Hub refuses, or cannot be reached.
    """
    wanted = parse_number(number)
    _ = version.manifest  # what is no version says so itself
    require_verified(version)
    head = repository.head()
    check_repository(repository, head, MANIFEST, private=private)
    tags = published_numbers(repository.tags()) if head is not None else {}
    there = _There.look(repository, head)
    stamped = _stamp(version, str(wanted), repository.name, their_card=there.card, extra=extra)
    there.check_fits(stamped.manifest)
    newest = list(tags)[-1] if tags else None
    compared = wanted if wanted in tags else newest
    changes: list[Change] = []
    if compared is not None:
        changes = _changes_since(compared, tags[compared], version, repository, extra)
    check_number(wanted, list(tags), changes)
    files = compare_files(stamped.files, there.files, there.listed)
    if wanted in tags:
        data = [path for path in stamped.files if path.endswith(".parquet")]
        files = files_to_restore(files, data, is_newest=wanted == newest)
    return DatasetPlan(
        repository=repository,
        number=wanted,
        contents=stamped.files,
        head=head,
        published=tags,
        changes=changes,
        files=files,
        keeps_text=there.card is not None and is_handwritten(there.card),
        private=private,
        manifest=stamped.manifest,
    )


def publish_dataset(
    plan: DatasetPlan,
    *,
    tell: Tell = silent,
) -> Publication:
    """Publish a dataset as planned: one commit, read back, then tagged, and read back by its tag.

    Every config and split is loaded, and streamed, as users do; rows, order, columns and label
    names have to be those that were built.

    Args:
        plan: The plan.
        tell: Takes a line on each step.

    Returns:
        What is on the Hub now.

    Raises:
        RaceError: Somebody else published or changed the repository at the same time.
        HubError: The Hub refuses, cannot be reached, or gives something else than was built.
    """
    config = next(iter(plan.manifest.configs))
    with working_folder(default_cache_dir(), "read-back-") as caches:
        return publish(
            plan,
            try_out=partial(read_back, plan.repository.name, plan.manifest, caches),
            use=f'load_dataset("{plan.repository.name}", "{config}", revision="{plan.tag}")',
            tell=tell,
        )


def _read_manifest(repository: HubRepository, commit: str) -> Manifest | None:
    """The manifest at a commit; None where there is none.

    Raises:
        HubError: The Hub refuses, or cannot be reached.
        VerificationError: It is malformed.
    """
    content = repository.read(MANIFEST, commit)
    if content is None:
        return None
    return Manifest.parse(content, f"{MANIFEST} of {repository.name} at {commit[:8]}")


def _changes_since(
    number: Version,
    commit: str,
    version: BuiltVersion,
    repository: HubRepository,
    extra: Extra | None,
) -> list[Change]:
    """What a built version changes since a published one, the gravest first."""
    old = _read_manifest(repository, commit)
    if old is None:
        what = f"what {number} holds is unknown, since it has no {MANIFEST}"
        return [Change(Level.MAJOR, what)]
    if old.version != str(number):
        raise VersionError(
            f"{repository.name} has version {old.version} under the tag v{number}: the tag was "
            "moved. Put it back on the Hub."
        )
    card = repository.read_text(CARD, commit)
    restamped = _stamp(version, str(number), repository.name, their_card=card, extra=extra)
    now = restamped.manifest.files
    return [
        *compare(old, version),
        *(Change(Level.PATCH, f"{name} is added") for name in now if name not in old.files),
        *(Change(Level.PATCH, f"{name} is removed") for name in old.files if name not in now),
        *(
            Change(Level.PATCH, f"{name} is another")
            for name, sha256 in old.files.items()
            if now.get(name, sha256) != sha256
        ),
    ]


@dataclass(frozen=True)
class _Stamped:
    """A version under a number.

    Attributes:
        manifest: Its manifest.
        files: All its files by path, the manifest too.
    """

    manifest: Manifest
    files: Mapping[str, Content]


def _stamp(
    version: BuiltVersion,
    number: str,
    repository: str,
    *,
    their_card: str | None = None,
    extra: Extra | None = None,
) -> _Stamped:
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
    return _Stamped(manifest, {**stored, **texts, MANIFEST: manifest.to_bytes()})


@dataclass(frozen=True)
class _There:
    """What a repository holds at its head.

    Attributes:
        name: Its name.
        files: Its files.
        manifest: Its manifest, if it has one.
        card: Its card, if it has one.
    """

    name: str
    files: Mapping[str, StoredFile]
    manifest: Manifest | None
    card: str | None

    @classmethod
    def look(cls, repository: HubRepository, head: str | None) -> "_There":
        if head is None:
            return cls(repository.name, {}, None, None)
        return cls(
            repository.name,
            repository.files(head),
            _read_manifest(repository, head),
            repository.read_text(CARD, head),
        )

    @property
    def listed(self) -> set[str]:
        """The files that belong to the version there."""
        return {*self.manifest.hashes(), MANIFEST} if self.manifest is not None else set()

    def check_fits(self, manifest: Manifest) -> None:
        """Refuse a repository of something else, or with files that would be loaded, too."""
        if self.manifest is not None and self.manifest.dataset != manifest.dataset:
            raise UsageError(f"{self.name} holds {self.manifest.dataset}, not {manifest.dataset}.")
        patterns = [f"{c}/{s}-*.parquet" for c, splits in manifest.configs.items() for s in splits]
        foreign = [
            path
            for path in sorted(set(self.files) - self.listed - set(manifest.hashes()))
            if any(fnmatch(path, pattern) for pattern in patterns)
        ]
        if foreign:
            raise UsageError(
                f"{self.name} has files that would be loaded with the version, and that nlihub did "
                f"not put there: {', '.join(foreign)}. Remove them on the Hub."
            )
