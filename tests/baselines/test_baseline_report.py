"""Reports on runs that are made up here, with the real metrics on small random data."""

import dataclasses
import json
import re
import shutil
import statistics
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_up_runs import CATEGORIES, DOMAINS, make_gold, predict, preset, write_run
from nlihub.baselines.analyses import plan_domain_shift
from nlihub.baselines.evaluation.scoring import all_scores, score_predictions
from nlihub.baselines.presets import PRESETS, get_preset
from nlihub.baselines.reports import benchmarks
from nlihub.baselines.reports.benchmarks import difference_table, score_table
from nlihub.baselines.reports.comparisons import compare_by, transfer_scores
from nlihub.baselines.reports.names import distinct_names, place_of, short_dataset_name
from nlihub.baselines.reports.pictures import plot_learning, plot_shots, plot_transfer
from nlihub.baselines.reports.provenance import data_table
from nlihub.baselines.reports.published import (
    LATER_PAPERS,
    changed_settings,
    find_published,
    join_sources,
    merge_published,
    published_results,
    results_apart,
)
from nlihub.baselines.reports.systems import collect_runs
from nlihub.baselines.reports.write import write_report
from nlihub.baselines.runs.config import VIEWS, RunConfig, TrainingSubset
from nlihub.baselines.runs.folder import RunFolder
from nlihub.baselines.tables import MeanScore, mean_scores
from nlihub.builders.core.registry import builders, get_builder
from nlihub.loaders.errors import (
    OutputError,
    PredictionsError,
    SourceNotFoundError,
    UsageError,
)
from nlihub.metrics.functional import paired_t_test


@pytest.fixture
def rows(monkeypatch):
    """Rows of test sets by name, which the report then finds too."""
    known = {}

    def make(name, n_rows, **options):
        dataset, _, config = name.partition("/")
        config = config or get_builder(dataset).SPEC.default_config
        known[name] = make_gold(dataset, config, n_rows, **options)
        return known[name]

    def read(name, role):
        if name not in known:
            raise SourceNotFoundError(f"There is no {name}.")
        return known[name]

    monkeypatch.setattr(benchmarks, "read_run_rows", read)
    return make


def text_of(runs, output, **options):
    write_report([runs], output, **options)
    return (output / "report.md").read_text(encoding="utf-8")


