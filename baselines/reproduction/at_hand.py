"""What is at hand for the entries: folders and files that were given, the cache, extras."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ...builders.core.registry import get_builder
from ...builders.versions.manifest import FILE_NAME as MANIFEST
from ...builders.versions.manifest import Manifest
from ...loaders.errors import SourceNotFoundError, UsageError
from ...loaders.fetching.catalogue import list_sources
from ...loaders.fetching.local import find_local
from ...loaders.fetching.obtain import is_downloaded
from ...loaders.json_text import parse_json
from ...loaders.paths import default_cache_dir
from .entries import NEEDS, Entry

#: The files by which folders are told apart; a test compares them with those that are written.
RUN_FILE = "record.json"
BATCH_FILE = "batch.json"
CODERS_FOLDER = "for_coders"

#: A module of each extra.
_EXTRAS = {"plots": "matplotlib", "baselines": "torch"}

_MAX_RESULT_BYTES = 200_000_000


@dataclass(frozen=True)
class AtHand:
    """What was given to make entries from.

    Attributes:
        versions: Folders of built versions.
        sources: The folder of source files, or one file; None without.
        runs: Folders that contain runs of baselines.
        results: Files of ``nlihub score --json``.
        predictions: Files of predictions.
        batches: Folders of annotation batches.
        errors: Folders of errors for people to code.
    """

    versions: tuple[Path, ...] = ()
    sources: Path | None = None
    runs: tuple[Path, ...] = ()
    results: tuple[Path, ...] = ()
    predictions: tuple[Path, ...] = ()
    batches: tuple[Path, ...] = ()
    errors: tuple[Path, ...] = ()

    @property
    def systems(self) -> tuple[Path, ...]:
        """Return all that holds predictions or their scores."""
        return (*self.runs, *self.results, *self.predictions)

    def describe(self) -> list[str]:
        """Return what was given, in words, a line each."""
        given = {
            "version": self.versions,
            "source files": (self.sources,) if self.sources else (),
            "runs": self.runs,
            "results": self.results,
            "predictions": self.predictions,
            "annotation batches": self.batches,
            "coded errors": self.errors,
        }
        return [f"{what}: {path}" for what, paths in given.items() for path in paths]


def find_at_hand(folders: Sequence[Path], predictions: Sequence[Path] = ()) -> AtHand:
    """Tell the kind of each folder or file that was given.

    Args:
        folders: A built version or a folder that contains some, a folder of runs, of results or of
            annotation batches, a file of results, or else source files.
        predictions: Files of predictions.

    Raises:
        SourceNotFoundError: There is nothing at a path.
        UsageError: There are several places of source files, or one holds nothing.
    """
    found: dict[str, list[Path]] = {}
    for path in folders:
        for kind, paths in _tell(path).items():
            found.setdefault(kind, []).extend(paths)
    if missing := [path for path in predictions if not path.is_file()]:
        raise SourceNotFoundError(f"There is no file {missing[0]}.")
    sources = found.pop("sources", [])
    if len(sources) > 1:
        listed = ", ".join(map(str, sources))
        raise UsageError(
            f"{listed} are neither built versions nor runs, results or batches, so they are taken "
            "for source files; name one such folder."
        )
    kinds = {kind: tuple(paths) for kind, paths in found.items()}
    return AtHand(sources=next(iter(sources), None), predictions=tuple(predictions), **kinds)


def _tell(path: Path) -> dict[str, list[Path]]:
    if path.is_file():
        return {"results" if _is_result(path) else "sources": [path]}
    if not path.is_dir():
        raise SourceNotFoundError(f"{path} is neither a folder nor a file.")
    if (path / MANIFEST).is_file():
        return {"versions": [path]}
    has_batches = any(path.glob(f"batch-*/{BATCH_FILE}"))
    has_errors = any(path.glob(f"batch-*/{CODERS_FOLDER}"))
    found = {
        "versions": sorted(manifest.parent for manifest in path.glob(f"*/{MANIFEST}")),
        "batches": [path] * (has_batches and not has_errors),
        "errors": [path] * has_errors,
        "runs": [path] * any(path.rglob(RUN_FILE)),
        "results": [file for file in sorted(path.glob("*.json")) if _is_result(file)],
    }
    known = {kind: paths for kind, paths in found.items() if paths}
    if not known and not any(path.iterdir()):
        raise UsageError(f"{path} is empty.")
    return known or {"sources": [path]}


def _is_result(path: Path) -> bool:
    """Return whether a file is what ``nlihub score --json`` wrote."""
    if path.suffix != ".json" or path.stat().st_size > _MAX_RESULT_BYTES:
        return False
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(found, dict) and "dataset" in found and bool({"metrics", "runs"} & set(found))


def list_lacks(entry: Entry, at_hand: AtHand) -> list[str]:
    """List what an entry needs and is not at hand; empty if it can be made."""
    return [need for need in entry.needs if not _is_met(need, entry, at_hand)]


def _is_met(need: str, entry: Entry, at_hand: AtHand) -> bool:
    if need in _EXTRAS:
        return find_spec(_EXTRAS[need]) is not None
    if need == "predictions":
        return bool(at_hand.systems)
    if need == "probabilities":  # seen when they are read
        return bool(at_hand.systems)
    if need == "codes":
        return bool(at_hand.errors)
    if need == "runs":
        return bool(at_hand.runs)
    if need == "annotations":
        return bool(at_hand.batches) and _has_version(entry.dataset, at_hand.versions)
    if _has_version(entry.dataset, at_hand.versions):
        return True
    return (
        need == "version" and not at_hand.versions and has_sources(entry.dataset, at_hand.sources)
    )


def _has_version(dataset: str, versions: Sequence[Path]) -> bool:
    """Return whether a version has the labels of a dataset."""
    labels = tuple(get_builder(dataset).SPEC.labels)
    return any(tuple(Manifest.read(folder).labels) == labels for folder in versions)


def has_sources(dataset: str, place: Path | None) -> bool:
    """Return whether a source file of a dataset is there; without a place, all in the cache."""
    sources = list_sources(dataset).values()
    if place is not None:
        return any(find_local(source, place) is not None for source in sources)
    return all(is_downloaded(source, default_cache_dir()) for source in sources)


def show_status(entry: Entry, at_hand: AtHand) -> tuple[str, str]:
    """Return the status of an entry, and its reason in words.

    Returns:
        ``can be made``, ``needs`` or ``cannot be made``; and what is at hand or lacking, or why
        not. Something may be left out of what can be made: see the entry's ``why``.
    """
    if entry.maker == "none":
        return "cannot be made", entry.why
    lacks = list_lacks(entry, at_hand)
    if lacks:
        return "needs", "; ".join(NEEDS[need] for need in lacks)
    return "can be made", ", ".join(at_hand.describe()) if entry.needs else "from this package"


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return for each file its stem, or the last folder that tells files of one stem apart."""
    names = [path.stem for path in paths]
    for name in {name for name in names if names.count(name) > 1}:
        places = [place for place, found in enumerate(names) if found == name]
        parents = [paths[place].resolve().parts[::-1] for place in places]
        depths = range(1, min(map(len, parents)))
        told = next((d for d in depths if len({p[d] for p in parents}) == len(parents)), None)
        for place, parts in zip(places, parents, strict=True):
            names[place] = str(paths[place]) if told is None else parts[told]
    return names
