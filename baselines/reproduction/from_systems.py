"""Entries on systems: scores and pictures of predictions, results or runs, beside the paper's."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...builders.core.registry import builders, get_builder
from ...loaders.errors import PredictionsError, UsageError, needs_extra
from ..evaluation.score import plot, score_one
from ..evaluation.scoring import all_scores
from ..reports.comparisons import compare_by
from ..reports.names import (
    benchmark_name,
    data_name,
    describe_training,
    short_dataset_name,
    subset_name,
)
from ..reports.pictures import N_SYSTEMS, plot_shots
from ..reports.published import (
    PublishedResult,
    differing_test_set,
    published_results,
    split_source,
)
from ..reports.scores import MeanScore, Place, full_title, mean_scores, place_of
from ..reports.systems import collect_runs
from .entries import Entry
from .inputs import Inputs
from .tables import Cell, Options, Percent, Reproduced, Table

#: By name of the metric, the result of a run.
_Metrics = Mapping[str, Mapping[str, Any]]


@dataclass
class ScoredSystem:
    """One of our systems, with its scores.

    Attributes:
        name: Its name in the table.
        trained_on: What it was trained on and what it saw, in words; empty if not known.
        n_runs: Number of runs of the means.
        scores: The scores by place.
        datasets: The descriptions of its test sets; those of other datasets than the entry's are
            left out.
        results: What a picture shows: the metrics of one run.
    """

    name: str
    trained_on: str
    n_runs: int = 1
    scores: dict[Place, MeanScore] = field(default_factory=dict)
    datasets: list[Mapping[str, Any]] = field(default_factory=list)
    results: _Metrics = field(default_factory=dict)


def make_scores(entry: Entry, inputs: Inputs, options: Options) -> Reproduced:
    """Show scores of systems beside the paper's, and the picture of a figure.

    Raises:
        PredictionsError: Predictions do not fit the rows, or lack what a picture shows.
        UsageError: None of the scores is of what the entry shows.
    """
    sources = set(entry.options.get("from", [entry.source]))
    published = [r for r in published_results() if sources & set(split_source(r.source))]
    places = _places(entry, published)
    found = list(_read_systems(entry, {test for test, _ in places}, inputs, options))
    systems = [system for system in found if system.datasets]
    others = [f"Left out: {s.name}, tested on another dataset." for s in found if not s.datasets]
    if not systems:
        raise UsageError(f"{entry.id} shows systems on {entry.dataset}. {' '.join(others)}")
    pictured = _pictured(entry, systems)
    ours = [_in_columns(system, places) for system in systems]
    if not any(ours):
        known = sorted({name for system in systems for _, name in system.scores})
        wanted = ", ".join(dict.fromkeys(name for _, name in places))
        raise UsageError(
            f"None of the systems has the scores that {entry.id} shows ({wanted}); they have "
            f"{', '.join(known[:12])}. Type its commands: nlihub reproduce shows them."
        )
    rows: list[list[Cell]] = [
        ["paper", *key, *map(cells.get, places)] for key, cells in _paper_rows(published).items()
    ]
    for system, scores in zip(systems, ours, strict=True):
        cells = (Percent(scores[place]) if place in scores else None for place in places)
        rows.append(["ours", system.name, system.trained_on, system.n_runs, *cells])
    are_many = len({test for test, _ in places}) > 1
    titles = [f"{test}: " * are_many + full_title(name) for test, name in places]
    columns = ("", "system", "trained on", "runs", *titles)
    table = Table(f"{entry.source}: percentages", columns, rows)
    result = Reproduced([table], [*_notes(places, systems), *others])
    if pictured:
        result.notes.append(f"The picture shows {', '.join(system.name for system in pictured)}.")
        result.draw = lambda output: _draw(entry, pictured, output)
    return result


def _read_systems(
    entry: Entry, tests: set[str], inputs: Inputs, options: Options
) -> Iterator[ScoredSystem]:
    """Yield all systems that are at hand, with the scores on the entry's test sets."""
    files = [*inputs["results"], *inputs["predictions"]]
    stems = [path.stem for path in files]
    for path in files:
        name = path.stem if stems.count(path.stem) == 1 else str(path)
        if path in inputs["results"]:
            found = json.loads(path.read_text(encoding="utf-8"))
        else:
            found = _score(entry, path, inputs, options)
        try:
            metrics = found["metrics"]
            yield _scored(entry, tests, name, "", [(found["dataset"], [metrics], metrics)])
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"The result {name} is malformed ({error!r}); expected what nlihub score --json "
                "says."
            ) from None
    if not inputs["runs"]:
        return
    collection = collect_runs(inputs["runs"])
    for system in collection.systems:
        evaluated = [
            (b.dataset, [e.metrics for e in runs.values()], b.middle_run(system).metrics)
            for b in collection.benchmarks
            if (runs := b.evaluations(system))
        ]
        config = system.config
        train = short_dataset_name(config.train, "train") if config.train else None
        trained = describe_training(train, config.view, config.n_shots, subset_name(config))
        yield _scored(entry, tests, system.name, trained, evaluated)


def _scored(
    entry: Entry,
    tests: set[str],
    name: str,
    trained_on: str,
    evaluated: Iterable[tuple[Mapping[str, Any], Sequence[_Metrics], _Metrics]],
) -> ScoredSystem:
    """Make a system of its test sets, the metrics of its runs on each, and those of one of them."""
    system = ScoredSystem(name, trained_on)
    for dataset, runs, shown in evaluated:
        if _is_of(entry, tests, dataset, runs[0]):
            means = mean_scores([all_scores(metrics) for metrics in runs])
            system.scores |= {place_of(data_name(dataset), n): mean for n, mean in means.items()}
            system.datasets.append(dataset)
            system.results, system.n_runs = shown, len(runs)
    return system


