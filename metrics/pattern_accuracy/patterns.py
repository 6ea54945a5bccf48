"""Counts of samples and of correct samples by pattern, for pattern accuracy."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..confusion import joint_counts
from ..inputs.columns import InputColumn
from ..inputs.groups import EncodedIds, check_one_value_per_group, encode_ready_ids, encode_sorted
from ..inputs.labels import EncodedLabels
from ..inputs.problems import Problems

#: A table of counts may always have this many cells.
_N_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns, in no particular order.

    Attributes:
        keys: Ids, ``(patterns,)``.
        n_samples: Samples of each pattern, ``(patterns,)``.
        n_correct: Correct samples of each pattern, ``(patterns,)``, for every system.
        reference: Gold label of each pattern as a position in the label set, ``(patterns,)``.
        category: Category of each pattern as a position in ``category_keys``, ``(patterns,)``;
            None without categories.
        category_keys: The categories, sorted.
    """

    keys: pa.Array
    n_samples: np.ndarray
    n_correct: list[np.ndarray]
    reference: np.ndarray
    category: np.ndarray | None
    category_keys: list[str | int]

    def by_category(self) -> Iterator[tuple[str | int, "Patterns"]]:
        """Yield each category with its patterns, categories sorted."""
        if self.category is None:
            return
        ids = EncodedIds(self.category, pa.array(self.category_keys))
        for key, rows in zip(self.category_keys, ids.rows(), strict=True):
            keys, n_samples = self.keys.take(pa.array(rows)), self.n_samples[rows]
            n_correct = [numbers[rows] for numbers in self.n_correct]
            yield key, Patterns(keys, n_samples, n_correct, self.reference[rows], None, [])


def tally_patterns(
    groups: InputColumn, labels: EncodedLabels, categories: InputColumn | None, problems: Problems
) -> Patterns:
    """Count the samples of every pattern, and those that each system has right.

    Args:
        groups: The pattern of each of the n samples.
        labels: The encoded references and predictions, n positions each.
        categories: The category of each sample, or None.
        problems: Collects patterns with two gold labels or two categories; the counts of such
            patterns must not be used.
    """
    references = labels.codes["references"]
    systems = [c for name, c in labels.codes.items() if name != "references"]
    constants = {"references": (references, len(labels.names))}
    names = {"references": [str(name) for name in labels.names]}
    category_keys: list[str | int] = []
    if categories is not None:
        ids = encode_sorted(categories)
        category_keys = ids.keys.to_pylist()
        constants["categories"] = (ids.codes, len(ids))
        names["categories"] = [str(key) for key in category_keys]
    ready = encode_ready_ids(groups)
    affordable = (len(references) + _N_CELLS) // len(labels.names) ** 2
    if ready is not None and len(ready) <= affordable:
        keys, n_samples, n_correct, found = _count_dense(ready, systems, constants)
    else:
        keys, n_samples, n_correct, found = _count_hashed(groups, systems, constants)
    for name, (low, high) in found.items():
        if not np.array_equal(low, high):
            codes = constants[name][0]
            check_one_value_per_group(groups, name, codes, names[name], problems)
    category = found["categories"][0] if categories is not None else None
    return Patterns(keys, n_samples, n_correct, found["references"][0], category, category_keys)


_Constants = dict[str, tuple[np.ndarray, int]]
_Counts = tuple[pa.Array, np.ndarray, list[np.ndarray], dict[str, tuple[np.ndarray, np.ndarray]]]


def _count_dense(ids: EncodedIds, systems: list[np.ndarray], constants: _Constants) -> _Counts:
    """Count ids that are small integers or a dictionary, in a table of counts."""
    n_labels = constants["references"][1]
    by_group = (ids.codes, len(ids))
    tables = [joint_counts(by_group, constants["references"], (s, n_labels)) for s in systems]
    n_samples = tables[0].sum(axis=(1, 2))
    used = n_samples > 0
    found = {"references": _first_and_last(tables[0].sum(axis=2)[used])}
    if "categories" in constants:
        codes = constants["categories"][0]
        last = np.zeros(len(ids), np.int64)
        last[ids.codes] = codes
        differs = np.zeros(len(ids), bool)
        differs[ids.codes[last[ids.codes] != codes]] = True
        found["categories"] = (last[used], np.where(differs, -1, last)[used])
    n_correct = [np.trace(table, axis1=1, axis2=2)[used] for table in tables]
    return ids.keys.filter(pa.array(used)), n_samples[used], n_correct, found


def _first_and_last(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last column of each row that is not 0."""
    present = counts > 0
    return present.argmax(axis=1), present.shape[1] - 1 - present[:, ::-1].argmax(axis=1)


def _count_hashed(groups: InputColumn, systems: list[np.ndarray], constants: _Constants) -> _Counts:
    """Count ids of any other kind by Arrow's hash aggregation, which uses all cores."""
    references = constants["references"][0]
    ids = groups.values
    dictionary = ids.dictionary if pa.types.is_dictionary(ids.type) else None
    columns = {"group": ids if dictionary is None else ids.indices}
    columns |= {f"right_{i}": (s == references).view(np.int8) for i, s in enumerate(systems)}
    columns |= {name: codes for name, (codes, _) in constants.items()}
    aggregations: list[tuple[str | list[str], str]] = [([], "count_all")]
    aggregations += [(f"right_{i}", "sum") for i in range(len(systems))]
    aggregations += [(name, "min_max") for name in constants]
    table = pa.table(columns).group_by("group").aggregate(aggregations).combine_chunks()

    def numbers(name: str) -> np.ndarray:
        found: np.ndarray = table[name].to_numpy().astype(np.int64)
        return found

    found = {}
    for name in constants:
        low, high = table[f"{name}_min_max"].combine_chunks().flatten()
        found[name] = low.to_numpy().astype(np.int64), high.to_numpy().astype(np.int64)
    n_correct = [numbers(f"right_{i}_sum") for i in range(len(systems))]
    keys = table["group"].combine_chunks()
    keys = keys if dictionary is None else dictionary.take(keys)
    return keys, numbers("count_all"), n_correct, found
