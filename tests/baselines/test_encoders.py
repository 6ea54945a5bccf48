"""What pretrained encoders and their tokenizers bring along, and where they differ."""

import json

import pytest

pytest.importorskip("torch", reason="the extra 'baselines' is not installed")
pytest.importorskip("transformers", reason="the extra 'baselines' is not installed")

import numpy as np
import torch
import transformers
from nlihub.baselines.runs.config import HyperParameters, RunConfig
from nlihub.baselines.runs.data import read_run_rows
from nlihub.baselines.runs.execute import execute_run
from nlihub.baselines.systems.encoders import Encoder
from nlihub.baselines.systems.pretrained import load_config_and_tokenizer
from nlihub.baselines.training.batches import EncodedRows
from nlihub.baselines.training.execution import Execution
from nlihub.loaders.errors import ModelError, SourceNotFoundError
from tiny_models import LABELS, write_encoder, write_rows, write_tokenizer

import nlihub

SHORT = HyperParameters(learning_rate=1e-3, batch_size=16, max_epochs=1, max_length=32)


@pytest.fixture
def rows(tmp_path):
    return write_rows(tmp_path / "rows.jsonl", 32)


def config_of(model, rows, **changes):
    settings = {"model": str(model), "train": str(rows), "options": SHORT} | changes
    return RunConfig("x", "encoder", settings.pop("tests", (str(rows),)), **settings)


@pytest.mark.slow
def test_real_rows_that_people_labelled_train_an_encoder(scinli_human, scinli_release, tmp_path):
    """Of SciNLI 2,000 to train on and 2,000 to compare epochs on; scored on its 4,000 test rows."""
    model = write_encoder(tmp_path / "encoder")
    config = config_of(model, "scinli/human", validation="scinli/human", tests=("scinli",))
    found = nlihub.baselines.run(config, tmp_path / "run", folder=scinli_human.parent, on_cpu=True)
    [[evaluation]] = [list(run["evaluations"].values()) for run in found]
    assert (evaluation["dataset"]["name"], evaluation["dataset"]["rows"]) == ("scinli", 4000)
    assert 0.05 < evaluation["metrics"]["nli_report"]["macro_f1"] < 0.6
    record = json.loads((tmp_path / "run" / "seed-1" / "record.json").read_text())
    assert record["data"]["train"]["rows"] == 2000


def test_a_pretrained_part_of_the_head_stays(rows, tmp_path):
    """ModernBERT's head has a layer that comes from its training on masked words."""
    folder = tmp_path / "modern"
    tokenizer = write_tokenizer(folder)
    settings = transformers.ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        pad_token_id=0,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
    )
    torch.manual_seed(5)
    pretrained = transformers.AutoModelForMaskedLM.from_config(settings)
    pretrained.save_pretrained(folder)
    kept, drawn = (
        Encoder(config_of(folder, rows, new_head=new_head), LABELS).inner
        for new_head in (False, True)
    )
    assert torch.equal(kept.head.dense.weight, pretrained.head.dense.weight)
    assert not torch.equal(drawn.head.dense.weight, pretrained.head.dense.weight)
    assert torch.equal(kept.model.layers[0].mlp.Wi.weight, drawn.model.layers[0].mlp.Wi.weight)
    again = Encoder(config_of(folder, rows), LABELS).inner
    assert torch.equal(kept.classifier.weight, again.classifier.weight)


def write_bert(folder, words, **settings):
    """An old repository: a list of words and a configuration, and what else is given."""
    folder.mkdir()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *words]) + "\n")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    if settings:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return str(folder)


def test_a_cased_vocabulary_is_used_as_such(tmp_path):
    """Where the repository does not say so, as SciBERT's."""
    cased = write_bert(tmp_path / "cased", ["The", "the", "DNA", "Cell", "cell", "of"])
    uncased = write_bert(tmp_path / "uncased", ["the", "dna", "cell", "of"])
    said = write_bert(tmp_path / "said", ["The", "the", "DNA", "dna", "of"], do_lower_case=True)
    lower = ["the", "dna", "of"]
    for name, expected in ((cased, ["The", "DNA", "of"]), (uncased, lower), (said, lower)):
        _, tokenizer = load_config_and_tokenizer(name, None)
        assert tokenizer.tokenize("The DNA of") == expected


