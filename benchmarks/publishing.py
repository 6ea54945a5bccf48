"""How much memory it takes to build and to verify a version of about 500 MB.

    python benchmarks/publishing.py [--rows 540000] [--output FOLDER]

Builds SciNLI with other rows, premises as long as paragraphs and made of random words, and verifies
what was built, each in a process of its own. Memory is the peak of the process, in MB of 10**6
bytes, beside what it was after the imports (Linux only).
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from nlihub.builders.base import Batch, NLIBuilder, Rows
from nlihub.builders.options import BuildOptions
from nlihub.builders.release.verify import verify_version
from nlihub.builders.release.write import build_version
from nlihub.builders.schema import encode
from nlihub.builders.scinli import SciNLI
from nlihub.loaders.releases.oddities import Oddities

SEED = 20
BATCH_ROWS = 10_000
#: With words of 5.5 letters on average, about 1,500 characters a premise.
WORDS = {"premise": 230, "hypothesis": 20}


@dataclass(frozen=True)
class RandomRows:
    """Rows of random words; which they are depends on the seed and the number alone.

    Attributes:
        n_rows: How many: of each hundred two are for validation and test, the others to train.
        sources: Nothing: no file is read.
    """

    n_rows: int
    sources: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Seed and number."""
        return {"seed": SEED, "rows": self.n_rows}

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """The rows in order; see ``Rows``."""
        letters = list("etaoinshrdlucmfwypvbgkqjxz")
        rng = np.random.default_rng(SEED)
        words = pa.array("".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(30_000))
        features = SciNLI.SPEC.features
        labels = np.array(features["label"].names)
        for start in range(0, self.n_rows, BATCH_ROWS):
            numbers = np.arange(start, min(start + BATCH_ROWS, self.n_rows))
            nothing = pa.nulls(len(numbers))
            table = encode(
                {
                    "id": pa.array(numbers).cast(pa.string()),
                    **{name: _texts(rng, words, n, len(numbers)) for name, n in WORDS.items()},
                    "label": pa.array(rng.choice(labels, len(numbers))),
                    "group": nothing,
                    "category": nothing,
                    "domain": pa.repeat("acl", len(numbers)),
                    "source": nothing,
                },
                features,
            )
            part = numbers % 100
            parts = {"train": part > 1, "validation": part == 0, "test": part == 1}
            yield Batch(table, {("default", split): pa.array(m) for split, m in parts.items()})


def _texts(rng: np.random.Generator, words: pa.Array, mean_words: int, n: int) -> pa.Array:
    ends = np.cumsum(rng.poisson(mean_words, n) + 1, dtype=np.int32)
    chosen = words.take(rng.integers(len(words), size=ends[-1]))
    return pc.binary_join(pa.ListArray.from_arrays(np.append(np.int32(0), ends), chosen), " ")


def random_scinli(n_rows: int) -> type[NLIBuilder]:
    """SciNLI with other rows: its labels, card and name, so that it is verified as SciNLI is."""

    class RandomSciNLI(NLIBuilder):
        SPEC = SciNLI.SPEC

        @classmethod
        def make_rows(cls, options: BuildOptions) -> Rows:
            return RandomRows(n_rows)

    return RandomSciNLI


def build(output: Path, n_rows: int) -> None:
    """Builds the version."""
    build_version(random_scinli(n_rows), output, BuildOptions(configs=("default",)))


def verify(output: Path, n_rows: int) -> None:
    """Verifies it; its numbers of rows are not those of the paper."""
    report = verify_version(output / SciNLI.SPEC.name)
    failed = [outcome.check for outcome in report.outcomes if not outcome.passed]
    assert failed == ["rows are the published ones", "counts are the published ones"], report


def peak_mb() -> float:
    """The peak of the memory that this process had; unlike ru_maxrss, not of one before it."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if "VmHWM" in line)


def measured(step: Callable[[Path, int], None], output: Path, n_rows: int) -> list[float]:
    """Seconds that a step takes, peak memory, and memory before."""
    before, start = peak_mb(), time.perf_counter()
    step(output, n_rows)
    return [time.perf_counter() - start, peak_mb(), before]


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=540_000)
    parser.add_argument("--output", type=Path, help="folder to keep what is built in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        output = arguments.output or Path(scratch)
        figures = {}
        for step in (build, verify):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                figures[step.__name__] = fresh.submit(
                    measured, step, output, arguments.rows
                ).result()
        shards = (output / SciNLI.SPEC.name).rglob("*.parquet")
        n_bytes = sum(path.stat().st_size for path in shards)
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {arguments.rows:,} rows, ",
        end="",
    )
    print(f"{n_bytes / 1e6:.0f} MB of Parquet\n")
    print("| what | s | peak MB | before MB |\n| --- | --- | --- | --- |")
    for name, (seconds, peak, before) in figures.items():
        print(f"| {name} | {seconds:.1f} | {peak:.0f} | {before:.0f} |")


if __name__ == "__main__":
    main()
