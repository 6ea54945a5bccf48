import json
import math
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("nltk")
pytest.importorskip("HanTa")
pytest.importorskip("sklearn")

from nlihub.baselines.systems import words as text
from nlihub.baselines.systems.lexical_features import (
    ABLATIONS,
    GRAM_GROUPS,
    GROUPS,
    PAIR_GROUPS,
    FeatureExtractor,
    bleu_scores,
    length_difference,
    overlap_scores,
)
from nlihub.baselines.systems.lexicalized import FEATURES_FILE, WEIGHTS_FILE, Lexicalized
from nlihub.baselines.systems.words import (
    is_word,
    read_model_json,
    stem,
    stem_words,
    tokenize_lower,
    tokenize_words,
    word_classes,
)
from nlihub.loaders.errors import SourceNotFoundError, UnknownNameError, UsageError

PREMISES = [
    "The new model works well.",
    "We evaluate the parser on two treebanks.",
    "The parser is slow.",
    "",
    "Neural models need data (CITATION).",
    "It is\nfast.",
]
HYPOTHESES = [
    "the model works very well.",
    "the parser is evaluated on treebanks.",
    "we report its speed in contrast.",
    "the data are small.",
    "",
    "it is not slow.",
]
LABELS = [0, 1, 2, 0, 1, 2]


def fitted(**options):
    return Lexicalized(**options).fit(PREMISES, HYPOTHESES, LABELS, 3)


def row(extractor, premise, hypothesis):
    (values,) = extractor.transform([premise], [hypothesis]).toarray()
    return dict(zip(extractor.names, values, strict=True))


# Texts


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        ("", []),
        (" \n\t", []),
        ("It isn't new.", ["It", "is", "n't", "new", "."]),
        ("It is new. We like it.", ["It", "is", "new", ".", "We", "like", "it", "."]),
        ("Is it (new)? Yes!", ["Is", "it", "(", "new", ")", "?", "Yes", "!"]),
        ("See (CITATION).\nWe do.", ["See", "(", "CITATION", ")", ".", "We", "do", "."]),
        ("see e.g. BERT", ["see", "e.g.", "BERT"]),
        ("U.S. English by J. R. Firth", ["U.S.", "English", "by", "J.", "R.", "Firth"]),
        ('a "word"', ["a", "``", "word", "''"]),
        ("3.5 % of F1", ["3.5", "%", "of", "F1"]),
    ],
)
def test_tokens(given, tokens):
    assert tokenize_words(given) == tokens
    assert tokenize_lower(given) == [token.lower() for token in tokens]


def test_stems_are_lower_case():
    assert stem_words("Models were IMPROVED") == ["model", "were", "improv"]
    assert stem("This") == "thi"


def test_what_is_a_word():
    assert [token for token in ["a", "n't", "3.5", "--", "``", "é", "."] if is_word(token)] == [
        "a",
        "n't",
        "3.5",
        "é",
    ]


def test_word_classes():
    tokens = tokenize_words("The new model should work very well. Parsers fail.")
    found = dict(zip(tokens, word_classes(tokens), strict=True))
    assert found == {
        "The": None,
        "new": "adjective",
        "model": "noun",
        "should": "verb",
        "work": "verb",
        "very": "adverb",
        "well": "adverb",
        ".": None,
        "Parsers": "noun",
        "fail": "verb",
    }
    assert word_classes([]) == []
    assert word_classes(["."]) == [None]


def test_sentences_are_tagged_one_by_one():
    first, second = tokenize_words("We tag it."), tokenize_words("Recent work fails.")
    assert word_classes(first + second) == word_classes(first) + word_classes(second)


def test_very_long_tokens_are_tagged_in_time():
    tokens = ["see", "http://" + "a/b" * 5000, "now"]
    assert len(word_classes(tokens)) == 3


