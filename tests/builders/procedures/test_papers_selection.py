"""Choosing papers and pairs by SQL: as in memory, whatever the ties, and resumed where it was."""

import sys
from collections import Counter
from shutil import which

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.core.sql import DuckDBEngine, open_database
from nlihub.builders.procedures.papers.balance import class_sizes
from nlihub.builders.procedures.papers.extract import (
    PAIR_SCHEMA,
    PAIRS,
    PAPER_SCHEMA,
    PAPERS,
    ShardReport,
    shard_key,
)
from nlihub.builders.procedures.papers.phrases import LinkingPhrases
from nlihub.builders.procedures.papers.place_papers import PlaceJob, ShardGroup
from nlihub.builders.procedures.papers.select import Selector
from nlihub.builders.procedures.splits import ByRatio
from nlihub.loaders.corpora.papers.paper import SkippedPaper
from nlihub.loaders.errors import CorpusError
from selection_oracle import doubled_papers, select_pairs

PHRASES = LinkingPhrases.read()
SPLITTING = ByRatio(0.5, 0.25)
DOMAINS = ("a", "b", "", "No name")


def make_shards(folder, seed, n_shards=3, n_papers=60, n_pairs=1500):
    """Folders of shards with few ids, hashes, sentences and draws, so that there are many ties."""
    draw = np.random.default_rng(seed)
    folders = []
    for number in range(n_shards):
        place = folder / f"shard-{number}"
        place.mkdir(parents=True)
        folders.append(place)
        papers = {
            "id": [f"p{n}" for n in draw.integers(0, 150, n_papers)],
            "year": [int(n) or None for n in draw.integers(0, 3, n_papers)],
            "domain": [
                DOMAINS[n] or None for n in draw.choice(4, n_papers, p=[0.5, 0.4, 0.05, 0.05])
            ],
            "hash": [bytes([n]) * 16 for n in draw.choice([0, 1, 127, 128, 200, 255], n_papers)],
            "n_sentences": draw.integers(1, 9, n_papers),
            "file": [f"f{number}"] * n_papers,
            "line": range(1, n_papers + 1),
        }
        table = pa.Table.from_pydict(papers, PAPER_SCHEMA)
        if number:  # most papers have a text of their own
            table = table.set_column(
                3, "hash", pa.array([draw.bytes(16) for _ in range(n_papers)], pa.binary(16))
            )
        pq.write_table(table, place / PAPERS)
        category = draw.integers(0, len(PHRASES.categories), n_pairs)
        drawn = draw.integers(-20, 20, n_pairs)
        pairs = {
            "shard_key": np.full(n_pairs, shard_key(place)),
            "pair": np.arange(n_pairs),
            "paper": draw.integers(0, n_papers, n_pairs),
            "category": category,
            "first": np.zeros(n_pairs, int),
            "second": np.zeros(n_pairs, int),
            "order_key": draw.integers(-9, 9, n_pairs),
            "draw_key": drawn,
            "draw_bucket": drawn // 5 + 4,
            "texts_key": draw.integers(-3000, 3000, n_pairs),
            "premise_key": draw.integers(-9000, 9000, n_pairs),
            "second_key": draw.integers(-9000, 9000, n_pairs),
        }
        pq.write_table(pa.Table.from_pydict(pairs, PAIR_SCHEMA), place / PAIRS)
        found = Counter(PHRASES.categories[n] for n in category.tolist())
        skipped = [SkippedPaper(f"g{number}", 0, "unreadable", "b\ud800")] * number
        ShardReport(skipped, dict(found), {}).write(place)
    return folders


def select(folders, folder, engine=None, quotas=None):
    """Choose by SQL: the papers, the pairs, and the pairs with their decisions."""
    groups = [
        ShardGroup(0, folders[:2], folder / "placed" / "0"),
        ShardGroup(2, folders[2:], folder / "placed" / "1"),
    ]
    for group in groups:
        if not group.target.is_dir():
            PlaceJob(SPLITTING, 1).run(group)
    with open_database(folder) as database:
        engine = engine or DuckDBEngine(database)
        selector = Selector(groups, folder, database, engine)
        papers = selector.select_papers(SPLITTING)
        pairs = selector.select_pairs(papers, PHRASES, SPLITTING.splits, quotas or {})
    chosen = pa.concat_tables(map(pq.read_table, pairs.files))
    return papers, pairs, chosen.sort_by([("shard", "ascending"), ("pair", "ascending")])


