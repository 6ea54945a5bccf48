"""How often intervals cover and tests raise false alarms, with few groups and with many.

    python benchmarks/inference.py [--runs 10000] [--processes 2] [--deviation 1.5]

Simulates groups of samples that depend on each other: the log-odds of a right answer are normal
over groups, and two systems share half of the variance. Groups are equally large, or log-normal
in size. Prints a table of false alarms at 0.05, of power at 165 groups beside a paired bootstrap,
and of the coverage of intervals of 95 %.
"""

import argparse
import itertools
from collections.abc import Callable
from functools import cache, partial
from multiprocessing import Pool

import numpy as np
from nlihub.metrics import inference
from nlihub.metrics.inference import Inference, Ratio, compare_systems, confidence_intervals

N_GROUPS = (3, 5, 8, 12, 20, 50, 165)
SIZES = ("equal", "skewed")
DEVIATION = 1.5  # of the log-odds over groups; main() sets it
N_CALIBRATION = 400_000
# The fewer exchanges are tried, the sooner the simulation ends; a test is as exact.
OPTIONS = Inference(0.95, 999, 0)
inference._MAX_EXCHANGES = 1 << 12


def sizes(rng: np.random.Generator, n_groups: int, kind: str, mean: int) -> np.ndarray:
    """Numbers of samples of groups: all ``mean``, or log-normal around it."""
    if kind == "equal":
        return np.full(n_groups, mean)
    drawn = np.exp(rng.normal(np.log(mean) - 0.5, 1.0, n_groups))
    return np.clip(np.round(drawn), 1, 50 * mean).astype(int)


def systems(
    rng: np.random.Generator, log_odds: tuple[float, ...], size: np.ndarray
) -> list[np.ndarray]:
    """Right answers of each group, for systems of these mean log-odds."""
    shared = rng.normal(size=len(size)) * DEVIATION * np.sqrt(0.5)
    own = [rng.normal(size=len(size)) * DEVIATION * np.sqrt(0.5) for _ in log_odds]
    return [
        rng.binomial(size, 1 / (1 + np.exp(-(mean + shared + one))))
        for mean, one in zip(log_odds, own, strict=True)
    ]


def column(values: np.ndarray) -> np.ndarray:
    """Return values as one class of a ratio."""
    return values[:, None].astype(float)


def accuracy(rng, n_groups, kind, log_odds):
    """Share of the samples that are right."""
    size = sizes(rng, n_groups, kind, 20)
    return [Ratio(column(right), column(size)) for right in systems(rng, log_odds, size)]


def macro_f1(rng, n_groups, kind, log_odds):
    """Every group has one of three labels; wrong answers go to the other two."""
    size = sizes(rng, n_groups, kind, 20)
    gold = np.arange(n_groups) % 3
    found = []
    for right in systems(rng, log_odds, size):
        first = rng.binomial(size - right, rng.random(n_groups))
        counts = np.zeros((n_groups, 3))
        of_gold = np.zeros((n_groups, 3))
        rows = np.arange(n_groups)
        counts[rows, gold] = right
        of_gold[rows, gold] = size
        predicted = counts.copy()
        predicted[rows, (gold + 1) % 3] += first
        predicted[rows, (gold + 2) % 3] += size - right - first
        found.append(Ratio(2 * counts, predicted + of_gold))
    return found


def pattern_accuracy(rng, n_groups, kind, log_odds):
    """Share of groups of which nine tenths are right."""
    size = sizes(rng, n_groups, kind, 20)
    ones = np.ones((n_groups, 1))
    return [Ratio(column(right >= 0.9 * size), ones) for right in systems(rng, log_odds, size)]


def consistency(rng, n_groups, kind, log_odds):
    """Share of groups of about eight samples that are wholly right."""
    size = sizes(rng, n_groups, kind, 8)
    ones = np.ones((n_groups, 1))
    return [Ratio(column(right == size), ones) for right in systems(rng, log_odds, size)]


METRICS: dict[str, Callable] = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "pattern accuracy": pattern_accuracy,
    "consistency": consistency,
}


def value(ratio: Ratio) -> float:
    """Return the score."""
    totals, wholes = ratio.numerators.sum(axis=0), ratio.denominators.sum(axis=0)
    return float(np.mean(totals / wholes))


@cache
def calibrate(metric: str, kind: str, target: float) -> tuple[float, float]:
    """Log-odds at which the score of very many groups is the target, and that score."""
    low, high = -25.0, 25.0
    for _ in range(30):
        middle = (low + high) / 2
        found = value(METRICS[metric](np.random.default_rng(9), N_CALIBRATION, kind, (middle,))[0])
        low, high = (middle, high) if found < target else (low, middle)
    return middle, found


def false_alarms(n_runs: int, cell: tuple[str, str, int]) -> tuple[float, float]:
    """Share of runs that reject at 0.05, and whose interval leaves out 0, if nothing differs."""
    metric, kind, n_groups = cell
    log_odds, _ = calibrate(metric, kind, 0.7)
    rng = np.random.default_rng(1)
    n_rejected = n_out = 0
    for _ in range(n_runs):
        one, two = METRICS[metric](rng, n_groups, kind, (log_odds, log_odds))
        found = compare_systems([{"x": one}, {"x": two}], OPTIONS)["comparison"]["x"]
        n_rejected += found["p_value"] < 0.05
        low, high = found["interval"] or (-1, 1)
        n_out += not low <= 0 <= high
    return n_rejected / n_runs, n_out / n_runs


