"""From the pairs of all shards to splits: one paper in one split, no pair twice, classes balanced.

Every decision is by keyed hashes of ids and positions, so that neither the order of the shards nor
how they were cut matters. Texts stay on disk until they are written.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from ....loaders.corpora.papers.paper import Skipped
from ....loaders.errors import CorpusError
from ...declared.papers import UNBALANCED
from ...schema import SPLITS, is_name
from .draws import Words
from .extract import PAIR_SCHEMA, PAIRS, PAPER_SCHEMA, PAPERS, ShardReport
from .procedure import Procedure
from .splits import Splitting, is_split

SAME_PAPER = "the same paper again"
SAME_ID = "another paper has its id"
NO_DOMAIN = "the paper has no domain"
NO_NAME = "its domain is no snake_case name, or that of another config"
SAME_TEXTS = "the same texts again"
NOT_IN_SPLIT = "its paper is not taken"

#: Names of configs that are no domains.
RESERVED = ("default", UNBALANCED)

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Papers:
    """The papers of a corpus.

    Attributes:
        table: One row a paper, in the order of the shards.
        starts: The first row of each shard, and the end.
        split: For each paper its number in ``SPLITS``, or -1.
        domain: For each paper its number in ``domains``, or -1.
        domains: The domains, in alphabetical order.
        dropped: Number of papers by the reason why they are in no split.
    """

    table: pa.Table
    starts: Numbers
    split: Numbers
    domain: Numbers
    domains: Sequence[str]
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a corpus that are taken, by number in the order of the shards.

    Attributes:
        label: For each pair the id of its label.
        split: The number of its split in ``SPLITS``, or -1 where it is not taken.
        domain: The number of its domain.
        order: Its keyed hash.
        is_balanced: Whether it is left when the larger classes are cut.
        starts: The first pair of each shard, and the end.
        kept: Number of pairs that are taken, by category.
        dropped: Number of the others, by category and reason.
    """

    label: Numbers
    split: Numbers
    domain: Numbers
    order: Words
    is_balanced: Flags
    starts: Numbers
    kept: Mapping[str, int]
    dropped: Mapping[str, Mapping[str, int]]


