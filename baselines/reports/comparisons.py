"""Sections on systems that differ in one thing: training data, view, shots, subset of the rows."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...builders.core.registry import get_builder
from ...metrics.rows import Rows
from .names import short_dataset_name, subset_name
from .pictures import N_SYSTEMS, Pictures, plot_shots, plot_transfer
from .published import PaperRow, PublishedResult, find_published, merge_published, place_of
from .scores import (
    best_means,
    mean_cell,
    paper_cell,
    paper_rows,
    score_blocks,
    score_title,
    show_difference,
    show_percent,
    show_table,
    system_rows,
)
from .systems import Benchmark, Mean, ReportedSystem, RunCollection, system_families

#: The order of training and test sets, after domains as in MSciNLI, Table 8; others follow.
_ORDER = (
    "scinli/acl_small",
    "scinli",
    "mscinli/merged_small",
    "mscinli",
    "mscinli/plus_small",
    "mscinli/plus",
)

#: By training and test set macro-F1 from 0 to 1, None where there is none; and the table.
Transfer = tuple[dict[str, dict[str, float | None]], Rows]

#: By the number of shots the scores of a system.
Shots = dict[int, dict[str, Mean]]


def show_transfers(collection: RunCollection, pictures: Pictures) -> list[str]:
    """Report on systems that were trained on one set of rows and tested on another."""
    blocks = []
    for name, (scores, rows) in transfer_scores(collection).items():
        alt = f"Macro-F1 of {name} by training and test set"
        picture = pictures.add(f"transfer {name}", alt, plot_transfer(scores, title=name))
        blocks += [f"### {name}", show_table(rows), picture]
    words = "Macro-F1. Rows of a domain are the same in every test set that has it."
    return [words, *blocks] if blocks else []


def transfer_scores(collection: RunCollection) -> dict[str, Transfer]:
    """Collect macro-F1 by training and test set, with a table, for each family of systems.

    A family counts if it has two or more training sets that share two or more test sets.

    Source: MSciNLI, Tables 8, 9 and 19.
    """
    trained = [system for system in collection.systems if system.config.train is not None]
    found = system_families(trained, "train", "validation").items()
    tables = {name: _transfer(systems, collection.benchmarks) for name, systems in found}
    return {name: table for name, table in tables.items() if table is not None}


def _transfer(
    systems: Sequence[ReportedSystem], benchmarks: Sequence[Benchmark]
) -> Transfer | None:
    by_train: dict[str, list[ReportedSystem]] = {}
    for system in systems:
        by_train.setdefault(short_dataset_name(str(system.config.train), "train"), []).append(
            system
        )
    means = {train: _means(by_train[train], benchmarks) for train in _in_order(by_train)}
    n_trained = Counter(test for found in means.values() for test in found)
    tested = _in_order(test for test, n in n_trained.items() if n > 1)
    if len(means) < 2 or len(tested) < 2:
        return None
    best = best_means(list(means.values()), tested)
    rows: Rows = [["trained on", *tested]]
    scores = {}
    for train, found in means.items():
        scores[train] = {test: found[test][0] if test in found else None for test in tested}
        rows.append([train, *(mean_cell(found, test, best) for test in tested)])
        for row in _published(by_train[train], benchmarks):
            if not row.scores.keys().isdisjoint(tested):
                rows.append([f"*{row.source}*", *(paper_cell(row, test) for test in tested)])
    return scores, rows


def _macro_f1(benchmark: Benchmark, system: ReportedSystem) -> dict[str, Mean]:
    means = benchmark.means(system).items()
    return {name: mean for name, mean in means if name.partition(" ")[0] == "macro_f1"}


def _means(systems: Sequence[ReportedSystem], benchmarks: Sequence[Benchmark]) -> dict[str, Mean]:
    """Return macro-F1 by test set and domain, of the first system that was tested on it."""
    found: dict[str, Mean] = {}
    for system, benchmark in itertools.product(systems, benchmarks):
        for name, mean in _macro_f1(benchmark, system).items():
            found.setdefault(_place_name(*place_of(benchmark.name, name)), mean)
    return found


def _published(
    systems: Sequence[ReportedSystem], benchmarks: Sequence[Benchmark]
) -> list[PaperRow]:
    """Return the papers' results of systems; tables that agree are merged."""
    results: list[PublishedResult] = []
    places = set()
    for system, benchmark in itertools.product(systems, benchmarks):
        names = _macro_f1(benchmark, system)
        found, _ = find_published(system.config, benchmark.dataset, names)
        if found:
            results += [result for result in found if result not in results]
            places |= {place_of(benchmark.name, name) for name in names}
    return merge_published(results, {place: _place_name(*place) for place in places})


def _place_name(test: str, score: str) -> str:
    return test if score == "macro_f1" else f"{test}, {score.partition(' ')[2]}"


def _in_order(names: Iterable[str]) -> list[str]:
    domains = [f"mscinli/{domain}" for domain in get_builder("mscinli").SPEC.domains]
    known = {name: place for place, name in enumerate([*domains, *_ORDER])}
    return sorted(names, key=lambda name: (known.get(name, len(known)), name))


def show_views(collection: RunCollection) -> list[str]:
    """Report on systems that see the hypothesis alone."""
    rows = view_table(collection)
    return [show_table(rows)] if len(rows) > 1 else []