def compare(folders, found, quotas=None):
    """Compare with choosing in memory."""
    papers, pairs, chosen = found
    tables = [pq.read_table(folder / PAPERS) for folder in folders]
    rows = [
        (row["id"], row["hash"], row["year"] or 0, row["domain"] or "")
        for table in tables
        for row in table.to_pylist()
    ]
    job = PlaceJob(SPLITTING, 1)
    places = [job.place(key, year, domain) for key, _, year, domain in rows]
    reasons = {n: place.reason for n, place in enumerate(places) if place.split is None}
    reasons |= doubled_papers([None if n in reasons else row for n, row in enumerate(rows)])
    counts = Counter([*reasons.values(), *["unreadable"] * 3])
    assert papers.counts["dropped"] == dict(sorted(counts.items()))
    assert papers.counts["read"] == len(rows) + 3 == papers.counts["kept"] + sum(counts.values())
    lines = [(n, line) for n in range(3) for line in range(1, len(tables[0]) + 1)]
    assert [(entry.file, entry.line, entry.reason) for entry in papers.skipped] == sorted(
        [
            *((f"f{lines[n][0]}", lines[n][1], reason) for n, reason in reasons.items()),
            *((f"g{n}", 0, "unreadable") for n in (1, 2, 2)),
        ]
    )
    domains = sorted({row[3] for n, row in enumerate(rows) if n not in reasons})
    assert papers.domains == domains
    columns = pa.concat_tables([pq.read_table(folder / PAIRS) for folder in folders])
    shard = np.repeat(np.arange(3), [pq.read_metadata(f / PAIRS).num_rows for f in folders])
    of_pair = {name: columns[name].to_numpy() for name in columns.column_names}
    paper = of_pair["paper"] + shard * len(tables[0])
    taken = np.array([n not in reasons for n in range(len(rows))])
    numbers = [SPLITS.index(place.split) if place.split else -1 for place in places]
    split = np.where(taken[paper], np.array(numbers)[paper], -1)
    domain = np.array([domains.index(row[3]) if row[3] in domains else -1 for row in rows])[paper]
    label = np.array(PHRASES.label_of_category)[of_pair["category"]]

    def sizes(split):
        counted = Counter(zip(split.tolist(), domain.tolist(), label.tolist(), strict=True))
        return class_sizes(counted, SPLITTING.splits, domains, PHRASES.label_names, quotas or {})

    again, doubled, split, is_balanced = select_pairs(of_pair, split, domain, label, sizes)
    assert again.sum() > 0
    assert doubled.sum() > 0
    left = np.flatnonzero(split >= 0)
    assert pairs.n_rows == len(chosen) == len(left)
    for name, expected in (
        ("shard", shard),
        ("pair", of_pair["pair"]),
        ("split", split),
        ("domain", domain),
        ("label", label),
        ("is_balanced", is_balanced),
    ):
        assert chosen[name].to_pylist() == expected[left].tolist(), name
    for name, which_ones in (
        ("the same texts again", again),
        ("one of its sentences is in another split", doubled),
        ("its paper is not taken", ~taken[paper]),
    ):
        n_found = sum(counts["dropped"].get(name, 0) for counts in pairs.counts.values())
        assert n_found == which_ones.sum()
    for number, name in enumerate(SPLITS):
        assert pairs.n_balanced(name) == (is_balanced & (split == number)).sum()
    for counts in pairs.counts.values():
        assert counts["read"] == counts["kept"] + sum(counts["dropped"].values())


@pytest.mark.parametrize(("seed", "quotas"), [(1, {}), (2, {"test": 3}), (3, {}), (4, {})])
def test_sql_chooses_as_in_memory(tmp_path, seed, quotas):
    folders = make_shards(tmp_path, seed)
    compare(folders, select(folders, tmp_path / "results", quotas=quotas), quotas)


def test_half_a_character_in_a_report_does_no_harm(tmp_path):
    papers, _, _ = select(make_shards(tmp_path, 1), tmp_path / "results")
    assert [entry.detail for entry in papers.skipped if entry.file == "g1"] == ["b?"]


def test_a_class_without_a_pair_is_found(tmp_path):
    folders = make_shards(tmp_path, 1)
    with pytest.raises(CorpusError, match=r"train of a has .*expected 900 or more of each"):
        select(folders, tmp_path / "results", quotas={"train": 900})


class Stopped(DuckDBEngine):
    """Is interrupted at a given statement, and counts them."""

    def __init__(self, at=None):
        super().__init__()
        self.n_done, self.at = 0, at

    def write(self, query, tables, folder):
        if self.n_done == self.at:
            raise KeyboardInterrupt
        super().write(query, tables, folder)
        self.n_done += 1


def test_it_goes_on_at_the_statement_where_it_was(tmp_path):
    folders = make_shards(tmp_path, 5)
    every = Stopped()
    whole = select(folders, tmp_path / "whole", every)
    for n_done in (1, 6):  # among papers, and among pairs
        with pytest.raises(KeyboardInterrupt):
            select(folders, tmp_path / "parts", Stopped(n_done))
    last = Stopped()
    found = select(folders, tmp_path / "parts", last)
    assert last.n_done == every.n_done - 7
    assert found[2].equals(whole[2])
    other = Stopped()
    select(folders, tmp_path / "parts", other, quotas={"test": 3})
    assert 0 < other.n_done < every.n_done  # what does not depend on quotas is not chosen anew


@pytest.mark.slow
def test_spark_chooses_the_same(tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="Spark is not installed (extra spark)")
    if which("java") is None:
        pytest.skip("Spark needs Java")
    from nlihub.builders.procedures.spark import spark_engine
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    try:
        engine = spark_engine(session, tmp_path).sql
        folders = make_shards(tmp_path, 1)
        found = select(folders, tmp_path / "spark", engine)
        compare(folders, found)
        with_duckdb = select(folders, tmp_path / "duckdb")[2]
        assert found[2].to_pylist() == with_duckdb.to_pylist()
    finally:
        session.stop()
