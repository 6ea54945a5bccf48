"""Make rows of the uniform schema from samples of a pattern bank, in configs and splits."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ....loaders.corpora.patterns.pattern_bank import LABELS
from ....loaders.corpora.patterns.records import Problem, category_name
from ....loaders.errors import SchemaError
from ....loaders.releases import Oddities
from ...core.base import Batch
from ...core.encode import encode
from ...core.options import Key
from ...core.schema import uniform_features
from .declaration import CATEGORIES, EXTRA
from .sampling import PatternSample


def encode_samples(
    samples: Iterable[PatternSample], id_infix: str = "", domain: str = "spatial"
) -> pa.Table:
    """Return samples of a pattern bank as one table in the uniform schema, a row a problem.

    Args:
        samples: The samples, in order.
        id_infix: See ``PatternSample.problems``.
        domain: The domain of every row.
    """
    problems = (problem for sample in samples for problem in sample.problems(id_infix))
    return encode_problems(list(problems), domain)


def encode_problems(problems: Sequence[Problem], domain: str = "spatial") -> pa.Table:
    """Return problems as one table in the uniform schema."""
    attributes = [problem.attributes for problem in problems]
    premises = [problem.premises for problem in problems]
    hypotheses = [problem.hypothesis for problem in problems]
    columns = {
        "id": [problem.id for problem in problems],
        "premise": premises,
        "hypothesis": hypotheses,
        "label": [problem.label for problem in problems],
        "group": [problem.pattern for problem in problems],
        "category": [category_name(given.get("ent_type")) for given in attributes],
        "domain": [domain] * len(problems),
        "source": [given.get("src") for given in attributes],
        "n_premises": [problem.n_premises for problem in problems],
        "has_negation": pc.or_(_has_not(premises), _has_not(hypotheses)),
        "expressions": [
            [e.strip() for e in given.get("exp", "").split(",") if e.strip()]
            for given in attributes
        ],
        "inference_type": [given.get("cat") for given in attributes],
        "related_pattern": [given.get("rel") for given in attributes],
        "seed_pattern": [given.get("seed") for given in attributes],
        "fillers": _fillers([problem.fillers for problem in problems]),
    }
    return encode(columns, uniform_features(LABELS, EXTRA))


def _fillers(fillers: Sequence[Mapping[str, str]]) -> pa.ListArray:
    """Return the fillers of problems, far faster than from a dictionary for each variable."""
    offsets = pa.array(accumulate(map(len, fillers), initial=0), pa.int32())
    names = pa.array(chain.from_iterable(fillers), pa.string())
    phrases = pa.array(chain.from_iterable(f.values() for f in fillers), pa.string())
    pairs = pa.StructArray.from_arrays([names, phrases], ["variable", "phrase"])
    return pa.ListArray.from_arrays(offsets, pairs)


def _has_not(texts: Sequence[str]) -> pa.BooleanArray:
    return pc.match_substring_regex(pa.array(texts, pa.string()), r"\bnot\b")


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
    times = Counter(texts)
    ranked: defaultdict[str, list[tuple[bool, bytes, int]]] = defaultdict(list)
    for row, (text, group) in enumerate(zip(texts, rows["group"].to_pylist(), strict=True)):
        key = hashlib.sha256(text.encode()).digest()
        ranked[group].append((times[text] == 1, key, row))
    in_pool = [False] * len(texts)
    for group, order in ranked.items():
        order.sort()
        size = len(order) // 2
        if not order[size][0]:
            raise SchemaError(f"Pattern {group} shares more than {size} texts with others.")
        for _, _, row in order[:size]:
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
