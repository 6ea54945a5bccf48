"""Training and asking tiny models, from mechanisms to negatives."""

from collections import Counter
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the extra 'baselines' is not installed")
pytest.importorskip("transformers", reason="the extra 'baselines' is not installed")

import torch
from conftest import SHARED
from nlihub.builders.procedures.abstracts.generate import folds
from nlihub.builders.procedures.abstracts.generate.constraints import (
    Constraints,
    TokenLiteral,
    find_phrase_tokens,
)
from nlihub.builders.procedures.abstracts.generate.folds import (
    encode_examples,
    fit_fold,
    fold_of,
    train_generator,
)
from nlihub.builders.procedures.abstracts.generate.generate import (
    EncoderCosine,
    ModelWriter,
)
from nlihub.builders.procedures.abstracts.generate.sentence_kinds import (
    KINDS,
    MALFORMED,
    MISSING,
    NOT_FOUND,
    RIGHT_RELATION,
    TOO_GOOD,
    TOO_SIMILAR,
)
from nlihub.builders.procedures.abstracts.generate.settings import (
    BeamSettings,
    GenerationSettings,
    PretrainedModel,
    SmallModel,
    TrainingSettings,
    train_tokenizer,
)
from nlihub.builders.procedures.abstracts.generate.task import (
    SPECIAL_TOKENS,
    read_output,
    write_input,
    write_output,
)
from nlihub.builders.procedures.abstracts.mechanisms.find import (
    Mechanism,
    find_mechanisms,
)
from nlihub.builders.procedures.abstracts.mechanisms.rules import MechanismRules, read_phrases
from nlihub.builders.procedures.abstracts.perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE
from nlihub.builders.procedures.abstracts.perturb.strategy import (
    BROKEN_MARKERS,
    Choices,
    NoNegative,
    Perturbed,
)
from nlihub.builders.procedures.abstracts.perturb.swap_entities import SwapNames
from nlihub.loaders.corpora.abstracts.read import read_abstracts
from nlihub.loaders.errors import CorpusError, ModelError, OutputError, TrainingError
from perturb_samples import MECHANISMS

SMALL = MECHANISMS[:8]
SETTINGS = GenerationSettings(
    model=SmallModel(n_tokens=400, width=64, n_layers=2, n_heads=2),
    training=TrainingSettings(n_epochs=30, batch_size=1, learning_rate=3e-3),
    beam=BeamSettings(beam_size=8, prune_factor=32, min_tokens=2, max_tokens=80, ngram_size=0,
                      allocates=True, n_best=3),
    n_folds=2,
    seed=0,
    max_quality=1.1,
    max_similarity=1.1,
)  # fmt: skip


