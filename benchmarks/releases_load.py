"""How fast release-size SciNLI and MSciNLI are loaded, against plain ``datasets``, same files.

    python benchmarks/releases_load.py [--rounds 7]

Writes files of the size of the releases (107,412 and 132,320 rows, sentences of realistic length,
texts made of random words), then loads them, each time in a fresh process and into a fresh cache:
by ``nlihub.load_dataset``, which verifies, and by ``datasets.load_dataset("json" or "csv")``. The
order changes from round to round. Both libraries are imported before the clock starts; memory is
the peak of the process, in MB of 2**20 bytes, beside what it was after the imports (Linux only).
"""

import argparse
import csv
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

LABELS = ("contrasting", "reasoning", "entailment", "neutral")
FILES = {"train": "train", "validation": "dev", "test": "test"}
DOMAINS = ("Hardware", "Networks", "Software & its Engineering", "Security & Privacy", "NeurIPS")
ROWS = {
    "scinli": {"train": 101_412, "validation": 2_000, "test": 4_000},
    "mscinli": {"train": 127_320, "validation": 1_000, "test": 4_000},
}

LOAD = """
import json, sys, tempfile, time
import datasets, nlihub
datasets.disable_progress_bars()
def peak():  # unlike ru_maxrss, not that of the process which started this one
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
name, kind, folder, way = sys.argv[1:]
files = {s: f"{folder}/{name}/{f}.{kind}" for s, f in (
    ("train", "train"), ("validation", "dev"), ("test", "test"))}
before = peak()
with tempfile.TemporaryDirectory() as cache:
    start = time.perf_counter()
    if way == "nlihub":
        rows = nlihub.load_dataset(name, data_dir=f"{folder}/{kind}", cache_dir=cache)
    elif way == "plain":
        plain = "json" if kind == "jsonl" else "csv"
        rows = datasets.load_dataset(plain, data_files=files, cache_dir=cache)
    elif way == "build":
        nlihub.build(name, cache, folder=f"{folder}/{kind}", configs=["default"])
    elif way == "read":
        from pathlib import Path
        from nlihub.builders.core.registry import get_builder
        part = get_builder(name).parts()[0]
        for batch in part.read(Path(f"{folder}/{kind}/{name}/train.{kind}"), None): pass
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, peak(), before]))
"""


def write_files(folder: Path, factor: int = 1) -> Path:
    """Writes both releases in both formats, and a catalogue of them.

    Args:
        folder: Where to write.
        factor: The training sets are this many times as long as the released ones.

    Returns:
        The catalogue.
    """
    rng = random.Random(20)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = [
        "".join(rng.choices(letters, range(26, 0, -1), k=rng.choice((2, 3, 4, 5, 6, 8, 10))))
        for _ in range(30_000)
    ]
    words += ["naïve", "Müller", "café", "“quoted”", "“a”", 'the "thing"', "(2018)", "x, y"]

    def sentence() -> str:
        return " ".join(rng.choices(words, k=max(4, round(rng.gauss(26, 9))))) + "."

    catalogue: dict[str, Any] = {}
    for name, splits in ROWS.items():
        entries = catalogue.setdefault(name, {"files": {}})["files"]
        for split, n in splits.items():
            total = n * (factor if split == "train" else 1)
            rows = []
            for i in range(total):
                row = {
                    "id": f"{FILES[split]}_{i}",
                    "sentence1": sentence(),
                    "sentence2": sentence(),
                }
                row["label"] = LABELS[i * 4 // total]
                if name == "mscinli":
                    row["domain"] = DOMAINS[i % 5]
                rows.append(row)
            variants = []
            for kind in ("jsonl", "csv"):
                path = folder / kind / name / f"{FILES[split]}.{kind}"
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("w", encoding="utf-8", newline="") as file:
                    if kind == "csv":
                        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                        writer.writeheader()
                        writer.writerows(rows)
                    else:
                        file.writelines(json.dumps(row) + "\n" for row in rows)
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
                variants.append({"path": path.name, "sha256": sha256})
            entries[split] = {"rows": total, "variants": variants, "instructions": "Made here."}
    path = folder / "sources.json"
    path.write_text(json.dumps(catalogue), encoding="utf-8")
    return path


def load(folder: Path, name: str, kind: str, way: str) -> list[float]:
    """Loads in a fresh process: seconds, peak memory, memory before."""
    environment = {
        **os.environ,
        "NLIHUB_SOURCES": str(folder / "sources.json"),
        "NLIHUB_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
    }
    place = str(folder / kind) if way == "plain" else str(folder)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, name, kind, place, way],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measures and prints tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        folder, longer = Path(scratch, "x1"), Path(scratch, "x3")
        write_files(folder)
        write_files(longer, factor=3)
        cases = list(product(ROWS, ("jsonl", "csv"), ("plain", "nlihub", "build")))
        figures: dict[tuple[str, str, str], list[list[float]]] = {case: [] for case in cases}
        order = random.Random(0)
        for case in cases:
            load(folder, *case)  # once unmeasured, to warm caches
        for _ in range(rounds):
            order.shuffle(cases)
            for case in cases:
                figures[case].append(load(folder, *case))
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {rounds} rounds\n")
        print(
            "| dataset | files | plain s | nlihub s | ratio | plain MB | nlihub MB | before MB "
            "| build s | build MB |\n" + "| --- " * 10 + "|"
        )
        for name, kind in product(ROWS, ("jsonl", "csv")):
            seconds, peaks, before = (
                {
                    way: statistics.median(run[i] for run in figures[name, kind, way])
                    for way in ("plain", "nlihub", "build")
                }
                for i in range(3)
            )
            pairs = zip(figures[name, kind, "nlihub"], figures[name, kind, "plain"], strict=True)
            ratio = statistics.median(ours[0] / plain[0] for ours, plain in pairs)
            print(
                f"| {name} | {kind} | {seconds['plain']:.3f} | {seconds['nlihub']:.3f} "
                f"| {ratio:.2f} "
                f"| {peaks['plain']:.0f} | {peaks['nlihub']:.0f} | {before['nlihub']:.0f} "
                f"| {seconds['build']:.2f} | {peaks['build']:.0f} |"
            )
        print(
            "\nPeak memory of reading the training set of SciNLI, in MB beside what it was before:"
        )
        for kind in ("jsonl", "csv"):
            once, thrice = (load(where, "scinli", kind, "read") for where in (folder, longer))
            print(
                f"  {kind}: {once[1] - once[2]:.0f} as released, "
                f"{thrice[1] - thrice[2]:.0f} at three times the length"
            )


if __name__ == "__main__":
    main()
