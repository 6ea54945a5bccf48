"""Publishing datasets, over HTTP to the Hub of the tests."""

import json

import mlcroissant
import pytest
import yaml
from hub_users import KEY, REPO, use
from nlihub.builders.publish.card import is_handwritten, merge_cards
from nlihub.builders.publish.hub.repository import HubRepository
from nlihub.loaders.errors import HubError, UsageError

FIRST = {"rows": {"r1": {"premise": "Another animal has walked into the barn."}}}
LOAD = f"""
import json
from datasets import load_dataset
def load(revision, config="default", split="test", **more):
    return load_dataset("{REPO}", config, revision=revision, split=split, **more)
"""


def tags(hub):
    return {tag: commit.oid for tag, commit in hub.repos[KEY].tags.items()}


def n_commits(hub):
    return len(hub.repos[KEY].commits) - 1 if KEY in hub.repos else 0  # the first is empty


def test_the_whole_way(hub, publisher, tmp_path):
    said = publisher.publish("1.0.0")
    assert said.splitlines() == [
        f"{hub.url}/datasets/{REPO}/tree/v1.0.0",
        f'load_dataset("{REPO}", "default", revision="v1.0.0")',
    ]
    said = publisher.publish("1.1.0", column=True)
    assert n_commits(hub) == 2
    found = use(
        hub,
        tmp_path / "user",
        LOAD
        + """
first, second = load("v1.0.0"), load("v1.1.0")
streamed = list(load("v1.1.0", "whole", streaming=True))
print(json.dumps({
    "columns": [first.column_names, second.column_names],
    "rows": [len(first), len(second), len(streamed)],
    "labels": [first.features["label"].int2str(first["label"][:3]), streamed[0]["label"]],
    "main": load("main").column_names,
}))
""",
    )
    first, second = found["columns"]
    assert second == [*first, "words"] == found["main"]
    assert found["rows"] == [60, 60, 90]
    assert found["labels"] == [["neutral", "contradiction", "neutral"], 0]

    versions = json.loads(publisher.run("versions", REPO, "--json"))
    assert [version["number"] for version in versions] == ["1.1.0", "1.0.0"]
    assert versions[0]["rows"] == {"default": {"train": 30, "test": 60}, "whole": {"test": 90}}
    assert versions[0]["commit"] == tags(hub)["v1.1.0"]
    assert "default 30/60; whole 90" in publisher.run("versions", REPO)
    found = json.loads(publisher.run("diff", f"{REPO}@v1.0.0", f"{REPO}@1.1.0", "--json"))
    assert found["columns"]["added"] == ["words"]
    assert "words" in publisher.run("diff", f"{REPO}@v1.0.0", f"{REPO}@1.1.0")


def test_a_published_version_is_tried_out_again_and_not_published_twice(hub, publisher):
    publisher.publish("1.0.0")
    requests = len(hub.requests)
    answer = json.loads(publisher.publish("1.0.0", "--json"))
    assert answer["was_there"]
    assert answer["commit"] == tags(hub)["v1.0.0"]
    assert n_commits(hub) == 1
    written = [m for m, path in hub.requests[requests:] if m not in ("GET", "HEAD")]
    assert written == []


@pytest.mark.parametrize(
    ("changes", "number", "needed", "reason"),
    [
        ({"rows": {"r1": {"label": "entailment"}}}, "1.1.0", "2.0.0", "default/test has other"),
        ({"rows": {"r1": None}}, "1.9.9", "2.0.0", "default/test has 59 rows, it had 60"),
        ({"reversed": True}, "1.0.1", "2.0.0", "whole/test has its rows in another order"),
        ({"column": True}, "1.0.1", "1.1.0", "column words is added"),
        ({"license": "mit"}, "1.0.0", "1.0.1", "LICENSE is another"),
        ({"column": True}, "1.0.0", "1.1.0", "column words is added"),
    ],
)
def test_a_number_says_at_least_what_has_changed(hub, publisher, changes, number, needed, reason):
    publisher.publish("1.0.0")
    before = hub.files(KEY)
    said = publisher.publish(number, code=1, **changes)
    assert reason in said
    assert needed in said
    assert hub.files(KEY) == before
    publisher.publish(needed, **changes)
    assert list(tags(hub)) == ["v1.0.0", f"v{needed}"]