def table_rows(text, name):
    """The rows of a table that begin with a name, as their cells."""
    lines = (line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# --- the papers' results ---

COUNTS = {
    "SciNLI, Table 4": 1,
    "SciNLI, Table 5": 5,
    "SciNLI, Table 6": 8,
    "SciNLI, Table 7": 4,
    "MSciNLI, Table 3": 7,
    "MSciNLI, Table 4": 4,
    "MSciNLI, Table 5": 12,
    "MSciNLI, Table 6": 2,
    "MSciNLI, Table 7": 6,
    "MSciNLI, Table 8": 36,
    "MSciNLI, Table 9": 12,
    "MSciNLI, Table 14": 24,
    "MSciNLI, Table 15": 2,
    "MSciNLI, Table 17": 4,
    "MSciNLI, Table 19": 6,
    "BioNLI, Table 5": 8,
    "SpaceNLI, Tables 4 and 5": 7,
    "SpaceNLI, section 4.2.3": 1,
    "MisMatched, Table 4": 36,
    "Co-training, second-hand": 1,
    "Me-LLaMA, Table 3": 8,
}


def test_every_system_of_every_table_is_there():
    assert Counter(result.source for result in published_results()) == COUNTS
    n_scores = {"SciNLI, Table 6": 6, "MSciNLI, Table 4": 6, "MSciNLI, Table 5": 6}
    n_scores |= {"BioNLI, Table 5": 14, "SpaceNLI, Tables 4 and 5": 6, "MisMatched, Table 4": 4}
    for result in published_results():
        assert len(result.scores) == n_scores.get(result.source, len(result.scores))


#: Some of each paper, with the training set, the test set and the score that it is of.
NUMBERS = [
    ("SciNLI, Table 5", "Lexicalized, bigrams", "scinli", "scinli", "accuracy", 0.3257, None),
    ("SciNLI, Table 6", "XLNet", "scinli", "scinli", "f1 reasoning", 0.7595, 0.0094),
    ("SciNLI, Table 7", "SciBERT, second sentence alone", "scinli", "scinli", "accuracy", 0.588,
     None),
    ("MSciNLI, Table 3", "BiLSTM", "mscinli", "mscinli/neurips", "macro_f1", 0.5919, None),
    ("MSciNLI, Table 4", "BERT", "mscinli", "mscinli", "macro_f1 security_privacy", 0.7238, 0.025),
    ("MSciNLI, Table 5", "Mistral-7B-Instruct-v0.1, prompt 1, four shots", None, "mscinli",
     "macro_f1", 0.4549, None),
    ("MSciNLI, Table 7", "RoBERTa, 33 % hard", "mscinli", "mscinli", "macro_f1", 0.3411, 0.0565),
    ("MSciNLI, Table 8", "RoBERTa", "scinli/acl_small", "mscinli/neurips", "macro_f1", 0.7495,
     0.019),
    ("MSciNLI, Table 19", "RoBERTa", "scinli", "mscinli", "macro_f1 networks", 0.7271, None),
    ("BioNLI, Table 5", "BioLinkBERT", "bionli/balanced", "bionli", "f1_negative", 0.79, None),
    ("BioNLI, Table 5", "PubMedBERT", "bionli", "bionli", "recall GEN-ND", 0.6, None),
    ("SpaceNLI, Tables 4 and 5", "ALBERT-XXLv2 (SMFA)", None, "spacenli",
     "pattern_accuracy 0.95", 0.481, None),
    ("MisMatched, Table 4", "RoBERTa, trained on SciNLI", "scinli", "mismatched",
     "macro_f1 public_health", 0.7534, 0.015),
    ("Me-LLaMA, Table 3", "Me-LLaMA 70B, zero-shot", None, "bionli", "macro_f1", 0.499, None),
]  # fmt: skip


def test_published_numbers():
    for source, system, train, test, score, mean, std in NUMBERS:
        [found] = [
            r.scores[score]
            for r in published_results()
            if (r.source, r.system, r.train, r.test) == (source, system, train, test)
        ]
        assert (found.mean, found.std) == (mean, std), source


def test_published_numbers_agree_with_each_other():
    """Macro-F1 is the mean over classes, as far as the tables are rounded, and a slip is not."""
    of_all = {r.preset: r for r in published_results() if r.source == "MSciNLI, Table 4"}
    for result in published_results():
        f1 = [score.mean for name, score in result.scores.items() if name.startswith("f1 ")]
        if f1 and "macro_f1" in result.scores:
            assert statistics.fmean(f1) == pytest.approx(result.scores["macro_f1"].mean, abs=2e-4)
        if result.source == "MSciNLI, Table 4":
            domains = [s.mean for name, s in result.scores.items() if name != "macro_f1"]
            assert len(domains) == 5
            whole = result.scores["macro_f1"].mean
            assert statistics.fmean(domains) == pytest.approx(whole, abs=2e-4)
        if result.source == "MSciNLI, Table 19" and result.train == result.test == "mscinli":
            same = of_all[result.preset].scores
            assert all(same[name].mean == score.mean for name, score in result.scores.items())
        if result.source == "BioNLI, Table 5":
            scores = {name: score.mean for name, score in result.scores.items()}
            both = (scores["f1_positive"] + scores["f1_negative"]) / 2
            assert both == pytest.approx(scores["macro_f1"], abs=0.0051)
            rule = [scores[f"recall {c}"] for c in CATEGORIES[1:8]]
            mean = statistics.fmean(rule)
            assert mean == pytest.approx(scores["macro_recall rule_based"], abs=0.011)


#: Names of scores, and of papers with their tables.
SCORE = re.compile(
    r"(macro_f1|accuracy|f1_positive|f1_negative)"
    r"|(macro_f1|f1|recall|macro_recall) [\w-]+"
    r"|(pattern_accuracy|consistency) [01]\.\d+"
)
SOURCE = re.compile(r"([\w-]+), (Tables? .+|section .+|second-hand)")


def test_published_results_are_well_formed():
    for result in published_results():
        assert result.preset in PRESETS or (result.preset is None and result.differs)
        assert SOURCE.fullmatch(result.source)
        paper = result.source.partition(",")[0]
        assert paper in LATER_PAPERS or paper in ("SciNLI", "MSciNLI", "BioNLI", "SpaceNLI")
        assert result.differs is None or paper in LATER_PAPERS
        for name in filter(None, (result.train, result.test)):
            dataset, _, config = name.partition("/")
            assert not config or config in get_builder(dataset).SPEC.configs
            assert short_dataset_name(name) == name
        texts = [result.system, result.train or "nothing", result.test, result.note or "nothing"]
        assert all(isinstance(text, str) and text.strip() for text in texts)
        numbers = [n for n in (result.n_shots, result.n_runs) if n is not None]
        assert all(type(n) is int and n > 0 for n in numbers)
        assert result.view in VIEWS
        assert result.scores
        for name, score in result.scores.items():
            assert SCORE.fullmatch(name), (result.source, name)
            assert 0 <= score.mean <= 1
            assert score.std is None or 0 <= score.std <= 0.5
    assert {r.test.partition("/")[0] for r in published_results()} <= set(builders())
    assert [name for name, found in PRESETS.items() if changed_settings(found.config)] == []


def test_features_are_those_of_the_lexicalized_classifier():
    pytest.importorskip("HanTa")
    from nlihub.baselines.reports.published import _FEATURES
    from nlihub.baselines.systems.lexicalized import GROUPS

    assert set(_FEATURES) == set(GROUPS)


def test_names_of_data():
    assert short_dataset_name("scinli/default") == "scinli"
    assert short_dataset_name("mscinli/networks:test") == "mscinli/networks"
    assert short_dataset_name("bionli/full:train", "train") == "bionli"
    assert short_dataset_name("/some/where/rows.parquet") == "rows.parquet"
    assert place_of("mscinli/plus_small", "macro_f1 acl") == ("scinli", "macro_f1")
    assert place_of("mscinli/merged_small", "macro_f1") == ("mscinli", "macro_f1")
    assert place_of("mscinli", "macro_f1 networks") == ("mscinli/networks", "macro_f1")
    assert place_of("bionli/balanced", "recall SEN") == ("bionli", "recall SEN")
    sources = ["MSciNLI, Table 9", "MSciNLI, Tables 4 and 5", "SpaceNLI, section 4.2.3"]
    assert join_sources(sources) == "MSciNLI, Tables 4, 5 and 9; SpaceNLI, section 4.2.3"


SCINLI = {"name": "scinli", "config": "default", "split": "test", "rows": 4000}
MSCINLI = SCINLI | {"name": "mscinli"}


MISMATCHED = {"name": "mismatched", "config": "default", "split": "test", "rows": 2400}


def test_later_results_stand_beside_runs_of_their_setting_alone():
    [found], _ = find_published(
        preset("mismatched-roberta", train="mscinli"), MISMATCHED, ["macro_f1"]
    )
    assert (found.source, found.scores["macro_f1"].mean) == ("MisMatched, Table 4", 0.7538)
    on_domain = MISMATCHED | {"config": "psychology", "rows": 800}
    [same], _ = find_published(
        preset("mismatched-roberta", train="mscinli"), on_domain, ["macro_f1"]
    )
    assert same == found
    assert find_published(preset("mismatched-roberta"), MISMATCHED, ["macro_f1"]) == (
        [],
        "no table has mismatched-roberta on mismatched, trained on mscinli/plus",
    )
    apart = results_apart("mismatched")
    assert sum(map(len, apart.values())) == 28
    assert any("GPT-4o, zero-shot 50.26" in systems for systems in apart.values())
    [(_, systems)] = results_apart("bionli/balanced").items()
    assert systems[1] == "Me-LLaMA 13B, zero-shot 6.0"
    assert any(
        "GPT-4o, zero-shot 52.42" in s for s in results_apart("mismatched/psychology").values()
    )
    assert results_apart("spacenli") == {}


def find_rows(config, dataset, scores):
    """The rows of a table under a run that has some scores."""
    found, reason = find_published(config, dataset, scores)
    test = short_dataset_name(f"{dataset['name']}/{dataset['config'] or ''}".rstrip("/"))
    return merge_published(found, {place_of(test, score): score for score in scores}), reason


def options_of(name, **changed):
    return dataclasses.replace(get_preset(name).config.options, **changed)


@pytest.mark.parametrize(
    ("config", "dataset", "reason"),
    [
        (preset("scinli-roberta", preset=None), SCINLI, "follows no paper's system"),
        (preset("scinli-roberta", train="mscinli"), SCINLI, "trained on mscinli"),
        (preset("scinli-roberta", train="/data/scinli"), SCINLI, "rows of one's own"),
        (preset("scinli-roberta", view="hypothesis"), SCINLI, "with the hypothesis alone"),
        (preset("scinli-roberta", n_shots=3), SCINLI, "number of shots"),
        (preset("scinli-roberta", subset=TrainingSubset("easy", 0.33, "x")), SCINLI, "that part"),
        (preset("scinli-roberta", model="prajjwal1/bert-tiny"), SCINLI, "model bert-tiny"),
        (preset("scinli-roberta", method="cnn"), SCINLI, "method cnn"),
        (preset("scinli-roberta", validation=None), SCINLI, "validation None"),
        (
            preset("scinli-roberta", options=options_of("scinli-roberta", max_epochs=1)),
            SCINLI,
            r"not as scinli-roberta says \(max_epochs 1\)",
        ),
        (preset("scinli-roberta"), MSCINLI, "no table has scinli-roberta on mscinli"),
        (preset("scinli-roberta"), SCINLI | {"rows": 40}, "has 4,000 rows, this one 40"),
        (preset("scinli-roberta"), SCINLI | {"split": "validation"}, "these on validation"),
        (preset("spacenli-roberta"), SCINLI | {"name": "open_spacenli"}, "no paper has results"),
        (preset("scinli-roberta"), SCINLI | {"name": "own.csv", "config": None}, "no paper has"),
        (preset("scinli-bilstm"), SCINLI, "word vectors are drawn"),
        (preset("scinli-lexicalized", details={"groups": ["bleu"]}), SCINLI, "these features"),
        (preset("scinli-lexicalized", details={"l2": 2.0}), SCINLI, "l2 2.0"),
        (preset("spacenli-roberta-vanilla-few-shot", n_shots=5),
         {"name": "spacenli", "config": "few_shot", "split": "test", "rows": 16000},
         "no table has spacenli-roberta-vanilla-few-shot"),
    ],
)  # fmt: skip
def test_a_papers_number_never_stands_beside_another_setting(config, dataset, reason):
    rows, found = find_rows(config, dataset, ["macro_f1", "accuracy"])
    assert rows == []
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found)


