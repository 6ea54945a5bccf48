"""Predictions joined to a dataset by id, and scored: in Python and on the command line."""

import dataclasses
import json
import os
import re
import subprocess
import sys

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from command_line import WITHOUT_TRANSFORMERS
from command_line import run_command as run
from made_up_runs import make_gold
from nlihub.baselines.evaluation.predictions import find_better_order
from nlihub.baselines.evaluation.scoring import score_predictions
from nlihub.loaders.errors import (
    NLIHubError,
    PredictionsError,
    SchemaError,
    SourceNotFoundError,
    UnknownNameError,
    UsageError,
)
from nlihub.metrics import METRICS, functional
from nlihub.metrics.inputs.files import read_input_file
from scipy.optimize import linear_sum_assignment

import nlihub

LABELS = ["entailment", "neutral", "contradiction"]


@pytest.fixture(scope="module")
def rows(built):
    return pq.read_table(built / "default" / "test-00000-of-00001.parquet")


def predict(rows, seed, probabilities=True):
    """Predictions that are often right, in another order than the dataset's."""
    rng = np.random.default_rng(seed)
    gold = rows["label"].to_numpy()
    found = np.where(rng.random(len(gold)) < 0.7, gold, (gold + rng.integers(1, 3, len(gold))) % 3)
    table = {"id": rows["id"], "prediction": [LABELS[i] for i in found], "note": ["x"] * len(gold)}
    if probabilities:
        matrix = np.full((len(gold), 3), 0.1)
        matrix[np.arange(len(gold)), found] = 0.8
        table |= {f"probability_{label}": matrix[:, i] for i, label in enumerate(LABELS)}
    return pa.table(table).take(rng.permutation(len(gold)))


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_scores_are_those_of_the_metrics(built, rows, tmp_path, ending):
    predictions = predict(rows, 0)
    path = write(predictions, tmp_path / f"p{ending}")
    found = nlihub.score(path, str(built), per_group=True)
    assert found["dataset"]["name"] == "open_spacenli"
    assert (found["dataset"]["config"], found["dataset"]["split"]) == ("default", "test")
    assert list(found["metrics"]) == ["nli_report", "pattern_accuracy", "cartography"]
    by_id = dict(
        zip(predictions["id"].to_pylist(), predictions["prediction"].to_pylist(), strict=True)
    )
    ordered = [by_id[i] for i in rows["id"].to_pylist()]
    signature = found["metrics"]["pattern_accuracy"].pop("signature")
    assert "|dataset:open_spacenli@1.0.0/default/test,33000," in signature
    expected = functional.pattern_accuracy(
        ordered,
        rows["label"],
        rows["group"],
        categories=rows["category"],
        labels=LABELS,
        thresholds=[0.5, 0.67, 0.9, 0.95, 1.0],
        per_group=True,
    )
    assert signature.startswith(expected.pop("signature"))
    assert found["metrics"]["pattern_accuracy"] == expected
    report = functional.nli_report(ordered, rows["label"], labels=LABELS)
    assert found["metrics"]["nli_report"]["macro_f1"] == report["macro_f1"]
    assert found["metrics"]["cartography"]["n_samples"] == rows.num_rows


def test_ids_of_labels_will_do_and_probabilities_may_be_missing(built, rows, tmp_path):
    names = predict(rows, 0, probabilities=False)
    ids = pa.array([LABELS.index(label) for label in names["prediction"].to_pylist()])
    numbers = names.set_column(1, "prediction", ids)
    found = [
        nlihub.score(write(table, tmp_path / f"{i}.csv"), str(built))["metrics"]
        for i, table in enumerate((names, numbers))
    ]
    assert found[0] == found[1]
    assert "cartography" not in found[0]


@pytest.mark.parametrize(("n_rows", "is_told"), [(60, False), (4_000, True)])
def test_two_labels_for_each_other_are_noticed_where_rows_tell(n_rows, is_told):
    """By a system that is right in half of the rows, of four labels: fifteen points are lost."""
    rng = np.random.default_rng(3)
    references = np.arange(n_rows) % 4
    wrong = (references + rng.integers(1, 4, n_rows)) % 4
    codes = np.where(rng.random(n_rows) < 0.5, references, wrong)
    labels = ["a", "b", "c", "d"]
    swapped = np.array([1, 0, 2, 3])[codes]
    found = find_better_order(swapped, references, labels)
    assert (found is not None) == is_told
    if found is not None:
        order, now, then = found
        assert order == ["b", "a", "c", "d"]
        assert 0.1 < then - now < 0.2
    assert find_better_order(codes, references, labels) is None