def write_gpt2(folder, kind, **labels):
    """A model whose configuration names no padding, though its tokenizer has some."""
    tokenizer = write_tokenizer(folder)
    settings = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=2, n_head=2, **labels
    )
    kind.from_config(settings).save_pretrained(folder)
    return folder


def test_a_model_that_knows_no_padding_takes_that_of_its_tokenizer(rows, tmp_path):
    """GPT-2 looks for a row's last token by the padding in its own configuration."""
    folder = write_gpt2(tmp_path / "gpt2", transformers.AutoModel)
    run = execute_run(config_of(folder, rows), tmp_path / "run", Execution())
    assert run.is_done
    assert json.loads((run.checkpoint / "config.json").read_text())["pad_token_id"] == 0


def test_a_classifier_that_knows_no_padding_is_tested_too(rows, tmp_path):
    ids = dict(enumerate(LABELS))
    labels = {"id2label": ids, "label2id": {label: id_ for id_, label in ids.items()}}
    kind = transformers.AutoModelForSequenceClassification
    folder = write_gpt2(tmp_path / "gpt2", kind, **labels)
    config = RunConfig(
        "z", "zero-shot", (str(rows),), model=str(folder), options=HyperParameters(max_length=32)
    )
    assert execute_run(config, tmp_path / "run", Execution()).is_done


def test_a_head_of_another_task_is_drawn_anew(rows, tmp_path):
    """Though it has as many tags as the dataset has labels, and the name of our head."""
    model = write_encoder(tmp_path / "m", labels=list(LABELS))
    settings = transformers.AutoConfig.from_pretrained(model)
    tagger = transformers.AutoModelForTokenClassification.from_config(settings)
    tagger.save_pretrained(model)
    made = Encoder(config_of(model, rows), LABELS).inner
    assert not torch.equal(made.classifier.weight, tagger.classifier.weight)
    assert torch.equal(
        made.bert.embeddings.word_embeddings.weight, tagger.bert.embeddings.word_embeddings.weight
    )


def test_an_encoder_that_lacks_a_layer_is_refused(rows, tmp_path):
    model = write_encoder(tmp_path / "m")
    settings = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 5}))
    with pytest.raises(ModelError, match=r"lacks weights: bert\.encoder\.layer\.4"):
        Encoder(config_of(model, rows), LABELS)


def test_a_classifier_of_another_size_than_it_says_is_refused(rows, tmp_path):
    model = write_encoder(tmp_path / "m", labels=["entailment", "neutral"])
    settings = json.loads((model / "config.json").read_text())
    ids = {str(id_): label for id_, label in enumerate(LABELS)}
    labels = {"id2label": ids, "label2id": {label: int(id_) for id_, label in ids.items()}}
    (model / "config.json").write_text(json.dumps(settings | labels))
    with pytest.raises(ModelError, match=r"lacks weights: classifier\.bias"):
        Encoder(config_of(model, rows), LABELS)


def test_a_folder_that_is_not_there_is_named(rows):
    with pytest.raises(SourceNotFoundError, match=r"The model folder \./nowhere does not exist"):
        Encoder(config_of("./nowhere", rows), LABELS)


