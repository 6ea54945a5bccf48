"""What runs took, and what they were made from."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....metrics.rows import Rows
from ..names import data_name, short_name
from ..read import Run
from ..systems import Collection, System


def cost_table(systems: Sequence[System]) -> Rows:
    """Time, speed, size and hardware of the systems' runs; means over the runs."""
    costs = [_costs(system) for system in systems]
    filled = [name for name in costs[0] if any(found[name] for found in costs)]
    return [filled, *([found[name] for name in filled] for found in costs)]


def _costs(system: System) -> dict[str, str]:
    runs, config = system.runs, system.config
    trains = config.train is not None and config.method != "prompt"
    n_rows = runs[0].record.get("data", {}).get("train", {}).get("rows")
    epochs, best = (_mean(runs, name, "{:.3g}".format) for name in ("n_epochs", "best_epoch"))
    return {
        "system": system.name,
        "trained on": short_name(str(config.train), "train") if trains else "nothing",
        "rows": _mean(runs, "n_train", _whole) or (_whole(n_rows) if n_rows else ""),
        "parameters": _mean(runs, "n_parameters", _millions),
        "trained": _mean(runs, "n_trained", _millions),
        "epochs (best)": epochs and f"{epochs} ({best})",
        "minutes a run": _mean(runs, "seconds", lambda seconds: f"{seconds / 60:.1f}"),
        "training pairs/s": _mean(runs, "pairs_per_s", _whole),
        "precision": _listed(run.record.get("execution", {}).get("precision") for run in runs),
        "hardware": _listed(_hardware(run) for run in runs),
    }


def _mean(runs: Sequence[Run], name: str, show: Callable[[float], str]) -> str:
    found = [run.record[name] for run in runs if isinstance(run.record.get(name), int | float)]
    return show(statistics.fmean(found)) if found else ""


def _whole(number: float) -> str:
    return f"{number:,.0f}"


def _millions(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e5 else _whole(number)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value))


def _hardware(run: Run) -> str:
    found = run.record.get("hardware") or {}
    gpus = found.get("gpus") or []
    if gpus and str(run.record.get("execution", {}).get("device", "cuda")).startswith("cuda"):
        return ", ".join(f"{gpus.count(kind)} x {kind}" for kind in dict.fromkeys(gpus))
    n_threads = found.get("n_threads", found.get("n_cpus"))
    threads = f"{n_threads} thread{'s' * (n_threads != 1)}" if n_threads else None
    return ", ".join(filter(None, ("CPU", found.get("machine"), threads)))


def run_table(systems: Sequence[System]) -> Rows:
    """Every run: folder, system, seed and commit."""
    rows: Rows = [["run", "system", "seed", "commit"]]
    for system in systems:
        for run in system.runs:
            commit = str(run.record.get("commit") or "")
            rows.append([f"`{run.place}`", system.name, run.config.seed, commit[:12] + commit[40:]])
    return rows


def version_table(systems: Sequence[System]) -> Rows:
    """The versions of Python and packages that runs were made with."""
    found: dict[str, set[str]] = {}
    for run in (run for system in systems for run in system.runs):
        for name, version in (run.record.get("versions") or {}).items():
            found.setdefault(name, set()).add(str(version))
    rows = [[name, ", ".join(sorted(versions))] for name, versions in sorted(found.items())]
    return [["package", "versions"], *rows]


def data_table(collection: Collection) -> Rows:
    """The rows that runs were trained, validated and tested on, each number of rows drawn."""
    runs = [run for system in collection.systems for run in system.runs]
    described = [pair for run in runs for pair in (run.record.get("data") or {}).items()]
    described += [("test", benchmark.dataset) for benchmark in collection.benchmarks]
    found = set()
    for what, dataset in described:
        split, version = str(dataset["split"] or what), str(dataset["version"] or "")
        n_rows, digest = int(dataset["rows"]), str(dataset["digest"])
        found.add((data_name(dataset), split, n_rows, version, digest))
    rows: Rows = [["dataset", "version", "split", "rows", "digest"]]
    for name, split, n_rows, version, digest in sorted(found):
        rows.append([name, version, split, f"{n_rows:,}", f"`{digest}`"])
    return rows