@pytest.mark.parametrize("n_labels", [2, 8, 9])
def test_the_best_of_all_orders_is_found_where_labels_are_few(n_labels):
    """As an assignment that scipy solves; more than eight labels are left as they are."""
    rng = np.random.default_rng(n_labels)
    order, labels = rng.permutation(n_labels)[::-1], [f"label {n}" for n in range(n_labels)]
    references = rng.integers(0, n_labels, 2_000)
    wrong = rng.integers(0, n_labels, 2_000)
    codes = np.argsort(order)[np.where(rng.random(2_000) < 0.4, references, wrong)]
    found = find_better_order(codes, references, labels)
    if n_labels == 9:
        assert found is None
        return
    counts = np.zeros((n_labels, n_labels), int)
    np.add.at(counts, (codes, references), 1)
    _, best = linear_sum_assignment(counts, maximize=True)
    assert found is not None
    assert found[0] == [labels[number] for number in best] == [labels[n] for n in order]


def test_ids_in_another_order_of_labels_are_noticed(built, rows, tmp_path):
    """The example of NLI models whose first id is contradiction."""
    names = predict(rows, 0, probabilities=False)
    order = LABELS[::-1]
    ids = pa.array([order.index(label) for label in names["prediction"].to_pylist()])
    path = write(names.set_column(1, "prediction", ids), tmp_path / "swapped.csv")
    wrong, right = (
        nlihub.score(path, str(built), model_labels=given) for given in ((), tuple(order))
    )
    expected = nlihub.score(write(names, tmp_path / "names.csv"), str(built))
    assert right["metrics"] == expected["metrics"]
    told = "are ids, read as 0 entailment, 1 neutral, 2 contradiction."
    assert told in wrong["notes"][0]
    assert "read as 0 contradiction, 1 neutral, 2 entailment." in right["notes"][0]
    now, then = (found["metrics"]["nli_report"]["accuracy"] for found in (wrong, right))
    told = f"swapped.csv: with --model-labels {','.join(order)} the accuracy would be "
    told += f"{100 * then:.1f} % instead of {100 * now:.1f} %. Compare the model's own order"
    told += ", such as id2label of its config.json."
    assert told in wrong["notes"]
    assert not any("--model-labels" in note for note in right["notes"] + expected["notes"])
    # Named in a third order, the ids lead to the same advice.
    other = nlihub.score(path, str(built), model_labels=[LABELS[1], LABELS[0], LABELS[2]])
    assert any(f"with --model-labels {','.join(order)} the" in note for note in other["notes"])
    swapped = pa.array([LABELS[i] for i in ids.to_pylist()])
    named = write(names.set_column(1, "prediction", swapped), tmp_path / "named.csv")
    notes = nlihub.score(named, str(built))["notes"]
    told = "with contradiction for entailment, entailment for contradiction the accuracy"
    assert any(told in note for note in notes)
    done = run("score", path, "--dataset", built, "--model-labels", ",".join(order))
    assert f"{then:.4f}" in done.stdout or f"{100 * then:.2f}" in done.stdout
    with pytest.raises(PredictionsError, match="these predictions are no ids"):
        nlihub.score(named, str(built), model_labels=order)
    with pytest.raises(UsageError, match="expected those of the dataset, entailment, neutral"):
        nlihub.score(path, str(built), model_labels=["yes", "no", "perhaps"])


def test_poor_predictions_are_no_other_order(built, rows, tmp_path):
    gold = rows["label"].to_numpy()
    guesses = {
        "always": np.zeros_like(gold),
        "chance": np.random.default_rng(0).integers(0, 3, len(gold)),
        "few": np.where(np.arange(len(gold)) < 40, (gold + 1) % 3, gold),
    }
    for name, codes in guesses.items():
        table = pa.table({"id": rows["id"], "prediction": codes})
        notes = nlihub.score(write(table, tmp_path / f"{name}.csv"), str(built))["notes"]
        assert len(notes) == 1, notes  # what the ids were read as


def test_labels_in_other_capitals_are_pointed_out(built, rows, tmp_path):
    names = predict(rows, 0, probabilities=False)
    loud = pa.array([name.upper() for name in names["prediction"].to_pylist()])
    path = write(names.set_column(1, "prediction", loud), tmp_path / "loud.csv")
    with pytest.raises(PredictionsError, match="capitals and blanks have to be the same"):
        nlihub.score(path, str(built))


