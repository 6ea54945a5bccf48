"""Statistics of a built version, measured on its files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, compress

import pyarrow as pa
import pyarrow.compute as pc

from .version import BuiltVersion


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
    columns = {"label", "group", "premise", "hypothesis", *version.builder.PROPERTY_COLUMNS}
    tables = {split: version.table(config, split, sorted(columns)) for split in configs[config]}
    rows = pa.concat_tables(list(tables.values()))
    ids = rows["label"].to_pylist()
    n = len(ids)
    n_labels = Counter(ids)
    n_labels_of_text = Counter(text for text, _ in set(zip(_texts(rows), ids, strict=True)))
    properties = version.builder.properties(rows)
    if len(tables) > 1:
        properties |= _by_split(tables)
    properties["all"] = [True] * n
    breakdown = []
    for name, member in properties.items():
        counts = Counter(compress(ids, member))
        n_members = counts.total()
        shares = tuple(_percent(counts[label], n_members) for label in range(len(spec.labels)))
        breakdown.append(Breakdown(name, n_members, _percent(n_members, n), shares))
    return Statistics(
        config=config,
        rows={name: {s: split.rows for s, split in c.items()} for name, c in configs.items()},
        groups=len(set(rows["group"].to_pylist()) - {None}),
        labels={name: n_labels[label] for label, name in enumerate(spec.labels)},
        breakdown=tuple(breakdown),
        mean_words={name: _mean_words(rows[name]) for name in ("premise", "hypothesis")},
        repeated_texts=n - len(n_labels_of_text),
        contradictory_texts=sum(count > 1 for count in n_labels_of_text.values()),
        overlaps=tuple(_overlaps(tables)),
    )


def _texts(rows: pa.Table) -> list[str]:
    texts = pc.binary_join_element_wise(rows["premise"], rows["hypothesis"], "\0")
    return list(texts.to_pylist())


def _by_split(tables: Mapping[str, pa.Table]) -> dict[str, list[bool]]:
    splits = [split for split, table in tables.items() for _ in range(len(table))]
    return {f"split {name}": [split == name for split in splits] for name in tables}


def _overlaps(tables: Mapping[str, pa.Table]) -> Iterator[Overlap]:
    found = {
        split: (
            set(_texts(table)),
            *(set(table[name].to_pylist()) - {None} for name in ("premise", "hypothesis", "group")),
        )
        for split, table in tables.items()
    }
    for first, second in combinations(found, 2):
        shared = (len(a & b) for a, b in zip(found[first], found[second], strict=True))
        yield Overlap((first, second), *shared)


def _mean_words(texts: pa.ChunkedArray) -> float:
    return round(pc.mean(pc.count_substring_regex(texts, r"\S+")).as_py() or 0.0, 1)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
