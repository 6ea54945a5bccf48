"""How near ``nlihub construct papers --dry-run --sample SHARE`` comes to the whole run.

    python benchmarks/estimating.py --papers FOLDER [--copies 40] [--shares 0.01 0.03 0.1]
        [--num-proc 2] [--scratch FOLDER]

FOLDER holds papers of some kind that is read. Without --copies they are the corpus. With it the
corpus is five files of JSON lines, paragraphs to split, in which each paper is written so many
times: in each copy every sentence has another word more, but one of thirty copies is the paper
itself under another id, and of another one in thirty the first section is as in the paper, so that
papers and texts are doubled all over the corpus. Errors are in percent of what the whole run gave
and took; "±" is what the estimate says of its own. Each has a process of its own.
"""

import argparse
import os
import random
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import orjson
from nlihub.loaders.corpora.papers.files import find_paper_files
from nlihub.loaders.corpora.papers.paper import Paper
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.corpora.papers.sentences import split_sentences

from nlihub.construct import Estimate, PapersRecipe, estimate_papers, papers

RECIPE = PapersRecipe(domain="acl", ratio=(0.8, 0.1, 0.1))
N_FILES = 5
_KEPT = 1 / 30


def read_all(folder: Path) -> list[Paper]:
    """All papers of a folder."""
    found = (one for f in find_paper_files([folder]) for one in read_papers(f, split_sentences))
    return [one for one in found if isinstance(one, Paper)]


def copy_of(paper: Paper, number: int, draw: random.Random) -> dict[str, Any]:
    """A paper in the plain form, with another word in its sentences."""
    word = "".join(chr(ord("a") + int(digit)) for digit in f"{number:04d}") + "ish"
    chance = draw.random()
    sections = []
    for place, section in enumerate(paper.sections):
        is_same = chance < _KEPT or (chance < 2 * _KEPT and not place)
        paragraphs = [
            " ".join(s if is_same else f"{s[:-1]} {word}{s[-1]}" for s in paragraph if s)
            for paragraph in section.paragraphs
        ]
        sections.append({"title": section.title, "paragraphs": paragraphs})
    return {"id": f"{paper.id}-{number}", "year": paper.year, "sections": sections}


def write_corpus(originals: list[Paper], copies: int, folder: Path) -> None:
    """Write copies of papers as files of JSON lines, in no order."""
    draw = random.Random(1)
    order = [(paper, number) for number in range(copies) for paper in originals]
    draw.shuffle(order)
    folder.mkdir()
    for part in range(N_FILES):
        with (folder / f"{part}.jsonl").open("wb") as file:
            for paper, number in order[part::N_FILES]:
                file.write(orjson.dumps(copy_of(paper, number, draw)) + b"\n")


def watch_disk(folder: Path, done: threading.Event, most: list[int]) -> None:
    """Keep the most bytes of working files."""
    while not done.wait(0.5):
        try:
            most[0] = max(most[0], sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()))
        except OSError:  # removed meanwhile
            continue


def build(corpus: Path, folder: Path, num_proc: int) -> dict[str, float]:
    """What the whole run gives and takes."""
    most, done = [0], threading.Event()
    watcher = threading.Thread(target=watch_disk, args=(folder / "cache", done, most))
    watcher.start()
    before = os.times()
    made = papers("made", corpus, folder / "built", RECIPE, num_proc=num_proc)
    after = os.times()
    done.set()
    watcher.join()
    who = resource.RUSAGE_CHILDREN if num_proc > 1 else resource.RUSAGE_SELF
    read, pairs = made.counts["papers"], made.counts["pairs"].values()
    return {
        "papers read": read["read"],
        "papers kept": read["kept"],
        "pairs found": sum(one["read"] for one in pairs),
        "pairs kept": sum(one["kept"] for one in pairs),
        "rows of default": sum(made.rows["default"].values()),
        "processor s": sum(after[:4]) - sum(before[:4]),
        "wall s": after.elapsed - before.elapsed,
        "working files": most[0],
        "version": sum(p.stat().st_size for p in made.folder.rglob("*") if p.is_file()),
        "memory of a process": resource.getrusage(who).ru_maxrss * 1024,
    }


def estimated(corpus: Path, share: float, num_proc: int) -> Estimate:
    """What an estimate gives."""
    return estimate_papers(corpus, RECIPE, sample=share, num_proc=num_proc)


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do something in a process of its own, whose peak of memory is that of no other work."""
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(work, *arguments).result()


def values_of(found: Estimate) -> Iterator[tuple[str, float]]:
    """What an estimate says of the same."""
    for count in ("papers read", "papers kept", "pairs found", "pairs kept"):
        yield count, found.counts[count]
    yield "rows of default", sum(found.rows.get("default", {}).values())
    yield "processor s", sum(found.processor_s.values())
    yield "wall s", sum(found.wall_s.values())
    disk = dict(found.disk_bytes)
    version, _ = disk.pop("version"), disk.pop("spilled at most")
    yield "working files", sum(disk.values())
    yield "version", version
    yield "memory of a process", max(found.memory_bytes.values())


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--copies", type=int, default=0)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.03, 0.1])
    parser.add_argument("--num-proc", type=int, default=1)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.scratch) as name:
        folder = Path(name)
        os.environ["NLIHUB_CACHE"] = str(folder / "cache")
        corpus = given.papers
        if given.copies:
            corpus = folder / "papers"
            write_corpus(read_all(given.papers), given.copies, corpus)
        estimate_papers(given.papers, RECIPE, sample=0.3)  # so that all is loaded
        truth = alone(build, corpus, folder, given.num_proc)
        print("| | whole |" + "".join(f" {share:g} |" for share in given.shares))
        print("| --- " * (2 + len(given.shares)) + "|")
        lines = {name: f"| {name} | {value:,.0f} |" for name, value in truth.items()}
        lines["it took, s"] = "| it took, s | |"
        for share in given.shares:
            start = time.perf_counter()
            found = alone(estimated, corpus, share, given.num_proc)
            lines["it took, s"] += f" {time.perf_counter() - start:.1f} |"
            for what, value in values_of(found):
                own = found.scatter.get(what)
                shown = "" if own is None else f" ± {100 * own:.1f}"
                lines[what] += f" {100 * (value / truth[what] - 1):+.1f}{shown} |"
        print("\n".join(lines.values()))


if __name__ == "__main__":
    main()
