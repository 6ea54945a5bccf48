"""Rows and groups counted by columns, beside the papers' counts."""

import pytest
from command_line import run_command
from nlihub.builders.spacenli import SpaceNLI
from nlihub.builders.statistics.counts import count_rows
from nlihub.builders.versions.row_tables import open_rows
from nlihub.loaders.errors import UnknownNameError
from small_versions import build_rows

LISTS = {"n_premises": 1, "has_negation": False, "fillers": []}


@pytest.fixture(scope="module")
def patterns(tmp_path_factory):
    rows = [
        ("1", "directional", "neutral", ["in", "to"]),
        ("1", "directional", "neutral", ["in", "to"]),
        ("2", "directional", "entailment", ["in"]),
        ("3", "projective", "entailment", []),
        (None, "projective", "entailment", ["behind"]),
    ]
    names = ("group", "category", "label", "expressions")
    made = [LISTS | dict(zip(names, row, strict=True)) for row in rows]
    return build_rows(tmp_path_factory.mktemp("built"), SpaceNLI.SPEC, {"test": made})


def count(version, by, published=None):
    with open_rows(version) as tables:
        return count_rows(tables, "default", by, published)


def test_a_list_counts_under_each_of_its_items(patterns):
    found = count(patterns, ["category+expressions"])
    assert {one.value: (one.rows, one.groups) for one in found} == {
        ("directional", "in"): (3, 2),
        ("directional", "to"): (2, 1),
        ("projective", "behind"): (1, 0),
    }


def test_declared_values_come_first_in_their_order(patterns):
    found = count(patterns, ["label", "category"], {})
    assert [count.value for count in found] == [
        ("entailment",),
        ("neutral",),
        ("directional",),
        ("projective",),
    ]
    assert [count.by for count in found] == ["label"] * 2 + ["category"] * 2
    assert sum(count.rows for count in found if count.by == "label") == 5


def test_the_papers_counts_stand_beside_ours(patterns):
    found = count(patterns, ["category+label", "n_premises"])
    by_value = {count.value: count for count in found}
    assert by_value["directional", "neutral"].published == 3_400
    absent = by_value["non_projective", "neutral"]
    assert (absent.rows, absent.groups, absent.published) == (0, 0, 3_000)
    assert [by_value[n,].published for n in (1, 2, 3)] == [19_600, 11_200, 1_200]


def test_a_column_that_is_not_there_is_refused(patterns):
    with pytest.raises(UnknownNameError, match="Did you mean 'expressions'"):
        count(patterns, ["category+expression"])
    refused = run_command("stats", patterns.folder, "--by", "categry")
    assert (refused.returncode, "Did you mean 'category'" in refused.stderr) == (2, True)


def test_stats_shows_them(patterns):
    shown = run_command("stats", patterns.folder, "--by", "category+expressions,n_premises").stdout
    assert "## Rows by category+expressions" in shown
    assert "| test | directional | in | 3 | 2 |" in shown
    assert "| test | 1 | 5 | 3 | 19,600 |" in shown
    assert "## Rows by" not in run_command("stats", patterns.folder).stdout
