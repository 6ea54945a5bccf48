"""A forger rewrites rows, manifest and card so that they fit; the sources refuse it."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.registry import get_builder
from nlihub.builders.core.row_digests import both_digests, row_hashes
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
        entry["digest"], entry["order_digest"] = both_digests(hashes)
        entry |= {"rows": len(changed), "arrow_bytes": changed.nbytes}
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
    pytest.param(swapped, "another order", id="swapped"),
    pytest.param(edited, "1 rows are not in the sources", id="edited"),
]


@pytest.mark.parametrize(("change", "expected"), FORGERIES)
@pytest.mark.slow
def test_a_consistent_forger_is_found_by_the_sources_alone(copy, change, expected):
    forge(copy, change, ALL)
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
    ("change", "found"),
    [
        ({"parameters": {"seed": 43, "per_pattern": 20}}, "parameter seed: 43, the sources give"),
        ({"oddities": {"a.txt": {"tabs": 3}}}, "oddities of a.txt: {'tabs': 3}, the sources give"),
        (lambda fields: fields["sources"][0].update(bytes=1), ": 1 bytes, expected "),
    ],
)
@pytest.mark.slow
def test_what_the_manifest_says_of_the_making_is_compared_with_the_sources(copy, change, found):
    forge_manifest(copy, change if callable(change) else lambda fields: fields.update(change))
    report = nlihub.verify(copy, against_sources=True)
    failed = {o.check: " ".join(o.findings) for o in report.outcomes if not o.passed}
    assert list(failed) == ["rows are those of the sources"]
    assert found in failed["rows are those of the sources"]


def test_a_repository_and_the_hash_of_a_source_are_taken_on_trust(copy):
    def change(fields):
        fields.update(repository="someone/else", version="2.0.0")
        fields["sources"][0].update(sha256="0" * 64)

    forge_manifest(copy, change)
    trust = next(o for o in nlihub.verify(copy).outcomes if o.check == "taken on trust")
    for words in ("that it is version 2.0.0 of someone/else", "patterns.xml"):
        assert any(words in finding for finding in trust.findings)
