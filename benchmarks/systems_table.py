"""Time and memory of the table of ten systems on 32,000 rows, and its p-values by other libraries.

    python benchmarks/systems_table.py

Needs scipy and statsmodels, for the comparison alone.
"""

import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import nlihub

LABELS = ("entailment", "neutral", "contradiction")
N_ROWS, N_SYSTEMS, N_SEEDS = 32_000, 10, 3


def write_rows(path: Path, group_size: int | None) -> list[dict[str, str]]:
    """Write rows, in groups of one size or without groups."""
    rows = []
    for number in range(N_ROWS):
        row = {"id": str(number), "label": LABELS[(number // (group_size or 1)) % 3]}
        if group_size:
            row["group"] = str(number // group_size)
        rows.append(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def predict(rows: list[dict[str, str]], share: float, seed: int) -> pa.Table:
    """Return predictions of which about a share is right."""
    draw = random.Random(seed)
    found = [row["label"] if draw.random() < share else draw.choice(LABELS) for row in rows]
    return pa.table({"id": [row["id"] for row in rows], "prediction": found})


def compare_with_others(
    table: Any, rows: list[dict[str, str]], systems: dict[str, list[pa.Table]]
) -> None:
    """Print the largest difference of our p-values from those of scipy and statsmodels."""
    from scipy.stats import permutation_test
    from statsmodels.stats.multitest import multipletests

    groups = np.array([int(row["group"]) for row in rows])
    gold = np.array([row["label"] for row in rows])

    def shares(runs: list[pa.Table]) -> np.ndarray:
        right = np.mean([np.array(run["prediction"].to_pylist()) == gold for run in runs], axis=0)
        return np.bincount(groups, right) / np.bincount(groups)

    found = {one.system: one for one in table.scores if one.score == "accuracy"}
    best = next(name for name, one in found.items() if one.is_best)
    tested = [name for name in found if name != best]
    theirs = [
        permutation_test(
            (shares(systems[name]), shares(systems[best])),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            rng=0,
        ).pvalue
        for name in tested
    ]
    ours = [found[name].p_value for name in tested]
    print("p-values, largest difference from scipy:", np.abs(np.subtract(ours, theirs)).max())
    corrected = multipletests(ours, method="holm")[1]
    ours = [found[name].p_corrected for name in tested]
    print("Holm, largest difference from statsmodels:", np.abs(corrected - ours).max())


def main() -> None:
    """Print seconds and memory for rows with groups and without."""
    for group_size in (200, None):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            rows = write_rows(path, group_size)
            systems = {
                f"s{n}": [predict(rows, 0.5 + 0.01 * n, 10 * n + seed) for seed in range(N_SEEDS)]
                for n in range(N_SYSTEMS)
            }
            for n_seeds in (1, N_SEEDS):
                given = {name: runs[:n_seeds] for name, runs in systems.items()}
                began = time.perf_counter()
                table = nlihub.score(given, str(path))
                seconds = time.perf_counter() - began
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                units = f"groups of {group_size}" if group_size else "no groups"
                print(f"{units}, {n_seeds} seeds each: {seconds:.1f} s, peak {peak:.0f} MB")
                if group_size and n_seeds == N_SEEDS:
                    compare_with_others(table, rows, given)


if __name__ == "__main__":
    main()
