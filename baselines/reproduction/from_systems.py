"""Entries on systems: scores and pictures of predictions, results or runs, beside the paper's."""

import json
import re
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...builders.core.registry import builders, get_builder
from ...loaders.errors import PredictionsError, UsageError, needs_extra
from ..evaluation.score import plot, score
from ..reports.comparisons import shot_scores
from ..reports.names import benchmark_name, data_name, short_dataset_name, subset_name
from ..reports.pictures import plot_shots
from ..reports.published import (
    PublishedResult,
    differing_test_set,
    place_of,
    published_results,
)
from ..reports.read_runs import Evaluation
from ..reports.scores import score_title
from ..reports.systems import Mean, ReportedSystem, collect_runs
from .at_hand import AtHand, distinct_names
from .entries import Entry
from .tables import Cell, ComparedTable, Made, MeanCell

#: A score on a test set: see ``place_of``.
Place = tuple[str, str]

#: Number of decimals of a paper's percentages, if not two.
_DECIMALS = {"BioNLI": 0, "SpaceNLI": 1}

_MAX_PICTURED = 7


@dataclass(frozen=True)
class SystemScores:
    """The scores of one of our systems.

    Attributes:
        name: Its name in the table.
        trained_on: What it was trained on and what it saw, in words; empty if not known.
        n_runs: Number of runs of the means.
        scores: Means and deviations from 0 to 1 by place.
        datasets: The descriptions of the test sets; those of other datasets than the entry's
            are left out.
        results: Of one run, the result of each metric; empty where there is no single run.
    """

    name: str
    trained_on: str
    n_runs: int
    scores: Mapping[Place, Mean]
    datasets: Sequence[Mapping[str, Any]]
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoreOptions:
    """How predictions are scored.

    Attributes:
        config: The config of the test set; None takes the default one.
        split: Its split; None takes ``test``, or the only one.
    """

    config: str | None = None
    split: str | None = None


def make_scores(entry: Entry, at_hand: AtHand, options: ScoreOptions) -> Made:
    """Show scores of systems beside the paper's, and the picture of a figure.

    Raises:
        PredictionsError: Predictions do not fit the rows, or lack what a picture shows.
        UsageError: None of the scores is of what the entry shows.
    """
    published = _published(entry)
    places = _places(entry, published)
    systems, others = _divide(read_systems(entry, places, at_hand, options))
    if not systems:
        raise UsageError(f"{entry.id} shows systems on {entry.dataset}. {' '.join(others)}")
    _check_pictured(entry, systems)
    ours = [_as_places(system, places) for system in systems]
    if not any(scores for scores in ours):
        found = sorted({name for system in systems for _, name in system.scores})
        wanted = ", ".join(dict.fromkeys(name for _, name in places))
        raise UsageError(
            f"None of the systems has the scores that {entry.id} shows ({wanted}); they have "
            f"{', '.join(found[:12])}. Type its commands: nlihub reproduce shows them."
        )
    rows: list[list[Cell]] = [
        ["paper", name, trained, n_runs, *(cells.get(place) for place in places)]
        for (name, trained, n_runs), cells in _paper_rows(published, entry.paper).items()
    ]
    for system, scores in zip(systems, ours, strict=True):
        cells = (MeanCell.of(scores[place]) if place in scores else None for place in places)
        rows.append(["ours", system.name, system.trained_on, system.n_runs, *cells])
    title = f"{entry.source}: percentages"
    columns = ("", "system", "trained on", "runs", *_titles(places))
    made = Made([ComparedTable(title, columns, rows)], [*_notes(places, systems), *others])
    if "picture" in entry.options:
        drawn = ", ".join(system.name for system in _pictured(entry, systems))
        made.notes.append(f"The picture shows {drawn}.")
        made.draw = lambda output: _draw(entry, systems, output)
    return made


def _divide(systems: Iterable[SystemScores]) -> tuple[list[SystemScores], list[str]]:
    """Return the systems that were tested on the entry's dataset, and a note on each other one."""
    found = list(systems)
    others = [f"Left out: {s.name}, tested on another dataset." for s in found if not s.datasets]
    return [system for system in found if system.datasets], others


