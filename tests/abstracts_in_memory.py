"""Abstracts in one process and in memory: the slow, obvious way that the SQL is compared with.

The functions take and give lists, one entry a mechanism, in the order of the pmids.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import NamedTuple

from nlihub.builders.core.keyed import keyed_number
from nlihub.builders.procedures.abstracts.choose import (
    ACCEPTED,
    BALANCED,
    CONFIGS,
    FULL,
    OTHERS,
    PREFERRED,
    SAME_PMID,
    SAME_TEXTS,
    TEST,
    TRAIN,
    UNBALANCED,
    UNMARKED,
    VALIDATION,
    is_negated,
)
from nlihub.builders.procedures.abstracts.declaration import POSITIVE
from nlihub.builders.procedures.abstracts.mechanisms.find import find_mechanism
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism
from nlihub.builders.procedures.abstracts.negatives import category_of_negative, join_outcomes
from nlihub.builders.procedures.abstracts.perturb import EntityPool, make_strategies
from nlihub.builders.procedures.abstracts.perturb.strategy import NoNegative, perturb_mechanism
from nlihub.builders.procedures.abstracts.read import hash_content
from nlihub.loaders.corpora.abstracts.abstract import Abstract, SkippedAbstract
from nlihub.loaders.corpora.abstracts.read import read_part
from nlihub.loaders.corpora.files import PaperFile


class Negative(NamedTuple):
    """A negative of a mechanism."""

    category: str
    kind: str
    text: str
    edit: str | None


class Membership(NamedTuple):
    """Where the rows of a mechanism are: in a split, or none; of training these kinds, else all."""

    split: str | None
    kinds: tuple[str, ...] | None = None


def entry(one, found, unit=None):
    """An entry of what was not taken, as the report has it; where it stands, and why."""
    place = {"file": one.file, "line": one.line, "pmid": one.pmid, "unit": unit or one.unit}
    return {**place, "reason": found.reason, "detail": found.detail}


class _Why(NamedTuple):
    reason: str
    detail: str


def select_mechanisms(files, rules):
    """The mechanisms that are taken; what gives none; what is left out of abstracts."""
    not_taken, left_out, of_pmid = [], [], defaultdict(list)
    for file in files:
        for one, parts in read_part(PaperFile(file, file.name, 0)):
            if not isinstance(one, SkippedAbstract):
                of_pmid[one.pmid].append((one, find_mechanism(one, rules), parts))
                continue
            left_out += [entry(part, part) for part in parts]
            is_whole = one.unit in ("abstract", "record", "file")
            (not_taken if is_whole else left_out).append(entry(one, one))
    by_text = {}
    for pmid in sorted(of_pmid):
        (one, found, parts), *others = sorted(of_pmid[pmid], key=_place_in_pmid)
        left_out += [entry(part, part) for part in parts]
        again = _Why(SAME_PMID, "another abstract of this pmid is taken")
        for other, _, _ in others:
            not_taken.append(entry(other, again, _unit(other)))
        if not isinstance(found, Mechanism):
            not_taken.append(entry(one, found, _unit(one)))
            continue
        first = by_text.setdefault(" ".join(" ".join(found.supporting).split()), found)
        if first is not found:
            why = _Why(SAME_TEXTS, f"that of {first.pmid} is taken")
            not_taken.append(entry(one, why, _unit(one)))
    return list(by_text.values()), not_taken, left_out


def _unit(one):
    return "abstract" if isinstance(one, Abstract) else "record"


def _place_in_pmid(read):
    """Of several of one pmid that with a mechanism is taken; of several, by its content."""
    _, found, parts = read
    return not isinstance(found, Mechanism), hash_content(found, parts)


def make_negatives(mechanisms, strategies, seed, writer=None):
    """The negatives of each mechanism, and by kind the numbers of reasons for none."""
    every = make_strategies(EntityPool.of(mechanisms))
    chosen = [every[name] for name in strategies]
    written = writer.write(mechanisms) if writer else [{}] * len(mechanisms)
    refused = {name: Counter() for name in strategies}
    made = []
    for mechanism, by_model in zip(mechanisms, written, strict=True):
        by_rule = perturb_mechanism(mechanism, chosen, seed)
        made.append([])
        for kind, one in join_outcomes(mechanism, by_rule, by_model).items():
            reasons = refused.setdefault(kind, Counter())
            if isinstance(one, NoNegative):
                reasons[one.reason] += 1
            else:
                made[-1].append(Negative(category_of_negative(kind), kind, one.text, one.detail))
    return made, refused


def balance_negation(mechanisms, made, seed):
    """The negatives that are left where negatives are negated as often as positives."""
    share = sum(is_negated(one.conclusion) for one in mechanisms) / max(len(mechanisms), 1)
    flipped = [
        (keyed_number(seed, "balance", one.pmid), number)
        for number, (one, negatives) in enumerate(zip(mechanisms, made, strict=True))
        if any(n.category == "VNeg" and is_negated(n.text) for n in negatives)
    ]
    others = [
        n for negatives in made for n in negatives if n.category != "VNeg" or not is_negated(n.text)
    ]
    n_negated = sum(is_negated(n.text) for n in others)
    n_kept = int((share * len(others) - n_negated) / (1 - share)) if share < 1 else len(flipped)
    left_out = {number for _, number in sorted(flipped)[max(n_kept, 0) :]}
    return [
        [n for n in negatives if number not in left_out or n.category != "VNeg"]
        for number, negatives in enumerate(made)
    ]


def list_kinds(negatives):
    """Category and kind of each row of a mechanism, the positive first."""
    return [(POSITIVE, POSITIVE), *((one.category, one.kind) for one in negatives)]


def find_rare_kinds(negatives):
    """The kinds that the draw prefers and that at most a tenth of the mechanisms have."""
    n_mechanisms = Counter(name for made in negatives for name in {one.category for one in made})
    return tuple(name for name in PREFERRED if n_mechanisms[name] <= 0.1 * len(negatives))


def split_of(rule, pmid, seed):
    """The split of a mechanism, as far as its id decides it; None leaves it to the draw."""
    if rule.ratio is not None:
        return rule.ratio.place_of(pmid, "", None, seed).split
    share = keyed_number(seed, "split", pmid) / 2**64
    return TEST if share >= 1 - 2_000 / 21_997 else None


def place(rule, pmid, kinds, seed):
    """Where the rows of a mechanism are, in ``full`` and in ``balanced``.

    Args:
        rule: A ``Distribution``.
        pmid: The id of its abstract.
        kinds: Category and kind of each row, the positive first.
        seed: The seed.
    """
    split = split_of(rule, pmid, seed)
    if split in (VALIDATION, TEST):
        return Membership(split), Membership(split)

    def number(purpose, kind):
        return keyed_number(seed, purpose, f"{pmid}-{kind}")

    def is_accepted(config, row):
        share = ACCEPTED[config].get(row[0], OTHERS[config])
        return row[0] in rule.preferred or number("accept", row[1]) / 2**64 < share

    def drawn(config, rows):
        """One of a preferred kind if there is one."""
        return min(
            rows, key=lambda row: (row[0] not in rule.preferred, number(f"draw {config}", row[1]))
        )

    if rule.pairs:
        if not kinds[1:]:
            return Membership(TRAIN, (POSITIVE,)), Membership(None)
        row = min(
            kinds[1:], key=lambda row: (number("category", row[0]), number("draw balanced", row[1]))
        )
        pair = Membership(TRAIN, (POSITIVE, row[1]))
        return pair, pair if is_accepted(BALANCED, row) else Membership(None)
    if split is None and any(
        category in rule.preferred and number("accept", kind) / 2**64 >= UNMARKED
        for category, kind in kinds
    ):
        return Membership(VALIDATION), Membership(VALIDATION)
    accepted = [row for row in kinds if is_accepted(FULL, row)]
    if not accepted and split == TRAIN:
        accepted = kinds
    full = Membership(VALIDATION)
    if accepted:
        full = Membership(TRAIN, (drawn(FULL, accepted)[1],))
    row = drawn(BALANCED, kinds)
    if is_accepted(BALANCED, row):
        return full, Membership(TRAIN, (row[1],))
    return full, Membership(VALIDATION if full.split == VALIDATION else None)


def distribute(rule, pmids, negatives, seed=1):
    """By config, where the rows of each mechanism are."""
    pairs = zip(pmids, negatives, strict=True)
    placed = [place(rule, pmid, list_kinds(made), seed) for pmid, made in pairs]
    return {config: [one[n] for one in placed] for n, config in enumerate((FULL, BALANCED))}


def has(membership, split, kind):
    """Whether the row of a kind is in a split."""
    kinds = membership.kinds
    return membership.split == split and (kinds is None or kind in kinds)


def construct(files, recipe):
    """All that a dataset has: rows by config and split, counts, what was not taken, left out."""
    mechanisms, not_taken, left_out = select_mechanisms(files, recipe.mechanism_rules)
    made, refused = make_negatives(mechanisms, recipe.strategy_names, recipe.seed, recipe.generate)
    if recipe.balance_negation:
        balanced = balance_negation(mechanisms, made, recipe.seed)
        if n_left_out := sum(map(len, made)) - sum(map(len, balanced)):
            refused["VNeg"][UNBALANCED] += n_left_out
        made = balanced
    rule = recipe.distribution
    rule = replace(rule, preferred=find_rare_kinds(made))
    memberships = distribute(rule, [one.pmid for one in mechanisms], made, recipe.seed)
    rows = {
        (config, split): sorted(
            (
                (
                    keyed_number(recipe.seed, "order", f"{one.pmid}-{kind}"),
                    f"{one.pmid}-{kind}",
                    text,
                )
                for one, negatives, member in zip(
                    mechanisms, made, memberships[config], strict=True
                )
                for kind, text in [
                    (POSITIVE, one.conclusion),
                    *((n.kind, n.text) for n in negatives),
                ]
                if has(member, split, kind)
            ),
        )
        for config in CONFIGS
        for split in rule.splits
    }
    n_made = Counter(one.kind for some in made for one in some)
    counts = {
        "read": len(mechanisms) + len(not_taken),
        "dropped": Counter(one["reason"] for one in not_taken),
        "negatives": {kind: (n_made[kind], reasons) for kind, reasons in refused.items()},
        "mechanisms": {
            config: dict(Counter(one.split for one in found))
            for config, found in memberships.items()
        },
    }
    return rows, counts, not_taken, left_out
