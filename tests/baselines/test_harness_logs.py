"""Logs of evaluation harnesses are scored like files of predictions."""

import json

import pyarrow.parquet as pq
import pytest
from command_line import run_command
from harness_log_files import (
    LABELS,
    ZSTANDARD,
    inspect_archive,
    inspect_json,
    lighteval_log,
    lm_eval_log,
    predict,
)
from nlihub.baselines.evaluation.harness_logs import read_log
from nlihub.loaders.errors import PredictionsError

import nlihub


@pytest.fixture(scope="module")
def version(built):
    return pq.read_table(built / "default" / "test-00000-of-00001.parquet").to_pylist()


@pytest.fixture(scope="module")
def digest(built):
    manifest = json.loads((built / "manifest.json").read_text())
    return manifest["configs"]["default"]["test"]["digest"]


LOGS = [lm_eval_log, lighteval_log, inspect_json, inspect_archive]


@pytest.mark.parametrize("write", LOGS)
@pytest.mark.parametrize("is_limited", [True, False])
def test_a_log_is_scored_like_a_file(built, version, digest, tmp_path, write, is_limited):
    step = 110 if is_limited else 40 if write is inspect_archive else 1
    rows = version[::step]
    names = [predict(row, number) for number, row in enumerate(rows)]
    if len(rows) < len(version):
        gold = tmp_path / "rows.jsonl"
        kept = ("id", "label", "group", "category", "domain")
        gold.write_text(
            "".join(
                json.dumps({k: LABELS[r[k]] if k == "label" else r[k] for k in kept}) + "\n"
                for r in rows
            )
        )
    else:
        gold = built
    file = tmp_path / "predictions.jsonl"
    lines = (
        json.dumps({"id": row["id"], "prediction": None if name is None else LABELS[name]}) + "\n"
        for row, name in zip(rows, names, strict=True)
    )
    file.write_text("".join(lines))
    path = write(rows, digest, tmp_path)
    found = nlihub.score(path, str(built), confidence_level=0.9, n_resamples=99)
    expected = nlihub.score(file, str(gold), confidence_level=0.9, n_resamples=99)
    assert found["dataset"]["rows"] == len(rows)
    for metric, result in expected["metrics"].items():
        signature, _, system = found["metrics"][metric].pop("signature").rpartition("|system:")
        assert "prompt:p1,answers:generated" in system
        assert signature == result.pop("signature")
        assert found["metrics"][metric] == result
    is_left_out = (
        f"{len(version) - len(rows):,} rows of the split were not asked." in found["notes"]
    )
    assert is_left_out == (len(rows) < len(version))


@pytest.mark.parametrize("kind", [0, 8, ZSTANDARD])
def test_archives_of_every_compression(version, digest, tmp_path, kind):
    log = read_log(inspect_archive(version[:5], digest, tmp_path, kind))
    assert log.predictions["id"].to_pylist() == [row["id"] for row in version[:5]]
    assert (log.harness, log.model, str(log)) == (
        "inspect_ai 0.3.285",
        "m",
        "inspect_ai 0.3.285,prompt:p1,answers:generated",
    )


def test_logs_of_two_harnesses_are_compared(built, version, digest, tmp_path):
    rows = version[:200]
    one = lm_eval_log(rows, digest, tmp_path)
    other = lighteval_log(rows[::-1], digest, tmp_path)
    found = nlihub.score(one, str(built), against=other)["metrics"]["nli_report"]
    assert found["comparison"]["accuracy"]["other"] == found["accuracy"]
    assert found["signature"].count("system:") == 2
    assert "lm_eval 0.4.13,prompt:p1,answers:generated,shots:4" in found["signature"]
    shorter = lighteval_log(rows[:50], digest, tmp_path)
    with pytest.raises(PredictionsError, match=r"different rows \(200, 50\)"):
        nlihub.score(one, str(built), against=shorter)


def test_errors_of_a_log_are_drawn(built, version, digest, tmp_path):
    codes = tmp_path / "codes.csv"
    codes.write_text("code,description\nA,one\nB,two\n")
    path = lm_eval_log(version[:100], digest, tmp_path)
    sample = nlihub.annotation.sample_errors(path, str(built), tmp_path / "e", codes, 10)
    assert sample.n_errors == 10


@pytest.mark.parametrize("write", LOGS)
def test_logs_of_others_are_refused(built, version, digest, tmp_path, write):
    path = write(version[:3], "0" * 64, tmp_path)
    with pytest.raises(PredictionsError, match="these are not those of open_spacenli 1"):
        nlihub.score(path, str(built))
    done = run_command("score", path, "--dataset", built)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("samples_arc_easy_2026.jsonl", b'{"doc_id": 0, "doc": {"question": "?"}, "acc": 1.0}\n'),
        ("samples_arc_easy_2026.jsonl", b'{"doc_id": 0, "doc'),
        ("samples_arc_easy_2026.jsonl", b""),
        ("log.eval", b"PK"),
        ("log.eval", b""),
        ("log.json", b'{"eval": {}, "samples": [{"id": 1, "metadata": {}}]}'),
        ("log.json", b'{"eval": 7, "samples": 7}'),
    ],
)
def test_damaged_logs_are_named(built, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PredictionsError, match="is no log of a task of nlihub, or is damaged"):
        nlihub.score(tmp_path / name, str(built))
