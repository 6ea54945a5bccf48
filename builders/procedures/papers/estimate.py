"""Estimate what a corpus of papers gives and takes, by constructing a dataset from a sample of it.

The sample is read once; the whole of it, and each half, is chosen from and written as the corpus
would be: what it takes beyond a half grows with the corpus, the rest does not. Its shards tell how
far counts scatter.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import log2, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq

from ....loaders.atomic_write import working_folder
from ....loaders.corpora.papers.files import PaperFile, find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.errors import CorpusError, NLIHubError, UsageError
from ....loaders.progress import show_bytes, show_duration
from ...core.options import BuildOptions
from ...core.schema import SPLITS
from ...core.sql import memory_limit
from ..about import Declared
from ..procedure import Construction, TooFewError
from ..shards import SHARD_BYTES, Corpus, CorpusShard, LocalEngine, worked_off
from .balance import class_sizes
from .declaration import UNBALANCED
from .extract import PAIRS, PAPERS, TEXTS, Job, ShardReport
from .recipe import PapersRecipe
from .rows import PART_BYTES, PART_ROWS, PaperRows
from .run import make_construction
from .sample_files import sample_files, weigh
from .statements import IN_TWO_SPLITS, SAME_ID, SAME_PAPER, SAME_TEXT, SAME_TEXTS

_READ = {"papers": "read", "pairs": "found"}
_BALANCED_ROWS = "rows of default"
_LATER_STEPS = ("choosing", "writing")
#: SQL exceeds its limit by so much, at most.
_ABOVE_LIMIT = "650 MB"
_MIN_SHARDS = 16


@dataclass(frozen=True)
class Estimate:
    """What constructing a dataset from a corpus of papers is expected to give and take.

    Attributes:
        sample: ``pieces`` and ``bytes`` of the sample, ``of_files`` and ``of_bytes`` of the corpus.
        counts: Numbers of papers (``papers read``, ``kept``) and candidate pairs (``pairs found``,
            ``kept``); ``doubled`` are those that are dropped for another: the same, or of a pair,
            one with its sentence in another split.
        growth: How many times as many of these are doubled in twice the corpus, 2 to 4; None where
            the halves of the sample do not tell, and 2 is taken.
        rows: Rows by config and split, over all domains.
        scatter: The standard error of a count as a share of it, by the shards of the sample; 0
            where all is sampled, or there is one shard.
        problem: Why no dataset is expected; empty where one is.
        num_proc: Processes of this machine that ``wall_s`` is for.
        processor_s: Seconds of processors by step.
        wall_s: Seconds by step.
        largest_file_s: Of reading, what the largest file takes, which is read by one process.
        memory_bytes: Peak memory of a process that reads, and of one that writes.
        memory_of_sql: What choosing takes in one process, at most.
        disk_bytes: Disk by use; all but ``version`` goes in the end.
    """

    sample: Mapping[str, int]
    counts: Mapping[str, int]
    growth: Mapping[str, float | None]
    rows: Mapping[str, Mapping[str, int]]
    scatter: Mapping[str, float]
    problem: str
    num_proc: int
    processor_s: Mapping[str, float]
    wall_s: Mapping[str, float]
    largest_file_s: float
    memory_bytes: Mapping[str, int]
    memory_of_sql: str
    disk_bytes: Mapping[str, int]

    def as_json(self) -> Mapping[str, Any]:
        """Return the estimate as plain values."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the estimate as lines for people."""
        sample = self.sample
        yield (
            f"sample: {show_bytes(sample['bytes'])} of {show_bytes(sample['of_bytes'])} "
            f"({sample['bytes'] / max(sample['of_bytes'], 1):.2%}), "
            f"{sample['pieces']:,} pieces of {sample['of_files']:,} files"
        )
        for unit, read in _READ.items():
            times = self.growth[unit]
            yield (
                f"{unit}: {self._show(f'{unit} {read}')} {read}, "
                f"{self._show(f'{unit} kept')} kept; {self._show(f'{unit} doubled')} doubled"
                + (f", {times:.1f} times as many in twice the corpus" if times else "")
            )
        for config, splits in self.rows.items():
            listed = ", ".join(f"{split} {_rounded(n):,}" for split, n in splits.items())
            counted = "pairs kept" if config == UNBALANCED else _BALANCED_ROWS
            yield f"{config}: {listed} rows{self._error(counted)}"
        if self.problem:
            yield f"no dataset: {self.problem}"
        yield f"processor time: {_show_steps(self.processor_s)}"
        yield f"time, --num-proc {self.num_proc}: {_show_steps(self.wall_s)}"
        if self.num_proc > 1 and self.largest_file_s > self.wall_s["reading"] / 2:
            yield (
                f"the largest file is read by one process in {show_duration(self.largest_file_s)}: "
                "cut it, and more processes help"
            )
        steps = (f"{step} {show_bytes(n)}" for step, n in self.memory_bytes.items())
        yield f"memory of a process: {', '.join(steps)}, choosing at most {self.memory_of_sql}"
        uses = (f"{use} {show_bytes(n)}" for use, n in self.disk_bytes.items())
        yield f"disk: {', '.join(uses)}"

    def _show(self, count: str) -> str:
        return f"{_rounded(self.counts[count]):,}{self._error(count)}"

    def _error(self, count: str) -> str:
        return f" (± {self.scatter[count]:.1%})" if self.scatter.get(count) else ""