def test_numbers_that_are_refused(hub, publisher):
    publisher.publish("1.2.0")
    assert "Nothing has changed since 1.2.0" in publisher.publish("1.2.1", code=1)
    assert "does not follow 1.2.0" in publisher.publish("1.1.9", code=1, **FIRST)
    for number in ("1.2", "1", "one", "01.0.0", "1.0.0-rc1"):
        assert "no version number" in publisher.publish(number, code=2)
    assert n_commits(hub) == 1


def test_what_the_new_version_has_not_is_gone_and_what_others_put_there_stays(hub, publisher):
    publisher.publish("1.0.0")
    head = hub.repos[KEY].commits[-1]
    head.files["notes/mine.txt"] = hub.keep(b"mine")
    publisher.publish("2.0.0", "--config", "whole", code=2)  # a folder is built already
    folder = publisher.build()
    publisher.run("build", "open_spacenli", "--config", "whole", "-o", str(folder.parent.parent))
    whole = folder.parent.parent / "open_spacenli"
    options = ["--repo", REPO, "--version", "2.0.0", "--yes"]
    publisher.run("publish", str(whole), *options)
    assert "notes/mine.txt" in hub.files(KEY)
    parquet = [path for path in hub.files(KEY) if path.endswith(".parquet")]
    assert parquet == ["whole/test-00000-of-00001.parquet"]
    assert "default/test-00000-of-00001.parquet" in hub.files(KEY, "v1.0.0")


def test_files_that_would_be_loaded_with_it_are_refused(hub, publisher):
    publisher.publish("1.0.0")
    head = hub.repos[KEY].commits[-1]
    head.files["whole/test-extra.parquet"] = hub.keep(b"PAR1")
    assert "whole/test-extra.parquet" in publisher.publish("2.0.0", code=2, **FIRST)


def test_dry_run_and_asking(hub, publisher):
    folder = str(publisher.build())
    options = ["publish", folder, "--repo", REPO, "--version", "1.0.0"]
    said = publisher.run(*options, "--dry-run")
    assert "will be made" in said
    assert "  + default/train-00000-of-00001.parquet" in said
    assert "nobody to ask" in publisher.run(*options, code=2)
    assert hub.repos == {}
    publisher.run(*options, "--yes")
    found = json.loads(publisher.publish("2.0.0", "--dry-run", "--json", **FIRST))
    assert found["newest"] == "1.0.0"
    assert {change["level"] for change in found["changes"]} == {"MAJOR", "PATCH"}
    assert n_commits(hub) == 1


def test_private(hub, publisher):
    publisher.publish("1.0.0", "--private")
    assert hub.repos[KEY].private
    publisher.publish("2.0.0", "--private", **FIRST)
    publisher.publish("1.0.0", repo="someone/open")
    assert "is public" in publisher.publish(
        "2.0.0", "--private", repo="someone/open", code=2, **FIRST
    )


@pytest.mark.parametrize("name", ["toy", "a/b/c", "/toy", "someone/", "some one/toy", ""])
def test_names_that_are_none(name):
    with pytest.raises(UsageError, match="repository"):
        HubRepository(name)


def test_a_damaged_version_is_not_published(hub, publisher):
    folder = publisher.build()
    (folder / "LICENSE").write_text("mine")
    options = ["--repo", REPO, "--version", "1.0.0", "--yes"]
    said = publisher.run("publish", str(folder), *options, code=1)
    assert "'files have their hashes' failed" in said
    assert hub.repos == {}


def test_without_a_network(publisher):
    said = publisher.publish("1.0.0", code=1, more={"HF_HUB_OFFLINE": "1"})
    assert "HF_HUB_OFFLINE" in said
    said = publisher.publish("1.0.0", code=1, more={"HF_ENDPOINT": "http://127.0.0.1:9"})
    assert "Run the command again" in said


# ---- the card -------------------------------------------------------------------------------


