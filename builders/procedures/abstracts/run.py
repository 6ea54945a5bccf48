"""Construct a dataset from files of annotated abstracts: rows, a report and a declaration."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....loaders.corpora.abstracts.abstract import SkippedAbstract
from ....loaders.corpora.abstracts.read import FORMATS, read_abstracts
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from ..splits import ByRatio
from .declaration import POSITIVE, AbstractsDeclaration
from .mechanisms.find import find_mechanisms
from .mechanisms.mechanism import NO_PHRASE, Mechanism, NoMechanism
from .negatives import (
    Negative,
    category_of_negative,
    choose_balanced_mechanisms,
    choose_full_negatives,
    make_negatives,
)
from .recipe import AbstractsRecipe
from .rows import AbstractRows

#: Why a mechanism is not taken.
SAME_TEXTS = "another abstract has the same supporting set"


@dataclass(frozen=True)
class SelectedMechanisms:
    """The mechanisms of a corpus of abstracts, and their splits.

    Attributes:
        mechanisms: The mechanisms that are taken, by pmid.
        splits: The split of each.
        n_read: Number of abstracts and records found, whether they could be read or not.
        not_taken: Why the others give no mechanism, in the order of the files; then duplicates, by
            pmid alone.
        left_out: Entities, relations and lines left out of abstracts that were read.
    """

    mechanisms: Sequence[Mechanism]
    splits: Sequence[str]
    n_read: int
    not_taken: Sequence[SkippedAbstract | NoMechanism]
    left_out: Sequence[SkippedAbstract]

    def dropped(self) -> dict[str, int]:
        """Count the abstracts that are not taken by reason, the most frequent first."""
        return dict(Counter(entry.reason for entry in self.not_taken).most_common())


def select_mechanisms(
    found: Iterable[Mechanism | NoMechanism | SkippedAbstract], splitting: ByRatio, seed: int
) -> SelectedMechanisms:
    """Take each mechanism of a corpus once, and put it into a split by its pmid.

    Of those with the same supporting set, however it is cut into sentences, that with the least
    pmid is taken: no premise is in two splits, and none has a sentence for a positive and for a
    negative. A file that is not read at all counts as one abstract.

    Args:
        found: The mechanisms, and the abstracts that give none.
        splitting: The rule that splits abstracts.
        seed: Seed of the splits.
    """
    mechanisms: list[Mechanism] = []
    not_taken: list[SkippedAbstract | NoMechanism] = []
    left_out: list[SkippedAbstract] = []
    for one in found:
        if isinstance(one, Mechanism):
            mechanisms.append(one)
        elif isinstance(one, NoMechanism) or one.unit in ("abstract", "record", "file"):
            not_taken.append(one)
        else:
            left_out.append(one)
    n_read = len(mechanisms) + len(not_taken)
    taken: dict[str, Mechanism] = {}
    for one in sorted(mechanisms, key=lambda mechanism: mechanism.pmid):
        first = taken.setdefault(" ".join(" ".join(one.supporting).split()), one)
        if first is not one:
            detail = f"that of {first.pmid} is taken"
            not_taken.append(NoMechanism("", 0, one.pmid, SAME_TEXTS, detail))
    chosen = list(taken.values())
    splits = [splitting.place_of(one.pmid, None, seed).split or "" for one in chosen]
    return SelectedMechanisms(chosen, splits, n_read, not_taken, left_out)


_MAX_FILES_SHOWN = 3
_MAX_SHOWN = 10

AUTOMATIC = (
    "**All labels are automatic.** A positive is the abstract's own conclusion, a negative what\n"
    "a rule or a model made of it; nobody has checked that it does not follow."
)


@contextmanager
def run(
    paths: Sequence[Path],
    recipe: AbstractsRecipe,
    declared: Declared,
    options: BuildOptions,
    tell: Tell,
) -> Iterator[Construction]:
    """Make a dataset from abstracts, whose mechanisms are kept in memory; see ``RunProcedure``.

    Raises:
        SourceNotFoundError: There is no file.
        TooFewError: A split has no mechanism, or no training mechanism a negative.
    """
    splits = recipe.splitting.splits
    AbstractsDeclaration(declared, (), recipe.domain, splits).spec()  # before the long read
    files = [file.path for file in find_paper_files(paths, FORMATS)]
    found = find_mechanisms(read_abstracts(files), recipe.mechanism_rules)
    chosen = select_mechanisms(found, recipe.splitting, recipe.seed)
    report = _report(chosen)
    for split in splits:
        if split not in chosen.splits:
            raise TooFewError(f"No mechanism for {split}. {_say_why(chosen)}", report)
    writer = recipe.writer(tell)
    made, refused = make_negatives(
        chosen.mechanisms, recipe.strategy_names, recipe.seed, options.num_proc, writer
    )
    full = choose_full_negatives(chosen.mechanisms, chosen.splits, made, recipe.seed)
    is_balanced = choose_balanced_mechanisms(
        chosen.mechanisms, chosen.splits, full, recipe.max_per_category, recipe.seed
    )
    report = _report(chosen, _negative_counts(made, refused))
    for split in splits:
        if not any(some for some, of in zip(full, chosen.splits, strict=True) if of == split):
            raise TooFewError(f"No negative for {split}. {_say_why(chosen)}", report)
    categories = (POSITIVE, *dict.fromkeys(map(category_of_negative, refused)))
    declaration = AbstractsDeclaration(declared, categories, recipe.domain, splits)
    rows = AbstractRows(
        chosen.mechanisms,
        chosen.splits,
        full,
        is_balanced,
        recipe.domain,
        {**recipe.parameters(), **({"generation": writer.parameters()} if writer else {})},
        recipe.seed,
        options.keys(declaration.spec()),
    )
    yield Construction(rows, report, declaration)


def _report(
    chosen: SelectedMechanisms, negatives: Mapping[str, Any] | None = None
) -> ConstructionReport:
    counts: dict[str, Any] = {"abstracts": _abstract_counts(chosen)}
    if negatives is not None:
        counts = {"annotation": AUTOMATIC, **counts, "negatives": negatives}
    shown = list_left_out(chosen.not_taken, "not taken ")
    left_out = {"not_taken": chosen.not_taken, "left_out": chosen.left_out}
    return ConstructionReport(counts, left_out, [*shown, *_summary(counts)])


def list_left_out(left_out: Sequence[SkippedAbstract | NoMechanism], prefix: str) -> list[str]:
    """Return a line for each of the first abstracts left out, and one on how many more there are.

    A line has a prefix, file, line, pmid, reason and detail, as far as they are known.
    """
    lines = []
    for one in left_out[:_MAX_SHOWN]:
        place = f"{one.file}:{one.line}" if one.line else one.file
        pmid = f"(pmid {one.pmid})" if one.pmid else ""
        lines.append(f"{prefix}{f'{place} {pmid}'.strip()}: {one.reason}: {one.detail}")
    n_more = len(left_out) - len(lines)
    return [*lines, f"and {n_more:,} more"] if n_more else lines


def _summary(counts: Mapping[str, Any]) -> Iterator[str]:
    abstracts = counts["abstracts"]
    dropped = list_reasons(abstracts["dropped"])
    yield f"{abstracts['kept']:,} of {abstracts['read']:,} abstracts{dropped}"
    for what, n in abstracts["left_out"].items():
        yield f"{n:,} left out of their abstracts: {what}"
    for kind, made in counts.get("negatives", {}).items():
        dropped = list_reasons(made["dropped"])
        yield f"{kind}: {made['kept']:,} of {made['read']:,} mechanisms{dropped}"


def _abstract_counts(chosen: SelectedMechanisms) -> Mapping[str, Any]:
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
    """Count by kind the mechanisms that were tried, gave a negative, and were refused, and why."""
    n_made = Counter(one.kind for some in made for one in some)
    return {
        kind: {
            "read": n_made[kind] + dropped.total(),
            "kept": n_made[kind],
            "dropped": dict(dropped.most_common()),
        }
        for kind, dropped in refused.items()
    }


def _say_why(chosen: SelectedMechanisms) -> str:
    """Say why so few abstracts are taken."""
    dropped = chosen.dropped()
    shown = ", ".join(f"{n:,} {reason}" for reason, n in list(dropped.items())[:4])
    text = f"{len(chosen.mechanisms):,} of {chosen.n_read:,} abstracts give a mechanism"
    text += f"; {shown}." if shown else "."
    files = [
        one for one in chosen.not_taken if isinstance(one, SkippedAbstract) and one.unit == "file"
    ]
    text += "".join(f" {one.file}: {one.detail}." for one in files[:_MAX_FILES_SHOWN])
    if NO_PHRASE in dropped:
        text += " More sets of phrases find more conclusions."
    return text