def in_memory(kind, table):
    """Predictions as people have them at hand; a column is in the order of the split."""
    column = table["prediction"].to_pylist()
    if kind == "tensor":
        torch = pytest.importorskip("torch")
        return torch.tensor([LABELS.index(label) for label in column])
    return {
        "list": column,
        "tuple": tuple(column),
        "array": np.array(column),
        "series": pd.Series(column),
        "arrow": table["prediction"],
        "frame": table.to_pandas(),
        "table": table,
        "mapping": table.to_pydict(),
        "dataset": datasets.Dataset(table),
    }[kind]


@pytest.mark.parametrize("kind", ["list", "tuple", "array", "series", "arrow", "tensor"])
def test_a_column_of_predictions_is_scored_in_the_order_of_the_split(built, rows, tmp_path, kind):
    tables = [predict(rows, seed).sort_by("id") for seed in range(2)]
    order = np.argsort(np.argsort(rows["id"].to_pylist()))
    tables = [table.take(order).select(["id", "prediction"]) for table in tables]
    files = [write(table, tmp_path / f"{seed}.csv") for seed, table in enumerate(tables)]
    expected = nlihub.score(files[0], str(built), against=files[1])
    given = [in_memory(kind, table) for table in tables]
    found = nlihub.score(given[0], str(built), against=given[1])
    assert found["metrics"] == expected["metrics"]
    assert (found["predictions"], found["against"]) == (["predictions"], ["other predictions"])
    with pytest.raises(PredictionsError, match=r"5 predictions; expected one for each of the"):
        nlihub.score(given[0][:5], str(built))


@pytest.mark.parametrize("kind", ["frame", "table", "mapping", "dataset"])
def test_a_table_of_predictions_is_scored_by_its_ids(built, rows, tmp_path, kind):
    tables = [predict(rows, seed) for seed in range(2)]
    files = [write(table, tmp_path / f"{seed}.parquet") for seed, table in enumerate(tables)]
    expected = nlihub.score(files[0], str(built), against=files[1])
    given = [in_memory(kind, table) for table in tables]
    found = nlihub.score(given[0], str(built), against=given[1])
    assert found["metrics"] == expected["metrics"]
    assert found["notes"][0] == "predictions: these columns are not used: note."
    if kind != "mapping":
        two = nlihub.score([given[0], files[1]], str(built))
        assert two.systems == {"predictions 1": ["predictions 1"], "1": ["1.parquet"]}
        of_files = nlihub.score(files, str(built))
        assert [s.mean for s in two.scores] == [s.mean for s in of_files.scores]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "There are no predictions"),
        (["a.csv", "b.JSONL"], "There is no file a.csv"),
        (["a.csv", "entailment"], "2 predictions; expected one for each"),
        ("entailment", "expected a file that ends in"),
        ({"id": ["a"], "prediction": ["x", "y"]}, "expected length 1 but got length 2"),
        ({"id": ["a"]}, "the column prediction is missing"),
        (pd.DataFrame({0: ["a"], 1: ["x"]}), "the column prediction is missing; the columns are 0"),
        (np.zeros((2, 3)), r"has the shape \(2, 3\)"),
        (5, "is 5, a int, not a column"),
        ([{"id": "a", "prediction": "neutral"}], "holds rows; expected columns"),
    ],
)
def test_what_is_no_prediction_in_memory(given, message):
    with pytest.raises(NLIHubError, match=message) as caught:
        nlihub.score(given, "open_spacenli")
    assert "\n" not in str(caught.value)


def test_a_tensor_without_data_is_no_prediction():
    given = pytest.importorskip("torch").zeros(1, device="meta")
    for predictions in (given, {"id": ["a"], "prediction": given}):
        with pytest.raises(PredictionsError, match=r"that NumPy cannot read: [^\n]*$"):
            nlihub.score(predictions, "open_spacenli")


