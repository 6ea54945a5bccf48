"""Which sentences may deny, doubt, ask or contrast what their two entities do."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism
from nlihub.builders.procedures.abstracts.perturb.apply import make_strategies
from nlihub.builders.procedures.abstracts.perturb.names import locate_entities
from nlihub.builders.procedures.abstracts.perturb.replace_entities import EntityPool
from nlihub.builders.procedures.abstracts.perturb.strategy import (
    DENIED,
    Choices,
    NoNegative,
    find_denials,
    is_denied,
)
from nlihub.builders.procedures.abstracts.perturb.swap_entities import SwapNames

ROOT = Path(__file__).parents[3]
#: A group and a sentence with its two entities in square brackets.
RELATIONS = [
    tuple(line.split("\t"))
    for line in (ROOT / "tests/relations.tsv").read_text(encoding="utf-8").splitlines()
]


def mechanism_of(sentence: str) -> Mechanism:
    one, other = re.findall(r"\[.*?\]", sentence)
    marked = sentence.replace(one, f"<re> {one[1:-1]} <er>").replace(
        other, f"<el> {other[1:-1]} <le>"
    )
    return Mechanism.of(marked, pmid="1", regulator_type="Gene", regulated_type="Gene")


def marked(sentence: str):
    return locate_entities(mechanism_of(sentence))


@pytest.mark.parametrize("group", ["denied", "weak", "questioned", "contrasted"])
def test_sentences_that_do_not_affirm_are_told(group):
    sentences = [sentence for one, sentence in RELATIONS if one == group]
    assert len(sentences) >= 20
    assert [sentence for sentence in sentences if not is_denied(marked(sentence))] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "[Drelin] reduces [gastric ulcer] in rats.",
        "We conclude that [drelin] may protect against [stroke].",
        "[KAS1] probably binds [TOM2], and NO takes part.",
        "The rise in left ventricular [KAS1] was due to [drelin]; this was expected.",
        "Although they are small, [KAS1]-deficient mice develop [arthritis].",
        "[Drelin] has been linked to [asthma] under certain conditions.",
    ],
)
def test_plain_statements_pass(sentence):
    assert find_denials(marked(sentence)) == ()


@pytest.mark.parametrize("name", ["SEN", "SEP", "SRE", "SREO", "VNeg", "LPR"])
@pytest.mark.parametrize(
    "sentence",
    [
        "[A1] rarely activates [B1].",
        "It is unclear whether [A1] activates [B1].",
        "[A1] activates the kinase but spares [B1].",
    ],
)
def test_strategies_that_take_the_positive_as_true_refuse(name, sentence):
    strategy = make_strategies(EntityPool({}))[name]
    found = strategy.propose(mechanism_of(sentence), Choices(1, "1", name))
    assert found == NoNegative(DENIED)
    assert DENIED in strategy.reasons


def test_swaps_that_may_stay_true_are_not_refused():
    one = mechanism_of("[A1] never activates [B1].")
    found = SwapNames(symmetric=True).propose(one, Choices(1, "1", "SEN"))
    assert next(found).text == "<re> B1 <er> never activates <el> A1 <le>."


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