@pytest.mark.parametrize("token", ["\0", "中", "İ", "\u017f", "\u200b", "\U0001d6fc", "''"])
def test_odd_tokens_are_tagged(token):
    assert len(word_classes(["the", token, token, "works"])) == 4


def test_an_old_tagger_is_refused(monkeypatch):
    """Its tags are others, so that most words would have no class."""

    class Old:
        def __init__(self, name):
            self.tag2int = {"JJ": 1}

    monkeypatch.setattr(text, "HanoverTagger", Old)
    text._tagger.cache_clear()
    with pytest.raises(ImportError, match=r"older than 1\.2\.1"):
        word_classes(["new"])


@pytest.mark.slow
def test_nothing_is_downloaded():
    """Neither a place for the data of NLTK nor a network is needed."""
    code = (
        "import socket\n"
        "def refuse(*_): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "import nltk; nltk.data.path.clear()\n"
        "from nlihub.baselines.systems.words import stem_words, tokenize_words, word_classes\n"
        "print(stem_words('It works. We saw it.'), word_classes(tokenize_words('It works.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    expected = "['it', 'work', '.', 'we', 'saw', 'it', '.'] [None, 'verb', None]\n"
    assert (done.stdout, done.stderr) == (expected, "")


# Features


def test_bleu_by_hand():
    premise = ["the", "cat", "sat", "on", "the", "mat"]
    hypothesis = ["the", "the", "cat", "sat"]
    # Unigrams: the (2 of 2), cat, sat. Bigrams: "the cat", "cat sat" of 3. Trigrams: 1 of 2.
    penalty = math.exp(1 - 6 / 4)
    expected = [1, (1 * 2 / 3) ** (1 / 2), (1 * 2 / 3 * 1 / 2) ** (1 / 3), 0]
    assert bleu_scores(premise, hypothesis) == pytest.approx([penalty * e for e in expected])
    assert bleu_scores(["a"], ["a", "a", "a"])[0] == pytest.approx(1 / 3)  # clipped, no penalty
    assert bleu_scores(list("abcde"), list("abcde")) == [1.0] * 4
    assert bleu_scores(list("abc"), list("abc")) == [1.0, 1.0, 1.0, 0.0]  # no 4-gram
    assert bleu_scores([], ["a"]) == bleu_scores(["a"], []) == bleu_scores([], []) == [0.0] * 4


def test_bleu_as_nltk_without_smoothing():
    from nltk.translate.bleu_score import sentence_bleu

    draw = random.Random(1)
    n_positive = 0
    for _ in range(300):
        premise, hypothesis = (
            [draw.choice("abcd") for _ in range(draw.randint(1, 12))] for _ in range(2)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no overlap
            expected = [
                sentence_bleu([premise], hypothesis, weights=[1 / n] * n) for n in (1, 2, 3, 4)
            ]
        # NLTK puts the least positive number in the place of 0, whose fourth root is 1e-77.
        assert bleu_scores(premise, hypothesis) == pytest.approx(expected, rel=1e-12, abs=1e-70)
        n_positive += expected[3] > 1e-70
    assert n_positive > 10


def test_length_by_hand():
    assert length_difference(["a", "b", "c"], ["a"]) == -2
    assert length_difference([], ["a", "b"]) == 2


def test_overlap_by_hand():
    premise = "The new model beats the old model."
    hypothesis = "The model works, the model wins, the new model."
    # All: the x2, model x2, new = 5 of min(7, 9). Nouns: model x2 of min(2, 3). Verbs: none is
    # shared. Adjectives: new of min(2, 1). Adverbs: there are none.
    assert overlap_scores(premise, hypothesis) == pytest.approx(
        [5, 5 / 7, 2, 2 / 2, 0, 0, 1, 1 / 1, 0, 0]
    )
    assert overlap_scores(hypothesis, premise) == overlap_scores(premise, hypothesis)


def test_overlap_is_of_a_class_only_where_both_are():
    """The walk is a noun, and to walk is a verb."""
    nouns = overlap_scores("The walk was long.", "They walk home.")[2:6]
    assert nouns == [0, 0, 0, 0]
    assert overlap_scores("The walk was long.", "They walk home.")[0] == 1


@pytest.mark.parametrize("empty", ["", " ", "... (!)"])
def test_overlap_with_nothing(empty):
    assert overlap_scores(empty, "The model.") == [0] * 10
    assert overlap_scores(empty, empty) == [0] * 10


def test_all_columns_of_a_row():
    extractor = FeatureExtractor().fit(["the model works.", "The parser"])
    assert extractor.dense_names == [name for names in PAIR_GROUPS.values() for name in names]
    assert extractor.names[15:] == [
        ".",
        "model",
        "parser",
        "the",
        "works",
        "model works",
        "the model",
        "the parser",
        "works .",
    ]
    found = row(extractor, "A model.", "The model, the model works")
    assert found["bleu_1"] == pytest.approx(1 / 6)  # "model"; of 6 tokens, no penalty
    assert found["bleu_2"] == 0
    assert found["length_difference"] == 3
    assert found["overlap_all"] == 1
    assert found["overlap_all_share"] == 1 / 2
    assert found["overlap_noun_share"] == 1
    grams = {name: value for name, value in found.items() if name in extractor.names[15:]}
    present = {"the": 1, "model": 1, "works": 1, "the model": 1, "model works": 1}
    assert grams == dict.fromkeys(grams, 0) | present  # 1, however often


@pytest.mark.parametrize("groups", ABLATIONS.values(), ids=ABLATIONS)
def test_ablations_are_columns_of_the_whole(groups):
    whole = FeatureExtractor().fit(HYPOTHESES)
    part = FeatureExtractor(groups).fit(HYPOTHESES)
    columns = [whole.names.index(name) for name in part.names]
    expected = whole.transform(PREMISES, HYPOTHESES)[:, columns].toarray()
    found = part.transform(PREMISES, HYPOTHESES)
    assert (found.format, found.dtype) == ("csr", np.float64)
    assert np.array_equal(found.toarray(), expected)
    assert part.groups == tuple(group for group in GROUPS if group in groups)


def test_hypothesis_only_has_n_grams_alone():
    extractor = FeatureExtractor(view="hypothesis").fit(HYPOTHESES)
    assert extractor.groups == tuple(GRAM_GROUPS)
    assert extractor.dense_names == []
    found = extractor.transform(None, HYPOTHESES)
    assert (found != extractor.transform(PREMISES, HYPOTHESES)).nnz == 0
    assert Lexicalized(view="hypothesis").features.groups == tuple(GRAM_GROUPS)


def test_rare_n_grams_are_left_out():
    extractor = FeatureExtractor(["unigrams", "bigrams"], min_count=2)
    # "the" is twice in one hypothesis, but in no other.
    assert extractor.fit(["the the a b", "a b", "b c"]).names == ["a", "b", "a b"]


def test_order_of_rows_does_not_matter_to_the_columns():
    assert (
        FeatureExtractor().fit(HYPOTHESES).names == FeatureExtractor().fit(HYPOTHESES[::-1]).names
    )


def test_no_rows():
    extractor = FeatureExtractor().fit(HYPOTHESES)
    assert extractor.transform([], []).shape == (0, len(extractor.names))


def test_number_of_processes_does_not_matter(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr("nlihub.baselines.systems.lexical_features._N_PAIRS_A_JOB", 2)
    extractor = FeatureExtractor().fit(HYPOTHESES)
    one, two = (extractor.transform(PREMISES, HYPOTHESES, num_proc=n) for n in (1, 2))
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(one, part), getattr(two, part))


def test_extractor_is_saved_and_loaded(tmp_path):
    extractor = FeatureExtractor(["length", "bigrams"], min_count=1).fit(HYPOTHESES)
    extractor.save(tmp_path / "a.json")
    loaded = FeatureExtractor.load(tmp_path / "a.json")
    assert (loaded.groups, loaded.view, loaded.min_count) == (("length", "bigrams"), "pair", 1)
    assert loaded.names == extractor.names
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FeatureExtractor(["blue"]), UnknownNameError, "Did you mean 'bleu'"),
        (lambda: FeatureExtractor(view="premise"), UnknownNameError, "no view 'premise'"),
        (lambda: FeatureExtractor([]), UsageError, "groups: expected some of bleu"),
        (lambda: FeatureExtractor(["bleu"], view="hypothesis"), UsageError, "need the premise"),
        (lambda: FeatureExtractor(min_count=0), UsageError, "min_count: .* got 0"),
        (lambda: FeatureExtractor(min_count=True), UsageError, "min_count: .* got True"),
        (lambda: Lexicalized(l2=0), UsageError, "l2: .* got 0"),
        (lambda: Lexicalized(l2=float("nan")), UsageError, "l2: .* got nan"),
    ],
)
def test_bad_options(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("premises", "hypotheses", "message"),
    [
        (["a"], ["a", "b"], "1 premises and 2 hypotheses"),
        ("a", ["a"], "premises: expected a list"),
        (["a"], "a", "hypotheses: expected a list"),
        (["a", None], ["a", "b"], "premises: row 1 is None"),
        (["a"], [3], "hypotheses: row 0 is 3"),
        (None, ["a"], "premises is None.* need premises"),
    ],
)
def test_bad_texts(premises, hypotheses, message):
    with pytest.raises(UsageError, match=message):
        FeatureExtractor().fit(HYPOTHESES).transform(premises, hypotheses)