def _score(entry: Entry, path: Path, inputs: Inputs, options: Options) -> dict[str, Any]:
    dataset, folder = entry.dataset, next(iter(inputs["source files"]), None)
    if inputs["version"]:
        dataset, folder = str(inputs["version"][0]), None
    by = entry.options.get("by", ())
    split = next(iter(options.splits), None)
    return score_one(path, dataset, config=options.config, split=split, folder=folder, by=by)


def _is_of(
    entry: Entry, tests: set[str], dataset: Mapping[str, Any], metrics: Mapping[str, Any]
) -> bool:
    """Return whether a test set is one of an entry's, or one of no paper with the same labels."""
    if dataset["name"] in builders() and get_builder(dataset["name"]).SPEC.published:
        return dataset["name"] == entry.dataset or place_of(data_name(dataset), "")[0] in tests
    labels = get_builder(entry.dataset).SPEC.labels
    return set(metrics["nli_report"]["per_class"]) == set(labels)


def _places(entry: Entry, published: Iterable[PublishedResult]) -> list[Place]:
    """Return the columns of an entry: the chosen scores, or all that are published."""
    main = place_of(entry.dataset, "accuracy")[0]
    if chosen := entry.options.get("scores"):
        return [place_of(main, name) for name in chosen]
    found = dict.fromkeys(place for result in published for place in result.places)
    declared = get_builder("mscinli").SPEC.domains
    order = {f"mscinli/{domain}": number for number, domain in enumerate(declared)}
    return sorted(found, key=lambda place: order.get(place[0], -1 if place[0] == main else 99))


def _paper_rows(
    published: Iterable[PublishedResult],
) -> dict[tuple[str, str, int | None], dict[Place, Percent]]:
    """Merge published results of a system, trained on the same rows, into one row."""
    rows: dict[tuple[str, str, int | None], dict[Place, Percent]] = {}
    for result in published:
        trained = describe_training(result.train, result.view, result.n_shots)
        cells = {p: Percent(found, result.decimals) for p, found in result.places.items()}
        row = rows.setdefault((result.system, trained, result.n_runs), {})
        row |= {place: cell for place, cell in cells.items() if place not in row}
    return rows


def _in_columns(system: ScoredSystem, places: Sequence[Place]) -> dict[Place, MeanScore]:
    """Return a system's scores for the columns; on a test set of one's own, those of that name."""
    found = {place: system.scores[place] for place in places if place in system.scores}
    if found or len({test for test, _ in places}) > 1:
        return found
    by_name = {name: mean for (_, name), mean in system.scores.items()}
    return {place: by_name[place[1]] for place in places if place[1] in by_name}


def _notes(places: Iterable[Place], systems: Iterable[ScoredSystem]) -> Iterable[str]:
    """Say what our test sets are, and where they are not the papers'."""
    tests = {test for test, _ in places}
    datasets = {str(d["digest"]): d for system in systems for d in system.datasets}
    for dataset in datasets.values():
        name, version = data_name(dataset), f" {dataset['version']}" if dataset["version"] else ""
        reason = differing_test_set(name, dataset)
        if reason is None and place_of(name, "")[0] not in tests:
            reason = f"that is {', '.join(sorted(tests))}"
        differs = f": not the paper's test set, as {reason}" if reason else ""
        yield f"Ours: {dataset['rows']:,} rows of {benchmark_name(dataset)}{version}{differs}."


def _pictured(entry: Entry, systems: Sequence[ScoredSystem]) -> Sequence[ScoredSystem]:
    """Return the systems that a picture has room for, which have what it shows."""
    kind = entry.options.get("picture", {}).get("kind")
    if kind != "cartography":
        return systems[:N_SYSTEMS] if kind else []
    if lacking := [s.name for s in systems if kind not in s.results]:
        raise PredictionsError(
            f"{', '.join(lacking)}: no probabilities, which a data map needs. Add the columns "
            "probability_LABEL, one for each label, to the predictions."
        )
    return systems[:1]


@needs_extra("plots", "A picture")
def _draw(entry: Entry, pictured: Sequence[ScoredSystem], output: Path) -> None:
    """Draw the picture of a figure with ``nlihub plot``."""
    options = dict(entry.options["picture"])
    kind, values = options.pop("kind"), options.pop("values", None)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(len(pictured))]
        for file, system in zip(files, pictured, strict=True):
            metrics = dict(system.results)
            if values is not None:  # of a breakdown, these alone
                by = metrics["nli_report"]["by"].items()
                shown = {column: {v: p[v] for v in values if v in p} for column, p in by}
                metrics["nli_report"] = {**metrics["nli_report"], "by": shown}
            file.write_text(json.dumps({"metrics": metrics}), encoding="utf-8")
        plot(kind, files, output, names=[system.name for system in pictured], **options)


def make_shots(entry: Entry, inputs: Inputs, options: Options) -> Reproduced:
    """Show scores by the number of shots, as a report on the runs does.

    Raises:
        UsageError: No system was trained on several numbers of shots.
    """
    compared = compare_by("n_shots", collect_runs(inputs["runs"]))
    if not compared:
        raise UsageError(
            f"{', '.join(map(str, inputs['runs']))}: no system has runs with several numbers of "
            f"shots. Make them: {entry.commands[0]}."
        )
    tables = [
        Table(f"Ours on {found.benchmark.name}", tuple(found.rows[0]), found.rows[1:])
        for found in compared
    ]

    def draw(output: Path) -> None:
        with needs_extra("plots", "A picture"):
            from ...metrics.plots.figures import save_figure

            first = compared[0]
            save_figure(plot_shots(first.means, first.benchmark.compared[:1]), output)

    return Reproduced(tables, draw=draw)
