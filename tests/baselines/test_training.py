"""The training loop and fine-tuned encoders, with tiny models on the processor."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="the extra 'baselines' is not installed")
pytest.importorskip("transformers", reason="the extra 'baselines' is not installed")

import torch
from nlihub.baselines.runs.config import HyperParameters, RunConfig, TrainingSubset
from nlihub.baselines.runs.data import draw_few_shot_rows, read_run_rows, take_subset
from nlihub.baselines.runs.execute import execute_run
from nlihub.baselines.runs.folder import RunFolder
from nlihub.baselines.training.batches import EncodedRows, prediction_batches, training_batches
from nlihub.baselines.training.execution import Execution
from nlihub.loaders.errors import (
    ModelError,
    OutputError,
    SchemaError,
    TrainingError,
    UnknownNameError,
    UsageError,
)
from tiny_models import LABELS, WORDS, write_encoder, write_rows

FAST = HyperParameters(
    learning_rate=3e-3, batch_size=16, max_epochs=3, patience=None, max_length=32
)
READ = HyperParameters(max_length=32)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for name, n_rows, start in (("train", 96, 0), ("validation", 40, 500), ("test", 48, 700)):
        write_rows(folder / f"{name}.jsonl", n_rows, start)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def config(rows, encoder):
    return RunConfig(
        "tiny",
        "encoder",
        (str(rows / "test.jsonl"),),
        model=str(encoder),
        train=str(rows / "train.jsonl"),
        validation=str(rows / "validation.jsonl"),
        options=FAST,
    )


def predictions(folder):
    [path] = (folder / "predictions").glob("*.parquet")
    return pq.read_table(path)


def probabilities(folder):
    table = predictions(folder)
    return np.stack([table[f"probability_{label}"].to_numpy() for label in LABELS], axis=1)


def texts_of(config):
    return [json.loads(line) for line in Path(config.tests[0]).read_text().splitlines()]


def log_of(folder):
    return [json.loads(line) for line in (folder / "training_log.jsonl").read_text().splitlines()]


# ------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("by_length", [True, False])
def test_every_row_is_in_one_batch(by_length):
    lengths = np.random.default_rng(0).integers(3, 90, 1000)
    batches = training_batches(lengths, 16, seed=1, epoch=1, by_length=by_length)
    assert sorted(np.concatenate(batches)) == list(range(1000))
    assert {len(batch) for batch in batches} == {16, 8}
    again = training_batches(lengths, 16, seed=1, epoch=1, by_length=by_length)
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))
    for seed, epoch in ((2, 1), (1, 2)):
        other = training_batches(lengths, 16, seed=seed, epoch=epoch, by_length=by_length)
        assert not np.array_equal(batches[0], other[0])


def test_batches_by_length_waste_little():
    lengths = np.random.default_rng(0).integers(20, 140, 5000)

    def waste(by_length):
        batches = training_batches(lengths, 16, 1, 1, by_length=by_length)
        padded = sum(len(batch) * lengths[batch].max() for batch in batches)
        return 1 - lengths.sum() / padded

    assert waste(True) < 0.05
    assert waste(False) > 0.3  # which shows that the first could fail


def test_prediction_batches_are_within_their_limits():
    lengths = np.array([5, 300, 7, 7, 6, 5, 400])
    batches = list(prediction_batches(lengths, max_tokens=350, max_rows=3))
    assert sorted(np.concatenate(batches)) == list(range(7))
    assert [len(batch) for batch in batches] == [1, 1, 3, 2]
    assert batches[0][0] == 6  # the longest first


def test_padding_goes_where_the_model_wants_it():
    ids = [np.array(row, int) for row in ([5, 6, 7], [8], [])]
    for left, first in ((False, [8, 0, 0]), (True, [0, 0, 8])):
        encoded = EncodedRows(
            {"input_ids": ids}, {"input_ids": 0}, np.zeros(3), "attention_mask", left
        )
        batch = encoded.batch(np.array([1, 0]))
        assert batch["input_ids"].tolist() == [first, [5, 6, 7]]
        assert batch["attention_mask"].tolist() == [[int(v > 0) for v in first], [1, 1, 1]]
        assert encoded.batch(np.array([1]), multiple=8)["input_ids"].shape == (1, 8)
        assert encoded.batch(np.array([2]))["input_ids"].tolist() == [[0]]  # never empty


# ---------------------------------------------------------------------------------------- runs


def test_a_run_learns_and_leaves_what_it_promises(config, tmp_path):
    told = []
    run = execute_run(
        replace(config, options=replace(FAST, max_epochs=15)),
        tmp_path / "run",
        Execution(),
        tell=told.append,
    )
    assert {path.name for path in run.path.iterdir()} == {
        ".lock",
        "checkpoint",
        "config.json",
        "dynamics.parquet",
        "metrics.json",
        "predictions",
        "record.json",
        "training_log.jsonl",
    }
    [evaluation] = run.read_json("metrics.json")["evaluations"].values()
    assert evaluation["metrics"]["nli_report"]["accuracy"] > 0.9, told
    assert evaluation["n_unanswered"] == 0
    assert "labels:contrasting,reasoning" in evaluation["metrics"]["nli_report"]["signature"]
    found = probabilities(run.path)
    assert np.allclose(found.sum(axis=1), 1)
    best = [LABELS[index] for index in found.argmax(axis=1)]
    assert predictions(run.path)["prediction"].to_pylist() == best
    record = run.read_json("record.json")
    assert record["status"] == "done"
    assert record["n_train"] == 96
    assert record["data"]["train"]["digest"].startswith("sha256:")
    assert record["versions"]["torch"] == torch.__version__
    assert 0 < record["n_trained"] == record["n_parameters"]
    assert record["best_epoch"] <= record["n_epochs"] == 15
    log = log_of(run.path)
    best_entry = max(log, key=lambda entry: entry["validation"]["macro_f1"])
    assert best_entry["epoch"] == record["best_epoch"]  # the first of the best
    dynamics = pq.read_table(run.path / "dynamics.parquet")
    assert dynamics.num_rows == 15 * 96
    assert not np.isnan(dynamics["probability"].to_numpy()).any()
    assert any("epoch 15" in line for line in told)


def test_the_checkpoint_is_the_model_that_was_tested(config, tmp_path):
    """The checkpoint is that of the best epoch, and plain transformers can read it."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    run = execute_run(config, tmp_path / "run", Execution())
    model = AutoModelForSequenceClassification.from_pretrained(run.checkpoint).eval()
    tokenizer = AutoTokenizer.from_pretrained(run.checkpoint)
    assert list(model.config.id2label.values()) == list(LABELS)
    texts = texts_of(config)
    inputs = tokenizer(
        [text["premise"] for text in texts],
        [text["hypothesis"] for text in texts],
        padding=True,
        return_tensors="pt",
    )
    with torch.no_grad():
        found = torch.softmax(model(**inputs).logits.double(), dim=1).numpy()
    assert np.allclose(found, probabilities(run.path), atol=1e-6)


