"""Replacing and swapping entities: synonyms, fit in grammar, capitals, and what stays true."""

import pytest
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism, Mention
from nlihub.builders.procedures.abstracts.perturb.grammar import (
    UNFIT,
    is_plural,
    kind_of_name,
    uncapitalize_name,
)
from nlihub.builders.procedures.abstracts.perturb.replace_entities import (
    MAY_BE_SAME,
    MAY_HOLD,
    EntityPool,
    PoolEntity,
    ReplaceInside,
    ReplaceOutside,
    is_kind,
    may_be_same,
)
from nlihub.builders.procedures.abstracts.perturb.strategy import Choices, NoNegative
from nlihub.builders.procedures.abstracts.perturb.swap_entities import UNDIRECTED, SwapNames
from nlihub.loaders.corpora.abstracts.mechanism_records import split_ids
from nlihub.loaders.errors import UsageError


def propose(strategy, one):
    found = strategy.propose(one, Choices(1, one.pmid, strategy.name))
    return found if isinstance(found, NoNegative) else [p.text for p in found]


def disease(conclusion, supporting=(), **fields):
    types = {"regulator_type": "Chemical", "regulated_type": "Disease"}
    return Mechanism.of(conclusion, supporting, **{**types, **fields})


SENTENCE = "We conclude that <re> foxin <er> causes <el> gout <le>."


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("D1;D2", ("D1;D2", "D1", "D2")), ("D1|D2", ("D1|D2", "D1", "D2")),
        ("D1,D2", ("D1,D2", "D1", "D2")), ("D1+D2", ("D1+D2", "D1", "D2")),
        ("cd4+", ("cd4+",)), ("factor, beta", ("factor, beta",)), ("-", ()), ("", ()),
    ],
)  # fmt: skip
def test_ids_of_a_mention(written, ids):
    assert split_ids(written) == ids


def test_a_replacement_shares_no_id_with_the_abstract():
    one = disease(
        SENTENCE,
        regulated_ids=("D6",),
        mentions=[Mention("podagra", "Disease", "elsewhere", ("D7",))],
    )
    pool = EntityPool(
        {
            "Disease": [
                PoolEntity("tophi arthritis", frozenset({"D6"})),
                PoolEntity("arthropathy", frozenset({"D7"})),
                PoolEntity("anemia", frozenset({"D9"})),
            ]
        }
    )
    found = propose(ReplaceOutside(pool), one)
    assert found == ["We conclude that <re> foxin <er> causes <el> anemia <le>."]


def test_entities_of_the_same_id_are_no_replacement_inside():
    mentions = [Mention("podagra", "Disease", "supporting", ("D6",))]
    one = disease(SENTENCE, ["There was podagra."], mentions=mentions, regulated_ids=("D6",))
    assert propose(ReplaceInside(), one) == NoNegative(MAY_BE_SAME)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("nephrotoxic", "nephrotoxicity", True), ("hypertensive", "hypertension", True),
        ("IL-2", "interleukin-2", True), ("IL-2", "interleukin-4", False),
        ("RB", "retinoblastoma", True), ("LTbetaR", "lymphotoxin beta receptor", True),
        ("cancer", "breast cancer", True), ("Cdc25", "Cdc25A", True), ("IL-2", "IL-2R", True),
        ("hTAF250", "TAF250", True), ("hypertension", "hypotension", False),
        ("zinc", "iron", False),
    ],
)  # fmt: skip
def test_names_that_may_be_of_one_entity(one, other, expected):
    assert may_be_same(one, other, "") is may_be_same(other, one, "") is expected


def test_a_kind_of_thing_is_no_entity():
    kinds = ("injury", "side effects", "statins", "SSRIs", "COX-2 inhibitor", "cytokine family")
    assert all(map(is_kind, kinds))
    assert not any(map(is_kind, ("gout", "TNF", "epidermal growth hormone 2", "diabetes")))