@pytest.mark.parametrize(
    ("config", "dataset", "source", "mean"),
    [
        (preset("scinli-roberta", tests=("x",), seed=7), SCINLI, "SciNLI, Table 6", 0.7806),
        (preset("scinli-roberta", model="/models/roberta-base"), SCINLI, "SciNLI, Table 6", 0.7806),
        (preset("scinli-roberta", train="scinli/default"), SCINLI, "SciNLI, Table 6", 0.7806),
        (preset("scinli-roberta"), SCINLI | {"config": "acl_small"}, "SciNLI, Table 6", 0.7806),
        (preset("scinli-bilstm", details={"vectors": "glove.txt"}), SCINLI,
         "SciNLI, Table 6; MSciNLI, Table 3", 0.6112),
        (preset("scinli-lexicalized", details={"groups": ["bigrams", "unigrams"]}), SCINLI,
         "SciNLI, Table 5", 0.3935),
        (preset("scinli-lexicalized"), SCINLI, "SciNLI, Tables 5 and 6", 0.4701),
        (preset("mscinli-roberta", subset=TrainingSubset("hard", 1 / 3, "x")), MSCINLI,
         "MSciNLI, Table 7", 0.3411),
        (preset("mscinli-bert", train="mscinli/merged_small"), MSCINLI,
         "MSciNLI, Table 14", 0.6867),
        (preset("mscinli-bert", train="mscinli/merged_small"),
         MSCINLI | {"config": "merged_small"}, "MSciNLI, Table 14", 0.6867),
        (preset("mscinli-mistral-p1-four-shot"), MSCINLI, "MSciNLI, Table 5", 0.4549),
        (preset("mscinli-mistral-p1-zero-shot"), MSCINLI, "MSciNLI, Table 5", 0.2143),
        (preset("bionli-biolinkbert", train="bionli/balanced"),
         {"name": "bionli", "config": "balanced", "split": "test", "rows": 9126},
         "BioNLI, Table 5", 0.74),
    ],
)  # fmt: skip
def test_a_papers_number_stands_beside_the_same_setting(config, dataset, source, mean):
    rows, reason = find_rows(config, dataset, ["macro_f1"])
    assert reason is None
    assert (rows[0].source, rows[0].scores["macro_f1"].mean) == (source, mean)


