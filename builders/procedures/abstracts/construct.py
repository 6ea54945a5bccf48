"""From files of abstracts to a builder of the dataset that they give."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ....loaders.corpora.abstracts.read import FORMATS, read_abstracts
from ....loaders.corpora.abstracts.skipped import Skipped
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.errors import CorpusError
from ...core.base import NLIBuilder
from ...core.options import BuildOptions
from ..declared import Declared
from ..declared_builder import declared_builder
from .declaration import POSITIVE, AbstractDeclaration
from .distributions import choose_balanced, choose_full
from .mechanisms.find import find_mechanisms
from .mechanisms.mechanism import NO_PHRASE
from .mechanisms.mechanism import NoMechanism as Refused
from .negatives import Negative, Writer, category_of, make_negatives
from .recipe import Recipe
from .rows import AbstractRows
from .select_mechanisms import Selection, select_mechanisms

_MAX_SHOWN = 3

AUTOMATIC = (
    "**All labels are automatic.** A positive is the abstract's own conclusion, a negative what\n"
    "a rule or a model made of it; nobody has checked that it does not follow."
)


@dataclass(frozen=True)
class Report:
    """What was read, made and refused.

    Attributes:
        not_taken: Abstracts, records and files that give no mechanism, by file and line.
        left_out: Entities, relations and lines that were not read, by file and line.
        counts: Numbers of abstracts, and of negatives by kind, as the manifest has them.
    """

    not_taken: Sequence[Skipped | Refused]
    left_out: Sequence[Skipped]
    counts: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """It as plain values."""
        return {
            **self.counts,
            "not_taken": [asdict(entry) for entry in self.not_taken],
            "left_out": [asdict(entry) for entry in self.left_out],
        }


@dataclass(frozen=True)
class Construction:
    """A dataset that is being made from abstracts.

    Attributes:
        builder: Makes it.
        report: What was read, made and refused.
    """

    builder: type[NLIBuilder]
    report: Report


class TooFewError(CorpusError):
    """The abstracts give too little for a dataset.

    Attributes:
        report: What was read, and why so little is taken.
    """

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def construct(
    paths: Sequence[Path],
    recipe: Recipe,
    options: BuildOptions,
    declared: Declared,
    domain: str,
    writer: Writer | None = None,
) -> Construction:
    """Makes a dataset from abstracts. Its mechanisms are kept in memory.

    Args:
        paths: The files, and folders of such.
        recipe: How to make it.
        options: The configs and splits to make, and with how many processes.
        declared: What the maker declares.
        domain: The domain of the abstracts.
        writer: Makes negatives with models, besides those by rule.

    Raises:
        SourceNotFoundError: There is no file.
        TooFewError: A split has no mechanism, or no training mechanism a negative.
    """
    files = [file.path for file in find_paper_files(paths, FORMATS)]
    found = find_mechanisms(read_abstracts(files), recipe.rules)
    chosen = select_mechanisms(found, recipe.splitting, recipe.seed)
    counts = {"abstracts": _abstract_counts(chosen)}
    report = Report(chosen.not_taken, chosen.left_out, counts)
    for split in recipe.splitting.splits:
        if split not in chosen.splits:
            raise TooFewError(f"No mechanism for {split}. {_say_why(chosen)}", report)
    made, refused = make_negatives(
        chosen.mechanisms, recipe.strategies, recipe.seed, options.num_proc, writer
    )
    full = choose_full(chosen.mechanisms, chosen.splits, made, recipe.seed)
    is_balanced = choose_balanced(
        chosen.mechanisms, chosen.splits, full, recipe.max_per_category, recipe.seed
    )
    report = Report(
        chosen.not_taken,
        chosen.left_out,
        {
            "annotation": AUTOMATIC,
            "abstracts": _abstract_counts(chosen),
            "negatives": _negative_counts(made, refused),
        },
    )
    for split in recipe.splitting.splits:
        is_of = [one == split for one in chosen.splits]
        if not any(negatives for negatives, mine in zip(full, is_of, strict=True) if mine):
            raise TooFewError(f"No negative for {split}. {_say_why(chosen)}", report)
    categories = (POSITIVE, *dict.fromkeys(map(category_of, refused)))
    declaration = AbstractDeclaration(declared, categories, domain, recipe.splitting.splits)
    rows = AbstractRows(
        chosen.mechanisms,
        chosen.splits,
        full,
        is_balanced,
        domain,
        {**recipe.parameters(), **({"generation": writer.parameters()} if writer else {})},
        recipe.seed,
        options.keys(declaration.spec()),
    )
    return Construction(declared_builder(declaration.as_json(), rows, report.counts), report)


def _abstract_counts(chosen: Selection) -> Mapping[str, Any]:
    return {
        "read": chosen.n_read,
        "kept": len(chosen.mechanisms),
        "splits": dict(Counter(chosen.splits)),
        "dropped": chosen.dropped(),
        "left_out": dict(
            sorted(Counter(f"{one.unit}: {one.reason}" for one in chosen.left_out).items())
        ),
    }


def _negative_counts(
    made: Sequence[Sequence[Negative]], refused: Mapping[str, Counter[str]]
) -> Mapping[str, Any]:
    """By kind how many mechanisms were tried, how many gave a negative, and why others did not."""
    n_made = Counter(one.kind for some in made for one in some)
    return {
        kind: {
            "read": n_made[kind] + reasons.total(),
            "kept": n_made[kind],
            "dropped": dict(reasons.most_common()),
        }
        for kind, reasons in refused.items()
    }


def _say_why(chosen: Selection) -> str:
    """Why so few abstracts are taken, in words."""
    dropped = chosen.dropped()
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in list(dropped.items())[:4])
    told = f"{len(chosen.mechanisms):,} of {chosen.n_read:,} abstracts give a mechanism"
    told += f"; {reasons}." if reasons else "."
    files = [one for one in chosen.not_taken if isinstance(one, Skipped) and one.unit == "file"]
    told += "".join(f" {one.file}: {one.detail}." for one in files[:_MAX_SHOWN])
    if NO_PHRASE in dropped:
        told += " More sets of phrases find more conclusions."
    return told