def test_cutting_leaves_no_trace_in_the_tokenizer_that_is_kept(rows, tmp_path):
    options = HyperParameters(max_length=12)
    encoder = Encoder(config_of(write_encoder(tmp_path / "m"), rows, options=options), LABELS)
    gold = read_run_rows(str(rows), "train")
    assert int(encoder.encode(gold).lengths.max()) == 12
    n_long = sum(
        len(f"{row['premise']} {row['hypothesis']}".split()) + 3 > 12
        for row in map(json.loads, rows.read_text().splitlines())
    )
    assert 0 < n_long < 32
    assert encoder.facts()["truncated"]["rows.jsonl"] == n_long
    (tmp_path / "saved").mkdir()
    encoder.save(tmp_path / "saved")
    kept = json.loads((tmp_path / "saved" / "tokenizer.json").read_text())
    assert (kept["truncation"], kept["padding"]) == (None, None)


def test_damaged_weights_are_named(rows, tmp_path):
    model = write_encoder(tmp_path / "m")
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(SourceNotFoundError, match=r"The model .* cannot be loaded"):
        Encoder(config_of(model, rows), LABELS)


def test_a_classifier_without_its_head_is_no_classifier(rows, tmp_path):
    model = write_encoder(tmp_path / "m", labels=list(LABELS))
    bare = transformers.AutoModel.from_pretrained(model)
    settings = json.loads((model / "config.json").read_text())
    bare.save_pretrained(model)
    (model / "config.json").write_text(json.dumps(settings))  # which still says that it has one
    zero_shot = RunConfig("z", "zero-shot", (str(rows),), model=str(model))
    with pytest.raises(ModelError, match=r"lacks weights: classifier\.bias, classifier\.weight"):
        execute_run(
            RunConfig(**{**zero_shot.__dict__, "options": HyperParameters(max_length=32)}),
            tmp_path / "run",
            Execution(),
        )


def test_an_encoder_alone_is_sent_to_be_trained(rows, tmp_path):
    """Before it is asked what its labels are called."""
    model = write_encoder(tmp_path / "m")
    options = HyperParameters(max_length=32)
    config = RunConfig("z", "zero-shot", (str(rows),), model=str(model), options=options)
    with pytest.raises(ModelError, match=r"is no classifier \(Bert.*nlihub baseline finetune"):
        execute_run(config, tmp_path / "run", Execution())


def test_what_was_pretrained_is_recorded(rows, tmp_path):
    model = write_encoder(tmp_path / "m")
    run = execute_run(config_of(model, rows), tmp_path / "run", Execution())
    assert run.read_json("record.json")["pretrained"] == {
        "commit": None,  # a folder has none
        "tokenizer": "TokenizersBackend",
        "n_tokens": 44,
        "lower_cases": False,
    }


def test_padding_stays_within_what_the_model_reads():
    ids = [np.full(57, 5), np.full(3, 6)]
    encoded = EncodedRows({"input_ids": ids}, {"input_ids": 0}, np.zeros(2), limit=60)
    assert encoded.batch(np.array([0, 1]), multiple=16)["input_ids"].shape == (2, 60)
    assert encoded.batch(np.array([1]), multiple=16)["input_ids"].shape == (1, 16)


@pytest.mark.slow
def test_a_batch_too_large_for_memory_is_tested_in_parts(rows, tmp_path, monkeypatch):
    from nlihub.baselines.training import predict
    from nlihub.loaders.errors import TrainingError

    config = config_of(write_encoder(tmp_path / "m", labels=list(LABELS)), rows, n_shots=None)
    whole = execute_run(config, tmp_path / "whole", Execution())
    real, sizes = predict._outputs, []

    def small(model, encoded, batch, length, execution):
        sizes.append(len(batch))
        if len(batch) > limit:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return real(model, encoded, batch, length, execution)

    monkeypatch.setattr(predict, "_outputs", small)
    limit = 10
    parts = execute_run(config, tmp_path / "parts", Execution())
    assert sizes == [32, 16, 8, 8, 8, 8]  # what did not go is not tried again
    found = [run.read_json("metrics.json")["evaluations"] for run in (whole, parts)]
    assert found[0] == found[1]
    limit = 0
    with pytest.raises(TrainingError, match=r"The model and one row of \d+ tokens do not fit"):
        execute_run(config, tmp_path / "none", Execution())
