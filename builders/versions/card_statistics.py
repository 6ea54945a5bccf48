"""Measure the statistics on a card, from the files of the built version."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np
import pyarrow as pa

from ..core.schema import TEXTS
from .row_tables import RowTables, open_rows
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


def measure_statistics(version: BuiltVersion, opened: RowTables | None = None) -> Statistics:
    """Measure the statistics on the card of a built version, with no more memory for more rows.

    Args:
        version: The version.
        opened: Its rows, where they are open already.

    Raises:
        OutputError: Memory or the disk is full.
        UnknownNameError: This package has no dataset of that name.
        VerificationError: A file is missing or malformed, or the declaration in the manifest is.
    """
    with open_rows(version, opened) as tables:
        return _measure(version, tables)


def _measure(version: BuiltVersion, tables: RowTables) -> Statistics:
    spec = version.builder.SPEC
    configs = version.manifest.configs
    config = version.main_config
    splits = list(configs[config])
    kinds = _kinds(version, tables, config)
    n_labels = _count_labels(kinds, [True] * len(kinds))
    properties = version.builder.properties(kinds)
    if len(splits) > 1:
        of_kinds = kinds["split"].to_pylist()
        properties |= {
            f"split {name}": [split == number for split in of_kinds]
            for number, name in enumerate(splits)
        }
    properties["all"] = [True] * len(kinds)
    breakdown = []
    for name, member in properties.items():
        counts = _count_labels(kinds, member)
        n_members = counts.total()
        shares = tuple(_percent(counts[label], n_members) for label in range(len(spec.labels)))
        share = _percent(n_members, n_labels.total())
        breakdown.append(Breakdown(name, n_members, share, shares))
    repeats = tables.repeats(config)
    [(n_repeated, n_contradictory)] = tables.execute(
        "SELECT count(*) FILTER (WHERE number <> first), "
        "count(DISTINCT first) FILTER (WHERE label IS DISTINCT FROM first_label) "
        f"FROM {repeats}"
    )
    groups = _count_by_splits(tables, tables.rows(config), '"group"', '"group" IS NOT NULL')
    return Statistics(
        config=config,
        rows={name: {s: split.rows for s, split in c.items()} for name, c in configs.items()},
        groups=groups.total(),
        labels={name: n_labels[label] for label, name in enumerate(spec.labels)},
        breakdown=tuple(breakdown),
        mean_words={name: _mean_words(version, config, name) for name in TEXTS},
        repeated_texts=n_repeated,
        contradictory_texts=n_contradictory,
        overlaps=tuple(_overlaps(tables, config, splits, groups)),
    )


def _kinds(version: BuiltVersion, tables: RowTables, config: str) -> pa.Table:
    """Count the rows by split, label and the columns that properties are made of."""
    columns = ["split", "label", *version.builder.PROPERTY_COLUMNS]
    named = ", ".join(f'"{name}"' for name in columns)
    counts = tables.execute(
        f"SELECT {named}, count(*) FROM {tables.rows(config)} GROUP BY ALL ORDER BY ALL"
    )
    names = [*columns, "count_all"]
    return pa.table({name: [row[n] for row in counts] for n, name in enumerate(names)})


def _count_labels(kinds: pa.Table, member: Sequence[bool]) -> Counter[int]:
    """Count the rows of the member kinds by label."""
    counts: Counter[int] = Counter()
    pairs = zip(kinds["label"].to_pylist(), kinds["count_all"].to_pylist(), strict=True)
    for label, n_rows in compress(pairs, member):
        counts[label] += n_rows
    return counts


def _overlaps(
    tables: RowTables, config: str, splits: Sequence[str], groups: Mapping[int, int]
) -> Iterator[Overlap]:
    if len(splits) < 2:
        return
    texts, repeats = tables.texts(config), tables.repeats(config)
    of_texts = f"{texts} SEMI JOIN {repeats} USING (number)"
    counts = [
        # A text that two splits have is a repeated one.
        _count_by_splits(
            tables, of_texts, "premise, hypothesis", "premise <> 0 AND hypothesis <> 0"
        ),
        *(_count_by_splits(tables, texts, name, f"{name} <> 0") for name in TEXTS),
        groups,
    ]
    for one, other in combinations(range(len(splits)), 2):
        both = 1 << one | 1 << other
        shared = (sum(n for key, n in found.items() if key & both == both) for found in counts)
        yield Overlap((splits[one], splits[other]), *shared)


def _count_by_splits(tables: RowTables, table: str, key: str, has_key: str) -> Counter[int]:
    """Count the values of a key by the splits that have them, the bits of a number."""
    return Counter(
        dict(
            tables.execute(
                "SELECT splits, count(*) FROM ("
                f"SELECT bit_or(1::BIGINT << split) AS splits FROM {table} WHERE {has_key} "
                f"GROUP BY {key}) GROUP BY splits"
            )
        )
    )


def _mean_words(version: BuiltVersion, config: str, column: str) -> float:
    n_words = n_texts = 0
    for split in version.manifest.configs[config]:
        for batch in version.batches(config, split, [column]):
            n_words += _count_words(batch[column])
            n_texts += len(batch) - batch[column].null_count
    return round(n_words / n_texts, 1) if n_texts else 0.0


def _count_words(texts: pa.ChunkedArray) -> int:
    """Count the words of texts: a word begins a text, or follows a blank."""
    n_words = 0
    for chunk in texts.cast(pa.large_binary()).drop_null().chunks:
        _, offsets, data = chunk.buffers()
        starts = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
        if starts[0] == starts[-1]:
            continue
        is_blank = _IS_BLANK[np.frombuffer(data, np.uint8)[starts[0] : starts[-1]]]
        may_begin = np.concatenate([[True], is_blank])
        may_begin[starts - starts[0]] = True
        n_words += int(np.count_nonzero(may_begin[:-1] & ~is_blank))
    return n_words


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