@pytest.mark.slow
def test_equal_runs_have_equal_results_and_another_seed_has_others(config, tmp_path):
    first = execute_run(config, tmp_path / "a", Execution())
    again = execute_run(config, tmp_path / "b", Execution())
    other = execute_run(replace(config, seed=2), tmp_path / "c", Execution())
    assert predictions(first.path).equals(predictions(again.path))
    assert not predictions(first.path).equals(predictions(other.path))


@pytest.mark.slow
def test_micro_batches_change_nothing_but_rounding(config, tmp_path):
    """Without dropout, which is drawn for each micro-batch."""
    without = tmp_path / "without-dropout"
    shutil.copytree(config.model, without)
    settings = json.loads((without / "config.json").read_text())
    settings |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (without / "config.json").write_text(json.dumps(settings))
    plain = replace(config, model=str(without))
    whole = execute_run(plain, tmp_path / "a", Execution())
    parts = execute_run(plain, tmp_path / "b", Execution(micro_batch=5))
    assert np.allclose(probabilities(whole.path), probabilities(parts.path), atol=1e-4)


@pytest.mark.slow
def test_the_reference_learns_the_same(config, tmp_path):
    options = replace(FAST, max_epochs=15)
    run = execute_run(
        replace(config, reference=True, options=options), tmp_path / "a", Execution(reference=True)
    )
    [evaluation] = run.read_json("metrics.json")["evaluations"].values()
    assert evaluation["metrics"]["nli_report"]["accuracy"] > 0.9
    assert run.read_json("record.json")["execution"]["micro_batch"] == 32