def read_table(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A table of a shard, of which only the columns asked for are read."""
    schema = PAIR_SCHEMA if name == PAIRS else PAPER_SCHEMA
    chosen = [schema.get_field_index(column) for column in columns or schema.names]
    options = pa.ipc.IpcReadOptions(included_fields=chosen)
    with pa.OSFile(str(folder / name)) as file:
        return pa.ipc.open_file(file, options=options).read_all()


def take_papers(folders: Sequence[Path], splitting: Splitting, seed: int) -> Papers:
    """Decides which papers are taken, and into which split.

    Of several papers with one id the one with the lowest hash is taken, whichever came first.

    Args:
        folders: The folders of the shards.
        splitting: How papers are split.
        seed: Decides random choices.
    """
    tables = [read_table(folder, PAPERS) for folder in folders]
    starts = np.cumsum([0, *map(len, tables)])
    table = pa.concat_tables(tables)
    rows = zip(*(table[c].to_pylist() for c in ("id", "year", "domain", "hash")), strict=True)
    lowest: dict[str, tuple[bytes, int]] = {}
    for number, (key, hash_) in enumerate(
        zip(table["id"].to_pylist(), table["hash"].to_pylist(), strict=True)
    ):
        lowest[key] = min(lowest.get(key, (hash_, number)), (hash_, number))
    found = table["domain"].unique().to_pylist()
    domains = sorted(d for d in found if d and is_name(d) and d not in RESERVED)
    split = np.full(len(table), -1, np.int64)
    domain = np.full(len(table), -1, np.int64)
    dropped: Counter[str] = Counter()
    for number, (key, year, its_domain, hash_) in enumerate(rows):
        first_hash, first = lowest[key]
        if first != number:
            reason = SAME_PAPER if hash_ == first_hash else SAME_ID
        elif its_domain is None:
            reason = NO_DOMAIN
        elif its_domain not in domains:
            reason = NO_NAME
        else:
            reason = splitting.split_of(key, year, seed)
            if is_split(reason):
                split[number] = SPLITS.index(reason)
                domain[number] = domains.index(its_domain)
                continue
        dropped[reason] += 1
    return Papers(table, starts, split, domain, domains, dict(sorted(dropped.items())))


def take_pairs(
    folders: Sequence[Path],
    papers: Papers,
    procedure: Procedure,
    splits: Sequence[str],
    quotas: Mapping[str, int],
) -> Pairs:
    """Decides which pairs are taken, and which are left when classes are balanced.

    Of several pairs with the same two texts the one with the lowest hash is taken. In each split
    and domain the larger classes are cut to the smallest (SciNLI, section 3.4).

    Args:
        folders: The folders of the shards.
        papers: Their papers.
        procedure: How the pairs were made.
        splits: The splits that have pairs.
        quotas: By split, how many pairs of each class and domain are left when classes are
            balanced; without one, as many as the smallest class has.

    Raises:
        CorpusError: A split and domain has no pair of a class, or fewer than its quota.
    """
    phrases = procedure.phrases
    names = phrases.categories
    label_of_category = np.array(phrases.label_of_category)
    category, paper, order, texts = _read_pairs(folders, papers)
    starts = np.cumsum([0, *(len(part) for part in category)])
    category_of, paper_of = np.concatenate(category), np.concatenate(paper)
    order_of, texts_of = np.concatenate(order), np.concatenate(texts)
    split, domain = papers.split[paper_of], papers.domain[paper_of]
    dropped = _dropped_in_shards(folders)
    _count(dropped, names, category_of[split < 0], NOT_IN_SPLIT)
    again = (split >= 0) & _is_again(texts_of, order_of, split >= 0)
    _count(dropped, names, category_of[again], SAME_TEXTS)
    split = np.where(again, -1, split)
    kept = Counter(names[c] for c in category_of[split >= 0])
    label = label_of_category[category_of]
    sizes = class_sizes(label, split, domain, splits, papers.domains, phrases.label_names, quotas)
    balanced = balance(label, split, domain, order_of, sizes)
    return Pairs(
        label=label,
        split=split,
        domain=domain,
        order=order_of,
        is_balanced=balanced,
        starts=starts,
        kept={name: kept[name] for name in names},
        dropped={name: dict(sorted(dropped[name].items())) for name in names},
    )


def skipped_in(folders: Sequence[Path]) -> list[Skipped]:
    """Files and papers that were not read, by file and line."""
    found = [entry for folder in folders for entry in ShardReport.read(folder).skipped]
    return sorted(found, key=lambda entry: (entry.file, entry.line, entry.reason, entry.detail))


def corpus_hash(papers: Papers) -> str:
    """A hash of the ids, years, domains and sentences of the papers that are taken."""
    taken = papers.table.filter(pa.array(papers.split >= 0))
    rows = zip(*(taken[c].to_pylist() for c in ("id", "year", "domain", "hash")), strict=True)
    digest = sha256()
    for key, year, domain, hash_ in sorted(rows, key=lambda row: row[0]):
        digest.update(f"{key}\n{year}\n{domain}\n{hash_.hex()}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _read_pairs(
    folders: Sequence[Path], papers: Papers
) -> tuple[list[Numbers], list[Numbers], list[Words], list[Words]]:
    """For each shard: categories, papers, orders and hashes of the texts of its pairs."""
    category, paper, order, texts = [], [], [], []
    for folder, start in zip(folders, papers.starts, strict=False):
        table = read_table(folder, PAIRS, ("category", "paper", "order", "texts"))
        category.append(table["category"].to_numpy().astype(np.int64))
        paper.append(table["paper"].to_numpy().astype(np.int64) + start)
        order.append(table["order"].to_numpy())
        texts.append(table["texts"].to_numpy())
    return category, paper, order, texts


def _is_again(texts: Words, order: Words, is_candidate: Flags) -> Flags:
    """Which pairs have the texts of a candidate that comes before them."""
    ranked = np.lexsort((order, texts))
    ranked = ranked[is_candidate[ranked]]
    again = np.zeros(len(texts), bool)
    again[ranked[1:]] = texts[ranked[1:]] == texts[ranked[:-1]]
    return again


def class_sizes(
    label: Numbers,
    split: Numbers,
    domain: Numbers,
    splits: Sequence[str],
    domains: Sequence[str],
    labels: Sequence[str],
    quotas: Mapping[str, int],
) -> dict[tuple[int, int], int]:
    """How many pairs of each class a split and domain has when its classes are balanced.

    Args:
        label: n ids of labels.
        split: n numbers of splits, -1 for what is not taken.
        domain: n numbers of domains.
        splits: The splits that have pairs.
        domains: The domains.
        labels: The label set.
        quotas: As for ``take_pairs``.

    Raises:
        CorpusError: A split and domain has no pair of a class, or fewer than its quota.
    """
    sizes: dict[tuple[int, int], int] = {}
    problems = []
    for name, (number, its_domain) in product(splits, enumerate(domains)):
        key = (SPLITS.index(name), number)
        here = (split == key[0]) & (domain == number)
        counts = np.bincount(label[here], minlength=len(labels))
        sizes[key] = wanted = quotas.get(name, max(int(counts.min()), 1))
        if counts.min() < wanted:
            listed = ", ".join(f"{n:,} {label}" for label, n in zip(labels, counts, strict=True))
            problems.append(f"{name} of {its_domain} has {listed}")
            problems[-1] += f", expected {wanted:,} or more of each"
    if problems:
        raise CorpusError(
            f"The corpus is too small: {'; '.join(problems)}. Give more papers, split them "
            "otherwise, or ask for less."
        )
    return sizes


def balance(
    label: Numbers,
    split: Numbers,
    domain: Numbers,
    order: Words,
    sizes: Mapping[tuple[int, int], int],
) -> Flags:
    """Which pairs are left: of each class those with the lowest hashes."""
    is_left = np.zeros(len(label), bool)
    ranked = np.lexsort((order, label, domain, split))
    keys = np.stack([split[ranked], domain[ranked], label[ranked]])
    begins = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    for begin in begins if len(ranked) else ():
        size = sizes.get((int(keys[0, begin]), int(keys[1, begin])), 0)
        is_left[ranked[begin : begin + size]] = True
    return is_left


def _dropped_in_shards(folders: Sequence[Path]) -> dict[str, Counter[str]]:
    dropped: dict[str, Counter[str]] = {}
    for folder in folders:
        for category, reasons in ShardReport.read(folder).dropped.items():
            dropped.setdefault(category, Counter()).update(reasons)
    return dropped


def _count(
    dropped: dict[str, Counter[str]], names: Sequence[str], categories: Numbers, reason: str
) -> None:
    for number, count in enumerate(np.bincount(categories, minlength=len(names))):
        counts = dropped.setdefault(names[number], Counter())
        if count:
            counts[reason] += int(count)


def taken_pairs(folders: Sequence[Path], papers: Papers, pairs: Pairs) -> Iterator[pa.Table]:
    """The pairs of each shard that are taken, with their ``number`` and that of their ``paper``."""
    for folder, paper, start, end in zip(
        folders, papers.starts, pairs.starts, pairs.starts[1:], strict=False
    ):
        here = np.flatnonzero(pairs.split[start:end] >= 0)
        table = read_table(folder, PAIRS).take(pa.array(here))
        table = table.append_column("number", pa.array(start + here))
        numbers = table["paper"].to_numpy() + paper
        place = table.schema.get_field_index("paper")
        yield table.set_column(place, "paper", pa.array(numbers, pa.int64()))
