"""The public functions that publish to the Hub, and read what is published."""

from collections.abc import Sequence

from ..builders.versions.open import PathLike, open_version
from ..builders.versions.version import BuiltVersion
from ..loaders.paths import local_path
from ..loaders.progress import Tell, silent
from .dataset import plan_dataset
from .diff import VersionDiff, diff_versions
from .hub.repository import HubRepository
from .metrics import plan_metric
from .plan import Publication
from .remote import PublishedVersion, RemoteVersion, list_versions, parse_reference

__all__ = ["diff", "publish", "publish_metric", "versions"]


def publish(
    name: str,
    repo: str,
    version: str,
    *,
    private: bool = False,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    tell: Tell = silent,
) -> Publication:
    """Publish a version of a dataset to the Hub: one commit, read back, tagged.

    A version is published once: its number is never given to other rows or bytes. Interrupted
    anywhere, calling it again goes on where it was. The token is read as ``huggingface_hub`` reads
    it.

    Args:
        name: Name of a dataset, or folder of a built version.
        repo: Its repository on the Hub, ``ORG/NAME``.
        version: The version number, ``X.Y.Z``.
        private: Whether a repository that is made is private.
        folder: Local folder with the source files, or one file, where the dataset has to be built
            first; None downloads them where they are needed.
        configs: The configs to build; empty means all.
        splits: The splits to build; empty means all.
        tell: Takes a line on each step.

    Raises:
        VerificationError: The version fails a check.
        VersionError: The number is taken by something else, does not follow the newest or is too
            small a step, or nothing has changed since the newest.
        UsageError: The number or the name is malformed, or the repository holds something else.
        RaceError: Somebody else published or changed the repository at the same time.
        HubError: The Hub refuses, cannot be reached, or gives something else than was built.
    """
    built = open_version(name, folder=folder, configs=configs, splits=splits)
    return plan_dataset(built, repo, version, private=private).publish(tell)


def publish_metric(
    name: str, space: str, *, private: bool = False, tell: Tell = silent
) -> Publication:
    """Publish a metric as a Space: its module, card, requirements and app, tagged.

    Afterwards ``evaluate.load("ORG/NAME")`` works; it is tried, in a process that cannot import
    nlihub, by the example on the card.

    Args:
        name: Name of the metric.
        space: Its Space, ``ORG/NAME``.
        private: Whether a Space that is made is private.
        tell: Takes a line on each step.

    Raises:
        UnknownNameError: There is no such metric.
        VersionError: The metric's version is published with other files.
        RaceError: Somebody else published or changed the Space at the same time.
        HubError: The Hub refuses, cannot be reached, or the metric does not work from there.
    """
    return plan_metric(name, space, private=private).publish(tell)


def versions(repo: str, *, space: bool = False) -> list[PublishedVersion]:
    """Return the published versions of a dataset, or of a Space, the newest first.

    Args:
        repo: ``ORG/NAME``.
        space: Whether it is a Space.

    Raises:
        HubError: There is no such repository, the Hub refuses, or cannot be reached.
    """
    return list_versions(HubRepository(repo, "space" if space else "dataset"))


def diff(old: str, new: str) -> VersionDiff:
    """Compare two versions row by row: added, removed, relabelled, edited, moved.

    Args:
        old: A published version, ``ORG/NAME@X.Y.Z``, or the folder of a built one.
        new: Likewise.

    Raises:
        UsageError: One of them is neither, or they are versions of different datasets.
        VersionError: There is no such version.
        HubError: The Hub refuses, or cannot be reached.
        ChecksumError: A published file is not the one that the version lists.
        VerificationError: A file of a folder is not the one that the version lists, or malformed.
    """
    return diff_versions(_open(old), _open(new))


def _open(reference: str) -> BuiltVersion:
    """Open a version whose files have the hashes in its manifest, by which rows are compared."""
    if (folder := local_path(reference)).is_dir():
        return BuiltVersion(folder).require_whole()
    return RemoteVersion(*parse_reference(reference)).fetch()