@pytest.mark.slow
def test_runs_of_several_precisions_share_a_process(config, tmp_path):
    probabilities_by_precision = {}
    for precision in ("fp32", "bf16", "fp32"):
        run = execute_run(config, tmp_path / precision, Execution(precision=precision))
        probabilities_by_precision[precision] = probabilities(run.path)
        assert run.read_json("record.json")["execution"]["precision"] == precision
    single, half = probabilities_by_precision.values()
    assert not np.array_equal(single, half)
    assert np.abs(single - half).mean() < 0.05


def test_short_training_is_not_compiled(monkeypatch):
    """Compiling takes about a minute, which only long training makes up for."""
    assert not Execution().compiles(10**9)  # there is no GPU
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert not Execution().compiles(32_000)
    assert Execution().compiles(500_000)
    assert Execution(compiled=True).compiles(1)
    assert not Execution(on_cpu=True).compiles(500_000)
    assert not Execution(reference=True).compiles(500_000)


@pytest.mark.slow
def test_early_stopping_has_the_patience_that_it_is_given(config, tmp_path):
    options = replace(FAST, max_epochs=30, patience=2, learning_rate=1e-9)
    run = execute_run(replace(config, options=options), tmp_path / "run", Execution())
    record = run.read_json("record.json")
    log = log_of(run.path)
    assert record["n_epochs"] == len(log) < 30
    assert [entry["is_best"] for entry in log[-3:]] == [True, False, False]
    assert record["best_epoch"] == len(log) - 2


def test_without_validation_the_last_epoch_is_taken(config, tmp_path):
    run = execute_run(replace(config, validation=None), tmp_path / "run", Execution())
    record = run.read_json("record.json")
    assert record["best_epoch"] == record["n_epochs"] == 3


