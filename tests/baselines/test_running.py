"""The functions of ``nlihub.baselines``."""

import json
import subprocess
import sys

import pytest
from nlihub.loaders.errors import SourceNotFoundError, UnknownNameError, UsageError

import nlihub
from nlihub import baselines

HEAVY = ("torch", "datasets", "pyarrow", "numpy")


def test_importing_the_room_is_cheap():
    code = f"import sys, nlihub.baselines; print(sorted({set(HEAVY)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_functions_are_not_hidden_by_modules():

    assert set(baselines.__all__) <= set(dir(baselines))
    assert all(callable(getattr(baselines, name)) for name in baselines.__all__)
    with pytest.raises(AttributeError, match=r"'nlihub\.baselines' has no attribute 'trains'"):
        _ = baselines.trains


def test_presets_are_listed_as_json():
    presets = baselines.list_presets()
    assert presets == nlihub.baselines.list_presets() == json.loads(json.dumps(presets))
    assert presets["scinli-bert"]["seeds"] == [1, 2, 3]


def test_what_cannot_be_run_is_refused_at_once(tmp_path):
    for preset, options, error, message in (
        ("scinli-bart", {}, UnknownNameError, "Did you mean 'scinli-bert'"),
        ("scinli-bert", {"seeds": []}, UsageError, "seeds is empty"),
        ("scinli-lexicalized", {"seeds": [1, 2]}, UsageError, "does not depend on the seed"),
        ("scinli-bert", {"analysis": "art"}, UnknownNameError, "no analysis 'art'"),
        (
            "scinli-bert",
            {"analysis": "domain-shift", "shots": [1]},
            UsageError,
            "has no few-shot runs",
        ),
        ("scinli-lexicalized", {"analysis": "cartography"}, UsageError, "compares epochs"),
    ):
        with pytest.raises(error, match=message):
            baselines.run(preset, tmp_path / "runs", **options)
    assert not (tmp_path / "runs").exists()
    with pytest.raises(SourceNotFoundError, match="contains no runs"):
        baselines.report(tmp_path, tmp_path / "report")


def test_sentences_in_quotes_are_rows_of_tsv(tmp_path):
    """As rows to train and test on, and as predictions: 80 rows are 80 rows."""
    from nlihub.baselines.runs.data import read_run_rows

    texts = ['"Yes," he said {}.', '"A sentence {}."', '"Open {}', 'An "inner" one {}.']
    labels = ["entailment", "neutral", "contradiction"]
    rows = [(f"r{i}", texts[i % 4].format(i), f'"Q{i}"', labels[i % 3]) for i in range(80)]
    gold, answers = tmp_path / "gold.tsv", tmp_path / "answers.tsv"
    for path, label in ((gold, "label"), (answers, "prediction")):
        head = ("id", "premise", "hypothesis", label)
        path.write_text("".join("\t".join(row) + "\n" for row in (head, *rows)))
    for role in ("train", "test"):
        assert read_run_rows(str(gold), role).rows["premise"].to_pylist() == [r[1] for r in rows]
    found = nlihub.score(answers, str(gold))
    assert (found["dataset"]["rows"], found["metrics"]["nli_report"]["accuracy"]) == (80, 1.0)


def test_rows_as_scinli_releases_them_are_taken(tmp_path, releases):
    """With its names of columns, in TSV, and with its name for the validation rows."""
    from nlihub.baselines.runs.data import read_run_rows

    lines = ["id\tsentence1\tsentence2\tlabel"]
    lines += ['a\tIt "rains".\tit is wet.\treasoning', "b\t12\tit is dry.\tcontrasting"]
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(lines) + "\n")
    gold = read_run_rows(str(path), "train")
    assert gold.rows["premise"].to_pylist() == ['It "rains".', "12"]
    assert [gold.labels[label] for label in gold.rows["label"].to_pylist()] == [
        "reasoning",
        "contrasting",
    ]
    assert gold.key == "train"
    named = read_run_rows("scinli:dev", "test", releases / "jsonl")
    assert named.description["split"] == "validation"
