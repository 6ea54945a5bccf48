"""Damage from extraction: what is mended, what is dropped and why, and what stays as it is."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nlihub.builders.procedures.papers import damage as rules
from nlihub.builders.procedures.papers.damage import DAMAGE, DAMAGED_PAPER, WHOLE, find_damage
from nlihub.builders.procedures.papers.pairs import PairRules, find_pairs
from nlihub.builders.procedures.papers.phrases import APPROACHES
from nlihub.builders.procedures.papers.repair import PaperWords, mend, split_at_notes
from nlihub.builders.procedures.papers.signs import Signs
from paper_corpus import paper_of

PLACEHOLDERS = [
    *("FORMULA", "EQUATION", "INLINEFORM0", "DISPLAYFORM1", "INLINE_FORMULA", "[[EQUATION]]"),
    *("BIBREF12", "FIGREF3", "TABREF21", "SECREF4", "EQREF2", "(BIBREF0, BIBREF1)", "CITATION"),
    *("@xcite", "@xmath0", "[REF]", "[Formula: see text]", "INLINEFORM0-based"),
]
DAMAGED = [
    *(
        ("a placeholder of a formula, citation or reference", f"We take the {one} for all rows.")
        for one in PLACEHOLDERS
    ),
    ("two sentences in one", "The price of the bread rises.This holds for every town."),
    ("two sentences in one", "Each of the words is drawn from G. We then sort them."),
    ("two sentences in one", "It is run on k. If it fails, the next is taken."),
    ("two sentences in one", "We look at the next word. higher results need more rows."),
    ("two sentences in one", "They agree (Roe, 2001). and only the first one is new."),
    ("a list or formula is gone", "It takes the form: Because both hold, we stop early."),
    ("a list or formula is gone", "The steps that are taken in order are: 1."),
    ("a list or formula is gone", "It is labelled so (as in Example 4): These pairs are easy."),
    (
        "a list or formula is gone",
        "They have the following properties: .Automatic labels are used.",
    ),
    ("a formula is gone before where", "The cost of a change is: where w is its weight."),
    ("two sentences in one", "It is a good measure to look at. coefficient is another one."),
    ("a heading or formula within it", "Results of the improved model We run it twice a day."),
    ("a heading or formula within it", "The sum of the two is given by The value is small."),
    ("the mark of a note or heading", "12The corpus is free for all of the readers."),
    ("the mark of a note or heading", "4 The corpus is free for all of the readers."),
    ("the mark of a note or heading", "It comes near to an ideal 2The lack of rows is known."),
    ("the mark of a note or heading", "We use the free corpus4 for all of our tests."),
    ("the mark of a note or heading", "We keep three of them,2 and throw the rest away."),
    ("the mark of a note or heading", "Nobody has looked at all of these cases.'"),
    (
        "the mark of a note or heading",
        "3.1 Frequent words are kept by all of the systems.",
    ),
    ("the mark of a note or heading", "We use recall (against skip-4 bigrams)6."),
    (
        "the mark of a note or heading",
        "We take the logic forms (Roe and Doe, 2001),2 and the graphs.",
    ),
    ("the mark of a note or heading", "IIf their class is unknown, they are returned."),
    ("two sentences in one", "It is a tenth of the corpus. model parameters are better here."),
    ("the mark of a note or heading", "The coefficient 6is also a measure of it."),
    ("lost characters", "A Na?ve model finds most of the errors here."),
    ("lost characters", "The sound is written as [ ] in all of the tables."),
    ("lost characters", "It is a set of the , which has no order."),
    ("lost characters", "It costs a lot (where is the number of rows) to sort it."),
    ("the mark of a note or heading", "The rule of this is 2Currently, we take but one."),
    ("lost characters", "Each lies in the -dimensional space of the model."),
    ("misread characters", "The t;hird system finds all of the errors."),
    ("misread characters", "They are better than the E\u2014*F models of last year."),
    ("misread characters", "The head of NP\u2701 and the head of the other agree."),
    ("misread characters", "The search takes 0(n) time for all of them."),
    ("misread characters", "This will probabl_ depend on the case."),
    ("a piece of a table, figure or formula", "Average 3 .50 .60 .73 .58 and so it goes on."),
    ("a piece of a table, figure or formula", "Table 3: Results of all the systems on the test."),
    ("a piece of a table, figure or formula", "The dif f e r e nce of both is small in this case."),
    ("a reference or running head", "A. Roe, Proceedings of the 3rd Workshop on Bread, is it."),
    ("a reference or running head", "Bread and Butter, Volume 3, Number 1 has more."),
]

SOUND = [
    "The formula and the equation (a citation) of REF, the CITES and the MATH data are known.",
    "We write [[F]] for the value of F; @xavier has COREF and its REFERENCE.",
    "We ask whether it holds (Roe, 2001). It does, e.g. for all of Section 3.",
    "The state-of-the-art model of Doe et al. (2019) has 3 layers, i.e. two more.",
    "There are three kinds: nouns, verbs and names of The Hague or New York.",
    'He said "It is so", and the U.S. team of J. Roe agreed with him.',
    "We draw 1,000, 2,000, 3,000, 4,000 and 5,000 rows from word2vec (see Figure 3).",
    "What is the best answer, and why? The first question is open.",
    "The set {a, b} (\u00a74.1) and f(x) = g() are sound, as the boys' results show.",
    "The vs. column approx. holds 95% of them, cf. the following list.",
    "The 2nd of 10fold runs takes 3grams (see 4): the rest is as in the U.S. of 2001.",
    "Vitamin B and type 2 diabetes are named in 20 of the 30 papers.",
]


@pytest.mark.parametrize(("name", "text"), DAMAGED)
def test_damage_has_a_name(name, text):
    assert named(text) == name


@pytest.mark.parametrize("text", SOUND)
def test_what_looks_alike_is_whole(text):
    assert named(text) is None


def named(text):
    number = find_damage([text.encode()], Signs([text.encode()]))[0]
    return None if number == WHOLE else DAMAGE[number]


PIECES = [
    *("the", "a", "of", "word", "G", "k", "We", "The", "This", "In", "Table", "Figure", "Clearly"),
    *(
        ", where is the",
        "(where are the",
        "3",
        "12",
        ".5",
        "2001",
        "Volume",
        "pages",
        "pp.",
        "Number",
        "Algorithm",
        "is",
        "as",
        "",
    ),
    *("at", "where", "These", "6is", "0(", "_", "): ", "FORMULA", "BIBREF", "@xcite", "[Formula"),
    *(".", ",", ":", ";", "?", "'", '"', "(", ")", "[", "]", "-", "~", "\u2022", "\u2014*", "\xe9"),
]


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])), max_size=9),
        min_size=1,
        max_size=4,
    )
)
@example([[(":", ""), ("6is", " "), ("the", "")]])
def test_no_text_with_damage_is_passed_over(drawn):
    texts = ["".join(a + b for a, b in text).encode() for text in drawn]
    signs = Signs(texts)
    for rule in rules._RULES:
        found = {n for n, text in enumerate(texts) if rule.pattern.search(text)}
        assert found <= set(rule.find(signs).tolist()), rule.name


def test_every_rule_is_tested():
    assert {name for name, _ in DAMAGED} == {rule.name for rule in rules._RULES}


WORDS = PaperWords(
    b"The evaluation is long-term.\nIts Evaluation and agreement are three-word items, or two.\n"
)


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("The evalua- tion ends.", "The evaluation ends."),
        ("A Evalua- tion ends.", "A Evaluation ends."),
        ("It is long- term.", "It is long-term."),
        ("All two- and three-word items.", "All two- and three-word items."),
        ("The eva- luation of agree- ment.", "The evaluation of agreement."),
        ("The evalua- tion of rhu- barb.", None),
    ],
)
def test_broken_words(broken, mended):
    assert WORDS.join(broken.encode()) == (mended and mended.encode())


COMPOUNDS = PaperWords(
    b"A rule or a phrase goes from left to right.\nThe state of the art is a labeled set of speech."
    b"\nWe photograph it, and keep a character.\n"
)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("A rulebased one.", "A rule-based one."),
        ("A fully phrasebased, tree-rulebased one.", "A fully phrase-based, tree-rule-based one."),
        ("A clausebased one.", "A clausebased one."),
        ("An unlabeled one.", "An unlabeled one."),
        ("In left-toright order.", "In left-to-right order."),
        ("A characterto-character map.", "A character-to-character map."),
        ("Part-ofspeech tags.", "Part-of-speech tags."),
        ("A state-ofthe-art one, stateof-the-art.", "A state-of-the-art one, state-of-the-art."),
        ("Photo-together, back-offed.", "Photo-together, back-offed."),
    ],
)
def test_compounds_get_their_hyphens_back(text, mended):
    assert COMPOUNDS.part(text.encode()) == mended.encode()
    found = mend([text.encode()], np.array([0]), [COMPOUNDS._content])
    assert found.as_first == [mended.encode()]


def test_a_word_gets_the_hyphen_that_its_paper_writes():
    texts = [b"The crossdocument links are new.", b"A cross-document one, cross-document too."]
    others = [b"The coreference links are new.", b"A co-reference one.", b"No coreference."]
    content = [b"\n".join(texts), b"\n".join(others)]
    found = mend([*texts, *others], np.array([0, 0, 1, 1, 1]), content).as_first
    assert found == [b"The cross-document links are new.", texts[1], *others]


@given(
    st.lists(
        st.sampled_from(["co", "Two", "words", "A" * 19, "b", "-", "--", " ", "\n", "4", "\u00e9"])
    ).map("".join)
)
@example("A" * 19 + "bc-words, co-words, co-two-words, \u00e9co-words, co-words\u00e9, 4co-words")
def test_every_word_with_a_hyphen_is_found(text):
    content, expected = text.encode(), {}
    for hyphen in re.finditer(rb"-([a-z]{3,})(?![A-Za-z-])", content):
        near = content[max(0, hyphen.start() - 20) : hyphen.start()]
        if before := re.search(rb"(?<![A-Za-z-])[A-Za-z]+\Z", near):
            expected[before[0] + hyphen[1]] = before[0] + hyphen[0]
    assert PaperWords(content).hyphenated == expected


def test_letters_get_their_accents_back():
    text = "Sch\u00a8utze, Schu\u00a8tze, Mart\u00b4\u0131nez and O\u00b4 S\u00b4eaghdha."
    [found] = mend([text.encode()], np.array([0]), [b""]).as_first
    assert found.decode() == "Sch\u00fctze, Sch\u00fctze, Mart\u00ednez and \u00d3 S\u00e9aghdha."


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It is shown.3 We go on.", ["It is shown.", "We go on."]),
        ("It is shown.12We go on.", ["It is shown.", "We go on."]),
        ("It is (shown).3 We go on.", ["It is (shown).3 We go on."]),
        ("Is it shown?1 We go on.2 It ends.", ["Is it shown?", "We go on.", "It ends."]),
        ("See Fig.3 We go on.", ["See Fig.3 We go on."]),
        ("It is v1.3 We go on.", ["It is v1.3 We go on."]),
        ("It is 0.3 We go on.", ["It is 0.3 We go on."]),
    ],
)
def test_marks_of_notes_end_sentences(text, pieces):
    assert split_at_notes(text.encode()) == [piece.encode() for piece in pieces]


def test_the_piece_beside_the_other_sentence_is_taken():
    text = b"The first of the two is shown.3 We go on with the second one."
    short = b"The first of the two is shown.3 We go on."
    mended = mend([text, short], np.array([0, 0]), [text + b"\n" + short])
    assert mended.as_first[0] == b"We go on with the second one."
    assert mended.as_second[0] == b"The first of the two is shown."
    assert [DAMAGE[n] if n < WHOLE else None for n in mended.damage] == [
        None,
        "the mark of a note or heading",
    ]


@pytest.mark.parametrize(
    ("heads", "is_head"),
    [
        (["{n} Bread Making Journal", "{n} Bread Making Journal"], True),
        (["Jane Roe and John Doe {n}", "Jane Roe and John Doe {n}"], True),
        (["{n} Bread Making Journal", "no head"], False),
        (["Table {n}", "Table {n}"], False),
    ],
)
def test_running_heads_repeat_beside_other_numbers(heads, is_head):
    texts = [
        f"The system finds {head.format(n=n)} most of all the errors.".encode()
        for n, head in enumerate([heads[0], *heads], 231)
    ]
    damage = mend(texts, np.zeros(len(texts), int), [b"\n".join(texts)]).damage
    assert (DAMAGE[damage[0]] if damage[0] < WHOLE else None) == (
        "a running head" if is_head else None
    )


SENTENCES = [f"The {word} system finds all of the errors." for word in ("first", "second", "third")]


def pairs_of(paper):
    blocks = list(find_pairs([paper], PairRules()))
    pairs = [
        (premise.decode(), hypothesis.decode())
        for block in blocks
        for category, premise, hypothesis in zip(
            block.category, block.premises, block.hypotheses, strict=True
        )
        if PairRules().phrases.categories[category] not in APPROACHES
    ]
    return pairs, {key for block in blocks for key in block.dropped}


def test_sentences_of_pairs_are_mended():
    paper = paper_of(
        [
            SENTENCES[0],
            "An evalua- tion of both of them is shown.3 The rest is left to later work.",
            "However, the evaluation finds none of the errors.2 It ends here in the end.",
            *SENTENCES[1:],
        ]
    )
    pairs, _ = pairs_of(paper)
    assert pairs == [
        ("The rest is left to later work.", "the evaluation finds none of the errors.")
    ]


def test_pairs_of_damaged_sentences_are_dropped_by_name():
    damaged = "However, the sum is given by The value of all errors."
    paper = paper_of([SENTENCES[0], damaged, *SENTENCES[1:]])
    pairs, dropped = pairs_of(paper)
    assert pairs == []
    assert ("However", "a heading or formula within it") in dropped


@pytest.mark.parametrize(("n_glued", "is_dropped"), [(2, False), (3, True)])
@pytest.mark.parametrize("mark", ["rises.This is", "is Na?ve in", "t;hird of"])
def test_papers_with_marks_of_damage_all_over_are_dropped(mark, n_glued, is_dropped):
    glued = [f"Here it {mark} the case {n} of all." for n in range(n_glued)]
    filler = [f"The system number {n} finds all of the errors." for n in range(40)]
    paper = paper_of([*filler, *glued, SENTENCES[0], "However, it finds none of the others."])
    pairs, dropped = pairs_of(paper)
    assert (pairs == []) == is_dropped
    assert (("However", DAMAGED_PAPER) in dropped) == is_dropped
