"""How much memory it takes to build, verify, publish and read back a version of about 500 MB.

    python benchmarks/publishing.py [--rows 540000] [--output FOLDER]

Builds open_spacenli with other rows, premises as long as paragraphs and made of random words, and
publishes what was built to the Hub of the tests, over HTTP. The Hub and each step are processes of
their own. Memory is the peak of the process, in MB of 10**6 bytes, beside what it was after the
imports (Linux only). Of it, private is what the process itself holds, looked at every 20 ms; the
rest are pages of files that are mapped, which the system takes back when it needs them.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROOT = Path(__file__).parent.parent
REPOSITORY = "someone/paragraphs"
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

    def batches(self, oddities: Any = None) -> Iterator[Any]:
        """The rows in order; see ``nlihub.builders.core.base.Rows``."""
        from nlihub.builders.core.base import Batch
        from nlihub.builders.core.schema import encode
        from nlihub.builders.open_spacenli import OpenSpaceNLI

        letters = list("etaoinshrdlucmfwypvbgkqjxz")
        rng = np.random.default_rng(SEED)
        words = pa.array("".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(30_000))
        features = OpenSpaceNLI.SPEC.features
        labels = np.array(features["label"].names)
        for start in range(0, self.n_rows, BATCH_ROWS):
            numbers = np.arange(start, min(start + BATCH_ROWS, self.n_rows))
            nothing = pa.nulls(len(numbers))
            table = encode(
                {
                    "id": pa.array(numbers).cast(pa.string()),
                    **{name: _texts(rng, words, n, len(numbers)) for name, n in WORDS.items()},
                    "label": pa.array(labels[numbers % len(labels)]),
                    "group": nothing,
                    "category": nothing,
                    "domain": pa.repeat("spatial", len(numbers)),
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


def plug_in(n_rows: int) -> type[Any]:
    """Puts a dataset of random rows in the place of open_spacenli."""
    from nlihub.builders import open_spacenli
    from nlihub.builders.core.spec import ConfigSpec

    class Paragraphs(open_spacenli.OpenSpaceNLI):
        PROPERTIES = ()
        SPEC = replace(
            open_spacenli.OpenSpaceNLI.SPEC,
            configs={"default": ConfigSpec("random words", ("train", "validation", "test"))},
            extra={},
            meanings={},
            group=None,
        )

        @classmethod
        def make_rows(cls, options: Any) -> RandomRows:
            return RandomRows(n_rows)

    open_spacenli.OpenSpaceNLI = Paragraphs
    return Paragraphs


def build(output: Path) -> None:
    """Builds the version."""
    import nlihub

    nlihub.build("open_spacenli", output)


def verify(output: Path) -> None:
    """Verifies it."""
    import nlihub

    assert nlihub.verify(output / "open_spacenli").passed


def publish(output: Path) -> None:
    """Publishes it; what is read back is so in processes of their own, see ``read_back``."""
    import nlihub

    nlihub.hub.publish(str(output / "open_spacenli"), REPOSITORY, "1.0.0")


def read_back(output: Path) -> None:
    """Loads and streams what was published, as ``publish`` does twice."""
    from nlihub.builders.versions.version import Manifest
    from nlihub.publishing.read_back import find_problems

    manifest = Manifest.read(output / "open_spacenli")
    assert not list(find_problems(REPOSITORY, "v1.0.0", manifest))


def diff(output: Path) -> None:
    """Compares what was published with what was built, where nothing has to be read."""
    import nlihub

    nlihub.hub.diff(f"{REPOSITORY}@1.0.0", str(output / "open_spacenli"))


def memory_mb(what: str) -> float:
    """Memory of this process: ``VmHWM`` its peak, ``RssAnon`` what is private now."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if what in line)


class PrivatePeak(threading.Thread):
    """Looks at the private memory of this process until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.mb, self.stopped = 0.0, threading.Event()

    def run(self) -> None:
        """Looks every 20 ms."""
        while not self.stopped.wait(0.02):
            self.mb = max(self.mb, memory_mb("RssAnon"))


def measured(step: Callable[[Path], None], output: Path, n_rows: int) -> list[float]:
    """Seconds that a step takes, peak memory, its private part, and memory before."""
    plug_in(n_rows)
    private = PrivatePeak()
    private.start()
    before, start = memory_mb("VmHWM"), time.perf_counter()
    step(output)
    seconds = time.perf_counter() - start
    private.stopped.set()
    return [seconds, memory_mb("VmHWM"), private.mb, before]


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=540_000)
    parser.add_argument("--output", type=Path, help="folder to keep what is built in")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from hub_server import hub_in_a_process

    with tempfile.TemporaryDirectory() as scratch, hub_in_a_process() as url:
        os.environ |= {
            "HF_ENDPOINT": url,
            "HF_TOKEN": "hf_secret",
            "HF_HOME": f"{scratch}/hf",
            "HF_HUB_DISABLE_XET": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NLIHUB_CACHE": f"{scratch}/cache",
            "USE_TORCH": "0",
        }
        output = arguments.output or Path(scratch)
        figures = {}
        for step in (build, verify, publish, read_back, diff):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                done = fresh.submit(measured, step, output, arguments.rows)
                figures[step.__name__.replace("_", " ")] = done.result()
        n_bytes = sum(path.stat().st_size for path in (output / "open_spacenli").rglob("*.parquet"))
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {arguments.rows:,} rows, ")
    print(f"{n_bytes / 1e6:.0f} MB of Parquet\n")
    print("| what | s | peak MB | private MB | before MB |\n| --- | --- | --- | --- | --- |")
    for name, (seconds, *memory) in figures.items():
        print(f"| {name} | {seconds:.1f} | {' | '.join(f'{mb:.0f}' for mb in memory)} |")


if __name__ == "__main__":
    main()
