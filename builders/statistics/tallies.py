"""Sums over kinds of rows, from which the figures of every class, domain and split follow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Sums = npt.NDArray[np.float64]


class Kind(NamedTuple):
    """What rows have in common that are counted together."""

    split: str
    label: int
    domain: str


class Part(NamedTuple):
    """Rows that a figure is of: a class, a domain, a split, or all (whose name is empty)."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


def find_domains(kinds: Iterable[Kind]) -> list[str]:
    """The domains of some rows, in the order in which they come."""
    return list(dict.fromkeys(kind.domain for kind in kinds))


def add_up(
    tallies: Mapping[Kind, Sequence[float]],
    n_sums: int,
    labels: Sequence[str],
    splits: Sequence[str],
) -> Iterator[tuple[Part, Sums]]:
    """Adds up what was counted.

    Args:
        tallies: For each kind of row some sums over its rows.
        n_sums: Their number.
        labels: The label set; a label's id is its position.
        splits: The splits.

    Yields:
        Each part with its sums, all zero where it has no row: the classes, the domains and the
        splits where there are several, all rows.
    """
    domains = find_domains(tallies)
    parts: list[tuple[Part, int, str | int]]
    parts = [(Part("class", name), 1, label) for label, name in enumerate(labels)]
    parts += [(Part("domain", name), 2, name) for name in domains if len(domains) > 1]
    parts += [(Part("split", name), 0, name) for name in splits if len(splits) > 1]
    for part, position, value in parts:
        yield part, _sum([s for kind, s in tallies.items() if kind[position] == value], n_sums)
    yield Part("all", ""), _sum(tallies.values(), n_sums)


def _sum(tallies: Iterable[Sequence[float]], n_sums: int) -> Sums:
    found: Sums = np.array([*tallies, [0.0] * n_sums]).sum(0)
    return found
