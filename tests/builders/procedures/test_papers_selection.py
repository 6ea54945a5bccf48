"""Choosing papers and pairs by SQL: as in memory, whatever the ties, and resumed where it was."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.core.sql import open_database
from nlihub.builders.dataflow.work import Engine, Work
from nlihub.builders.procedures.papers.choose import (
    PAIR_STATEMENTS,
    PAPER_STATEMENTS,
    balance_statement,
    class_sizes,
)
from nlihub.builders.procedures.papers.read import PAIRS, PAPERS, SCHEMAS
from nlihub.builders.procedures.papers.recipe import LinkingPhrases
from selection_oracle import are_again, are_balanced, are_in_two_splits, doubled_papers

PHRASES = LinkingPhrases.read()
DOMAINS = ("a", "b")
N_PAPERS, N_PAIRS = 60, 1500


@pytest.fixture(scope="module", params=range(1, 5))
def shards(request, tmp_path_factory):
    return make_shards(tmp_path_factory.mktemp("shards"), request.param)


def make_shards(folder, seed, n_shards=3):
    """Tables of shards with few ids, hashes, sentences and draws, so that there are many ties."""
    draw = np.random.default_rng(seed)
    files = {PAPERS: [], PAIRS: []}
    for number in range(n_shards):
        key = int(draw.integers(-(2**63), 2**63))
        few = draw.integers(0, 5, N_PAPERS) == 0  # most papers have a text of their own
        words = draw.integers(-(2**62), 2**62, N_PAPERS)
        words[few] = draw.choice([-9, 0, 7], few.sum())
        ids = draw.integers(0, 150, N_PAPERS)
        reasons = draw.choice([None, None, None, None, "of another year"], N_PAPERS)
        years, low = draw.integers(0, 3, N_PAPERS), draw.integers(0, 2, N_PAPERS)
        # In each shard: four papers again, and four again under other ids.
        ids[:4], ids[4:8] = range(900, 904), range(904 + 4 * number, 908 + 4 * number)
        words[:8], years[:8], low[:8], reasons[:8] = range(8), 0, 0, None
        papers = {
            "shard": [key] * N_PAPERS,
            "paper": range(N_PAPERS),
            "id": [f"p{n}" for n in ids],
            "hash_high": words,
            "hash_low": low,
            "year": years,
            "domain": [DOMAINS[n % 2] for n in words],
            "n_sentences": draw.integers(1, 9, N_PAPERS),
            # By the id, as in a corpus.
            "split": [-1 if why else int(n) % 3 for n, why in zip(ids, reasons, strict=True)],
            "reason": reasons,
            "detail": [why and "1999" for why in reasons],
            "file": [f"f{number}"] * N_PAPERS,
            "line": range(1, N_PAPERS + 1),
        }
        pairs = {
            "shard": np.full(N_PAIRS, key),
            "row": np.arange(N_PAIRS),
            "paper": draw.integers(0, N_PAPERS, N_PAIRS),
            "category": draw.integers(0, len(PHRASES.categories), N_PAIRS),
            "label": draw.integers(0, len(PHRASES.label_names), N_PAIRS),
            "order_key": draw.integers(-9, 9, N_PAIRS),
            "draw_key": draw.integers(-20, 20, N_PAIRS),
            "texts_key": draw.integers(-3000, 3000, N_PAIRS),
            "premise_key": draw.integers(-9000, 9000, N_PAIRS),
            "hypothesis_key": draw.integers(-9000, 9000, N_PAIRS),
        }
        for name, columns in ((PAPERS, papers), (PAIRS, pairs)):
            files[name].append(folder / f"{name}-{number}.parquet")
            pq.write_table(pa.Table.from_pydict(columns, SCHEMAS[name]), files[name][-1])
    return files


def choose(files, folder, engine=None, quotas=None):
    """Choose by SQL; return the results by name, in the order of shards and rows."""
    with open_database(folder.parent) as database:
        for name, some in files.items():
            database.add(name, some)
        work = Work(engine or Engine(1), [], folder, database)
        work.select([*PAPER_STATEMENTS, *PAIR_STATEMENTS])
        taken = read(database.tables["taken_pairs"])
        sizes = sizes_of(zip(taken["split"], taken["domain"], taken["label"], strict=True), quotas)
        work.select([balance_statement(sizes, DOMAINS)])
    return {name: read(found) for name, found in database.tables.items()}


def sizes_of(classes, quotas):
    return class_sizes(Counter(classes), SPLITS, DOMAINS, PHRASES.label_names, quotas or {})


def read(files):
    table = pq.ParquetDataset(files).read()
    order = [
        (name, "ascending") for name in ("shard", "row", "paper") if name in table.schema.names
    ]
    return (table.sort_by(order) if order else table).to_pydict()


def choose_in_memory(files, quotas=None):
    """Choose the obvious way: the reasons of papers by number, and what becomes of each pair."""
    papers, pairs = (SimpleNamespace(**read(files[name])) for name in (PAPERS, PAIRS))
    columns = (papers.id, papers.hash_high, papers.hash_low, papers.year, papers.domain)
    reasons = {n: why for n, why in enumerate(papers.reason) if why}
    reasons |= doubled_papers(
        [
            None if n in reasons else (id_, (high, low), year, domain)
            for n, (id_, high, low, year, domain) in enumerate(zip(*columns, strict=True))
        ]
    )
    number = {place: n for n, place in enumerate(zip(papers.shard, papers.paper, strict=True))}
    of_pair = np.array([number[place] for place in zip(pairs.shard, pairs.paper, strict=True)])
    taken = np.array([n not in reasons for n in range(len(papers.id))])
    split = np.where(taken, papers.split, -1)[of_pair]
    again = are_again(np.array(pairs.texts_key), np.array(pairs.order_key), split >= 0)
    split = np.where(again, -1, split)
    sentences = np.array(pairs.premise_key), np.array(pairs.hypothesis_key)
    in_two = are_in_two_splits(split, *sentences)
    split = np.where(in_two, -1, split)
    domain = [papers.domain[n] for n in of_pair]
    classes = list(zip(split.tolist(), domain, pairs.label, strict=True))
    is_balanced = are_balanced(classes, pairs.draw_key, sizes_of(classes, quotas))
    return SimpleNamespace(
        papers=papers,
        pairs=pairs,
        reasons=reasons,
        again=again,
        in_two=in_two,
        split=split,
        domain=domain,
        is_balanced=is_balanced,
    )


@pytest.mark.parametrize("quotas", [{}, {"test": 3}])
def test_sql_chooses_as_in_memory(shards, quotas, tmp_path):
    found, expected = choose(shards, tmp_path, quotas=quotas), choose_in_memory(shards, quotas)
    assert Counter(found["left_out"]["reason"]) == Counter(expected.reasons.values())
    assert len(set(expected.reasons.values())) == 4
    lines = zip(found["left_out"]["file"], found["left_out"]["line"], strict=True)
    papers, pairs = expected.papers, expected.pairs
    assert set(lines) == {(papers.file[n], papers.line[n]) for n in expected.reasons}
    places = list(zip(pairs.shard, pairs.row, strict=True))
    for name, members in (
        ("pairs_again", expected.again),
        ("pairs_in_two_splits", expected.in_two),
        ("chosen", expected.split >= 0),
    ):
        rows = list(zip(found[name]["shard"], found[name]["row"], strict=True))
        assert members.sum() > 0
        assert rows == [place for place, is_there in zip(places, members, strict=True) if is_there]
    left = np.flatnonzero(expected.split >= 0)
    split, domain = expected.split[left], np.array(expected.domain)[left]
    balanced = np.where(expected.is_balanced[left], split, -1)
    assert found["chosen"]["in_unbalanced"] == split.tolist()
    assert found["chosen"]["in_default"] == balanced.tolist()
    for name in DOMAINS:
        of_domain = np.where(domain == name, balanced, -1)
        assert found["chosen"][f"in_{name}"] == of_domain.tolist()


@pytest.mark.slow
def test_spark_chooses_the_same(tmp_path, spark_cluster):
    from nlihub.builders.dataflow.spark import spark_engine

    files = make_shards(tmp_path, 1)
    found = choose(files, tmp_path / "spark", spark_engine(spark_cluster, tmp_path))
    assert found["chosen"] == choose(files, tmp_path / "duckdb")["chosen"]
