"""Negated forms among positives and negatives, and what the card tells of the hypotheses alone."""

import re

import pytest
from abstract_corpus import make_abstract, write_abstracts
from constructing import from_abstracts
from nlihub.builders.procedures.abstracts.choose import UNBALANCED
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


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({}, ""),
        ({"config": "full", "unmeasured": "there are no rows"}, "Not measured on `full`: there"),
        (
            {
                "config": "full",
                "rows": 1200,
                "macro_f1": [61.5, [58.0, 64.2], 50.0],
                "labels": {"entailment": [600, 60.0, 40.0]},
                "categories": {},
            },
            "macro-F1 of\n61.5 (58.0 to 64.2) on 1,200 rows of `full`; guessing gives 50.0.",
        ),
    ],
)
def test_the_block_of_the_probe(found, told):
    assert told in "\n\n".join(show_probe(found))
    assert bool([*show_probe(found)]) == bool(found)
