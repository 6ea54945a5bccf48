"""Logs of evaluation harnesses are scored like files of predictions."""

import json
import random
import shutil
import struct

import pyarrow as pa
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
def version(small):
    return pq.read_table(small / "default" / "test-00000-of-00001.parquet").to_pylist()


@pytest.fixture(scope="module")
def digest(small):
    manifest = json.loads((small / "manifest.json").read_text())
    return manifest["configs"]["default"]["test"]["digest"]


LOGS = [lm_eval_log, lighteval_log, inspect_json, inspect_archive]


@pytest.mark.parametrize("write", LOGS)
@pytest.mark.parametrize("is_limited", [True, False])
def test_a_log_is_scored_like_a_file(small, version, digest, tmp_path, write, is_limited):
    step = 11 if is_limited else 4 if write is inspect_archive else 1
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
        gold = small
    file = tmp_path / "predictions.jsonl"
    lines = (
        json.dumps({"id": row["id"], "prediction": None if name is None else LABELS[name]}) + "\n"
        for row, name in zip(rows, names, strict=True)
    )
    file.write_text("".join(lines))
    path = write(rows, digest, tmp_path)
    found = nlihub.score(path, str(small), confidence_level=0.9, n_resamples=99)
    expected = nlihub.score(file, str(gold), confidence_level=0.9, n_resamples=99)
    assert found["dataset"]["rows"] == len(rows)
    for metric, result in expected["metrics"].items():
        signature, _, rest = found["metrics"][metric].pop("signature").partition("|dataset:")
        assert "prompt:p1,answers:generated" in rest
        assert signature == result.pop("signature").partition("|dataset:")[0]
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


def test_logs_of_two_harnesses_are_compared(small, version, digest, tmp_path):
    rows = version[:200]
    one = lm_eval_log(rows, digest, tmp_path)
    other = lighteval_log(rows[::-1], digest, tmp_path)
    found = nlihub.score(one, str(small), against=other)
    told = "The systems were not asked alike: samples_open_spacenli_p1_gen_"
    assert any(note.startswith(told) and "shots:4; " in note for note in found["notes"])
    found = found["metrics"]["nli_report"]
    assert found["comparison"]["accuracy"]["other"] == found["accuracy"]
    assert found["signature"].count("system:") == 2
    assert "lm_eval 0.4.13,prompt:p1,answers:generated,shots:4" in found["signature"]
    shorter = lighteval_log(rows[:50], digest, tmp_path)
    with pytest.raises(PredictionsError, match=r"different rows \(200, 50\)"):
        nlihub.score(one, str(small), against=shorter)


def test_errors_of_a_log_are_drawn(small, version, digest, tmp_path):
    codes = tmp_path / "codes.csv"
    codes.write_text("code,description\nA,one\nB,two\n")
    path = lm_eval_log(version[:100], digest, tmp_path)
    sample = nlihub.annotation.sample_errors(path, str(small), tmp_path / "e", codes, 10)
    assert sample.n_errors == 10


@pytest.mark.parametrize("write", LOGS)
def test_logs_of_others_are_refused(small, version, digest, tmp_path, write):
    path = write(version[:3], "0" * 64, tmp_path)
    with pytest.raises(PredictionsError, match="these are not those of open_spacenli 1"):
        nlihub.score(path, str(small))
    done = run_command("score", path, "--dataset", small)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("samples_arc_easy_2026.jsonl", b'{"doc_id": 0, "doc": {"question": "?"}, "acc": 1.0}\n'),
        ("log.eval", b"PK"),
        ("log.eval", b""),
        ("log.json", b'{"eval": {}, "samples": [{"id": 1, "metadata": {}}]}'),
        ("log.json", b'{"eval": 7, "samples": 7}'),
    ],
)
def test_damaged_logs_are_named(small, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PredictionsError, match="is no log of a task of nlihub, or is damaged"):
        nlihub.score(tmp_path / name, str(small))


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lighteval_log, "run1.parquet"),
        (inspect_json, "run1.jsonl"),
        (inspect_archive, "run1.zip"),
    ],
)
def test_a_log_is_one_by_its_content(version, digest, tmp_path, write, name):
    path = write(version[:20], digest, tmp_path)
    expected = read_log(path)
    found = read_log(path.rename(tmp_path / name))
    assert found.predictions.equals(expected.predictions)
    assert (found.answers, found.ended) == ("generated", "complete")


def test_samples_of_lm_eval_need_their_results(version, digest, tmp_path):
    path = lm_eval_log(version[:20], digest, tmp_path)
    with pytest.raises(PredictionsError, match=r"results_run1.json of the same run is not beside"):
        read_log(path.rename(tmp_path / "run1.jsonl"))


