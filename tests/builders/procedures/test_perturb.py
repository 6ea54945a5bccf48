"""The rule-based strategies: what each changes, keeps and refuses."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.builders.procedures.abstracts.perturb import find_numbers as numbers
from nlihub.builders.procedures.abstracts.perturb.affirmation import (
    DENIED,
    MIXED,
    QUESTIONED,
    WEAK,
)
from nlihub.builders.procedures.abstracts.perturb.apply import (
    SAME_AS_ANOTHER,
    SAME_AS_POSITIVE,
    make_strategies,
    perturb_mechanism,
)
from nlihub.builders.procedures.abstracts.perturb.entity_pool import EntityPool
from nlihub.builders.procedures.abstracts.perturb.find_numbers import find_numbers
from nlihub.builders.procedures.abstracts.perturb.fit_name import UNFIT
from nlihub.builders.procedures.abstracts.perturb.grammar import (
    choose_article,
    form_gerund,
    form_past,
    form_third,
)
from nlihub.builders.procedures.abstracts.perturb.names import find_places
from nlihub.builders.procedures.abstracts.perturb.negate import (
    DIRECTIONS,
    OTHER_PREDICATE,
    POSSIBLE,
    Negate,
)
from nlihub.builders.procedures.abstracts.perturb.replace_entities import (
    MAY_BE_SAME,
    MAY_HOLD,
    NO_TYPE,
    ReplaceOutside,
)
from nlihub.builders.procedures.abstracts.perturb.reverse_polarity import (
    NO_TERM,
    OTHER_TERM,
    Antonyms,
    ReversePolarity,
)
from nlihub.builders.procedures.abstracts.perturb.strategy import (
    BROKEN_MARKERS,
    MAX_WORDS,
    TOO_LONG,
    UNCHANGED,
    Choices,
    NoNegative,
    Perturbed,
    Strategy,
    TextEdit,
)
from nlihub.builders.procedures.abstracts.perturb.swap_entities import (
    MUTUAL,
    SAME_NAME,
    SYMMETRIC,
    SwapMarkers,
    SwapNames,
    SwapPositions,
)
from nlihub.builders.procedures.abstracts.perturb.swap_number import (
    CONFIDENCE,
    NO_NUMBER,
    OPEN_BOUND,
    SHARE,
    SwapNumber,
)
from nlihub.builders.procedures.abstracts.perturb.synonyms import may_be_same
from nlihub.loaders.errors import UsageError
from perturb_samples import MECHANISMS, mechanism_of

POOL = EntityPool({"Gene": ["integrin", "Notch1"], "Chemical": ["ouabain", "atropine"]})
STRATEGIES = make_strategies(POOL)
NAMES = tuple(STRATEGIES)


def propose_all(strategy, mechanism, choices):
    """All proposals of a strategy, or why it has none."""
    found = strategy.propose(mechanism, choices)
    return found if isinstance(found, NoNegative) else tuple(found)


def propose_one(strategy, mechanism, choices):
    """The first proposal of a strategy, or why it has none."""
    found = strategy.propose(mechanism, choices)
    return found if isinstance(found, NoNegative) else next(found)


def outcome(name, conclusion, types="gg", supporting=(), seed=1, strategy=None):
    mechanism = mechanism_of(conclusion, types, supporting)
    return propose_one(strategy or STRATEGIES[name], mechanism, Choices(seed, "1", name))


def texts(name, conclusion, types="gg", supporting=(), strategy=None):
    """All that a strategy can make of a sentence, without its markers."""
    mechanism = mechanism_of(conclusion, types, supporting)
    found = propose_all(strategy or STRATEGIES[name], mechanism, Choices(1, "1", name))
    return set() if isinstance(found, NoNegative) else {plain(p.text) for p in found}


def plain(text):
    return re.sub("<re> | <er>|<el> | <le>", "", text)


def flipped(sentence):
    """What VNeg makes of a sentence with X and Y in it."""
    marked = sentence.replace("X", "<re> TNF <er>", 1).replace("Y", "<el> IL-6 <le>", 1)
    return {t.replace("TNF", "X").replace("IL-6", "Y") for t in texts("VNeg", marked)}


# ---- The paper's Table 4, in our own words: the same edits, the same kinds of result.

TABLE_4 = (
    "We suggest that, although the <el> auxin <le>-induced the <re> calcium <er>(c) increase is "
    "linked to and even follows the induction of GH3 transcripts, it is not enough for growth."
)


def test_table_4_names_change_places_and_markers_stay():
    assert outcome("SEN", TABLE_4).text == TABLE_4.replace("auxin", "@").replace(
        "calcium", "auxin"
    ).replace("@", "calcium")


def test_table_4_markers_move_with_the_names():
    found = outcome("SEP", TABLE_4).text
    assert "the <re> calcium <er>-induced the <el> auxin <le>(c) increase" in found


def test_table_4_an_entity_from_outside():
    mechanism = mechanism_of(TABLE_4, "g-")
    pool = EntityPool({"Gene": ["integrin"]})
    found = propose_one(ReplaceOutside(pool), mechanism, Choices(1, "1", "SREO"))
    assert found.text == TABLE_4.replace("calcium", "integrin")


def test_table_4_a_term_becomes_its_antonym_one_at_a_time():
    found = texts("LPR", TABLE_4)
    assert plain(TABLE_4).replace("increase", "decrease") in found
    assert not any("decrease" in text and "repress" in text for text in found)


# ---- Properties of all strategies.

AWKWARD = [
    "IL-6", "IL-6 receptor", "TNF-α", "p53", "H2O2", "CD4+", "a.b(c)*", "[3H]thymidine", "$x^2|y",  # noqa: RUF001
    "5‑HT", "NO", "not-1", "Nogo-A", "statins", "insulin", "Insulin", "β2", "\\d+", "1,25-(OH)2D3",  # noqa: RUF001
]  # fmt: skip
WORDS = """
    is are was not no can cannot may did does had has increases increased decrease induced by
    the a an of in and or but that which 3 12 45% two 2-fold 1.5 2-4 effect bound to inhibits
    only , ; levels significantly also been failed higher P < 0.05 activation -induced