def test_an_empty_label_is_no_class(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label\na,neutral\nb,\n")
    with pytest.raises(SchemaError, match="a row has an empty label"):
        nlihub.score(["neutral", "neutral"], str(tmp_path / "gold.csv"))


def test_a_link_to_itself_is_no_file(built, tmp_path):
    path = tmp_path / "p.csv"
    path.symlink_to(path)
    with pytest.raises(UsageError, match=r"p\.csv is a link that leads back to itself"):
        nlihub.score(path, str(built))


def test_every_row_needs_one_prediction(built, rows, tmp_path):
    table = predict(rows, 0)
    n = rows.num_rows

    def refused(changed):
        with pytest.raises(PredictionsError) as caught:
            nlihub.score(write(changed, tmp_path / "p.parquet"), str(built))
        return str(caught.value)

    first = table["id"][0].as_py()
    assert f"1 id missing ({first})" in refused(table.slice(1))
    doubled = pa.concat_tables([table, table.slice(0, 1)])
    assert f"1 id more than once ({first})" in refused(doubled)
    ids = pa.array(["unknown", *table["id"].to_pylist()[1:]])
    text = refused(table.set_column(0, "id", ids))
    assert "1 id not in the dataset (unknown)" in text and "missing" in text
    assert f"one prediction for each of the {n:,} rows" in text
    more = pa.concat_tables([table, table.slice(0, 1).set_column(0, "id", pa.array(["unknown"]))])
    assert refused(more).endswith("Are these predictions for another --config or --split?")
    assert "the column id is missing" in refused(table.drop_columns(["id"]))
    assert "the column prediction is missing" in refused(table.drop_columns(["prediction"]))
    assert "expected strings" in refused(table.set_column(0, "id", pa.array(range(n))))
    nulls = pa.array([None, *table["id"].to_pylist()[1:]])
    assert "1 nulls" in refused(table.set_column(0, "id", nulls))


def test_predictions_that_are_no_labels(built, rows, tmp_path):
    table = predict(rows, 0)
    wrong = pa.array(["entails", *table["prediction"].to_pylist()[1:]])
    path = write(table.set_column(1, "prediction", wrong), tmp_path / "p.csv")
    message = r"p.csv: prediction: outside the label set in 1 of .* rows: 0 \('entails'\)"
    with pytest.raises(PredictionsError, match=message):
        nlihub.score(path, str(built))
    missing = table.drop_columns(["probability_neutral"])
    with pytest.raises(PredictionsError, match="probabilities of entailment, contradiction"):
        nlihub.score(write(missing, tmp_path / "p.csv"), str(built))
    sums = table.set_column(3, "probability_entailment", pa.array([0.5] * rows.num_rows))
    with pytest.raises(PredictionsError, match="do not sum to 1"):
        nlihub.score(write(sums, tmp_path / "p.csv"), str(built))
    for thresholds in ([95], 95, []):
        with pytest.raises(UsageError, match="thresholds"):
            nlihub.score(write(table, tmp_path / "p.csv"), str(built), thresholds=thresholds)
    path = write(table, tmp_path / "p.csv")
    found = nlihub.score(path, str(built), thresholds=0.95)["metrics"]["pattern_accuracy"]
    assert found["thresholds"] == [0.95]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_answers_that_are_missing(built, rows, tmp_path, ending):
    table = predict(rows, 0)
    answers = [None if i % 5 == 0 else a for i, a in enumerate(table["prediction"].to_pylist())]
    path = write(table.set_column(1, "prediction", pa.array(answers)), tmp_path / f"p{ending}")
    n, n_missing = rows.num_rows, answers.count(None)
    found = nlihub.score(path, str(built), against=write(table, tmp_path / "other.csv"))
    assert f"{path.name}: {n_missing:,} of {n:,} rows have no answer" in " ".join(found["notes"])
    assert "more probable" not in " ".join(found["notes"])  # than nothing
    by_id = dict(zip(table["id"].to_pylist(), answers, strict=True))
    ordered = [by_id[i] for i in rows["id"].to_pylist()]
    report = functional.nli_report(ordered, rows["label"], labels=LABELS)
    for metric in ("nli_report", "pattern_accuracy"):
        result = found["metrics"][metric]
        assert (result["n_unanswered"], result["n_other_unanswered"]) == (n_missing, 0)
        assert result["accuracy"] == report["accuracy"]
        assert f"|unanswered:{n_missing}" in result["signature"]
    assert found["metrics"]["nli_report"]["per_class"] == report["per_class"]
    assert found["metrics"]["cartography"]["n_samples"] == n  # which has all probabilities
    shown = run("score", str(path), "--dataset", str(built)).stdout
    assert re.search(rf"^without an answer +{n_missing}$", shown, re.MULTILINE)
    shown = run("score", str(tmp_path / "other.csv"), "--dataset", str(built)).stdout
    assert "without an answer" not in shown


def test_no_answer_to_any_row(built, rows, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(
        "".join(json.dumps({"id": i, "prediction": None}) + "\n" for i in rows["id"].to_pylist())
    )
    found = nlihub.score(path, str(built), confidence_level=0.9)["metrics"]
    assert found["nli_report"]["n_unanswered"] == rows.num_rows
    assert found["pattern_accuracy"]["pattern_accuracy"] == [0.0] * 5


def test_an_empty_field_of_csv_is_refused_with_the_way_to_say_it(built, rows, tmp_path):
    table = predict(rows, 0, probabilities=False)
    answers = pa.array([None, *table["prediction"].to_pylist()[1:]])
    path = write(table.set_column(1, "prediction", answers), tmp_path / "p.csv")
    message = r"in 1 of .* rows: 0 \(''\).* write null, in JSONL or Parquet"
    with pytest.raises(PredictionsError, match=message):
        nlihub.score(path, str(built))


def test_what_is_not_there(built, rows, tmp_path):
    path = write(predict(rows, 0), tmp_path / "p.csv")
    with pytest.raises(SourceNotFoundError, match="no file"):
        nlihub.score(tmp_path / "nothing.csv", str(built))
    with pytest.raises(UnknownNameError, match="split 'train'"):
        nlihub.score(path, str(built), split="train")
    with pytest.raises(UnknownNameError, match="projectiv"):
        nlihub.score(path, str(built), config="projectiv")
    with pytest.raises(UnknownNameError):
        nlihub.score(path, "open_spacenl")
    other = write(predict(rows, 1), tmp_path / "o.csv")
    with pytest.raises(UsageError, match="compares one file with another"):
        nlihub.score([path, other], str(built), against=write(predict(rows, 2), tmp_path / "q.csv"))
    with pytest.raises(PredictionsError, match="expected a file that ends in"):
        nlihub.score(write(predict(rows, 0), tmp_path / "p.txt"), str(built))


def test_configs_and_splits(built, rows, tmp_path):
    for config, split in (("projective", "test"), ("few_shot", "train")):
        table = pq.read_table(built / config / f"{split}-00000-of-00001.parquet")
        path = write(predict(table, 0), tmp_path / "p.parquet")
        found = nlihub.score(path, str(built), config=config, split=split)
        assert found["dataset"]["rows"] == table.num_rows
        assert found["metrics"]["nli_report"]["n_samples"] == table.num_rows


def test_a_run_is_given_once(built, rows, tmp_path):
    paths = [write(predict(rows, seed), tmp_path / f"{seed}.parquet") for seed in range(2)]
    for files, others in (
        (paths[:1] * 2, []),
        (paths[:1], paths[:1]),
        ({"a": paths[0], "b": paths[0]}, []),
    ):
        with pytest.raises(UsageError, match=r"0.parquet is given twice"):
            nlihub.score(files, str(built), against=others)
    with pytest.raises(UsageError, match="are those of one run"):
        nlihub.score(paths, str(built), per_group=True)


def test_what_may_not_be_meant_is_noted(built, rows, tmp_path):
    table = predict(rows, 0).drop_columns(["note"])
    assert nlihub.score(write(table, tmp_path / "p.csv"), str(built))["notes"] == []
    names = [n.replace("probability_", "prob_") for n in table.column_names]
    found = nlihub.score(write(table.rename_columns(names), tmp_path / "p.csv"), str(built))
    unused = "prob_entailment, prob_neutral, prob_contradiction"
    assert found["notes"] == [f"p.csv: these columns are not used: {unused}."]
    swapped = ["id", "prediction", *(f"probability_{LABELS[i]}" for i in (1, 0, 2))]
    found = nlihub.score(write(table.rename_columns(swapped), tmp_path / "p.csv"), str(built))
    n_wrong = sum(label != "contradiction" for label in table["prediction"].to_pylist())
    assert f"in {n_wrong:,} of {rows.num_rows:,} rows another label" in found["notes"][0]


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_a_fresh_sample_is_scored_like_a_dataset(tmp_path, ending):
    path = tmp_path / f"fresh{ending}"
    nlihub.sample("open_spacenli", path, seed=5, per_pattern=3)
    gold = read_input_file(path)
    names = gold["label"].to_pylist()
    if ending == ".parquet":
        names = [LABELS[i] for i in names]
    predictions = pa.table({"id": gold["id"], "prediction": names})
    found = nlihub.score(write(predictions, tmp_path / "p.csv"), str(path))
    ids = pa.array([LABELS.index(name) for name in names])  # in the dataset's order of labels
    numbered = write(predictions.set_column(1, "prediction", ids), tmp_path / "n.csv")
    assert nlihub.score(numbered, str(path))["metrics"] == found["metrics"]
    assert found["dataset"]["name"] == path.name
    assert list(found["metrics"]) == ["nli_report", "pattern_accuracy"]
    assert found["metrics"]["pattern_accuracy"]["pattern_accuracy"] == [1.0] * 5
    assert len(found["metrics"]["pattern_accuracy"]["by_category"]) == 4
    with pytest.raises(UsageError, match="has no config, split or sources"):
        nlihub.score(tmp_path / "p.csv", str(path), split="test")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["entailment", "neutral"], "labels may be .*contradiction.* or .*"),
        (["Entailment", "neutral", "contradiction", "entailment"], "'Entailment', beside"),
        (["entailment ", "neutral", "contradiction"], "'entailment ', beside"),
    ],
)
def test_labels_that_do_not_tell_their_set_are_refused(tmp_path, labels, message):
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "".join(json.dumps({"id": str(n), "label": x}) + "\n" for n, x in enumerate(labels))
    )
    table = pa.table({"id": list(map(str, range(len(labels)))), "prediction": labels})
    with pytest.raises(SchemaError, match=message):
        nlihub.score(table, str(gold))