def test_tables_that_contradict_each_other_stay_apart():
    scores = ["macro_f1", "accuracy", "f1 neutral", "macro_f1 networks"]
    first, second = find_rows(preset("mscinli-roberta"), MSCINLI, scores)[0]
    assert first.source == "MSciNLI, Tables 4, 6, 7, 9, 15 and 19"
    assert (first.scores["accuracy"].mean, first.n_runs) == (0.7742, 3)
    assert first.scores["macro_f1"].std == 0.003
    assert (second.source, second.scores["accuracy"].mean) == ("MSciNLI, Table 17", 0.772)
    assert any("77.20" in note for note in first.notes)


def test_domains_are_found_whatever_test_set_has_them():
    config = preset("mscinli-roberta", train="mscinli/networks")
    [row] = find_rows(config, MSCINLI, ["macro_f1", "macro_f1 hardware"])[0]
    assert row.scores.keys() == {"macro_f1 hardware"}
    assert row.scores["macro_f1 hardware"].mean == 0.7504
    plus = MSCINLI | {"config": "plus", "rows": 8000}
    rows = find_rows(preset("mscinli-roberta"), plus, ["macro_f1", "macro_f1 acl"])[0]
    assert {name: s.mean for r in rows for name, s in r.scores.items()} == {
        "macro_f1": 0.7695,
        "macro_f1 acl": 0.7674,
    }


# --- reading runs ---


@pytest.fixture
def small(rows, tmp_path):
    """Three runs of one system and one of another on 80 rows of SciNLI."""
    gold = rows("scinli", 80)
    for seed in (1, 2, 3):
        folder = tmp_path / "runs" / "bert" / f"seed-{seed}"
        write_run(folder, preset("scinli-bert", seed=seed), {"scinli": gold}, 0.7)
    write_run(
        tmp_path / "runs" / "tiny", RunConfig("tiny", "zero-shot", ("x",)), {"scinli": gold}, 0.5
    )
    return tmp_path / "runs"


def edit(path, change):
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def test_runs_of_one_system_differ_in_their_seed(small):
    found = collect_runs([small])
    assert [(s.name, [r.config.seed for r in s.runs]) for s in found.systems] == [
        ("scinli-bert", [1, 2, 3]),
        ("tiny", [1]),
    ]
    assert [run.place for run in found.systems[0].runs] == [f"bert/seed-{n}" for n in (1, 2, 3)]
    assert [b.name for b in found.benchmarks] == ["scinli"]
    alone = collect_runs([small / "tiny"])
    assert [run.place for run in alone.systems[0].runs] == ["tiny"]
    twice = collect_runs([small, small / "bert"])
    assert [len(system.runs) for system in twice.systems] == [3, 1]
    assert twice.systems[0].runs[0].place == "runs/bert/seed-1"


def test_the_order_of_tests_makes_no_other_system(rows, tmp_path):
    golds = {"scinli": rows("scinli", 40), "mscinli": rows("mscinli", 40)}
    write_run(tmp_path / "a", preset("scinli-bert", seed=1), golds)
    write_run(tmp_path / "b", preset("scinli-bert", seed=2), dict(reversed(golds.items())))
    [system] = collect_runs([tmp_path]).systems
    assert len(system.runs) == 2


def test_test_sets_are_told_apart_by_their_rows(rows, tmp_path):
    gold = rows("scinli", 40)
    small = dataclasses.replace(gold, description={**gold.description, "config": "acl_small"})
    write_run(tmp_path / "a", preset("scinli-bert"), {"scinli/acl_small": small})
    write_run(tmp_path / "b", preset("scinli-roberta"), {"scinli": gold})
    [benchmark] = collect_runs([tmp_path]).benchmarks
    assert benchmark.name == "scinli"
    assert len(benchmark.systems) == 2


def test_systems_of_one_name_are_told_apart_by_little():
    configs = [
        preset("mscinli-roberta", train="mscinli/networks", validation="mscinli/networks"),
        preset("mscinli-roberta"),
        preset("mscinli-roberta", view="hypothesis"),
        preset("scinli-bert"),
    ]
    assert distinct_names(configs) == [
        "mscinli-roberta (trained on mscinli/networks)",
        "mscinli-roberta (trained on mscinli)",
        "mscinli-roberta (trained on mscinli, hypothesis alone)",
        "scinli-bert",
    ]
    shots = [preset("spacenli-roberta-few-shot", n_shots=k) for k in (1, 5)]
    names = ["spacenli-roberta-few-shot (1 shot)", "spacenli-roberta-few-shot (5 shots)"]
    assert distinct_names(shots) == names
    options = [RunConfig("x", "encoder", ("scinli",), options=o) for o in OPTIONS]
    assert distinct_names(options) == ["x (learning_rate 1e-05)", "x (learning_rate 2e-05)"]
    folders = [RunConfig("x", "encoder", ("scinli",), model=f"/{n}/model") for n in (1, 2)]
    assert distinct_names(folders) == ["x no. 1", "x no. 2"]


