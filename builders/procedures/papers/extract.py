"""Read one shard of a corpus and write its pairs: what a worker does, on any engine."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from xxhash import xxh3_64_intdigest

from ....loaders.atomic_write import whole_folder
from ....loaders.corpora.papers.files import PaperFile
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import Paper, SkippedPaper, SplitSentences
from ....loaders.corpora.papers.read import read_papers
from ...core.keyed import order_preserving
from .arrays import Words, draw, mix
from .pairs import PairBlock, PairRules, by_category, find_pairs

if TYPE_CHECKING:
    from ..shards import CorpusShard

TEXTS, PAIRS, PAPERS, REPORT = "texts.arrow", "pairs.parquet", "papers.parquet", "report.json"

#: The texts of the pairs, row by row beside ``PAIR_SCHEMA``.
TEXT_SCHEMA = pa.schema({"premise": pa.string(), "hypothesis": pa.string()})
#: What pairs are chosen by. Words of 64 bits are ``order_preserving``.
PAIR_SCHEMA = pa.schema(
    {
        "shard_key": pa.int64(),
        "pair": pa.int32(),  # row
        "paper": pa.int32(),  # row of the shard's papers
        "category": pa.int16(),  # number of the category
        "first": pa.int32(),
        "second": pa.int32(),
        "order_key": pa.int64(),
        "draw_key": pa.int64(),  # decides what is cut, apart from the order
        "draw_bucket": pa.int32(),  # its upper bits
        "texts_key": pa.int64(),  # of premise and hypothesis
        "premise_key": pa.int64(),
        "second_key": pa.int64(),  # of the sentence that the hypothesis is, whole
    }
)
PAPER_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "year": pa.int16(),
        "domain": pa.string(),
        "hash": pa.binary(16),
        "n_sentences": pa.int32(),
        "file": pa.string(),
        "line": pa.int64(),
    }
)
_BUCKET_BITS = 16
_ROW_GROUP_ROWS = 120_000
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True)
class Job:
    """What a worker does with each shard; it can be sent to another process or machine.

    Attributes:
        rules: How pairs are taken.
        split_sentences: Cuts paragraphs into sentences where a file does not.
        metadata: Years and domains of papers whose files do not state them.
    """

    rules: PairRules
    split_sentences: SplitSentences
    metadata: Metadata

    def run(self, shard: "CorpusShard") -> None:
        """Write the pairs, papers and counts of a shard, whole or not at all.

        What cannot be read is skipped and reported.

        Raises:
            OutputError: The folder cannot be written.
        """
        skipped: list[SkippedPaper] = []
        found: Counter[str] = Counter()
        dropped: Counter[tuple[str, str]] = Counter()
        key = shard_key(shard.folder)
        with whole_folder(shard.folder, lambda _: True) as work, ExitStack() as stack:
            texts = stack.enter_context(
                pa.ipc.new_file(str(work / TEXTS), TEXT_SCHEMA, options=_COMPRESSED)
            )
            pairs = stack.enter_context(_RowGroups(work / PAIRS, PAIR_SCHEMA))
            papers = stack.enter_context(_RowGroups(work / PAPERS, PAPER_SCHEMA))
            for block in find_pairs(self._papers(shard.files, skipped), self.rules):
                texts.write(_text_batch(block))
                pairs.write(_pair_batch(block, key, pairs.n_rows, papers.n_rows))
                papers.write(_paper_batch(block))
                found += block.found
                dropped += block.dropped
            ShardReport(skipped, dict(sorted(found.items())), by_category(dropped)).write(work)

    def identity(self) -> list[Any]:
        """Return all that the pairs of a paper depend on, besides paper and code."""
        splitter = self.split_sentences
        return [
            self.rules.as_json(),
            f"{splitter.__module__}.{splitter.__qualname__}",
            [f"{name} {installed_version(name)}" for name in ("nupunkt", "orjson", "pyarrow")],
            sorted(self.metadata.years.items()),
            sorted(self.metadata.domains.items()),
            self.metadata.domain,
        ]

    def modules(self) -> list[str]:
        """Return the modules that the pairs of a paper depend on, with all that these import."""
        return [__name__, self.split_sentences.__module__]

    def is_final(self, folder: Path) -> bool:
        """Return whether reading again would give the same."""
        return ShardReport.read(folder).is_final

    def _papers(self, files: Sequence[PaperFile], skipped: list[SkippedPaper]) -> Iterator[Paper]:
        for file in files:
            for found in read_papers(file, self.split_sentences):
                if isinstance(found, SkippedPaper):
                    skipped.append(found)
                else:
                    yield self.metadata.complete(found)


@dataclass(frozen=True)
class ShardReport:
    """What was not taken from a shard of papers.

    Attributes:
        skipped: Files and papers that were not read.
        found: Number of pairs found, by category.
        dropped: Number of pairs dropped, by category and reason.
    """

    skipped: Sequence[SkippedPaper]
    found: dict[str, int]
    dropped: dict[str, dict[str, int]]

    def write(self, folder: Path) -> None:
        """Write the report into the shard's folder."""
        text = json.dumps(asdict(self), ensure_ascii=False)
        (folder / REPORT).write_text(text, encoding="utf-8", errors="surrogatepass")

    @classmethod
    def read(cls, folder: Path) -> "ShardReport":
        """Read the report from a shard's folder."""
        text = (folder / REPORT).read_text(encoding="utf-8", errors="surrogatepass")
        fields: dict[str, Any] = json.loads(text)
        return cls(**fields | {"skipped": tuple(SkippedPaper(**one) for one in fields["skipped"])})

    @property
    def is_final(self) -> bool:
        """Whether reading again would give the same; not where a file could not be read."""
        return not any(entry.reason == "unreadable" for entry in self.skipped)


