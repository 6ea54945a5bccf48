"""Draws NLI problems from the patterns of a bank (SpaceNLI, section 3.2).

``sample_bank`` with seed 42 and 200 problems a pattern draws, from the official bank, the official
release. The draw is the authors' own: Python's ``random.sample`` over a pattern's problems in
order, seeded anew for each pattern, the hand-written examples among the drawn moved to the front.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
from tqdm.auto import tqdm

from ...loaders.errors import BankError, Problem, UsageError
from ...loaders.records import MiniWorld, Pattern, PatternBank
from .pattern_space import PatternSpace

OFFICIAL_SEED = 42
OFFICIAL_PER_PATTERN = 200
ALL_PROBLEMS = -1
ONLY_EXAMPLES = 0


@dataclass(frozen=True)
class SamplingConfig:
    """What to draw.

    Attributes:
        per_pattern: Problems a pattern; a pattern that has fewer gives all. ``-1`` draws every
            problem, ``0`` all hand-written examples and nothing else.
        seed: Seed of Python's ``random``, used anew for each pattern.
        with_examples: Whether hand-written examples may be drawn.
        unlike: Leave out whatever this other draw contains, for a sample nobody has seen.
    """

    per_pattern: int = OFFICIAL_PER_PATTERN
    seed: int = OFFICIAL_SEED
    with_examples: bool = True
    unlike: "SamplingConfig | None" = None

    def __post_init__(self) -> None:
        if self.per_pattern < ALL_PROBLEMS:
            raise UsageError(f"per_pattern is {self.per_pattern}; expected -1, 0 or more")
        if self.per_pattern == ONLY_EXAMPLES and not self.with_examples:
            raise UsageError("per_pattern 0 means examples only, which with_examples=False forbids")


@dataclass(frozen=True)
class PatternSample:
    """The problems drawn from one pattern, in order.

    Attributes:
        pattern: The pattern.
        variables: Its variables, sorted.
        phrases: For each problem the phrase that fills each variable.
        sentences: For each sentence of the pattern, its text in each problem, without period.
        n_problems: How many problems the pattern has in all.
        n_missed_examples: How many of its hand-written examples it does not yield.
    """

    pattern: Pattern
    variables: tuple[str, ...]
    phrases: list[tuple[str, ...]]
    sentences: list[list[str]]
    n_problems: int
    n_missed_examples: int

    def __len__(self) -> int:
        return len(self.phrases)

    @property
    def premises(self) -> list[str]:
        """The premises of each problem, joined by ". " and closed by "."."""
        return [". ".join(row) + "." for row in zip(*self.sentences[:-1], strict=True)]

    @property
    def hypotheses(self) -> list[str]:
        """The hypothesis of each problem, closed by "."."""
        return [hypothesis + "." for hypothesis in self.sentences[-1]]


def draw_ranks(space: PatternSpace, config: SamplingConfig) -> list[int]:
    """The ranks of the problems to take from a pattern, in the order of the release.

    Args:
        space: The problems of the pattern.
        config: What to draw.

    Returns:
        Ranks, each from 0 to ``space.n_problems - 1`` and no two alike.

    Source:
        ``sample_from_pattern`` in ``python/generate_nli.py`` of SpaceNLI at 8c10e94d.
    """
    if config.per_pattern == ONLY_EXAMPLES:
        return list(space.example_ranks)
    left_out = set() if config.with_examples else set(space.example_ranks)
    if config.unlike is not None:
        left_out.update(draw_ranks(space, config.unlike))
    n = space.n_problems - len(left_out)
    if config.per_pattern == ALL_PROBLEMS or n <= config.per_pattern:
        drawn = np.arange(n)
    else:
        # The same positions as random.sample(list_of_problems, ...), without the list.
        drawn = np.array(random.Random(config.seed).sample(range(n), config.per_pattern))
    for rank in sorted(left_out):
        drawn[drawn >= rank] += 1
    ranks = drawn.tolist()
    if not config.with_examples:
        return ranks
    chosen = set(ranks)
    examples = [rank for rank in space.example_ranks if rank in chosen]
    rest = set(examples)
    return examples + [rank for rank in ranks if rank not in rest]


def sample_pattern(pattern: Pattern, world: MiniWorld, config: SamplingConfig) -> PatternSample:
    """Draws from one pattern; see ``sample_bank``."""
    space = PatternSpace(pattern, world)
    ranks = draw_ranks(space, config)
    phrases = space.phrases(space.combinations(np.array(ranks, dtype=np.int64)))
    return PatternSample(
        pattern=pattern,
        variables=space.variables,
        phrases=phrases,
        sentences=space.render(phrases),
        n_problems=space.n_problems,
        n_missed_examples=len(set(pattern.examples)) - len(space.example_ranks),
    )


def sample_bank(
    bank: PatternBank,
    config: SamplingConfig,
    *,
    min_problems: int = 1,
    require_examples: bool = False,
    known_problems: Iterable[Problem] = (),
    num_proc: int = 1,
) -> Iterator[PatternSample]:
    """Draws from every pattern of a bank, one after another.

    Args:
        bank: The patterns and their world.
        config: What to draw.
        min_problems: A pattern that has fewer problems is an error.
        require_examples: Whether a pattern must yield its own hand-written examples, the
            authors' sanity check.
        known_problems: Problems found while reading the bank, to be reported along.
        num_proc: Processes to spread the patterns over; the result does not depend on it.

    Yields:
        One sample a pattern, in the order of the bank.

    Raises:
        BankError: At the end, when a pattern's conditions contradict each other, when it has too
            few problems, yields one text twice or misses its examples; all such patterns in one
            report.
    """
    problems = list(known_problems)
    with ExitStack() as stack:
        progress = stack.enter_context(
            tqdm(total=len(bank), desc="Sampling patterns", unit="pattern", delay=1)
        )
        sample = partial(sample_pattern, world=bank.world, config=config)
        if num_proc > 1:
            pool = stack.enter_context(ProcessPoolExecutor(num_proc))
            samples = pool.map(sample, bank, chunksize=4)
        else:
            samples = map(sample, bank)
        for result in samples:
            problems.extend(_problems(result, min_problems, require_examples))
            progress.update()
            yield result
    if problems:
        raise BankError(problems)


def _problems(sample: PatternSample, min_problems: int, require_examples: bool) -> list[Problem]:
    messages = []
    if sample.n_problems == 0:
        messages.append(
            "its restrictions and constraints contradict each other: no problem is left"
        )
    elif sample.n_problems < min_problems:
        messages.append(f"has {sample.n_problems} problems, expected at least {min_problems}")
    if require_examples and sample.n_missed_examples:
        messages.append(f"does not yield {sample.n_missed_examples} of its own examples")
    if (twice := _first_repeated(list(zip(*sample.sentences, strict=True)))) is not None:
        messages.append(f"yields the same problem from two fillings: {'. '.join(twice)}.")
    pattern = sample.pattern
    return [Problem(pattern.file, pattern.line, f"pattern {pattern.id}", m) for m in messages]


def _first_repeated(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        if row in seen:
            return row
        seen.add(row)
    return None