@pytest.mark.slow
def test_two_processes_share_the_work(config, tmp_path):
    """Started twice, as a launcher does: every row is tested, and training comes out alike."""
    without = tmp_path / "without-dropout"
    shutil.copytree(config.model, without)
    settings = json.loads((without / "config.json").read_text())
    settings |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (without / "config.json").write_text(json.dumps(settings))
    config = replace(config, model=str(without), options=replace(FAST, batch_size=15))
    alone = execute_run(config, tmp_path / "alone", Execution())
    saved = tmp_path / "config.json"
    saved.write_text(json.dumps(config.as_json()))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    two = tmp_path / "two" / "seed-1"
    subprocess.run(
        [*launcher, "-m", "nlihub.baselines", "run", str(saved), "--cpu", "-o", str(two.parent)],
        check=True,
        capture_output=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert json.loads((two / "record.json").read_text())["execution"]["n_processes"] == 2
    assert np.allclose(probabilities(two), probabilities(alone.path), atol=1e-3)
    first, second = (
        pq.read_table(folder / "dynamics.parquet")["probability"].to_numpy()
        for folder in (two, alone.path)
    )
    assert np.allclose(first, second, atol=1e-3)


@pytest.mark.slow
def test_a_run_that_is_done_is_left_as_it_is(config, tmp_path):
    run = execute_run(config, tmp_path / "run", Execution())
    before = (run.path / "record.json").stat().st_mtime_ns
    told = []
    execute_run(config, run.path, Execution(), tell=told.append)
    assert (run.path / "record.json").stat().st_mtime_ns == before
    assert "done already" in told[0]


# ------------------------------------------------------------------------------------- encoders


def test_only_the_top_layers_and_the_head_are_trained(config, encoder, tmp_path):
    from safetensors.torch import load_file

    options = replace(FAST, n_trained_layers=3, special_tokens=("<re>", "<er>"))
    run = execute_run(replace(config, options=options), tmp_path / "run", Execution())
    before, after = (load_file(f / "model.safetensors") for f in (encoder, run.checkpoint))
    changed = {
        name
        for name, weights in after.items()
        if (old := before.get(name.removeprefix("bert."))) is not None
        and (old.shape != weights.shape or not torch.equal(old, weights))
    }
    layers = {name.split("layer.")[1].split(".")[0] for name in changed if "layer." in name}
    assert layers == {"1", "2", "3"}
    others = {name for name in changed if "layer." not in name}
    assert others == {"bert.embeddings.word_embeddings.weight"}  # which has two rows more
    words = "bert.embeddings.word_embeddings.weight"
    old = before[words.removeprefix("bert.")]
    assert torch.equal(after[words][: len(old)], old)
    assert len(after[words]) == len(old) + 2
    record = run.read_json("record.json")
    assert record["n_trained"] < record["n_parameters"]


def test_markers_become_tokens_of_their_own(rows, tmp_path):
    from nlihub.baselines.systems.encoders import Encoder

    path = tmp_path / "marked.jsonl"
    row = {"id": "a", "premise": "w1", "hypothesis": "<re> w2 <er> w3", "label": "contradiction"}
    path.write_text(json.dumps(row))
    model = write_encoder(tmp_path / "m")
    options = replace(FAST, special_tokens=("<re>", "<er>"))
    settings = RunConfig("x", "encoder", ("t",), model=str(model), train="t", options=options)
    made = Encoder(settings, LABELS)
    [ids] = made.encode(read_run_rows(str(path), "test")).columns["input_ids"]
    assert made.reader.tokenizer.convert_ids_to_tokens(ids) == (
        ["[CLS]", "w1", "[SEP]", "<re>", "w2", "<er>", "w3", "[SEP]"]
    )


def test_the_hypothesis_alone_is_all_that_is_seen(config, tmp_path):
    from nlihub.baselines.systems.encoders import Encoder

    made = Encoder(replace(config, view="hypothesis"), LABELS)
    gold = read_run_rows(config.tests[0], "test")
    ids = made.encode(gold).columns["input_ids"]
    hypotheses = gold.rows["hypothesis"].to_pylist()
    shown = [" ".join(made.reader.tokenizer.convert_ids_to_tokens(found)[1:-1]) for found in ids]
    assert shown == hypotheses


@pytest.mark.slow
def test_long_pairs_are_cut_and_counted(config, tmp_path):
    options = replace(FAST, max_length=10)
    run = execute_run(replace(config, options=options), tmp_path / "run", Execution())
    cut = run.read_json("record.json")["truncated"]
    texts = texts_of(config)
    lengths = [len(t["premise"].split()) + len(t["hypothesis"].split()) + 3 for t in texts]
    assert cut["test.jsonl"] == sum(length > 10 for length in lengths) > 0


def test_a_classifier_keeps_its_head_and_its_order(config, tmp_path):
    """Labels are told apart by name, whatever their ids are in the model."""
    turned = ["NEUTRAL", "Entailment", "Contrasting", "Reasoning"]
    model = write_encoder(tmp_path / "turned", labels=turned, seed=3)
    shots = replace(config, model=str(model), n_shots=None, options=replace(FAST, max_epochs=1))
    run = execute_run(shots, tmp_path / "run", Execution())
    kept = json.loads((run.checkpoint / "config.json").read_text())
    assert list(kept["id2label"].values()) == turned
    zero = execute_run(
        RunConfig("z", "zero-shot", config.tests, model=str(run.checkpoint), options=READ),
        tmp_path / "zero",
        Execution(),
    )
    assert np.allclose(probabilities(zero.path), probabilities(run.path), atol=1e-9)


def test_a_new_head_is_drawn_from_the_seed(config, tmp_path):
    from nlihub.baselines.systems.encoders import Encoder

    model = write_encoder(tmp_path / "m", labels=["a", "b", "c", "d"])
    settings = replace(config, model=str(model), new_head=True)
    heads = [
        Encoder(replace(settings, seed=seed), LABELS).inner.classifier.weight.detach()
        for seed in (1, 1, 2)
    ]
    assert torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[0], heads[2])
    own = Encoder(replace(settings, new_head=False, model_labels=LABELS), LABELS)
    assert not torch.equal(heads[0], own.inner.classifier.weight)
    assert torch.equal(
        own.inner.bert.embeddings.word_embeddings.weight,
        Encoder(settings, LABELS).inner.bert.embeddings.word_embeddings.weight,
    )


