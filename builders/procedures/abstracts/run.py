"""From files of annotated abstracts to rows, a report and a declaration."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ....loaders.corpora.abstracts.abstract import Skipped
from ....loaders.corpora.abstracts.read import FORMATS, read_abstracts
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from .declaration import POSITIVE, AbstractsDeclaration
from .distributions import choose_balanced, choose_full
from .mechanisms.find import find_mechanisms
from .mechanisms.mechanism import NO_PHRASE, NoMechanism
from .negatives import Negative, category_of, make_negatives
from .recipe import AbstractsRecipe
from .rows import AbstractRows
from .select_mechanisms import Selection, select_mechanisms

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
    report = _report(chosen, {"abstracts": _abstract_counts(chosen)})
    for split in splits:
        if split not in chosen.splits:
            raise TooFewError(f"No mechanism for {split}. {_say_why(chosen)}", report)
    writer = recipe.writer(tell)
    made, refused = make_negatives(
        chosen.mechanisms, recipe.strategy_names, recipe.seed, options.num_proc, writer
    )
    full = choose_full(chosen.mechanisms, chosen.splits, made, recipe.seed)
    is_balanced = choose_balanced(
        chosen.mechanisms, chosen.splits, full, recipe.max_per_category, recipe.seed
    )
    report = _report(
        chosen,
        {
            "annotation": AUTOMATIC,
            "abstracts": _abstract_counts(chosen),
            "negatives": _negative_counts(made, refused),
        },
    )
    for split in splits:
        is_of = [one == split for one in chosen.splits]
        if not any(negatives for negatives, mine in zip(full, is_of, strict=True) if mine):
            raise TooFewError(f"No negative for {split}. {_say_why(chosen)}", report)
    categories = (POSITIVE, *dict.fromkeys(map(category_of, refused)))
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


def _report(chosen: Selection, counts: Mapping[str, Any]) -> ConstructionReport:
    return ConstructionReport(
        counts,
        {"not_taken": chosen.not_taken, "left_out": chosen.left_out},
        [*_summary(chosen.not_taken), *_summary_of_counts(counts)],
    )


def show_left_out(one: Skipped | NoMechanism) -> str:
    """Return file, line, pmid, reason and detail of what was left out, as far as they are known."""
    place = f"{one.file}:{one.line}" if one.line else one.file
    pmid = f"(pmid {one.pmid})" if one.pmid else ""
    return f"{f'{place} {pmid}'.strip()}: {one.reason}: {one.detail}"


def _summary(not_taken: Sequence[Skipped | NoMechanism]) -> Iterator[str]:
    for entry in not_taken[:_MAX_SHOWN]:
        yield f"not taken {show_left_out(entry)}"
    if len(not_taken) > _MAX_SHOWN:
        yield f"and {len(not_taken) - _MAX_SHOWN:,} more"


def _summary_of_counts(counts: Mapping[str, Any]) -> Iterator[str]:
    abstracts = counts["abstracts"]
    dropped = list_reasons(abstracts["dropped"])
    yield f"{abstracts['kept']:,} of {abstracts['read']:,} abstracts{dropped}"
    for what, n in abstracts["left_out"].items():
        yield f"{n:,} left out of their abstracts: {what}"
    for kind, made in counts.get("negatives", {}).items():
        dropped = list_reasons(made["dropped"])
        yield f"{kind}: {made['kept']:,} of {made['read']:,} mechanisms{dropped}"


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


def _say_why(chosen: Selection) -> str:
    """Say why so few abstracts are taken."""
    dropped = chosen.dropped()
    shown = ", ".join(f"{n:,} {reason}" for reason, n in list(dropped.items())[:4])
    text = f"{len(chosen.mechanisms):,} of {chosen.n_read:,} abstracts give a mechanism"
    text += f"; {shown}." if shown else "."
    files = [one for one in chosen.not_taken if isinstance(one, Skipped) and one.unit == "file"]
    text += "".join(f" {one.file}: {one.detail}." for one in files[:_MAX_FILES_SHOWN])
    if NO_PHRASE in dropped:
        text += " More sets of phrases find more conclusions."
    return text
