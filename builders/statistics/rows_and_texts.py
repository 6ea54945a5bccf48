"""Numbers of rows, and length and overlap of their texts, beside the papers' figures."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.schema import TEXTS
from ..core.spec import PublishedCounts
from ..versions.version import BuiltVersion
from .tokens import split_tokens

Sums = npt.NDArray[np.float64]
#: For each split, label and domain sums over their rows; the first sum is the number of rows.
Tallies = Mapping[tuple[str, int, str], Sums]


@dataclass(frozen=True)
class RowCount:
    """The number of rows of a class, split and domain, beside the paper's.

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


def sum_tallies(
    tallies: Tallies, labels: Sequence[str], splits: Sequence[str], n_sums: int
) -> Iterator[tuple[str, Sums]]:
    """Yield each class, each of several domains and splits, and all rows, with their sums.

    Args:
        tallies: The sums, as many each as ``n_sums``.
        labels: The names of the labels.
        splits: The splits.
        n_sums: Number of sums; a part without rows has as many zeros.
    """
    domains = _domains(tallies)
    parts: list[tuple[str, int, Any]]
    parts = [(f"class {name}", 1, label) for label, name in enumerate(labels)]
    parts += [(f"domain {name}", 2, name) for name in domains if len(domains) > 1]
    parts += [(f"split {name}", 0, name) for name in splits if len(splits) > 1]
    for part, place, value in parts:
        found = (sums for kind, sums in tallies.items() if kind[place] == value)
        yield part, sum(found, np.zeros(n_sums))
    yield "all", sum(tallies.values(), np.zeros(n_sums))


def count_by_class(version: BuiltVersion, config: str, tallies: Tallies) -> Iterator[RowCount]:
    """Count a version's rows of every class by split, and by domain if there are several.

    Args:
        version: The version.
        config: The config.
        tallies: The sums of its rows.

    Yields:
        The counts; ``all`` domains after each domain, and ``all`` classes after each class.
    """
    spec = version.builder.SPEC
    n_rows: Counter[tuple[str, str, str]] = Counter()
    for (split, label, domain), sums in tallies.items():
        for place in product((domain, "all"), (spec.labels[label], "all")):
            n_rows[split, *place] += int(sums[0])
    domains = _domains(tallies)
    for split in version.manifest.configs[config]:
        published = spec.published.get(config, {}).get(split, {})
        for domain in [*(domains if len(domains) > 1 else ()), "all"]:
            known = {name: _published(published, domain, name) for name in spec.labels}
            total = sum(n or 0 for n in known.values())
            known["all"] = None if None in known.values() else total
            for name, n in known.items():
                yield RowCount(split, domain, name, n_rows[split, domain, name], n)


def _domains(tallies: Tallies) -> list[str]:
    return list(dict.fromkeys(domain for _, _, domain in tallies))


def _published(published: PublishedCounts, domain: str, label: str) -> int | None:
    what, key = ("label", label) if domain == "all" else ("domain, label", (domain, label))
    counts = published.get(what, {})
    return None if isinstance(counts, int) else counts.get(key)


#: Words of premise and hypothesis, overlap in percent, share of S roots in percent of each.
_NAMES = ("premise_tokens", "hypothesis_tokens", "overlap", "premise_s_roots", "hypothesis_s_roots")
#: By dataset and config; over all splits of the release.
_FIGURES = {
    # SciNLI, Table 3.
    ("scinli", "default"): {
        "class contrasting": (27.41, 24.50, 31.33, 97.3, 97.4),
        "class reasoning": (28.25, 24.32, 32.75, 97.5, 97.7),
        "class entailment": (27.08, 28.90, 32.98, 96.9, 95.9),
        "class neutral": (26.76, 26.02, 23.18, 95.3, 95.6),
        "all": (27.38, 25.93, 30.06, 96.8, 96.7),
    },
    # MSciNLI, Table 2.
    ("mscinli", "default"): {
        "domain hardware": (26.10, 24.59, 30.52, 94.3, 94.5),
        "domain networks": (26.37, 25.01, 30.17, 93.9, 93.7),
        "domain software_engineering": (25.80, 24.51, 29.83, 93.9, 94.1),
        "domain security_privacy": (26.14, 24.50, 29.91, 94.0, 94.2),
        "domain neurips": (29.80, 29.66, 31.04, 96.0, 95.1),
        "all": (26.84, 25.85, 30.29, 94.4, 94.3),
    },
}


