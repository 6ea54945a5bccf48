"""Negated forms among positives and negatives, and what the card tells of the hypotheses alone."""

import re

import pytest
from abstract_corpus import make_abstract, write_abstracts
from constructing import from_abstracts
from nlihub.builders.procedures.abstracts.choose import UNBALANCED, Forms
from nlihub.builders.procedures.procedure import show_probe

import nlihub


def test_the_option_and_the_card(tmp_path):
    path = write_abstracts(tmp_path / "a.pubtator", range(60))
    with path.open("a") as file:
        for n in range(60, 66):  # what affirms a denied conclusion stays
            file.write("\n" + make_abstract(n, verb="does not inhibit"))
    plain = from_abstracts("plain", path, tmp_path, ratio=(0.6, 0.2, 0.2))
    made = from_abstracts(
        "balanced", path, tmp_path, ratio=(0.6, 0.2, 0.2), balance_negation=True, probe=True
    )
    dropped = made.counts["negatives"]["VNeg"]["dropped"]
    n_left = made.counts["negatives"]["VNeg"]["kept"]
    assert dropped[UNBALANCED] == plain.counts["negatives"]["VNeg"]["kept"] - n_left > 0
    (line,) = (line for line in made.summary if line.startswith("negated: "))
    positives, negatives = (float(n) for n in re.findall(r"([\d.]+) % of the", line))
    assert negatives == pytest.approx(positives, abs=1)
    card = (made.folder / "README.md").read_text()
    section = card.partition("## Is the label in the hypothesis?")[2].partition("\n## ")[0]
    assert "| `SEN` |" in section
    assert "| `not_entailment` |" in section
    assert "## Is the label" not in (plain.folder / "README.md").read_text()
    for one in (plain, made):
        assert nlihub.verify(one.folder).passed


def test_a_probe_that_could_not_be_measured_says_why():
    found = {"config": "full", "unmeasured": "there are no rows"}
    assert "Not measured on `full`: there are no rows." in [*show_probe(found)]
    assert [*show_probe({})] == []


def test_how_many_negations_are_kept():
    for n_negated_others, n_flipped, expected in ((0, 50, 20), (4, 50, 15), (0, 9, 9), (20, 9, 0)):
        assert Forms(100, 20, 80, n_negated_others, n_flipped).n_kept == expected
