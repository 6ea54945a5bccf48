import csv
import errno
import json
import os
import shutil
from collections import Counter

import datasets
import pyarrow.parquet as pq
import pytest
from nlihub.builders.core.registry import get_builder
from nlihub.builders.versions.open import open_version
from nlihub.loaders.errors import OutputError

import nlihub

NAMES = ["entailment", "neutral", "contradiction"]
SPEC = get_builder("open_spacenli").SPEC


def strings(rows):
    return [rows.features["label"].int2str(label) for label in rows["label"]]


@pytest.fixture(scope="module")
def expected(built):
    """The rows of every split, by the Parquet files alone."""
    return {
        (config, split): pq.read_table(
            built / config / f"{split}-00000-of-00001.parquet"
        ).to_pylist()
        for config, spec in SPEC.configs.items()
        for split in spec.splits
    }


def test_by_name_from_anywhere(expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = nlihub.load_dataset("open_spacenli", "few_shot", split="train")
    assert rows.to_list() == expected["few_shot", "train"]
    both = nlihub.load_dataset("open_spacenli", name="few_shot")
    assert {split: len(r) for split, r in both.items()} == {"train": 16_500, "test": 16_500}
    stream = nlihub.load_dataset("open_spacenli", split="test", streaming=True)
    assert next(iter(stream)) == expected["default", "test"][0]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_official_rows_in_the_official_order(official):
    import gzip

    rows = nlihub.load_dataset("spacenli", split="test", data_dir=str(official))
    released = json.loads(gzip.decompress((official / "160x200.json.gz").read_bytes()))["data"]
    assert rows["id"][:] == [r["id"] for r in released]
    assert rows["premise"][:] == [r["premises"] for r in released]
    assert rows["hypothesis"][:] == [r["hypothesis"] for r in released]
    assert strings(rows) == [r["label"] for r in released]
    assert rows["n_premises"][:] == [r["prem_num"] for r in released]
    assert [{f["variable"]: f["phrase"] for f in fillers} for fillers in rows["fillers"]] == [
        r["subs"] for r in released
    ]
    for column, key in {
        "source": "src",
        "inference_type": "cat",
        "related_pattern": "rel",
        "seed_pattern": "seed",
    }.items():
        assert rows[column][:] == [r.get(key) for r in released]
    assert [", ".join(e) for e in rows["expressions"]] == [r["exp"] for r in released]
    classes = [r["ent_type"].replace(" ", "_").replace("-", "_") for r in released]
    assert rows["category"][:] == classes


def test_the_official_validation_and_test_sets_of_scinli(scinli_release):
    for name, split in (("dev", "validation"), ("test", "test")):
        lines = (scinli_release / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        released = [tuple(json.loads(line).values()) for line in lines]
        rows = nlihub.load_dataset("scinli", split=split, data_dir=scinli_release)
        names = rows.features["label"].names
        found = [(r["id"], r["premise"], r["hypothesis"], names[r["label"]]) for r in rows]
        assert found == released
        assert set(rows["domain"]) == {"acl"}
        assert set(rows["group"]) | set(rows["category"]) | set(rows["source"]) == {None}


def test_the_rows_of_scinli_that_people_labelled(scinli_human, scinli_release):
    train = nlihub.load_dataset("scinli", "human", split="train", data_dir=scinli_human)
    released = []
    for name in ("train_1.tsv", "train_2.tsv"):
        with (scinli_human / name).open(encoding="utf-8", newline="") as file:
            released += csv.DictReader(file, delimiter="\t", strict=True)
    assert train["id"][:] == [f"human/{row['id']}" for row in released]
    assert train["premise"][:] == [row["sentence1"] for row in released]
    assert train["hypothesis"][:] == [row["sentence2"] for row in released]
    assert Counter(train["label"]) == dict.fromkeys(range(4), 500)
    rows = nlihub.load_dataset("scinli", split="validation+test", data_dir=scinli_release)
    tested = set(zip(rows["premise"], rows["hypothesis"], strict=True))
    assert not tested & set(zip(train["premise"], train["hypothesis"], strict=True))


def test_files_of_mismatched_are_taken_by_their_counts_and_then_by_their_hash(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NLIHUB_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "MisMatched"
    folder.mkdir()

    def write(n_rows, label="ENTAILMENT"):
        rows = (f"Premise {n}.\tHypothesis {n}.\t{label}\tPUBLIC HEALTH\n" for n in range(n_rows))
        header = "sentence1\tsentence2\tlabel\tDomain\n"
        (folder / "dev.tsv").write_text(header + "".join(rows))

    def load():
        return nlihub.load_dataset("mismatched", split="validation", data_dir=tmp_path)

    write(299)
    with pytest.raises(nlihub.NLIHubError, match=r"299 rows, published for validation.*300 \(-1\)"):
        load()
    write(300)
    assert set(load()["label"]) == {2}
    rows = nlihub.load_dataset("mismatched", "public_health", split="validation", data_dir=folder)
    assert len(rows) == 300
    write(300, "entailing")
    with pytest.raises(nlihub.NLIHubError, match="was recorded with"):
        load()
    with pytest.raises(FileNotFoundError, match=r"drive\.google\.com/file/d/15GSYcak"):
        nlihub.load_dataset("mismatched", split="test")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_official_files_of_scinli_alone_give_the_same_version(scinli_release, tmp_path, kind):
    """From a folder with files of one format, built, verified and installed."""
    for name in ("dev", "test"):
        shutil.copy(scinli_release / f"{name}.{kind}", tmp_path)
    splits = ["validation", "test"]
    folder = nlihub.build("scinli", tmp_path / "out", folder=tmp_path, splits=splits)
    assert nlihub.verify(folder).passed
    whole = datasets.load_dataset(str(folder))
    mine = nlihub.load_dataset("scinli", split="validation+test", data_dir=scinli_release)
    assert [row for split in splits for row in whole[split]] == list(mine)
    with pytest.raises(FileNotFoundError, match="the source 'train' of scinli"):
        nlihub.load_dataset("scinli", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("open_spacenly",), "no dataset 'open_spacenly'. Did you mean 'open_spacenli'"),
        (("open_spacenli", "projectiv"), "no config of open_spacenli 'projectiv'. Did you mean"),
    ],
)
def test_unknown_names(arguments, expected):
    with pytest.raises(KeyError, match=expected) as caught:
        nlihub.load_dataset(*arguments)
    assert isinstance(caught.value, ValueError)  # what datasets raises for an unknown config


@pytest.mark.parametrize("name", ["default/test-00000-of-00001.parquet", "README.md"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
@pytest.mark.slow
def test_a_version_damaged_in_the_cache_is_built_anew(name, damage):
    path = open_version("open_spacenli").folder / name
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(whole[:1000] if damage == "cut" else whole[:-1] + b"!")
    open_version("open_spacenli")
    assert path.read_bytes() == whole


def test_only_a_sound_version_is_installed(built, tmp_path):
    folder = tmp_path / "open_spacenli"
    shutil.copytree(built, folder)
    for shard in folder.glob("projective/*"):
        shutil.copy(shard, folder / "default" / "test-00000-of-00001.parquet")
    with pytest.raises(ValueError, match="fails the check 'files have their"):
        nlihub.install(str(folder))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "Permission denied: '.*'. Set HF_HOME to a folder for the cache"),
        (errno.ENOSPC, "cannot be written: No space left on device. Make room"),
    ],
)
def test_a_cache_that_cannot_be_written_is_named(number, message, monkeypatch):
    """Somebody else's, in which ``datasets`` cannot even lock; or one on a full disk."""

    def refuse(path, *_):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(datasets.builder, "FileLock", refuse)
    with pytest.raises(OutputError, match=message):
        nlihub.load_dataset("open_spacenli", split="test")