def test_files_of_rows_of_other_kinds(tmp_path):
    named = pa.table({"id": list("abcd"), "prediction": ["x", "y", "x", "x"]})
    predictions = write(named, tmp_path / "p.csv")
    gold = tmp_path / "gold.csv"
    gold.write_text("id,label,group\na,x,1\nb,y,1\nc,x,2\nd,y,2\n")
    # Which of the two labels is the positive one, nobody has said.
    found = nlihub.score(predictions, str(gold))
    assert list(found["metrics"]) == ["nli_report"]
    assert "2 of 2 groups have rows of several labels, such as 1" in found["notes"][0]
    ids = write(named.set_column(1, "prediction", pa.array([0, 1, 0, 0])), tmp_path / "n.csv")
    with pytest.raises(PredictionsError, match="order of the labels is not known; give names"):
        nlihub.score(ids, str(gold))
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["y", "x"]),
            "group": datasets.Value("string"),
        }
    )
    rows = {"id": list("abcd"), "label": ["x", "y", "x", "y"], "group": list("1122")}
    ordered = tmp_path / "gold.parquet"
    datasets.Dataset.from_dict(rows, features=features).to_parquet(ordered)
    found = nlihub.score(predictions, str(ordered))["metrics"]
    assert found["consistency"]["n_wholly_solved"] == 1
    assert "positive:x" in found["consistency"]["signature"]
    unlabelled = pa.array([1, -1, 1, 0])
    table = pq.read_table(ordered)
    at = table.column_names.index("label")
    pq.write_table(table.set_column(at, table.field("label"), unlabelled), ordered)
    with pytest.raises(SchemaError, match="holds ids from -1 to 1; expected 0 to 1"):
        nlihub.score(predictions, str(ordered))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,x\na,x\n", "lacks the columns label"),
        ("id,label\na,1\n", "expected names of labels"),
        ("id,label\na,x,y\n", "3 fields, expected 2"),
        ("id,label\na,x\na,y\n", "1 id occurs more than once"),
        ("id,label\n,x\nb,y\n", "have an empty id"),
        ("id,label,group\na,x,\nb,y,1\n", "have an empty group"),
    ],
)
def test_files_that_are_no_rows(text, message, tmp_path):
    (tmp_path / "p.csv").write_text("id,prediction\na,x\n")
    (tmp_path / "gold.csv").write_text(text)
    with pytest.raises(SchemaError, match=message):
        nlihub.score(tmp_path / "p.csv", str(tmp_path / "gold.csv"))