def _show_steps(seconds: Mapping[str, float]) -> str:
    steps = ", ".join(f"{step} {show_duration(s)}" for step, s in seconds.items())
    return f"{show_duration(sum(seconds.values()))} ({steps})"


def _rounded(number: int) -> int:
    """Return a number with three digits that count."""
    return round(number, min(0, 3 - len(str(number))))


@dataclass(frozen=True)
class _Measured:
    """What papers of the sample gave and took after they were read.

    Attributes:
        share: Their share of the bytes of the corpus.
        rows: Their rows.
        counts: Numbers of papers and pairs, as an estimate has them.
        processor_s: Seconds of processors by step.
        wall_s: Seconds by step.
        disk_bytes: Disk by use.
    """

    share: float
    rows: PaperRows
    counts: Mapping[str, int]
    processor_s: Mapping[str, float]
    wall_s: Mapping[str, float]
    disk_bytes: Mapping[str, float]


@dataclass(frozen=True)
class _Trial:
    """Makes datasets of shards of the sample.

    Attributes:
        n_bytes: The size of the corpus.
        has_parts: Whether its rows are in several parts.
        write: Writes a version into an empty folder.
    """

    recipe: PapersRecipe
    metadata: Metadata
    declared: Declared
    options: BuildOptions
    n_bytes: int
    has_parts: bool
    write: Callable[[Construction, Path], None]

    def measure(self, shards: Sequence[CorpusShard], folder: Path) -> _Measured:
        """Make a dataset.

        Raises:
            NLIHubError: The shards give none.
        """
        corpus = Corpus(shards, folder / "results")
        share = sum(shard.n_bytes for shard in shards) / max(1, self.n_bytes)
        engine = LocalEngine(self.options.num_proc)
        version = folder / "version"
        version.mkdir(parents=True)
        times = [_now()]
        made = make_construction(
            corpus, self.recipe, self.metadata, self.declared, engine, self.options
        )
        times.append(_now())
        rows = cast(PaperRows, made.rows)
        if self.has_parts:
            n_rows = rows.pairs.n_rows // (2 * self.options.num_proc)
            rows = replace(rows, part_rows=min(PART_ROWS, max(1, n_rows)))
        self.write(replace(made, rows=rows), version)
        times.append(_now())
        processor_s, wall_s = (
            dict(zip(_LATER_STEPS, np.diff([time[n] for time in times]).tolist(), strict=True))
            for n in range(2)
        )
        disk_bytes = {"choosing and sorting": _disk(corpus.results), "version": _disk(version)}
        counts = _count(made.report.counts)
        return _Measured(share, rows, counts, processor_s, wall_s, disk_bytes)


