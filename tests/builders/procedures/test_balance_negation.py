"""Negated forms among positives and negatives, and what the card tells of the hypotheses alone."""

import pytest
from abstract_corpus import write_abstracts
from abstracts_in_memory import Negative, balance_negation
from constructing import from_abstracts
from nlihub.builders.procedures.abstracts.choose import UNBALANCED, is_negated
from nlihub.builders.procedures.procedure import show_probe
from perturb_samples import mechanism_of

import nlihub


def mechanisms(n, n_denied):
    return [
        mechanism_of(
            f"<re> A <er> {'does not inhibit' if number < n_denied else 'inhibits'} <el> B <le>.",
            "gg",
            pmid=str(number),
        )
        for number in range(n)
    ]


def flipped(mechanism):
    text = mechanism.conclusion
    if is_negated(text):
        return Negative("VNeg", "VNeg", text.replace("does not inhibit", "inhibits"), "")
    return Negative("VNeg", "VNeg", text.replace("inhibits", "does not inhibit"), "")


def exchanged(mechanism):
    text = mechanism.conclusion.replace("<re> A <er>", "<re> C <er>")
    return Negative("SRE", "SRE", text, "")


@pytest.mark.parametrize("n_denied", [0, 5, 20, 50])
def test_negatives_are_negated_as_often_as_positives(n_denied):
    positives = mechanisms(100, n_denied)
    made = [[flipped(one), exchanged(one)] for one in positives]
    balanced = balance_negation(positives, made, 1)
    left = [n for some in balanced for n in some]
    share = sum(is_negated(n.text) for n in left) / len(left)
    assert share == pytest.approx(n_denied / 100, abs=0.01)
    assert sum(n.category == "SRE" for n in left) == 100
    # What affirms a denied conclusion stays.
    assert sum(n.category == "VNeg" and not is_negated(n.text) for n in left) == n_denied


def test_what_is_left_out_depends_on_pmid_and_seed_alone():
    positives = mechanisms(60, 12)

    def kept(some, seed):
        made = [[flipped(one), exchanged(one)] for one in some]
        balanced = balance_negation(some, made, seed)
        return {
            one.pmid for one, left in zip(some, balanced, strict=True) if len(left) == len(made[0])
        }

    assert kept(positives, 1) == kept(positives[::-1], 1)
    assert kept(positives, 1) != kept(positives, 2)


def test_a_corpus_of_denials_is_left_alone():
    positives = mechanisms(10, 10)
    made = [[flipped(one), exchanged(one)] for one in positives]
    assert balance_negation(positives, made, 1) == made


def test_the_option_and_the_card(tmp_path):
    path = write_abstracts(tmp_path / "a.pubtator", range(60))
    plain = from_abstracts("plain", path, tmp_path, ratio=(0.6, 0.2, 0.2))
    made = from_abstracts(
        "balanced", path, tmp_path, ratio=(0.6, 0.2, 0.2), balance_negation=True, probe=True
    )
    dropped = made.counts["negatives"]["VNeg"]["dropped"]
    n_left = made.counts["negatives"]["VNeg"]["kept"]
    assert dropped[UNBALANCED] == plain.counts["negatives"]["VNeg"]["kept"] - n_left > 0
    assert any(line.startswith("negated: ") for line in made.summary)
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
