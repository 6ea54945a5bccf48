"""SQL over Parquet files: kept results, memory, and what is not a size."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core import sql
from nlihub.builders.core.sql import DuckDBEngine, Statement, open_database, run_statements
from nlihub.loaders import progress
from nlihub.loaders.errors import UsageError

STATEMENTS = (
    Statement("counts", "SELECT x, COUNT(*) AS n FROM numbers GROUP BY x"),
    Statement("most", "SELECT MAX(n) AS n FROM counts"),
)


class Counted(DuckDBEngine):
    """Counts the queries that it runs, and fails at a given one."""

    def __init__(self, fails_at=None):
        super().__init__()
        self.n_queries, self.fails_at = 0, fails_at

    def write(self, query, tables, folder):
        self.n_queries += 1
        if self.n_queries == self.fails_at:
            raise KeyboardInterrupt
        super().write(query, tables, folder)


@pytest.fixture
def tables(tmp_path):
    names = ("x=9/it's [a] *", "x=9/it's a b")
    path, other = (tmp_path / name / "numbers.parquet" for name in names)
    for file, values in ((path, [1, 2, 2]), (other, [3])):
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": values}), file)
    return {"numbers": [path]}


def read(query, tables, folder):
    with open_database(folder) as database:
        database.add(tables)
        return database.read(query).to_pylist()


def test_later_queries_read_earlier_results(tables, tmp_path):
    found = run_statements(STATEMENTS, tables, tmp_path / "results", "key", DuckDBEngine())
    assert read("SELECT n FROM most", found, tmp_path) == [{"n": 2}]
    assert sorted(found) == ["counts", "most", "numbers"]


def test_a_result_without_rows_is_a_table(tables, tmp_path):
    nothing = [Statement("nothing", "SELECT x FROM numbers WHERE x > 2")]
    found = run_statements(nothing, tables, tmp_path / "results", "key", DuckDBEngine())
    assert read("SELECT x FROM nothing", found, tmp_path) == []


def test_what_was_done_before_an_interrupt_is_kept(tables, tmp_path):
    results = tmp_path / "results"
    with pytest.raises(KeyboardInterrupt):
        run_statements(STATEMENTS, tables, results, "key", Counted(fails_at=2))
    assert [path.name.partition("-")[0] for path in results.iterdir()] == ["counts"]
    again = Counted()
    run_statements(STATEMENTS, tables, results, "key", again)
    assert again.n_queries == 1


def test_statements_that_were_done_before_are_no_progress(tables, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    for _ in range(2):
        run_statements(STATEMENTS, tables, tmp_path / "results", "key", DuckDBEngine())
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "nlihub: choosing: 1 of 2 statements",
        "nlihub: choosing: 2 of 2 statements",
    ]


@pytest.mark.parametrize(
    ("key", "statements"),
    [
        ("other", STATEMENTS),
        ("key", (Statement("counts", "SELECT x, 1 AS n FROM numbers"), STATEMENTS[1])),
    ],
)
def test_other_tables_and_other_queries_have_other_results(tables, tmp_path, key, statements):
    results = tmp_path / "results"
    run_statements(STATEMENTS, tables, results, "key", DuckDBEngine())
    again = Counted()
    run_statements(statements, tables, results, key, again)
    assert again.n_queries == 2


def test_memory_that_is_no_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "much")
    with pytest.raises(UsageError, match="NLIHUB_MEMORY is 'much'; expected a size"):
        read("SELECT 1", {}, tmp_path)


def test_too_little_memory_names_the_setting(tables, tmp_path, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "1MB")
    with pytest.raises(OSError, match="Set NLIHUB_MEMORY to more"):
        read("SELECT x, LIST(range) FROM numbers, range(3000000) GROUP BY x", tables, tmp_path)
    assert not list(tmp_path.glob("sql-*"))


def test_many_bytes_are_read_by_as_many_threads_as_duckdb_takes(tables, tmp_path, monkeypatch):
    """Few are read by one; what is added counts."""
    monkeypatch.setattr(sql, "_FEW_BYTES", tables["numbers"][0].stat().st_size)
    query = "SELECT current_setting('threads')"
    with open_database(tmp_path) as database:
        database.add(tables)
        assert database.execute(query) == [(1,)]
        database.add({"again": tables["numbers"]})
        assert database.execute(query) == duckdb.connect().execute(query).fetchall()
