"""Whether a sentence affirms the relation of its two entities."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism
from nlihub.builders.procedures.abstracts.perturb.affirmation import (
    DENIED,
    MIXED,
    NOT_AFFIRMED,
    QUESTIONED,
    WEAK,
    judge_relation,
    why_not_affirmed,
)
from nlihub.builders.procedures.abstracts.perturb.apply import make_strategies
from nlihub.builders.procedures.abstracts.perturb.cues import read_cues
from nlihub.builders.procedures.abstracts.perturb.entity_pool import EntityPool
from nlihub.builders.procedures.abstracts.perturb.names import MarkedSentence, locate_entities
from nlihub.builders.procedures.abstracts.perturb.negate import (
    OTHER_PREDICATE,
    POSSIBLE,
    Negate,
)
from nlihub.builders.procedures.abstracts.perturb.reverse_polarity import (
    OTHER_TERM,
    ReversePolarity,
)
from nlihub.builders.procedures.abstracts.perturb.strategy import Choices, NoNegative
from nlihub.builders.procedures.abstracts.perturb.swap_entities import SwapMarkers

ROOT = Path(__file__).parents[3]
#: A group and a sentence with its two entities in square brackets.
RELATIONS = [
    tuple(line.split("\t"))
    for line in (ROOT / "tests/relations.tsv").read_text(encoding="utf-8").splitlines()
]
AFFIRMED = ("affirmed", "lookalike", "mixed, affirmed")


def mechanism_of(sentence: str) -> Mechanism:
    one, other = re.findall(r"\[.*?\]", sentence)
    marked = sentence.replace(one, f"<re> {one[1:-1]} <er>").replace(
        other, f"<el> {other[1:-1]} <le>"
    )
    return Mechanism.of(marked, pmid="1", regulator_type="Gene", regulated_type="Gene")


def marked(sentence: str) -> MarkedSentence:
    found = locate_entities(mechanism_of(sentence))
    assert found is not None
    return found


def propose(strategy, sentence: str) -> str:
    """Return the first negative without its markers, or the reason why there is none."""
    found = strategy.propose(mechanism_of(sentence), Choices(1, "1", strategy.name))
    if isinstance(found, NoNegative):
        return found.reason
    return re.sub(r"<..> | <..>", "", next(found).text)


@pytest.mark.parametrize("group", sorted({group for group, _ in RELATIONS}))
def test_sentences_of_each_group_are_told(group):
    sentences = [sentence for one, sentence in RELATIONS if one == group]
    assert len(sentences) >= 13
    wrong = [s for s in sentences if (why_not_affirmed(marked(s)) is None) != (group in AFFIRMED)]
    assert wrong == []


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("[A1] has no effect on [B1].", DENIED),
        ("It is unlikely that [A1] causes [B1].", WEAK),
        ("Whether [A1] causes [B1] is unknown.", QUESTIONED),
        ("[A1] lowered cholesterol but not [B1].", MIXED),
        ("[A1] probably causes [B1].", None),
    ],
)
def test_the_reason_is_named(sentence, reason):
    assert why_not_affirmed(marked(sentence)) == reason


def test_two_denials_cancel_out():
    assert why_not_affirmed(marked("We refute the view that [A1] causes [B1].")) == DENIED
    assert why_not_affirmed(marked("We refute the view that [A1] has no effect on [B1].")) is None


def test_every_phrase_is_a_regular_expression_of_tokens():
    """They are compiled one by one, when a sentence may have them."""
    cues = read_cues()
    rules = {
        rule for found in (cues.rules, cues.affirming) for one in found.values() for rule in one
    }
    assert len(rules) > 200
    for rule in rules:
        assert re.compile(rule.pattern).match("") is None


def test_the_deciding_words_are_given():
    sentence = marked("[A1] does not cause [B1].")
    (offset,) = judge_relation(sentence).cues
    assert sentence.text[offset:].startswith("not")


@pytest.mark.parametrize("name", ["SEN", "SEP", "SRE", "SREO", "SET"])
@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("[A1] does not activate [B1].", DENIED),
        ("[A1] rarely activates [B1].", WEAK),
        ("It is unclear whether [A1] activates [B1].", QUESTIONED),
        ("[A1] activates the kinase but not [B1].", MIXED),
    ],
)
def test_strategies_that_take_the_positive_as_true_refuse(name, sentence, reason):
    strategies = {**make_strategies(EntityPool.of([])), "SET": SwapMarkers()}
    assert propose(strategies[name], sentence) == reason
    assert set(NOT_AFFIRMED) <= set(strategies[name].reasons)


def test_swaps_that_may_stay_true_are_not_refused():
    assert propose(SwapMarkers(symmetric=True), "[A1] does not activate [B1].") not in NOT_AFFIRMED


@pytest.mark.parametrize(
    ("sentence", "negative"),
    [
        ("[A1] activates [B1] and iron.", "A1 does not activate B1 and iron."),
        ("[A1], which binds zinc, can activate [B1].", POSSIBLE),
        ("[A1] did not activate [B1] that is not iron.", "A1 activated B1 that is not iron."),
        ("[B1] was activated by [A1] and zinc but not by iron.", None),
        ("Nothing but [A1] controlled [B1].", None),
        ("Zinc blocks the induction of [A1] by [B1].", OTHER_PREDICATE),
        ("[A1] hardly activates [B1].", WEAK),
        ("We asked whether [A1] activates [B1].", QUESTIONED),
        ("[A1] activates zinc but not [B1].", MIXED),
    ],
)  # fmt: skip
def test_the_predicate_that_relates_the_entities_is_negated(sentence, negative):
    found = propose(Negate(), sentence)
    assert found == (negative or Negate.otherwise)


@pytest.mark.parametrize(
    ("sentence", "negative"),
    [
        ("[A1] rapidly activates [B1].", "A1 rapidly inactivates B1."),
        ("Early [A1] causes [B1].", "Early A1 prevents B1."),
        ("The rise in [B1] was prevented by [A1].", "The rise in B1 was caused by A1."),
        ("Zinc inhibits growth, and [A1] resembles [B1].", OTHER_TERM),
        ("[A1] is a cause of [B1].", "no term of interaction"),
        ("[A1] leads to the conclusion that [B1] matters.", "no term of interaction"),
        ("[A1] causes cells to release [B1].", "no term of interaction"),
        ("[A1] tends to lower [B1].", "no term of interaction"),
        ("[A1] rarely activates [B1].", ReversePolarity.otherwise),
        ("We question whether [A1] activates [B1].", QUESTIONED),
        ("We doubt that [A1] activates [B1].", WEAK),
        ("[A1] is devoid of action and activates no [B1].", ReversePolarity.otherwise),
        ("The view that [A1] activates [B1] was refuted.", DENIED),
        ("Zinc activates [B1], unlike [A1].", MIXED),
    ],
)
def test_the_term_that_relates_the_entities_is_reversed(sentence, negative):
    assert propose(ReversePolarity(), sentence) == negative


def test_the_benchmark_counts_by_group(tmp_path):
    rows = [
        {"sentence": "Zinc spares no iron.", "group": "denied", "entities_may_be_exchanged": False},
        {"sentence": "Zinc raises iron.", "group": "affirmed", "entities_may_be_exchanged": True},
        {"sentence": "Zinc raises iron .", "group": "affirmed", "entities_may_be_exchanged": False},
    ]  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text(
        "".join(json.dumps({**row, "a": "Zinc", "b": "iron"}) + "\n" for row in rows),
        encoding="utf-8",
    )
    run = [sys.executable, ROOT / "benchmarks/denials.py", file, "--wrong"]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert "wrong (affirmed): Zinc raises iron ." in told
    assert "| affirmed | 2 | 50 %" in told
    assert "| denied | 1 | 100 %" in told
