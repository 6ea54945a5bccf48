import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch")
pytest.importorskip("nltk")
pytest.importorskip("HanTa")

import torch
from nlihub.baselines.systems.neural import KINDS, NeuralConfig, build_pair_classifier
from nlihub.baselines.systems.vocabulary import (
    PADDING_ID,
    UNKNOWN_ID,
    Vocabulary,
    encode_stems,
    read_vectors,
)
from nlihub.loaders.errors import (
    SchemaError,
    SourceNotFoundError,
    UnknownNameError,
    UsageError,
)

TEXTS = ["Models work.", "The model worked", "the models", "rare"]

PAIRS = pa.table(
    {
        "id": ["1", "2", "3"],
        "premise": ["The model works.", "", "Rare models"],
        "hypothesis": ["A model", "the the", " \n"],
        "label": [0, 1, 0],
    }
)


def small(kind, **options):
    given = {"n_words": 12, "n_labels": 3, "dimension": 6, "hidden": 5, "n_filters": 4} | options
    return NeuralConfig(kind, **given)


def seeded(config, vectors=None):
    torch.manual_seed(0)
    return build_pair_classifier(config, vectors)


# Vocabulary


def test_vocabulary_by_hand():
    vocabulary = Vocabulary.build(TEXTS)
    # model 3, the 2, work 2; "." and "rare" once.
    assert vocabulary.stems == ("model", "the", "work")
    assert (len(vocabulary), PADDING_ID, UNKNOWN_ID) == (5, 0, 1)
    assert vocabulary.encode("Working models, the rare") == [4, 2, 1, 3, 1]
    assert vocabulary.encode("") == vocabulary.encode(" \n") == [UNKNOWN_ID]
    assert vocabulary.encode("[UNK]") == [1, 1, 1]  # brackets are tokens: no text can name an id


def test_vocabulary_does_not_depend_on_the_order():
    assert Vocabulary.build(TEXTS) == Vocabulary.build(TEXTS[::-1]) == Vocabulary.build(iter(TEXTS))


def test_min_count():
    assert Vocabulary.build(TEXTS, min_count=3).stems == ("model",)
    assert len(Vocabulary.build(TEXTS, min_count=1)) == 7
    assert len(Vocabulary.build([])) == 2


def test_vocabulary_is_saved_and_loaded(tmp_path):
    vocabulary = Vocabulary.build(["naïve 中 naïve 中"])
    vocabulary.save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json") == vocabulary
    assert len(vocabulary) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nope", "v.json is not valid JSON"),
        ('{"words": []}', "expected the fields stems; got words"),
        ('{"stems": "ab"}', "expected a list of words, got str"),
        ('{"stems": ["a", ""]}', "got ''"),
        ('{"stems": ["a", "b", "a"]}', "'a' occurs more than once"),
    ],
)
def test_broken_vocabulary(tmp_path, content, message):
    (tmp_path / "v.json").write_text(content)
    with pytest.raises(UsageError, match=message):
        Vocabulary.load(tmp_path / "v.json")


def test_bad_vocabulary(tmp_path):
    with pytest.raises(SourceNotFoundError):
        Vocabulary.load(tmp_path / "none.json")
    with pytest.raises(UsageError, match="min_count"):
        Vocabulary.build(TEXTS, min_count=0)
    with pytest.raises(UsageError, match="got one text"):
        Vocabulary.build("some text")


# Encoding


def test_encode_by_hand():
    found = encode_stems(PAIRS, Vocabulary.build(TEXTS))
    assert found.schema == pa.schema(
        {"premise_ids": pa.list_(pa.int32()), "hypothesis_ids": pa.list_(pa.int32())}
    )
    assert found.to_pydict() == {
        "premise_ids": [[3, 2, 4, 1], [1], [1, 2]],
        "hypothesis_ids": [[1, 2], [3, 3], [1]],
    }


def test_encode_the_hypothesis_alone():
    vocabulary = Vocabulary.build(TEXTS)
    found = encode_stems(PAIRS.select(["hypothesis"]), vocabulary, "hypothesis")
    assert found["hypothesis_ids"].equals(encode_stems(PAIRS, vocabulary)["hypothesis_ids"])
    assert found["premise_ids"].to_pylist() == [[UNKNOWN_ID]] * 3