def read_systems(
    entry: Entry, places: Sequence[Place], at_hand: AtHand, options: ScoreOptions
) -> list[SystemScores]:
    """Read or compute the scores of all systems that are at hand."""
    tests = {test for test, _ in places}
    results = [_read_json(path) for path in at_hand.results]
    results += [_score(entry, path, at_hand, options) for path in at_hand.predictions]
    names = distinct_names([*at_hand.results, *at_hand.predictions])
    found = [_of_result(entry, tests, *pair) for pair in zip(names, results, strict=True)]
    if at_hand.runs:
        found += _of_runs(entry, tests, at_hand.runs)
    return found


def _is_of(
    entry: Entry, tests: Set[str], dataset: Mapping[str, Any], metrics: Mapping[str, Any]
) -> bool:
    """Return whether a test set is one of an entry's, or one of no paper with the same labels."""
    if dataset["name"] in builders() and get_builder(dataset["name"]).SPEC.published:
        return dataset["name"] == entry.dataset or place_of(data_name(dataset), "")[0] in tests
    labels = get_builder(entry.dataset).SPEC.labels
    return set(metrics["nli_report"]["per_class"]) == set(labels)


def _score(entry: Entry, path: Path, at_hand: AtHand, options: ScoreOptions) -> dict[str, Any]:
    dataset, sources = entry.dataset, at_hand.sources
    if at_hand.versions:
        dataset, sources = str(at_hand.versions[0]), None
    broken_down: dict[str, Any] = {"by": by} if (by := entry.options.get("by")) else {}
    where: dict[str, Any] = {"config": options.config, "split": options.split, "folder": sources}
    return score(path, dataset, **where, **broken_down)


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _of_result(entry: Entry, tests: Set[str], name: str, found: Mapping[str, Any]) -> SystemScores:
    """Return the scores of what ``score`` returned, of one run or of several."""
    dataset = found["dataset"]
    runs: Sequence[Mapping[str, Any]] = found.get("runs") or [found["metrics"]]
    try:
        if not _is_of(entry, tests, dataset, runs[0]):
            return SystemScores(name, "", len(runs), {}, [])
        by_run = [_scores(dataset, metrics) for metrics in runs]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"The result {name} is malformed ({error!r}); expected what nlihub score --json says."
        ) from None
    scores = {place: _mean([run[place] for run in by_run]) for place in by_run[0]}
    single = runs[0] if len(runs) == 1 else {}
    return SystemScores(name, "", len(runs), scores, [dataset], single)


def _scores(
    dataset: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]
) -> dict[Place, float]:
    """Return all scores of one run on one test set by place."""
    evaluation = Evaluation("", "", dataset, Path(), 0, metrics)
    return {
        place_of(data_name(dataset), name): value
        for name, value in (dict(evaluation.scores) | _more_scores(metrics)).items()
    }