def test_fit_comes_first(tmp_path):
    for call in (
        lambda: FeatureExtractor().names,
        lambda: FeatureExtractor().transform(["a"], ["a"]),
        lambda: FeatureExtractor().save(tmp_path / "features.json"),
        lambda: Lexicalized().probabilities(["a"], ["a"]),
        lambda: Lexicalized().save(tmp_path / "model"),
        lambda: Lexicalized().n_labels,
    ):
        with pytest.raises(UsageError, match="fit"):
            call()
    assert not list(tmp_path.iterdir())


# The classifier


def test_learns_and_says_probabilities():
    model = fitted(l2=0.01)
    found = model.probabilities(PREMISES, HYPOTHESES)
    assert (found.shape, found.dtype, model.n_labels) == ((6, 3), np.float64, 3)
    assert np.allclose(found.sum(axis=1), 1)
    assert found.argmax(axis=1).tolist() == LABELS
    assert model.probabilities([], []).shape == (0, 3)


@pytest.mark.parametrize("labels", [[0, 1, 2, 0, 1, 2], [1, 0, 0, 1, 1, 0]], ids=["three", "two"])
def test_probabilities_as_scikit_learn(labels):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    n_labels = max(labels) + 1
    model = Lexicalized(l2=0.5).fit(PREMISES, HYPOTHESES, labels, n_labels)
    rows = model.features.transform(PREMISES, HYPOTHESES).toarray()
    rows[:, :15] = StandardScaler().fit_transform(rows[:, :15])
    peer = LogisticRegression(C=2, max_iter=1000).fit(rows, labels)
    found = model.probabilities(PREMISES, HYPOTHESES)
    assert np.allclose(found, peer.predict_proba(rows), atol=1e-6)


