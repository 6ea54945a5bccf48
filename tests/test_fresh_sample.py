import json
from collections import Counter
from itertools import chain

import datasets
import pyarrow.parquet as pq
import pytest
from nlihub.builders.construct.mending import RULES, mend_sample
from nlihub.builders.construct.pattern_sampling import SamplingConfig, sample_bank
from nlihub.builders.pattern_rows import EXTRA, LABELS
from nlihub.builders.schema import uniform_features
from nlihub.loaders.corpora.pattern_bank import read_pattern_bank

import nlihub


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("underscore", "Kate walked at_least twice", "Kate walked at least twice"),
        ("spelling", "The potatoe is in the cup", "The potato is in the cup"),
        ("spelling", "The potatoes are in the cup", None),
        ("agreement", "The glasses is in the cup", "The glasses are in the cup"),
        ("agreement", "The shorts was lost", "The shorts were lost"),
        ("agreement", "The boy in the jeans is here", None),
        ("agreement", "The glass is in the cup", None),
        ("agreement", "The glasses island", None),
    ],
)
def test_mending_rules(rule, before, after):
    assert RULES[rule](before) == (before if after is None else after)


def test_every_mend_is_listed_and_counted(official, tmp_path):
    bank = read_pattern_bank(
        official / "problem_patterns.xml", official / "selection_restriction.yaml"
    )
    output = tmp_path / "fresh.parquet"
    summary = nlihub.sample("spacenli", output, seed=3, per_pattern=40, folder=official)
    config = SamplingConfig(40, 3, unlike=SamplingConfig())
    raw = list(sample_bank(bank, config))
    mends = [json.loads(line) for line in summary.mends.read_text().splitlines()]
    assert summary.mends.name == "fresh.parquet.mends.jsonl"
    assert Counter(m["rule"] for m in mends) == summary.mended
    assert set(summary.mended) == set(RULES)
    text = "\n".join(s for sample in raw for column in sample.sentences for s in column)
    assert summary.mended["underscore"] == text.count("at_least")
    rows = pq.read_table(output)
    mended = "\n".join(rows["premise"].to_pylist() + rows["hypothesis"].to_pylist())
    assert "_" not in mended
    assert "potatoe " not in mended
    by_id = dict(zip(rows["id"].to_pylist(), rows.to_pylist(), strict=True))
    for mend in mends:
        row = by_id[mend["problem"]]
        if mend["rule"] == "agreement":  # the last rule: its outcome is the final text
            assert mend["after"] in row["premise"] + row["hypothesis"]
    for sample in raw:  # nothing else is changed
        new, found = mend_sample(sample)
        old = [s for column in sample.sentences for s in column]
        changed = [a != b for a, b in zip(old, chain(*new.sentences), strict=True)]
        assert sum(changed) <= len(found)


def test_a_fresh_sample_has_no_released_problem(official, tmp_path):
    output = tmp_path / "fresh.parquet"
    summary = nlihub.sample("spacenli", output, seed=42, per_pattern=200, folder=official)
    rows = pq.read_table(output)
    old = nlihub.load_dataset("spacenli", split="test", data_dir=official)
    assert summary.rows == len(rows) == 29_833
    assert summary.short["103"] == 21
    assert len(summary.short) == 18
    fillers = {(g, json.dumps(f)) for g, f in zip(old["group"], old["fillers"], strict=True)}
    assert not [r for r in rows.to_pylist() if (r["group"], json.dumps(r["fillers"])) in fillers]
    assert not set(rows["id"].to_pylist()) & set(old["id"])
    everything = nlihub.sample("spacenli", output, seed=42, include_released=True, folder=official)
    assert everything.rows == 32_000


def test_a_bank_of_ones_own(bank_files, tmp_path):
    folder = str(bank_files()[0].parent)
    summary = nlihub.sample(folder, tmp_path / "s.jsonl", seed=1, per_pattern=4)
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert summary.rows == len(lines) == 12
    assert summary.mends is None
    assert lines[0]["id"] == "1-s1-0"
    assert lines[0]["label"] == "neutral"
    assert lines[0]["category"] == "non_projective"
    nlihub.sample(folder, tmp_path / "s.parquet", seed=1, per_pattern=4)
    rows = datasets.load_dataset("parquet", data_files=str(tmp_path / "s.parquet"), split="train")
    assert rows.features == uniform_features(LABELS, EXTRA)
    assert [rows.features["label"].int2str(r) for r in rows["label"]] == [r["label"] for r in lines]


def test_batches_do_not_change_the_rows(bank_files, tmp_path, monkeypatch):
    from nlihub.builders import fresh_sample

    folder = str(bank_files()[0].parent)
    nlihub.sample(folder, tmp_path / "a.parquet", seed=1)
    monkeypatch.setattr(fresh_sample, "_BATCH_ROWS", 5)
    nlihub.sample(folder, tmp_path / "b.parquet", seed=1)
    assert pq.read_table(tmp_path / "a.parquet").equals(pq.read_table(tmp_path / "b.parquet"))


def test_an_ending_that_is_not_known_is_refused(bank_files, tmp_path):
    folder = str(bank_files()[0].parent)
    with pytest.raises(ValueError, match=r"must end in .parquet or .jsonl"):
        nlihub.sample(folder, tmp_path / "s.csv", seed=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bank"]
