"""Measure the statistics on a card, from the files of the built version."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import pyarrow as pa

from ..core.schema import TEXTS
from .row_tables import RowTables, open_rows
from .version import BuiltVersion

#: The number of words of a text in SQL; a regular expression would take four times as long.
_N_WORDS = "len(list_filter(string_split({}, ' '), lambda word: word <> ''))"


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
        mean_words: Mean number of words, split at spaces, of premise and hypothesis.
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
    rows, repeats = tables.rows(config), tables.repeats(config)
    breakdown = _break_down(version, tables, config)
    [(n_repeated, n_contradictory)] = tables.execute(
        "SELECT count(*) FILTER (WHERE number <> first), "
        "count(DISTINCT first) FILTER (WHERE label IS DISTINCT FROM first_label) "
        f"FROM {repeats}"
    )
    means = ", ".join(f"avg({_N_WORDS.format(name)})" for name in TEXTS)
    [n_words] = tables.execute(f"SELECT {means} FROM {rows}")
    labels = tables.execute(f"SELECT label, count(*) FROM {rows} GROUP BY label")
    groups = _count_by_splits(tables, rows, '"group"')
    return Statistics(
        config=config,
        rows={name: {s: split.rows for s, split in c.items()} for name, c in configs.items()},
        groups=sum(groups.values()),
        labels={name: dict(labels).get(label, 0) for label, name in enumerate(spec.labels)},
        breakdown=tuple(breakdown),
        mean_words={name: round(n or 0.0, 1) for name, n in zip(TEXTS, n_words, strict=True)},
        repeated_texts=n_repeated,
        contradictory_texts=n_contradictory,
        overlaps=tuple(_overlaps(tables, config, splits, groups)),
    )


def _break_down(version: BuiltVersion, tables: RowTables, config: str) -> Iterator[Breakdown]:
    """Yield the distribution of labels by property, from counts of the kinds of rows."""
    columns = ["split", "label", *version.builder.PROPERTY_COLUMNS]
    named = ", ".join(f'"{name}"' for name in columns)
    counts = tables.execute(
        f"SELECT {named}, count(*) FROM {tables.rows(config)} GROUP BY ALL ORDER BY ALL"
    )
    kinds = pa.table({name: [row[n] for row in counts] for n, name in enumerate(columns)})
    properties = version.builder.properties(kinds)
    splits = list(version.manifest.configs[config])
    if len(splits) > 1:
        for number, split in enumerate(splits):
            properties[f"split {split}"] = [kind[0] == number for kind in counts]
    properties["all"] = [True] * len(counts)
    n_rows = sum(kind[-1] for kind in counts)
    for name, has_property in properties.items():
        n_by_label: Counter[int] = Counter()
        for _, label, *_, n in compress(counts, has_property):
            n_by_label[label] += n
        n = n_by_label.total()
        labels = range(len(version.builder.SPEC.labels))
        shares = tuple(_percent(n_by_label[label], n) for label in labels)
        yield Breakdown(name, n, _percent(n, n_rows), shares)


def _overlaps(
    tables: RowTables, config: str, splits: Sequence[str], groups: Mapping[int, int]
) -> Iterator[Overlap]:
    if len(splits) < 2:
        return
    texts, repeats = tables.texts(config), tables.repeats(config)
    counts = [
        # A text that two splits have is a repeated one.
        _count_by_splits(tables, f"{texts} SEMI JOIN {repeats} USING (number)", *TEXTS),
        *(_count_by_splits(tables, texts, name) for name in TEXTS),
        groups,
    ]
    for one, other in combinations(range(len(splits)), 2):
        both = 1 << one | 1 << other
        shared = (sum(n for key, n in found.items() if key & both == both) for found in counts)
        yield Overlap((splits[one], splits[other]), *shared)


def _count_by_splits(tables: RowTables, table: str, *key: str) -> dict[int, int]:
    """Count the values of a key by the splits that have them, the bits of a number."""
    has_key = " AND ".join(f"{column} IS NOT NULL" for column in key)
    counts = tables.execute(
        "SELECT splits, count(*) FROM ("
        f"SELECT bit_or(1::BIGINT << split) AS splits FROM {table} WHERE {has_key} "
        f"GROUP BY {', '.join(key)}) GROUP BY splits"
    )
    return dict(counts)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