def view_table(collection: RunCollection) -> Rows:
    """Tabulate scores with the hypothesis alone beside those with the pair.

    Source: SciNLI, Table 7; MSciNLI, Table 17; BioNLI, Table 5.
    """
    rows: Rows = [["system", "test set", "score", "pair", "hypothesis alone", "difference"]]
    for benchmark in collection.benchmarks:
        score = benchmark.compared[0]
        for name, systems in system_families(benchmark.systems, "view").items():
            by_view = {system.config.view: system for system in reversed(systems)}
            if len(by_view) < 2:
                continue
            pair, alone = (benchmark.means(by_view[view])[score] for view in ("pair", "hypothesis"))
            cells = [show_percent(*pair), show_percent(*alone), show_difference(alone[0] - pair[0])]
            rows.append([name, benchmark.name, score_title(score), *cells])
            rows += _published_views(by_view, benchmark, score)
    return rows


def _published_views(
    by_view: Mapping[str, ReportedSystem], benchmark: Benchmark, score: str
) -> Rows:
    """Return a row for each paper that has both views of a system in one table."""
    pairs, alone = (paper_rows(benchmark, by_view[view])[0] for view in ("pair", "hypothesis"))
    rows: Rows = []
    for row in alone:
        pair = next((pair for pair in pairs if {*pair.sources} & {*row.sources}), None)
        if pair is not None and score in pair.scores and score in row.scores:
            difference = show_difference(row.scores[score].mean - pair.scores[score].mean)
            cells = [paper_cell(pair, score), paper_cell(row, score), difference]
            rows.append([f"*{pair.system} ({row.source})*", "", "", *cells])
    return rows


def show_shots(collection: RunCollection, pictures: Pictures) -> list[str]:
    """Report scores by the number of shots."""
    blocks = []
    for benchmark, curves, rows in shot_scores(collection):
        # Macro-F1 and accuracy are too much alike for one picture.
        n_scores = None if benchmark.metric == "pattern_accuracy" else 1
        names = {name: score_title(name) for name in benchmark.compared[:n_scores]}
        drawn = {
            name: {n: found for n, found in curve.items() if n >= 0}
            for name, curve in list(curves.items())[:N_SYSTEMS]
        }
        alt = f"Scores on {benchmark.name} by the number of shots"
        picture = pictures.add(f"few shots {benchmark.name}", alt, plot_shots(drawn, names))
        blocks += [f"### {benchmark.name}", show_table(rows), picture]
    return blocks


def shot_scores(collection: RunCollection) -> list[tuple[Benchmark, dict[str, Shots], Rows]]:
    """Collect scores by system and number of shots for each test set, with a table.

    They are means and standard deviations over draws. -1 stands for all rows; a zero-shot run of
    the same model counts as 0 shots.

    Source: SpaceNLI, section 4.2.3 and Figure 3; MSciNLI, Table 5.
    """
    shown = []
    for benchmark in collection.benchmarks:
        names = benchmark.compared
        rows: Rows = [["system", "shots", "draws", *map(score_title, names)]]
        curves: dict[str, Shots] = {}
        for name, systems in system_families(benchmark.systems, "n_shots").items():
            by_shots = _by_shots(systems, benchmark)
            if len(by_shots) < 2:
                continue
            curves[name] = {}
            for n_shots, system in sorted(by_shots.items()):
                means = benchmark.means(system)
                curves[name][n_shots] = {score: means[score] for score in names}
                own, *papers = system_rows(benchmark, system, names, {})
                n_shown = n_shots if n_shots >= 0 else "all"
                rows.append([name, n_shown, *own[1:]])
                rows += [[row[0], n_shown, *row[1:]] for row in papers]
        if curves:
            shown.append((benchmark, curves, rows))
    return shown


def _by_shots(systems: Sequence[ReportedSystem], benchmark: Benchmark) -> dict[int, ReportedSystem]:
    """Return the first system for each number of shots; -1 is training on all rows."""
    by_shots = {}
    for system in reversed(systems):
        all_or_none = 0 if system.config.train is None else -1  # a prompt takes no training rows
        n_shots = system.config.n_shots
        by_shots[n_shots if n_shots is not None else all_or_none] = system
    config = systems[0].config
    for system in benchmark.systems:  # a classifier as it is, before it sees any shots
        is_same = (system.config.model, system.config.view) == (config.model, config.view)
        is_tuned = config.method == "encoder" and not config.new_head
        if system.config.method == "zero-shot" and is_same and is_tuned:
            by_shots.setdefault(0, system)
    return by_shots


def show_subsets(collection: RunCollection) -> list[str]:
    """Report on systems that were trained on subsets of the training rows."""
    blocks = []
    for benchmark in collection.benchmarks:
        rows = _subset_table(benchmark)
        blocks += [f"### {benchmark.name}", show_table(rows)] if len(rows) > 1 else []
    return blocks


def _subset_table(benchmark: Benchmark) -> Rows:
    """Tabulate systems that were trained on subsets of the rows, beside that trained on all.

    Source: MSciNLI, Table 7.
    """
    names = score_blocks(benchmark)[""][:2]
    rows: Rows = [["system", "training rows", "runs", *map(score_title, names)]]
    for name, systems in system_families(benchmark.systems, "subset").items():
        by_subset = {subset_name(system.config): system for system in reversed(systems)}
        if len(by_subset) < 2:
            continue
        best = best_means([benchmark.means(system) for system in systems], names)
        for subset, system in sorted(by_subset.items()):
            own, *papers = system_rows(benchmark, system, names, best)
            rows.append([name, subset or "all", *own[1:]])
            rows += [[row[0], "", *row[1:]] for row in papers]
    return rows
