"""Read one shard of a corpus and write its pairs: what a worker does, on any engine."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from xxhash import xxh3_64_intdigest

from ....loaders.atomic_write import whole_folder
from ....loaders.corpora.papers.files import PaperFile
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import Paper, SkippedPaper, SplitSentences
from ....loaders.corpora.papers.read import read_papers
from .arrays import Words
from .pairs import PairBlock, PairRules, by_category, find_pairs

if TYPE_CHECKING:
    from ..shards import CorpusShard

PAIRS, PAPERS, REPORT = "pairs.arrow", "papers.arrow", "report.json"

PAIR_SCHEMA = pa.schema(
    {
        "premise": pa.string(),
        "hypothesis": pa.string(),
        "category": pa.int16(),  # number of the category
        "paper": pa.int32(),  # row of the shard's papers
        "first": pa.int32(),
        "second": pa.int32(),
        "order": pa.uint64(),
        "premise_hash": pa.uint64(),
        "hypothesis_hash": pa.uint64(),
        "second_hash": pa.uint64(),  # of the sentence that the hypothesis is, whole
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
        n_papers = 0
        with whole_folder(shard.folder, lambda _: True) as work, ExitStack() as stack:
            pairs = stack.enter_context(pa.ipc.new_file(str(work / PAIRS), PAIR_SCHEMA))
            papers = stack.enter_context(pa.ipc.new_file(str(work / PAPERS), PAPER_SCHEMA))
            for block in find_pairs(self._papers(shard.files, skipped), self.rules):
                pairs.write(_pair_batch(block, n_papers))
                papers.write(_paper_batch(block))
                found += block.found
                dropped += block.dropped
                n_papers += len(block.papers)
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


def read_shard_table(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read some columns of a table of a shard: its ``PAIRS`` or its ``PAPERS``; by default all."""
    schema = PAIR_SCHEMA if name == PAIRS else PAPER_SCHEMA
    chosen = [schema.get_field_index(column) for column in columns or schema.names]
    options = pa.ipc.IpcReadOptions(included_fields=chosen)
    with pa.OSFile(str(folder / name)) as file:
        return pa.ipc.open_file(file, options=options).read_all()


def _pair_batch(block: PairBlock, n_before: int) -> pa.RecordBatch:
    columns = {
        "premise": block.premises,
        "hypothesis": block.hypotheses,
        "category": block.category,
        "paper": block.paper + n_before,
        "first": block.first,
        "second": block.second,
        "order": block.order,
        "premise_hash": _hash(block.premises),
        "hypothesis_hash": _hash(block.hypotheses),
        "second_hash": _hash(block.seconds),
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