@pytest.mark.slow
def test_installing_again_repairs(built):
    folders = nlihub.install(str(built))
    assert folders[-1].parts[-3] == "default"  # the newest: datasets takes it where none is named
    [file] = folders[-1].glob("*.arrow")
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    nlihub.install(str(built))
    assert file.read_bytes() == whole


def test_a_wrong_source_folder_is_refused_though_the_dataset_is_in_the_cache(official, tmp_path):
    nlihub.load_dataset("spacenli", split="test", data_dir=official)
    for name in ("problem_patterns.xml", "selection_restriction.yaml"):
        (tmp_path / name).write_text("other")
    with pytest.raises(ValueError, match="is not the pinned"):
        nlihub.load_dataset("spacenli", split="test", data_dir=tmp_path)
    with pytest.raises(ValueError, match="takes no source"):
        nlihub.load_dataset("open_spacenli", split="test", data_dir=tmp_path)


def test_another_folder_of_the_same_name_is_not_served_from_the_cache(built, tmp_path):
    """datasets keys its cache by the folder's own name and the card, not by its path."""
    other = tmp_path / "open_spacenli"
    shutil.copytree(built, other)
    file = other / "default" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(file).slice(0, 10), file)
    card = (other / "README.md").read_text()
    digest = open_version(str(built)).manifest.config_digest("default")
    assert card.count(digest) == 1
    new = card.replace(digest, "test:0000000000000000").replace(
        "num_examples: 33000", "num_examples: 10"
    )
    (other / "README.md").write_text(new)
    assert len(datasets.load_dataset(str(built), "default", split="test")) == 33_000
    assert len(datasets.load_dataset(str(other), "default", split="test")) == 10