def test_xlnet_pads_before_the_text(config, tmp_path):
    model = write_encoder(tmp_path / "xlnet", kind="xlnet")
    settings = replace(config, model=str(model), options=replace(FAST, max_epochs=1))
    run = execute_run(settings, tmp_path / "run", Execution())
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    kept = AutoModelForSequenceClassification.from_pretrained(run.checkpoint).eval()
    tokenizer = AutoTokenizer.from_pretrained(run.checkpoint)
    row = texts_of(config)[0]
    with torch.no_grad():
        logits = kept(**tokenizer(row["premise"], row["hypothesis"], return_tensors="pt")).logits
    expected = torch.softmax(logits.double(), dim=1).numpy()
    assert np.allclose(expected, probabilities(run.path)[:1], atol=1e-5)


# ------------------------------------------------------------------------------------ zero-shot


@pytest.fixture(scope="module")
def three_way(tmp_path_factory):
    """A classifier of SNLI's kind, with its labels in an order of its own."""
    folder = tmp_path_factory.mktemp("model") / "three"
    return write_encoder(folder, labels=["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], seed=5)


def zero_shot(model, path, tmp_path, **changes):
    settings = RunConfig("z", "zero-shot", (str(path),), model=str(model), options=READ)
    return execute_run(replace(settings, **changes), tmp_path / "zero", Execution())


def raw_probabilities(model, path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    loaded = AutoModelForSequenceClassification.from_pretrained(model).eval()
    tokenizer = AutoTokenizer.from_pretrained(model)
    texts = [json.loads(line) for line in path.read_text().splitlines()]
    pairs = [text["premise"] for text in texts], [text["hypothesis"] for text in texts]
    with torch.no_grad():
        logits = loaded(**tokenizer(*pairs, padding=True, return_tensors="pt")).logits
    return torch.softmax(logits.double(), dim=1).numpy()


def test_labels_of_a_classifier_are_aligned_by_name(three_way, tmp_path):
    labels = ("entailment", "neutral", "contradiction")
    path = write_rows(tmp_path / "rows.jsonl", 30, labels=labels, groups=2)
    run = zero_shot(three_way, path, tmp_path)
    table, raw = predictions(run.path), raw_probabilities(three_way, path)
    for index, label in enumerate(("contradiction", "neutral", "entailment")):
        assert np.allclose(table[f"probability_{label}"].to_numpy(), raw[:, index], atol=1e-6)
    [evaluation] = run.read_json("metrics.json")["evaluations"].values()
    assert {"nli_report", "pattern_accuracy", "cartography"} <= set(evaluation["metrics"])


def test_a_three_way_classifier_tells_entailment_from_the_rest(three_way, tmp_path):
    labels = ("not_entailment", "entailment")
    path = write_rows(tmp_path / "rows.jsonl", 30, labels=labels)
    table = predictions(zero_shot(three_way, path, tmp_path).path)
    raw = raw_probabilities(three_way, path)
    assert np.allclose(table["probability_entailment"].to_numpy(), raw[:, 2], atol=1e-6)
    rest = table["probability_not_entailment"].to_numpy()
    assert np.allclose(rest, raw[:, :2].sum(axis=1), atol=1e-6)


def test_labels_that_cannot_be_aligned_are_refused(three_way, rows, tmp_path):
    with pytest.raises(ModelError, match=r"contradiction, neutral, entailment.*cannot be aligned"):
        zero_shot(three_way, rows / "test.jsonl", tmp_path)


def test_a_classifier_without_names_needs_them(tmp_path):
    labels = ("entailment", "neutral", "contradiction")
    path = write_rows(tmp_path / "rows.jsonl", 12, labels=labels)
    model = write_encoder(tmp_path / "m", labels=["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(ModelError, match="--model-labels"):
        zero_shot(model, path, tmp_path / "a")
    run = zero_shot(model, path, tmp_path / "b", model_labels=("neutral", *labels[::2]))
    raw = raw_probabilities(model, path)
    found = predictions(run.path)["probability_neutral"].to_numpy()
    assert np.allclose(found, raw[:, 0], atol=1e-6)


# ------------------------------------------------------------------------------------- few shots


def test_shots_are_drawn_of_every_group(tmp_path):
    path = write_rows(tmp_path / "pool.jsonl", 400, groups=5)
    pool = read_run_rows(str(path), "train")
    one, five = draw_few_shot_rows(pool, 1, seed=1), draw_few_shot_rows(pool, 5, seed=1)
    groups = pool.rows["group"].value_counts().to_pylist()
    counts = five.rows["group"].value_counts().to_pylist()
    assert [entry["counts"] for entry in counts] == [5] * len(groups)
    assert set(one.rows["id"].to_pylist()) <= set(five.rows["id"].to_pylist())
    assert not draw_few_shot_rows(pool, 0, seed=1).rows.num_rows
    again = draw_few_shot_rows(pool, 5, seed=1).rows["id"].to_pylist()
    assert again == five.rows["id"].to_pylist()
    assert again != draw_few_shot_rows(pool, 5, seed=2).rows["id"].to_pylist()
    backwards = path.with_name("backwards.jsonl")
    backwards.write_text("\n".join(reversed(path.read_text().splitlines())) + "\n")
    turned = draw_few_shot_rows(read_run_rows(str(backwards), "train"), 5, seed=1)
    assert set(turned.rows["id"].to_pylist()) == set(again)
    with pytest.raises(UsageError, match=r"shots from; g\d-\d has \d+ rows"):
        draw_few_shot_rows(pool, 99, seed=1)


def test_a_pool_without_groups_is_refused(rows):
    with pytest.raises(SchemaError, match="rows have no group"):
        draw_few_shot_rows(read_run_rows(str(rows / "train.jsonl"), "train"), 1, 1)


def test_without_shots_the_model_is_tested_as_it_is(config, tmp_path):
    model = write_encoder(tmp_path / "m", labels=list(LABELS), seed=3)
    path = write_rows(tmp_path / "pool.jsonl", 64, groups=2)
    settings = replace(config, model=str(model), train=str(path), validation=None, n_shots=0)
    run = execute_run(settings, tmp_path / "run", Execution())
    expected = raw_probabilities(model, Path(config.tests[0]))
    assert np.allclose(probabilities(run.path), expected, atol=1e-6)
    assert run.read_json("record.json")["n_epochs"] == 0


# ----------------------------------------------------------------------------------- cartography


@pytest.mark.slow
def test_subsets_follow_the_dynamics(config, tmp_path):
    run = execute_run(config, tmp_path / "all", Execution())
    table = pq.read_table(run.path / "dynamics.parquet")
    by_row = {}
    for id_, probability in zip(
        table["id"].to_pylist(), table["probability"].to_pylist(), strict=True
    ):
        by_row.setdefault(id_, []).append(probability)
    confidence = {id_: np.mean(values) for id_, values in by_row.items()}
    variability = {id_: np.std(values) for id_, values in by_row.items()}

    def ids(kind, share):
        subset = TrainingSubset(kind, share, "-")
        return (
            take_subset(read_run_rows(config.train, "train"), subset, run.path)
            .rows["id"]
            .to_pylist()
        )

    easy, hard, ambiguous = ids("easy", 0.25), ids("hard", 0.25), ids("ambiguous", 0.25)
    assert len(easy) == len(hard) == len(ambiguous) == 24
    by_confidence = sorted(by_row, key=confidence.get)
    assert set(hard) == set(by_confidence[:24])
    assert set(easy) == set(by_confidence[-24:])
    assert set(ambiguous) == set(sorted(by_row, key=variability.get)[-24:])
    assert set(ids("without_hardest", 0.25)) == set(by_row) - set(hard)
    part = replace(config, subset=TrainingSubset("easy", 0.25, "../all"))
    trained = execute_run(part, tmp_path / "easy", Execution())
    assert trained.read_json("record.json")["n_train"] == 24
    other = write_rows(tmp_path / "other.jsonl", 96, start=10)
    with pytest.raises(UsageError, match="was trained on other rows"):
        execute_run(replace(part, train=str(other)), tmp_path / "foreign", Execution())
    with pytest.raises(UsageError, match=r"has no dynamics\.parquet"):
        execute_run(
            replace(config, subset=TrainingSubset("easy", 0.25, "../none")),
            tmp_path / "x",
            Execution(),
        )


# -------------------------------------------------------------------------------------- bad input


def test_a_tokenizer_that_cannot_pad_is_refused(config, tmp_path):
    model = write_encoder(tmp_path / "m", pads=False)
    with pytest.raises(ModelError, match="no padding token"):
        execute_run(replace(config, model=str(model)), tmp_path / "run", Execution())


def test_more_tokens_than_the_model_reads_are_refused(config, tmp_path):
    options = replace(FAST, max_length=65)
    with pytest.raises(ModelError, match=r"reads at most 64 tokens, but max_length is 65"):
        execute_run(replace(config, options=options), tmp_path / "run", Execution())


def test_a_hypothesis_that_may_not_be_cut_is_named(config, tmp_path):
    options = replace(FAST, max_length=6, truncation="only_first")
    with pytest.raises(ModelError, match=r"The hypothesis of row r\d+ has \d+ tokens"):
        execute_run(replace(config, options=options), tmp_path / "run", Execution())


def test_a_model_that_is_not_there_is_named(config, tmp_path):
    with pytest.raises(FileNotFoundError, match="no-such-model"):
        execute_run(
            replace(config, model=str(tmp_path / "no-such-model")), tmp_path / "run", Execution()
        )


def test_a_head_with_other_labels_is_refused(config, three_way, tmp_path):
    with pytest.raises(ModelError, match="cannot be aligned"):
        execute_run(replace(config, model=str(three_way)), tmp_path / "run", Execution())


def test_rows_with_other_labels_are_refused(config, tmp_path):
    labels = ("entailment", "neutral", "contradiction")
    path = write_rows(tmp_path / "other.jsonl", 12, labels=labels)
    with pytest.raises(SchemaError, match=r"other\.jsonl \(test\) has the labels entailment"):
        execute_run(replace(config, tests=(str(path),)), tmp_path / "run", Execution())


def test_a_set_is_scored_in_its_own_label_order(tmp_path):
    """Which of two labels is the positive one is for the test rows to say, not for the training."""
    import pyarrow as pa
    from datasets import ClassLabel, Features, Value

    def write(path, names, n_rows):
        labels = ("not_entailment", "entailment")
        lines = write_rows(tmp_path / "plain.jsonl", n_rows, labels=labels).read_text()
        rows = [json.loads(line) for line in lines.splitlines()]
        features = Features(
            {**dict.fromkeys(("id", "premise", "hypothesis", "group"), Value("string"))}
            | {"label": ClassLabel(names=names)}
        )
        for index, row in enumerate(rows):
            row |= {"label": names.index(row["label"]), "group": f"g{index // 3}"}
        pq.write_table(pa.Table.from_pylist(rows, schema=features.arrow_schema), path)
        return str(path)

    train = write(tmp_path / "train.parquet", ["entailment", "not_entailment"], 48)
    test = write(tmp_path / "test.parquet", ["not_entailment", "entailment"], 30)
    model = write_encoder(tmp_path / "m")
    options = replace(FAST, max_epochs=1)
    config = RunConfig("x", "encoder", (test,), model=str(model), train=train, options=options)
    run = execute_run(config, tmp_path / "run", Execution())
    [found] = run.read_json("metrics.json")["evaluations"].values()
    table = predictions(run.path).to_pylist()
    gold = [row["label"] for row in pq.read_table(test).to_pylist()]
    said = [row["prediction"] == "entailment" for row in table]
    right = sum(a and b for a, b in zip(said, gold, strict=True))
    expected = 2 * right / (sum(said) + sum(gold))
    assert found["metrics"]["consistency"]["f1_positive"] == pytest.approx(expected)
    assert "positive:entailment" in found["metrics"]["consistency"]["signature"]


def test_a_test_file_may_lack_a_label(config, tmp_path):
    """Of labels that no dataset has, the largest set is taken."""
    four = ("alpha", "beta", "gamma", "delta")
    train = write_rows(tmp_path / "train.jsonl", 32, labels=four)
    test = write_rows(tmp_path / "test.jsonl", 12, labels=four)
    lines = [line for line in test.read_text().splitlines() if "delta" not in line]
    test.write_text("\n".join(lines) + "\n")
    plain = replace(config, train=str(train), validation=None, tests=(str(test),))
    run = execute_run(plain, tmp_path / "run", Execution())
    assert "probability_delta" in predictions(run.path).column_names


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_what_was_there(config, tmp_path):
    """The state that was kept is from before the loss went wrong."""
    path = tmp_path / "run"
    broken = replace(config, options=replace(FAST, learning_rate=1e30, max_grad_norm=None))
    with pytest.raises(
        TrainingError, match=r"The loss or a weight is not finite in epoch \d+, between steps"
    ):
        execute_run(broken, path, Execution(state_every_s=0.0))
    assert not RunFolder(path).is_done
    kept = torch.load(path / "resume.pt", weights_only=True)
    assert np.isfinite(kept["loss"])
    assert all(torch.isfinite(w).all() for w in kept["tensors"]["model"].values())


def test_weights_that_the_last_step_ruined_are_not_kept(config, tmp_path):
    """One step in one epoch: its loss is still a number, what it leaves is none."""
    options = replace(FAST, learning_rate=1e38, batch_size=96, max_epochs=1, max_grad_norm=None)
    with pytest.raises(TrainingError, match="is not finite"):
        execute_run(replace(config, options=options), tmp_path / "run", Execution())
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert not (tmp_path / "run" / "resume.pt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["torch", "cpu"])
def test_memory_that_runs_out_says_what_to_try(config, tmp_path, monkeypatch, kind):
    """As torch says it on a GPU, and as its allocator does on a processor."""
    from nlihub.baselines.training import loop

    real, calls = torch.nn.functional.cross_entropy, []

    def full(*arguments, **options):
        calls.append(1)
        if len(calls) > 8:  # in the second epoch
            if kind == "torch":
                raise torch.OutOfMemoryError("CUDA out of memory.")
            torch.empty(1 << 58)  # which no machine has
        return real(*arguments, **options)

    monkeypatch.setattr(loop.torch.nn.functional, "cross_entropy", full)
    path = tmp_path / "run"
    with pytest.raises(TrainingError, match=r"16 pairs at once: try --micro-batch 8") as caught:
        execute_run(config, path, Execution())
    assert str(path) in str(caught.value)
    monkeypatch.undo()
    execute_run(config, path, Execution())
    undisturbed = execute_run(config, tmp_path / "other", Execution())
    assert predictions(path).equals(predictions(undisturbed.path))


def test_a_folder_of_another_run_is_refused(config, tmp_path):
    run = execute_run(config, tmp_path / "run", Execution())
    before = (run.path / "record.json").read_bytes()
    with pytest.raises(OutputError, match="another run: seed is 1 there, 2 here"):
        execute_run(replace(config, seed=2), run.path, Execution())
    assert (run.path / "record.json").read_bytes() == before


def test_a_folder_of_something_else_is_refused(config, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(OutputError, match="not of a run"):
        execute_run(config, tmp_path / "mine", Execution())


def test_a_folder_where_another_process_works_is_refused(config, tmp_path):
    with (
        RunFolder.begin(tmp_path / "run", config),
        pytest.raises(OutputError, match="Another process"),
    ):
        execute_run(config, tmp_path / "run", Execution())


def test_a_damaged_state_is_named(config, tmp_path):
    path = tmp_path / "run"
    with RunFolder.begin(path, config):
        (path / "resume.pt").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(UsageError, match=r"resume\.pt is damaged"):
        execute_run(config, path, Execution())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, r"batch_size \(--batch-size\) is 0"),
        ({"learning_rate": float("nan")}, "--learning-rate. is nan"),
        ({"truncation": "middle"}, "truncation 'middle'"),
        ({"optimizer": "sgd"}, "optimizer 'sgd'"),
        ({"patience": 0}, "--patience. is 0"),
        ({"max_epochs": 2.5}, "--epochs. is 2.5; expected a whole number"),
        ({"learning_rate": float("inf")}, "expected a finite number"),
        ({"weight_decay": 0.1}, "the optimizer adam has none"),
    ],
)
def test_hyper_parameters_are_checked(changes, message):
    with pytest.raises((UsageError, UnknownNameError), match=message):
        HyperParameters(**changes)


def test_a_config_survives_json(config):
    full = replace(
        config,
        subset=TrainingSubset("easy", 0.3, "../a"),
        model_labels=("a", "b"),
        details={"x": [1]},
    )
    assert RunConfig.from_json(json.loads(json.dumps(full.as_json()))) == full
    with pytest.raises(UnknownNameError, match="Did you mean 'seed'"):
        RunConfig.from_json({**full.as_json(), "sed": 1})
    with pytest.raises(UsageError, match="not the config of a run"):
        RunConfig.from_json({"name": "x"})


def test_words_of_the_rows_are_known(rows):
    """So that the tests above learn from words and not from [UNK]."""
    words = set(" ".join((rows / "train.jsonl").read_text().split('"')[7::16]).split())
    assert words <= set(WORDS)
