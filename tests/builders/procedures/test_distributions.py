"""The draw of BioNLI's training rows, and the other rules, on invented mechanisms."""

import random
from collections import Counter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.bionli import BioNLI
from nlihub.builders.core.keyed import keyed_number
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.core.sql import open_database
from nlihub.builders.dataflow.work import Engine, Work
from nlihub.builders.procedures.abstracts.choose import (
    ACCEPTED,
    BALANCED,
    CONFIGS,
    FULL,
    OTHERS,
    PREFERRED,
    TEST,
    TRAIN,
    UNMARKED,
    VALIDATION,
    Distribution,
    find_rare_kinds,
)
from nlihub.builders.procedures.abstracts.declaration import POSITIVE
from nlihub.builders.procedures.abstracts.negatives import (
    CANDIDATE_SCHEMA,
    CANDIDATES,
    MakeRows,
    category_of,
)
from nlihub.builders.procedures.splits import ByRatio

#: Shares of mechanisms that have a negative of a kind, about as in BioNLI.
AVAILABLE = {
    "SEN": 1,
    "SEP": 1,
    "SREO": 0.8,
    "VNeg": 0.44,
    "SN": 0.2,
    "LPR": 0.23,
    "SRE": 0.005,
    "GEN-ND-SEN": 0.016,
    "GEN-ND-SRE": 0.016,
    "GEN": 0.0095,
}
RATIO = ByRatio(0.6, 0.2, 0.2)


class Membership(NamedTuple):
    """Where the rows of a mechanism are: in a split, or none; of training these kinds, else all."""

    split: str | None
    kinds: tuple[str, ...] | None = None


def list_kinds(kinds):
    """Category and kind of each row of a mechanism, the positive first."""
    return [(POSITIVE, POSITIVE), *((category_of(kind), kind) for kind in kinds)]


def has(membership, split, kind):
    """Whether the row of a kind is in a split."""
    return membership.split == split and (membership.kinds is None or kind in membership.kinds)


@pytest.fixture(scope="module")
def draw(tmp_path_factory):
    """Distributes mechanisms, whose ids are their numbers, by SQL."""

    def drawn(negatives, seed=1, **rule):
        folder = tmp_path_factory.mktemp("drawn")
        chosen = Distribution(**rule)
        keys = MakeRows((), seed, None, "biomedical")._keys
        rows = [
            keys(str(n), kind, "")
            for n, made in enumerate(negatives)
            for _, kind in list_kinds(made)
        ]
        rows = [{"shard": 0, "row": number, **row} for number, row in enumerate(rows)]
        table = pa.Table.from_pylist(rows, CANDIDATE_SCHEMA)
        pq.write_table(table, folder / "candidates.parquet")
        with open_database(folder) as database:
            work = Work(Engine(1), [], folder, database)
            work.add_tables([CANDIDATES], [folder])
            work.select(chosen.statements(None))
            found = database.read("SELECT * FROM assigned ORDER BY row").to_pylist()
            (n_chosen,) = database.execute("SELECT COUNT(*) FROM chosen")[0]
        assert len(found) == len(rows)
        assert n_chosen == sum(row["in_full"] >= 0 or row["in_balanced"] >= 0 for row in found)
        return {config: list(memberships(found, config, len(negatives))) for config in CONFIGS}

    return drawn


def memberships(rows, config, n):
    """Where the rows of each mechanism are in a config, from the table ``assigned``."""
    splits, kinds = [set() for _ in range(n)], [[] for _ in range(n)]
    n_rows = Counter()
    for row in rows:
        number, split = int(row["pmid"]), row[f"{config}_split"]
        splits[number].add(split)
        n_rows[number] += 1
        assert row[f"in_{config}"] in (split, -1)
        if row[f"in_{config}"] >= 0:
            kinds[number].append(row["kind"])
    for number in range(n):
        (split,) = splits[number]
        name = SPLITS[split] if split >= 0 else None
        if name != "train":  # all rows, or none
            assert len(kinds[number]) == (n_rows[number] if name else 0)
        yield Membership(name, tuple(kinds[number]) if name == "train" else None)


def training_categories(members, negatives):
    return Counter(
        category
        for member, made in zip(members, negatives, strict=True)
        for category, kind in list_kinds(made)
        if has(member, "train", kind)
    )


@pytest.fixture(scope="module")
def like_bionli():
    rng = random.Random(1)
    return [
        [kind for kind, share in AVAILABLE.items() if rng.random() < share] for _ in range(21_997)
    ]


def test_the_draw_gives_the_published_tables(like_bionli):
    drawn, published = distribute(Distribution(), like_bionli, 1), BioNLI.SPEC.published
    for config in CONFIGS:
        found = training_categories(drawn[config], like_bionli)
        expected = published[config]["train"]["category"]
        n_found, n_expected = found.total(), sum(expected.values())
        assert n_found == pytest.approx(n_expected, rel=0.08)
        for category, n in expected.items():
            share = pytest.approx(100 * n / n_expected, abs=2)
            assert 100 * found[category] / n_found == share, (config, category)
    splits = Counter(member.split for member in drawn[FULL])
    assert splits["train"] == pytest.approx(16_997, rel=0.01)
    assert splits["validation"] == pytest.approx(3_000, rel=0.05)
    assert splits["test"] == pytest.approx(2_000, rel=0.05)
    # No rule-based category of balanced is above 500, as the caption of Table 3 says.
    found = training_categories(drawn[BALANCED], like_bionli)
    assert max(n for name, n in found.items() if name in ("SEN", "SEP", "SREO", "VNeg")) < 500


def test_rare_kinds_are_those_of_a_tenth_of_the_mechanisms():
    counts = {"SRE": 10, "GEN-ND": 10}
    assert find_rare_kinds(counts, 100) == PREFERRED
    assert find_rare_kinds({**counts, "SRE": 11}, 102) == ("GEN", "GEN-ND")


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


def distribute(rule, negatives, seed):
    """By config, where the rows of each mechanism are: the slow, obvious way."""
    placed = [place(rule, str(n), list_kinds(made), seed) for n, made in enumerate(negatives)]
    return {config: [one[n] for one in placed] for n, config in enumerate((FULL, BALANCED))}


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"preferred": ["GEN"], "seed": 2},
        {"ratio": RATIO},
        {"ratio": RATIO, "pairs": True},
        {"ratio": RATIO, "pairs": True, "seed": 3, "preferred": []},
    ],
    ids=str,
)
def test_sql_draws_as_in_memory(rule, draw, like_bionli):
    some = [*like_bionli[:1_000], []]
    drawn = draw(some, **rule)
    given = {name: value for name, value in rule.items() if name != "seed"}
    assert drawn == distribute(Distribution(**given), some, rule.get("seed", 1))