@pytest.mark.parametrize("name", ["samples_1.jsonl", "log.json.jsonl", "details_x.parquet"])
def test_predictions_may_be_called_like_a_log(small, version, tmp_path, name):
    rows = [{"id": row["id"], "prediction": LABELS[row["label"]]} for row in version]
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    else:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = nlihub.score(tmp_path / name, str(small))
    assert found["metrics"]["nli_report"]["accuracy"] == 1
    assert found["logs"] == []


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("success", "with errors, 1 of 23 samples failed"),
        ("cancelled", "cancelled, 1 of 23 samples failed"),
        ("error", "ended by an error, 1 of 23 samples failed"),
        ("started", "not ended, 1 of 23 samples failed"),
    ],
)
def test_the_state_of_a_log_is_named(small, version, digest, tmp_path, status, state):
    path = inspect_json(version[:23], digest, tmp_path, status)
    found = nlihub.score(path, str(small))
    told = f"log.json is of a run that is not complete: {state}; these count as wrong."
    assert found["notes"][0].startswith(told)
    [about] = found["logs"]
    assert (about["file"], about["state"], about["n_failed"]) == ("log.json", state, 1)
    assert found["metrics"]["nli_report"]["n_unanswered"] == 3  # two of them said something
    shown = run_command("score", path, "--dataset", small).stdout
    assert f"log.json: inspect_ai 0.3.285, {state}\n" in shown


def test_an_unknown_status_is_named(version, digest, tmp_path):
    path = inspect_json(version[:3], digest, tmp_path, "weird")
    with pytest.raises(PredictionsError, match="the status 'weird'; expected one of success"):
        read_log(path)


def test_a_log_that_lost_samples_is_refused(version, digest, tmp_path):
    path = inspect_json(version[:5], digest, tmp_path)
    log = json.loads(path.read_text())
    path.write_text(json.dumps(log | {"samples": log["samples"][:3]}))
    with pytest.raises(PredictionsError, match="3 samples; expected 5, as its results say"):
        read_log(path)


def test_a_failed_call_of_lighteval_is_an_empty_text(small, version, digest, tmp_path):
    path = lighteval_log(version[:20], digest, tmp_path)
    rows = pq.read_table(path).to_pylist()
    rows[3]["model_response"]["text"] = [""]
    pq.write_table(pa.Table.from_pylist(rows), path)
    log = read_log(path)
    assert log.state == "with errors, 1 of 20 samples failed"
    assert log.predictions["prediction"][3].as_py() is None


def test_runs_of_one_system_that_are_not_alike(small, version, digest, tmp_path):
    rows = version[:60]
    logs = [lm_eval_log(rows, digest, tmp_path), lighteval_log(rows, digest, tmp_path)]
    [note, *_] = nlihub.score({"s": logs}, str(small)).notes
    assert note.startswith("The runs of one system are not alike: samples_open_spacenli_p1_gen_")
    assert "is lm_eval 0.4.13,prompt:p1" in note and "is lighteval,prompt:p1" in note
    (tmp_path / "again").mkdir()
    logs[1] = lm_eval_log(rows[::-1], digest, tmp_path / "again")
    assert "not alike" not in " ".join(nlihub.score({"s": logs}, str(small)).notes)