def test_encode_whatever_the_chunks():
    vocabulary = Vocabulary.build(TEXTS)
    chunked = pa.concat_tables([PAIRS.slice(0, 1), PAIRS.slice(1)])
    assert encode_stems(chunked, vocabulary).equals(encode_stems(PAIRS, vocabulary))
    for view in ("pair", "hypothesis"):
        assert encode_stems(PAIRS.slice(0, 0), vocabulary, view).num_rows == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            PAIRS.select(["id", "hypothesis"]),
            "lacks the columns premise; it has id, hypothesis",
        ),
        (
            PAIRS.set_column(1, "premise", [[1, 2, 3]]),
            "column premise holds int64; expected strings",
        ),
        (PAIRS.set_column(1, "premise", [["a", None, "b"]]), "1 rows have no premise"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(SchemaError, match=message):
        encode_stems(table, Vocabulary(()))


def test_unknown_view():
    with pytest.raises(UnknownNameError, match="Did you mean 'pair'"):
        encode_stems(PAIRS, Vocabulary(()), "pairs")


# Models


FIRST = torch.tensor([[2, 3, 4, 5], [6, 0, 0, 0], [7, 8, 0, 0]])
SECOND = torch.tensor([[3, 0, 0], [9, 10, 11], [1, 0, 0]])


def padded(ids, n_more):
    return torch.nn.functional.pad(ids, (0, n_more))


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind):
    model = seeded(small(kind))
    logits = model(FIRST, SECOND)
    assert logits.shape == (3, 3)
    assert torch.allclose(model(padded(FIRST, 7), padded(SECOND, 1)), logits, atol=1e-6)
    for row in range(3):
        alone = [ids[row : row + 1, : int((ids[row] > 0).sum())] for ids in (FIRST, SECOND)]
        assert torch.allclose(model(*alone)[0], logits[row], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_words_and_their_side_matter(kind):
    model = seeded(small(kind))
    logits = model(FIRST, SECOND)
    assert not torch.allclose(model(SECOND, FIRST), logits)
    other = FIRST.clone()
    other[0, 1] = 9
    changed = (model(other, SECOND) != logits).any(dim=1)
    assert changed.tolist() == [True, False, False]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_padding_alone_are_vectors_of_zeros(kind):
    model = seeded(small(kind))
    empty = torch.zeros(2, 3, dtype=torch.long)
    assert torch.equal(
        model._represent(empty, model.encoders[0]), torch.zeros(2, model.encoders[0].size)
    )
    assert torch.isfinite(model(empty, SECOND[:2])).all()


def test_cbow_by_hand():
    config = NeuralConfig("cbow", n_words=4, n_labels=2, dimension=2, hidden=8)
    vectors = np.array(
        [[9, 9], [1, 0], [0, 2], [3, 1]], np.float32
    )  # that of the padding is dropped
    model = build_pair_classifier(config, vectors)
    first = model._represent(torch.tensor([[1, 3, 0], [2, 2, 2]]), model.encoders[0])
    assert first.tolist() == [[4, 1], [0, 6]]
    with torch.no_grad():  # the context itself, and its labels
        model.hidden.weight.copy_(torch.eye(8))
        model.hidden.bias.zero_()
        model.labels.weight.copy_(torch.tensor([[1.0] * 8, [0.0] * 4 + [1.0] * 4]))
        model.labels.bias.copy_(torch.tensor([0.0, 0.5]))
    # S1 = [4, 1], S2 = [0, 2]: products [0, 2]; differences [4, -1], and -1 ends at the ReLU.
    logits = model(torch.tensor([[1, 3]]), torch.tensor([[2]]))
    assert logits.tolist() == [[4 + 1 + 0 + 2 + 0 + 2 + 4, 0 + 2 + 4 + 0.5]]


def test_cnn_by_hand():
    config = NeuralConfig(
        "cnn", n_words=4, n_labels=2, dimension=1, hidden=2, n_filters=1, widths=(3,)
    )
    model = build_pair_classifier(config, np.array([[0], [1], [-5], [3]], np.float32))
    (filters,) = model.encoders[0].filters
    with torch.no_grad():
        filters.weight.copy_(torch.tensor([[[1.0, 10.0, 100.0]]]))
        filters.bias.fill_(0.5)
    # Around 1: 0 + 10 + 300; around 3: 1 + 30 + 0; each and 0.5. Around -5 alone: below zero.
    found = model._represent(torch.tensor([[1, 3, 0], [2, 0, 0]]), model.encoders[0])
    assert found.tolist() == [[pytest.approx((310.5 + 31.5) / 2)], [0]]


def test_bilstm_is_the_mean_of_states_of_two_lstms():
    model = seeded(small("bilstm"))
    assert len(model.encoders) == 2
    assert len(seeded(small("cnn")).encoders) == 1
    for encoder in model.encoders:
        states, _ = encoder.lstm(model.embedding(FIRST[2:, :2]))
        found = model._represent(FIRST[2:], encoder)
        assert torch.allclose(found, states.mean(dim=1), atol=1e-6)


@pytest.mark.parametrize(("kind", "size"), [("cbow", 300), ("cnn", 192), ("bilstm", 600)])
def test_sizes_of_the_paper(kind, size):
    model = build_pair_classifier(NeuralConfig(kind, n_words=20, n_labels=4))
    assert model.embedding.weight.shape == (20, 300)
    assert model.encoders[0].size == size
    assert model.hidden.in_features == 4 * size
    assert model(FIRST, SECOND).shape == (3, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_learns_a_toy_set(kind):
    """Whether the premise has the word of the hypothesis: neither text tells alone."""
    draw = np.random.default_rng(0)
    first = torch.from_numpy(draw.integers(2, 8, (64, 3)))
    second = torch.from_numpy(draw.integers(2, 8, (64, 1)))
    labels = (first == second).any(dim=1).long()
    config = NeuralConfig(kind, n_words=8, n_labels=2, dimension=16, hidden=24, n_filters=8)
    model = seeded(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(first, second), labels)
        loss.backward()
        optimizer.step()
    accuracy = (model(first, second).argmax(dim=1) == labels).float().mean()
    assert accuracy > 0.9
    assert not model.embedding.weight[PADDING_ID].any()
    assert model.embedding.weight.requires_grad


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_model_and_its_state_can_be_kept(kind, tmp_path):
    one, two = seeded(small(kind)), seeded(small(kind))
    assert torch.equal(one(FIRST, SECOND), two(FIRST, SECOND))
    torch.save(one.state_dict(), tmp_path / "state.pt")
    other = build_pair_classifier(small(kind))
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert torch.equal(other(FIRST, SECOND), one(FIRST, SECOND))
    # No tensor twice under two names, which safetensors would refuse.
    addresses = [tensor.data_ptr() for tensor in one.state_dict().values()]
    assert len(set(addresses)) == len(addresses)


def test_config_is_saved_and_loaded(tmp_path):
    config = small("cnn", widths=[1, 5])
    config.save(tmp_path / "c.json")
    assert NeuralConfig.load(tmp_path / "c.json") == config
    assert build_pair_classifier(config)(FIRST, SECOND).shape == (3, 3)
    (tmp_path / "c.json").write_text('{"kind": "cnn"}')
    with pytest.raises(UsageError, match="expected the fields dimension"):
        NeuralConfig.load(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_words": 1}, "n_words: expected a whole number from 2, got 1"),
        ({"n_labels": 1}, "n_labels"),
        ({"hidden": 2.0}, "hidden: .* got 2.0"),
        ({"dimension": True}, "dimension: .* got True"),
        ({"widths": ()}, "widths: expected some"),
        ({"widths": (3, 0)}, "widths: .* got 0"),
        ({"widths": 3}, "widths: expected some"),
    ],
)
def test_bad_config(options, message):
    with pytest.raises(UsageError, match=message):
        small("cnn", **options)


def test_unknown_kind():
    with pytest.raises(UnknownNameError, match="Did you mean 'bilstm'"):
        small("lstm")


def test_vectors_of_another_shape():
    with pytest.raises(UsageError, match=r"expected the shape \(12, 6\), got \(12, 5\)"):
        build_pair_classifier(small("cbow"), np.zeros((12, 5), np.float32))


# Word vectors

VOCABULARY = Vocabulary(("model", "thi", "signific", "made", "zzz"))
GLOVE = (
    "this 1 2\n"
    "models 3 4\n"
    "model 5 6\n"  # comes second
    "at name@domain.com 7 8\n"
    ". . . 7 8\n"
    "thi 9 9\n"
    "\u0085 7 8\n"
    "signific -1.5e-1 +2\n"  # its own stem is another
    "Made 8 9\n"
    "this 0 0\n"
)


def write(tmp_path, content):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "edit",
    [str, lambda text: "10 2\n" + text, lambda text: text.replace("\n", " \r\n")],
    ids=["glove", "word2vec", "blanks at the ends"],
)
def test_vectors_by_hand(tmp_path, edit):
    found = read_vectors(write(tmp_path, edit(GLOVE)), VOCABULARY, dimension=2)
    assert (found.n_by_word, found.n_by_spelling, found.n_drawn) == (3, 1, 1)
    assert (found.matrix.shape, found.matrix.dtype) == ((7, 2), np.float32)
    assert found.matrix[PADDING_ID].tolist() == [0, 0]
    rows = {stem: found.matrix[number].tolist() for stem, number in VOCABULARY.ids.items()}
    del rows["zzz"]
    assert rows == {
        "model": [3, 4],
        "thi": [1, 2],
        "signific": pytest.approx([-0.15, 2]),
        "made": [8, 9],
    }


