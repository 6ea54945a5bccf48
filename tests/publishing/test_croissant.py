import functools
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
from itertools import islice

import datasets
import mlcroissant
import pytest
from command_line import run_command
from nlihub.builders.core.options import BuildOptions
from nlihub.builders.core.registry import builders, get_builder
from nlihub.builders.versions.version import BuiltVersion
from nlihub.builders.versions.write import build_version
from nlihub.loaders.errors import MissingExtraError, SchemaError
from nlihub.loaders.hashing import hash_file
from nlihub.publishing import croissant
from nlihub.publishing.croissant import croissant_metadata, write_croissant

LOCATION = "https://huggingface.co/datasets/someone/open_spacenli/resolve/v1.0.0"


@pytest.fixture(scope="module")
def versions(built, releases, tmp_path_factory):
    """A small version of each dataset, in files that are as small as can be.

    ``built`` comes first, because it is to hold the real bank.
    """
    output = tmp_path_factory.mktemp("versions")
    made = {}
    for name, builder in builders().items():
        options = BuildOptions(None if builder.SPEC.offline else releases / "jsonl")
        made[name] = build_version(builder, output, options, max_shard_bytes=1)
    return made


@pytest.fixture
def version(built):
    return BuiltVersion(built)


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serves a folder over HTTP, and gives its address."""
    monkeypatch.setattr(mlcroissant.constants, "DOWNLOAD_PATH", tmp_path / "downloads")
    servers = []

    def serve(folder):
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield serve
    for started in servers:
        started.shutdown()
        started.server_close()


def _metadata(version, location):
    return croissant_metadata(version.manifest, version.builder.SPEC, location)


def described(version, output):
    """The version as mlcroissant reads it from its description."""
    write_croissant(version, output, None)
    return mlcroissant.Dataset(output)


def plain(value):
    """What mlcroissant gives, as pyarrow would: texts for bytes, columns for identifiers."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {key.rpartition("/")[2]: plain(v) for key, v in value.items()}
    return value


def expected(version, config, split):
    return [row | {"split": split} for row in version.table(config, split).to_pylist()]


def recorded(dataset, version, config, split):
    """The records of a split: one record set for its file, or one for each of its files."""
    files = [shard.file for shard in version.manifest.configs[config][split].shards]
    several = [file.removesuffix(".parquet") for file in files]
    keys = several if len(files) > 1 else [f"{config}/{split}"]
    return [plain(record) for key in keys for record in dataset.records(key)]


def files_of(metadata):
    return [node for node in metadata["distribution"] if node["@type"] == "cr:FileObject"]


@pytest.mark.parametrize("name", builders())
def test_records_are_the_rows(versions, name, tmp_path):
    version = versions[name]
    dataset = described(version, tmp_path / "croissant.json")
    for split in version.manifest.configs[version.main_config]:
        rows = recorded(dataset, version, version.main_config, split)
        assert rows == expected(version, version.main_config, split)


@pytest.mark.slow
def test_records_of_a_real_version_have_the_labels_of_the_enumeration(version, tmp_path):
    dataset = described(version, tmp_path / "croissant.json")
    names = {row["id"]: row["name"] for row in map(plain, dataset.records("labels"))}
    rows = [plain(record) for record in dataset.records("projective/test")]
    assert rows == expected(version, "projective", "test")
    loaded = datasets.load_dataset(str(version.folder), "projective", split="test")
    labels = [loaded.features["label"].int2str(label) for label in loaded["label"]]
    assert [names[row["label"]] for row in rows] == labels
    assert [row["name"] for row in map(plain, dataset.records("splits"))] == ["train", "test"]


def test_records_of_files_on_a_server(versions, server):
    version = versions["mscinli"]
    dataset = mlcroissant.Dataset(_metadata(version, server(version.folder)))
    for split, entry in version.manifest.configs["plus"].items():
        assert len(entry.shards) == 2
        rows = recorded(dataset, version, "plus", split)
        assert rows == expected(version, "plus", split)


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_wrong_hash_is_noticed(versions, is_remote, server, tmp_path):
    folder = versions["scinli"].folder
    location = server(folder) if is_remote else str(folder)
    metadata = _metadata(versions["scinli"], location)
    for file in files_of(metadata):
        file["sha256"] = "0" * 64
    (tmp_path / "croissant.json").write_text(json.dumps(metadata), encoding="utf-8")
    records = mlcroissant.Dataset(tmp_path / "croissant.json").records("default/test")
    with pytest.raises(mlcroissant.GenerationError) as error:
        next(iter(records))
    assert "Hash of downloaded file" in str(error.value.__cause__)


@pytest.mark.parametrize("name", builders())
def test_every_file_is_listed_with_its_hash(versions, name):
    version = versions[name]
    files = {node["contentUrl"]: node for node in files_of(_metadata(version, ""))}
    here = {path for path in version.manifest.hashes() if path.endswith(".parquet")}
    assert set(files) == here
    for path, node in files.items():
        assert node["sha256"] == hash_file(version.folder / path)
        assert node["contentSize"] == f"{(version.folder / path).stat().st_size} B"


