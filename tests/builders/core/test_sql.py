"""SQL over Parquet files: kept results, memory, and what is not a size."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.sql import Database, Statement, open_database
from nlihub.builders.dataflow.work import Engine, Work
from nlihub.loaders.errors import UsageError

STATEMENTS = (
    Statement("counts", "SELECT x, COUNT(*) AS n FROM numbers GROUP BY x"),
    Statement("most", "SELECT MAX(n) AS n FROM counts"),
)


@pytest.fixture
def tables(tmp_path):
    names = ("x=9/it's [a] *", "x=9/it's a b")
    path, other = (tmp_path / name / "numbers.parquet" for name in names)
    for file, values in ((path, [1, 2, 2]), (other, [3])):
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": values}), file)
    return {"numbers": [path]}


def select(statements, tables, folder):
    """Run statements, keeping their results in a folder; return the tables, and which ran."""
    ran = []

    class Noted(Database):
        def write(self, query, folder):
            ran.append(query)
            super().write(query, folder)

    with open_database(folder.parent) as database:
        database.__class__ = Noted
        add(database, tables)
        Work(Engine(1), [], folder, database).select(statements)
        return database.tables, ran


def add(database, tables):
    for name, files in tables.items():
        database.add(name, files)


def read(query, tables, folder):
    with open_database(folder) as database:
        add(database, tables)
        return database.read(query).to_pylist()


def test_later_queries_read_earlier_results(tables, tmp_path):
    found, _ = select(STATEMENTS, tables, tmp_path / "results")
    assert read("SELECT n FROM most", found, tmp_path) == [{"n": 2}]
    assert sorted(found) == ["counts", "most", "numbers"]


def test_results_that_are_there_are_not_made_again(tables, tmp_path):
    results = tmp_path / "results"
    assert len(select(STATEMENTS[:1], tables, results)[1]) == 1
    assert select(STATEMENTS, tables, results)[1] == [STATEMENTS[1].query]
    others = (Statement("counts", "SELECT x, 1 AS n FROM numbers"), STATEMENTS[1])
    assert len(select(others, tables, results)[1]) == 2


def test_memory_that_is_no_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "much")
    with pytest.raises(UsageError, match="NLIHUB_MEMORY is 'much'; expected a size"):
        read("SELECT 1", {}, tmp_path)


def test_too_little_memory_names_the_setting(tables, tmp_path, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "1MB")
    with pytest.raises(OSError, match="Set NLIHUB_MEMORY to more"):
        read("SELECT x, LIST(range) FROM numbers, range(3000000) GROUP BY x", tables, tmp_path)
    assert not list(tmp_path.glob("sql-*"))