def _more_scores(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the scores by name that reports do not have: of classes, groups, the larger side."""
    scores: dict[str, float] = {}
    for label, found in metrics.get("nli_report", {}).get("per_class", {}).items():
        scores |= {f"{name} {label}": found[name] for name in ("precision", "recall")}
    consistency = metrics.get("consistency", {})
    if side := consistency.get("larger_side"):
        pairs = zip(consistency["thresholds"], side["consistency"], strict=True)
        scores |= {f"larger_side {threshold}": value for threshold, value in pairs}
    groups = metrics.get("cartography", {}).get("groups", {})
    for number, group in enumerate(groups.get("group", ())):
        for name in ("confidence", "variability"):
            scores[f"{name} {group}"] = groups[name][number]
    return scores


def _mean(values: Sequence[float]) -> Mean:
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def _of_runs(entry: Entry, tests: Set[str], folders: Sequence[Path]) -> list[SystemScores]:
    """Return the systems of runs, each with its scores on all its test sets."""
    collection = collect_runs(folders)
    systems = []
    for system in collection.systems:
        scores: dict[Place, Mean] = {}
        datasets: list[Mapping[str, Any]] = []
        results: Mapping[str, Mapping[str, Any]] = {}
        n_runs = 1
        for benchmark in collection.benchmarks:
            evaluations = benchmark.evaluations(system)
            runs = list(evaluations.values())
            if not runs or not _is_of(entry, tests, benchmark.dataset, runs[0].metrics):
                continue
            name = data_name(benchmark.dataset)
            more = [_more_scores(run.metrics) for run in runs]
            means = benchmark.means(system) | {
                score: _mean([run[score] for run in more]) for score in more[0]
            }
            scores |= {place_of(name, score): mean for score, mean in means.items()}
            datasets.append(benchmark.dataset)
            results = benchmark.middle_run(system).metrics
            n_runs = len(runs)
        trained = _trained(system)
        systems.append(SystemScores(system.name, trained, n_runs, scores, datasets, results))
    return systems


def _trained(system: ReportedSystem) -> str:
    config = system.config
    train = short_dataset_name(config.train, "train") if config.train else "nothing"
    view = "hypothesis alone" if config.view == "hypothesis" else ""
    shots = _shots(config.n_shots)
    return ", ".join(filter(None, (train, view, shots, subset_name(config))))


def _shots(n_shots: int | None) -> str:
    return "" if n_shots is None else f"{n_shots} shot{'s' * (n_shots != 1)}"


def _published(entry: Entry) -> list[PublishedResult]:
    """Return the published results of an entry, or of those that it refers to."""
    sources = set(entry.options.get("from", [entry.source]))
    return [result for result in published_results() if sources & set(_sources(result.source))]


def _sources(source: str) -> list[str]:
    """Return each source that a text names.

    >>> _sources("SpaceNLI, Tables 4 and 5")
    ['SpaceNLI, Table 4', 'SpaceNLI, Table 5']
    """
    paper, _, place = source.partition(", ")
    if not place.startswith("Tables"):
        return [source]
    return [f"{paper}, Table {number}" for number in re.findall(r"\d+", place)]


def _places(entry: Entry, published: Iterable[PublishedResult]) -> list[Place]:
    """Return the columns of an entry: the chosen scores, or all that are published."""
    main = place_of(entry.dataset, "accuracy")[0]
    if chosen := entry.options.get("scores"):
        return [place_of(main, str(name)) for name in chosen]
    found = dict.fromkeys(place_of(r.test, name) for r in published for name in r.scores)
    declared = get_builder("mscinli").SPEC.domains
    order = {f"mscinli/{domain}": number for number, domain in enumerate(declared)}
    return sorted(found, key=lambda place: order.get(place[0], -1 if place[0] == main else 99))


def _titles(places: Sequence[Place]) -> list[str]:
    tests, names = {test for test, _ in places}, [name for _, name in places]
    of_classes = any(name.startswith("precision ") for name in names)
    titles = [
        ("" if len(tests) < 2 else f"{test}: ")
        + (name if of_classes and name.startswith("recall ") else score_title(name))
        for test, name in places
    ]
    return [t if titles.count(t) == 1 else n for t, n in zip(titles, names, strict=True)]


def _paper_rows(
    published: Iterable[PublishedResult], paper: str
) -> dict[tuple[str, str, int | None], dict[Place, MeanCell]]:
    """Merge published results of a system, trained on the same rows, into one row."""
    decimals = _DECIMALS.get(paper, 2)
    rows: dict[tuple[str, str, int | None], dict[Place, MeanCell]] = {}
    for result in published:
        shots = _shots(result.n_shots)
        view = "hypothesis alone" if result.view == "hypothesis" else ""
        trained = ", ".join(filter(None, (result.train or "nothing", view, shots)))
        row = rows.setdefault((result.system, trained, result.n_runs), {})
        for name, found in result.scores.items():
            cell = MeanCell.of((found.mean, found.std), decimals, found.is_lower_bound)
            row.setdefault(place_of(result.test, name), cell)
    return rows


def _as_places(system: SystemScores, places: Sequence[Place]) -> dict[Place, Mean]:
    """Return a system's scores for the columns; on a test set of one's own, those of that name."""
    found = {place: system.scores[place] for place in places if place in system.scores}
    if found or len({test for test, _ in places}) > 1:
        return found
    by_name = {name: mean for (_, name), mean in system.scores.items()}
    return {place: by_name[place[1]] for place in places if place[1] in by_name}


def _notes(places: Iterable[Place], systems: Iterable[SystemScores]) -> Iterable[str]:
    """Say what our test sets are, and where they are not the papers'."""
    tests = {test for test, _ in places}
    datasets = {str(d["digest"]): d for system in systems for d in system.datasets}
    for dataset in datasets.values():
        version = f" {dataset['version']}" if dataset["version"] else ""
        is_known = dataset["name"] in builders()
        name = benchmark_name(dataset) if is_known else str(dataset["name"])
        reason = differing_test_set(data_name(dataset) if is_known else name, dataset)
        if reason is None and place_of(data_name(dataset), "")[0] not in tests:
            reason = f"that is {', '.join(sorted(tests))}"
        told = f": not the paper's test set, as {reason}" if reason else ""
        yield f"Ours: {dataset['rows']:,} rows of {name}{version}{told}."


def _check_pictured(entry: Entry, systems: Sequence[SystemScores]) -> None:
    """Refuse systems that lack what the picture of an entry shows."""
    kind = entry.options.get("picture", {}).get("kind")
    lacking = [s.name for s in systems if "cartography" not in s.results]
    if kind == "cartography" and lacking:
        raise PredictionsError(
            f"{', '.join(lacking)}: no probabilities, which a data map needs. Add the columns "
            "probability_LABEL, one for each label, to the predictions."
        )


def _pictured(entry: Entry, systems: Sequence[SystemScores]) -> Sequence[SystemScores]:
    """Return the systems that a picture has room for: the first of a data map, else seven."""
    n_shown = 1 if entry.options["picture"]["kind"] == "cartography" else _MAX_PICTURED
    return [system for system in systems if system.results][:n_shown]


def _chosen(results: Mapping[str, Any], values: Sequence[str] | None) -> Mapping[str, Any]:
    """Return results whose breakdowns have some values alone; None keeps all."""
    if values is None:
        return results
    report = results["nli_report"]
    by = {name: {v: p[v] for v in values if v in p} for name, p in report["by"].items()}
    return {**results, "nli_report": {**report, "by": by}}


@needs_extra("plots", "A picture")
def _draw(entry: Entry, systems: Sequence[SystemScores], output: Path) -> None:
    """Draw the picture of a figure with ``nlihub plot``."""
    options = {name: value for name, value in entry.options["picture"].items() if name != "kind"}
    values = options.pop("values", None)
    pictured = _pictured(entry, systems)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, system in enumerate(pictured):
            files.append(Path(folder) / f"{number}.json")
            files[-1].write_text(
                json.dumps({"metrics": _chosen(system.results, values)}), encoding="utf-8"
            )
        names = [system.name for system in pictured]
        plot(entry.options["picture"]["kind"], files, output, names=names, **options)


def make_shots(entry: Entry, at_hand: AtHand) -> Made:
    """Show scores by the number of shots, as a report on the runs does.

    Raises:
        UsageError: No system was trained on several numbers of shots.
    """
    from ...metrics.plots.figures import save_figure

    found = shot_scores(collect_runs(at_hand.runs))
    if not found:
        raise UsageError(
            f"{', '.join(map(str, at_hand.runs))}: no system has runs with several numbers of "
            f"shots. Make them: {entry.commands[0]}."
        )
    tables = [
        ComparedTable(f"Ours on {benchmark.name}", tuple(map(str, rows[0])), rows[1:])
        for benchmark, _, rows in found
    ]
    benchmark, curves, _ = found[0]
    names = {name: score_title(name) for name in benchmark.compared[:1]}

    def draw(output: Path) -> None:
        with needs_extra("plots", "A picture"):
            save_figure(plot_shots(dict(list(curves.items())[:_MAX_PICTURED]), names), output)

    return Made(tables, draw=draw)