def test_labels_that_no_row_has_are_never_predicted():
    model = Lexicalized().fit(PREMISES, HYPOTHESES, [3, 1, 3, 1, 3, 1], 5)
    found = model.probabilities(PREMISES, HYPOTHESES)
    assert found.shape == (6, 5)
    assert (found[:, [0, 2, 4]] == 0).all()
    assert np.allclose(found.sum(axis=1), 1)


def test_hypothesis_only_does_not_read_premises():
    model = Lexicalized(view="hypothesis").fit(None, HYPOTHESES, LABELS, 3)
    found = model.probabilities(None, HYPOTHESES)
    assert np.array_equal(found, model.probabilities(PREMISES, HYPOTHESES))


def test_columns_that_do_not_vary():
    model = Lexicalized(["overlap"]).fit(["a"] * 4, ["b"] * 4, [0, 1, 0, 1], 2)
    assert np.allclose(model.probabilities(["a"], ["b"]), 0.5)


def test_same_rows_same_files(tmp_path):
    for name in ("a", "b"):
        fitted().save(tmp_path / name)
    for name in (FEATURES_FILE, WEIGHTS_FILE):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("options", [{}, {"view": "hypothesis"}, {"groups": ["length"], "l2": 2}])
def test_classifier_is_saved_and_loaded(tmp_path, options):
    model = fitted(**options)
    model.save(tmp_path / "deep" / "model")
    loaded = Lexicalized.load(tmp_path / "deep" / "model")
    texts = (PREMISES[::-1], HYPOTHESES)
    assert np.array_equal(loaded.probabilities(*texts), model.probabilities(*texts))
    assert (loaded.l2, loaded.features.names) == (model.l2, model.features.names)


