"""Systems that differ in one thing: what they see of a pair, shots, parts of the training rows."""

from collections.abc import Mapping, Sequence

from ....metrics.rows import Rows
from ..names import subset_name
from ..systems import Benchmark, Collection, Mean, System, families
from .markdown import percent, signed
from .scores import best_of, paper_cell, paper_rows, score_blocks, score_title, system_rows

#: By the number of shots the scores of a system.
Shots = dict[int, dict[str, Mean]]


def view_table(collection: Collection) -> Rows:
    """What systems do with the hypothesis alone, beside what they do with the pair.

    Source: SciNLI, Table 7; MSciNLI, Table 17; BioNLI, Table 5.
    """
    rows: Rows = [["system", "test set", "score", "pair", "hypothesis alone", "difference"]]
    for benchmark in collection.benchmarks:
        score = benchmark.compared[0]
        for name, systems in families(benchmark.systems, "view").items():
            by_view = {system.config.view: system for system in reversed(systems)}
            if len(by_view) < 2:
                continue
            pair, alone = (benchmark.means(by_view[view])[score] for view in ("pair", "hypothesis"))
            cells = [percent(*pair), percent(*alone), signed(alone[0] - pair[0])]
            rows.append([name, benchmark.name, score_title(score), *cells])
            rows += _published_views(by_view, benchmark, score)
    return rows


def _published_views(by_view: Mapping[str, System], benchmark: Benchmark, score: str) -> Rows:
    """A row for each paper that has both views of a system in one table."""
    pairs, alone = (paper_rows(benchmark, by_view[view])[0] for view in ("pair", "hypothesis"))
    rows: Rows = []
    for row in alone:
        pair = next((pair for pair in pairs if {*pair.sources} & {*row.sources}), None)
        if pair is not None and score in pair.scores and score in row.scores:
            difference = signed(row.scores[score].mean - pair.scores[score].mean)
            cells = [paper_cell(pair, score), paper_cell(row, score), difference]
            rows.append([f"*{pair.system} ({row.source})*", "", "", *cells])
    return rows


def shot_scores(collection: Collection) -> list[tuple[Benchmark, dict[str, Shots], Rows]]:
    """How systems do by the number of shots.

    Returns:
        For each test set the systems' means and standard deviations over draws, by system, number
        of shots (-1 for all rows) and score; and the table. A zero-shot run of the same model
        counts as no shots.

    Source: SpaceNLI, section 4.2.3 and Figure 3; MSciNLI, Table 5.
    """
    shown = []
    for benchmark in collection.benchmarks:
        names = benchmark.compared
        rows: Rows = [["system", "shots", "draws", *map(score_title, names)]]
        curves: dict[str, Shots] = {}
        for name, systems in families(benchmark.systems, "n_shots").items():
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


def _by_shots(systems: Sequence[System], benchmark: Benchmark) -> dict[int, System]:
    """The first system for each number of shots, -1 for one that was trained on all rows."""
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


def subset_table(benchmark: Benchmark) -> Rows:
    """Systems that were trained on parts of the training rows, beside that which saw all.

    Source: MSciNLI, Table 7.
    """
    names = score_blocks(benchmark)[""][:2]
    rows: Rows = [["system", "training rows", "runs", *map(score_title, names)]]
    for name, systems in families(benchmark.systems, "subset").items():
        by_subset = {subset_name(system.config): system for system in reversed(systems)}
        if len(by_subset) < 2:
            continue
        best = best_of([benchmark.means(system) for system in systems], names)
        for subset, system in sorted(by_subset.items()):
            own, *papers = system_rows(benchmark, system, names, best)
            rows.append([name, subset or "all", *own[1:]])
            rows += [[row[0], "", *row[1:]] for row in papers]
    return rows
