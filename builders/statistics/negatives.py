"""Count negatives by mechanism, and compare them with the positives that they were made from."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UnmeasuredError
from ...loaders.releases.bionli import LABELS
from ..versions.row_tables import RowTables, open_rows
from ..versions.version import BuiltVersion
from .sampling import sample_rows
from .tokens import count_word_changes, marked_words

#: Maximal number of negatives of a category whose distance is measured.
MAX_ROWS = 2_000
_NEGATIVE, _POSITIVE = range(len(LABELS))
_ORIGINAL = "original_hypothesis"
_QUANTILES = (0, 0.25, 0.5, 0.75, 1)

#: Share of the mechanisms of a split, in percent, that have negatives of so many categories, by
#: dataset, config and split (BioNLI, section 3.4, on its Figure 1; 39 is "about 39 %").
PUBLISHED_CATEGORIES = {
    ("bionli", "full", "validation"): {2: 5.7, 3: 35.1, 4: 39.0, 8: 0.1, 9: 0.0}
}

#: Minimum, lower quartile, median, upper quartile and maximum.
Quantiles = tuple[float, ...]


@dataclass(frozen=True)
class CategoryNegatives:
    """The negatives of one category.

    Attributes:
        category: The value of ``category``; ``none`` where a row has none.
        rows: Number of negatives.
        same_as_positive: Number whose hypothesis is exactly that of their positive.
        same_as_another: Number whose hypothesis an earlier negative of their group has, of any
            category.
        drawn: Number drawn to measure their distance.
        without_positive: Number drawn whose positive is missing.
        words: Words changed from the positive (``count_word_changes``) in the other drawn ones,
            as five quantiles; None where there are no others.
        share: The same in percent of the words of the longer hypothesis.
    """

    category: str
    rows: int
    same_as_positive: int
    same_as_another: int
    drawn: int
    without_positive: int
    words: Quantiles | None
    share: Quantiles | None


@dataclass(frozen=True)
class PossibleNegatives:
    """The mechanisms of a split that have negatives of so many categories.

    Attributes:
        split: The split.
        n_categories: Number of different categories of negatives.
        mechanisms: Number of mechanisms that have them.
        share: Their share of the mechanisms of the split, in percent.
        published: The share in the paper; None where it states none.
    """

    split: str
    n_categories: int
    mechanisms: int
    share: float
    published: float | None


def count_possible_negatives(
    version: BuiltVersion, config: str, opened: RowTables | None = None
) -> tuple[PossibleNegatives, ...]:
    """Count the mechanisms by the number of categories that they have negatives of.

    The training set is left out, as its mechanisms have some of their negatives at most.

    Args:
        version: The version.
        config: The config.
        opened: The rows of the version, where they are open already.

    Returns:
        For each other split that has mechanisms, every number of categories from 0 to all. Nothing
        where the labels are not those of BioNLI.

    Raises:
        VerificationError: A file is missing or malformed.

    Source:
        BioNLI, section 3.4 and Figure 1, of the validation set.
    """
    spec = version.builder.SPEC
    if tuple(spec.labels) != LABELS:
        return ()
    counts = []
    with open_rows(version, opened) as tables:
        for place, split in enumerate(version.manifest.configs[config]):
            if split == "train":
                continue
            n_negatives = _count_categories(tables, config, place)
            published = PUBLISHED_CATEGORIES.get((spec.name, config, split), {})
            n_mechanisms = n_negatives.total()
            for number in range(len(spec.categories) if n_mechanisms else 0):
                n = n_negatives[number]
                share = round(100 * n / n_mechanisms, 1)
                counts.append(PossibleNegatives(split, number, n, share, published.get(number)))
    return tuple(counts)


def _count_categories(tables: RowTables, config: str, split: int) -> Counter[int]:
    """Count the mechanisms of a split by the number of categories of their negatives."""
    counts = tables.execute(
        f"""
        SELECT n, count(*) FROM (
            SELECT count(DISTINCT category) FILTER (label = {_NEGATIVE}) AS n
            FROM {tables.rows(config)} WHERE split = {split} AND "group" IS NOT NULL
            GROUP BY "group"
        ) GROUP BY n
        """
    )
    return Counter(dict(counts))


def describe_negatives(
    version: BuiltVersion, config: str, opened: RowTables | None = None
) -> tuple[CategoryNegatives, ...]:
    """Compare negatives with their positives, with no more memory for more rows.

    The positive of a negative is its ``original_hypothesis``; without one, the nearest entailed
    hypothesis of its group, in any split. Duplicates are counted among all rows. Distances are
    measured on at most 2,000 negatives of each category, drawn by a keyed hash of their ids, in
    words and markers, ignoring case.

    Args:
        version: The version.
        config: The config.
        opened: The rows of the version, where they are open already.

    Returns:
        The most frequent category first.

    Raises:
        UnmeasuredError: The version does not have the labels of BioNLI, or has no negatives.
        VerificationError: A file is missing or malformed.
    """
    if tuple(version.builder.SPEC.labels) != LABELS:
        raise UnmeasuredError(f"the labels are not {' and '.join(LABELS)}")
    has_original = _ORIGINAL in version.builder.SPEC.extra
    with open_rows(version, opened) as tables:
        repeats = _count_repeats(tables, config, has_original=has_original)
    if not repeats:
        raise UnmeasuredError("there are no negatives")
    changes, n_without = _measure_distances(version, config)
    return tuple(
        CategoryNegatives(
            category=name,
            rows=n_rows,
            same_as_positive=n_positive,
            same_as_another=n_another,
            drawn=len(changes[name]) + n_without[name],
            without_positive=n_without[name],
            words=_quantiles([words for words, _ in changes[name]], 0),
            share=_quantiles([share for _, share in changes[name]], 1),
        )
        for name, n_rows, n_positive, n_another in repeats
    )


def _count_repeats(
    tables: RowTables, config: str, *, has_original: bool
) -> list[tuple[str, int, int, int]]:
    """Count all negatives, those equal to their positive, and those equal to an earlier one.

    Returns:
        These counts by category, the most frequent first.
    """
    is_same = f"coalesce(hypothesis = {_ORIGINAL}, false)" if has_original else "false"
    compared = tables.make(
        "TEMP TABLE",
        "compared hypotheses",
        f"""
        SELECT number, label, coalesce(nullif(category, ''), 'none') AS category,
            md5_number("group") AS mechanism, coalesce(md5_number(hypothesis), 0) AS text,
            {is_same} AS is_same
        FROM {tables.rows(config)} WHERE label IN ({_NEGATIVE}, {_POSITIVE})
        """,
    )
    counts = tables.execute(
        f"""
        SELECT category, count(*), count(*) FILTER (is_same OR has_positive),
            count(*) FILTER (number > first)
        FROM {compared} LEFT JOIN (
            SELECT mechanism, text, bool_or(label = {_POSITIVE}) AS has_positive,
                min(number) FILTER (label = {_NEGATIVE}) AS first
            FROM {compared} WHERE mechanism IS NOT NULL
            GROUP BY mechanism, text HAVING count(*) > 1
        ) USING (mechanism, text)
        WHERE label = {_NEGATIVE} GROUP BY category
        """
    )
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def _measure_distances(
    version: BuiltVersion, config: str
) -> tuple[defaultdict[str, list[tuple[int, float]]], Counter[str]]:
    """Measure, by category, the distances of some negatives, and count those without a positive.

    A distance is in words and in percent. ``sample_rows`` draws positives too, which are ignored.
    """
    original = [_ORIGINAL] if _ORIGINAL in version.builder.SPEC.extra else []
    columns = ["label", "group", "category", "hypothesis", *original]
    splits = list(version.manifest.configs[config])
    rows = sample_rows(version, config, splits, columns, MAX_ROWS, by="category").to_pylist()
    negatives = [row for row in rows if row["label"] == _NEGATIVE]
    orphans = {row["group"] for row in negatives if row.get(_ORIGINAL) is None} - {None}
    positives = _find_positives(version, config, orphans)
    changes: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    n_without: Counter[str] = Counter()
    for row in negatives:
        name = row["category"] or "none"
        own = row.get(_ORIGINAL)
        found = positives.get(row["group"], ()) if own is None else (own,)
        if found:
            changes[name].append(min(_distance(row["hypothesis"], text) for text in found))
        else:
            n_without[name] += 1
    return changes, n_without


def _find_positives(
    version: BuiltVersion, config: str, groups: Collection[str]
) -> Mapping[str, Sequence[str]]:
    """Find the entailed hypotheses of some groups."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    if not groups:
        return found
    wanted = pa.array(sorted(groups), pa.string())
    for split in version.manifest.configs[config]:
        for batch in version.batches(config, split, ["label", "group", "hypothesis"]):
            is_one = pc.equal(batch["label"], _POSITIVE)
            is_wanted = pc.and_(is_one, pc.is_in(batch["group"], value_set=wanted))
            for row in batch.filter(is_wanted).to_pylist():
                found[row["group"]].append(row["hypothesis"])
    return found


def _distance(negative: str, positive: str) -> tuple[int, float]:
    one, other = marked_words(negative), marked_words(positive)
    n_changes = count_word_changes(one, other)
    return n_changes, 100 * n_changes / max(len(one), len(other), 1)


def _quantiles(values: Sequence[float], n_digits: int) -> Quantiles | None:
    """Return five quantiles among the values, so that numbers of words stay whole."""
    if not values:
        return None
    found: npt.NDArray[np.float64] = np.quantile(values, _QUANTILES, method="nearest")
    return tuple(round(value, n_digits) for value in found.tolist())
