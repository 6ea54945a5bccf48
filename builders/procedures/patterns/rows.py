"""Make rows of the uniform schema from samples of a pattern bank, in configs and splits."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ....loaders.corpora.patterns.pattern_bank import LABELS
from ....loaders.corpora.patterns.records import Pattern, ReleasedProblem, category_name
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
    """Return samples of a pattern bank as one table in the uniform schema, a row a problem.

    Ids are ``PATTERN-0``, ``PATTERN-1`` ... as in the release.

    Args:
        samples: The samples, in order.
        id_infix: Stands between a pattern's id and the number of the problem, to tell the ids of
            another draw from those of the release.
        domain: The domain of every row.
    """
    return _encode(
        samples,
        [sample.pattern for sample in samples],
        [sample.pattern.id for sample in samples],
        [f"{s.pattern.id}-{id_infix}{k}" for s in samples for k in range(len(s))],
        list(chain.from_iterable(sample.premises for sample in samples)),
        list(chain.from_iterable(sample.hypotheses for sample in samples)),
        _fillers(samples),
        domain,
    )


def encode_released(problems: Sequence[ReleasedProblem]) -> pa.Table:
    """Return the released sample as one table in the uniform schema, a row a problem."""
    fillers = [
        [{"variable": name, "phrase": phrase} for name, phrase in problem.fillers.items()]
        for problem in problems
    ]
    type_of_fillers = uniform_features(LABELS, EXTRA).arrow_schema.field("fillers").type
    return _encode(
        [[problem] for problem in problems],
        problems,
        [problem.pattern for problem in problems],
        [problem.id for problem in problems],
        [problem.premises for problem in problems],
        [problem.hypothesis for problem in problems],
        pa.array(fillers, type_of_fillers),
        "spatial",
    )


def _encode(
    samples: Sequence[Sized],
    patterns: Sequence[Pattern | ReleasedProblem],
    pattern_ids: Sequence[str],
    ids: list[str],
    premises: list[str],
    hypotheses: list[str],
    fillers: pa.ListArray,
    domain: str,
) -> pa.Table:
    """Encode samples of n problems in all, each with its pattern and the pattern's id."""

    def repeat(values: Iterable[Any]) -> list[Any]:
        """Return a value for each sample, once for each of its problems."""
        return list(chain.from_iterable([v] * len(s) for v, s in zip(values, samples, strict=True)))

    attributes = [pattern.attributes for pattern in patterns]
    columns: dict[str, Any] = {
        "id": ids,
        "premise": premises,
        "hypothesis": hypotheses,
        "label": repeat(pattern.label for pattern in patterns),
        "group": repeat(pattern_ids),
        "category": repeat(category_name(given.get("ent_type")) for given in attributes),
        "domain": [domain] * len(ids),
        "source": repeat(given.get("src") for given in attributes),
        "n_premises": repeat(pattern.n_premises for pattern in patterns),
        "has_negation": pc.or_(_has_not(premises), _has_not(hypotheses)),
        "expressions": repeat(_expressions(given) for given in attributes),
    }
    for column, attribute in _FROM_ATTRIBUTE.items():
        columns[column] = repeat(given.get(attribute) for given in attributes)
    columns["fillers"] = fillers
    return encode(columns, uniform_features(LABELS, EXTRA))


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
    """Return which problems drawn from patterns are the pool of shots; the others are the test.

    Half of the problems of each pattern are in the pool, 100 of 200 in SpaceNLI: those whose text
    another pattern also yields, so that no test problem is ever a shot, then those with the lowest
    hash of their text.

    Args:
        rows: n rows with ``premise``, ``hypothesis`` and ``group``; n booleans are returned.

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
    """The rows of a pattern dataset; see ``Rows``.

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
        """Yield one batch with every row."""
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
