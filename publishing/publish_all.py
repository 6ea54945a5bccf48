"""Publishes everything of this package: metrics, datasets, and the collection that shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal

from huggingface_hub import CollectionItem, HfApi

from ..builders.core.registry import builders, get_builder
from ..builders.versions.manifest import FILE_NAME as MANIFEST
from ..builders.versions.open import PathLike, open_version
from ..loaders.errors import NLIHubError
from ..loaders.progress import Tell, silent
from ..metrics import METRICS
from .dataset import plan_dataset
from .hub.calls import ask
from .metrics import plan_metric
from .plan import Plan, Publication

__all__ = ["publish_all"]

TITLE = "nlihub: benchmarks for natural language inference"
DESCRIPTION = "NLI datasets in one schema, each version verified, and the metrics of their papers."
_MAX_NOTE_CHARS = 500  # of an entry of a collection


@dataclass(frozen=True)
class Item:
    """A dataset or a metric of this package.

    Attributes:
        kind: ``dataset`` or ``metric``.
        name: Its name.
    """

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Outcome:
    """What became of an item.

    Attributes:
        item: The item.
        repository: ``ORG/NAME``.
        plan: What publishing it would do; None where that could not be found out.
        publication: What is on the Hub now; None where it was not published.
        problem: Why it was not.
    """

    item: Item
    repository: str
    plan: Plan | None = None
    publication: Publication | None = None
    problem: str = ""


@dataclass(frozen=True)
class Summary:
    """What became of everything.

    Attributes:
        outcomes: One for each item, in the order in which they were published.
        collection: Address of the collection; None where there is none to show.
        problem: Why there is none.
    """

    outcomes: Sequence[Outcome]
    collection: str | None
    problem: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing went wrong."""
        return not self.problem and not any(outcome.problem for outcome in self.outcomes)


@dataclass(frozen=True)
class _Entry:
    """What a collection shows.

    Attributes:
        repository: ``ORG/NAME``.
        kind: ``dataset`` or ``space``.
        note: What it is, in a line.
    """

    repository: str
    kind: Literal["dataset", "space"]
    note: str


def publish_all(
    organization: str,
    *,
    built: PathLike | None = None,
    folder: PathLike | None = None,
    private: bool = False,
    dry_run: bool = False,
    tell: Tell = silent,
) -> Summary:
    """Publish all datasets and metrics of this package, and a collection that shows them.

    Each after those that it needs: metrics before the datasets that they are for, SciNLI before
    MSciNLI, which holds rows of it. One that fails stops only those that need it. Datasets and
    metrics go to ``ORGANIZATION/NAME``, under the versions that they have.

    Args:
        organization: Whose the repositories are.
        built: Folder with built versions, as ``nlihub build`` writes it; others are built now.
        folder: Local folder with the source files, or one file, where the dataset has to be built
            first; None downloads them where they are needed.
        private: Whether repositories that are made are private.
        dry_run: Whether to find out only what would be done.
        tell: Takes a line on each step.

    Returns:
        What became of each.
    """
    outcomes: dict[Item, Outcome] = {}
    for item, needs in in_order():
        repository = f"{organization}/{item.name}"
        lacking = [need for need in needs if outcomes[need].problem]
        if lacking:
            problem = f"not tried: it needs {', '.join(map(str, lacking))}"
            outcomes[item] = Outcome(item, repository, problem=problem)
            continue
        tell(f"{item}:")
        try:
            plan = _plan(item, repository, built, folder, private)
            done = None if dry_run else plan.publish(tell)
            outcomes[item] = Outcome(item, repository, plan, done)
        except (NLIHubError, OSError) as error:
            outcomes[item] = Outcome(item, repository, problem=str(error))
    entries = [_entry(o, o.publication) for o in outcomes.values() if o.publication is not None]
    if not entries:
        return Summary(tuple(outcomes.values()), None)
    try:
        page = _publish_collection(organization, TITLE, DESCRIPTION, entries, private=private)
    except NLIHubError as error:
        return Summary(tuple(outcomes.values()), None, str(error))
    return Summary(tuple(outcomes.values()), page)


def in_order() -> Iterable[tuple[Item, Sequence[Item]]]:
    """Everything, each item after those that it needs, and with them."""
    needs: dict[Item, list[Item]] = {Item("metric", name): [] for name in sorted(METRICS)}
    for name in builders():
        spec = get_builder(name).SPEC
        needs[Item("dataset", name)] = [
            *(Item("metric", metric) for metric in spec.metrics),
            *(Item("dataset", other) for other in spec.after),
        ]
    order = TopologicalSorter(needs).static_order()
    return [(item, needs[item]) for item in order]


def _plan(
    item: Item,
    repository: str,
    built: PathLike | None,
    folder: PathLike | None,
    private: bool,
) -> Plan:
    if item.kind == "metric":
        return plan_metric(item.name, repository, private=private)
    there = Path(built or "").expanduser() / item.name
    if built is not None and (there / MANIFEST).is_file():
        version = open_version(str(there))
    else:
        takes_folder = not get_builder(item.name).SPEC.offline
        version = open_version(item.name, folder=folder if takes_folder else None)
    return plan_dataset(version, repository, version.manifest.version, private=private)


def _entry(outcome: Outcome, publication: Publication) -> _Entry:
    version = f"Version {publication.version}."
    if outcome.item.kind == "metric":
        return _Entry(outcome.repository, "space", f"{version} A metric for evaluate.")
    summary = get_builder(outcome.item.name).SPEC.summary
    return _Entry(outcome.repository, "dataset", f"{version} {summary}")


def _publish_collection(
    organization: str,
    title: str,
    description: str,
    entries: Sequence[_Entry],
    *,
    private: bool = False,
) -> str:
    """Make a collection, or completes the one of that title: entries are added, notes renewed.

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
    api: HfApi, slug: str, entry: _Entry, there: Mapping[tuple[str, str], CollectionItem]
) -> None:
    """Add an entry to a collection, or renews its note."""
    note = entry.note[:_MAX_NOTE_CHARS]
    item = there.get((entry.repository, entry.kind))
    if item is None:
        api.add_collection_item(
            slug, entry.repository, item_type=entry.kind, note=note, exists_ok=True
        )
    elif item.note != note:
        api.update_collection_item(slug, item.item_object_id, note=note)