OPTIONS = [options_of("scinli-bert", learning_rate=rate) for rate in (1e-5, 2e-5)]


def test_what_runs_say_of_themselves_is_in_the_report(small, tmp_path):
    assert "To be read with care" not in text_of(small, tmp_path / "plain")
    said = {"hardly_learned": "it has hardly learned.", "shared_with_train": {"scinli": 1200}}
    edit(small / "tiny" / "record.json", lambda record: record.update(said))
    lines = text_of(small, tmp_path / "report").splitlines()
    start = lines.index("To be read with care:")
    assert lines[start + 2 : start + 4] == [
        "- tiny, seed 1: it has hardly learned.",
        "- tiny, seed 1: 1,200 pairs of scinli are among its training rows.",
    ]


def test_unfinished_runs_are_listed_and_left_out(small, tmp_path):
    edit(small / "tiny" / "record.json", lambda record: record.update(status="running"))
    found = collect_runs([small])
    assert found.unfinished == ["tiny"]
    assert [system.name for system in found.systems] == ["scinli-bert"]
    assert "- `tiny`\n" in text_of(small, tmp_path / "report")
    (small / "model").mkdir()
    (small / "model" / "config.json").write_text('{"model_type": "bert"}')
    assert collect_runs([small]).unfinished == ["tiny"]
    with pytest.raises(SourceNotFoundError, match="has come to its end: tiny"):
        collect_runs([small / "tiny"])


def test_runs_that_learned_from_other_rows_are_no_seeds_of_one_system(small):
    def learn(digest):
        return lambda record: record.update(data={"train": {"digest": digest}})

    for seed in (1, 2, 3):
        edit(small / "bert" / f"seed-{seed}" / "record.json", learn("sha256:a"))
    assert collect_runs([small]).systems
    edit(small / "bert" / "seed-2" / "record.json", learn("sha256:b"))
    with pytest.raises(UsageError, match=r"of scinli are not the same in \S+-1 and \S+-2"):
        collect_runs([small])


def test_a_repeated_run_counts_once_and_another_one_is_refused(small):
    copy = small / "copy"
    shutil.copytree(small / "tiny", copy)
    found = collect_runs([small])
    assert [len(system.runs) for system in found.systems] == [3, 1]
    assert found.repeated == ["tiny"]  # the other comes first
    shutil.rmtree(copy)
    gold = make_gold("scinli", "default", 80)
    write_run(copy, RunConfig("tiny", "zero-shot", ("x",)), {"scinli": gold}, 0.9)
    with pytest.raises(UsageError, match=r"tiny with the seed 1 are not the same in \S+copy"):
        collect_runs([small])


def test_rows_of_one_name_have_to_be_the_same(small):
    def change(found):
        found["evaluations"]["scinli-default-test"]["dataset"]["digest"] = "sha256:other"

    edit(small / "tiny" / "metrics.json", change)
    with pytest.raises(UsageError, match=r"scinli-default-test are not the same in \S+seed-1 and"):
        collect_runs([small])


def break_evaluation(**changed):
    def change(found):
        found["evaluations"]["scinli-default-test"].update(changed)

    return change


@pytest.mark.parametrize(
    ("file", "change", "error", "message"),
    [
        ("config.json", "{", UsageError, "config.json is not valid JSON"),
        ("config.json", lambda c: c.update(colour=1), UsageError, "config.json.*'colour'"),
        ("config.json", lambda c: c.update(options=3), UsageError, "config.json is not the config"),
        ("record.json", "[]", UsageError, "record.json holds a JSON list; expected an object"),
        ("metrics.json", "", UsageError, "metrics.json is not valid JSON"),
        ("metrics.json", None, SourceNotFoundError, "metrics.json is missing"),
        ("metrics.json", "{}", UsageError, "metrics.json has no evaluations"),
        ("metrics.json", break_evaluation(dataset={}), UsageError, "malformed ones: KeyError"),
        ("metrics.json", break_evaluation(metrics={"nli_report": {}}), UsageError, "malformed"),
        ("metrics.json", break_evaluation(metrics={"f2": {}}), UsageError, "malformed"),
    ],
)
def test_malformed_runs_are_refused(small, file, change, error, message):
    path = small / "tiny" / file
    if change is None:
        path.unlink()
    elif isinstance(change, str):
        path.write_text(change)
    else:
        edit(path, change)
    with pytest.raises(error, match=message):
        collect_runs([small])


@pytest.mark.parametrize("name", ["nothing", "missing"])
def test_a_folder_without_runs_is_refused(tmp_path, name):
    (tmp_path / "nothing" / "deeper").mkdir(parents=True)
    with pytest.raises(
        SourceNotFoundError, match=f"{name} contains no runs; expected folders with"
    ):
        collect_runs([tmp_path / name])


