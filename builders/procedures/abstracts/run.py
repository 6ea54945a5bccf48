"""Construct a dataset from files of annotated abstracts: rows, a report and a declaration."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....loaders.corpora.abstracts.abstract import SkippedAbstract
from ....loaders.corpora.abstracts.read import FORMATS, read_abstracts
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from ..splits import list_uneven_splits
from .balance_negation import UNBALANCED, balance_negation, is_negated
from .declaration import POSITIVE, AbstractsDeclaration
from .distributions import FULL, TEST, TRAIN, Distribution, Membership, find_rare_kinds, list_kinds
from .mechanisms.find import find_mechanisms
from .mechanisms.mechanism import NO_PHRASE, Mechanism, NoMechanism
from .negatives import (
    Negative,
    category_of_negative,
    make_negatives,
)
from .recipe import AbstractsRecipe
from .rows import AbstractRows

#: Why a mechanism is not taken.
SAME_TEXTS = "another abstract has the same supporting set"


@dataclass(frozen=True)
class SelectedMechanisms:
    """The mechanisms of a corpus of abstracts.

    Attributes:
        mechanisms: The mechanisms that are taken, by pmid.
        n_read: Number of abstracts and records found, whether they could be read or not.
        not_taken: Why the others give no mechanism, in the order of the files; then duplicates, by
            pmid alone.
        left_out: Entities, relations and lines left out of abstracts that were read.
    """

    mechanisms: Sequence[Mechanism]
    n_read: int
    not_taken: Sequence[SkippedAbstract | NoMechanism]
    left_out: Sequence[SkippedAbstract]

    def dropped(self) -> dict[str, int]:
        """Count the abstracts that are not taken by reason, the most frequent first."""
        return dict(Counter(entry.reason for entry in self.not_taken).most_common())


def select_mechanisms(
    found: Iterable[Mechanism | NoMechanism | SkippedAbstract],
) -> SelectedMechanisms:
    """Take each mechanism of a corpus once.

    Of those with the same supporting set, however it is cut into sentences, that with the least
    pmid is taken: no premise is in two splits, and none has a sentence for a positive and for a
    negative. A file that is not read at all counts as one abstract.

    Args:
        found: The mechanisms, and the abstracts that give none.
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
    return SelectedMechanisms(list(taken.values()), n_read, not_taken, left_out)


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
        TooFewError: A split of a config has no positive, or no negative.
    """
    rule = recipe.distribution
    # Before the long read: what the maker declares may be wrong.
    AbstractsDeclaration(declared, (), recipe.domain, rule.splits, rule.rule).spec()
    files = [file.path for file in find_paper_files(paths, FORMATS)]
    chosen = select_mechanisms(find_mechanisms(read_abstracts(files), recipe.mechanism_rules))
    _check_splits(chosen, rule)
    writer = recipe.writer(tell)
    made, refused = make_negatives(
        chosen.mechanisms, recipe.strategy_names, recipe.seed, options.num_proc, writer
    )
    forms = []
    if recipe.balance_negation:
        balanced = balance_negation(chosen.mechanisms, made, recipe.seed)
        forms = _show_forms(chosen.mechanisms, made, balanced)
        n_left_out = sum(map(len, made)) - sum(map(len, balanced))
        refused.get("VNeg", Counter()).update({UNBALANCED: n_left_out})
        made = balanced
    if recipe.preferred is None:
        rule = replace(rule, preferred=find_rare_kinds(made))
    memberships = rule.distribute(chosen.mechanisms, made)
    categories = (POSITIVE, *dict.fromkeys(map(category_of_negative, refused)))
    distributions = {
        config: _count_members(found, made, rule.splits, categories)
        for config, found in memberships.items()
    }
    counts = {"negatives": _negative_counts(made, refused), "distributions": distributions}
    sizes = distributions[FULL]["mechanisms"]
    report = _report(chosen, sizes, counts)
    uneven = list_uneven_splits(rule.ratio, sizes, "mechanisms") if rule.ratio else []
    report = replace(report, summary=[*report.summary, *forms, *uneven])
    _check_labels(chosen, distributions, report)
    declaration = AbstractsDeclaration(declared, categories, recipe.domain, rule.splits, rule.rule)
    generation = {"generation": writer.parameters()} if writer else {}
    rows = AbstractRows(
        chosen.mechanisms,
        made,
        memberships,
        recipe.domain,
        {**recipe.parameters(), **rule.as_json(), **generation},
        recipe.seed,
        options.keys(declaration.spec()),
    )
    yield Construction(rows, report, declaration)


#: Where mechanisms are that the draw of training rows decides on.
_UNDECIDED = "train or validation"


def _check_splits(chosen: SelectedMechanisms, rule: Distribution) -> None:
    """Refuse a corpus with too few mechanisms for its splits, before negatives are made.

    Raises:
        TooFewError: A split has no mechanism.
    """
    found = Counter(rule.split_of(one.pmid) or _UNDECIDED for one in chosen.mechanisms)
    for split in rule.splits if rule.ratio else (_UNDECIDED, TEST):
        if not found[split]:
            told = f"No mechanism for {split}. {_say_why(chosen)}"
            raise TooFewError(told, _report(chosen, found))


def _check_labels(
    chosen: SelectedMechanisms,
    distributions: Mapping[str, Any],
    report: ConstructionReport,
) -> None:
    """Refuse distributions of which a split has rows of one label alone, or none.

    Raises:
        TooFewError: A split of a config has no positive, or no negative.
    """
    for config, found in distributions.items():
        for split, rows in found["rows"].items():
            if POSITIVE in rows and len(rows) > 1:
                continue
            lacking = "negative" if POSITIVE in rows else POSITIVE
            advice = "Give more abstracts, or choose the shares of the splits (ratio)"
            if rows and split == TRAIN:
                advice += " or fewer kinds that are drawn first (preferred)"
            told = f"No {lacking} for {split} of {config}. {_say_why(chosen)} {advice}."
            raise TooFewError(told, report)


def _count_members(
    memberships: Sequence[Membership],
    made: Sequence[Sequence[Negative]],
    splits: Sequence[str],
    categories: Sequence[str],
) -> Mapping[str, Any]:
    """Count the mechanisms of a config by split, and its rows by split and category."""
    n_mechanisms = Counter(one.split for one in memberships)
    n_rows = Counter(
        (one.split, category)
        for one, negatives in zip(memberships, made, strict=True)
        for category, kind in list_kinds(negatives)
        if one.kinds is None or kind in one.kinds
    )
    return {
        "mechanisms": {split: n_mechanisms[split] for split in splits},
        "in_no_split": n_mechanisms[None],
        "rows": {
            split: {name: n_rows[split, name] for name in categories if n_rows[split, name]}
            for split in splits
        },
    }


def _show_forms(
    mechanisms: Sequence[Mechanism],
    before: Sequence[Sequence[Negative]],
    after: Sequence[Sequence[Negative]],
) -> list[str]:
    """Say how many positives and negatives are negated, before and after balancing."""

    def share(texts: Sequence[str]) -> str:
        return f"{100 * sum(map(is_negated, texts)) / max(len(texts), 1):.1f} %"

    then, now = (share([n.text for some in made for n in some]) for made in (before, after))
    positives = share([one.conclusion for one in mechanisms])
    return [f"negated: {positives} of the positives, {now} of the negatives ({then} before)"]


def _report(
    chosen: SelectedMechanisms,
    splits: Mapping[str, int],
    made: Mapping[str, Any] | None = None,
) -> ConstructionReport:
    counts: dict[str, Any] = {"abstracts": _abstract_counts(chosen, splits)}
    if made is not None:
        counts = {"annotation": AUTOMATIC, **counts, **made}
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


def _abstract_counts(chosen: SelectedMechanisms, splits: Mapping[str, int]) -> Mapping[str, Any]:
    return {
        "read": chosen.n_read,
        "kept": len(chosen.mechanisms),
        "splits": dict(splits),
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
        text += " More sets of phrases (--phrase-sets all) find more conclusions."
    return text
