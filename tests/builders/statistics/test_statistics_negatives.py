"""Negatives beside their positives: distances, and what is there twice."""

import pytest
from nlihub.builders.bionli import BioNLI
from nlihub.builders.scinli import SciNLI
from nlihub.builders.statistics import negatives
from nlihub.builders.statistics.negatives import (
    count_possible_negatives,
    count_word_changes,
    describe_negatives,
    marked_words,
)
from nlihub.builders.statistics.survey import show_survey, survey
from nlihub.builders.versions.row_tables import open_rows
from nlihub.builders.versions.version import BuiltVersion
from nlihub.loaders.errors import UnmeasuredError
from small_versions import build_rows

POSITIVE = "<re> Rain <er> calms <el> foxes <le>."


def row(category, hypothesis, group="1", **others):
    label = "entailment" if category == "positive" else "not_entailment"
    return {"category": category, "hypothesis": hypothesis, "group": group, "label": label} | others


def measure(version, function):
    with open_rows(version) as tables:
        return function(tables, version.main_config)


def describe(folder, splits):
    found = measure(build_rows(folder, BioNLI.SPEC, splits), describe_negatives)
    return {each.category: each for each in found}


def test_words_changed_by_hand():
    swapped = marked_words("<el> Rain <le> calms <re> foxes <er>.")
    assert count_word_changes(marked_words(POSITIVE), swapped) == 4
    assert marked_words("x<re>y") == ["x", "<re>", "y"]
    long = [str(number) for number in range(150)]
    assert count_word_changes(long, long[75:] + long[:75]) == 150
    assert count_word_changes(long, [*long[:70], "new", *long[71:]]) == 1
    assert (count_word_changes("", "ab"), count_word_changes("sitting", "kitten")) == (2, 3)


def test_distances_by_category(tmp_path):
    rows = [
        row("positive", POSITIVE),
        row("SEN", "<re> Foxes <er> calms <el> rain <le>."),
        row("LPR", "<re> Rain <er> excites <el> foxes <le>."),
        row("LPR", "<re> Rain <er> excites <el> hens <le>.", "9"),
        row("LPR", "<re> Rain <er> excites <el> hens <le>.", None),
        row("LPR", "B.", "8", original_hypothesis="A b."),
        row("GEN", "Hens", "2"),
        row("positive", "Foxes calm hens.", "2"),
        row("positive", "Hens.", "2"),
    ]
    found = describe(tmp_path, {"train": rows[2:], "test": rows[:2]})
    assert list(found) == ["LPR", "GEN", "SEN"]
    # Two of LPR have no positive, the positives of the others are in the other split or their own.
    lpr = found["LPR"]
    assert (lpr.rows, lpr.drawn, lpr.without_positive) == (4, 4, 2)
    assert (lpr.words, lpr.share) == ((1, 1, 1, 1, 1), (12.5, 12.5, 12.5, 33.3, 33.3))
    assert (found["SEN"].words, found["SEN"].share) == ((2,) * 5, (25.0,) * 5)
    assert found["GEN"].words == (1,) * 5  # to the nearest of two
    assert all(type(n) is int for n in lpr.words)  # numbers of words stay whole in JSON
    shown = show_survey(BioNLI.SPEC, survey(BuiltVersion(tmp_path / "bionli")))
    assert "## Negatives beside their positives" in shown
    assert "| SEN | 1 | 0 | 0 | 0 of 1 | 2 / 2 / 2 / 2 / 2 | 25 / 25 / 25 / 25 / 25 |" in shown


def test_what_is_there_twice(tmp_path):
    rows = [
        row("SEN", POSITIVE),  # before its positive
        row("positive", POSITIVE),
        row("SN", "A.", "2", original_hypothesis="A."),  # without its positive
        row("SEP", "B."),
        row("LPR", POSITIVE.replace(" Rain", " rain")),  # differs in case alone
        row("GEN", "Other.", None),
        row("GEN", "Other.", None),  # of no mechanism
    ]
    again = [row("SEP", "B."), row("SRE", "B."), row("SEP", "B.", "3"), row("SEN", POSITIVE, "3")]
    found = describe(tmp_path, {"train": rows, "test": again})
    same = {name: (each.same_as_positive, each.same_as_another) for name, each in found.items()}
    assert same == {
        "SEN": (1, 0),  # that of another mechanism is no positive of its own
        "SN": (1, 0),
        "SEP": (0, 1),
        "SRE": (0, 1),
        "LPR": (0, 0),
        "GEN": (0, 0),
    }
    assert found["LPR"].words == (0,) * 5


def test_some_of_each_category_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(negatives, "MAX_ROWS", 5)
    rows = [row("SEN", f"word{n}", str(n), original_hypothesis="x") for n in range(50)]
    rows += [row("GEN", "one", "1", original_hypothesis="x")]
    for order, split in ((rows, "train"), (rows[::-1], "test")):
        found = describe(tmp_path / split, {split: order})
        assert {name: each.drawn for name, each in found.items()} == {"SEN": 5, "GEN": 1}


def test_what_has_no_negatives(tmp_path):
    found = survey(build_rows(tmp_path / "a", SciNLI.SPEC, {"test": [{"label": "neutral"}]}))
    assert "labels are not" in found.unmeasured["negatives"]
    assert found.possible_negatives == ()
    version = build_rows(
        tmp_path / "b", BioNLI.SPEC, {"test": [row("positive", "A.")], "train": []}
    )
    with pytest.raises(UnmeasuredError, match="no negatives"):
        measure(version, describe_negatives)


def test_mechanisms_by_the_number_of_categories_of_their_negatives(tmp_path):
    validation = [
        *(row(name, f"{name} 1", "1") for name in ("positive", "SEN", "SEP", "SEP", "GEN-ND")),
        *(row(name, f"{name} 2", "2") for name in ("SEN", "positive", "SRE", "LPR")),
        *(row(name, f"{name} 3", "3") for name in ("positive", "SEN", "SEP")),
        row("positive", "4", "4"),  # without a negative
        row("SEN", "of no mechanism", None),
    ]
    train = [row("SEN", "SEN 5", "5")]
    version = build_rows(
        tmp_path, BioNLI.SPEC, {"train": train, "validation": validation, "test": []}
    )
    counts = measure(version, count_possible_negatives)
    assert {count.split for count in counts} == {"validation"}
    found = {count.n_categories: (count.mechanisms, count.share) for count in counts}
    some = {0: (1, 25.0), 2: (1, 25.0), 3: (2, 50.0)}
    assert found == {number: some.get(number, (0, 0.0)) for number in range(10)}
    published = {c.n_categories: c.published for c in counts if c.published is not None}
    assert published == {2: 5.7, 3: 35.1, 4: 39.0, 8: 0.1, 9: 0.0}
    found = survey(version)
    assert found.possible_negatives == counts
    shown = show_survey(BioNLI.SPEC, found)
    assert "| split | categories | mechanisms | mechanisms % |" in shown
    assert "| validation | 3 | 2 | 50.0 (35.1) |" in shown
    assert "| validation | 5 | 0 | 0.0 |" in shown
