"""Systems that are trained on different data, each tested on several test sets."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from ....builders.core.registry import get_builder
from ....metrics.rows import Rows
from ..names import short_name
from ..papers import PaperRow, find_results, merge_results, place_of
from ..published import PublishedResult
from ..systems import Benchmark, Collection, Mean, System, families
from .scores import best_of, mean_cell, paper_cell

#: The order of training and test sets, after domains as in MSciNLI, Table 8; others follow.
_ORDER = ("scinli/acl_small", "scinli", "mscinli", "mscinli/plus_small", "mscinli/plus")

#: By training and test set macro-F1 from 0 to 1, None where there is none; and the table.
Transfer = tuple[dict[str, dict[str, float | None]], Rows]


def transfers(collection: Collection) -> dict[str, Transfer]:
    """How systems do on data that they were not trained on.

    Returns:
        By what a family of systems has in common its scores, where it was trained on two or more
        training sets, with two or more test sets in common.

    Source: MSciNLI, Tables 8, 9 and 19.
    """
    trained = [system for system in collection.systems if system.config.train is not None]
    found = families(trained, "train", "validation").items()
    tables = {name: _transfer(systems, collection.benchmarks) for name, systems in found}
    return {name: table for name, table in tables.items() if table is not None}


def _transfer(systems: Sequence[System], benchmarks: Sequence[Benchmark]) -> Transfer | None:
    by_train: dict[str, list[System]] = {}
    for system in systems:
        by_train.setdefault(short_name(str(system.config.train), "train"), []).append(system)
    means = {train: _means(by_train[train], benchmarks) for train in _in_order(by_train)}
    n_trained = Counter(test for found in means.values() for test in found)
    tested = _in_order(test for test, n in n_trained.items() if n > 1)
    if len(means) < 2 or len(tested) < 2:
        return None
    best = best_of(list(means.values()), tested)
    rows: Rows = [["trained on", *tested]]
    scores = {}
    for train, found in means.items():
        scores[train] = {test: found[test][0] if test in found else None for test in tested}
        rows.append([train, *(mean_cell(found, test, best) for test in tested)])
        for row in _published(by_train[train], benchmarks):
            if not row.scores.keys().isdisjoint(tested):
                rows.append([f"*{row.source}*", *(paper_cell(row, test) for test in tested)])
    return scores, rows


def _macro_f1(benchmark: Benchmark, system: System) -> dict[str, Mean]:
    means = benchmark.means(system).items()
    return {name: mean for name, mean in means if name.partition(" ")[0] == "macro_f1"}


def _means(systems: Sequence[System], benchmarks: Sequence[Benchmark]) -> dict[str, Mean]:
    """Macro-F1 of systems by test set, domains apart; of the first that was tested on it."""
    found: dict[str, Mean] = {}
    for system, benchmark in itertools.product(systems, benchmarks):
        for name, mean in _macro_f1(benchmark, system).items():
            found.setdefault(_told(*place_of(benchmark.name, name)), mean)
    return found


def _published(systems: Sequence[System], benchmarks: Sequence[Benchmark]) -> list[PaperRow]:
    """What papers say of systems; tables that do not contradict each other are put together."""
    results: list[PublishedResult] = []
    places = set()
    for system, benchmark in itertools.product(systems, benchmarks):
        names = _macro_f1(benchmark, system)
        found, _ = find_results(system.config, benchmark.dataset, names)
        if found:
            results += [result for result in found if result not in results]
            places |= {place_of(benchmark.name, name) for name in names}
    return merge_results(results, {place: _told(*place) for place in places})


def _told(test: str, score: str) -> str:
    return test if score == "macro_f1" else f"{test}, {score.partition(' ')[2]}"


def _in_order(names: Iterable[str]) -> list[str]:
    domains = [f"mscinli/{domain}" for domain in get_builder("mscinli").SPEC.domains]
    known = {name: place for place, name in enumerate([*domains, *_ORDER])}
    return sorted(names, key=lambda name: (known.get(name, len(known)), name))
