"""Decide which pairs are taken: no texts twice, no sentence in two splits.

Every decision is by keyed hashes of ids and positions, so that neither the order of the shards nor
how they were cut matters. Texts stay on disk until they are written.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...core.schema import SPLITS
from .arrays import Flags, Numbers, Words, draw, mix
from .balance import balance, class_sizes
from .extract import PAIRS, ShardReport, read_shard_table
from .pairs import PairRules, PairTally, by_category
from .select_papers import Papers

NOT_TAKEN = "its paper is not taken"
SAME_TEXTS = "the same texts again"
IN_TWO_SPLITS = "one of its sentences is in another split"


@dataclass(frozen=True)
class Pairs:
    """The pairs of a corpus, by number in the order of the shards.

    Attributes:
        label: For each pair the id of its label.
        split: The number of its split in ``SPLITS``, or -1 where it is not taken.
        domain: The number of its domain.
        is_balanced: Whether it is left when the larger classes are cut.
        starts: The first pair of each shard, and the end.
        counts: By category the numbers of pairs found (``read``), taken (``kept``) and, by reason,
            ``dropped``.
    """

    label: Numbers
    split: Numbers
    domain: Numbers
    is_balanced: Flags
    starts: Numbers
    counts: Mapping[str, Mapping[str, Any]]

    def n_balanced(self, split: str) -> int:
        """Return how many pairs of a split are left when the larger classes are cut."""
        return int((self.is_balanced & (self.split == SPLITS.index(split))).sum())


def select_pairs(
    folders: Sequence[Path],
    papers: Papers,
    rules: PairRules,
    splits: Sequence[str],
    quotas: Mapping[str, int],
) -> Pairs:
    """Decide which pairs of papers are taken, and which are left when classes are balanced.

    Of several pairs with the same two texts the one with the lowest hash is taken. A sentence is in
    one split only, of test, train and validation the first that has it.

    Args:
        folders: The folders of the shards.
        papers: Their papers.
        rules: How the pairs were made.
        splits: The splits that have pairs.
        quotas: By split, pairs of each class and domain; without one, those of its smallest class.

    Raises:
        CorpusError: A split and domain has no pair of a class, or fewer than its quota.
    """
    phrases = rules.phrases
    columns = ("category", "paper", "order", "premise_hash", "hypothesis_hash", "second_hash")
    tables = [read_shard_table(folder, PAIRS, columns) for folder in folders]
    starts = np.cumsum([0, *map(len, tables)])
    rows = pa.concat_tables(tables)
    category = rows["category"].to_numpy().astype(np.int64)
    paper = rows["paper"].to_numpy() + np.repeat(papers.starts[:-1], np.diff(starts))
    order, premise, hypothesis, second = (rows[name].to_numpy() for name in columns[2:])
    split, domain = papers.split[paper], papers.domain[paper]
    tally = _sum_up(folders, phrases.categories)
    tally.drop(category[split < 0], NOT_TAKEN)
    again = _is_again(mix(premise) ^ hypothesis, order, split >= 0)
    tally.drop(category[again], SAME_TEXTS)
    split = np.where(again, -1, split)
    doubled = _is_in_two_splits(split, premise, second)
    tally.drop(category[doubled], IN_TWO_SPLITS)
    split = np.where(doubled, -1, split)
    label = np.array(phrases.label_of_category)[category]
    sizes = class_sizes(label, split, domain, splits, papers.domains, phrases.label_names, quotas)
    taken = Counter(phrases.categories[number] for number in category[split >= 0].tolist())
    dropped = by_category(tally.dropped)
    return Pairs(
        label=label,
        split=split,
        domain=domain,
        is_balanced=balance(label, split, domain, draw(order, 1), sizes),
        starts=starts,
        counts={
            name: {
                "read": tally.found[name],
                "kept": taken[name],
                "dropped": dropped.get(name, {}),
            }
            for name in phrases.categories
        },
    )


def taken_pairs(folders: Sequence[Path], papers: Papers, pairs: Pairs) -> Iterator[pa.Table]:
    """Yield the taken pairs of each shard, with their ``number`` and that of their ``paper``."""
    for folder, paper, start, end in zip(
        folders, papers.starts, pairs.starts, pairs.starts[1:], strict=False
    ):
        here = np.flatnonzero(pairs.split[start:end] >= 0)
        table = read_shard_table(folder, PAIRS).take(pa.array(here))
        table = table.append_column("number", pa.array(start + here))
        numbers = table["paper"].to_numpy() + paper
        place = table.schema.get_field_index("paper")
        yield table.set_column(place, "paper", pa.array(numbers, pa.int64()))


def _is_again(texts: Words, order: Words, is_candidate: Flags) -> Flags:
    """Return which candidates have the texts of one that comes before them."""
    ranked = np.lexsort((order, texts))
    ranked = ranked[is_candidate[ranked]]
    again = np.zeros(len(texts), bool)
    again[ranked[1:]] = texts[ranked[1:]] == texts[ranked[:-1]]
    return again


def _is_in_two_splits(split: Numbers, one: Words, other: Words) -> Flags:
    """Return which pairs have a sentence that a pair of an earlier split has."""
    found = np.zeros(len(split), bool)
    seen = np.zeros(0, np.uint64)
    for name in ("test", "train", "validation"):
        members = np.flatnonzero(split == SPLITS.index(name))
        doubled = np.isin(one[members], seen) | np.isin(other[members], seen)
        found[members[doubled]] = True
        left = members[~doubled]
        seen = np.unique(np.concatenate([seen, one[left], other[left]]))
    return found


def _sum_up(folders: Sequence[Path], categories: Sequence[str]) -> PairTally:
    """Sum up the reports of the shards."""
    tally = PairTally(categories)
    for folder in folders:
        report = ShardReport.read(folder)
        tally.found.update(report.found)
        for category, reasons in report.dropped.items():
            tally.dropped.update({(category, reason): n for reason, n in reasons.items()})
    return tally
