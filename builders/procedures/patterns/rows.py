"""Samples of a pattern bank as rows of the uniform schema, dealt into configs and splits."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ....loaders.corpora.patterns.pattern_bank import LABELS
from ....loaders.corpora.patterns.records import ReleasedProblem, category_name
from ....loaders.errors import SchemaError
from ....loaders.releases import Oddities
from ...core.base import Batch
from ...core.encode import encode
from ...core.options import Key
from ...core.schema import uniform_features
from .declaration import CATEGORIES, EXTRA
from .sampling import PatternSample

_FROM_ATTRIBUTE = {
    "inference_type": "cat",
    "related_pattern": "rel",
    "seed_pattern": "seed",
}


def encode_samples(
    samples: Sequence[PatternSample], id_infix: str = "", domain: str = "spatial"
) -> pa.Table:
    """Return samples as one table in the uniform schema.

    Args:
        samples: The samples, in order.
        id_infix: Stands between a pattern's id and the number of the problem, to tell the ids of
            another draw from those of the release.
        domain: The domain of every row.

    Returns:
        A row a problem; ids are ``PATTERN-0``, ``PATTERN-1`` ... as in the release.
    """

    def repeat(values: Sequence[Any]) -> list[Any]:
        """A value for each sample, once for each of its problems."""
        return list(chain.from_iterable([v] * len(s) for v, s in zip(values, samples, strict=True)))

    patterns = [sample.pattern for sample in samples]
    premises = list(chain.from_iterable(sample.premises for sample in samples))
    hypotheses = list(chain.from_iterable(sample.hypotheses for sample in samples))
    columns: dict[str, Any] = {
        "id": [f"{s.pattern.id}-{id_infix}{k}" for s in samples for k in range(len(s))],
        "premise": premises,
        "hypothesis": hypotheses,
        "label": repeat([pattern.label for pattern in patterns]),
        "group": repeat([pattern.id for pattern in patterns]),
        "category": repeat([pattern.category for pattern in patterns]),
        "domain": [domain] * len(premises),
        "source": repeat([pattern.attributes.get("src") for pattern in patterns]),
        "n_premises": repeat([pattern.n_premises for pattern in patterns]),
        "has_negation": pc.or_(_has_not(premises), _has_not(hypotheses)),
        "expressions": repeat([_expressions(pattern.attributes) for pattern in patterns]),
    }
    for column, attribute in _FROM_ATTRIBUTE.items():
        columns[column] = repeat([pattern.attributes.get(attribute) for pattern in patterns])
    columns["fillers"] = _fillers(samples)
    return encode(columns, uniform_features(LABELS, EXTRA))


def encode_released(problems: Sequence[ReleasedProblem]) -> pa.Table:
    """The released sample as one table in the uniform schema, as ``encode_samples`` gives it.

    Args:
        problems: The problems, in order.

    Returns:
        A row a problem.
    """
    premises = [problem.premises for problem in problems]
    hypotheses = [problem.hypothesis for problem in problems]
    fillers = [
        [{"variable": name, "phrase": phrase} for name, phrase in problem.fillers.items()]
        for problem in problems
    ]
    columns: dict[str, Any] = {
        "id": [problem.id for problem in problems],
        "premise": premises,
        "hypothesis": hypotheses,
        "label": [problem.label for problem in problems],
        "group": [problem.pattern for problem in problems],
        "category": [category_name(problem.attributes.get("ent_type")) for problem in problems],
        "domain": ["spatial"] * len(problems),
        "source": [problem.attributes.get("src") for problem in problems],
        "n_premises": [problem.n_premises for problem in problems],
        "has_negation": pc.or_(_has_not(premises), _has_not(hypotheses)),
        "expressions": [_expressions(problem.attributes) for problem in problems],
    }
    for column, attribute in _FROM_ATTRIBUTE.items():
        columns[column] = [problem.attributes.get(attribute) for problem in problems]
    features = uniform_features(LABELS, EXTRA)
    columns["fillers"] = pa.array(fillers, features.arrow_schema.field("fillers").type)
    return encode(columns, features)


def _expressions(attributes: Mapping[str, str]) -> list[str]:
    return [e.strip() for e in attributes.get("exp", "").split(",") if e.strip()]


def _has_not(texts: list[str]) -> pa.BooleanArray:
    return pc.match_substring_regex(pa.array(texts, pa.string()), r"\bnot\b")


def _fillers(samples: Sequence[PatternSample]) -> pa.ListArray:
    variables: list[str] = []
    phrases: list[str] = []
    offsets = [0]
    for sample in samples:
        width = len(sample.variables)
        variables.extend(sample.variables * len(sample))
        phrases.extend(chain.from_iterable(sample.phrases))
        first = offsets[-1]
        offsets.extend(first + width * (number + 1) for number in range(len(sample)))
    pairs = pa.StructArray.from_arrays(
        [pa.array(variables, pa.string()), pa.array(phrases, pa.string())], ["variable", "phrase"]
    )
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pairs)


def few_shot_pool(rows: pa.Table) -> list[bool]:
    """Return which rows are the pool to draw shots from; the others are the few-shot test set.

    Half of the problems of each pattern are in the pool, 100 of 200 in SpaceNLI: those whose text
    another pattern also yields, so that no test problem is ever a shot, then those with the lowest
    hash of their text.

    Args:
        rows: n rows with ``premise``, ``hypothesis`` and ``group``.

    Returns:
        n booleans.

    Raises:
        SchemaError: A pattern shares more texts with others than fit the pool.

    Source:
        SpaceNLI, section 4.2.3.
    """
    texts = pc.binary_join_element_wise(rows["premise"], rows["hypothesis"], "\n").to_pylist()
    groups = rows["group"].to_pylist()
    n_of_text = Counter(texts)
    order: dict[str, list[tuple[bool, bytes, int]]] = {}
    for row, (text, group) in enumerate(zip(texts, groups, strict=True)):
        key = hashlib.sha256(text.encode()).digest()
        order.setdefault(group, []).append((n_of_text[text] == 1, key, row))
    in_pool = [False] * len(texts)
    for group, ranked in order.items():
        ranked.sort()
        size = len(ranked) // 2
        if not ranked[size][0]:
            raise SchemaError(f"Pattern {group} shares more than {size} texts with others.")
        for _, _, row in ranked[:size]:
            in_pool[row] = True
    return in_pool


@dataclass(frozen=True)
class PatternRows:
    """The rows of a pattern dataset.

    Attributes:
        table: Every row of the default config.
        keys: The splits of configs that are wanted.
        sources: The source files.
        parameters: Seed and size of the draw.
    """

    table: pa.Table
    keys: frozenset[Key]
    sources: list[Mapping[str, Any]]
    parameters: Mapping[str, Any]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """One batch with every row; see ``Rows``."""
        members: dict[Key, pa.BooleanArray | None] = {
            (category, "test"): pc.equal(self.table["category"], category).combine_chunks()
            for category in CATEGORIES
        }
        members["default", "test"] = None
        if any(config == "few_shot" for config, _ in self.keys):
            pool = pa.array(few_shot_pool(self.table))
            members["few_shot", "train"] = pool
            members["few_shot", "test"] = pc.invert(pool)
        yield Batch(self.table, {key: members[key] for key in self.keys})
