"""A forger rewrites rows, manifest and card so that they fit; the sources refuse it."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.registry import get_builder
from nlihub.builders.core.row_digests import digest, order_digest, row_hashes
from nlihub.builders.versions.verify import verify_version
from nlihub.builders.versions.version import MANIFEST, BuiltVersion
from nlihub.builders.versions.write import write_texts
from nlihub.loaders.hashing import hash_file

import nlihub

TEST = "default/test-00000-of-00001.parquet"
ALL = "few_shot/test-00000-of-00001.parquet"


@pytest.fixture
def copy(small, tmp_path, fewer_problems):
    folder = tmp_path / "open_spacenli"
    shutil.copytree(small, folder)
    return folder


def forge(folder, change_rows, file=TEST):
    """Changes rows and makes hashes, digests, card and manifest fit."""
    path = folder / file
    table = pq.read_table(path)
    changed = pa.Table.from_pylist(change_rows(table.to_pylist()), schema=table.schema)
    pq.write_table(changed, path)
    config, split = file.split("/")[0], file.split("/")[1].split("-")[0]
    hashes = row_hashes(changed, get_builder("open_spacenli").SPEC.labels)

    def fit(fields):
        entry = fields["configs"][config][split]
        entry |= {"rows": len(changed), "digest": digest(hashes)}
        entry |= {"order_digest": order_digest(hashes), "arrow_bytes": changed.nbytes}
        entry["shards"][0] |= {"rows": len(changed), "bytes": path.stat().st_size}
        entry["shards"][0] |= {"sha256": hash_file(path)}

    forge_manifest(folder, fit)


def forge_manifest(folder, change):
    fields = json.loads((folder / MANIFEST).read_text())
    change(fields)
    (folder / MANIFEST).write_text(json.dumps(fields))
    version = BuiltVersion(folder)
    write_texts(version)


def edited(rows):
    return [{**rows[0], "premise": rows[0]["premise"] + " Indeed."}, *rows[1:]]


def swapped(rows):
    return [rows[1], rows[0], *rows[2:]]


FORGERIES = [
    pytest.param(lambda rows: rows[:-1], "1 of these are missing", id="dropped"),
    pytest.param(swapped, "another order", id="swapped", marks=pytest.mark.slow),
    pytest.param(lambda rows: rows[::-1], "another order", id="reversed", marks=pytest.mark.slow),
    pytest.param(edited, "1 rows are not in the sources", id="edited", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("change", "expected"), FORGERIES)
@pytest.mark.slow
def test_a_consistent_forger_is_found_by_the_sources_alone(copy, change, expected):
    forge(copy, change, ALL)
    assert "config default" not in str(verify_version(copy).outcomes)
    report = nlihub.verify(copy, against_sources=True)
    found = {o.check: " ".join(o.findings) for o in report.outcomes if not o.passed}
    assert expected in found["rows are those of the sources"]
    without = nlihub.verify(copy)
    trust = next(o for o in without.outcomes if o.check == "taken on trust")
    assert "--against-sources" in trust.findings[0]


def test_sound_rows_are_those_of_the_sources(copy):
    report = nlihub.verify(copy, against_sources=True)
    assert report.passed
    proved = {o.check: o.findings for o in report.outcomes}
    assert proved["rows are those of the sources"] == ()
    [software] = proved["taken on trust"]
    assert software.startswith("that it was made with nlihub ")


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ({"parameters": {"seed": 43, "per_pattern": 20}}, "parameter seed: 43, the sources give"),
        ({"oddities": {"a.txt": {"tabs": 3}}}, "oddities of a.txt: {'tabs': 3}, the sources give"),
    ],
)
@pytest.mark.slow
def test_other_parameters_and_oddities_are_found_by_the_sources(copy, field, found):
    forge_manifest(copy, lambda fields: fields.update(field))
    report = nlihub.verify(copy, against_sources=True)
    failed = {o.check: " ".join(o.findings) for o in report.outcomes if not o.passed}
    assert list(failed) == ["rows are those of the sources"]
    assert found in failed["rows are those of the sources"]


def test_the_size_of_a_source_is_that_of_the_source(copy):
    forge_manifest(copy, lambda fields: fields["sources"][0].update(bytes=1))
    report = nlihub.verify(copy, against_sources=True)
    failed = {o.check: " ".join(o.findings) for o in report.outcomes if not o.passed}
    assert ": 1 bytes, expected " in failed["rows are those of the sources"]


def test_a_repository_is_taken_on_trust(copy):
    forge_manifest(copy, lambda fields: fields.update(repository="someone/else", version="2.0.0"))
    trust = next(o for o in nlihub.verify(copy).outcomes if o.check == "taken on trust")
    assert any("that it is version 2.0.0 of someone/else" in f for f in trust.findings)


def test_an_empty_split_is_found_without_sources(copy):
    forge(copy, lambda rows: [], ALL)
    assert "few_shot/test has no rows" in failures(copy)


def test_a_missing_config_is_listed_without_sources(copy):
    shutil.rmtree(copy / "few_shot")
    forge_manifest(copy, lambda fields: fields["configs"].pop("few_shot"))
    report = verify_version(copy)
    assert report.passed  # a part may be built alone
    assert ("config few_shot",) in [outcome.findings for outcome in report.outcomes]


def test_sources_of_another_dataset_are_found_without_sources(copy):
    def rename(fields):
        fields["sources"] = [{"url": "mine.jsonl", "bytes": 3, "sha256": "0" * 64}]

    forge_manifest(copy, rename)
    found = failures(copy)
    assert "patterns is not among its sources" in found
    assert "mine.jsonl is no source of this dataset" in found


def test_another_hash_of_a_source_is_taken_on_trust(copy):
    forge_manifest(copy, lambda fields: fields["sources"][0].update(sha256="0" * 64))
    trust = next(o for o in nlihub.verify(copy).outcomes if o.check == "taken on trust")
    assert any("patterns.xml" in finding for finding in trust.findings)


def failures(folder):
    report = verify_version(folder)
    return " ".join(f for o in report.outcomes if not o.passed for f in o.findings)
