"""Statistics of a built version, measured on its files."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

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
class Statistics:
    """Statistics of a built version; those without a config are of the default one.

    Attributes:
        rows: Number of rows by config and split.
        groups: Number of groups, 0 where there are none.
        labels: Number of rows by label.
        breakdown: The labels by property; the last entry is all rows.
        mean_words: Mean number of words, split at blanks, of premise and hypothesis.
        repeated_texts: Rows whose premise and hypothesis an earlier row has.
        contradictory_texts: Texts that occur with more than one label.
    """

    rows: dict[str, dict[str, int]]
    groups: int
    labels: dict[str, int]
    breakdown: tuple[Breakdown, ...]
    mean_words: dict[str, float]
    repeated_texts: int
    contradictory_texts: int


def measure(version: BuiltVersion) -> Statistics:
    """Measures a built version.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    spec = version.builder.SPEC
    configs = version.manifest.configs
    config = spec.default_config
    rows = pa.concat_tables([version.table(config, split) for split in configs[config]])
    ids = rows["label"].to_pylist()
    premises, hypotheses = rows["premise"].to_pylist(), rows["hypothesis"].to_pylist()
    n_labels = Counter(ids)
    labels_of_text: dict[tuple[str, str], set[int]] = {}
    for text, label in zip(zip(premises, hypotheses, strict=True), ids, strict=True):
        labels_of_text.setdefault(text, set()).add(label)
    properties = version.builder.properties(rows) | {"all": [True] * len(ids)}
    breakdown = []
    for name, member in properties.items():
        counts = Counter(label for label, has in zip(ids, member, strict=True) if has)
        n = counts.total()
        shares = tuple(_percent(counts[label], n) for label in range(len(spec.labels)))
        breakdown.append(Breakdown(name, n, _percent(n, len(ids)), shares))
    return Statistics(
        rows={name: {s: split.rows for s, split in c.items()} for name, c in configs.items()},
        groups=len(set(rows["group"].to_pylist()) - {None}),
        labels={name: n_labels[label] for label, name in enumerate(spec.labels)},
        breakdown=tuple(breakdown),
        mean_words={
            "premise": round(sum(len(t.split()) for t in premises) / max(len(premises), 1), 1),
            "hypothesis": round(sum(len(t.split()) for t in hypotheses) / max(len(ids), 1), 1),
        },
        repeated_texts=len(ids) - len(labels_of_text),
        contradictory_texts=sum(len(labels) > 1 for labels in labels_of_text.values()),
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
