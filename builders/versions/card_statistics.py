"""Measure the statistics on a card, from the files of the built version."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core.repeats import TEXTS, contradicting_rows, first_rows, outline
from .version import BuiltVersion

_IS_BLANK = np.isin(np.arange(256), list(b" \t\n\f\r"))


@dataclass(frozen=True)
class Breakdown:
    """The distribution of labels over the rows with a property.

    Attributes:
        property: The property, e.g. an inference class.
        rows: Number of rows with the property.
        share: Their share of all rows, in percent.
        labels: Share of each label among these rows, in percent, in the order of the label set.
    """

    property: str
    rows: int
    share: float
    labels: tuple[float, ...]


@dataclass(frozen=True)
class Overlap:
    """Texts and groups that two splits of a config share.

    Attributes:
        splits: The names of the splits.
        texts: Number of shared pairs of premise and hypothesis.
        premises: Number of shared premises.
        hypotheses: Number of shared hypotheses.
        groups: Number of shared groups.
    """

    splits: tuple[str, str]
    texts: int
    premises: int
    hypotheses: int
    groups: int


@dataclass(frozen=True)
class Statistics:
    """Statistics of a built version, of ``config`` unless they name another.

    Attributes:
        config: The default config, or the first that was built.
        rows: Number of rows by config and split.
        groups: Number of groups, 0 where there are none.
        labels: Number of rows by label.
        breakdown: The distribution of labels by property; the last entry is all rows.
        mean_words: Mean number of words, split at blanks, of premise and hypothesis.
        repeated_texts: Number of rows whose premise and hypothesis an earlier row has.
        contradictory_texts: Number of texts that occur with more than one label.
        overlaps: Texts and groups shared by each two splits, which is leakage.
    """

    config: str
    rows: dict[str, dict[str, int]]
    groups: int
    labels: dict[str, int]
    breakdown: tuple[Breakdown, ...]
    mean_words: dict[str, float]
    repeated_texts: int
    contradictory_texts: int
    overlaps: tuple[Overlap, ...]


def measure_statistics(version: BuiltVersion) -> Statistics:
    """Measure the statistics on the card of a built version.

    Raises:
        UnknownNameError: This package has no dataset of that name.
        VerificationError: A file is missing or malformed, or the declaration in the manifest is.
    """
    spec = version.builder.SPEC
    configs = version.manifest.configs
    config = version.main_config
    columns = ("label", "group", *TEXTS)
    tables = {s: outline(version.batches(config, s, columns)) for s in configs[config]}
    rows = pa.concat_tables(tables.values())
    texts = first_rows(rows, TEXTS)
    contradictory = texts[contradicting_rows(texts, rows["label"])]
    kinds = _kinds(version, config)
    n_labels = _count_labels(kinds, [True] * len(kinds))
    properties = version.builder.properties(kinds)
    if len(tables) > 1:
        splits = kinds["split"].to_pylist()
        properties |= {f"split {name}": [split == name for split in splits] for name in tables}
    properties["all"] = [True] * len(kinds)
    breakdown = []
    for name, member in properties.items():
        counts = _count_labels(kinds, member)
        n_members = counts.total()
        shares = tuple(_percent(counts[label], n_members) for label in range(len(spec.labels)))
        breakdown.append(Breakdown(name, n_members, _percent(n_members, len(rows)), shares))
    return Statistics(
        config=config,
        rows={name: {s: split.rows for s, split in c.items()} for name, c in configs.items()},
        groups=pc.count_distinct(rows["group"]).as_py(),
        labels={name: n_labels[label] for label, name in enumerate(spec.labels)},
        breakdown=tuple(breakdown),
        mean_words={name: _mean_words(version, config, name) for name in TEXTS},
        repeated_texts=len(texts) - len(np.unique(texts)),
        contradictory_texts=len(np.unique(contradictory)),
        overlaps=tuple(_overlaps(tables)),
    )


def _kinds(version: BuiltVersion, config: str) -> pa.Table:
    """Count the rows by split, label and the columns that properties are made of."""
    columns = ["label", *version.builder.PROPERTY_COLUMNS]
    return pa.concat_tables(
        batch.append_column("split", pa.repeat(split, len(batch)))
        .group_by([*columns, "split"])
        .aggregate([([], "count_all")])
        for split in version.manifest.configs[config]
        for batch in version.batches(config, split, columns)
    )


def _count_labels(kinds: pa.Table, member: Sequence[bool]) -> Counter[int]:
    """Count the rows of the member kinds by label."""
    counts: Counter[int] = Counter()
    pairs = zip(kinds["label"].to_pylist(), kinds["count_all"].to_pylist(), strict=True)
    for label, n_rows in compress(pairs, member):
        counts[label] += n_rows
    return counts


def _overlaps(tables: Mapping[str, pa.Table]) -> Iterator[Overlap]:
    for one, other in combinations(tables, 2):
        columns = (TEXTS, ("premise",), ("hypothesis",), ("group",))
        shared = (_n_shared(tables[one], tables[other], names) for names in columns)
        yield Overlap((one, other), *shared)


def _n_shared(one: pa.Table, other: pa.Table, columns: Sequence[str]) -> int:
    """Count the values in some columns that two tables share; null is not a value."""
    tables = [table.select(columns).drop_null() for table in (one, other)]
    n = len(tables[0])
    found = first_rows(pa.concat_tables(tables), columns)[n:]
    return len(np.unique(found[found < n]))


def _mean_words(version: BuiltVersion, config: str, column: str) -> float:
    n_words = n_texts = 0
    for split in version.manifest.configs[config]:
        for batch in version.batches(config, split, [column]):
            n_words += _count_words(batch[column])
            n_texts += len(batch) - batch[column].null_count
    return round(n_words / n_texts, 1) if n_texts else 0.0


def _count_words(texts: pa.ChunkedArray) -> int:
    """Count the words of texts: a word begins a text, or follows a blank."""
    joined = b" ".join([b"", *texts.cast(pa.binary()).drop_null().to_pylist()])
    is_blank = _IS_BLANK[np.frombuffer(joined, np.uint8)]
    return int(np.count_nonzero(is_blank[:-1] & ~is_blank[1:]))


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