def test_a_word_counts_before_what_is_spelled_like_the_stem(tmp_path):
    """The stem of "signific" is "signif", that of "significant" is "signific"."""
    path = write(tmp_path, "signific 1 1\nsignificant 2 2\n")
    found = read_vectors(path, VOCABULARY, dimension=2)
    assert found.matrix[VOCABULARY.ids["signific"]].tolist() == [2, 2]
    assert (found.n_by_word, found.n_by_spelling, found.n_drawn) == (1, 0, 4)


def test_drawn_vectors_depend_on_seed_and_id_alone(tmp_path):
    whole = read_vectors(write(tmp_path, GLOVE), VOCABULARY, dimension=2, seed=3)
    few = read_vectors(write(tmp_path, "this 1 2\n"), VOCABULARY, dimension=2, seed=3)
    other = read_vectors(write(tmp_path, "this 1 2\n"), VOCABULARY, dimension=2, seed=4)
    for number in (UNKNOWN_ID, VOCABULARY.ids["zzz"]):
        assert np.array_equal(whole.matrix[number], few.matrix[number])
        assert not np.array_equal(whole.matrix[number], other.matrix[number])
    words = Vocabulary(tuple(map(str, range(2000))))
    drawn = read_vectors(write(tmp_path, "this 1 2\n"), words, dimension=2, deviation=0.5).matrix
    assert drawn[1:].std() == pytest.approx(0.5, rel=0.05)


