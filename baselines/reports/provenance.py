"""Sections on comparability with the papers, cost and provenance of runs."""

import itertools
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..presets import PRESETS
from ..tables import Cell, Table
from .benchmarks import paper_rows
from .names import data_name, short_dataset_name
from .published import LATER_PAPERS, results_apart
from .systems import FinishedRun, ReportedSystem, RunCollection

_COMPARED = (
    "A paper's number stands under a system, in italics, only where preset, training rows (all or "
    "the same part), view, shots, features, word vectors and test rows are the same."
)


def show_comparability(collection: RunCollection) -> list[str]:
    """Report which systems can be compared with a paper's numbers, which cannot, and why."""
    alone: dict[str, dict[str, list[str]]] = {}
    notes: dict[str, None] = {}
    for system, benchmark in itertools.product(collection.systems, collection.benchmarks):
        if system in benchmark.systems:
            rows, reason = paper_rows(benchmark, system)
            notes |= dict.fromkeys(note for row in rows for note in row.notes)
            if reason is not None:
                alone.setdefault(reason, {}).setdefault(system.name, []).append(benchmark.name)
    apart = [
        f"{reason[0].upper()}{reason[1:]}: "
        + "; ".join(f"{name} on {', '.join(on)}" for name, on in found.items())
        for reason, found in alone.items()
    ]
    used = {str(system.config.preset) for system in collection.systems} & set(PRESETS)
    return [
        *_list("To be read with care:", _warnings(collection)),
        _COMPARED,
        *_list("So these stand alone:", apart),
        *_list("What the presets follow:", [f"`{n}`: {PRESETS[n].source}." for n in sorted(used)]),
        *_list("Of the papers' numbers:", list(notes)),
        *_list("Later papers' macro-F1, in settings of their own:", _apart(collection)),
    ]


def _apart(collection: RunCollection) -> list[str]:
    """Return a line for each test set, paper and setting that no run is compared with."""
    return [
        f"{benchmark.name}, [{source}]({LATER_PAPERS[source.partition(',')[0]]}): "
        f"{'; '.join(systems)}. What differs: {differs}."
        for benchmark in collection.benchmarks
        if benchmark.dataset["split"] == "test"
        for (source, differs), systems in results_apart(data_name(benchmark.dataset)).items()
    ]


def _warnings(collection: RunCollection) -> list[str]:
    """Return what the runs said of themselves: hardly learned, tested on training rows."""
    said = [(name, run, run.record.get("hardly_learned")) for name, run in collection.runs]
    said += [
        (name, run, f"{count:,} pairs of {test} are among its training rows.")
        for name, run in collection.runs
        for test, count in (run.record.get("shared_with_train") or {}).items()
    ]
    return [f"{name}, seed {run.config.seed}: {what}" for name, run, what in said if what]


def show_provenance(collection: RunCollection) -> list[str]:
    """Report the runs, rows and versions that a report was made from, and what was left out."""
    runs: list[list[Cell]] = []
    versions: dict[str, set[str]] = {}
    for name, run in collection.runs:
        commit = str(run.record.get("commit") or "")
        runs.append([f"`{run.place}`", name, str(run.config.seed), commit[:12] + commit[40:]])
        for package, version in (run.record.get("versions") or {}).items():
            versions.setdefault(package, set()).add(str(version))
    packages = [[package, ", ".join(sorted(versions[package]))] for package in sorted(versions)]
    tables = [
        Table("", ["run", "system", "seed", "commit"], runs),
        data_table(collection),
        Table("", ["package", "versions"], packages),
    ]
    left_out, repeated = (
        [f"`{p}`" for p in c] for c in (collection.unfinished, collection.repeated)
    )
    return [
        *(table.as_markdown() for table in tables if table.rows),
        *_list("Left out, because they are still at work or were broken off:", left_out),
        *_list("Counted once, because they repeat another run:", repeated),
    ]


def data_table(collection: RunCollection) -> Table:
    """Tabulate the rows that runs were trained, validated and tested on."""
    described = [
        pair for _, run in collection.runs for pair in (run.record.get("data") or {}).items()
    ]
    described += [("test", benchmark.dataset) for benchmark in collection.benchmarks]
    found = {
        (data_name(d), str(d["split"] or what), d["rows"], str(d["version"] or ""), d["digest"])
        for what, d in described
    }
    rows = [
        [name, version, split, n_rows, f"`{digest}`"]
        for name, split, n_rows, version, digest in sorted(found)
    ]
    return Table("", ["dataset", "version", "split", "rows", "digest"], rows)


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [title, "\n".join(f"- {line}" for line in lines)] if lines else []


def cost_table(systems: Sequence[ReportedSystem]) -> Table:
    """Tabulate time, speed, size and hardware of the systems, as means over their runs."""
    costs = [_costs(system) for system in systems]
    filled = [name for name in costs[0] if any(found[name] for found in costs)]
    return Table("", filled, [[found[name] for name in filled] for found in costs])


def _costs(system: ReportedSystem) -> dict[str, str]:
    runs, config = system.runs, system.config
    trains = config.train is not None and config.method != "prompt"
    n_rows = runs[0].record.get("data", {}).get("train", {}).get("rows")
    epochs, best = (_mean(runs, name, "{:.3g}".format) for name in ("n_epochs", "best_epoch"))
    return {
        "system": system.name,
        "trained on": short_dataset_name(str(config.train), "train") if trains else "nothing",
        "rows": _mean(runs, "n_train", _whole) or (_whole(n_rows) if n_rows else ""),
        "parameters": _mean(runs, "n_parameters", _millions),
        "trained": _mean(runs, "n_trained", _millions),
        "epochs (best)": epochs and f"{epochs} ({best})",
        "minutes a run": _mean(runs, "seconds", lambda seconds: f"{seconds / 60:.1f}"),
        "training pairs/s": _mean(runs, "pairs_per_s", _whole),
        "precision": _listed(run.record.get("execution", {}).get("precision") for run in runs),
        "hardware": _listed(_hardware(run) for run in runs),
    }


def _mean(runs: Sequence[FinishedRun], name: str, show: Callable[[float], str]) -> str:
    found = [run.record[name] for run in runs if isinstance(run.record.get(name), int | float)]
    return show(statistics.fmean(found)) if found else ""


def _whole(number: float) -> str:
    return f"{number:,.0f}"


def _millions(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e5 else _whole(number)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value))


def _hardware(run: FinishedRun) -> str:
    found = run.record.get("hardware") or {}
    gpus = found.get("gpus") or []
    if gpus and str(run.record.get("execution", {}).get("device", "cuda")).startswith("cuda"):
        return ", ".join(f"{gpus.count(kind)} x {kind}" for kind in dict.fromkeys(gpus))
    n_threads = found.get("n_threads", found.get("n_cpus"))
    threads = f"{n_threads} thread{'s' * (n_threads != 1)}" if n_threads else None
    return ", ".join(filter(None, ("CPU", found.get("machine"), threads)))
