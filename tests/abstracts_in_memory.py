"""Abstracts in one process and in memory: the slow, obvious way that the passes are compared with.

The functions take and give lists, one entry a mechanism, in the order of the pmids.
"""

from collections import Counter
from dataclasses import replace

from nlihub.builders.core.keyed import keyed_number
from nlihub.builders.procedures.abstracts.balance_negation import UNBALANCED, is_negated
from nlihub.builders.procedures.abstracts.declaration import POSITIVE
from nlihub.builders.procedures.abstracts.distributions import (
    BALANCED,
    CONFIGS,
    FULL,
    PREFERRED,
    TRAIN,
    Membership,
)
from nlihub.builders.procedures.abstracts.mechanisms.find import find_mechanisms
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism, NoMechanism
from nlihub.builders.procedures.abstracts.negatives import (
    Negative,
    category_of_negative,
    join_outcomes,
)
from nlihub.builders.procedures.abstracts.perturb.apply import (
    NAMES,
    make_strategies,
    perturb_mechanism,
)
from nlihub.builders.procedures.abstracts.perturb.entity_pool import EntityPool
from nlihub.builders.procedures.abstracts.perturb.strategy import NoNegative
from nlihub.builders.procedures.abstracts.select import SAME_TEXTS
from nlihub.loaders.corpora.abstracts.read import read_abstracts


def select_mechanisms(found):
    """The mechanisms that are taken; what gives none; what is left out of abstracts."""
    mechanisms, not_taken, left_out = [], [], []
    for one in found:
        if isinstance(one, Mechanism):
            mechanisms.append(one)
        elif isinstance(one, NoMechanism) or one.unit in ("abstract", "record", "file"):
            not_taken.append(one)
        else:
            left_out.append(one)
    taken = {}
    for one in sorted(mechanisms, key=lambda mechanism: mechanism.pmid):
        first = taken.setdefault(" ".join(" ".join(one.supporting).split()), one)
        if first is not one:
            detail = f"that of {first.pmid} is taken"
            not_taken.append(NoMechanism("", 0, one.pmid, SAME_TEXTS, detail))
    return list(taken.values()), not_taken, left_out


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


def distribute(rule, pmids, negatives):
    """By config, where the rows of each mechanism are."""
    pairs = zip(pmids, negatives, strict=True)
    placed = [rule.place(pmid, list_kinds(made)) for pmid, made in pairs]
    full, balanced = ([one[n] for one in placed] for n in range(2))
    left, n_taken = list(balanced), Counter()
    order = [keyed_number(rule.seed, "balanced", pmid) for pmid in pmids]
    for n in sorted(range(len(pmids)), key=order.__getitem__):
        if rule.max_per_category is None or balanced[n].split != TRAIN:
            continue
        names = [kind for kind in balanced[n].kinds or () if kind in NAMES]
        n_taken.update(names)
        if any(n_taken[name] > rule.max_per_category for name in names):
            left[n] = Membership("validation" if full[n].split == "validation" else None)
    return {FULL: full, BALANCED: left}


def has(membership, split, kind):
    """Whether the row of a kind is in a split."""
    return membership.split == split and membership.has_kind(kind)


def construct(files, recipe):
    """All that a dataset has: rows by config and split, counts, what was not taken, left out."""
    found = find_mechanisms(read_abstracts(files), recipe.mechanism_rules)
    mechanisms, not_taken, left_out = select_mechanisms(found)
    made, refused = make_negatives(mechanisms, recipe.strategy_names, recipe.seed, recipe.generate)
    if recipe.balance_negation:
        balanced = balance_negation(mechanisms, made, recipe.seed)
        if "VNeg" in refused:
            refused["VNeg"][UNBALANCED] += sum(map(len, made)) - sum(map(len, balanced))
        made = balanced
    rule = recipe.distribution
    if recipe.preferred is None:
        rule = replace(rule, preferred=find_rare_kinds(made))
    memberships = distribute(rule, [one.pmid for one in mechanisms], made)
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
        "dropped": list(Counter(one.reason for one in not_taken).most_common()),
        "left_out": dict(Counter(f"{one.unit}: {one.reason}" for one in left_out)),
        "negatives": {
            kind: (n_made[kind], list(reasons.most_common())) for kind, reasons in refused.items()
        },
        "mechanisms": {
            config: dict(Counter(one.split for one in found))
            for config, found in memberships.items()
        },
    }
    return rows, counts, not_taken, left_out
