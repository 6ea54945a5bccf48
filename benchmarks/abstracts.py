"""Making a dataset from many abstracts: seconds, and the peak memory of every process.

    python benchmarks/abstracts.py make FILE --of FILE... --abstracts 270000
    python benchmarks/abstracts.py measure FILE [--num-proc 2] [--options="--balance-negation"]

``make`` multiplies annotated abstracts under other pmids. Each copy has a number at the end of
every name and id, so that no two have the same supporting set and that there are ever more
entities, some thousand times as many at most. ``measure`` runs ``nlihub construct abstracts``
(Linux): processor seconds of all processes, the greatest resident memory that each had, not
counting files that are mapped, and the greatest size of the working files.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nlihub.loaders.corpora.abstracts.abstract import Abstract
from nlihub.loaders.corpora.abstracts.read import read_abstracts

_MAX_NAMES = 997  # a prime
_EVERY_S = 0.2
_OPTIONS = "--phrase-sets all --by-order"


def copy_abstract(one: Abstract, copy: int) -> str:
    """Write an abstract in PubTator's format, as the copy of a number."""
    suffix = str(copy % _MAX_NAMES)
    start = f"Trial {copy}: "
    body = one.title_end + 1
    ends = sorted({entity.end for entity in one.entities})

    def moved(offset: int, n_names: int) -> int:
        return offset + len(suffix) * n_names + (len(start) if offset >= body else 0)

    parts = [one.text[a:b] for a, b in zip([0, *ends], [*ends, len(one.text)], strict=True)]
    text = suffix.join(parts)
    title_end = moved(one.title_end, bisect_right(ends, one.title_end))
    text = f"{text[: title_end + 1]}{start}{text[title_end + 1 :]}"
    pmid = f"{one.pmid}{copy:06d}"
    lines = [f"{pmid}|t|{text[:title_end]}", f"{pmid}|a|{text[title_end + 1 :]}"]
    for entity in one.entities:
        first = moved(entity.start, bisect_right(ends, entity.start))
        last = moved(entity.end, bisect_left(ends, entity.end) + 1)
        ids = ";".join(f"{id_}{suffix}" for id_ in entity.ids[-1:])
        row = (pmid, first, last, text[first:last], entity.type, ids)
        lines.append("\t".join(map(str, row)))
    for relation in one.relations:
        ids = (f"{id_}{suffix}" for id_ in (relation.first, relation.second))
        lines.append("\t".join((pmid, relation.type, *ids)))
    return "\n".join(lines) + "\n\n"


def copies(files: list[Path]) -> Iterator[str]:
    """Copies of all abstracts of some files, without an end."""
    abstracts = [one for one in read_abstracts(files) if isinstance(one, Abstract)]
    copy = 0
    while True:
        yield from (copy_abstract(one, copy) for one in abstracts)
        copy += 1


def make(file: Path, of: list[Path], n_abstracts: int) -> None:
    """Writes a file of as many abstracts."""
    with file.open("w", encoding="utf-8") as target:
        target.writelines(islice(copies(of), n_abstracts))
    print(f"{n_abstracts:,} abstracts, {file.stat().st_size / 1e6:,.0f} MB: {file}")


def status_of(process: int) -> dict[str, int]:
    """The memory that a process has, in bytes, by the names of Linux; none where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = (line.split() for line in lines if line.endswith(" kB"))
    return {name.rstrip(":"): 1024 * int(value) for name, value, _ in fields}


def children_of(process: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(child) for child in path.read_text().split()]
        except OSError:
            continue
    return [*found, *(one for child in found for one in children_of(child))]


def size_of(folder: Path) -> int:
    """The size of the files in a folder, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def measure(file: Path, num_proc: int, options: str) -> None:
    """Makes a dataset and prints a row of a table."""
    with file.open("rb") as content:
        n_abstracts = sum(b"|t|" in line[:40] for line in content)
    with tempfile.TemporaryDirectory(dir=file.parent) as place:
        cache = Path(place, "cache")
        command = [sys.executable, "-m", "nlihub", "construct", "abstracts", "measured", str(file)]
        command += [*shlex.split(options), "--num-proc", str(num_proc), "-o", place]
        start = time.perf_counter()
        before = os.times()
        run = subprocess.Popen(
            command, env=os.environ | {"NLIHUB_CACHE": str(cache)}, stdout=subprocess.DEVNULL
        )
        peaks: dict[int, int] = {}
        disk, looked = 0, 0.0
        while run.poll() is None:
            for process in (run.pid, *children_of(run.pid)):
                anonymous = status_of(process).get("RssAnon", 0)
                peaks[process] = max(peaks.get(process, 0), anonymous)
            if time.perf_counter() > looked + 2:
                disk, looked = max(disk, size_of(cache)), time.perf_counter()
            time.sleep(_EVERY_S)
        seconds = time.perf_counter() - start
        after = os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        if run.returncode:
            raise SystemExit(run.returncode)
        main = peaks.pop(run.pid) / 1e6
        workers = max(peaks.values(), default=0) / 1e6
        size = size_of(Path(place, "measured"))
    print("| abstracts | processes | s | core s | abstracts/s/core | MB | worker MB | disk MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(
        f"| {n_abstracts:,} | {num_proc} | {seconds:,.0f} | {used:,.0f} | {n_abstracts / used:,.0f}"
        f" | {main:,.0f} | {workers:,.0f} | {disk / 1e6:,.0f} |"
    )
    print(f"\nthe version: {size / 1e6:,.0f} MB; the file: {file.stat().st_size / 1e6:,.0f} MB")


def main() -> None:
    """Makes a file, or measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("--of", type=Path, nargs="+", required=True)
    making.add_argument("--abstracts", type=int, default=27_000)
    measuring = verbs.add_parser("measure")
    measuring.add_argument("file", type=Path)
    measuring.add_argument("--num-proc", type=int, default=1)
    measuring.add_argument("--options", default=_OPTIONS)
    given = parser.parse_args()
    if given.verb == "make":
        make(given.file, given.of, given.abstracts)
    else:
        measure(given.file, given.num_proc, given.options)


if __name__ == "__main__":
    main()