@pytest.mark.parametrize("metadata", ["no json", "{}", '{"info": {"features": 7}}'])
def test_rows_with_metadata_of_some_other_kind(tmp_path, metadata):
    rows = pa.table({"id": ["a", "b"], "label": ["x", "y"]})
    rows = rows.replace_schema_metadata({"huggingface": metadata})
    pq.write_table(rows, tmp_path / "gold.parquet")
    (tmp_path / "p.csv").write_text("id,prediction\na,x\nb,y\n")
    found = nlihub.score(tmp_path / "p.csv", str(tmp_path / "gold.parquet"))
    assert found["metrics"]["nli_report"]["accuracy"] == 1.0


def test_rows_of_wrong_types(tmp_path):
    (tmp_path / "p.csv").write_text("id,prediction\na,x\n")
    for columns in (
        {"id": [["a"]], "label": ["x"]},
        {"id": [1], "label": ["x"]},
        {"id": pa.array([None], pa.string()), "label": ["x"]},
        {"id": ["a"], "label": pa.array([None], pa.string())},
        {"id": ["a"], "label": ["x"], "group": [["g"]]},
    ):
        pq.write_table(pa.table(columns), tmp_path / "gold.parquet")
        with pytest.raises(SchemaError, match=r"gold.parquet"):
            nlihub.score(tmp_path / "p.csv", str(tmp_path / "gold.parquet"))


