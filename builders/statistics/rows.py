"""How many rows there are, as the papers count them: by split, domain and class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.spec import PublishedCounts
from ..versions.version import BuiltVersion
from .tallies import find_domains
from .texts import TextTallies


@dataclass(frozen=True)
class RowCount:
    """A number of rows.

    Attributes:
        split: Their split.
        domain: Their domain; ``all`` stands for every one.
        label: Their class; ``all`` stands for every one.
        rows: Their number.
        published: What the paper counts; None where it does not.
    """

    split: str
    domain: str
    label: str
    rows: int
    published: int | None


def count_rows(version: BuiltVersion, config: str, tallies: TextTallies) -> Iterator[RowCount]:
    """Counts the rows of every class, by split, and by domain where there are several.

    Args:
        version: The version.
        config: The config.
        tallies: What ``tally_texts`` counted.

    Yields:
        The counts, those of all domains after those of each, and of all classes likewise.
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
    """The sum of what a paper counts of some classes, if it counts them all."""
    what, keys = ("label", list[object](labels))
    if domain != "all":
        what, keys = "domain, label", [(domain, label) for label in labels]
    counts = published.get(what)
    if isinstance(counts, int) or counts is None or not all(key in counts for key in keys):
        return None
    return sum(counts[key] for key in keys)
