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
from ..core.repeats import first_rows, outline
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
_PUBLISHED_CATEGORIES = {
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


def count_possible_negatives(version: BuiltVersion, config: str) -> tuple[PossibleNegatives, ...]:
    """Count the mechanisms by the number of categories that they have negatives of.

    The training set is left out, as its mechanisms have some of their negatives at most.

    Args:
        version: The version.
        config: The config.

    Returns:
        For each other split that has mechanisms, every number of categories from 0 to all. Nothing
        where the labels are not those of BioNLI.

    Raises:
        VerificationError: A file is missing or malformed.

    Source:
        BioNLI, section 3.4 and Figure 1, of the validation set.
    """
    spec = version.builder.SPEC
    counts = []
    splits = version.manifest.configs[config] if tuple(spec.labels) == LABELS else ()
    for split in splits:
        if split == "train":
            continue
        n_negatives = _count_categories(version, config, split)
        published = _PUBLISHED_CATEGORIES.get((spec.name, config, split), {})
        n_mechanisms = n_negatives.total()
        for number in range(len(spec.categories) if n_mechanisms else 0):
            n = n_negatives[number]
            share = round(100 * n / n_mechanisms, 1)
            counts.append(PossibleNegatives(split, number, n, share, published.get(number)))
    return tuple(counts)


def _count_categories(version: BuiltVersion, config: str, split: str) -> Counter[int]:
    """Count the mechanisms of a split by the number of categories of their negatives."""
    tables = [pa.table({"group": pa.nulls(0, pa.string()), "category": pa.nulls(0, pa.string())})]
    for batch in version.batches(config, split, ["label", "group", "category"]):
        is_negative = pc.equal(batch["label"], _NEGATIVE)
        category = pc.if_else(is_negative, batch["category"], pa.scalar(None, pa.string()))
        rows = pa.table({"group": batch["group"], "category": category})
        tables.append(rows.filter(pc.is_valid(rows["group"])))
    found = pa.concat_tables(tables).group_by("group")
    numbers = found.aggregate([("category", "count_distinct")])["category_count_distinct"]
    return Counter(numbers.to_pylist())


def describe_negatives(version: BuiltVersion, config: str) -> tuple[CategoryNegatives, ...]:
    """Compare negatives with their positives, reading rows in batches.

    The positive of a negative is its ``original_hypothesis``; without one, the nearest entailed
    hypothesis of its group, in any split. Duplicates are counted among all rows. Distances are
    measured on at most 2,000 negatives of each category, drawn by a keyed hash of their ids, in
    words and markers, ignoring case.

    Args:
        version: The version.
        config: The config.

    Returns:
        The most frequent category first.

    Raises:
        UnmeasuredError: The version does not have the labels of BioNLI, or has no negatives.
        VerificationError: A file is missing or malformed.
    """
    if tuple(version.builder.SPEC.labels) != LABELS:
        raise UnmeasuredError(f"the labels are not {' and '.join(LABELS)}")
    n_rows, n_positive, n_another = _count_repeats(version, config)
    if not n_rows:
        raise UnmeasuredError("there are no negatives")
    changes, n_without = _measure_distances(version, config)
    return tuple(
        CategoryNegatives(
            category=name,
            rows=number,
            same_as_positive=n_positive[name],
            same_as_another=n_another[name],
            drawn=len(changes[name]) + n_without[name],
            without_positive=n_without[name],
            words=_quantiles([words for words, _ in changes[name]], 0),
            share=_quantiles([share for _, share in changes[name]], 1),
        )
        for name, number in sorted(n_rows.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _count_repeats(
    version: BuiltVersion, config: str
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count, by category, all negatives, those equal to their positive, and those to another."""
    columns = ["label", "group", "category", "hypothesis"]
    original = [_ORIGINAL] if _ORIGINAL in version.builder.SPEC.extra else []
    tables = []
    for split in version.manifest.configs[config]:
        for batch in version.batches(config, split, [*columns, *original]):
            is_same = pa.nulls(len(batch), pa.bool_())
            if original:
                is_same = pc.equal(batch["hypothesis"], batch[_ORIGINAL])
            rows = outline([batch.select(columns)])
            tables.append(rows.append_column("is_same", pc.fill_null(is_same, False)))
    rows = pa.concat_tables(tables)
    negatives = rows.filter(pc.equal(rows["label"], _NEGATIVE))
    positives = rows.filter(pc.equal(rows["label"], _POSITIVE))
    names = np.array([name or "none" for name in negatives["category"].to_pylist()], object)
    has_group = np.asarray(pc.is_valid(negatives["group"]))
    keys = ("group", "hypothesis")
    of_all = first_rows(pa.concat_tables([positives, negatives]), keys)
    is_positive = has_group & (of_all[len(positives) :] < len(positives))
    is_positive |= np.asarray(negatives["is_same"])
    is_another = has_group & (first_rows(negatives, keys) != np.arange(len(negatives)))
    return Counter(names), Counter(names[is_positive]), Counter(names[is_another])


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