def make_pieces(texts, special=SPECIAL_TOKENS):
    """A tokenizer in the manner of T5: pieces that begin with a blank, the task's tokens added."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.Unigram())
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=600, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>",
        initial_alphabet=list("αβ+()[]"), show_progress=False,
    )  # fmt: skip
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    wrapped.add_tokens(list(special))
    return wrapped


@pytest.fixture(scope="module", params=["bytes", "pieces"])
def tokenizer(request):
    texts = [text for one in MECHANISMS for text in (write_input(one), write_output(one))]
    return train_tokenizer(texts, 500) if request.param == "bytes" else make_pieces(texts)


def test_what_is_written_survives_the_tokenizer(tokenizer):
    for one in MECHANISMS:
        tokens = tokenizer(write_output(one))["input_ids"][:-1]
        if tokenizer.unk_token_id not in tokens:
            assert read_output(tokenizer.decode(tokens)).sentence == one.conclusion


@pytest.mark.parametrize(
    "phrase", ["<re> IL-6 <er>", "TNF-\N{GREEK SMALL LETTER ALPHA}", "a+b (c)", "<el> p53 <le>"]
)
def test_variants_are_found_in_texts(tokenizer, phrase):
    """Wherever a phrase stands alone, one of its variants stands in the tokens."""
    variants = find_phrase_tokens(tokenizer, phrase)
    for text in (phrase, f"We saw {phrase}.", f"({phrase}) rose", f"and {phrase}, but"):
        tokens = tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
        assert any(
            tokens[i : i + len(v)] == v for v in variants for i in range(len(tokens) - len(v) + 1)
        )
    for variant in variants:
        assert tokenizer.decode(list(variant)).strip() == phrase


def test_a_phrase_inside_a_word_is_no_variant(tokenizer):
    tokens = tuple(tokenizer("xIL-1x", add_special_tokens=False)["input_ids"])
    assert all(tokens[1:] != variant for variant in find_phrase_tokens(tokenizer, "IL-1"))


def literal(tokenizer, phrase, *, is_positive=True):
    return TokenLiteral(find_phrase_tokens(tokenizer, phrase), is_positive)


def check_constraints(mechanism, tokenizer):
    """What is asked for is found in the tokens of a sentence that has it, if there is one."""
    asked = KINDS["GEN-ND-SEN"].ask(mechanism, Choices(0, mechanism.pmid, "GEN-ND-SEN"))
    found = SwapNames(symmetric=True).propose(mechanism, Choices(0, mechanism.pmid, "SEN"))
    if isinstance(asked, NoNegative) or isinstance(found, NoNegative):
        return False
    swapped = next(found)
    if not all(phrase in swapped.text for phrase in asked.required):  # a capital at the start
        return False
    for text, n_found in ((swapped.text, 2), (mechanism.conclusion, 0)):
        tokens = tokenizer(f"unknown <exp> {text}")["input_ids"]
        must = Constraints([literal(tokenizer, phrase)] for phrase in asked.required)
        never = Constraints(
            [literal(tokenizer, phrase, is_positive=False)] for phrase in asked.required
        )
        assert must.follow(tokens).n_satisfied == n_found
        assert never.follow(tokens).is_violated == bool(n_found)
    return True


def test_constraints_are_found_in_sentences(tokenizer):
    assert sum(check_constraints(one, tokenizer) for one in MECHANISMS) > 35  # 13 of 60 deny


def test_constraints_are_found_in_real_sentences():
    folder = SHARED / "data" / "biomedical"
    if not folder.is_dir():
        pytest.skip("the real abstracts are not at hand")
    rules = MechanismRules(read_phrases(sets=None), by_order=True)
    found = find_mechanisms(read_abstracts(sorted(folder.glob("*.pubtator"))), rules)
    mechanisms = [one for one in found if isinstance(one, Mechanism)]
    texts = [text for one in mechanisms for text in (write_input(one), write_output(one))]
    tokenizer = train_tokenizer(texts, 2000)
    assert sum(check_constraints(one, tokenizer) for one in mechanisms) > 65
    assert len(mechanisms) == 74


def test_slow_tokenizers_are_refused():
    class Slow:
        is_fast = False

    with pytest.raises(ModelError, match="fast"):
        find_phrase_tokens(Slow(), "A")


def test_no_text_is_unknown_to_bytes():
    tokenizer = train_tokenizer(["A B"], 300)
    for text in ("negative <exp> <re> β-Gal\t<er>  x", "日本 β"):
        assert tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) == text
    assert tokenizer("A")["input_ids"][-1] == tokenizer.eos_token_id


def test_folds_depend_on_the_pmid_alone():
    folds = {str(n): fold_of(str(n), 5, 0) for n in range(2000)}
    assert set(folds.values()) == set(range(5))
    assert min(Counter(folds.values()).values()) > 340
    assert folds["7"] == fold_of("7", 5, 0)
    assert folds != {str(n): fold_of(str(n), 5, 1) for n in range(2000)}


def test_long_texts_are_cut_or_left_out_and_counted(tokenizer):
    pairs = [("a " * 50, "b"), ("a", "b " * 50), ("a", "b")]
    limits = TrainingSettings(max_source_tokens=10, max_target_tokens=10)
    examples, n_cut, n_left_out = encode_examples(tokenizer, pairs, limits)
    assert (len(examples), n_cut, n_left_out) == (2, 1, 1)
    assert len(examples[0].source) == 10
    assert examples[0].source[-1] == tokenizer.eos_token_id


def weights(model):
    return torch.cat([value.flatten() for value in model.state_dict().values()])


def test_training_is_the_same_each_time_and_learns():
    texts = [text for one in SMALL for text in (write_input(one), write_output(one))]
    pairs = [(write_input(one), write_output(one)) for one in SMALL]
    found = []
    for _ in range(2):
        torch.manual_seed(len(found))  # of the process; it has no say
        model, tokenizer = SETTINGS.model.make(texts, 5)
        settings = TrainingSettings(n_epochs=4)
        examples, _, _ = encode_examples(tokenizer, pairs, settings)
        before = torch.random.get_rng_state()
        losses = train_generator(model, tokenizer.pad_token_id, examples, settings, seed=5)
        assert torch.equal(before, torch.random.get_rng_state())
        found.append((losses, weights(model)))
    assert found[0][0] == found[1][0] and torch.equal(found[0][1], found[1][1])
    assert found[0][0][-1] < found[0][0][0]


def test_nothing_to_train_on(tokenizer):
    model, _ = SETTINGS.model.make(["a"], 5)
    with pytest.raises(TrainingError, match="no example"):
        train_generator(model, 0, [], TrainingSettings(), seed=0)
    with pytest.raises(CorpusError, match="none is left"):
        fold = fold_of(SMALL[0].pmid, 2, 0)
        fit_fold(fold, SMALL[:1], SETTINGS)


def test_a_fold_is_kept_and_read_again(tmp_path):
    told = []
    first = fit_fold(0, SMALL, SETTINGS, tmp_path, told.append)
    assert told and not first.report.is_resumed
    told.clear()
    again = fit_fold(0, SMALL[::-1], SETTINGS, tmp_path, told.append)
    assert not told and again.report == replace(first.report, is_resumed=True)
    assert torch.equal(weights(first.model), weights(again.model))
    text = write_output(SMALL[0])
    assert first.tokenizer(text)["input_ids"] == again.tokenizer(text)["input_ids"]
    ids = first.tokenizer(text)["input_ids"]
    assert first.tokenizer.decode(ids) == again.tokenizer.decode(ids)
    with pytest.raises(OutputError, match="other mechanisms or settings"):
        fit_fold(0, SMALL, replace(SETTINGS, training=TrainingSettings()), tmp_path)
    with pytest.raises(OutputError, match="other mechanisms or settings"):
        fit_fold(0, MECHANISMS[:9], SETTINGS, tmp_path)
    (tmp_path / "fold-0" / "fold.json").write_text("{}")
    with pytest.raises(OutputError, match="does not hold the model of a fold"):
        fit_fold(0, SMALL, SETTINGS, tmp_path)


@pytest.mark.slow
def test_no_model_sees_what_it_answers():
    for fold in range(2):
        others = [one for one in SMALL if fold_of(one.pmid, 2, 0) != fold]
        report = fit_fold(fold, SMALL, SETTINGS).report
        assert report.n_examples + report.n_left_out == len(others)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    broken = replace(SMALL[0], pmid="1", conclusion="no markers")
    return [*SMALL, broken], folder, ModelWriter(SETTINGS, folder).generate([*SMALL, broken])


def count(found):
    """By kind, the number of negatives, under ``made``, and of each reason for having none."""
    counts = {name: Counter() for name in KINDS}
    for outcome in found.outcomes:
        for kind, one in outcome.items():
            counts[kind][one.reason if isinstance(one, NoNegative) else "made"] += 1
    return counts


@pytest.mark.slow
def test_kept_and_refused_are_all(generated):
    mechanisms, _, found = generated
    assert len(found.outcomes) == len(mechanisms)
    counts = count(found)
    for name, kind in KINDS.items():
        assert sum(counts[name].values()) == len(mechanisms)
        assert set(counts[name]) <= {"made", *kind.reasons}
    assert set(found.outcomes[-1].values()) == {NoNegative(BROKEN_MARKERS)}
    parameters = ModelWriter().parameters()
    assert parameters["quality"] == parameters["similarity"] == "token F1"


def test_what_is_kept_is_what_was_asked_for(generated):
    mechanisms, _, found = generated
    made = 0
    for one, outcome in zip(mechanisms, found.outcomes, strict=True):
        for kind, negative in outcome.items():
            if not isinstance(negative, Perturbed):
                continue
            made += 1
            assert negative.text != one.conclusion
            [edit] = negative.edits
            assert (edit.start, edit.end, edit.new) == (0, len(one.conclusion), negative.text)
            text = negative.text.casefold()  # a name that begins a sentence may be small inside
            own = (
                f"<re> {one.regulator.casefold()} <er>" in text,
                f"<el> {one.regulated.casefold()} <le>" in text,
            )
            if kind == "GEN-ND-SRE":
                assert own in ((True, False), (False, True))
            elif kind != "GEN":
                assert own == (False, False)
        texts = [n.text for n in outcome.values() if isinstance(n, Perturbed)]
        assert len(set(texts)) == len(texts)
    assert made and count(found)["GEN-ND-SEN"]["made"]


def test_the_same_again_in_another_order_and_from_the_kept_models(generated):
    mechanisms, folder, found = generated
    again = ModelWriter(SETTINGS, folder).generate(mechanisms[::-1])
    assert again.outcomes[::-1] == found.outcomes
    assert all(report.is_resumed for report in again.folds)


@pytest.mark.slow
def test_bounds_and_searches_that_find_nothing(generated):
    mechanisms, folder, _ = generated
    strict = replace(SETTINGS, max_quality=-1.0, max_similarity=-1.0)
    counts = count(ModelWriter(strict, folder).generate(mechanisms))
    assert "made" not in counts["GEN"] and "made" not in counts["GEN-ND-SRE"]
    assert counts["GEN-ND-SRE"][TOO_SIMILAR] > 0
    short = replace(SETTINGS, beam=replace(SETTINGS.beam, max_tokens=6))
    counts = count(ModelWriter(short, folder).generate(mechanisms))
    assert counts["GEN-ND-SEN"][NOT_FOUND] > 0
    assert TOO_GOOD not in counts["GEN"]


def test_cosine_of_an_encoder(tmp_path):
    from tiny_models import WORDS, write_encoder
    from transformers import AutoModel, AutoTokenizer

    folder = write_encoder(tmp_path / "encoder")
    encoder = AutoModel.from_pretrained(folder)
    measure = EncoderCosine(encoder, AutoTokenizer.from_pretrained(folder), "tiny", batch_size=2)
    left = [" ".join(WORDS[:n]) for n in (3, 9, 4)]
    right = [" ".join(WORDS[:n]) for n in (3, 2, 30)]
    scores = measure.score(left, right)
    assert scores[0] == pytest.approx(1.0) and all(-1 <= s < 0.9999 for s in scores[1:])
    alone = [measure.score([a], [b])[0] for a, b in zip(left, right, strict=True)]
    assert scores == pytest.approx(alone, abs=1e-5)
    assert measure.name == "tiny cosine"


class Scores:
    """A measure that knows its scores beforehand, and what it was asked about."""

    name = "known"

    def __init__(self, **by_word):
        self.by_word, self.asked = by_word, []

    def score(self, written, originals):
        self.asked += zip(written, originals, strict=True)
        return [next(s for word, s in self.by_word.items() if word in text) for text in written]


@pytest.fixture
def generate(monkeypatch):
    """Generates with texts that are given, in place of a model."""
    one = replace(MECHANISMS[0], polarity="positive")
    a, b = one.regulator, one.regulated

    def run(texts, **options):
        def answer(fitted, mechanisms, settings, tell):
            found = {}
            for kind in settings.kinds:
                wish = KINDS[kind].ask(one, Choices(settings.seed, one.pmid, kind))
                fill = dict(zip("xy", wish.names or (), strict=False), a=a, b=b)
                given = texts.get(kind, [])
                found[kind] = (wish, [read_output(text.format(**fill)) for text in given])
            return folds.FoldAnswers((found,), 0)

        report = folds.FoldReport(0, 1, 0, 0, (), is_resumed=False)
        fitted = folds.FoldModel(None, None, report)
        monkeypatch.setattr(folds, "ask_fold", answer)
        monkeypatch.setattr(folds, "fit_fold", lambda *_: fitted)
        settings = GenerationSettings(kinds=tuple(texts))
        [outcome] = ModelWriter(settings, **options).write([one])
        return {k: o.reason if isinstance(o, NoNegative) else o for k, o in outcome.items()}

    return run


WRONG = "negative <exp> well <re> {a} <er> lowers <el> {b} <le>."
RIGHT = "positive <exp> odd <re> {a} <er> lowers <el> {b} <le>."
OTHER = "positive <exp> well <re> {x} <er> lowers <el> {y} <le>."


def test_quality_bounds_what_the_model_writes_by_itself(generate):
    kept = generate({"GEN": [WRONG]}, quality=Scores(well=0.44))["GEN"]
    assert kept.detail == "positive -> negative; known 0.440"
    assert kept.text == read_output(kept.text).sentence
    assert generate({"GEN": [WRONG]}, quality=Scores(well=0.45)) == {"GEN": TOO_GOOD}


def test_similarity_bounds_replaced_entities_alone(generate):
    measure = Scores(well=0.9)
    found = generate({"GEN-ND-SRE": [OTHER], "GEN-ND-SEN": [OTHER]}, similarity=measure)
    assert found["GEN-ND-SRE"] == TOO_SIMILAR and isinstance(found["GEN-ND-SEN"], Perturbed)
    [(written, original)] = measure.asked
    assert "<" not in written + original and original.startswith(MECHANISMS[0].regulator)


def test_the_first_text_that_is_kept_is_taken(generate):
    texts = [RIGHT, "no markers", WRONG.replace("well", "poor"), WRONG]
    found = generate({"GEN": texts}, quality=Scores(poor=0.5, well=0.1))["GEN"]
    assert found.text.startswith("well")
    assert generate({"GEN": texts[:2]}) == {"GEN": RIGHT_RELATION}
    assert generate({"GEN": texts[1::-1]}) == {"GEN": MALFORMED}
    assert generate({"GEN": []}) == {"GEN": NOT_FOUND}


def test_one_sentence_is_not_taken_twice(generate):
    swapped = "negative <exp> well <re> {b} <er> lowers <el> {a} <le>."
    texts = {"GEN": [swapped], "GEN-ND-SEN": [swapped], "GEN-ND-NG": [swapped, OTHER]}
    texts["GEN-ND-NG"][1] = "negative <exp> well <re> {b} <er> lowers <el> Q <le>."
    found = generate(texts, quality=Scores(well=0.0))
    assert isinstance(found["GEN"], Perturbed) and found["GEN-ND-SEN"] == SAME_AS_ANOTHER
    assert "Q" in found["GEN-ND-NG"].text
    itself = "negative <exp> " + MECHANISMS[0].conclusion
    assert generate({"GEN": [itself]}) in ({"GEN": TOO_GOOD}, {"GEN": SAME_AS_POSITIVE})
    assert generate({"GEN": [itself]}, quality=Scores(a=0.0)) == {"GEN": SAME_AS_POSITIVE}
    assert generate({"GEN-ND-SEN": [itself]}) == {"GEN-ND-SEN": MISSING}


def test_pretrained_models_get_the_tokens_of_the_task(tmp_path):
    made, _ = SmallModel(n_tokens=300, width=16, n_layers=1, n_heads=2).make(["a b"], 0)
    made.save_pretrained(tmp_path / "model")
    bare = make_pieces([write_output(one) for one in MECHANISMS], special=())
    bare.save_pretrained(tmp_path / "model")
    model, tokenizer = PretrainedModel(str(tmp_path / "model")).make([], 3)
    again, _ = PretrainedModel(str(tmp_path / "model")).make([], 3)
    assert torch.equal(weights(model), weights(again))
    for token in SPECIAL_TOKENS:
        assert len(tokenizer(token, add_special_tokens=False)["input_ids"]) <= 2
        assert tokenizer.convert_tokens_to_ids(token) < model.get_input_embeddings().num_embeddings
    with pytest.raises(ModelError, match="cannot be loaded"):
        PretrainedModel(str(tmp_path / "nothing")).make([], 0)
