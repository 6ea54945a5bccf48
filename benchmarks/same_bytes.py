"""See that a version made of papers has the same bytes, whichever way it is made.

    python benchmarks/same_bytes.py --papers FOLDER [--before PYTHON [--rounds N]]

Constructs one version of the papers again and again: with one process and with two, within 500 MB,
from the same files in folders of other names and thus in another order, on a Spark cluster of two
workers that writes through a shared folder (and runs the SQL) or not, and killed at several moments
and resumed; with --before, whose argument is a Python with another state of nlihub, by that one
too. Compares every file with that of the first. With --rounds, also compares how much processor
time and memory the two take with one process, in turn. Linux; Spark needs Java.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

DOMAIN = ["--domain", "acl", "--ratio", "0.8,0.1,0.1", "--seed", "3"]
ON_SPARK = """
import sys
from pathlib import Path
import nlihub.construct
from nlihub.cli import app
from nlihub.builders.dataflow import spark
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.ui.enabled", "false")
session = session.config("spark.driver.bindAddress", "127.0.0.1")
session = session.config("spark.driver.host", "127.0.0.1").getOrCreate()
if folder := sys.argv.pop(1):
    engine = nlihub.construct.spark_engine(session, Path(folder))
    spark.spark_engine = lambda *_: engine
app(sys.argv[1:])
"""


class Construction:
    """One version of the papers, made in a temporary folder."""

    def __init__(self, papers: Path, scratch: Path) -> None:
        self.papers, self.scratch, self.n_made = papers, scratch, 0

    def new_folder(self) -> Path:
        """Return a folder for one way."""
        self.n_made += 1
        folder = self.scratch / f"{self.n_made}"
        folder.mkdir()
        return folder

    def start(
        self,
        folder: Path,
        *options: str,
        python: str = sys.executable,
        program: str | None = None,
        papers: Path | None = None,
        **environment: str,
    ) -> "subprocess.Popen[bytes]":
        """Start ``construct papers`` with a cache of its own."""
        code = ["-c", program, environment.pop("FOLDER", "")] if program else ["-m", "nlihub"]
        words = ["construct", "papers", "same", str(papers or self.papers)]
        given = {"NLIHUB_CACHE": str(folder / "cache"), "PYSPARK_PYTHON": sys.executable}
        return subprocess.Popen(
            [python, *code, *words, *DOMAIN, *options, "--output", str(folder / "built")],
            env=os.environ | given | environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("ab"),
            start_new_session=True,
        )

    def make(self, *options: str, **how: str) -> dict[str, str]:
        """Construct, and return the hash of each file."""
        folder = self.new_folder()
        process = self.start(folder, *options, **how)  # type: ignore[arg-type]
        if process.wait():
            raise SystemExit((folder / "log").read_text())
        return hashes(folder / "built" / "same")

    def make_reordered(self) -> dict[str, str]:
        """Construct from links to the files, in folders that put them into another order."""
        links = self.new_folder() / "links"
        chance = random.Random(22)
        for file in sorted(self.papers.iterdir()):
            place = links / f"{chance.randrange(40):02}"
            place.mkdir(parents=True, exist_ok=True)
            (place / file.name).symlink_to(file.absolute())
        return self.make(papers=links)  # type: ignore[arg-type]

    def make_killed(self, n_kills: int) -> dict[str, str]:
        """Construct, killed a little later at every start, and then to the end."""
        folder = self.new_folder()
        for number in range(n_kills):
            process = self.start(folder)
            time.sleep(0.5 + 0.35 * number)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.start(folder).wait():
            raise SystemExit((folder / "log").read_text())
        return hashes(folder / "built" / "same")

    def cost(self, python: str) -> tuple[float, float]:
        """Construct, and return seconds of processors and the peak of memory in MB."""
        folder = self.new_folder()
        process = self.start(folder, python=python)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit((folder / "log").read_text())
        return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6

    def compare_costs(self, before: str, n_rounds: int) -> str:
        """Return what construction costs, here and with another Python; the first round warms."""
        rounds = [(self.cost(sys.executable), self.cost(before)) for _ in range(n_rounds + 1)][1:]
        ratios = [now[0] / then[0] for now, then in rounds]
        found = []
        for name, costs in zip(("now", "before"), zip(*rounds, strict=True), strict=True):
            seconds, peaks = zip(*costs, strict=True)
            found.append(
                f"{name} {statistics.median(seconds):.2f} s of processor time (least "
                f"{min(seconds):.2f}), {max(peaks):.0f} MB"
            )
        return (
            f"{'; '.join(found)}; ratio {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}, {n_rounds} rounds)"
        )


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder, by its path in there."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main() -> None:
    """Makes the version in every way, and prints which files differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--before", help="the Python of another state of nlihub")
    parser.add_argument("--rounds", type=int, default=0, help="rounds in which costs are compared")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        made = Construction(given.papers.resolve(), Path(name))
        ways: dict[str, Callable[[], dict[str, str]]] = {
            "one process": made.make,
            "two processes": lambda: made.make("--num-proc", "2"),
            "within 500 MB": lambda: made.make(NLIHUB_MEMORY="500MB"),
            "files in another order": made.make_reordered,
            "killed 10 times and resumed": lambda: made.make_killed(10),
            "Spark": lambda: made.make("--spark", program=ON_SPARK),
            "Spark, its SQL too": lambda: made.make(
                "--spark", program=ON_SPARK, FOLDER=str(made.scratch / "shared")
            ),
        }
        if given.before:
            ways["before"] = lambda: made.make(python=given.before)
        first: dict[str, str] = {}
        for way, make in ways.items():
            start = time.perf_counter()
            found = make()
            first = first or found
            other = sorted(k for k in first.keys() | found.keys() if first.get(k) != found.get(k))
            shown = ", ".join(other) if other else "the same"
            print(f"{way}: {len(found)} files, {shown} ({time.perf_counter() - start:.0f} s)")
        if given.before and given.rounds:
            print(made.compare_costs(given.before, given.rounds))


if __name__ == "__main__":
    main()