def test_vectors_go_into_a_model(tmp_path):
    vectors = read_vectors(write(tmp_path, GLOVE), VOCABULARY, dimension=2).matrix
    model = build_pair_classifier(small("cbow", n_words=len(VOCABULARY), dimension=2), vectors)
    assert np.array_equal(model.embedding.weight.detach().numpy(), vectors)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "vectors.txt is empty"),
        ("this 1 2 3\n", "vectors.txt:1: expected a word and 2 numbers, .* got 4 fields"),
        ("this 1\n", "vectors.txt:1: expected a word and 2 numbers"),
        ("10 3\nthis 1 2 3\n", "vectors.txt:1: expected vectors of 2 numbers; the header says 3"),
        ("a 1 2\n\nthis 1 2\n", "vectors.txt:2: expected"),
        ("a 1 2\nthis 1 2", None),
        ("a 1 2\nthis 1", "vectors.txt:2: expected"),
        ("a 1 2\nthis 1 x\n", "vectors.txt:2: could not convert"),
        ("a 1 2\nthis 1 nan\n", "vectors.txt:2: expected finite numbers"),
        ("a 1 2\nthis 1 1e99\n", "vectors.txt:2: expected finite numbers"),
        (b"a 1 2\nth\xff 1 2\n", "vectors.txt:2: the word is not UTF-8"),
        (b"\x1f\x8b\x08\x00 packed", "unpacked"),
    ],
)
def test_broken_vectors(tmp_path, content, message):
    path = write(tmp_path, content)
    if message is None:
        assert read_vectors(path, VOCABULARY, dimension=2).n_by_word == 1
        return
    with pytest.raises(UsageError, match=message):
        read_vectors(path, VOCABULARY, dimension=2)


def test_bad_arguments_of_vectors(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"vectors.txt"):
        read_vectors(tmp_path / "vectors.txt", VOCABULARY)
    for bad in ({"dimension": 0}, {"deviation": -1.0}, {"deviation": float("nan")}):
        with pytest.raises(UsageError, match="Expected a dimension"):
            read_vectors(write(tmp_path, GLOVE), VOCABULARY, **bad)
