"""Sums over kinds of rows, which give the figures of every class, domain and split."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.spec import PublishedCounts
from ..versions.version import BuiltVersion

Sums = npt.NDArray[np.float64]


class Kind(NamedTuple):
    """The split, label and domain of rows that are counted together."""

    split: str
    label: int
    domain: str


#: For each kind of row some sums over its rows, the first of which is their number.
Tallies = Mapping[Kind, Sequence[float]]


class Part(NamedTuple):
    """The rows of a figure: a class, a domain, a split, or all (whose name is empty)."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True)
class RowCount:
    """A number of rows.

    Attributes:
        split: The split of the rows.
        domain: Their domain, or ``all``.
        label: Their class, or ``all``.
        rows: Their number.
        published: The count of the paper; None where it publishes none.
    """

    split: str
    domain: str
    label: str
    rows: int
    published: int | None


def find_domains(kinds: Iterable[Kind]) -> list[str]:
    """Return the domains of kinds of rows, in their order."""
    return list(dict.fromkeys(kind.domain for kind in kinds))


def add_up(
    tallies: Mapping[Kind, Sequence[float]],
    n_sums: int,
    labels: Sequence[str],
    splits: Sequence[str],
) -> Iterator[tuple[Part, Sums]]:
    """Add up the tallies of every class, domain and split.

    Args:
        tallies: For each kind of row, some sums over its rows.
        n_sums: Number of sums of a kind.
        labels: The label set; a label's id is its position.
        splits: The splits.

    Yields:
        Each part with its sums, all zero for a part without rows: the classes, the domains and the
        splits if there are several, and all rows.
    """
    domains = find_domains(tallies)
    parts: list[tuple[Part, int, str | int]]
    parts = [(Part("class", name), 1, label) for label, name in enumerate(labels)]
    parts += [(Part("domain", name), 2, name) for name in domains if len(domains) > 1]
    parts += [(Part("split", name), 0, name) for name in splits if len(splits) > 1]
    for part, position, value in parts:
        yield part, _sum([s for kind, s in tallies.items() if kind[position] == value], n_sums)
    yield Part("all", ""), _sum(tallies.values(), n_sums)


def count_rows(version: BuiltVersion, config: str, tallies: Tallies) -> Iterator[RowCount]:
    """Count the rows of every class by split, and by domain if there are several.

    Args:
        version: The version.
        config: The config.
        tallies: For each kind of row some sums, the first of which is its number of rows.

    Yields:
        The counts; ``all`` domains after each domain, and ``all`` classes after each class.
    """
    spec = version.builder.SPEC
    domains = find_domains(tallies)
    for split in version.manifest.configs[config]:
        published = spec.published.get(config, {}).get(split, {})
        for domain in [*(domains if len(domains) > 1 else ()), "all"]:
            n_rows = dict.fromkeys(range(len(spec.labels)), 0)
            for kind, sums in tallies.items():
                if kind.split == split and domain in ("all", kind.domain):
                    n_rows[kind.label] += int(sums[0])
            for label, name in enumerate(spec.labels):
                expected = _published(published, domain, [name])
                yield RowCount(split, domain, name, n_rows[label], expected)
            expected = _published(published, domain, spec.labels)
            yield RowCount(split, domain, "all", sum(n_rows.values()), expected)


def _published(published: PublishedCounts, domain: str, labels: Sequence[str]) -> int | None:
    """Return the sum of the counts of a paper for some classes, if it has them all."""
    what, keys = ("label", list[object](labels))
    if domain != "all":
        what, keys = "domain, label", [(domain, label) for label in labels]
    counts = published.get(what)
    if isinstance(counts, int) or counts is None or not all(key in counts for key in keys):
        return None
    return sum(counts[key] for key in keys)


def _sum(tallies: Iterable[Sequence[float]], n_sums: int) -> Sums:
    found: Sums = np.array([*tallies, [0.0] * n_sums]).sum(0)
    return found