@pytest.mark.parametrize("kind", ["nonsteroidal anti-inflammatory drugs", "COX-2 inhibitor"])
def test_a_kind_neither_replaces_a_thing_nor_is_replaced(kind):
    mentions = [Mention(kind, "Chemical", "supporting"), Mention("zinc", "Chemical", "supporting")]
    given = [f"There was {kind}.", "Rats ran.", "Some zinc was seen."]
    one = disease(SENTENCE, given, mentions=mentions, regulated_type=None)
    assert propose(ReplaceInside(), one) == [SENTENCE.replace("foxin", "zinc")]
    assert isinstance(propose(ReplaceOutside(EntityPool({"Chemical": [kind]})), one), NoNegative)
    of_kind = disease(SENTENCE.replace("foxin", kind), given, mentions=mentions[1:])
    assert propose(ReplaceOutside(EntityPool({"Chemical": ["zinc"]})), of_kind) == NoNegative(
        ReplaceOutside.otherwise
    )


def test_kinds_of_names():
    plain = kind_of_name("aspirin")
    assert not any(plain)
    for name in ("hypertensive", "nephrotoxic"):
        assert kind_of_name(name) == (True, False, False)
    assert kind_of_name("T cells") == (False, True, False)
    assert kind_of_name("foxin receptor") == (False, False, True)


@pytest.mark.parametrize("new", ["nephrotoxic", "nausea, vomiting", "gout (podagra)"])
def test_names_that_fit_no_place_of_a_noun(new):
    pool = EntityPool({"Disease": [new]})
    one = Mechanism.of(SENTENCE.replace("gout", "scurvy"), regulated_type="Disease")
    assert propose(ReplaceOutside(pool), one) == NoNegative(UNFIT)


@pytest.mark.parametrize(
    ("name", "sentences", "expected"),
    [
        ("Insulin", ["Insulin rose.", "No insulin fell."], "insulin"),
        ("Wilson's disease", ["Wilson's disease is rare."], "Wilson's disease"),
        ("Escherichia coli", ["Escherichia coli grew."], "Escherichia coli"),
        ("Ras", ["Then Ras rose, and ras fell."], "Ras"),
    ],
)
def test_capitals_stay_unless_a_sentence_tells(name, sentences, expected):
    assert uncapitalize_name(name, sentences) == expected


def test_plurals():
    assert all(map(is_plural, ("SSRIs", "mitochondria", "statins", "metastases")))
    assert not any(map(is_plural, ("AIDS", "Ras", "diabetes", "ascites", "virus")))


@pytest.mark.parametrize(
    "sentence",
    [
        "The interactions of <re> A <er> with <el> B <le> rise.",
        "<re> A <er> binds to cell surface <el> B <le>.",
        "<re> A <er> co-localizes strongly with <el> B <le>.",
        "<re> A <er> resembles <el> B <le>.",
    ],
)
def test_relations_of_both(sentence):
    assert propose(SwapNames(), Mechanism.of(sentence)) == NoNegative(UNDIRECTED)


@pytest.mark.parametrize(
    "supporting",
    [
        "Then wolfin caused gout.",
        "We saw foxin, zinc, and wolfin.",
        "Wolfin rose.",
        "Wolfin was seen.",
    ],
)
def test_what_the_supporting_set_says_of_another_is_not_taken(supporting):
    mentions = [Mention("wolfin", "Chemical", "supporting", ("W",))]
    one = disease(SENTENCE, [supporting, "No wolfin."], regulated_type=None, mentions=mentions)
    expected = ["We conclude that <re> wolfin <er> causes <el> gout <le>."]
    refused = NoNegative(MAY_HOLD)
    assert propose(ReplaceInside(), one) == (
        expected if supporting == "Wolfin was seen." else refused
    )


def test_ids_in_a_pool_of_ones_own(tmp_path):
    path = tmp_path / "pool.json"
    path.write_text('{"Disease": ["gout", {"name": "scurvy", "ids": ["D1"]}]}')
    found = {one.name: set(one.ids) for one in EntityPool.read(path).walk_entities("Disease", 0)}
    assert found == {"gout": set(), "scurvy": {"D1"}}
    for broken in ('{"Disease": [{"ids": ["D1"]}]}', '{"Disease": [{"name": "a", "ids": "D1"}]}'):
        path.write_text(broken)
        with pytest.raises(UsageError, match="holds no entities"):
            EntityPool.read(path)
