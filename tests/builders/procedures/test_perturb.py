"""The rule-based strategies: what each changes, keeps and refuses."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.builders.procedures.abstracts.perturb.apply import (
    SAME_AS_ANOTHER,
    make_strategies,
    perturb_mechanism,
)
from nlihub.builders.procedures.abstracts.perturb.grammar import (
    UNFIT,
    form_past,
    form_third,
)
from nlihub.builders.procedures.abstracts.perturb.names import find_places
from nlihub.builders.procedures.abstracts.perturb.negate import POSSIBLE, Negate
from nlihub.builders.procedures.abstracts.perturb.replace_entities import (
    MAY_BE_SAME,
    MAY_HOLD,
    NO_TYPE,
    EntityPool,
    ReplaceOutside,
    may_be_same,
)
from nlihub.builders.procedures.abstracts.perturb.reverse_polarity import (
    UNFIT_TERM,
    Antonyms,
    ReversePolarity,
)
from nlihub.builders.procedures.abstracts.perturb.strategy import (
    BROKEN_MARKERS,
    DENIED,
    PARTIAL,
    SUPPORTED,
    Choices,
    NoNegative,
    Perturbed,
    Strategy,
    TextEdit,
)
from nlihub.builders.procedures.abstracts.perturb.swap_entities import (
    MUTUAL,
    SAME_NAME,
    UNDIRECTED,
    SwapNames,
    SwapPositions,
)
from nlihub.builders.procedures.abstracts.perturb.swap_number import (
    BOUND,
    DOSE,
    NO_NUMBER,
    SHARE,
    STATED,
    SwapNumber,
    find_numbers,
)
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
    "linked to and even follows the induction of GH3 transcripts, it ends before growth."
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


@given(mechanism=mechanisms(), order=st.permutations(NAMES))
@settings(max_examples=150, deadline=None)
def test_negatives_differ_and_do_not_depend_on_the_order(mechanism, order):
    found = perturb_mechanism(mechanism, STRATEGIES.values(), 1)
    again = perturb_mechanism(mechanism, [STRATEGIES[n] for n in order], 1)
    assert (found.made, found.refused) == (again.made, again.refused)
    assert {*found.made, *found.refused} == set(NAMES)
    sentences = [mechanism.conclusion, *(p.text for p in found.made.values())]
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

DENYING = {DENIED: ("If <re> A <er> increases <el> B <le>, leptin falls.", "gg")}
REFUSED = {
    "SEN": {
        BROKEN_MARKERS: ("<re> A <er> acts on <el> B.", "gg"),
        UNDIRECTED: ("The binding of <re> A <er> and <el> B <le> is strong.", "gg"),
        MUTUAL: ("<re> A <er> activates <el> B <le>.", "gg", "A and B regulate each other."),
        UNFIT: ("<re> Zinc <er> causes <el> hypertensive <le> crises.", "cc"),
        SAME_NAME: ("<re> TNF-α <er> increases <el> TNF alpha <le>.", "gg"),  # noqa: RUF001
        **DENYING,
    },
    "SRE": {
        BROKEN_MARKERS: ("<re> A <el> B <le> <er> works.", "gg"),
        **DENYING,
        NO_TYPE: ("<re> A <er> acts on <el> B <le>.", "--"),
        MAY_BE_SAME: ("<re> IL-2 <er> acts on <el> B <le>.", "gg", "{g:Interleukin 2} rose."),
        UNFIT: ("<re> Zinc <er> acts on <el> B <le>.", "cg", "{c:hypertensive} rats ran."),
        MAY_HOLD: ("<re> A <er> inhibits <el> B <le>.", "g-", "Then {g:C} did the same."),
        STRATEGIES["SRE"].otherwise: ("<re> A <er> acts on <el> B <le>.", "gg", "{c:C} and {g:A}."),
    },
    "SREO": {
        BROKEN_MARKERS: ("A acts on <el> B <le>.", "gg"),
        **DENYING,
        NO_TYPE: ("<re> A <er> acts on <el> B <le>.", "--"),
        UNFIT: ("<re> Zinc <er> causes <el> nephrotoxic <le> effects.", "-c"),
        STRATEGIES["SREO"].otherwise: (
            "<re> Integrin <er> acts on <el> Notch1 <le>.", "gg", "Integrin binds Notch1.",
        ),
    },
    "VNeg": {
        BROKEN_MARKERS: ("<re>A<er> is <el> B <le>.", "gg"),
        **DENYING,
        POSSIBLE: ("<re> A <er> may inhibit <el> B <le>.", "gg"),
        PARTIAL: ("In some rats <re> A <er> inhibits <el> B <le>.", "gg"),
        SUPPORTED: ("<re> A <er> inhibits <el> B <le>.", "gg", "A did not inhibit B in mice."),
        STRATEGIES["VNeg"].otherwise: ("A role of <re> A <er> in <el> B <le> release.", "gg"),
    },
    "SN": {
        BROKEN_MARKERS: ("<re> A <er> and <re> C <er> act on <el> B <le>.", "gg"),
        NO_NUMBER: ("<re> IL-6 <er> acts on <el> p53 <le>.", "gg", "It fell by 5%."),
        DOSE: ("<re> A <er> at 9 mg cut <el> B <le>.", "gg", "At 5 mg."),
        BOUND: ("<re> A <er> cut <el> B <le> by over 9%.", "gg", "By 5%."),
        SHARE: ("<re> A <er> cut <el> B <le> in 3 rats (9%).", "gg", "In 5, or 7%."),
        STATED: ("<re> A <er> cut <el> B <le> by 5% in rats.", "gg", "A cut B by 7% in rats."),
        STRATEGIES["SN"].otherwise: ("<re> A <er> cut <el> B <le> by 5%.", "gg", "In 12, by 5%."),
    },
    "LPR": {
        BROKEN_MARKERS: ("", "gg"),
        PARTIAL: ("In some rats <re> A <er> inhibits <el> B <le>.", "gg"),
        UNFIT_TERM: ("<re> A <er> blocks <el> B <le> from binding.", "gg"),
        SUPPORTED: ("<re> A <er> inhibits <el> B <le>.", "gg", "A activated B in mice."),
        **DENYING,
        STRATEGIES["LPR"].otherwise: (
            "Zinc inhibits growth, and <re> A <er> resembles <el> B <le>.", "gg",
        ),
    },
}  # fmt: skip
REFUSED["SEP"] = REFUSED["SEN"]


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_is_given(name):
    assert set(REFUSED[name]) == set(STRATEGIES[name].reasons)
    for reason, arguments in REFUSED[name].items():
        assert outcome(name, *arguments) == NoNegative(reason)


@pytest.mark.parametrize("first", ["{g:GAP-43} (B-50, {g:neuromodulin})",
                                   "{g:neuromodulin} (B-50, {g:GAP-43})"])  # fmt: skip
def test_a_name_that_the_text_gives_in_brackets_is_the_same(first):
    supporting = f"{first} was seen. So was {{g:Notch1}}."
    conclusion = "<re> GAP-43 <er> binds to <el> calmodulin <le>."
    found = texts("SRE", conclusion, "gc", supporting)
    assert found and all("Notch1" in text for text in found)


def test_names_other_than_those_between_the_markers_are_refused():
    mechanism = mechanism_of("<re> A <er> inhibits <el> B <le>.")
    other = type(mechanism)(*(getattr(mechanism, f) for f in mechanism.__slots__[:3]), "C", "B",
                            "Gene", "Gene", (), None)  # fmt: skip
    for name, strategy in STRATEGIES.items():
        assert propose_one(strategy, other, Choices(1, "1", name)) == NoNegative(BROKEN_MARKERS)


def test_a_name_that_breaks_the_markers_is_not_taken():
    strategy = ReplaceOutside(EntityPool({"Gene": ["C <er> D"]}))
    found = outcome("SREO", "<re> A <er> is <el> B <le>.", strategy=strategy)
    assert found == NoNegative(UNFIT)


class Fixed(Strategy):
    """Proposes what it was given."""

    otherwise = "none"

    def __init__(self, name, *words):
        self.name, self.words = name, words

    def _propose(self, marked, mechanism, choices):
        end = len(marked.text)
        for word in self.words:
            yield Perturbed.of(marked.text, [TextEdit(end, end, word)])
        return None


def test_a_negative_that_is_taken_gives_way_to_the_next():
    mechanism = mechanism_of("<re> A <er> is <el> B <le>")
    found = perturb_mechanism(
        mechanism, [Fixed("2", "x", "y"), Fixed("1", "x"), Fixed("3", "y")], 1
    )
    assert {n: p.text[-1] for n, p in found.made.items()} == {"1": "x", "2": "y"}
    assert found.refused == {"3": NoNegative(SAME_AS_ANOTHER)}
    assert list(found.made) == ["2", "1"]


def test_a_strategy_given_twice_is_refused():
    with pytest.raises(UsageError, match="VNeg"):
        perturb_mechanism(MECHANISMS[0], [Negate(), Negate()], 1)


# ---- Names: SEN, SEP, SRE, SREO.


def test_names_take_capitals_with_them():
    found = outcome("SEN", "<re> Insulin <er> inhibits <el> AMPK <le>.", "gg", "No insulin.")
    assert found.text == "<re> AMPK <er> inhibits <el> insulin <le>."
    found = outcome("SEN", "<re> Insulin <er> regulates <el> leptin <le>.", "gg", "No insulin.")
    assert found.text == "<re> Leptin <er> regulates <el> insulin <le>."


@pytest.mark.parametrize(
    "sentence",
    [
        "<re> Statins <er> inhibit <el> kinase <le>.",  # in number
        "An <re> EGF <er> induces the <el> JNK <le>.",  # in article
        "<re> Zinc <er> causes <el> nephrotoxic <le> effects.",  # in part of speech
    ],
)
def test_names_that_differ_in_kind_are_not_exchanged(sentence):
    assert outcome("SEN", sentence) == NoNegative(UNFIT)


def test_entities_are_exchanged_where_one_acts_on_the_other():
    for between in (
        *(
            "strongly inhibits",
            "treatment reduced",
            "may also activate the",
            "recognizes and activates",
        ),
        *("is an inhibitor of", "has an effect on", "leads to"),
        *(
            "is required for",
            "contributes to the increase in",
            "acts as an agonist of",
            "lowers the",
        ),
        *("is blocked by", "release was strongly inhibited in rats by the"),
    ):
        sentence = f"<re> A <er> {between} <el> B <le>."
        assert plain(outcome("SEN", sentence).text) == f"B {between} A."
    for sentence in ("The effect of <re> A <er> on <el> B <le>.",
                     "Activation of <re> A <er> by <el> B <le>.",
                     "We saw <re> A <er>-induced growth of <el> B <le>."):  # fmt: skip
        assert isinstance(outcome("SEN", sentence), Perturbed)


def test_symmetric_sentences_are_swapped_on_demand():
    sentence = "<re> A <er> interacts with <el> B <le>."
    assert outcome("SEN", sentence) == NoNegative(UNDIRECTED)
    for between in (
        *("binds directly to", "is closely related to the", "is equivalent to", "is near"),
        *("is as effective as", "shares a pathway with", "matches", "is the opposite of"),
        *("is a partner of", "comigrates with", "rises with", "increases as the", "increases with"),
        *(
            ", together with",
            "and also",
            ", like",
            "with",
            "is proportional to",
            "falls whenever the",
        ),
        *("resembles activated", "parallels increases in", "accompanies increased", "and"),
        *("inhibits and is inhibited by", "activates or is activated by", "synchronizes with"),
        *("increases alongside", "blocks the binding of X to", "decreases in parallel with"),
    ):
        text = f"<re> A <er> {between} <el> B <le>."
        assert outcome("SEN", text) == NoNegative(UNDIRECTED), text
    assert outcome("SEN", "<re> A <er>-<el> B <le> is.") == NoNegative(UNDIRECTED)
    for strategy in (SwapNames(symmetric=True), SwapPositions(symmetric=True)):
        assert plain(outcome("SEN", sentence, strategy=strategy).text) == "B interacts with A."


@pytest.mark.parametrize(
    "sentence",
    [
        "<re> Zinc <er> raises <el> iron <le>, and iron raises zinc.",
        "<re> A <er> activates <el> B <le>, which activates A.",
        "<re> A <er> activates <el> B <le>, which also activates it.",
        "<re> A <er> represses <el> B <le> and is in turn repressed by it.",
        "<re> A <er> represses <el> B <le> and vice-versa.",
        "<re> A <er> is inhibited by <el> B <le> and inhibits it.",
        "<re> A <er> inhibits <el> B <le>, its own inhibitor.",
        "<re> A <er> inhibits <el> B <le>, and the converse also holds.",
        "<re> A <er> inhibits <el> B <le>, which in return inhibits it.",
    ],
)
def test_entities_that_are_named_again_are_not_exchanged(sentence):
    assert outcome("SEN", sentence) == NoNegative(MUTUAL)


@pytest.mark.parametrize(
    ("supporting", "is_stated"),
    [
        ("Iron inhibits zinc uptake.", True),
        ("Iron also lowers the zinc.", True),
        ("Zinc was lowered by iron.", True),
        ("Iron was lowered by zinc.", False),
        ("Zinc and iron rose.", False),
        ("Iron fell in the zinc group.", False),
        ("Iron infusion lowers plasma zinc.", True),
        ("Inhibition of zinc by iron was seen.", True),
        ("Rats given iron had less zinc.", True),
        ("The effect of zinc on iron was examined.", False),
    ],
)
def test_what_the_supporting_set_states_is_no_negative(supporting, is_stated):
    found = outcome("SEN", "<re> Zinc <er> inhibits <el> iron <le> uptake.", "cc", supporting)
    assert (found == NoNegative(MUTUAL)) is is_stated


@pytest.mark.parametrize(
    ("names", "supporting"),
    [
        (("PU.1", "GATA1"), "GATA-1 inhibits PU1."),
        (("IL-6", "CRP"), "CRP raises interleukin-6 (IL-6). CRP is low."),
        (("oestradiol", "leptin"), "Leptin inhibits estradiol."),
        (("estrogens", "androgens"), "Androgen increases estrogen."),
        (("leptin", "NPY"), "Leptin is inhibited by neuropeptide Y (NPY)."),
        (
            ("TNF", "IL-6"),
            "Tumour necrosis factor (TNF) was seen. IL-6 raised tumour necrosis factor.",
        ),
    ],
)
def test_the_supporting_set_may_spell_names_otherwise(names, supporting):
    sentence = "<re> {} <er> inhibits <el> {} <le>.".format(*names)
    sentences = tuple(f"{part.strip('.')}." for part in supporting.split(". "))
    assert outcome("SEN", sentence, "gg", sentences) == NoNegative(MUTUAL)


@pytest.mark.parametrize(
    "names",
    [("TNF", "TNF receptor"), ("TNF", "tumor necrosis factor"), ("IL-1beta", "interleukin-1 beta")],
)
def test_names_that_may_be_of_one_entity_are_not_exchanged(names):
    found = outcome("SEN", "<re> {} <er> activates <el> {} <le>.".format(*names))
    assert found == NoNegative(SAME_NAME)


def test_other_entities_of_the_abstract():
    sentence = "<re> TNF <er> induces <el> ICAM-1 <le> with {g:CD4}."
    supporting = (
        "{g:TNF-alpha} and {g:CD4} and {g:icam1}; {c:zinc}.", "Rats ran.", "{g:VCAM-1} was seen.",
        "{g:P-selectin} or TNF; {g:X1} (ICAM-1); TNF ({g:cachectin}); {g:tumor necrosis factor}.",
    )  # fmt: skip
    found = texts("SRE", sentence, "gg", supporting[:3])
    # TNF-alpha and icam1 may be one of the two, CD4 stands in the sentence.
    assert found == {"VCAM-1 induces ICAM-1 with CD4.", "TNF induces VCAM-1 with CD4."}
    # Beside TNF and ICAM-1 something may be said of VCAM-1, as it may of P-selectin.
    assert texts("SRE", sentence, "gg", supporting) == set()


@pytest.mark.parametrize(
    "supporting",
    [
        ("Rats received {g:C}.", "This agent suppressed B."),
        ("We tested {g:C}.", "It suppressed the enzyme."),
        ("B was measured.", "So was {g:C}."),
        ("A raises {g:C}, which blocks this enzyme.", "Rats ran."),
        ("{g:C} did the same.", "Rats ran."),
    ],
)
def test_an_entity_of_which_the_same_may_be_said_does_not_replace(supporting):
    found = outcome("SRE", "<re> A <er> inhibits <el> B <le>.", "g-", supporting)
    assert found == NoNegative(MAY_HOLD)


def test_a_pool_gives_names_that_the_abstract_has_not():
    pool = EntityPool({"Gene": ["TNF", "tnf", "VCAM-1", "E2F", "IL-6 receptor"]})
    sentence = "<re> TNF <er> induces <el> IL-6 <le>."
    found = texts("SREO", sentence, "gg", "vcam-1 is low.", ReplaceOutside(pool))
    assert found == {"E2F induces IL-6.", "TNF induces E2F."}


def test_a_pool_does_not_depend_on_the_order_and_has_small_letters():
    def walk(pool, type_, start=0):
        return [one.name for one in pool.walk_entities(type_, start)]

    pool, other = EntityPool.of(MECHANISMS), EntityPool.of(MECHANISMS[::-1])
    for type_ in ("Gene", "Chemical"):
        assert walk(pool, type_, 5) == walk(other, type_, 5)
        assert sorted(walk(pool, type_, 5)) == sorted(walk(pool, type_))
    assert {"Morphine", "FK506"} <= {*walk(pool, "Chemical")}  # it may be a trade name
    told = [mechanism_of("<re> Morphine <er> acts on <el> B <le>.", "cg", "{c:zinc} and morphine.")]
    assert {*walk(EntityPool.of(told), "Chemical")} == {"morphine", "zinc"}
    assert walk(pool, "Cell") == []


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
        ("TNF", "TNFR complex", True),
        ("IL-1", "IL-10", False),
        ("c-Jun", "c-Raf", False),
    ],
)
def test_names_of_one_entity(one, other, expected):
    assert may_be_same(one, other, "") is may_be_same(other, one, "") is expected


# ---- VNeg.


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("X is induced by Y.", "X is not induced by Y."),
        ("X has a role in Y.", "X does not have a role in Y."),
        ("X had an effect on Y.", "X did not have an effect on Y."),
        ("X increases Y.", "X does not increase Y."),
        ("X (E) treatment increases the Y.", "X (E) treatment does not increase the Y."),
        ("X strongly increases Y.", "X does not strongly increase Y."),
        ("Z and X increase Y.", "Z and X do not increase Y."),
        ("Loss of X cells increase Y.", "Loss of X cells do not increase Y."),
        ("X led to Y.", "X did not lead to Y."),
        ("X is a potent inhibitor of Y.", "X is not a potent inhibitor of Y."),
        ("X is required for Y.", "X is not required for Y."),
        ("X binds and activates Y.", "X binds and does not activate Y."),
        ("X inhibits Y, but increases Z.", "X does not inhibit Y, but increases Z."),
        ("X has inhibited Y.", "X has not inhibited Y."),
        ("X did not increase Y.", "X increased Y."),
        ("X does not significantly modify Y.", "X significantly modifies Y."),
        ("X is not required for Y in rats.", "X is required for Y in rats."),
        # Other negations than a plain not, and what needs one.
        ("X cannot block Y.", None),
        ("X had no significant effect on Y.", None),
        ("X did not affect A or Y.", None),
        ("X did not inhibit Y whatsoever.", None),
        ("X did not inhibit Y, let alone Z.", None),
        ("X did not have any effect on Y.", None),
        ("Cells do not control X or need Y.", None),
        ("X didn't inhibit Y.", None),
        ("X doesn\N{RIGHT SINGLE QUOTATION MARK}t increase Y.", None),
        ("X never inhibits Y.", None),
        ("X fails to induce Y.", None),
        ("No effect of X on Y was seen.", None),
        ("X did not only inhibit A but also Y.", None),
        ("Neither X nor Z activates Y.", None),
        ("There is no evidence that X alters Y.", None),
        ("X inhibits Y but not Z.", None),
        # No plain finite verb by which one acts on the other.
        ("X is bound to Y.", None),
        ("X somewhat inhibits Y.", None),
        ("X helps maintain Y.", None),
        ("X raises or lowers Y.", None),
        ("X always raises Y.", None),
        ("X thus raises Y.", None),
        ("A role of X mediated repression by Y.", None),
        ("The X-induced Y release.", None),
        ("We saw that X induced Y is low.", None),
        ("X induced by Z inhibits Y.", None),
        ("X activated cells inhibit Y.", None),
        ("X stimulated Y release was blocked by Z.", None),
        ("Z blocks X activated Y channels.", None),
        ("Patients with X induced Y recover.", None),
        ("In X activated Y, Z is made.", None),
        ("Treatment with X reduced Y in rats.", "Treatment with X did not reduce Y in rats."),
        ("X does not have an effect on Y.", "X has an effect on Y."),
        ("X increases cause falls in Y.", None),
        ("The use of X to increase Y.", None),
        ("X increase Y.", None),
        # Possibilities, additions and parts of the cases.
        ("X may inhibit Y.", None),
        ("X probably inhibits Y.", None),
        ("X also increases Y.", None),
        ("X inhibits most Y.", None),
        ("X inhibits Y in 7/20 patients.", None),
        ("X inhibits Y in a third of patients.", None),
    ],
)
def test_polarity_of_a_predicate(sentence, expected):
    assert flipped(sentence) == ({expected} if expected else set())


def test_a_reader_is_told_what_was_changed():
    found = outcome("VNeg", "<re> A <er> strongly increases <el> B <le>.")
    assert found.detail == "strongly increases -> does not strongly increase"


def test_negation_inside_a_name_stays():
    assert texts("VNeg", "<re> not-1 <er> of <el> no effect <le> with {g:is not}.") == set()


# ---- SN.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by 5% in 12 rats", [("5", "%", "integer"), ("12", "number of rat", "integer")]),
        ("1,200 mg or 3.5 mg", [("1,200", "mg", "integer"), ("3.5", "mg", "decimal")]),
        ("by 2.5-fold, a twofold", [("2.5", "fold", "decimal"), ("two", "fold", "word")]),
        ("in Twelve elderly women", [("Twelve", "number of people", "word")]),
        ("a 3-day test", [("3", "day", "integer")]),
        ("5mg or 24h", [("5", "mg", "integer"), ("24", "h", "integer")]),
        ("at 9 mg/kg", [("9", "mg/kg", "integer")]),
        ("IL-6 p53 H2O2 (IL-6 gp130)2 CD4+ 5-HT 17β 14-3-3 Th1/Th2 1,25-D type 2", []),
        ("seen [12], (3, 4), [5-7], ref. 8, 4 beta-phorbol, isoleucine 3", []),
        ("1:1, 2/3, 10(-6) M, 10-6 M, 7.1 ± 0.4, in 1998, 3-5 mM", []),
        ("one-sided, someone, fold, residues 4, chromosomes 12, day 5, line XYZ 410, Bread 31", []),
    ],
)  # fmt: skip
def test_numbers(text, expected):
    assert [(one.text, *one.kind) for one in find_numbers(text)] == expected


@pytest.mark.parametrize(
    ("phrase", "supporting", "expected"),
    [
        # A quantity comes for the same quantity, neither rounded nor far from it.
        ("in 5 patients", "Of 12 women, 9 rats and 7 mg.", {"in 12 patients"}),
        ("in 400 rats", "In 3 or 300 rats and 500 mice.", {"in 300 rats"}),
        ("by 10%", "Of 10.1%, 9% or 12%.", {"by 12%"}),
        ("in three rats", "Of five rats, or one.", {"in five rats"}),
        ("with two drugs, C and D", "With three.", SHARE),
        ("3-fold", "Up 5-fold or 7 times.", {"5-fold"}),
        # What holds for an exact number may hold for a bound.
        ("by as little as 40%", "By 65%.", BOUND),
        ("already by 40%", "By 65%.", BOUND),
        ("by more than 40%", "By 65% or 30%.", BOUND),
        ("by at least 40%", "By 65% or 30%.", BOUND),
        ("by 40% or more", "By 65% or 30%.", BOUND),
        ("by 40% at least", "By 65% or 30%.", BOUND),
        ("in excess of 40%", "By 65% or 30%.", BOUND),
        ("in a minimum of 30 patients", "In 20 patients.", BOUND),
        ("(P < 0.05)", "P = 0.01.", NO_NUMBER),
        # No part, no total, no count beside its share, no interval, no comparison.
        ("in 3 of 12 rats", "Of 20, 15 and 6.", SHARE),
        ("in three of 12 rats", "Of two, 20 and 13.", SHARE),
        ("in 12 rats (30%)", "Of 20, or 50%.", SHARE),
        ("from 9% to 7%", "To 8% or 12%.", SHARE),
        ("with 95% confidence", "At 15%.", SHARE),
        # What the supporting set states in the same words.
        ("by 5% in rats", "A cut B by 7% in rats, C by 9% in dogs.", STATED),
        ("by 5% in rats", "C cut B by 7% in rats.", {"by 7% in rats"}),
        ("by 5%, so 5 mg is enough", "At 9 mg.", BOUND),
        # At 5 mg, and at 7 mg as well.
        ("at 5 mg/kg", "At 7 mg/kg.", DOSE),
        ("for 3 days", "For 7 days.", DOSE),
        # Other numbers are no hindrance.
        ("by 40% after 24 h", "By 65%.", {"by 65% after 24 h"}),
    ],
)
def test_numbers_contradict(phrase, supporting, expected):
    sentence = f"<re> A <er> cut <el> B <le> {phrase}."
    if isinstance(expected, str):
        assert outcome("SN", sentence, "gg", supporting) == NoNegative(expected)
    else:
        found = texts("SN", sentence, "gg", supporting)
        assert found == {f"A cut B {one}." for one in expected}


def test_any_number_on_demand():
    sentence = "<re> A <er> cut <el> B <le> by more than 10%."
    found = texts("SN", sentence, "gg", "In two rats, by 10.1%.", SwapNumber(any_number=True))
    assert found == {"A cut B by more than two%.", "A cut B by more than 10.1%."}


def test_a_number_takes_its_article():
    found = texts("SN", "A 2-fold rise in <re> A <er> or <el> B <le>.", "gg", "An 8-fold fall.")
    assert found == {"An 8-fold rise in A or B."}


# ---- LPR.


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("X inhibits Y.", {"X stimulates Y."}),
        ("X treatment has greatly increased Y.", {"X treatment has greatly decreased Y."}),
        ("X led to Y.", {"X prevented Y."}),
        ("X is downregulated by the Y.", {"X is upregulated by the Y."}),
        ("X is an inhibitor of Y.", {"X is an activator of Y."}),
        ("X is an agonist of Y.", {"X is an antagonist of Y."}),
        ("X is a positive regulator of Y.", {"X is a negative regulator of Y."}),
        ("X-induced Y.", {"X-repressed Y."}),
        ("Up-regulation of X by Y is seen.", {"Down-regulation of X by Y is seen."}),
        ("X blocks Y activation.", {"X triggers Y activation.", "X blocks Y inactivation."}),
        ("X is involved in the activation of Y.", {"X is involved in the inactivation of Y."}),
        # No term, or none that plainly says how one acts on the other.
        ("an increase of X and Y.", set()),
        ("X increases LOW Y.", {"X decreases LOW Y."}),
        ("X with increasing evidence for Y.", set()),
        ("X regulates the activation of Y.", set()),
        ("Zinc inhibits growth, and X resembles Y.", set()),
        ("X binds Y and inhibits growth.", set()),
        ("X once more inhibits Y.", set()),
        ("Inhibiting X or activating it reduces Y.", set()),
        ("Both up- and downregulation of X increase Y.", set()),
        ("Gain and loss of X increase Y.", {"Gain and loss of X decrease Y."}),
        # Terms whose antonym does not fit, or is there already.
        ("X increases Y or decreases it.", set()),
        ("X activates and inhibits Y.", set()),
        ("X is a positive and a negative regulator of Y.", set()),
        ("X has both pro- and anti-inflammatory effects on Y.", set()),
        ("X causes cells to release Y.", set()),
        ("X blocks Y from acting.", set()),
        ("X promotes Y cells to divide.", set()),
        ("X induces Y cells into apoptosis.", set()),
        ("X produces hyper- and hypotension in Y.", set()),
    ],
)
def test_antonyms(sentence, expected):
    marked = sentence.replace("X", "<re> TNF <er>", 1).replace("Y", "<el> IL-6 <le>", 1)
    found = {t.replace("TNF", "X").replace("IL-6", "Y") for t in texts("LPR", marked)}
    assert found == expected


def test_own_antonyms(tmp_path):
    path = tmp_path / "own.json"
    path.write_text('\ufeff{"verbs": [["glorify", "vilify"]]}')  # as some editors save
    strategy = ReversePolarity(Antonyms.read(path))
    found = texts("LPR", "<re> A <er> glorifies <el> B <le>.", strategy=strategy)
    assert found == {"A vilifies B."}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"verb": []}', '{"nouns": [["a"]]}', '{"nouns": [["a", "a"]]}',
        '{"nouns": [["a", " "]]}', '{"verbs": [["a", 1]]}',
        '{"terms": [["a", "b"]]}', '{"verbs": 1}',
    ],
)  # fmt: skip
def test_broken_antonyms_are_refused(tmp_path, text):
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own\.json"):
        Antonyms.read(path)


def test_our_antonyms_change_every_term():
    antonyms = Antonyms.read()
    assert len(antonyms.forms) > 500
    for old, new in antonyms.forms.items():
        assert re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", old), old
        assert re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", new), new


# ---- English.


def test_inflection():
    assert [form_third(v) for v in ("inhibit", "catalyze", "suppress", "modify", "synthesis")] == [
        "inhibits", "catalyzes", "suppresses", "modifies", "syntheses",
    ]  # fmt: skip
    assert [form_past(v) for v in ("inhibit", "control", "bind", "reduce")] == [
        "inhibited", "controlled", "bound", "reduced",
    ]  # fmt: skip
