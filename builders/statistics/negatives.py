"""Count negatives by mechanism, and compare them with the positives that they were made from."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...loaders.corpora.abstracts.mechanism_records import MARKER
from ...loaders.errors import UnmeasuredError
from ...loaders.releases.bionli import LABELS
from ..versions.row_tables import RowTables
from .texts import TOKEN

#: Maximal number of negatives of a category whose distance is measured.
MAX_ROWS = 2_000
_NEGATIVE, _POSITIVE = range(len(LABELS))
_CATEGORY = "coalesce(nullif(category, ''), 'none')"
_QUANTILES = (0, 0.25, 0.5, 0.75, 1)
_MARKED_TOKEN = re.compile(f"{MARKER.pattern}|{TOKEN.pattern}")

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


def count_possible_negatives(tables: RowTables, config: str) -> tuple[PossibleNegatives, ...]:
    """Count the mechanisms by the number of categories that they have negatives of.

    The training set is left out, as its mechanisms have some of their negatives at most.

    Args:
        tables: The rows of the version.
        config: The config.

    Returns:
        For each other split that has mechanisms, every number of categories from 0 to all. Nothing
        where the labels are not those of BioNLI.

    Raises:
        VerificationError: A file is missing or malformed.

    Source:
        BioNLI, section 3.4 and Figure 1, of the validation set.
    """
    spec = tables.version.builder.SPEC
    if tuple(spec.labels) != LABELS:
        return ()
    found = tables.execute(
        f"""
        SELECT split, n, count(*) FROM (
            SELECT split, count(DISTINCT category) FILTER (label = {_NEGATIVE}) AS n
            FROM {tables.rows(config)} WHERE "group" IS NOT NULL GROUP BY split, "group"
        ) GROUP BY split, n
        """
    )
    counts = []
    for place, split in enumerate(tables.version.manifest.configs[config]):
        mechanisms = {n: n_mechanisms for number, n, n_mechanisms in found if number == place}
        if split == "train" or not mechanisms:
            continue
        published = PUBLISHED_CATEGORIES.get((spec.name, config, split), {})
        for number in range(len(spec.categories)):
            n = mechanisms.get(number, 0)
            share = round(100 * n / sum(mechanisms.values()), 1)
            counts.append(PossibleNegatives(split, number, n, share, published.get(number)))
    return tuple(counts)


def describe_negatives(tables: RowTables, config: str) -> tuple[CategoryNegatives, ...]:
    """Compare negatives with their positives, with no more memory for more rows.

    The positive of a negative is its ``original_hypothesis``; without one, the nearest entailed
    hypothesis of its group, in any split. Duplicates are counted among all rows. Distances are
    measured on at most 2,000 negatives of each category, drawn by a hash of their ids, in
    words and markers, ignoring case.

    Args:
        tables: The rows of the version.
        config: The config.

    Returns:
        The most frequent category first.

    Raises:
        UnmeasuredError: The version does not have the labels of BioNLI, or has no negatives.
        VerificationError: A file is missing or malformed.
    """
    spec = tables.version.builder.SPEC
    if tuple(spec.labels) != LABELS:
        raise UnmeasuredError(f"the labels are not {' and '.join(LABELS)}")
    original = "original_hypothesis" if "original_hypothesis" in spec.extra else "NULL"
    repeats = _count_repeats(tables, config, original)
    changes: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    n_without: Counter[str] = Counter()
    for name, hypothesis, positives in _draw_negatives(tables, config, original):
        if positives:
            words = marked_words(hypothesis)
            changes[name].append(min(_compare(words, marked_words(text)) for text in positives))
        else:
            n_without[name] += 1
    if not repeats:
        raise UnmeasuredError("there are no negatives")
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
    tables: RowTables, config: str, original: str
) -> list[tuple[str, int, int, int]]:
    """Count negatives by category, those equal to their positive, and those to an earlier one."""
    counts = tables.execute(
        f"""
        SELECT category, count(*), count(*) FILTER (is_same), count(*) FILTER (number > first)
        FROM (
            SELECT number, label, {_CATEGORY} AS category,
                bool_or(label = {_POSITIVE}) OVER same
                    OR coalesce(hypothesis = {original}, false) AS is_same,
                min(number) FILTER (label = {_NEGATIVE}) OVER same AS first
            FROM {tables.rows(config)} WHERE label IN ({_NEGATIVE}, {_POSITIVE})
            WINDOW same AS (
                PARTITION BY "group", CASE WHEN "group" IS NULL THEN number END,
                    md5_number(hypothesis)
            )
        )
        WHERE label = {_NEGATIVE} GROUP BY category
        """
    )
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def _draw_negatives(
    tables: RowTables, config: str, original: str
) -> list[tuple[str, str, list[str] | None]]:
    """Draw negatives of each category; return its name, their hypotheses and their positives."""
    rows = tables.rows(config)
    drawn = tables.make(
        "TEMP TABLE",
        "drawn negatives",
        f"""
        SELECT {_CATEGORY} AS category, hypothesis, "group", {original} AS original
        FROM {rows} SEMI JOIN (
            SELECT number FROM {rows} WHERE label = {_NEGATIVE}
            QUALIFY row_number() OVER (PARTITION BY {_CATEGORY} ORDER BY md5_number(id))
                <= {MAX_ROWS}
        ) USING (number)
        """,
    )
    return tables.execute(
        f"""
        SELECT category, hypothesis, CASE WHEN original IS NULL THEN positives ELSE [original] END
        FROM {drawn} LEFT JOIN (
            SELECT "group", list(hypothesis) AS positives
            FROM {rows} SEMI JOIN {drawn} USING ("group")
            WHERE label = {_POSITIVE} GROUP BY "group"
        ) USING ("group")
        """
    )


def _compare(one: Sequence[str], other: Sequence[str]) -> tuple[int, float]:
    n_changes = count_word_changes(one, other)
    return n_changes, 100 * n_changes / max(len(one), len(other), 1)


def _quantiles(values: Sequence[float], n_digits: int) -> Quantiles | None:
    """Return five quantiles among the values, so that numbers of words stay whole."""
    if not values:
        return None
    found: npt.NDArray[np.float64] = np.quantile(values, _QUANTILES, method="nearest")
    return tuple(round(value, n_digits) for value in found.tolist())


def marked_words(text: str) -> list[str]:
    """Split a sentence into tokens for statistics, each marker of an entity a token.

    >>> marked_words("The <re> ABA <er>-induced rise.")
    ['the', '<re>', 'aba', '<er>', '-', 'induced', 'rise', '.']
    """
    return _MARKED_TOKEN.findall(text.lower())


def count_word_changes(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the words to insert, delete or replace to turn one sentence into another.

    Source: Levenshtein (1966), "Binary codes capable of correcting deletions, insertions and
        reversals".

    >>> count_word_changes("foxes calm hens".split(), "hens calm foxes".split())
    2
    """
    above = list(range(len(other) + 1))
    for number, word in enumerate(one, 1):
        row = [number]
        for place, another in enumerate(other):
            replaced = above[place] + (word != another)
            row.append(min(replaced, above[place + 1] + 1, row[place] + 1))
        above = row
    return above[-1]