def bootstrap_alarms(n_runs: int, cell: tuple[str, int]) -> float:
    """Share of runs in which a bootstrap of the accuracy rejects at 0.05, if nothing differs."""
    kind, n_groups = cell
    log_odds, _ = calibrate("accuracy", kind, 0.7)
    rng = np.random.default_rng(1)
    n_rejected = 0
    for _ in range(n_runs):
        drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), 999).astype(float)
        n_rejected += (
            bootstrap_p_value(*accuracy(rng, n_groups, kind, (log_odds,) * 2), drawn) < 0.05
        )
    return n_rejected / n_runs


def coverage_of_difference(n_runs: int, cell: tuple[str, str, int]) -> float:
    """Share of runs whose interval has the true difference of systems at 0.75 and 0.55."""
    metric, kind, n_groups = cell
    (first, one), (second, two) = (calibrate(metric, kind, target) for target in (0.75, 0.55))
    rng = np.random.default_rng(2)
    n_covered = 0
    for _ in range(n_runs):
        ratios = METRICS[metric](rng, n_groups, kind, (first, second))
        interval = compare_systems([{"x": one} for one in ratios], OPTIONS)["comparison"]["x"][
            "interval"
        ]
        low, high = interval or (-1, 1)
        n_covered += low <= one - two <= high
    return n_covered / n_runs


def coverage(n_runs: int, cell: tuple[str, str, int, float]) -> tuple[float, float]:
    """Share of runs whose interval has the true score, and its mean width."""
    metric, kind, n_groups, target = cell
    log_odds, truth = calibrate(metric, kind, target)
    rng = np.random.default_rng(3)
    widths, n_covered = [], 0
    for _ in range(n_runs):
        [ratio] = METRICS[metric](rng, n_groups, kind, (log_odds,))
        low, high = confidence_intervals({"x": ratio}, OPTIONS)["confidence_intervals"]["x"]
        n_covered += low <= truth <= high
        widths.append(high - low)
    return n_covered / n_runs, float(np.mean(widths))


def bootstrap_p_value(one: Ratio, two: Ratio, weights: np.ndarray) -> float:
    """The p-value of a paired percentile bootstrap over groups."""

    def score(ratio):
        return np.mean((weights @ ratio.numerators) / (weights @ ratio.denominators), axis=1)

    differences = score(one) - score(two)
    side = min((differences <= 0).sum(), (differences >= 0).sum()) + 1
    return min(1.0, 2 * side / (len(weights) + 1))


def power(n_runs: int, cell: tuple[str, str]) -> tuple[float, float]:
    """Share of runs at 165 groups that find 0.70 against 0.62: this test, and a bootstrap."""
    metric, kind = cell
    log_odds = tuple(calibrate(metric, kind, target)[0] for target in (0.70, 0.62))
    rng = np.random.default_rng(4)
    drawn = rng.multinomial(165, np.full(165, 1 / 165), 999).astype(float)
    n_found = n_bootstrap = 0
    for _ in range(n_runs):
        one, two = METRICS[metric](rng, 165, kind, log_odds)
        n_found += (
            compare_systems([{"x": one}, {"x": two}], OPTIONS)["comparison"]["x"]["p_value"] < 0.05
        )
        n_bootstrap += bootstrap_p_value(one, two, drawn) < 0.05
    return n_found / n_runs, n_bootstrap / n_runs


def show(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n")
    for row in (heads, ["---"] * len(heads), *rows):
        print("| " + " | ".join(row) + " |")


def main() -> None:
    """Run all simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--deviation", type=float, default=DEVIATION)
    given = parser.parse_args()
    globals()["DEVIATION"] = given.deviation
    pairs = list(itertools.product(METRICS, SIZES))
    heads = ["score", "groups are", *map(str, N_GROUPS)]
    with Pool(given.processes) as pool:

        def run(function, cells):
            return dict(zip(cells, pool.map(partial(function, given.runs), cells, 1), strict=True))

        cells = [(*pair, n) for pair in pairs for n in N_GROUPS]
        alarms = run(false_alarms, cells)
        assert all(rejected == out for (*_, n), (rejected, out) in alarms.items() if n >= 5)
        rows = [[*pair, *(f"{alarms[(*pair, n)][0]:.3f}" for n in N_GROUPS)] for pair in pairs]
        old = run(bootstrap_alarms, [(kind, n) for kind in SIZES for n in N_GROUPS])
        rows += [
            ["accuracy, by a bootstrap", kind, *(f"{old[kind, n]:.3f}" for n in N_GROUPS)]
            for kind in SIZES
        ]
        show("False alarms at 0.05", heads, rows)

        found = run(power, pairs)
        rows = [[*pair, *(f"{share:.3f}" for share in found[pair])] for pair in pairs]
        rows = [
            [*row, f"{found[row[0], row[1]][0] / found[row[0], row[1]][1]:.3f}"] for row in rows
        ]
        show("Power at 165 groups", [*heads[:2], "exchange", "bootstrap", "ratio"], rows)

        heads = ["score", "groups are", "true value", *map(str, N_GROUPS[1:])]
        targets = (0.75, 0.25, 0.99, 0.01)
        found = run(coverage, [(*p, n, t) for p in pairs for t in targets for n in N_GROUPS[1:]])
        rows = [
            [*pair, str(target)]
            + ["{:.3f} ({:.2f})".format(*found[(*pair, n, target)]) for n in N_GROUPS[1:]]
            for pair in pairs
            for target in targets
        ]
        show("Coverage of intervals of 95 % (mean width)", heads, rows)

        found = run(coverage_of_difference, [(*pair, n) for pair in pairs for n in N_GROUPS[1:]])
        rows = [[*pair, *(f"{found[(*pair, n)]:.3f}" for n in N_GROUPS[1:])] for pair in pairs]
        show("Coverage of the interval of a difference", [*heads[:2], *heads[3:]], rows)


if __name__ == "__main__":
    main()