def estimate(
    paths: Sequence[Path],
    recipe: PapersRecipe,
    declared: Declared,
    options: BuildOptions,
    share: float,
    write: Callable[[Construction, Path], None],
) -> Estimate:
    """Estimate what constructing a dataset from papers would give and take.

    The sample is worked on by this machine, whatever the engine of the recipe, and leaves nothing.

    Args:
        paths: The files and folders of papers.
        recipe: How to make the dataset.
        declared: What its maker says of it.
        options: The number of processes, and where working files are kept.
        share: Share of the corpus that is sampled, above 0 to 1; at least two pieces of files.
        write: Writes a version into an empty folder.

    Raises:
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        CorpusError: The sample gives no dataset.
        UsageError: The share is not one.
    """
    if not 0 < share <= 1:
        raise UsageError(f"The sample is {share}; expected a share of the corpus, as in 0.01.")
    files = find_paper_files(paths)
    metadata = Metadata.read(recipe.metadata, recipe.domain)
    unlimited = replace(recipe, per_class={}, engine=None)  # quotas are for the whole corpus
    with working_folder(options.cache_dir, "estimate-") as folder:
        sample = sample_files(files, share, recipe.seed, folder)
        job = Job(recipe.rules, recipe.split_sentences, metadata)
        recipe.split_sentences("What it loads is loaded now.")
        begun = _now()
        engine = LocalEngine(options.num_proc)
        shard_bytes = min(SHARD_BYTES, max(1, _size(sample) // _MIN_SHARDS))
        with worked_off(sample, job, engine, folder, shard_bytes) as corpus:
            reading_s, waited_s = np.subtract(_now(), begun).tolist()
            reading_bytes = _peak_bytes(options.num_proc)
            n_pairs = sum(pq.read_metadata(one / PAIRS).num_rows for one in corpus.folders)
            has_parts = n_pairs * _size(files) > PART_ROWS * _size(sample)
            trial = _Trial(unlimited, metadata, declared, options, _size(files), has_parts, write)
            halves: list[_Measured] = []
            with suppress(NLIHubError):  # where halves are too small, the whole may do
                for n in range(2):
                    halves.append(trial.measure(corpus.shards[n::2], folder / f"half-{n}"))
            try:
                whole = trial.measure(corpus.shards, folder / "whole")
            except CorpusError as error:
                is_small = share < 1 and not (
                    isinstance(error, TooFewError) and not error.report.counts["papers"]["kept"]
                )
                advice = " Take a larger share." if is_small else ""
                raise CorpusError(
                    f"The sample, {show_bytes(_size(sample))}, gives no dataset: {error}{advice}"
                ) from error
            weights = [sum(weigh(file, folder) for file in one.files) for one in corpus.shards]
            scatter = _scatter(whole, corpus.shards, weights)
            read_bytes = {
                name: sum(_disk(shard, is_texts) for shard in corpus.folders) / whole.share
                for name, is_texts in (("number columns", False), ("texts", True))
            }
        writing_bytes = _peak_bytes(options.num_proc)
    if recipe.per_class:
        del scatter[_BALANCED_ROWS]
    if len(halves) < 2:
        halves = []
    half = halves[1] if halves else None
    of_weights = sum(weights) / sum(weigh(file, folder) for file in files)
    counts, growth = _extrapolate_counts(whole, halves, of_weights)
    rows, problem = _extrapolate_rows(whole, counts, recipe)
    n_workers = min(options.num_proc, os.cpu_count() or 1)
    # Above 1 where disks or other work keep the processes waiting.
    slower = max(1.0, waited_s * min(n_workers, len(corpus.shards)) / max(reading_s, 1e-3))
    reading_s /= whole.share
    largest_file_s = slower * reading_s * max(f.size for f in files) / max(1, _size(files))
    of_part = min(1, sum(rows[UNBALANCED].values()) / PART_ROWS)
    disk_bytes = {
        **read_bytes,
        **_project(whole, half, "disk_bytes"),
        "spilled at most": read_bytes["number columns"],
    }
    return Estimate(
        sample={
            "pieces": len(sample),
            "bytes": _size(sample),
            "of_files": len(files),
            "of_bytes": _size(files),
        },
        counts=counts,
        growth=growth,
        rows=rows,
        scatter=scatter,
        problem=problem,
        num_proc=options.num_proc,
        processor_s={"reading": reading_s, **_project(whole, half, "processor_s")},
        wall_s={
            # One after another to whoever is free, the largest perhaps last.
            "reading": (slower * reading_s + (n_workers - 1) * largest_file_s) / n_workers,
            **_project(whole, half, "wall_s"),
        },
        largest_file_s=largest_file_s,
        memory_bytes={
            "reading": reading_bytes,
            "writing": max(writing_bytes, int(PART_BYTES * of_part)),
        },
        memory_of_sql=f"{memory_limit()} and {_ABOVE_LIMIT}",
        disk_bytes={use: int(n) for use, n in disk_bytes.items()},
    )


def _count(counts: Mapping[str, Any]) -> Mapping[str, int]:
    papers, pairs = counts["papers"], counts["pairs"].values()
    return {
        "papers read": papers["read"],
        "papers kept": papers["kept"],
        "papers doubled": _doubled([papers], SAME_PAPER, SAME_ID, SAME_TEXT),
        "pairs found": sum(one["read"] for one in pairs),
        "pairs kept": sum(one["kept"] for one in pairs),
        "pairs doubled": _doubled(pairs, SAME_TEXTS, IN_TWO_SPLITS),
    }


def _doubled(counts: Iterable[Mapping[str, Any]], *reasons: str) -> int:
    return sum(one["dropped"].get(reason, 0) for one in counts for reason in reasons)


def _extrapolate_counts(
    whole: _Measured, halves: Sequence[_Measured], of_weights: float
) -> tuple[dict[str, int], dict[str, float | None]]:
    """Return the counts of the corpus, and by how much what is doubled grows in twice of it.

    A paper or text whose like is anywhere in the corpus is doubled in a sample only where that one
    is sampled too, so what is doubled may grow by the square. Papers grow as weights do, pairs as
    bytes.
    """
    found: dict[str, int] = {}
    growth: dict[str, float | None] = {}
    fewer = 1.0  # papers kept, by those that would be in proportion
    for (unit, read), share in zip(_READ.items(), (of_weights, whole.share), strict=True):
        n_read, n_kept, n_doubled = (
            whole.counts[f"{unit} {what}"] for what in (read, "kept", "doubled")
        )
        in_half = sum(half.counts[f"{unit} doubled"] for half in halves) / 2
        times = min(4.0, max(2.0, n_doubled / in_half)) if in_half else None
        growth[unit] = times
        all_doubled = n_doubled * (1 / share) ** log2(times or 2)
        candidates = (n_kept + n_doubled) / share * fewer
        kept = max(0.0, candidates - all_doubled)
        fewer = kept * share / max(1, n_kept)
        found[f"{unit} {read}"] = round(n_read / share)
        found[f"{unit} kept"] = round(kept)
        found[f"{unit} doubled"] = round(candidates - kept)
    return found, growth


def _extrapolate_rows(
    whole: _Measured, counts: Mapping[str, int], recipe: PapersRecipe
) -> tuple[Mapping[str, Mapping[str, int]], str]:
    """Return the rows of the corpus by config and split, and why there are none, or nothing."""
    pairs, splits = whole.rows.pairs, recipe.splitting.splits
    factor = counts["pairs kept"] / max(1, pairs.n_rows)
    classes = {key: round(n * factor) for key, n in pairs.classes.items()}
    names = recipe.rules.phrases.label_names
    rows = {
        UNBALANCED: {
            split: sum(n for (number, *_), n in classes.items() if SPLITS[number] == split)
            for split in splits
        }
    }
    try:
        sizes = class_sizes(classes, splits, whole.rows.domains, names, recipe.per_class)
    except CorpusError as error:
        return rows, str(error)
    balanced = replace(pairs, sizes=sizes)
    return {"default": {split: balanced.n_balanced(split) for split in splits}, **rows}, ""


def _scatter(
    whole: _Measured, shards: Sequence[CorpusShard], weights: Sequence[float]
) -> dict[str, float]:
    """Return of each count the standard error as a share of it, by the shards of the sample.

    Balanced classes are as large as the smallest of them.
    """
    pairs = whole.rows.pairs
    smallest = {
        place: min(range(pairs.n_labels), key=lambda label: pairs.classes[*place, label])
        for place in pairs.sizes
    }
    kept, balanced = [0] * len(shards), [0] * len(shards)
    keys = ["shard", "split", "domain", "label"]
    for path in pairs.files:
        classes = pq.read_table(path, columns=keys).group_by(keys).aggregate([([], "count_all")])
        for found in classes.to_pylist():
            kept[found["shard"]] += found["count_all"]
            if found["label"] == smallest[found["split"], found["domain"]]:
                balanced[found["shard"]] += found["count_all"]
    n_bytes = [shard.n_bytes for shard in shards]
    counted = {
        "papers read": (
            [pq.read_metadata(shard.folder / PAPERS).num_rows for shard in shards],
            weights,
        ),
        "pairs found": (
            [sum(ShardReport.read(shard.folder).found.values()) for shard in shards],
            n_bytes,
        ),
        "pairs kept": (kept, n_bytes),
        _BALANCED_ROWS: (balanced, n_bytes),
    }
    unsampled = max(0.0, 1 - whole.share)
    return {count: sqrt(unsampled) * _standard_error(*values) for count, values in counted.items()}


def _standard_error(counts: Sequence[int], sizes: Sequence[float]) -> float:
    """Return the standard error of a ratio as a share of it, over n clusters of given sizes."""
    n, total = len(counts), sum(counts)
    ratio = total / max(1, sum(sizes))
    squares = sum((count - ratio * size) ** 2 for count, size in zip(counts, sizes, strict=True))
    return sqrt(squares * n / (n - 1)) / total if n > 1 and total else 0.0


def _project(whole: _Measured, half: _Measured | None, what: str) -> dict[str, float]:
    """Return what the corpus takes: the whole sample, and for the rest what half of it added.

    At least half of it grows, so that chance has bounds.
    """
    found = {}
    for name, value in getattr(whole, what).items():
        slope = value / whole.share
        if half is not None:
            added = (value - getattr(half, what)[name]) / (whole.share - half.share)
            slope = min(slope, max(slope / 2, added))
        found[name] = value + slope * (1 - whole.share)
    return found


def _size(files: Sequence[PaperFile]) -> int:
    return sum(file.size for file in files)


def _disk(folder: Path, is_texts: bool | None = None) -> int:
    """Return the bytes of the files below a folder; of texts alone, or of all but these."""
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and is_texts in (None, path.name == TEXTS)
    )


def _now() -> tuple[float, float]:
    """Return the time of processors that this process and its workers took, and that of a clock."""
    spent = os.times()
    return sum(spent[:4]), spent.elapsed


def _peak_bytes(num_proc: int) -> int:
    """Return the peak memory of a worker, or of this process where it does the work."""
    try:
        import resource
    except ImportError:  # on Windows
        return 0
    who = resource.RUSAGE_CHILDREN if num_proc > 1 else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
