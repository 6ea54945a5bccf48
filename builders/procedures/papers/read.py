"""Read the papers of a shard into candidate pairs: their rows, and the keys to choose by."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from ....loaders.corpora.papers.files import PaperFile
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import Paper, SkippedPaper, SplitSentences
from ....loaders.corpora.papers.read import read_papers
from ...core.encode import encode
from ...core.keyed import draw, mix, order_preserving
from ...core.schema import IN_NO_SPLIT, SPLITS, is_name, uniform_features
from ...dataflow.order import ORDER_KEY, ROWS
from ...dataflow.tables import TableWriter
from ..splits import NO_YEARS, OTHER_YEAR, Place, Splitting
from .declaration import EXTRA, UNBALANCED
from .neutral import Words
from .pairs import PairBlock, PairRules, find_pairs

if TYPE_CHECKING:
    from datasets import Features

    from ...dataflow.work import Shard

NO_DOMAIN = "the paper has no domain"
NO_NAME = "its domain is no snake_case name, or that of another config"
#: Names of configs that are no domains.
_RESERVED = ("default", UNBALANCED)

PAPERS, PAIRS, COUNTS = "papers", "pairs", "counts"
#: The papers of a shard, and the files and records that are none. SQL has no unsigned numbers, so
#: words of 64 bits are ``order_preserving``.
PAPER_SCHEMA = pa.schema(
    {
        "shard": pa.int64(),
        "paper": pa.int32(),  # its number in the shard; null where it was not read
        "id": pa.string(),
        "hash_high": pa.int64(),  # of its sentences
        "hash_low": pa.int64(),
        "year": pa.int16(),
        "domain": pa.string(),
        "n_sentences": pa.int32(),
        "split": pa.int8(),  # its number in SPLITS, or IN_NO_SPLIT
        "reason": pa.string(),  # why it is in none
        "detail": pa.string(),
        "file": pa.string(),
        "line": pa.int64(),
    }
)
#: What pairs are chosen by, row by row of the table ``rows``.
PAIR_SCHEMA = pa.schema(
    {
        "shard": pa.int64(),
        "row": pa.int32(),
        "paper": pa.int32(),
        "category": pa.int16(),  # number of the category
        "order_key": pa.int64(),
        "draw_key": pa.int64(),  # decides what is cut, apart from the order
        "texts_key": pa.int64(),  # of premise and hypothesis
        "premise_key": pa.int64(),
        "second_key": pa.int64(),  # of the sentence that the hypothesis is, whole
    }
)
#: How many pairs were found (no reason), and dropped.
COUNT_SCHEMA = pa.schema({"category": pa.string(), "reason": pa.string(), "n": pa.int64()})
_GROUP_ROWS = 120_000


@dataclass(frozen=True)
class ReadPapers:
    """Reads the papers of a shard.

    Attributes:
        rules: How pairs are taken.
        split_sentences: Cuts paragraphs into sentences where a file does not.
        metadata: Years and domains of papers whose files do not state them.
        splitting: How papers are split.
    """

    rules: PairRules
    split_sentences: SplitSentences
    metadata: Metadata
    splitting: Splitting

    def __call__(self, shard: "Shard", folder: Path) -> None:
        """Write the tables ``rows``, ``pairs``, ``papers`` and ``counts``."""
        features = uniform_features(self.rules.phrases.label_names, EXTRA)
        rows_schema = pa.schema([ORDER_KEY, *features.arrow_schema])
        counts: Counter[tuple[str, str | None]] = Counter()
        with ExitStack() as stack:
            rows = stack.enter_context(TableWriter(folder, ROWS, rows_schema, _GROUP_ROWS))
            pairs = stack.enter_context(TableWriter(folder, PAIRS, PAIR_SCHEMA, _GROUP_ROWS))
            papers = stack.enter_context(TableWriter(folder, PAPERS, PAPER_SCHEMA))
            found = self._papers(shard.files, shard.key, papers)
            n_papers = 0
            for block in find_pairs(found, self.rules):
                pairs.write(_pair_batch(block, shard.key, rows.n_rows, n_papers))
                if len(block.paper):
                    rows.write(self._row_batch(block, features, rows_schema))
                for number, paper in enumerate(block.papers):
                    self._add_paper(papers, shard.key, n_papers + number, paper, block, number)
                n_papers += len(block.papers)
                counts.update({(category, None): n for category, n in block.found.items()})
                counts.update(block.dropped)
            table = stack.enter_context(TableWriter(folder, COUNTS, COUNT_SCHEMA))
            for (category, reason), n in sorted(counts.items(), key=str):
                table.add(category, reason, n)

    def _papers(
        self, files: Sequence[PaperFile], shard: int, papers: TableWriter
    ) -> Iterator[Paper]:
        """Yield the papers that are in a split; add the others, and what is no paper."""
        for file in files:
            for found in read_papers(file, self.split_sentences):
                if isinstance(found, SkippedPaper):
                    reason = _printable(found.reason), _printable(found.detail)
                    place = _printable(found.file), found.line
                    papers.add(shard, *[None] * 7, IN_NO_SPLIT, *reason, *place)
                    continue
                paper = self.metadata.complete(found)
                place_ = place_paper(paper, self.splitting, self.rules.seed)
                if place_.split is not None:
                    yield paper
                    continue
                papers.add(
                    *(shard, None, paper.id, None, None, paper.year or 0, paper.domain, None),
                    *(IN_NO_SPLIT, place_.reason, _detail(paper, place_.reason)),
                    *(paper.file, paper.line),
                )

    def _add_paper(
        self,
        papers: TableWriter,
        shard: int,
        number: int,
        paper: Paper,
        block: PairBlock,
        in_block: int,
    ) -> None:
        split = place_paper(paper, self.splitting, self.rules.seed).split or ""
        high, low = np.frombuffer(block.paper_hashes[in_block], ">u8").astype(np.uint64)
        hashes = order_preserving(np.array([high, low])).tolist()
        papers.add(
            *(shard, number, paper.id, *hashes, paper.year or 0, paper.domain),
            *(int(block.n_sentences[in_block]), SPLITS.index(split), None, None),
            *(paper.file, paper.line),
        )

    def _row_batch(
        self, block: PairBlock, features: "Features", schema: pa.Schema
    ) -> pa.RecordBatch:
        """Return the rows of pairs in the dataset's schema, after their order."""
        phrases = self.rules.phrases
        papers = [block.papers[number] for number in block.paper.tolist()]
        places = zip(papers, block.first.tolist(), block.second.tolist(), strict=True)
        ids = pa.array([f"{paper.id}:{first}:{second}" for paper, first, second in places])
        names = pa.array(phrases.categories, pa.string())
        labels = [phrases.label_of_category[number] for number in range(len(phrases.categories))]
        label_names = pa.array([phrases.label_names[label] for label in labels], pa.string())
        category = pa.array(block.category)
        table = encode(
            {
                "id": ids,
                "premise": pa.array(block.premises, pa.string()),
                "hypothesis": pa.array(block.hypotheses, pa.string()),
                "label": label_names.take(category),
                "group": pa.nulls(len(ids)),
                "category": names.take(category),
                "domain": [paper.domain for paper in papers],
                "source": ids,
                "year": pa.array([paper.year for paper in papers], pa.int32()),
            },
            features,
            features.arrow_schema,
        )
        order = pa.array(order_preserving(block.order))
        return table.add_column(0, ORDER_KEY, order).cast(schema).combine_chunks().to_batches()[0]


