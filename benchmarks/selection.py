"""How pairs of a corpus that fits into no memory are chosen and written: seconds, memory, disk.

    python benchmarks/selection.py --pairs 17000000 --folder FOLDER [--num-proc 2] [--texts]

Makes shards as reading papers would leave them, of random numbers: 17 pairs a paper, 1 % of the
pairs with the texts of another, 2 % of the sentences also in another paper, the papers split
80:10:10. Then places and chooses, and, with --texts, whose shards also have texts, makes all rows
part by part: what a writer gets, without its Parquet files. Each step is a process of its own;
memory is its peak, and that of its largest worker. ``NLIHUB_MEMORY`` limits the SQL. The folder
keeps the shards, so that they are made once.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from nlihub.builders.core.keyed import order_preserving
from nlihub.builders.core.sql import DuckDBEngine, open_database
from nlihub.builders.core.workers import map_in_order
from nlihub.builders.procedures.papers.arrays import draw
from nlihub.builders.procedures.papers.declaration import paper_configs
from nlihub.builders.procedures.papers.extract import (
    PAIR_SCHEMA,
    PAIRS,
    PAPER_SCHEMA,
    PAPERS,
    TEXT_SCHEMA,
    TEXTS,
    ShardReport,
    shard_key,
)
from nlihub.builders.procedures.papers.phrases import LinkingPhrases
from nlihub.builders.procedures.papers.place_papers import PlaceJob, group_shards
from nlihub.builders.procedures.papers.rows import PaperRows
from nlihub.builders.procedures.papers.select import Selector
from nlihub.builders.procedures.shards import Corpus, CorpusShard, LocalEngine, do_missing
from nlihub.builders.procedures.splits import ByRatio

PHRASES = LinkingPhrases.read()
SPLITTING = ByRatio()
PAIRS_A_PAPER = 17
SHARD_PAPERS = 10_000
_WORDS = np.array(["model", "corpus", "parser", "label", "token", "vector", "grammar", "signal"])


def make_shard(folder: Path, has_texts: bool, shard: tuple[int, int]) -> None:
    """Write a shard of some papers, as the job of ``extract`` does."""
    number, n_papers = shard
    place = folder / f"shard-{number:06d}"
    if (place / "report.json").exists():
        return
    place.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(number)
    n = n_papers * PAIRS_A_PAPER

    def words() -> np.ndarray:
        return random.integers(0, 2**64, n, np.uint64, endpoint=False)

    shared = np.random.default_rng(0).integers(0, 2**64, 2_000_000, np.uint64)
    premise, second, order, texts = words(), words(), words(), words()
    for keys, share in ((premise, 0.02), (second, 0.02), (texts, 0.01)):
        chosen = np.flatnonzero(random.random(n) < share)
        keys[chosen] = shared[random.integers(0, len(shared), len(chosen))]
    drawn = draw(order, 1)
    half = len(PHRASES.categories) - 3
    category = np.where(
        random.random(n) < 0.5, random.integers(0, half, n), random.integers(half, half + 3, n)
    )
    columns = {
        "shard_key": np.full(n, shard_key(place)),
        "pair": np.arange(n),
        "paper": np.sort(random.integers(0, n_papers, n)),
        "category": category,
        "first": random.integers(0, 200, n),
        "second": random.integers(0, 200, n),
        "order_key": order_preserving(order),
        "draw_key": order_preserving(drawn),
        "draw_bucket": (drawn >> np.uint64(48)).astype(np.int32),
        "texts_key": order_preserving(texts),
        "premise_key": order_preserving(premise),
        "second_key": order_preserving(second),
    }
    pq.write_table(pa.table(columns).cast(PAIR_SCHEMA), place / PAIRS, compression="zstd")
    papers = {
        "id": [f"{number:06d}-{n:05d}" for n in range(n_papers)],
        "year": random.integers(1990, 2021, n_papers),
        "domain": ["acl"] * n_papers,
        "hash": [random.bytes(16) for _ in range(n_papers)],
        "n_sentences": random.integers(50, 400, n_papers),
        "file": [f"{number:06d}.jsonl"] * n_papers,
        "line": range(1, n_papers + 1),
    }
    pq.write_table(pa.Table.from_pydict(papers, PAPER_SCHEMA), place / PAPERS, compression="zstd")
    if has_texts:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(place / TEXTS), TEXT_SCHEMA, options=options) as writer:
            sentences = pa.array(
                [" ".join(line) for line in _WORDS[random.integers(0, 8, (999, 24))]]
            )
            for start in range(0, n, 2_000):
                size = min(2_000, n - start)
                written = [sentences.take(pa.array(random.integers(0, 999, size))) for _ in "12"]
                writer.write_batch(pa.RecordBatch.from_arrays(written, schema=TEXT_SCHEMA))
    found = Counter(np.array(PHRASES.categories)[category].tolist())
    ShardReport((), dict(found), {}).write(place)


def corpus_of(folder: Path) -> Corpus:
    """The shards of a folder."""
    shards = folder / "shards"
    found = sorted(shards.iterdir()) if shards.exists() else []
    return Corpus([CorpusShard((), one) for one in found], folder / "results")


def place(folder: Path, num_proc: int) -> None:
    """Place all papers."""
    corpus = corpus_of(folder)
    groups = group_shards(corpus, corpus.results / "placed")
    do_missing(LocalEngine(num_proc), PlaceJob(SPLITTING, 1).run, groups, "Placing")


def choose(folder: Path) -> tuple[Corpus, SimpleNamespace]:
    """Choose papers and pairs; what was chosen before is only read."""
    corpus = corpus_of(folder)
    groups = group_shards(corpus, corpus.results / "placed")
    with open_database(corpus.results) as database:
        engine = DuckDBEngine(database)
        selector = Selector(groups, corpus.results, database, engine)
        papers = selector.select_papers(SPLITTING)
        pairs = selector.select_pairs(papers, PHRASES, SPLITTING.splits, {})
    return corpus, SimpleNamespace(papers=papers, pairs=pairs)


def count_part(number: int, part: "object") -> int:
    """Make the rows of a part, and count them."""
    return sum(len(batch.table) for batch in part.batches())  # type: ignore[attr-defined]


def make_rows(folder: Path, num_proc: int) -> int:
    """Make all rows, part by part."""
    corpus, chosen = choose(folder)
    configs = paper_configs(chosen.papers.domains, SPLITTING.splits)
    keys = frozenset((config, split) for config in configs for split in SPLITTING.splits)
    papers, pairs = chosen.papers, chosen.pairs
    rows = PaperRows(
        corpus, corpus.results, papers.source, papers.domains, pairs, {}, PHRASES, keys
    )
    return sum(rows.map_parts(count_part, num_proc))


@contextmanager
def measured(what: str, folder: Path):
    """Print seconds, processor seconds, peak memory and the most disk of a step."""
    most = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            try:
                sizes = [p.stat().st_size for p in (folder / "results").rglob("*") if p.is_file()]
            except OSError:  # removed meanwhile
                continue
            most[0] = max(most[0], sum(sizes))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    done.set()
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    processor = sum(r.ru_utime + r.ru_stime for r in (own, others))
    found = {
        "step": what,
        "s": round(seconds, 1),
        "processor_s": round(processor, 1),
        "peak_mb": round(own.ru_maxrss * 1024 / 1e6),
        "peak_mb_of_a_worker": round(others.ru_maxrss * 1024 / 1e6),
        "disk_mb": round(most[0] / 1e6),
    }
    print(json.dumps(found), flush=True)


def main() -> None:
    """Runs the steps, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--num-proc", type=int, default=2)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--step", choices=("make", "place", "choose", "rows"))
    given = parser.parse_args()
    if given.step is None:
        rmtree(given.folder / "results", ignore_errors=True)
        for step in ("make", "place", "choose", *["rows"] * given.texts):
            subprocess.run([sys.executable, *sys.argv, "--step", step], check=True, env=os.environ)
        return
    with measured(given.step, given.folder):
        if given.step == "make":
            n_papers = given.pairs // PAIRS_A_PAPER
            shards = [
                (n, min(SHARD_PAPERS, n_papers - start))
                for n, start in enumerate(range(0, n_papers, SHARD_PAPERS))
            ]
            job = partial(make_shard, given.folder / "shards", given.texts)
            for _ in map_in_order(job, shards, given.num_proc):
                pass
        elif given.step == "place":
            place(given.folder, given.num_proc)
        elif given.step == "choose":
            print(choose(given.folder)[1].pairs.n_rows, "pairs are taken")
        else:
            print(make_rows(given.folder, given.num_proc), "rows")


if __name__ == "__main__":
    main()