def shard_key(folder: Path) -> int:
    """Return a number that names a shard in SQL, of the name of its folder."""
    return int.from_bytes(sha256(folder.name.encode()).digest()[:8], "big", signed=True)


class _RowGroups:
    """Writes batches as a Parquet file with row groups that are not small."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0
        self.n_rows = 0

    def __enter__(self) -> "_RowGroups":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self.n_rows += len(batch)
        self._n_waiting += len(batch)
        if self._n_waiting >= _ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting, self._writer.schema))
        self._waiting, self._n_waiting = [], 0


def _text_batch(block: PairBlock) -> pa.RecordBatch:
    columns = {"premise": block.premises, "hypothesis": block.hypotheses}
    return pa.RecordBatch.from_pydict(columns, schema=TEXT_SCHEMA)


def _pair_batch(block: PairBlock, key: int, n_pairs: int, n_papers: int) -> pa.RecordBatch:
    n = len(block.order)
    drawn = draw(block.order, 1)
    premise = _hash(block.premises)
    columns = {
        "shard_key": np.full(n, key, np.int64),
        "pair": np.arange(n_pairs, n_pairs + n),
        "paper": block.paper + n_papers,
        "category": block.category,
        "first": block.first,
        "second": block.second,
        "order_key": order_preserving(block.order),
        "draw_key": order_preserving(drawn),
        "draw_bucket": (drawn >> np.uint64(64 - _BUCKET_BITS)).astype(np.int32),
        "texts_key": order_preserving(mix(premise) ^ _hash(block.hypotheses)),
        "premise_key": order_preserving(premise),
        "second_key": order_preserving(_hash(block.seconds)),
    }
    return pa.RecordBatch.from_pydict(columns, schema=PAIR_SCHEMA)


def _hash(texts: Sequence[bytes]) -> Words:
    """Return hashes of 64 bits: two of a billion are the same by chance once in forty."""
    return np.array([xxh3_64_intdigest(text) for text in texts], np.uint64)


def _paper_batch(block: PairBlock) -> pa.RecordBatch:
    papers = block.papers
    columns: dict[str, Any] = {
        name: [getattr(paper, name) for paper in papers]
        for name in ("id", "year", "domain", "file", "line")
    }
    columns |= {"hash": list(block.paper_hashes), "n_sentences": block.n_sentences}
    return pa.RecordBatch.from_pydict(columns, schema=PAPER_SCHEMA)
