"""The draw of BioNLI's training rows, and the other rules, on invented mechanisms."""

import random
from collections import Counter

import abstracts_in_memory
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from abstracts_in_memory import Membership, Negative, has, list_kinds
from nlihub.builders.bionli import BioNLI
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.core.sql import open_database
from nlihub.builders.dataflow.work import Engine, Work
from nlihub.builders.procedures.abstracts.choose import (
    BALANCED,
    CONFIGS,
    FULL,
    PREFERRED,
    Distribution,
    find_rare_kinds,
)
from nlihub.builders.procedures.abstracts.declaration import POSITIVE
from nlihub.builders.procedures.abstracts.negatives import (
    CANDIDATE_SCHEMA,
    CANDIDATES,
    MakeNegatives,
    category_of_negative,
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
RATIO = ByRatio(0.6, 0.2)
ALL = {kind: Negative(category_of_negative(kind), kind, kind, "") for kind in AVAILABLE}


@pytest.fixture(scope="module")
def draw(tmp_path_factory):
    """Distributes mechanisms, whose ids are their numbers, by SQL."""

    def drawn(negatives, seed=1, **rule):
        folder = tmp_path_factory.mktemp("drawn")
        chosen = Distribution(**rule)
        keys = MakeNegatives((), seed, None, "biomedical")._keys
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


def splits_of(members):
    return Counter(member.split for member in members)


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
        [ALL[kind] for kind, share in AVAILABLE.items() if rng.random() < share]
        for _ in range(21_997)
    ]


@pytest.fixture(scope="module")
def drawn(like_bionli, draw):
    return draw(like_bionli)


class TestDraw:
    def test_it_gives_the_published_tables(self, like_bionli, drawn):
        published = BioNLI.SPEC.published
        for config in CONFIGS:
            found = training_categories(drawn[config], like_bionli)
            expected = published[config]["train"]["category"]
            n_found, n_expected = found.total(), sum(expected.values())
            assert n_found == pytest.approx(n_expected, rel=0.08)
            for category, n in expected.items():
                assert 100 * found[category] / n_found == pytest.approx(
                    100 * n / n_expected, abs=2
                ), (config, category)
        splits = splits_of(drawn[FULL])
        assert splits["train"] == pytest.approx(16_997, rel=0.01)
        assert splits["validation"] == pytest.approx(3_000, rel=0.05)
        assert splits["test"] == pytest.approx(2_000, rel=0.05)
        # No rule-based category of balanced is above 500, as the caption of Table 3 says.
        found = training_categories(drawn[BALANCED], like_bionli)
        assert max(n for name, n in found.items() if name in ("SEN", "SEP", "SREO", "VNeg")) < 500

    def test_a_mechanism_is_one_training_row_or_all_its_rows(self, drawn):
        for config in CONFIGS:
            for member in drawn[config]:
                if member.split == "train":
                    assert len(member.kinds) == 1
                else:
                    assert member.kinds is None

    def test_the_validation_of_balanced(self, drawn):
        for full, balanced in zip(drawn[FULL], drawn[BALANCED], strict=True):
            if full.split == "test":
                assert balanced == full
            elif balanced.split != "train":
                assert balanced.split == ("validation" if full.split == "validation" else None)
        both = list(zip(drawn[FULL], drawn[BALANCED], strict=True))
        assert any(f.split == "validation" and b.split == "train" for f, b in both)
        assert any(f.split == "train" and b.split is None for f, b in both)

    def test_they_are_those_that_are_rare(self, like_bionli):
        assert abstracts_in_memory.find_rare_kinds(like_bionli) == PREFERRED
        counts = {"SRE": 10, "GEN-ND": 10}
        assert find_rare_kinds(counts, 100) == PREFERRED
        assert find_rare_kinds({**counts, "SRE": 11}, 102) == ("GEN", "GEN-ND")

    def test_it_depends_on_no_other_mechanism(self, draw, like_bionli, drawn):
        some = like_bionli[:500]
        for config in CONFIGS:
            assert draw(some)[config] == drawn[config][:500]
        assert draw(some, seed=2)[FULL] != drawn[FULL][:500]


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
    some = [*like_bionli[:3_000], []]
    pmids = list(map(str, range(len(some))))
    drawn = draw(some, **rule)
    seed = rule.pop("seed", 1)
    rule = Distribution(**rule)
    assert drawn == abstracts_in_memory.distribute(rule, pmids, some, seed)


class TestRatio:
    def test_rows_of_preferred_kinds_are_all_accepted(self, draw):
        drawn = draw([[ALL["SEN"], ALL["SRE"]]] * 1_000, ratio=ByRatio(1, 0))
        for config in CONFIGS:
            assert set(drawn[config]) == {Membership("train", ("SRE",))}


class TestPairs:
    def test_a_category_is_as_likely_as_another(self, draw):
        made = [ALL["SEN"], ALL["GEN"], ALL["GEN-ND-SEN"], ALL["GEN-ND-SRE"]]
        negatives = [made] * 3_000
        drawn = draw(negatives, ratio=ByRatio(1, 0), pairs=True)
        assert all(len(member.kinds) == 2 and POSITIVE in member.kinds for member in drawn[FULL])
        found = training_categories(drawn[FULL], negatives)
        assert all(900 < found[name] < 1_100 for name in ("SEN", "GEN", "GEN-ND"))
