"""The statistics on a card, measured on the files of the built version."""

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
    """How the labels spread over the rows that have a property.

    Attributes:
        property: The property, e.g. an inference class.
        rows: Number of rows that have it.
        share: Their share of all rows, in percent.
        labels: For each label its share of these rows, in percent; same order as the label set.
    """

    property: str
    rows: int
    share: float
    labels: tuple[float, ...]


@dataclass(frozen=True)
class Overlap:
    """What two splits of a config share.

    Attributes:
        splits: Their names.
        texts: Number of pairs of premise and hypothesis that both have.
        premises: Number of premises that both have.
        hypotheses: Number of hypotheses that both have.
        groups: Number of groups that both have.
    """

    splits: tuple[str, str]
    texts: int
    premises: int
    hypotheses: int
    groups: int


@dataclass(frozen=True)
class Statistics:
    """Statistics of a built version; those that name no config are of ``config``.

    Attributes:
        config: The default config, or the first that was built.
        rows: Number of rows by config and split.
        groups: Number of groups, 0 where there are none.
        labels: Number of rows by label.
        breakdown: The labels by property; the last entry is all rows.
        mean_words: Mean number of words, split at blanks, of premise and hypothesis.
        repeated_texts: Rows whose premise and hypothesis an earlier row has.
        contradictory_texts: Texts that occur with more than one label.
        overlaps: What each two splits share, which is leakage.
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


def measure(version: BuiltVersion) -> Statistics:
    """Measures a built version.

    Args:
        version: The version.

    Returns:
        Its statistics.

    Raises:
        VerificationError: A file is missing or malformed.
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
    """The kinds of rows: what properties are made of, label and split, with counts that add up."""
    columns = ["label", *version.builder.PROPERTY_COLUMNS]
    return pa.concat_tables(
        batch.append_column("split", pa.repeat(split, len(batch)))
        .group_by([*columns, "split"])
        .aggregate([([], "count_all")])
        for split in version.manifest.configs[config]
        for batch in version.batches(config, split, columns)
    )


def _count_labels(kinds: pa.Table, member: Sequence[bool]) -> Counter[int]:
    """The number of rows by label of the kinds that are members."""
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
    """The number of values in some columns that two tables share; null is no value."""
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
    """The words of some texts: where something else follows a blank, or begins a text."""
    joined = b" ".join([b"", *texts.cast(pa.binary()).drop_null().to_pylist()])
    is_blank = _IS_BLANK[np.frombuffer(joined, np.uint8)]
    return int(np.count_nonzero(is_blank[:-1] & ~is_blank[1:]))


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