def test_it_is_valid_without_network(version, monkeypatch):
    def refuse(*_):
        raise AssertionError("somebody asks the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    issues = mlcroissant.Dataset(_metadata(version, LOCATION)).metadata.ctx.issues
    assert not issues.errors
    (warning,) = issues.warnings
    assert "datePublished" in warning


@pytest.mark.slow
def test_same_bytes_whatever_the_hash_seed(version, tmp_path):
    write_croissant(version, tmp_path / "a.json", LOCATION)
    code = (
        "import sys; from pathlib import Path\n"
        "from nlihub.publishing.croissant import write_croissant\n"
        "from nlihub.builders.versions.version import BuiltVersion\n"
        "write_croissant(BuiltVersion(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3])"
    )
    arguments = [str(version.folder), str(tmp_path / "b.json"), LOCATION]
    environment = {**os.environ, "PYTHONHASHSEED": "3"}
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=environment)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_it_says_of_the_dataset(version):
    metadata = _metadata(version, LOCATION)
    spec = get_builder("open_spacenli").SPEC
    known = {
        "name": "open_spacenli",
        "alternateName": "Open SpaceNLI",
        "description": spec.summary,
        "version": "1.0.0",
        "url": "https://huggingface.co/datasets/someone/open_spacenli",
        "citeAs": spec.citation.strip(),
        "keywords": ["natural language inference", "spatial"],
        "inLanguage": "en",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
    }
    assert metadata.items() >= known.items()
    assert "datePublished" not in metadata
    (label,) = (
        field
        for record_set in metadata["recordSet"]
        for field in record_set["field"]
        if field["@id"] == "default/test/label"
    )
    assert label["dataType"] == ["sc:Integer", "cr:Label"]
    assert label["references"] == {"field": {"@id": "labels/id"}}


SADAT_CARAGEA = ["Mobashir Sadat", "Cornelia Caragea"]


@pytest.mark.parametrize(
    ("name", "licence", "url", "kind", "creators"),
    [
        (
            "bionli",
            "CC-BY-4.0",
            "https://stonybrooknlp.github.io/BioNLI/",
            "sc:Person",
            ["Mohaddeseh Bastan", "Mihai Surdeanu", "Niranjan Balasubramanian"],
        ),
        (
            "mscinli",
            "CC-BY-SA-4.0",
            "https://github.com/msadat3/MSciNLI",
            "sc:Person",
            SADAT_CARAGEA,
        ),
        (
            "open_spacenli",
            "Apache-2.0",
            "https://arxiv.org/abs/2307.02269",
            "sc:Organization",
            ["The nlihub authors"],
        ),
        (
            "scinli",
            "CC-BY-SA-4.0",
            "https://github.com/msadat3/SciNLI",
            "sc:Person",
            SADAT_CARAGEA,
        ),
        (
            "spacenli",
            "MIT",
            "https://github.com/kovvalsky/SpaceNLI",
            "sc:Person",
            ["Lasha Abzianidze", "Joost Zwarts", "Yoad Winter"],
        ),
    ],
)
def test_licence_page_and_creators(versions, name, licence, url, kind, creators):
    metadata = _metadata(versions[name], "")
    assert metadata["license"] == f"https://spdx.org/licenses/{licence}.html"
    assert metadata["url"] == url
    assert metadata["creator"] == [{"@type": kind, "name": creator} for creator in creators]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (LOCATION, f"{LOCATION}/default/test-00000-of-00001.parquet"),
        (f"{LOCATION}/", f"{LOCATION}/default/test-00000-of-00001.parquet"),
        ("", "default/test-00000-of-00001.parquet"),
        (".", "default/test-00000-of-00001.parquet"),
        ("../versions", "../versions/default/test-00000-of-00001.parquet"),
    ],
)
def test_addresses_of_files(version, location, expected):
    first, *_ = files_of(_metadata(version, location))
    assert first["contentUrl"] == expected


def test_it_is_written_anywhere_and_through_links(versions, tmp_path):
    folder = versions["scinli"].folder
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "deep").mkdir()
    dataset = described(BuiltVersion(tmp_path / "link"), tmp_path / "deep" / "croissant.json")
    assert len(list(islice(dataset.records("default/test"), 2))) == 2
    text = (tmp_path / "deep" / "croissant.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert text.endswith("}\n")


def test_it_is_written_on_the_command_line(versions, tmp_path):
    done = run_command("croissant", versions["scinli"].folder, "--output", tmp_path / "c.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "c.json").read_text())["name"] == "scinli"


def test_it_is_checked_before_it_is_given(version, monkeypatch):
    monkeypatch.setitem(croissant._TYPES, "string", "sc:Words")
    with pytest.raises(mlcroissant.ValidationError, match="/Words"):
        _metadata(version, LOCATION)


def test_a_type_that_croissant_has_not(version, monkeypatch):
    monkeypatch.setattr(croissant, "_TYPES", {"string": "sc:Text"})
    with pytest.raises(SchemaError, match="'label' has int64 in it, for which Croissant has no"):
        _metadata(version, "")


def test_the_missing_extra_is_named(version, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mlcroissant", None)
    with pytest.raises(MissingExtraError, match=r"nlihub\[croissant\]") as error:
        write_croissant(version, tmp_path / "croissant.json", None)
    assert isinstance(error.value, ImportError)
    assert not (tmp_path / "croissant.json").exists()