"""
names = st.sampled_from(AWKWARD) | st.text("ab-α(.*1 ", min_size=1, max_size=6).filter(  # noqa: RUF001
    lambda name: name == name.strip()
)
runs = st.lists(st.sampled_from(WORDS.split()), max_size=7).map(" ".join)


@st.composite
def mechanisms(draw):
    first, second = f"<re> {draw(names)} <er>", f"<el> {draw(names)} <le>"
    if draw(st.booleans()):
        first, second = second, first
    parts = [draw(runs), first, draw(runs), second, draw(runs)]
    conclusion = " ".join(part for part in parts if part)
    supporting = [
        f"{draw(runs)} {{{draw(st.sampled_from('gc'))}:{draw(names)}}} {draw(runs)}".strip()
        for _ in range(draw(st.integers(0, 3)))
    ]
    types = draw(st.sampled_from(["gg", "gc", "cg", "--", "-g"]))
    return mechanism_of(conclusion, types, supporting, draw(st.text("123", min_size=1)))


@pytest.mark.parametrize("name", NAMES)
@given(mechanism=mechanisms(), seed=st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_properties(name, mechanism, seed):
    strategy = STRATEGIES[name]
    choices = Choices(seed, mechanism.pmid, name)
    found = propose_one(strategy, mechanism, choices)
    assert found == propose_one(strategy, mechanism, choices)
    everything = propose_all(strategy, mechanism, choices)
    if isinstance(found, NoNegative):
        assert found.reason in strategy.reasons
        assert everything == found
        return
    assert everything[0] == found
    assert propose_all(strategy, mechanism, choices)[:1] == (found,)
    for each in everything:
        assert each.text != mechanism.conclusion
        assert find_places(each.text) is not None
        assert each.detail
        assert_rest_is_unchanged(mechanism.conclusion, each)


def assert_rest_is_unchanged(positive, perturbed):
    """Every part between two edits stands in both sentences at its place."""
    shift = end = 0
    for edit in perturbed.edits:
        assert edit.start >= end
        assert positive[end : edit.start] == perturbed.text[end + shift : edit.start + shift]
        assert perturbed.text[edit.start + shift :].startswith(edit.new)
        shift += len(edit.new) - (edit.end - edit.start)
        end = edit.end
    assert positive[end:] == perturbed.text[end + shift :]


@given(mechanism=mechanisms(), order=st.permutations(NAMES), ignore=st.booleans())
@settings(max_examples=150, deadline=None)
def test_negatives_differ_and_do_not_depend_on_the_order(mechanism, order, ignore):
    found = perturb_mechanism(mechanism, STRATEGIES.values(), 1, ignore_markers=ignore)
    again = perturb_mechanism(mechanism, [STRATEGIES[n] for n in order], 1, ignore_markers=ignore)
    assert (found.made, found.refused) == (again.made, again.refused)
    assert {*found.made, *found.refused} == set(NAMES)
    sentences = [mechanism.conclusion, *(p.text for p in found.made.values())]
    if ignore:
        sentences = [plain(text) for text in sentences]
    assert len(set(sentences)) == len(sentences)


@given(mechanism=mechanisms())
@settings(max_examples=100, deadline=None)
def test_entities_are_never_touched_by_words_and_numbers(mechanism):
    for name in ("VNeg", "SN", "LPR"):
        found = propose_all(STRATEGIES[name], mechanism, Choices(1, "1", name))
        for each in () if isinstance(found, NoNegative) else found:
            assert f"<re> {mechanism.regulator} <er>" in each.text
            assert f"<el> {mechanism.regulated} <le>" in each.text


def test_another_process_chooses_the_same():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import json\n"
        "from test_perturb import made; print(json.dumps(made()))"
    )
    here = Path(__file__).parent
    run = [sys.executable, "-c", code, here, here.parents[1]]
    assert json.loads(subprocess.run(run, check=True, capture_output=True).stdout) == made()


def made():
    found = [perturb_mechanism(m, STRATEGIES.values(), 7) for m in reversed(MECHANISMS)]
    return [{name: p.text for name, p in f.made.items()} for f in found]


def test_seeds_pmids_and_strategies_draw_apart():
    draws = {Choices(s, p, n).draw("x") for s in (1, 2) for p in "12" for n in ("SN", "LPR")}
    assert len(draws) == 8


# ---- Refusals.

NOT_AFFIRMING = {
    DENIED: ("We show that <re> A <er> is not the cause of <el> B <le> release.", "gg"),
    WEAK: ("It is unlikely that <re> A <er> releases <el> B <le>.", "gg"),
    QUESTIONED: ("Whether <re> A <er> increases <el> B <le> is unknown.", "gg"),
    MIXED: ("<re> A <er> increases leptin but not <el> B <le>.", "gg"),
}
REFUSED = {
    "SEN": {
        BROKEN_MARKERS: ("<re> A <er> acts on <el> B.", "gg"),
        SYMMETRIC: ("The binding of <re> A <er> and <el> B <le> is strong.", "gg"),
        MUTUAL: ("<re> A <er> activates <el> B <le>.", "gg", "A and B regulate each other."),
        UNFIT: ("<re> Zinc <er> is a cause of <el> hypertensive <le> crises.", "cc"),
        SAME_NAME: ("<re> TNF-α <er> increases <el> TNF alpha <le>.", "gg"),  # noqa: RUF001
        **NOT_AFFIRMING,
    },
    "SRE": {
        BROKEN_MARKERS: ("<re> A <el> B <le> <er> works.", "gg"),
        **NOT_AFFIRMING,
        NO_TYPE: ("<re> A <er> acts on <el> B <le>.", "--"),
        MAY_BE_SAME: ("<re> IL-2 <er> acts on <el> B <le>.", "gg", "{g:Interleukin 2} rose."),
        UNFIT: ("<re> Zinc <er> acts on <el> B <le>.", "cg", "{c:hypertensive} rats ran."),
        MAY_HOLD: ("<re> A <er> inhibits <el> B <le>.", "g-", "Then {g:C} inhibited B."),
        STRATEGIES["SRE"].otherwise: ("<re> A <er> acts on <el> B <le>.", "gg", "{c:C} and {g:A}."),
    },
    "SREO": {
        BROKEN_MARKERS: ("A acts on <el> B <le>.", "gg"),
        **NOT_AFFIRMING,
        NO_TYPE: ("<re> A <er> acts on <el> B <le>.", "--"),
        UNFIT: ("<re> Zinc <er> causes <el> nephrotoxic <le> effects.", "-c"),
        STRATEGIES["SREO"].otherwise: (
            "<re> Integrin <er> acts on <el> Notch1 <le>.", "gg", "Integrin binds Notch1.",
        ),
    },
    "VNeg": {
        BROKEN_MARKERS: ("<re>A<er> is <el> B <le>.", "gg"),
        **{reason: NOT_AFFIRMING[reason] for reason in (WEAK, QUESTIONED, MIXED)},
        OTHER_PREDICATE: ("Zinc increases the effect of <re> A <er> on <el> B <le>.", "gg"),
        POSSIBLE: ("<re> A <er> may inhibit <el> B <le>.", "gg"),
        STRATEGIES["VNeg"].otherwise: ("A role of <re> A <er> in <el> B <le> release.", "gg"),
    },
    "SN": {
        BROKEN_MARKERS: ("<re> A <er> and <re> C <er> act on <el> B <le>.", "gg"),
        NO_NUMBER: ("<re> IL-6 <er> acts on <el> p53 <le>.", "gg", "It fell by 5%."),
        OPEN_BOUND: ("<re> A <er> above 9 mg cut <el> B <le>.", "gg", "At 5 mg."),
        CONFIDENCE: ("<re> A <er> cut <el> B <le> (95% CI).", "gg", "At 5%."),
        SHARE: ("<re> A <er> cut <el> B <le> in 3 rats (9%).", "gg", "In 5, or 7%."),
        STRATEGIES["SN"].otherwise: ("<re> A <er> cut <el> B <le> by 5%.", "gg", "In 12, by 5%."),
    },
    "LPR": {
        BROKEN_MARKERS: ("", "gg"),
        NO_TERM: ("<re> A <er> is <el> B <le>.", "gg"),
        OTHER_TERM: ("Zinc inhibits growth, and <re> A <er> resembles <el> B <le>.", "gg"),
        DENIED: ("The view that <re> A <er> increases <el> B <le> was refuted.", "gg"),
        WEAK: ("We doubt that <re> A <er> increases <el> B <le>.", "gg"),
        **{reason: NOT_AFFIRMING[reason] for reason in (QUESTIONED, MIXED)},
        STRATEGIES["LPR"].otherwise: ("<re> A <er> does not inhibit <el> B <le>.", "gg"),
    },
}  # fmt: skip
REFUSED["SEP"] = REFUSED["SEN"]
LONG = f"<re> A <er> acts on <el> B <le>{' not' * MAX_WORDS}."


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_is_given(name):
    refused = {TOO_LONG: (LONG, "gg"), **REFUSED[name]}
    assert set(refused) == set(STRATEGIES[name].reasons) - {UNCHANGED}
    for reason, arguments in refused.items():
        assert outcome(name, *arguments) == NoNegative(reason)


@pytest.mark.parametrize("first", ["{g:GAP-43} (B-50, {g:neuromodulin})",
                                   "{g:neuromodulin} (B-50, {g:GAP-43})"])  # fmt: skip
def test_a_name_that_the_text_gives_in_brackets_is_the_same(first):
    supporting = f"{first} was seen. So was {{g:Notch1}}."
    conclusion = "<re> GAP-43 <er> binds to <el> calmodulin <le>."
    found = texts("SRE", conclusion, "gc", supporting)
    assert found and all("Notch1" in text for text in found)


@pytest.mark.parametrize("name", ["SEN", "SEP", "SRE", "SREO"])
def test_a_denial_beside_a_statement_is_no_hindrance(name):
    conclusion = "We show that <re> A <er> inhibits <el> B <le>, which is not a kinase."
    assert isinstance(outcome(name, conclusion, "gg", "{g:C} was seen."), Perturbed)


@pytest.mark.parametrize(
    "conclusion",
    [
        "A process by which released <re> A <er> binds to the cell.",
        "Growth not only slowed but reversed the <re> A <er> effect.",
    ],
)
def test_a_verb_that_no_negation_can_stand_before_is_left_alone(conclusion):
    found = texts("VNeg", f"{conclusion[:-1]} in <el> B <le>.")
    assert not any("did not" in text for text in found)


def test_names_other_than_those_between_the_markers_are_refused():
    mechanism = mechanism_of("<re> A <er> inhibits <el> B <le>.")
    other = type(mechanism)(*(getattr(mechanism, f) for f in mechanism.__slots__[:3]), "C", "B",
                            "Gene", "Gene", (), None)  # fmt: skip
    for name, strategy in STRATEGIES.items():
        assert propose_one(strategy, other, Choices(1, "1", name)) == NoNegative(BROKEN_MARKERS)


def test_a_name_that_breaks_the_markers_is_not_taken():
    strategy = ReplaceOutside(EntityPool({"Gene": ["C <er> D"]}))
    assert outcome("SREO", "<re> A <er> is <el> B <le>.", strategy=strategy) == NoNegative(
        UNCHANGED
    )


class Fixed(Strategy):
    """Proposes what it was given."""

    otherwise = "none"

    def __init__(self, name, *words):
        self.name, self.words = name, words

    def _propose(self, marked, mechanism, choices):
        end = len(marked.text)
        return [Perturbed.of(marked.text, [TextEdit(end, end, word)]) for word in self.words]


def test_a_negative_that_is_taken_gives_way_to_the_next():
    mechanism = mechanism_of("<re> A <er> is <el> B <le>")
    found = perturb_mechanism(
        mechanism, [Fixed("2", "x", "y"), Fixed("1", "x"), Fixed("3", "y")], 1
    )
    assert {n: p.text[-1] for n, p in found.made.items()} == {"1": "x", "2": "y"}
    assert found.refused == {"3": NoNegative(SAME_AS_ANOTHER)}
    assert list(found.made) == ["2", "1"]


def test_a_negative_that_says_nothing_new_without_markers():
    mechanism = mechanism_of("<re> A <er> inhibits <el> B <le>.")
    strategies = [SwapNames(), SwapPositions()]
    assert len(perturb_mechanism(mechanism, strategies, 1).made) == 2
    found = perturb_mechanism(mechanism, strategies, 1, ignore_markers=True)
    assert found.refused == {"SEP": NoNegative(SAME_AS_ANOTHER)}
    same = perturb_mechanism(mechanism, [SwapMarkers()], 1, ignore_markers=True)
    assert same.refused == {"SET": NoNegative(SAME_AS_POSITIVE)}


def test_a_strategy_given_twice_is_refused():
    with pytest.raises(UsageError, match="VNeg"):
        perturb_mechanism(MECHANISMS[0], [Negate(), Negate(direction="posToNeg")], 1)


# ---- Names: SEN, SEP, SRE, SREO.


def test_names_take_capitals_articles_and_verbs_with_them():
    found = outcome("SEN", "<re> Insulin <er> is an <el> AMPK <le> activator.", "gg", "No insulin.")
    assert found.text == "<re> AMPK <er> is an <el> insulin <le> activator."
    found = outcome("SEN", "<re> Statins <er> inhibit <el> kinase <le>.", "gg", "No statins.")
    assert found.text == "<re> Kinase <er> inhibits <el> statins <le>."
    found = outcome("SEN", "An <re> EGF <er> signal needs the <el> JNK <le>.")
    assert found.text == "A <re> JNK <er> signal needs the <el> EGF <le>."


def test_symmetric_sentences_are_swapped_on_demand():
    sentence = "<re> A <er> interacts with <el> B <le>."
    assert outcome("SEN", sentence) == NoNegative(SYMMETRIC)
    neither = "Neither <re> A <er> nor <el> B <le> is low."
    assert outcome("SEN", neither) == NoNegative(SYMMETRIC)
    for also in ("FGF1-FGFR2", "binds directly to", "is closely related to the"):
        text = f"<re> A <er> {also} <el> B <le>." if " " in also else "<re> A <er>-<el> B <le> is."
        assert outcome("SEN", text) == NoNegative(SYMMETRIC)
    for strategy in (SwapNames(symmetric=True), SwapPositions(symmetric=True)):
        assert plain(outcome("SEN", sentence, strategy=strategy).text) == "B interacts with A."


def test_markers_alone_change_places():
    found = outcome("SET", "<el> A <le> is cut by <re> B <er>.", strategy=SwapMarkers())
    assert found.text == "<re> A <er> is cut by <el> B <le>."
    both = "<re> A <er> and <el> B <le> interact."
    assert outcome("SET", both, strategy=SwapMarkers()) == NoNegative(SYMMETRIC)
    assert plain(outcome("SET", both, strategy=SwapMarkers(symmetric=True)).text) == plain(both)


def test_names_within_names():
    sentence = "<re> IL-6 <er> blocks <el> IL-6 receptor <le> and IL-6."
    assert plain(outcome("SEN", sentence).text) == "IL-6 receptor blocks IL-6 and IL-6."


def test_other_entities_of_the_abstract():
    sentence = "<re> TNF <er> induces <el> ICAM-1 <le> with {g:CD4}."
    supporting = (
        "{g:TNF-alpha} and {g:CD4} and {g:icam1}; {c:zinc}, {g:VCAM-1}.",
        "{g:P-selectin} or TNF; {g:X1} (ICAM-1); TNF ({g:cachectin}); {g:tumor necrosis factor}.",
    )
    found = texts("SRE", sentence, "gg", supporting)
    # TNF-alpha, icam1, X1, cachectin and the long form may be one of the two, CD4 stands in the
    # sentence, and what holds for TNF may hold for P-selectin, not yet for ICAM-1.
    assert found == {
        "VCAM-1 induces ICAM-1 with CD4.",
        "TNF induces VCAM-1 with CD4.",
        "TNF induces P-selectin with CD4.",
    }


def test_a_pool_gives_names_that_the_abstract_has_not():
    pool = EntityPool({"Gene": ["TNF", "tnf", "VCAM-1", "E2F", "IL-6 receptor"]})
    sentence = "<re> TNF <er> induces <el> IL-6 <le>."
    found = texts("SREO", sentence, "gg", "vcam-1 is low.", ReplaceOutside(pool))
    assert found == {"E2F induces IL-6.", "TNF induces E2F."}


def test_a_pool_does_not_depend_on_the_order_and_has_small_letters():
    pool, other = EntityPool.of(MECHANISMS), EntityPool.of(MECHANISMS[::-1])
    for type_ in ("Gene", "Chemical"):
        assert list(pool.walk(type_, 5)) == list(other.walk(type_, 5))
    chemicals = set(pool.walk("Chemical", 0))
    assert {"Morphine", "FK506"} <= chemicals  # nothing says that it is not a trade name
    told = [mechanism_of("<re> Morphine <er> acts on <el> B <le>.", "cg", "{c:zinc} and morphine.")]
    assert set(EntityPool.of(told).walk("Chemical", 0)) == {"morphine", "zinc"}
    assert list(pool.walk("Cell", 0)) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("TBP", "TATA box binding protein", True),
        ("ATM", "AT mutated", True),
        ("NF-κB", "nuclear factor kappa B", True),
        ("MAPK", "MAP kinase", True),
        ("TNF‑α", "Tnf alpha", True),  # noqa: RUF001
        ("IL-6", "IL-6 receptor", True),
        ("Fas", "FADD", False),
        ("TNF", "TNFR complex", False),
        ("IL-1", "IL-10", False),
        ("c-Jun", "c-Raf", False),
        ("a" * 60 + "b", " ".join(["a" * 30] * 30), False),
    ],
)
def test_names_of_one_entity(one, other, expected):
    assert may_be_same(one, other, "") is may_be_same(other, one, "") is expected


# ---- VNeg.


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("X is induced by Y.", "X is not induced by Y."),
        ("X cannot bind Y.", "X can bind Y."),
        ("X could not bind Y.", "X could bind Y."),
        ("X can not bind Y.", "X can bind Y."),
        ("X has been linked to Y.", "X has not been linked to Y."),
        ("X has a role in Y.", "X does not have a role in Y."),
        ("X had an effect on Y.", "X did not have an effect on Y."),
        ("X had no significant effect on Y.", "X had a significant effect on Y."),
        ("X had no apparent role in Y.", "X had an apparent role in Y."),
        ("X increases Y.", "X does not increase Y."),
        ("X strongly increases Y.", "X does not strongly increase Y."),
        ("X also increases Y.", "X also does not increase Y."),
        ("X did not affect A or Y.", None),
        ("X bound the Y.", "X did not bind the Y."),
        ("X did not increase Y.", "X increased Y."),
        ("X did not bind the Y.", "X bound the Y."),
        ("X does not modify Y.", "X modifies Y."),
        ("Cells do not control X or need Y.", None),
        ("X didn't undergo Y.", "X underwent Y."),
        ("X isn't a target of Y.", "X is a target of Y."),
        ("X never inhibits Y.", "X inhibits Y."),
        ("X has never been found in Y.", "X has been found in Y."),
        ("X fails to induce Y.", "X induces Y."),
        ("X failed to bind Y.", "X bound Y."),
        ("No effect of X on Y was seen.", "An effect of X on Y was seen."),
        ("X is not only in Y but in Z.", None),
        ("X did not only inhibit A but also Y.", None),
        ("X is not due to A but to Y.", None),
        ("X did not have any effect on Y.", None),
        ("X does not bind or activate Y.", None),
        ("X binds and activates Y.", "X binds and does not activate Y."),
        ("X is only found in Y.", None),
        ("X produced in A activates the Y.", "X produced in A does not activate the Y."),
        ("A role of X mediated repression by Y.", None),
        ("X is incapable of Y.", None),
        ("X is unable to bind Y.", None),
        ("Neither X nor Z activates Y.", None),
        ("The X-induced Y release.", None),
        ("We saw that X induced Y is low.", None),
        ("Increases of X in Y.", None),
        ("The use of X to increase Y.", None),
        ("There is no evidence that X alters Y.", "There is evidence that X alters Y."),
        ("X gene NO and NOT and CAN of Y.", None),
        ("X inhibits Y, not Z.", None),
        ("X inhibits Y but not Z.", None),
        ("X is needed, but not enough, for Y.", None),
        ("X is needed but does not suffice for Y.", None),
        ("X inhibits Y, but increases Z.", "X does not inhibit Y, but increases Z."),
        ("X may or may not increase Y.", None),
        ("X must have caused Y.", "X must not have caused Y."),
        ("X doesn’t increase Y.", "X increases Y."),  # noqa: RUF001
    ],
)
def test_polarity_of_a_predicate(sentence, expected):
    assert flipped(sentence) == ({expected} if expected else set())


@pytest.mark.parametrize(
    ("sentence", "detail"),
    [
        ("X is also low in Y.", "also -> also not"),
        ("X is bound to Y.", "is -> is not"),
        ("X strongly increases Y.", "strongly -> does not strongly; increases -> increase"),
        ("X never inhibits Y.", "never inhibits -> inhibits"),
    ],
)
def test_a_reader_is_told_what_was_changed(sentence, detail):
    marked = sentence.replace("X", "<re> A <er>").replace("Y", "<el> B <le>")
    assert outcome("VNeg", marked).detail == detail


def test_negation_inside_a_name_stays():
    assert texts("VNeg", "<re> not-1 <er> of <el> no effect <le> with {g:is not}.") == set()


def test_reports_and_possibilities_are_left_alone():
    assert not flipped("It was concluded that X may be a cause and is a sign of Y.")
    sentence = "It was concluded that X is a sign of Y."
    assert flipped(sentence) == {sentence.replace("is a", "is not a")}
    assert flipped("We conclude that X acts on Y.") == {"We conclude that X does not act on Y."}
    with pytest.raises(TypeError, match="any_predicate"):
        Negate(any_predicate=True)  # which gave "We do not conclude that"


@pytest.mark.parametrize(
    "sentence",
    [
        "X may inhibit Y.",
        "X might be a cause of Y.",
        "X could have caused Y.",
        "X can bind Y.",
        "X may not inhibit Y.",
        "We think that X might never inhibit Y.",
        "X possibly inhibits Y.",
        "X perhaps does not inhibit Y.",
        "It is possible that X inhibits Y.",
        "The possibility that X is a target of Y was raised.",
        "It is conceivable that X inhibits Y.",
        "X sometimes inhibits Y.",
        "In some patients X inhibits Y.",
        "In certain tissues, X inhibits Y.",
        "It is plausible that X inhibits Y.",
        "X plausibly inhibits Y.",
        "It is feasible that X inhibits Y.",
        "X could've inhibited Y.",
        "X might’ve inhibited Y.",  # noqa: RUF001
        "X inhibits Y in a portion of cells.",
        "X inhibits Y at times.",
    ],
)
def test_the_negation_of_a_possibility_contradicts_nothing(sentence):
    assert flipped(sentence) == set()
    marked = sentence.replace("X", "<re> A <er>").replace("Y", "<el> B <le>")
    assert outcome("VNeg", marked) == NoNegative(POSSIBLE)


def test_one_direction_alone():
    strategies = {d: Negate(direction=d) for d in DIRECTIONS}
    found = {
        direction: [
            texts("VNeg", f"<re> A <er> {verb} <el> B <le>.", strategy=strategy)
            for verb in ("does not inhibit", "inhibits")
        ]
        for direction, strategy in strategies.items()
    }
    denied, affirmed = {"A does not inhibit B."}, {"A inhibits B."}
    assert found["negToPos"] == [affirmed, set()]
    assert found["posToNeg"] == [set(), denied]
    assert found["both"] == [affirmed, denied]
    with pytest.raises(UsageError, match="expected one of both, posToNeg, negToPos"):
        Negate(direction="up")


# ---- SN.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by 5% in 12 rats", [("5", "percent"), ("12", "integer")]),
        ("1,200 or 3.5 mg", [("1,200", "integer"), ("3.5", "decimal")]),
        ("two-fold, 2.5-fold", [("two-fold", "fold"), ("2.5-fold", "fold")]),
        ("3–5 mM, 30-50%", [("3–5", "range"), ("30-50", "percent range")]),  # noqa: RUF001
        ("from 7.1 to 7.3", [("7.1 to 7.3", "range")]),
        ("between 3 and 5 days", [("3 and 5", "range")]),
        ("3 and 5 days", [("3", "integer"), ("5", "integer")]),
        ("P < 0.05 in 1998", [("0.05", "p-value"), ("1998", "year")]),
        ("of -80 mV", [("-80", "signed integer")]),
        ("Twelve rats", [("Twelve", "word")]),
        ("a 3-day test", [("3", "integer")]),
        ("5mg or 24h", [("5", "integer"), ("24", "integer")]),
        ("IL-6 p53 H2O2 (IL-6 gp130)2 CD4+ 5-HT 17β 14-3-3 Th1/Th2 1,25-D type 2", []),
        ("seen [12], (3, 4), [5-7], ref. 8, 4 beta-phorbol, isoleucine 3", []),
        ("1:1, 2/3, 10(-6) M, 10-6 M, 7.1 ± 0.4", []),
        ("one-sided, someone, fold", []),
        ("residues 4 and 8, chromosomes 12, day 5, beta 3 chains, line XYZ 410, 2 7 rats", []),
        ("60 +/- 12 nM, Bread 31, 140-152)", []),
    ],
)  # fmt: skip
def test_numbers(text, expected):
    found = [(n.text, n.kind) for n in find_numbers(text)]
    assert [f for f in found if f != ("7.1", "decimal")] == expected


def test_a_number_of_a_long_text_is_judged_by_what_stands_near(monkeypatch):
    seen = []

    class Recorded:
        def search(self, text):
            seen.append(len(text))

    monkeypatch.setattr(numbers, "_NAMED", Recorded())
    assert len(find_numbers("5 mg, " * 2000)) == len(seen) == 2000
    assert max(seen) == seen[-1] < 1000


def test_numbers_keep_noun_join_and_bounds():
    sentence = (
        "<re> A <er> cut <el> B <le> "
        "from 9 to 7 within 6 h in one man and all three dogs (P < 0.05)."
    )
    supporting = (
        "From 8 to 4 in 12 h, after 3 h in two rats and four mice, P = 0.2, P = 0.01, in one."
    )
    found = texts("SN", sentence, "gg", supporting)
    edits = {text.split(" cut B ")[1] for text in found}
    assert edits == {
        "from 8 to 4 within 6 h in one man and all three dogs (P < 0.05).",
        "from 9 to 7 within 3 h in one man and all three dogs (P < 0.05).",
        "from 9 to 7 within 6 h in one man and all four dogs (P < 0.05).",
        "from 9 to 7 within 6 h in one man and all three dogs (P < 0.01).",
    }


@pytest.mark.parametrize(
    ("old", "supporting", "expected"),
    [
        ("10%", "10.1%, 9.8% or 12%", {"12%"}),
        ("2.5 mg", "2.45 mg, 2.54 mg and 2.6 mg", {"2.6 mg"}),
        ("10.1%", "10%", set()),
        ("three rats", "Five rats", {"five rats"}),
        ("P < 0.1", "P = 0.05", {"P < 0.05"}),
        ("P < 0.1", "P < 0.05", set()),  # what the supporting set may state of the relation
        ("more than 5%", "more than 7%", set()),
    ],
)
def test_what_may_be_the_same_number_is_not_taken(old, supporting, expected):
    sentence = f"<re> A <er> cut <el> B <le> with {old}."
    assert texts("SN", sentence, "gg", supporting) == {f"A cut B with {new}." for new in expected}


@pytest.mark.parametrize(
    ("phrase", "supporting", "expected"),
    [
        # A quantity comes for the same quantity.
        ("at 5 mg", "In 12 and 14 rats or 7 mg.", {"at 7 mg"}),
        ("in 5 patients", "Of 12 women, 9 rats and 7 mg.", {"in 12 patients"}),
        ("at 5 mg/kg", "With 7 mg or 9 mg/kg.", {"at 9 mg/kg"}),
        ("in 400 rats", "In 3 or 300 mice.", {"in 300 rats"}),
        ("for 3 days", "Over 5 weeks, 2 days or 7 days.", {"for 7 days"}),
        ("in the 6 most common", "In 4 or 9.", {"in the 9 most common"}),
        ("with two drugs, C and D", "With three.", SHARE),
        # Bounds of the effect get tighter; bounds of the cases stay.
        ("by more than 40%", "By 65% or 30%.", {"by more than 65%"}),
        ("in at least 40% of rats", "In 65% or 30%.", {"in at least 65% of rats"}),
        ("more than 3 times", "5 or 2 times.", {"more than 5 times"}),
        ("within 6 h", "In 3 h or 9 h.", {"within 3 h"}),
        ("at doses of more than 40 mg", "At 65 mg or 30 mg.", OPEN_BOUND),
        ("in patients over 65 years", "Of 40 or 80 years.", OPEN_BOUND),
        # No part above its total, no total, no count beside its share.
        ("in 3 of 12 rats", "Of 20, 15 and 6.", {"in 6 of 12 rats"}),
        ("in three of 12 rats", "Of two, 20 and 13.", {"in two of 12 rats"}),
        ("in 12 rats (30%)", "Of 20, or 50%.", SHARE),
        ("in 30% of rats", "In 150% or 45%.", {"in 45% of rats"}),
        # Levels and intervals of confidence.
        ("(95% CI 3.1-4.5)", "At 15%, 2.2-5.1.", CONFIDENCE),
        ("with 95% confidence", "At 15%.", CONFIDENCE),
        # An order that is stated, and what is only approximate.
        (
            "from 9 mg to 7 mg",
            "To 8 mg or 12 mg.",
            {"from 12 mg to 7 mg", "from 8 mg to 7 mg", "from 9 mg to 8 mg"},
        ),
        ("by about 50%", "By 55% or 80%.", {"by about 80%"}),
    ],
)
def test_numbers_contradict(phrase, supporting, expected):
    sentence = f"<re> A <er> cut <el> B <le> {phrase}."
    if isinstance(expected, str):
        found = STRATEGIES["SN"].propose(
            mechanism_of(sentence, "gg", supporting), Choices(1, "1", "SN")
        )
        assert found == NoNegative(expected)
    else:
        found = texts("SN", sentence, "gg", supporting)
        assert found == {f"A cut B {one}." for one in expected}


@pytest.mark.parametrize(
    ("sentence", "is_made"),
    [
        ("<re> Statins <er> cause <el> dementia <le> in rats.", True),
        ("<re> Statins <er> may worsen <el> dementia <le> and are toxic.", False),
        ("<re> Statins <er> worsen <el> dementia <le> and were safe.", False),
        ("<re> Statins <er> such as these are causes of <el> dementia <le>.", False),
    ],
)
def test_each_verb_of_an_exchanged_plural_agrees(sentence, is_made):
    assert bool(texts("SEN", sentence, "gg", "Rats had dementia.")) == is_made


def test_any_number_on_demand():
    sentence = "<re> A <er> cut <el> B <le> by 10% within 3-5 h."
    supporting = "In two rats, 10.1% or 2-6 h, 10%."
    found = texts("SN", sentence, "gg", supporting, SwapNumber(any_number=True))
    assert {text.removeprefix("A cut B ") for text in found} == {
        "by two% within 3-5 h.", "by 10.1% within 3-5 h.", "by 2-6% within 3-5 h.",
        "by 10% within two h.", "by 10% within 10.1 h.", "by 10% within 2-6 h.",
    }  # fmt: skip


def test_a_number_takes_its_article():
    found = texts("SN", "A two-fold rise in <re> A <er> or <el> B <le>.", "gg", "An 8-fold fall.")
    assert found == {"An 8-fold rise in A or B."}


# ---- LPR.


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inhibition", "stimulation"), ("inhibits", "stimulates"), ("inhibiting", "stimulating"),
        ("Increased", "Decreased"), ("up-regulation", "down-regulation"),
        ("agonists", "antagonists"),
        ("downregulated", "upregulated"), ("positively", "negatively"), ("led to", "prevented"),
        ("in the presence of", "in the absence of"), ("proapoptotic", "antiapoptotic"),
        ("anti-inflammatory", "pro-inflammatory"), ("hypoglycemia", "hyperglycemia"),
        ("is required for", "is dispensable for"), ("lost", "retained"), ("higher", "lower"),
        ("syntheses", "degradations"), ("dose-dependent", "dose-independent"),
    ],
)  # fmt: skip
def test_antonyms(old, new):
    sentence = f"{old} of <re> A <er> {{g:increase factor}} to <el> low affinity receptor <le>."
    assert texts("LPR", sentence) == {plain(sentence).replace(old, new).replace(
        "{g:increase factor}", "increase factor"
    )}  # fmt: skip


@pytest.mark.parametrize(
    "sentence",
    [
        "<re> A <er> does not inhibit <el> B <le>.",
        "an increase or decrease of <re> A <er> and <el> B <le>.",
        "<re> A <er> prevents <el> B <le> from working.",
        "the LOW gene of <re> A <er> and <el> B <le>.",
        "<re> A <er> low-density <el> B <le>.",
        "<re> A <er> with increasing evidence for <el> B <le>.",
        "<re> A <er> doesn’t increase <el> B <le>.",  # noqa: RUF001
        "<re> A <er> acts, at least partly, on <el> B <le>.",
        "<re> A <er> does not, however, increase <el> B <le>.",
        "<re> A <er> is not, as was long thought, an <el> B <le> inhibitor.",
        "<re> A <er> leads to <el> B <le> and to apathy.",
    ],
)
def test_terms_that_are_left_alone(sentence):
    assert texts("LPR", sentence) == set()


def test_a_term_takes_its_article_and_all_change_on_demand():
    sentence = "<re> A <er> is an inhibitor and causes a decrease in <el> B <le>."
    assert "A is an activator and causes a decrease in B." in texts("LPR", sentence)
    assert "A is an inhibitor and causes an increase in B." in texts("LPR", sentence)
    every = texts("LPR", sentence, strategy=ReversePolarity(every=True))
    assert every == {"A is an activator and prevents an increase in B."}


def test_own_antonyms(tmp_path):
    path = tmp_path / "own.json"
    path.write_text('\ufeff{"verbs": {"both": [["glorify", "vilify"]]}}')  # as some editors save
    strategy = ReversePolarity(Antonyms.read(path))
    found = texts("LPR", "<re> A <er> glorifies <el> B <le>.", strategy=strategy)
    assert found == {"A vilifies B."}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"verb": {}}', '{"nouns": {"both": [["a"]]}}',
        '{"nouns": {"both": [["a", "a"]]}}',
        '{"after_hyphen": {"a": " "}}', '{"verbs": {"both": [["a", 1]]}}',
    ],
)  # fmt: skip
def test_broken_antonyms_are_refused(tmp_path, text):
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own\.json"):
        Antonyms.read(path)


def test_our_antonyms_change_every_term_and_no_pair_stands_twice():
    antonyms = Antonyms.read()
    assert len(antonyms.forms) > 800
    for old, new in antonyms.forms.items():
        assert re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", old), old
        assert re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", new), new


# ---- English.


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("increase", "an"), ("decrease", "a"), ("NMDA receptor", "an"), ("FGF", "an"), ("TNF", "a"),
        ("unit", "a"), ("ubiquitin", "a"), ("uncoupler", "an"), ("uninduced cell", "an"),
        ("hour", "an"),
        ("8-fold", "an"), ("11-fold", "an"), ("1-fold", "a"), ("α-toxin", "an"), ("β-toxin", "a"),  # noqa: RUF001
        ("RAS", None), ("AMPK", "an"), ("IL-6", "an"), ("(x)", None), ("one-fold", "a"),
        ("euchromatin", "a"),
    ],
)  # fmt: skip
def test_articles(word, article):
    assert choose_article(word) == article


def test_inflection():
    assert [form_third(v) for v in ("inhibit", "catalyze", "suppress", "modify", "synthesis")] == [
        "inhibits", "catalyzes", "suppresses", "modifies", "syntheses",
    ]  # fmt: skip
    assert [form_past(v) for v in ("inhibit", "control", "bind", "reduce")] == [
        "inhibited", "controlled", "bound", "reduced",
    ]  # fmt: skip
    assert [form_gerund(v) for v in ("inhibit", "control", "reduce", "underlie")] == [
        "inhibiting", "controlling", "reducing", "underlying",
    ]  # fmt: skip