def change_row(path, change):
    """Change the rows of a log of lm_eval or lighteval, each a mapping."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows):
        change(number, row)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("write", [lm_eval_log, lighteval_log])
@pytest.mark.parametrize("value", [-1, -2, 3, True, False, 1.0, "1"])
def test_only_ids_of_labels_are_predictions(version, digest, tmp_path, write, value):
    def change(_, row):
        if "metric" in row:
            row["metric"]["judged"]["prediction"] = value
        else:
            row["accuracy"][2] = value

    path = change_row(write(version[:20], digest, tmp_path), change)
    with pytest.raises(PredictionsError, match=rf"{value!r} of .*; expected 0 to 2 or null"):
        read_log(path)


@pytest.mark.parametrize("write", [lm_eval_log, lighteval_log])
@pytest.mark.parametrize(
    ("likelihoods", "expected"),
    [
        (["nan", "-1.0", "-2.0"], None),
        (["-inf", "-inf", "-inf"], None),
        (["-inf", "-1.0", "-2.0"], "neutral"),
        (["-9", "-9", "-1"], "prediction neutral of .*; its likelihoods choose contradiction"),
        (["-2", "-1"], "2 likelihoods of .*; expected 3"),
        (["-3", "-1", "-2", "-4"], "4 likelihoods of .*; expected 3"),
    ],
)
def test_likelihoods_choose_the_prediction_or_nothing(
    version, digest, tmp_path, write, likelihoods, expected
):
    def change(_, row):
        if "metric" in row:
            row["metric"]["judged"]["prediction"] = 1
            row["model_response"]["logprobs"] = list(map(float, likelihoods))
        else:
            row["accuracy"][2] = 1
            row["filtered_resps"] = [[value, "False"] for value in likelihoods]

    path = change_row(write(version[:5], digest, tmp_path), change)
    if expected not in (None, "neutral"):
        with pytest.raises(PredictionsError, match=expected):
            read_log(path)
        return
    log = read_log(path)
    assert log.answers == "likeliest"
    assert log.predictions["prediction"].unique().to_pylist() == [expected]


def test_a_log_with_fewer_samples_than_its_results_say_is_refused(version, digest, tmp_path):
    path = lm_eval_log(version[:5], digest, tmp_path)
    [beside] = tmp_path.glob("results_*.json")
    results = json.loads(beside.read_text())
    results["n-samples"] = {"open_spacenli_p1_gen": {"original": 32_000, "effective": 6}}
    beside.write_text(json.dumps(results))
    with pytest.raises(PredictionsError, match="5 samples; expected 6, as results_"):
        read_log(path)
    beside.write_text(json.dumps({"n-samples": {"arc_easy": {}}, "n-shot": {}}))
    path.touch()  # read again
    with pytest.raises(PredictionsError, match="is of arc_easy; expected open_spacenli_p1_gen"):
        read_log(path)


@pytest.mark.parametrize("write", LOGS)
def test_a_log_whose_judge_says_another_label_is_refused(
    version, digest, tmp_path, write, monkeypatch
):
    monkeypatch.setattr("harness_log_files.say", lambda label: "Neutral")
    path = write(version[:5], digest, tmp_path)
    with pytest.raises(PredictionsError, match=r"the prediction .* of .*; its answer is neutral"):
        read_log(path)


def test_samples_that_were_not_asked_are_refused(version, digest, tmp_path):
    path = inspect_json(version[:5], digest, tmp_path)
    log = json.loads(path.read_text())
    log["samples"][2]["id"] = version[9]["id"]
    path.write_text(json.dumps(log))
    with pytest.raises(PredictionsError, match="samples that are not among those"):
        read_log(path)


@pytest.mark.parametrize("write", LOGS)
def test_rows_that_changed_places_are_refused(small, version, digest, tmp_path, write):
    first, last = version[0], version[-1]
    assert first["label"] != last["label"]
    rows = [{**first, "id": last["id"]}, {**last, "id": first["id"]}, *version[1:9]]
    with pytest.raises(PredictionsError, match="has not the label or group"):
        nlihub.score(write(rows, digest, tmp_path), str(small))


@pytest.mark.parametrize("write", LOGS)
def test_rows_of_one_label_that_changed_places_are_refused(small, version, digest, tmp_path, write):
    first = version[0]
    last = next(
        row for row in version if row["label"] == first["label"] and row["group"] != first["group"]
    )
    rows = [{**first, "id": last["id"]}, {**last, "id": first["id"]}, *version[40:49]]
    with pytest.raises(PredictionsError, match="has not the label or group"):
        nlihub.score(write(rows, digest, tmp_path), str(small))


def test_a_row_that_was_judged_as_another_is_refused(version, digest, tmp_path):
    path = lm_eval_log([version[0], version[-1]], digest, tmp_path)
    one, other = map(json.loads, path.read_text().splitlines())
    one["doc"], other["doc"] = other["doc"], one["doc"]
    path.write_text("".join(json.dumps(line) + "\n" for line in (one, other)))
    with pytest.raises(PredictionsError, match="was judged as one of the group"):
        read_log(path)
    path = lighteval_log(version[:2], digest, tmp_path)

    def change(number, row):
        row["metric"]["judged"]["id"] = version[1 - number]["id"]

    with pytest.raises(PredictionsError, match="was judged as"):
        read_log(change_row(path, change))
    path = inspect_json(version[1:4], digest, tmp_path)
    log = json.loads(path.read_text())
    right = log["samples"][0]["scores"]["judge"]["answer"] == LABELS[version[1]["label"]]
    log["samples"][0]["scores"]["judge"]["value"] = "I" if right else "C"
    path.write_text(json.dumps(log))
    with pytest.raises(PredictionsError, match=r"the value [CI] of the sample"):
        read_log(path)


def test_a_row_that_lighteval_asked_is_missed(version, digest, tmp_path):
    folder = tmp_path / "out/details/m/date"
    folder.mkdir(parents=True)
    path = lighteval_log(version[:9], digest, folder)
    results = tmp_path / "out/results/m"
    results.mkdir(parents=True)
    name = f"results_{path.stem.rpartition('_')[2]}.json"
    for n_asked in (9, None, 10):
        (results / name).write_text(json.dumps({"config_general": {"max_samples": n_asked}}))
        if n_asked == 10:
            path.touch()  # read again
            with pytest.raises(PredictionsError, match="9 rows; expected 10"):
                read_log(path)
        else:
            assert read_log(path).is_complete


def test_an_archive_and_a_file_of_one_run_are_one_run(small, version, digest, tmp_path):
    logs = [write(version[:5], digest, tmp_path) for write in (inspect_json, inspect_archive)]
    with pytest.raises(PredictionsError, match="is of the same run as"):
        nlihub.score(logs, str(small))


def test_a_log_that_ended_has_results(version, digest, tmp_path):
    path = inspect_json(version[:5], digest, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": None}))
    with pytest.raises(PredictionsError, match="5 samples; expected None, as its results say"):
        read_log(path)


@pytest.mark.parametrize("as_other", [False, True])
def test_a_copy_of_a_log_is_no_other_run(small, version, digest, tmp_path, as_other):
    path = lighteval_log(version[:5], digest, tmp_path)
    (tmp_path / "other").mkdir()
    other = shutil.copy(path, tmp_path / "other")
    given = {"predictions": path, "against": other} if as_other else {"predictions": [path, other]}
    with pytest.raises(PredictionsError, match="is of the same run as"):
        nlihub.score(dataset=str(small), **given)


@pytest.mark.parametrize("write", [lm_eval_log, lighteval_log])
@pytest.mark.parametrize(
    ("key", "value", "rows"), [("id", None, [3]), ("config", 5, range(20)), ("digest", None, [1])]
)
def test_a_row_says_what_it_is_of_in_text(version, digest, tmp_path, write, key, value, rows):
    def change(number, row):
        if number in rows:
            row["doc"].get("specific", row["doc"])[key] = value

    path = change_row(write(version[:20], digest, tmp_path), change)
    with pytest.raises(PredictionsError, match="is no log of a task of nlihub, or is damaged"):
        nlihub.score(path, "open_spacenli")


@pytest.mark.parametrize("kind", [0, 8, ZSTANDARD])
def test_a_flipped_bit_of_an_archive_changes_no_answer(version, digest, tmp_path, kind):
    path = inspect_archive(version[:5], digest, tmp_path, kind)
    expected, content = read_log(path), path.read_bytes()
    rng = random.Random(kind)
    for number in range(60):
        place = rng.randrange(len(content))
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        other = tmp_path / f"{number}.eval"
        other.write_bytes(damaged)
        try:
            found = read_log(other)
        except PredictionsError:
            continue
        assert (str(found), found.state) == (str(expected), expected.state), place
        assert found.predictions.equals(expected.predictions), place


@pytest.mark.parametrize("kind", [0, 8, ZSTANDARD])
@pytest.mark.parametrize(
    ("at", "code", "value", "message"),
    [
        (6, "<H", 99, "zip file version 9.9"),
        (16, "<I", 7, "does not have the size and CRC that it declares"),
        (24, "<I", 0, "does not have the size and CRC that it declares"),
        (24, "<I", 1 << 26, "does not have the size and CRC that it declares"),
        (24, "<I", 1 << 27, "has more than 67,108,864 bytes"),
        (46, "<B", ord("t"), "is called samples/"),
    ],
)
def test_forged_archives_are_refused(version, digest, tmp_path, kind, at, code, value, message):
    path = inspect_archive(version[:5], digest, tmp_path, kind)
    content = bytearray(path.read_bytes())
    struct.pack_into(code, content, content.rindex(b"PK\1\2") + at, value)
    path.write_bytes(content)
    with pytest.raises(PredictionsError, match=message):
        read_log(path)


def test_no_sample_hides_in_the_comment_of_another(version, digest, tmp_path):
    path = inspect_archive(version[:5], digest, tmp_path)
    content = bytearray(path.read_bytes())
    last, end = content.rindex(b"PK\1\2"), content.rindex(b"PK\5\6")
    before = content.rindex(b"PK\1\2", 0, last)
    struct.pack_into("<H", content, before + 32, end - last)
    path.write_bytes(content)
    with pytest.raises(
        PredictionsError, match="has a comment or extra field that Inspect does not write"
    ):
        read_log(path)