LOG = "training_log.jsonl"
PREDICTIONS = "predictions/scinli-default-test.parquet"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (LOG, '{"kind": "other"}\n{\n', "log.jsonl:2: expected a JSON"),
        (LOG, "3\n", "expected a JSON object"),
        (LOG, '{"kind": "epoch"}\n', "'epoch'"),
        (PREDICTIONS, {"id": ["a"], "label": ["neutral"]}, "column prediction is missing"),
        (PREDICTIONS, {"id": ["a"], "prediction": ["neutral"]}, "expected one prediction for"),
        (PREDICTIONS, "no Parquet", "Parquet magic bytes not found"),
    ],
)
def test_malformed_files_of_a_run_are_refused(small, tmp_path, file, content, message):
    if isinstance(content, str):
        (small / "tiny" / file).write_text(content)
    else:
        RunFolder(small / "tiny").write_table(file, pa.table(content))
    with pytest.raises(UsageError if file == LOG else PredictionsError, match=message):
        write_report([small], tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_scores_by_category():
    gold = make_gold("bionli", "full", 400)
    answered = predict(gold, 0.7, 1)
    run = score_predictions(gold, answered)
    scores = all_scores(run)
    found = run["consistency"]
    assert scores["recall SEN"] == found["recall_by_category"]["SEN"]["recall"]
    assert scores["macro_recall neural"] == found["macro_recall"]["neural"]
    gold = make_gold("spacenli", "default", 640, n_groups=16)
    answered = predict(gold, 0.7, 1)
    run = score_predictions(gold, answered)
    scores = all_scores(run)
    for category, part in run["pattern_accuracy"]["by_category"].items():
        assert scores[f"accuracy {category}"] == part["accuracy"]
        assert scores[f"pattern_accuracy 0.5 {category}"] == part["pattern_accuracy"][0]


# --- tables ---


def test_a_score_that_a_run_lacks_has_no_mean():
    runs = [{"accuracy": 0.5, "unanswered": 0.1}, {"accuracy": 0.75}]
    assert mean_scores(runs).keys() == {"accuracy"}


def test_scores_are_means_and_standard_deviations(small, tmp_path):
    text = text_of(small, tmp_path / "report")
    metrics = [
        json.loads((small / "bert" / f"seed-{seed}" / "metrics.json").read_text())
        for seed in (1, 2, 3)
    ]
    reports = [m["evaluations"]["scinli-default-test"]["metrics"]["nli_report"] for m in metrics]
    values = [100 * report["macro_f1"] for report in reports]
    shown = f"**{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f}**"
    row = table_rows(text, "scinli-bert")[0]
    assert row[:3] == ["scinli-bert", "3", shown]
    neutral = [100 * report["per_class"]["neutral"]["f1"] for report in reports]
    assert row[7] == f"**{statistics.fmean(neutral):.2f} ± {statistics.stdev(neutral):.2f}**"
    one = json.loads((small / "tiny" / "metrics.json").read_text())["evaluations"]
    report = one["scinli-default-test"]["metrics"]["nli_report"]
    assert table_rows(text, "tiny")[0][:4] == [
        "tiny", "1", f"{100 * report['macro_f1']:.2f}", f"{100 * report['accuracy']:.2f}",
    ]  # fmt: skip
    assert report["macro_f1"] < min(values) / 100  # so that bold is right
    assert reports[0]["signature"] in text


def test_a_papers_numbers_stand_under_a_system(rows, tmp_path):
    gold = rows("scinli", 4000)
    write_run(tmp_path / "runs" / "a", preset("scinli-bert"), {"scinli": gold})
    write_run(tmp_path / "runs" / "b", preset("scinli-xlnet", train="mscinli"), {"scinli": gold})
    text = text_of(tmp_path / "runs", tmp_path / "report")
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("| scinli-bert |"))
    assert lines[at + 1].startswith(
        "| *BERT (SciNLI, Table 6)* | 3 | 75.19 ± 0.35 | 75.17 ± 0.39 |"
    )
    assert lines[at + 2].startswith("| *BERT (SciNLI, Table 7)* |  | 75.36 | 75.37 |")
    assert "XLNet (" not in text
    assert "- scinli-bert on scinli: SciNLI, Tables 6 and 7" in text
    assert "- No table has scinli-xlnet on scinli, trained on mscinli: scinli-xlnet on" in text
    assert "- `scinli-bert`: SciNLI, section 4.3 and Table 6;" in text
    assert "- SciNLI, Table 7: For both sentences Table 6 prints another mean" in text


def test_seeds_are_compared_pair_by_pair(small):
    gold = make_gold("scinli", "default", 80)
    for seed in (2, 3, 4):
        config = preset("scinli-roberta", seed=seed)
        write_run(small / f"roberta-{seed}", config, {"scinli": gold}, 0.8)
    found = collect_runs([small])
    [benchmark] = found.benchmarks
    scores = {
        system.name: {
            seed: e.scores["macro_f1"] for seed, e in benchmark.evaluations(system).items()
        }
        for system in found.systems
    }
    first, second = (
        [scores[name][seed] for seed in (2, 3)] for name in ("scinli-roberta", "scinli-bert")
    )
    expected = paired_t_test(first, second)
    table = difference_table(benchmark, None)
    assert table.columns == [
        "system",
        "against",
        "score",
        "difference of means",
        "seeds",
        "t-test: p (Holm)",
    ]
    [row] = [r for r in table.rows if r[:3] == ["scinli-roberta", "scinli-bert", "macro_f1"]]
    assert row[3] == f"{100 * expected['difference']:+.2f}"
    assert row[4:] == [2, f"{expected['p_value']:.4f}"]  # the only pair: nothing to correct
    assert [r[3:] for r in table.rows if r[1] == "tiny"] == [[None] * 3] * 4