def place_paper(paper: Paper, splitting: Splitting, seed: int) -> Place:
    """Return the split of a paper, or why it is in none; no other paper matters."""
    if not paper.domain:
        return Place(None, NO_DOMAIN)
    if not is_name(paper.domain) or paper.domain in _RESERVED:
        return Place(None, NO_NAME)
    return splitting.place_of(paper.id, paper.domain, paper.year, seed)


def _detail(paper: Paper, reason: str) -> str:
    """Return which paper it is, and what exactly keeps it from being taken."""
    hint = {
        NO_NAME: f" has the domain {paper.domain!r}; expected small letters, digits and _",
        NO_DOMAIN: "; name one: --domain, or --metadata",
        OTHER_YEAR: f" is of {paper.year}",
        NO_YEARS: f" is of the domain {paper.domain!r}",
    }
    return f"paper {paper.id!r}{hint.get(reason, '')}"


def _pair_batch(block: PairBlock, shard: int, n_rows: int, n_papers: int) -> pa.RecordBatch:
    premise = _hash(block.premises)
    columns = {
        "shard": np.full(len(premise), shard, np.int64),
        "row": np.arange(n_rows, n_rows + len(premise)),
        "paper": block.paper + n_papers,
        "category": block.category,
        "order_key": order_preserving(block.order),
        "draw_key": order_preserving(draw(block.order, 1)),
        "texts_key": order_preserving(mix(premise) ^ _hash(block.hypotheses)),
        "premise_key": order_preserving(premise),
        "second_key": order_preserving(_hash(block.seconds)),
    }
    return pa.RecordBatch.from_pydict(columns, schema=PAIR_SCHEMA)


def _hash(texts: Sequence[str]) -> Words:
    """Return hashes of 64 bits: two of a billion are the same by chance once in forty."""
    return np.array([xxh3_64_intdigest(text.encode()) for text in texts], np.uint64)


def _printable(text: str) -> str:
    """Return a text with ``?`` for what no table can hold, halves of a character."""
    return text.encode("utf-8", "replace").decode()