def edit_card(hub, change):
    head = hub.repos[KEY].commits[-1]
    text = change(hub.files(KEY)["README.md"].decode())
    head.files["README.md"] = hub.keep(text.encode())


def test_the_card_keeps_what_people_wrote(hub, publisher):
    publisher.publish("1.0.0")
    card = hub.files(KEY)["README.md"].decode()
    assert f'load_dataset("{REPO}", "default", split="test", revision="v1.0.0")' in card
    edit_card(
        hub,
        lambda text: (
            text.replace("license: apache-2.0", "license: apache-2.0\nviewer: false")
            .replace("# Dataset Card", "# Our Dataset Card")
            .replace("\n## ", "\n## Thanks\n\nTo all.\n\n## ", 1)
        ),
    )
    for number, changes in (("1.1.0", {"column": True}), ("2.0.0", {"column": True, **FIRST})):
        said = publisher.publish(number, "--dry-run", **changes)
        assert "was changed on the Hub, and stays" in said
        publisher.publish(number, **changes)
        card = hub.files(KEY, f"v{number}")["README.md"].decode()
        assert "viewer: false" in card
        assert "## Thanks\n\nTo all.\n" in card
        assert f'revision="v{number}")' in card
        assert "`words`" in card


def test_croissant_metadata_goes_along(hub, publisher, tmp_path, monkeypatch):
    publisher.publish("1.0.0", "--croissant")
    content = hub.files(KEY, "v1.0.0")["croissant.json"]
    described = json.loads(content)
    assert described["version"] == "1.0.0"
    assert f"{hub.url}/datasets/{REPO}/resolve/v1.0.0/" in content.decode()
    monkeypatch.setattr(mlcroissant.constants, "DOWNLOAD_PATH", tmp_path / "downloads")
    rows = list(mlcroissant.Dataset(described).records("default/test"))
    assert len(rows) == 60
    publisher.publish("1.0.0", "--croissant")
    assert n_commits(hub) == 1
    said = publisher.publish("1.0.0", code=1)
    assert "croissant.json is removed" in said
    publisher.publish("1.0.1")
    assert "croissant.json" not in hub.files(KEY)
    output = tmp_path / "croissant.json"
    publisher.run("croissant", str(publisher.build()), "-o", str(output))
    assert json.loads(output.read_text())["name"] == "open_spacenli"


def test_cards_are_merged(tmp_path):
    """Merging again changes nothing, whoever wrote what."""
    ours = "---\nlicense: mit\ntags:\n- a\n---\n\n# One\n\n{}\nOurs.\n"
    block = "<!-- nlihub:begin {0} -->\n{1}\n<!-- nlihub:end {0} -->\n"
    first, second = (ours.format(block.format("n", n)) for n in (1, 2))
    published = merge_cards(first, None)
    for theirs, kept in (
        (published, None),
        (published.replace("Ours.", "Theirs."), "Theirs."),
        (published.replace("\n", "\r\n"), None),
        ("", None),
        ("---\nlicense: other\ntags: [b]\nviewer: no\n---\n\nHello.\n", "Hello."),
        ("Hello.\n", "Hello."),
        (published.replace(block.format("n", 1), "Theirs."), "Theirs."),
        (published.replace("# One", "# Two\n\n" + block.format("mine", 7)), "# Two"),
    ):
        merged = merge_cards(second, theirs)
        assert merge_cards(second, merged) == merged, theirs
        assert block.format("n", 2) in merged
        assert (kept or "Ours.") in merged
        matter = yaml.safe_load(merged.split("---\n")[1])
        assert matter["license"] == "mit"
        assert matter["tags"] == (["a", "b"] if "[b]" in theirs else ["a"])
        assert ("viewer" in matter) == ("viewer" in theirs)
    assert block.format("mine", 7) in merged
    # Once the text is as we gave it, it is ours again.
    back = merge_cards(second, published.replace("Ours.", "Theirs.")).replace("Theirs.", "Ours.")
    assert not is_handwritten(back)
    with pytest.raises(HubError, match="is no YAML"):
        merge_cards(second, "---\na: [\n---\n\nHello.\n")
