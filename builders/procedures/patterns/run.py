"""Make a dataset from a pattern bank: rows, a report and a declaration."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow.compute as pc

from ....loaders.corpora.patterns.pattern_bank import find_pattern_bank, scan_pattern_bank
from ....loaders.errors import UsageError
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ...dataflow.report import ConstructionReport
from ..about import Declared
from ..procedure import Construction
from .declaration import CATEGORIES, PatternsDeclaration, describe_file
from .recipe import PatternsRecipe, SamplingConfig
from .rows import PatternRows, encode_samples, few_shot_pool
from .sampling import PatternSample, sample_bank

_MAX_SHOWN = 10

BY_MAKER = (
    "**The label of a problem is that of its pattern**, which the maker of the bank gave; nobody\n"
    "has checked single problems."
)


@contextmanager
def run(
    paths: Sequence[Path],
    recipe: PatternsRecipe,
    declared: Declared,
    options: BuildOptions,
    tell: Tell,
) -> Iterator[Construction]:
    """Make a dataset from a pattern bank; see ``RunProcedure``.

    Raises:
        SourceNotFoundError: The folder is missing, or does not hold one file of each kind.
        UsageError: There are several folders.
        BankError: The bank has defects; all are listed.
    """
    if len(paths) != 1:
        raise UsageError(f"{len(paths)} paths are given; expected one folder with a pattern bank.")
    PatternsDeclaration(declared, (), recipe.domain, True).spec()  # before the bank is read
    files = find_pattern_bank(paths[0])
    bank, defects = scan_pattern_bank(*files)
    samples = list(
        sample_bank(
            bank,
            SamplingConfig(recipe.per_pattern, recipe.seed),
            require_examples=True,
            known_defects=defects,
            num_proc=options.num_proc,
        )
    )
    table = encode_samples(samples, domain=recipe.domain)
    present = set(table["category"].unique().to_pylist())
    declaration = PatternsDeclaration(
        declared,
        tuple(category for category in CATEGORIES if category in present),
        recipe.domain,
        any(few_shot_pool(table)),
    )
    report = _report(samples, recipe.per_pattern, pc.sum(table["has_negation"]).as_py() or 0)
    sources = [describe_file(path, path.name) for path in files]
    keys = options.keys(declaration.spec())
    yield Construction(PatternRows(table, keys, sources, recipe.parameters()), report, declaration)


def _report(
    samples: Sequence[PatternSample], per_pattern: int, n_negated: int
) -> ConstructionReport:
    short = {s.pattern.id: len(s) for s in samples if len(s) < per_pattern}
    n_problems = sum(map(len, samples))
    counts = {
        "annotation": BY_MAKER,
        "patterns": {
            "read": len(samples),
            "problems": n_problems,
            "with_negation": n_negated,
            "short": short,
        },
    }
    summary = [f"{_count(n_problems, 'problem')} from {_count(len(samples), 'pattern')}"]
    if short:
        have = "have" if len(short) > 1 else "has"
        shown = [f"pattern {name} has {n:,}" for name, n in list(short.items())[:_MAX_SHOWN]]
        summary.append(
            f"{_count(len(short), 'pattern')} {have} fewer than {per_pattern:,} problems: "
            f"{', '.join(shown)}{', ...' * (len(short) > _MAX_SHOWN)}"
        )
    return ConstructionReport(counts, {}, summary)


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'s' * (n != 1)}"
