"""How fast pattern accuracy is on ten million rows, as ratios to peers measured in the same run.

    python benchmarks/metrics_speed.py [--rows 10000000] [--rounds 7]

The peers count, for each group, the samples and those that are right, which is what the metric
needs at least; they check no input, and no group for a second gold label. Needs Polars and pandas.
"""

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable

import evaluate
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from nlihub.metrics import PatternAccuracy
from nlihub.metrics.functional import pattern_accuracy

N_LABELS = 3
BATCHES = 100


class StockAccuracy(evaluate.Metric):
    """The same through the path that evaluate itself takes."""

    def _info(self) -> evaluate.MetricInfo:
        import datasets

        columns = dict.fromkeys(("predictions", "references", "groups"), datasets.Value("int64"))
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(columns))

    def _compute(self, predictions: list, references: list, groups: list) -> dict:
        return pattern_accuracy(predictions, references, groups)


def make(kind: str, n_rows: int, n_groups: int) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Predictions, references and groups in random order."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_groups, n_rows)
    references = rng.integers(0, N_LABELS, n_groups)[codes]
    right = rng.random(n_rows) < 0.7
    predictions = np.where(right, references, rng.integers(0, N_LABELS, n_rows))
    width = np.int32 if kind == "dense int32" else np.int64
    if kind == "sparse int64":
        groups = pa.array(rng.integers(0, 2**62, n_groups)[codes])
    elif kind == "strings":
        groups = pa.array([f"pattern-{i}" for i in range(n_groups)]).take(pa.array(codes))
    else:
        groups = pa.array(codes.astype(width))
    if kind == "labels as texts":
        names = pa.array(["entailment", "neutral", "contradiction"])
        return names.take(pa.array(predictions)), names.take(pa.array(references)), groups
    return pa.array(predictions.astype(width)), pa.array(references.astype(width)), groups


def variants(columns: tuple[pa.Array, pa.Array, pa.Array]) -> dict[str, Callable[[], object]]:
    """What is timed on the columns."""
    predictions, references, groups = columns
    table = pa.table({"p": predictions, "r": references, "g": groups})
    polars = pl.DataFrame({name: pl.from_arrow(table[name]) for name in table.column_names})
    pandas = polars.to_pandas()
    metric = PatternAccuracy()
    n_rows = len(predictions)

    def read() -> object:
        return [pc.min_max(a) if pa.types.is_integer(a.type) else pc.count(a) for a in columns]

    def arrow() -> object:
        right = pc.equal(table["p"], table["r"]).cast(pa.int8())
        counted = pa.table({"g": table["g"], "right": right}).group_by("g")
        return counted.aggregate([("right", "sum"), ("right", "count")])

    def in_batches() -> object:
        size = -(-n_rows // BATCHES)
        for start in range(0, n_rows, size):
            metric.add_batch(
                predictions=predictions.slice(start, size),
                references=references.slice(start, size),
                groups=groups.slice(start, size),
            )
        return metric.compute()

    right = pl.col("p") == pl.col("r")
    found: dict[str, Callable[[], object]] = {
        "one plain read of the columns": read,
        "Polars": lambda: polars.lazy().group_by("g").agg(right.sum(), pl.len()).collect(),
        "pyarrow group_by": arrow,
        "pandas": lambda: (pandas["p"] == pandas["r"]).groupby(pandas["g"]).agg(["sum", "size"]),
    }
    if all(pa.types.is_integer(a.type) for a in columns) and pc.max(groups).as_py() < n_rows:
        p, r, g = (a.to_numpy() for a in columns)
        found["NumPy bincount, twice"] = lambda: (np.bincount(g), np.bincount(g[p == r]))
    return found | {
        "function": lambda: pattern_accuracy(predictions, references, groups),
        "compute()": lambda: metric.compute(
            predictions=predictions, references=references, groups=groups
        ),
        f"add_batch of {BATCHES}, compute()": in_batches,
    }


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall time that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measures and prints a table for every kind of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (np, pa, pl, pd, evaluate))
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {versions}")
    print(f"{arguments.rows:,} rows, median ms of {arguments.rounds} rounds\n")
    for kind, n_groups in (
        ("dense int32", 160),
        ("dense int64", 160),
        ("sparse int64", 160),
        ("sparse int64", 50_000),
        ("strings", 160),
        ("strings", 50_000),
        ("labels as texts", 160),
    ):
        works = variants(make(kind, arguments.rows, n_groups))
        for work in works.values():
            work()  # once unmeasured, to warm caches
        figures: dict[str, list[float]] = {name: [] for name in works}
        for round_ in range(arguments.rounds):
            # In another order each round: what ran before leaves its memory and caches behind.
            for name in random.Random(round_).sample(list(works), len(works)):
                figures[name].append(timed(works[name]))
        middle = {name: statistics.median(values) for name, values in figures.items()}
        fastest = min(middle["Polars"], middle["pyarrow group_by"])
        print(f"### {kind}, {n_groups:,} groups\n")
        print("| what | ms | min | max |\n| --- | --- | --- | --- |")
        for name, values in figures.items():
            low, high = min(values), max(values)
            print(f"| {name} | {1e3 * middle[name]:.0f} | {1e3 * low:.0f} | {1e3 * high:.0f} |")
        function = middle["function"]
        print(
            f"\nfunction / fastest of Polars and pyarrow {function / fastest:.2f}, "
            f"/ one plain read {function / middle['one plain read of the columns']:.1f}; "
            f"compute() / function {middle['compute()'] / function:.2f}\n"
        )
    predictions, references, groups = make("dense int64", arguments.rows // 10, 160)
    columns = {"predictions": predictions.to_numpy(), "references": references.to_numpy()}
    columns["groups"] = groups.to_numpy()
    stock = timed(lambda: StockAccuracy().compute(**columns))
    ours = timed(lambda: PatternAccuracy().compute(**columns))
    print(
        f"{len(predictions):,} rows, evaluate's own path: {stock:.2f} s, ours {1e3 * ours:.0f} ms"
    )


if __name__ == "__main__":
    main()