def test_rows_are_compared_in_the_run_in_the_middle(small):
    gold = make_gold("scinli", "default", 80)
    found = collect_runs([small])
    [benchmark] = found.benchmarks
    bert, tiny = found.systems
    ranking = sorted(benchmark.evaluations(bert).values(), key=lambda e: e.scores["macro_f1"])
    middle = benchmark.middle_run(bert)
    assert middle is ranking[1]
    assert benchmark.ranked == [bert, tiny]
    right = [
        np.array(pq.read_table(e.file)["prediction"].to_pylist())
        == np.array(gold.labels)[gold.rows["label"].to_numpy()]
        for e in (middle, benchmark.middle_run(tiny))
    ]
    table = difference_table(benchmark, gold)
    assert table.columns == [
        "system", "against", "score", "difference on rows",
        "exchange test: p (Holm)",
    ]  # fmt: skip
    first, accuracy = table.rows
    assert accuracy[:3] == ["scinli-bert", "tiny", "accuracy"]
    assert accuracy[3] == f"{100 * (right[0].mean() - right[1].mean()):+.2f}"
    from scipy.stats import binom, binomtest

    n_only = [int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())]
    expected = binomtest(n_only[0], sum(n_only), 0.5).pvalue - binom.pmf(
        n_only[0], sum(n_only), 0.5
    )
    assert accuracy[-1] == (f"{expected:.4f}" if expected >= 1e-4 else "<0.0001")
    assert first[-1]


def test_one_group_says_nothing_of_others(rows, tmp_path):
    gold = rows("spacenli", 40, n_groups=1)
    for name, share in (("spacenli-roberta", 0.99), ("spacenli-bart", 0.5)):
        write_run(tmp_path / "runs" / name, preset(name), {"spacenli": gold}, share)
    text = text_of(tmp_path / "runs", tmp_path / "report")
    [accuracy, _] = table_rows(text, "spacenli-roberta | spacenli-bart")
    assert accuracy[4] == "1.0000"


def test_without_rows_at_hand_the_report_says_so(small, rows, monkeypatch, tmp_path):
    text = text_of(small, tmp_path / "report")
    assert "exchange test: p (Holm)" in text
    assert "No tests on the rows" not in text
    rows("scinli", 44)
    text = text_of(small, tmp_path / "report")
    assert "exchange" not in text
    assert "No tests on the rows of scinli: those at hand have another digest." in text

    def fail(name, role):
        raise SourceNotFoundError("no")

    monkeypatch.setattr(benchmarks, "read_run_rows", fail)
    text = text_of(small, tmp_path / "report")
    assert "No tests on the rows of scinli: they are not at hand." in text


def test_of_many_pairs_those_with_the_best_are_shown(rows, tmp_path):
    gold = rows("scinli", 80)
    for number in range(7):
        config = RunConfig(f"s{number}", "zero-shot", ("x",))
        write_run(tmp_path / "runs" / config.name, config, {"scinli": gold}, 0.3 + 0.1 * number)
    text = text_of(tmp_path / "runs", tmp_path / "report")
    shown = {tuple(row[:2]) for row in table_rows(text, "s6") if row[1].startswith("s")}
    assert shown == {("s6", f"s{number}") for number in range(6)}
    assert not any(row[1].startswith("s") for row in table_rows(text, "s5"))
    assert "for as many of the 21 pairs as have the test. Pairs with the best system are" in text


def test_training_and_test_sets(rows, tmp_path):
    names = [f"mscinli/{d}" for d in DOMAINS]
    golds = {name: rows(name, 800) for name in names} | {"scinli": rows("scinli", 4000)}
    golds["mismatched"] = rows("mismatched", 2400)  # a further test set, with its domains
    for planned in plan_domain_shift(get_preset("mscinli-roberta").config, [1, 2]):
        write_run(tmp_path / planned.folder, planned.config, golds)
    [(name, (scores, table))] = transfer_scores(collect_runs([tmp_path])).items()
    assert name == "mscinli-roberta"
    assert list(scores) == [*names, "scinli/acl_small"]
    further = ["mismatched", *(f"mismatched/{d}" for d in get_builder("mismatched").SPEC.domains)]
    for found in scores.values():
        assert list(found) == [*names, "scinli", *sorted(further)]
    run = json.loads((tmp_path / "networks" / "seed-1" / "metrics.json").read_text())
    other = json.loads((tmp_path / "networks" / "seed-2" / "metrics.json").read_text())
    values = [
        r["evaluations"]["mscinli-neurips-test"]["metrics"]["nli_report"]["macro_f1"]
        for r in (run, other)
    ]
    found = scores["mscinli/networks"]["mscinli/neurips"]
    assert found == pytest.approx(statistics.fmean(values))
    at = [row[0] for row in table.rows].index("mscinli/networks")
    assert ["" if cell is None else str(cell) for cell in table.rows[at + 1]] == [
        "*MSciNLI, Tables 8 and 14*", "75.04 ± 1.30", "73.31 ± 1.70", "73.29 ± 0.50",
        "73.44 ± 1.00", "74.61 ± 1.10", "72.72 ± 1.00", *[""] * len(further),
    ]  # fmt: skip


def test_the_hypothesis_alone_beside_the_pair(rows, tmp_path):
    gold = rows("scinli", 4000)
    for view, share in (("pair", 0.8), ("hypothesis", 0.5)):
        config = preset("scinli-bert", view=view)
        write_run(tmp_path / view, config, {"scinli": gold}, share)
    [found] = compare_by("view", collect_runs([tmp_path]))
    [pair, alone] = found.means["scinli-bert"].values()
    assert pair["macro_f1"].mean > alone["macro_f1"].mean
    assert found.table.rows[0] == [
        "scinli-bert", "both texts", 1, pair["macro_f1"], pair["accuracy"],
    ]  # fmt: skip
    assert list(map(str, found.table.rows[-1])) == [
        "*BERT, second sentence alone (SciNLI, Table 7)*", "hypothesis alone", "", "54.56",
        "55.40",
    ]  # fmt: skip