@dataclass(frozen=True)
class TextFigures:
    """Lengths and overlap of the texts of some rows.

    Attributes:
        part: The rows: ``class NAME``, ``domain NAME``, ``split NAME`` or ``all``.
        rows: Number of rows.
        premise_tokens: Mean number of tokens of a premise (``split_tokens``); None without rows.
        hypothesis_tokens: Mean number of tokens of a hypothesis; None without rows.
        overlap: Mean percentage of the tokens of a hypothesis that its premise has too (see
            ``find_overlap``); None without rows.
        published: The paper's figures by name; empty where it has none for these rows.
    """

    part: str
    rows: int
    premise_tokens: float | None
    hypothesis_tokens: float | None
    overlap: float | None
    published: Mapping[str, float]


def find_overlap(premise: Sequence[str], hypothesis: Sequence[str]) -> float:
    """Return the percentage of the tokens of a hypothesis that its premise has too.

    A token counts as often as it occurs in the hypothesis, however often it occurs in the premise;
    marks count like words.

    Args:
        premise: Tokens in lower-case letters.
        hypothesis: Tokens in lower-case letters; without any, the overlap is 0.

    Source: SciNLI, section 3.5, which says no more than "tokens". On its validation and test sets
        this gives 29.0 (Table 3: 30.06, of all pairs), by class on average 1.1 off. Without
        lower-case letters it would be 27.9, with each different token counted once 26.0, with a
        token counted at most as often as the premise has it 25.4, without stop words 25.3, and
        without marks 22.7.

    >>> find_overlap(["the", "cat", "."], ["the", "dog", "saw", "the", "man", "."])
    50.0
    """
    known = set(premise)
    n_shared = sum(token in known for token in hypothesis)
    return 100 * n_shared / len(hypothesis) if hypothesis else 0.0


def tally_texts(version: BuiltVersion, config: str) -> Tallies:
    """Count the tokens of a version's texts, reading rows in batches.

    Args:
        version: The version.
        config: The config.

    Returns:
        The number of rows, tokens of premises, tokens of hypotheses, and the sum of the overlaps.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    tallies: defaultdict[tuple[str, int, str], Sums] = defaultdict(lambda: np.zeros(4))
    columns = ["label", "domain", *TEXTS]
    for split in version.manifest.configs[config]:
        for batch in version.batches(config, split, columns):
            rows = zip(*(batch[name].to_pylist() for name in columns), strict=True)
            for label, domain, *texts in rows:
                premise, hypothesis = (split_tokens(text or "") for text in texts)
                overlap = find_overlap(premise, hypothesis)
                tallies[split, label, domain] += (1, len(premise), len(hypothesis), overlap)
    return tallies


def describe_texts(version: BuiltVersion, config: str, tallies: Tallies) -> Iterator[TextFigures]:
    """Yield the figures of the texts of every class, domain and split, and of all rows.

    Args:
        version: The version.
        config: The config.
        tallies: The sums from ``tally_texts``.
    """
    spec = version.builder.SPEC
    splits = list(version.manifest.configs[config])
    for part, (n_rows, *totals) in sum_tallies(tallies, spec.labels, splits, 4):
        premise, hypothesis, overlap = (
            round(float(total / n_rows), 2) if n_rows else None for total in totals
        )
        published = published_texts(spec.name, config, part)
        yield TextFigures(part, int(n_rows), premise, hypothesis, overlap, published)


def published_texts(dataset: str, config: str, part: str) -> Mapping[str, float]:
    """Return the figures, by name, that a paper publishes for the texts of some rows, if any.

    Args:
        dataset: The dataset.
        config: The config.
        part: The rows: ``class NAME``, ``domain NAME`` or ``all``.
    """
    figures = _FIGURES.get((dataset, config), {}).get(part)
    return dict(zip(_NAMES, figures, strict=True)) if figures else {}
