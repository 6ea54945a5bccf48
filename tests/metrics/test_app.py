"""The apps: each example scored, and over HTTP as a browser does it."""

import csv
import json
from importlib import import_module

import pytest
from nlihub.metrics import METRICS, app_of, functional
from nlihub.metrics.app import build_page, score_file
from nlihub.metrics.inputs.problems import MetricInputError


def first_values(spec):
    return [value for _, value in spec.options.values()]


@pytest.mark.parametrize("name", METRICS)
def test_the_example_is_scored_and_can_be_downloaded(name, tmp_path):
    spec = app_of(name)
    (tmp_path / "example.csv").write_text(spec.example)
    result, picture, files = score_file(spec, tmp_path / "example.csv", first_values(spec))
    by_name = {file.name: file for file in files}
    assert json.loads(by_name[f"{name}.json"].read_text()) == json.loads(json.dumps(result))
    rows = list(csv.reader(by_name[f"{name}_scores.csv"].open()))
    assert rows[0] == ["score", "value", "95 % from", "to"]
    assert all(len(row) == 4 for row in rows)
    assert spec.name == name and result["signature"].startswith(name)
    if name != "nli_report":
        assert picture.read_bytes()[:4] == b"\x89PNG"
        assert by_name[f"{name}.svg"].stat().st_size > 1000
    for title, table in spec.breakdowns(result).items():
        assert len({len(row) for row in table}) == 1, title


@pytest.mark.parametrize("name", METRICS)
def test_files_without_the_columns_are_refused(name, tmp_path):
    spec = app_of(name)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(MetricInputError):
        score_file(spec, tmp_path / "x.csv", first_values(spec))
    (tmp_path / "example.csv").write_text(spec.example)
    texts = first_values(spec)
    texts[-1] = "much"
    with pytest.raises(MetricInputError, match="'much' is not a list of numbers"):
        score_file(spec, tmp_path / "example.csv", texts)


@pytest.mark.parametrize("name", ["nli_report", "pattern_accuracy"])
def test_scores_are_broken_down_by_columns_of_the_file(name, tmp_path):
    spec = app_of(name)
    first = "domain" if name == "nli_report" else "category"
    lines = spec.example.splitlines()
    rows = [f"{lines[0]},year", *(f"{line},2020" for line in lines[1:])]
    (tmp_path / "years.csv").write_text("\n".join(rows))
    texts = [
        f"year, {first}+year" if option == "by" else value
        for option, (_, value) in spec.options.items()
    ]
    result, _, files = score_file(spec, tmp_path / "years.csv", texts)
    whole = result["by"]["year"]["2020"]
    assert whole["confidence_intervals"]["accuracy"] == result["confidence_intervals"]["accuracy"]
    table = spec.breakdowns(result)[f"Broken down by {first}+year"]
    assert table[0][:2] == [f"{first}+year", "samples" if name == "nli_report" else "patterns"]
    at = table[0].index("accuracy")
    assert table[0][at + 1 : at + 3] == ["accuracy from", "accuracy to"]
    parts = result["by"][f"{first}+year"]
    assert [row[0] for row in table[1:]] == list(parts)
    assert [row[at] for row in table[1:]] == [part["accuracy"] for part in parts.values()]
    assert f"{name}_broken_down_by_year.csv" in {file.name for file in files}
    texts = [text.replace("year", "yaer") for text in texts]
    with pytest.raises(MetricInputError, match="by yaer: there is no column 'yaer' in data; it"):
        score_file(spec, tmp_path / "years.csv", texts)


def test_a_second_system_is_compared(tmp_path):
    spec = app_of("pattern_accuracy")
    rows = [f"{line},entailment" for line in spec.example.splitlines()]
    rows[0] = rows[0].replace(",entailment", ",other_prediction")
    (tmp_path / "two.csv").write_text("\n".join(rows))
    result, _, _ = score_file(spec, tmp_path / "two.csv", first_values(spec))
    table = spec.scores(result)
    assert table[0][-2:] == ["p", "p (McNemar)"]
    p_value = result["comparison"]["pattern_accuracy"][0]["mcnemar"]["p_value"]
    assert table[1][-1] == f"{p_value:.4f}"


@pytest.mark.filterwarnings("ignore")  # gradio's own
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "consistency" else pytest.mark.slow)
        for name in METRICS
    ],
)
def test_the_page_over_http(name, tmp_path):
    from gradio_client import Client, handle_file
    from gradio_client.exceptions import AppError

    spec = app_of(name)
    example = tmp_path / "example.csv"
    example.write_text(spec.example)
    page = build_page(spec)
    page.launch(prevent_thread_lock=True, server_name="127.0.0.1", server_port=None, quiet=True)
    try:
        client = Client(page.local_url, verbose=False, download_files=str(tmp_path))
        answer = client.predict(handle_file(str(example)), *first_values(spec), api_name="/answer")
        result, _, _ = score_file(spec, example, first_values(spec))
        picture, scores, *_, signature, downloads = (
            part["value"] if isinstance(part, dict) and "value" in part else part for part in answer
        )
        assert (picture is None) == (name == "nli_report")
        assert scores["headers"] == ["score", "value", "95 % from", "to"]
        assert signature == result["signature"]
        assert len(downloads) >= 3
        (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
        with pytest.raises(AppError):
            client.predict(
                handle_file(str(tmp_path / "bad.csv")), *first_values(spec), api_name="/answer"
            )
    finally:
        page.close()


def test_functions_stand_behind_the_apps():
    for name in METRICS:
        assert import_module(f"nlihub.metrics.{name}.app").__dict__[name] is getattr(
            functional, name
        )
