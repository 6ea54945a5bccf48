"""Sections of a report on all runs: blocks of Markdown, none where there is nothing to say."""

import itertools
from collections.abc import Sequence

from ..presets import PRESETS
from .papers import join_sources
from .pictures import N_SYSTEMS, Pictures, plot_shots, plot_transfer
from .systems import Collection
from .tables.markdown import markdown
from .tables.provenance import data_table, run_table, version_table
from .tables.scores import paper_rows, score_title
from .tables.transfers import transfers
from .tables.variants import shot_scores, subset_table, view_table

_COMPARED = (
    "A paper's number stands under a system only where preset, training rows, view, shots and test "
    "rows are the same. It is in italics, with its table."
)


def tell_transfers(collection: Collection, pictures: Pictures) -> list[str]:
    """Systems that were trained on one set of rows and tested on another."""
    blocks = []
    for name, (scores, rows) in transfers(collection).items():
        alt = f"Macro-F1 of {name} by training and test set"
        picture = pictures.add(f"transfer {name}", alt, plot_transfer(scores, title=name))
        blocks += [f"### {name}", markdown(rows), picture]
    words = "Macro-F1. Rows of a domain are the same in every test set that has it."
    return [words, *blocks] if blocks else []


def tell_views(collection: Collection) -> list[str]:
    """What systems do with the hypothesis alone."""
    rows = view_table(collection)
    return [markdown(rows)] if len(rows) > 1 else []


def tell_shots(collection: Collection, pictures: Pictures) -> list[str]:
    """What systems do by the number of shots."""
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
        blocks += [f"### {benchmark.name}", markdown(rows), picture]
    return blocks


def tell_subsets(collection: Collection) -> list[str]:
    """What systems do that were trained on parts of the training rows."""
    blocks = []
    for benchmark in collection.benchmarks:
        rows = subset_table(benchmark)
        blocks += [f"### {benchmark.name}", markdown(rows)] if len(rows) > 1 else []
    return blocks


def tell_comparability(collection: Collection) -> list[str]:
    """Which systems stand beside a paper's numbers, which stand alone, and why."""
    beside: dict[tuple[str, str], list[str]] = {}
    alone: dict[str, dict[str, list[str]]] = {}
    for system, benchmark in itertools.product(collection.systems, collection.benchmarks):
        if system in benchmark.systems:
            rows, reason = paper_rows(benchmark, system)
            if reason is not None:
                alone.setdefault(reason, {}).setdefault(system.name, []).append(benchmark.name)
            else:
                sources = join_sources(source for row in rows for source in row.sources)
                beside.setdefault((system.name, sources), []).append(benchmark.name)
    together = [f"{name} on {', '.join(on)}: {tables}" for (name, tables), on in beside.items()]
    apart = [
        f"{reason[0].upper()}{reason[1:]}: "
        + "; ".join(f"{name} on {', '.join(on)}" for name, on in found.items())
        for reason, found in alone.items()
    ]
    used = {str(system.config.preset) for system in collection.systems} & set(PRESETS)
    return [
        _COMPARED,
        *_list("These stand beside a paper's numbers:", together),
        *_list("These stand alone:", apart),
        *_list("What the presets follow:", [f"`{n}`: {PRESETS[n].source}." for n in sorted(used)]),
        *_list("Of the papers' numbers:", _notes(collection)),
    ]


def _notes(collection: Collection) -> list[str]:
    """What is odd about the papers' numbers that are shown, each once."""
    notes = (
        note
        for benchmark in collection.benchmarks
        for system in benchmark.systems
        for row in paper_rows(benchmark, system)[0]
        for note in row.notes
    )
    return list(dict.fromkeys(notes))


def tell_provenance(collection: Collection) -> list[str]:
    """The runs, rows and versions that a report was made from, and what was left out."""
    tables = [run_table(collection.systems), data_table(collection)]
    versions = version_table(collection.systems)
    blocks = [markdown(rows) for rows in (*tables, versions) if len(rows) > 1]
    for title, places in (
        ("Left out, because they are still at work or were broken off:", collection.unfinished),
        ("Counted once, because they repeat another run:", collection.repeated),
    ):
        blocks += _list(title, [f"`{place}`" for place in places])
    return blocks


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [title, "\n".join(f"- {line}" for line in lines)] if lines else []