def test_consistency_is_scored_where_a_dataset_asks_for_it():
    gold = make_gold("bionli", "full", 4)
    rows = gold.rows.set_column(1, "label", pa.array([1, 0, 1, 0]))
    rows = rows.set_column(2, "group", pa.array(["a", "a", "b", "b"]))
    predictions = pa.table({"prediction": ["entailment", "not_entailment"] * 2})
    other = pa.table({"prediction": ["entailment"] * 4})
    found = score_predictions(dataclasses.replace(gold, rows=rows), predictions, other)
    assert found["consistency"]["n_wholly_solved"] == 2
    assert found["consistency"]["comparison"]["accuracy"]["other"] == 0.5


def test_every_dataset_names_metrics_that_there_are():
    for name in nlihub.list_datasets():
        metrics = nlihub.describe(name)["metrics"]
        assert metrics and set(metrics) <= set(METRICS)


def test_on_the_command_line(built, rows, tmp_path):
    for i in range(3):
        write(predict(rows, i), tmp_path / f"{i}.csv")
    done = run("score", "0.csv", "--dataset", built, "--confidence-level", "0.9", cwd=tmp_path)
    assert done.returncode == 0
    for part in (
        "macro_f1",
        "pattern_accuracy 0.95",
        "by category",
        "directional",
        "confidence:0.9",
    ):
        assert part in done.stdout
    assert "by pattern" not in done.stdout
    done = run(
        "score", "0.csv", "--dataset", built, "--against", "1.csv", "--per-group", cwd=tmp_path
    )
    assert "|test:exchange|" in done.stdout and "by pattern" in done.stdout
    done = run("score", "0.csv", "1.csv", "--dataset", built, cwd=tmp_path)
    assert "macro_f1" in done.stdout and "*: the best" in done.stdout
    assert "\nNote: 0.csv: these columns are not used: note.\n" in done.stdout
    done = run("score", "0.csv", "1.csv", "--dataset", built, "--json", cwd=tmp_path)
    (tmp_path / "runs.json").write_text(done.stdout)
    done = run(
        "score", "0.csv", "--dataset", built, "--thresholds", "0.9,1", "--json", cwd=tmp_path
    )
    found = json.loads(done.stdout)
    assert found["metrics"]["pattern_accuracy"]["thresholds"] == [0.9, 1.0]
    (tmp_path / "0.json").write_text(done.stdout)
    plain = {"metrics": {"nli_report": found["metrics"]["nli_report"]}}
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    by = {"metrics": {"nli_report": {"by": {"category": {"a b": {"accuracy": 0.5}}}}}}
    (tmp_path / "by.json").write_text(json.dumps(by))
    (tmp_path / "short.csv").write_text("id,prediction\nx,neutral\n")
    done = run("score", "short.csv", "--dataset", built, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nlihub: short.csv: expected one prediction")
    assert (
        run("score", "0.csv", "--dataset", built, "--thresholds", "x", cwd=tmp_path).returncode == 2
    )

    done = run("plot", "pattern-accuracy", "0.json", "--output", "curve.svg", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "curve.svg\n")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    assert run("plot", "cartography", "0.json", "-o", "map.png", cwd=tmp_path).returncode == 0
    arguments = ["cartography", "0.json", "--color", "correctness", "-o", "map.svg"]
    assert run("plot", *arguments, cwd=tmp_path).returncode == 0
    assert "Correctness (% of samples)" in (tmp_path / "map.svg").read_text()
    arguments = ["breakdown", "by.json", "--by", "category", "-o", "bars.svg"]
    assert run("plot", *arguments, cwd=tmp_path).returncode == 0
    assert ">a b</text>" in (tmp_path / "bars.svg").read_text()
    for arguments, message in (
        (["patterns", "0.json", "-o", "x.png"], "the result has no 'groups'"),
        (["recall", "0.json", "-o", "x.png"], "no result of consistency"),
        (["breakdown", "0.json", "-o", "x.png"], "Score the predictions with --by COLUMN"),
        (["cartography", "plain.json", "-o", "x.png"], "It takes a column probability_LABEL"),
        (["patterns", "0.json", "--by", "x", "-o", "x.png"], "by belongs to pictures of breakdown"),
        (["consistency", "0.json", "-o", "x.png"], "holds no result of consistency"),
        (["cartography", "0.json", "-o", "x.gif"], "x.gif: expected a file that ends in"),
        (["curves", "0.json", "-o", "x.png"], 'Invalid value "curves" for KIND'),
        (
            ["categories", "0.json", "-o", "x.png"],
            "0: has the thresholds [0.9, 1.0]; expected 0.95",
        ),
        (["categories", "0.csv", "-o", "x.png"], "is not valid JSON"),
        (["categories", "nothing.json", "-o", "x.png"], "There is no file nothing.json"),
        (["cartography", "0.json", "0.json", "-o", "x.png"], "expected one each, all different"),
        (["cartography", "runs.json", "-o", "x.png"], "holds the scores of several systems"),
    ):
        done = run("plot", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
    assert not (tmp_path / "x.png").exists()


def test_results_saved_by_evaluate_can_be_drawn(tmp_path):
    import evaluate

    result = functional.consistency([1, 0], [1, 0], ["a", "a"])
    evaluate.save(tmp_path / "saved.json", **result)
    nlihub.plot("consistency", tmp_path / "saved.json", tmp_path / "x.svg", names=["A system"])
    assert "A system (100.0)" in (tmp_path / "x.svg").read_text()


BAD_FILES = {
    "ragged.csv": "id,prediction\n1,2,3\n",
    "empty.csv": "",
    "twice.csv": "id,id\n1,2\n",
    "rowless.csv": "id,prediction\n",
    "cut.jsonl": '{"id": "1"}\n{"id":\n',
    "number.jsonl": "5\n",
    "null.jsonl": "null\n",
    "deep.jsonl": "[" * 100_000,
    "mixed.jsonl": '{"id": "1"}\n{"id": 1}\n',
    "no.parquet": "PAR1",
    "bytes.csv": b"id,prediction\n\xff\xfe,1\n",
    "other.txt": "id,prediction\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_malformed_files_are_refused_by_name(name, tmp_path):
    text = BAD_FILES[name]
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(functional.MetricInputError, match=name):
        read_input_file(tmp_path / name)


def test_texts_stay_texts(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('\n{"id": "2020-01-01", "label": "2021-02-02", "x": 1}\n')
    (row,) = read_input_file(path).to_pylist()
    assert row == {"id": "2020-01-01", "label": "2021-02-02", "x": 1}
    path = tmp_path / "x.csv"
    path.write_text('id,prediction,group,n\n007,true,2020-01-01,1\n8,"a\nb",5,2\n')
    assert read_input_file(path).to_pylist() == [
        {"id": "007", "prediction": "true", "group": "2020-01-01", "n": 1},
        {"id": "8", "prediction": "a\nb", "group": "5", "n": 2},
    ]


def test_install_metrics_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_MODULES_CACHE", raising=False)
    # In a process of its own: evaluate reads HF_HOME at its import.
    command = [sys.executable, "-m", "nlihub", "install", "metrics", "--json"]
    environment = os.environ | WITHOUT_TRANSFORMERS
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scripts = json.loads(done.stdout)
    assert len(scripts) == 2 * len(METRICS)
    assert all(script.startswith(str(tmp_path / "home")) for script in scripts)
    done = run("install", "metrics", "--from", "x", cwd=tmp_path)
    assert (done.returncode, "metrics takes no source folder" in done.stderr) == (2, True)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    """As where matplotlib is not installed."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = functional.consistency([1, 0], [1, 0], ["a", "a"])
    (tmp_path / "x.json").write_text(json.dumps(result))
    done = run("plot", "consistency", "x.json", "-o", "x.png", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    message = "nlihub: Pictures need matplotlib, which comes with the extra nlihub[plots].\n"
    assert done.stderr == message


def test_a_split_is_scored_though_the_others_are_not_at_hand(scinli_release, tmp_path):
    rows = nlihub.load_dataset("scinli", split="validation", data_dir=scinli_release)
    names = rows.features["label"].names
    lines = [
        f"{key},{names[label]}\n" for key, label in zip(rows["id"], rows["label"], strict=True)
    ]
    (tmp_path / "p.csv").write_text("id,prediction\n" + "".join(lines))
    found = nlihub.score(tmp_path / "p.csv", "scinli", split="validation", folder=scinli_release)
    assert found["metrics"]["nli_report"]["macro_f1"] == 1.0
    assert found["dataset"]["rows"] == 2000
    again = nlihub.score(
        tmp_path / "p.csv", "nlihub/scinli", split="validation", folder=scinli_release
    )
    assert again == found
    with pytest.raises(FileNotFoundError, match="the source 'train' of scinli"):
        nlihub.score(tmp_path / "p.csv", "scinli", split="train", folder=scinli_release)
    with pytest.raises(KeyError, match=r"no split 'dev'\. Did you mean 'validation'"):
        nlihub.score(tmp_path / "p.csv", "scinli", split="dev", folder=scinli_release)