@pytest.mark.parametrize(
    ("labels", "n_labels", "message"),
    [
        ([0, 1], 3, r"expected shape \(6,\), one a row; got \(2,\)"),
        ([0, 1, 2, 0, 1, 3], 3, "row 5 has 3, expected 0 to 2"),
        ([0, -1, 2, 0, 1, 3], 3, "row 1 has -1"),
        ([0, 1, 0, 1, 0, 1.5], 3, "values of type float64"),
        ([True, False] * 3, 2, "values of type bool"),
        (["0", "1"] * 3, 2, "values of type <U1"),
        ([0, None] * 3, 2, "values of type object"),
        ([1] * 6, 3, "at least two different labels"),
    ],
)
def test_bad_labels(labels, n_labels, message):
    with pytest.raises(UsageError, match=message):
        Lexicalized().fit(PREMISES, HYPOTHESES, labels, n_labels)


def test_broken_files(tmp_path):
    fitted().save(tmp_path)
    features, weights = tmp_path / FEATURES_FILE, tmp_path / WEIGHTS_FILE
    good = {path: path.read_bytes() for path in (features, weights)}
    held = json.loads(good[features])
    for path, content, message in (
        (features, b"{", "features.json is not valid JSON"),
        (features, b"[]", "got no object"),
        (features, b"{}", "expected the fields .* got none"),
        (features, json.dumps(held | {"extra": 1}).encode(), "got extra, grams"),
        (features, json.dumps(held | {"grams": 1}).encode(), "grams: expected a list"),
        (features, json.dumps(held | {"grams": ["a", "a"]}).encode(), "'a' occurs more"),
        (features, json.dumps(held | {"grams": ["a", 1]}).encode(), "got 1"),
        (features, json.dumps(held | {"grams": ["a"]}).encode(), "has weights for other features"),
        (weights, b"", "weights.npz is not the file of a classifier"),
        (weights, b"PK\x03\x04 broken", "weights.npz is not the file of a classifier"),
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=message):
            Lexicalized.load(tmp_path)
        path.write_bytes(good[path])
    np.savez(weights, bias=np.zeros(3))
    with pytest.raises(UsageError, match="is not the file of a classifier"):
        Lexicalized.load(tmp_path)
    np.savez(weights, weights=np.array([{}], dtype=object))  # would have to be unpickled
    with pytest.raises(UsageError, match="is not the file of a classifier"):
        Lexicalized.load(tmp_path)
    for path in (weights, features):
        path.unlink()
        with pytest.raises(SourceNotFoundError, match=f"{path.name} does not exist"):
            Lexicalized.load(tmp_path)


def test_deeply_nested_json_is_no_surprise(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match="is not valid JSON"):
        read_model_json(tmp_path / "x.json", ["a"])