def test_few_shots(rows, tmp_path):
    gold = rows("spacenli/few_shot", 640, n_groups=16)
    tests = {"spacenli/few_shot": gold}
    for k, seed in ((0, 1), (1, 1), (1, 2), (20, 1), (20, 2)):
        config = preset("spacenli-roberta-few-shot", n_shots=k, seed=seed)
        write_run(tmp_path / f"{k}-{seed}", config, tests, 0.6 + 0.02 * k)
    [(benchmark, table, curves)] = compare_by("n_shots", collect_runs([tmp_path]))
    assert benchmark.name == "spacenli/few_shot"
    [curve] = curves.values()
    values = [
        e.scores["accuracy"]
        for s in benchmark.systems
        if s.config.n_shots == 20
        for e in benchmark.evaluations(s).values()
    ]
    assert curve[20]["accuracy"] == (statistics.fmean(values), statistics.stdev(values), False, 2)
    assert [row[:3] for row in table.rows] == [
        ["spacenli-roberta-few-shot", 0, 1],
        ["spacenli-roberta-few-shot", 1, 2],
        ["spacenli-roberta-few-shot", 20, 2],
        ["*RoBERTa-L (SMFA), 20 shots (SpaceNLI, section 4.2.3)*", 20, 3],
    ]
    assert str(table.rows[-1][3]) == "> 99.0"


def test_few_shots_whose_hyper_parameters_follow_from_their_number(rows, tmp_path):
    """They are one curve, unless two of them have the same number."""
    gold = rows("spacenli/few_shot", 640, n_groups=16)
    pool = "spacenli/few_shot"
    few = preset("spacenli-roberta-few-shot")
    for k, epochs in ((1, 20), (20, 3)):
        options = options_of("scinli-bert", max_epochs=epochs)
        config = dataclasses.replace(few, name="own", preset=None, n_shots=k, options=options)
        write_run(tmp_path / str(k), config, {pool: gold}, 0.6 + 0.02 * k)
    [(_, _, curves)] = compare_by("n_shots", collect_runs([tmp_path]))
    assert {name: list(curve) for name, curve in curves.items()} == {"own": [1, 20]}
    for k in (1, 20):
        options = options_of("scinli-bert", max_epochs=7)
        config = dataclasses.replace(few, name="own", preset=None, n_shots=k, options=options)
        write_run(tmp_path / f"{k}-7", config, {pool: gold}, 0.6 + 0.02 * k)
    [(_, _, curves)] = compare_by("n_shots", collect_runs([tmp_path]))
    assert list(curves.values()) != [] and all(list(curve) == [1, 20] for curve in curves.values())


def test_systems_that_differ_in_nothing_are_no_parts(rows, tmp_path):
    gold = rows("scinli", 80)
    for name in ("a", "b"):
        config = RunConfig(name, "zero-shot", ("x",))
        write_run(tmp_path / "runs" / name, config, {"scinli": gold})
    assert "Parts of the training rows" not in text_of(tmp_path / "runs", tmp_path / "report")


def test_files_of_one_name_are_told_apart(rows, tmp_path):
    gold = rows("scinli", 80)
    for number in (1, 2):
        config = RunConfig("x", "encoder", ("x",), train=f"/{number}/train.jsonl")
        data = {"name": "train.jsonl", "version": None, "config": None, "split": None}
        data |= {"rows": 40, "digest": f"sha256:{number}"}
        write_run(
            tmp_path / str(number), config, {"scinli": gold}, 0.9 - 0.4 * (number - 1),
            record={"data": {"train": data}},
        )  # fmt: skip
    found = collect_runs([tmp_path])
    assert [system.name for system in found.systems] == ["x no. 1", "x no. 2"]
    assert [row[-1] for row in data_table(found).rows[1:]] == ["`sha256:1`", "`sha256:2`"]
    [benchmark] = found.benchmarks
    shown = [row[2] for row in score_table(benchmark, ["macro_f1"]).rows]
    assert len(set(shown)) == 2


# --- the whole report ---


def test_only_a_report_is_replaced(small, tmp_path):
    output = tmp_path / "report"
    output.mkdir()
    write_report([small], output)
    write_report([small], output)
    (output / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not a report, or holds other files"):
        write_report([small], output)
    (output / "notes.txt").unlink()
    (output / "report.md").write_text("# My own report")
    with pytest.raises(OutputError, match="is not a report"):
        write_report([small], output)
    with pytest.raises(OutputError, match="is not a report"):
        write_report([small], output / "report.md")
    assert (output / "report.md").read_text() == "# My own report"


def test_pictures_of_tables_show_their_numbers():
    figure = plot_transfer({"a": {"x/y": 0.5, "z": None}, "b": {"x/y": 0.625, "z": 0.75}})
    assert [text.get_text() for text in figure.axes[0].texts] == ["50.0", "62.5", "75.0"]
    assert [text.get_color() for text in figure.axes[0].texts] == ["black", "black", "white"]
    curve = {0: {"accuracy": MeanScore(0.5)}, 5: {"accuracy": MeanScore(0.75, 0.125)}}
    axes = plot_shots({"s": curve}, ["accuracy"]).axes[0]
    line = axes.containers[0].lines[0]
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([0, 5], [50, 75])
    [bars] = axes.containers[0].lines[2]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[50, 50], [62.5, 87.5]]
    axes = plot_learning({"s": [{1: 0.5, 2: 0.75}, {1: 0.25}]}).axes[0]
    assert axes.lines[-1].get_xydata().tolist() == [[1, 37.5]]
    assert [text.get_text() for text in axes.figure.legends[0].texts] == ["s"]
