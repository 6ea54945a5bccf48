"""The Hub of the tests, as the real clients see it over HTTP."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import hub_server
import huggingface_hub
import pytest
from command_line import WITHOUT_TRANSFORMERS
from hub_server import Fault, hub_in_a_process, running_hub

IS_OLD = int(huggingface_hub.__version__.split(".")[0]) < 1  # retries less than newer ones do

ROWS = """
import io, json, pyarrow as pa, pyarrow.parquet as pq
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

api, repo = HfApi(), "someone/rows"
CARD = '''---
configs:
- config_name: default
  data_files:
  - split: test
    path: d/*.parquet
---
'''

def parquet(*numbers):
    file = io.BytesIO()
    pq.write_table(pa.table({"x": list(numbers)}), file)
    return file.getvalue()

def told(action):
    try:
        action()
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        return [type(error).__name__, status]

def commit(*numbers, parent=None):
    files = {"README.md": CARD.encode(), "d/a.parquet": parquet(*numbers)}
    operations = [CommitOperationAdd(name, content) for name, content in files.items()]
    return api.create_commit(
        repo, operations, repo_type="dataset", commit_message="rows", parent_commit=parent
    ).oid

def tell(**found):
    print(json.dumps(found))
"""


def ask(hub, code, home, **environment):
    """Runs code in a process of its own, with clients that take our server for the Hub."""
    url = hub if isinstance(hub, str) else hub.url
    process = subprocess.run(
        [sys.executable, "-c", ROWS + code],
        capture_output=True,
        text=True,
        env=os.environ
        | {"HF_ENDPOINT": url, "HF_TOKEN": "hf_secret", "HF_HUB_OFFLINE": "0"}
        | {"HF_HUB_DISABLE_XET": "1", "HF_HOME": str(home), "HF_DATASETS_OFFLINE": "0"}
        | WITHOUT_TRANSFORMERS
        | environment,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.slow
def test_what_is_committed_and_tagged_is_loaded_by_name(hub, tmp_path):
    found = ask(
        hub,
        """
api.create_repo(repo, repo_type="dataset")
commit(1, 2)
api.create_tag(repo, tag="v1.0.0", repo_type="dataset")
commit(1, 2, 3)
api.create_tag(repo, tag="v1.1.0", repo_type="dataset")
from datasets import load_dataset
FIRST = {"revision": "v1.0.0"}
tell(
    first=load_dataset(repo, split="test", **FIRST)["x"][:],
    second=load_dataset(repo, revision="v1.1.0", split="test")["x"][:],
    streamed=[row["x"] for row in load_dataset(repo, split="test", streaming=True, **FIRST)],
    main=load_dataset(repo, split="test")["x"][:],
    tags=[tag.name for tag in api.list_repo_refs(repo, repo_type="dataset").tags],
    files=sorted(api.list_repo_files(repo, repo_type="dataset", revision="v1.0.0")),
    history=len(api.list_repo_commits(repo, repo_type="dataset")),
)
""",
        tmp_path,
    )
    assert found["first"] == found["streamed"] == [1, 2]
    assert found["second"] == found["main"] == [1, 2, 3]
    assert sorted(found["tags"]) == ["v1.0.0", "v1.1.0"]
    assert found["files"] == [".gitattributes", "README.md", "d/a.parquet"]
    assert found["history"] == 3  # the empty one before ours
    assert sum(method == "PUT" for method, _ in hub.requests) == 2  # of large files, each once


def test_of_two_commits_on_one_parent_the_second_is_refused(hub, tmp_path):
    found = ask(
        hub,
        """
from huggingface_hub.errors import HfHubHTTPError
api.create_repo(repo, repo_type="dataset")
head = api.repo_info(repo, repo_type="dataset").sha
commit(1, parent=head)
try:
    commit(2, parent=head)
except HfHubHTTPError as error:
    tell(status=error.response.status_code, message=str(error))
""",
        tmp_path,
    )
    assert found["status"] == 412
    assert "A commit has happened since. Please refresh and try again." in found["message"]
    assert len(hub.repos["datasets/someone/rows"].commits) == 2


@pytest.mark.slow
def test_a_space_brings_a_metric(hub, tmp_path):
    found = ask(
        hub,
        """
MODULE = '''
import datasets
import evaluate
class Count(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int64")})
        return evaluate.MetricInfo(description="", citation="", features=features)
    def _compute(self, predictions):
        return {"n": len(predictions)}
'''
api.create_repo("someone/count", repo_type="space", space_sdk="gradio")
operations = [CommitOperationAdd("count.py", MODULE.encode())]
api.create_commit("someone/count", operations, repo_type="space", commit_message="m")
import evaluate
tell(**evaluate.load("someone/count").compute(predictions=[1, 2, 3]))
""",
        tmp_path,
    )
    assert found == {"n": 3}


@pytest.mark.slow
@pytest.mark.parametrize("action", [403, 500, "drop", "lose"])
def test_a_commit_that_fails_leaves_no_half_of_it(hub, tmp_path, action):
    hub.faults.append(Fault("POST", "/commit/", action, times=9))
    found = ask(
        hub,
        """
api.create_repo(repo, repo_type="dataset")
try:
    commit(1)
    failed = None
except Exception as error:
    failed = type(error).__name__
tell(failed=failed)
""",
        tmp_path,
    )
    assert found["failed"]
    n_commits = len(hub.repos["datasets/someone/rows"].commits)
    assert n_commits == 1 if action != "lose" else n_commits > 1  # it was carried out, unseen


@pytest.mark.slow
def test_a_download_with_a_wrong_byte_is_another_content(hub, tmp_path):
    found = ask(
        hub,
        """
import hashlib
from huggingface_hub import hf_hub_download
api.create_repo(repo, repo_type="dataset")
commit(*range(1000))
path = hf_hub_download(repo, "d/a.parquet", repo_type="dataset")
tell(same=open(path, "rb").read() == parquet(*range(1000)))
""",
        tmp_path,
    )
    assert found == {"same": True}
    hub.faults.append(Fault("GET", r"resolve/.*a\.parquet", "flip"))
    again = ask(
        hub,
        """
from huggingface_hub import hf_hub_download
path = hf_hub_download(repo, "d/a.parquet", repo_type="dataset")
tell(same=open(path, "rb").read() == parquet(*range(1000)))
""",
        tmp_path / "other",
    )
    assert again == {"same": False}  # which no client notices: whoever publishes has to


def test_history_has_dates_and_tags_their_messages(hub, tmp_path):
    found = ask(
        hub,
        """
api.create_repo(repo, repo_type="dataset")
for n in range(3):
    commit(n)
api.create_tag(repo, tag="v1.0.0", tag_message="First release", repo_type="dataset")
again = told(lambda: api.create_tag(repo, tag="v1.0.0", repo_type="dataset"))
api.create_tag(repo, tag="v1.0.0", repo_type="dataset", exist_ok=True)
elsewhere = told(lambda: api.create_tag(repo, tag="v2", revision="v3", repo_type="dataset"))
commits = api.list_repo_commits(repo, repo_type="dataset")
tell(again=again, elsewhere=elsewhere, dates=[commit.created_at.isoformat() for commit in commits])
""",
        tmp_path,
    )
    assert found["again"] == ["HfHubHTTPError", 409]
    assert found["elsewhere"] == ["RevisionNotFoundError", 404]
    assert found["dates"] == sorted(set(found["dates"]), reverse=True)  # the newest is the first
    assert len(found["dates"]) == 4
    assert hub.repos["datasets/someone/rows"].tag_messages == {"v1.0.0": "First release"}


def test_what_has_not_changed_is_no_commit(hub, tmp_path):
    found = ask(
        hub,
        """
api.create_repo(repo, repo_type="dataset")
first, second, third = commit(1), commit(1), commit(2)
operations = [CommitOperationDelete("d/", is_folder=True)]
api.create_commit(repo, operations, repo_type="dataset", commit_message="none")
operations = [CommitOperationDelete("d/a.parquet")]
missing = told(
    lambda: api.create_commit(repo, operations, repo_type="dataset", commit_message="none")
)
info = api.repo_info(repo, repo_type="dataset", revision=first, files_metadata=True)
[large] = api.get_paths_info(repo, ["d/a.parquet"], repo_type="dataset", revision=first)
tell(
    same=first == second,
    other=first == third,
    missing=missing[0].removeprefix("Remote"),
    sizes={file.rfilename: file.size for file in info.siblings},
    large=[large.size, large.lfs.sha256],
)
""",
        tmp_path,
    )
    first = hub.repos["datasets/someone/rows"].commits[1].files
    assert found == {
        "same": True,
        "other": False,
        "missing": "EntryNotFoundError",
        "sizes": {path: hub.blobs.size(digest) for path, digest in first.items()},
        "large": [hub.blobs.size(first["d/a.parquet"]), first["d/a.parquet"]],
    }
    assert list(hub.files("datasets/someone/rows")) == [".gitattributes", "README.md"]
    assert len(hub.repos["datasets/someone/rows"].commits) == 4


def test_collections(hub, tmp_path):
    found = ask(
        hub,
        """
for name in "abcde":
    api.create_repo(f"lab/{name}", repo_type="dataset")
api.create_repo("lab/score", repo_type="space", space_sdk="gradio")

def collection(**kwargs):
    return api.create_collection("Scientific NLI", namespace="lab", **kwargs)

slug = collection(description="Of papers").slug
again = told(collection)
same = collection(exists_ok=True).slug
for name in "abcde":
    api.add_collection_item(slug, f"lab/{name}", "dataset", note=f"Note {name}")
api.add_collection_item(slug, "lab/score", "space")
twice = told(lambda: api.add_collection_item(slug, "lab/a", "dataset"))
none = told(lambda: api.add_collection_item(slug, "lab/a", "space"))
api.add_collection_item(slug, "lab/a", "dataset", exists_ok=True)
long = told(lambda: api.add_collection_item(slug, "lab/a", "dataset", note="x" * 501))
items = api.get_collection(slug).items
api.update_collection_item(slug, items[5].item_object_id, position=0, note="How to score")
api.delete_collection_item(slug, items[1].item_object_id)
gone = told(lambda: api.delete_collection_item(slug, items[1].item_object_id))
api.delete_collection_item(slug, items[1].item_object_id, missing_ok=True)
new = api.update_collection_metadata(slug, title="NLI: papers", description="All", theme="pink")
listed = {c.slug: len(c.items) for c in api.list_collections(owner="lab")}
api.create_collection("Mine", private=True)
tell(
    slug=slug, same=same, again=again, twice=twice, none=none, long=long, gone=gone, listed=listed,
    items=[[i.item_id, i.item_type, i.position, i.note] for i in api.get_collection(slug).items],
    new=[new.slug, new.title, new.description, new.theme],
    mine=[c.slug.split("-")[0] for c in api.list_collections(owner=api.whoami()["name"])],
)
""",
        tmp_path,
    )
    slug, [collection, _] = found["slug"], hub.collections.values()
    assert slug == found["same"] == f"lab/scientific-nli-{collection.object_id}"
    assert found["again"] == found["twice"] == ["HfHubHTTPError", 409]
    assert found["none"] == found["gone"] == ["HfHubHTTPError", 404]
    assert found["long"] == ["BadRequestError", 400]
    moved = [["lab/score", "space", 0, "How to score"], ["lab/a", "dataset", 1, "Note a"]]
    others = [[f"lab/{x}", "dataset", n, f"Note {x}"] for n, x in enumerate("cde", start=2)]
    assert found["items"] == moved + others
    new = f"lab/nli-papers-{collection.object_id}"
    assert found["new"] == [new, "NLI: papers", "All", "pink"]
    assert found["listed"] == {new: 4}  # lists tell no more than four items of each
    assert found["mine"] == ["someone/mine"]


WRITES = """
from huggingface_hub import hf_hub_download
tell(
    create=told(lambda: api.create_repo("someone/new")),
    commit=told(lambda: commit(1)),
    tag=told(lambda: api.create_tag(repo, tag="v1", repo_type="dataset")),
    collection=told(lambda: api.create_collection("New", namespace="someone")),
    item=told(lambda: api.add_collection_item("someone/x-0", repo, "dataset")),
    reads=told(lambda: api.list_repo_files(repo, repo_type="dataset")),
    hidden=told(lambda: api.list_repo_files("someone/hidden", repo_type="dataset")),
    file=told(lambda: hf_hub_download("someone/hidden", "a.txt", repo_type="dataset")),
    missing=told(lambda: api.list_repo_files("someone/missing", repo_type="dataset")),
)
"""
NO_REPO = "RepositoryNotFoundError"


@pytest.mark.slow
@pytest.mark.parametrize("who", ["stranger", "impostor", "without rights"])
def test_only_our_user_writes_and_sees_what_is_private(hub, tmp_path, who):
    ask(
        hub,
        """
api.create_repo(repo, repo_type="dataset")
api.create_repo("someone/hidden", repo_type="dataset", private=True)
operations = [CommitOperationAdd("a.txt", b"a")]
api.create_commit("someone/hidden", operations, repo_type="dataset", commit_message="a")
assert api.repo_info("someone/hidden", repo_type="dataset").private
tell()
""",
        tmp_path,
    )
    if who == "without rights":
        hub.forbidden.add("someone")
    token = {"stranger": "", "impostor": "hf_other", "without rights": "hf_secret"}[who]
    found = ask(hub, WRITES, tmp_path / "other", HF_TOKEN=token)
    writes = {found[part][1] for part in ("create", "commit", "tag", "collection", "item")}
    assert writes == {403 if who == "without rights" else 401}
    hidden = [found.pop(part) for part in ("hidden", "file", "missing")]
    if who == "stranger":  # is not told whether a repository is there
        assert found["commit"][0] == found["tag"][0] == NO_REPO
        assert hidden == [[NO_REPO, 401]] * 3
    elif who == "impostor":
        assert {error for error, _ in hidden} == {"HfHubHTTPError"}
    else:
        assert hidden == [[NO_REPO, 404]] * 3
    assert found["reads"] == (["HfHubHTTPError", 401] if who == "impostor" else None)
    assert len(hub.repos) == 2 and not hub.collections
    assert len(hub.repos["datasets/someone/rows"].commits) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "error"),
    [
        (401, ["HfHubHTTPError", "HfHubHTTPError"]),
        (403, ["HfHubHTTPError", "LocalEntryNotFoundError"]),
        (404, [NO_REPO, "EntryNotFoundError"]),
        (429, ["HfHubHTTPError", None]),
    ],
)
def test_statuses_are_told_as_those_of_the_hub(hub, tmp_path, action, error):
    hub.faults += [Fault("GET", "/rows$", action), Fault("HEAD", "/resolve/", action)]
    found = ask(
        hub,
        """
from huggingface_hub import hf_hub_download
api.create_repo(repo, repo_type="dataset")
commit(1)
info = told(lambda: api.repo_info(repo, repo_type="dataset"))
file = told(lambda: hf_hub_download(repo, "README.md", repo_type="dataset"))
tell(info=info[0], file=file and file[0].removeprefix("Remote"))
""",
        tmp_path,
    )
    assert list(found.values()) == error


UPLOAD = """
import os
api.create_repo(repo, repo_type="dataset")
operations = [CommitOperationAdd("a.bin", os.urandom(3_000_000))]
failed = told(
    lambda: api.create_commit(repo, operations, repo_type="dataset", commit_message="a")
)
tell(failed=failed and failed[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("action", ["cut", "drop", 500, 429])
def test_an_upload_that_fails_once_is_sent_again(hub, tmp_path, action):
    hub.faults.append(Fault("PUT", "/lfs/", action))
    found = ask(hub, UPLOAD, tmp_path)
    n_sent = sum(method == "PUT" for method, _ in hub.requests)
    if IS_OLD and action == 429:
        assert found == {"failed": "RuntimeError"} and n_sent == 1
    else:
        assert found == {"failed": None} and n_sent == 2
        assert len(hub.files("datasets/someone/rows")["a.bin"]) == 3_000_000


def test_an_upload_with_a_wrong_byte_is_refused(hub, tmp_path):
    hub.faults.append(Fault("PUT", "/lfs/", "flip"))
    assert ask(hub, UPLOAD, tmp_path) == {"failed": "RuntimeError"}
    assert len(hub.blobs) == 1  # .gitattributes, which the Hub itself made
    assert list(hub.files("datasets/someone/rows")) == [".gitattributes"]


@pytest.mark.slow
@pytest.mark.parametrize("action", ["cut", "hang"])
def test_a_commit_is_not_sent_again(hub, tmp_path, action):
    hub.hang_s = 0.5
    hub.faults.append(Fault("POST", "/commit/", action))
    assert ask(hub, UPLOAD, tmp_path)["failed"]
    assert sum("/commit/" in path for _, path in hub.requests) == 1
    assert len(hub.repos["datasets/someone/rows"].commits) == 1


@pytest.mark.slow
def test_what_hangs_ends_with_the_server(tmp_path):
    found = {}
    with running_hub() as hub:
        hub.faults.append(Fault("POST", "/commit/", "hang"))
        asking = threading.Thread(target=lambda: found.update(ask(hub, UPLOAD, tmp_path)))
        asking.start()
        while asking.is_alive() and not any("/commit/" in path for _, path in hub.requests):
            time.sleep(0.05)
    asking.join(timeout=20)
    assert found["failed"]


LARGE = """
import hashlib, os
from huggingface_hub import HfFileSystem, hf_hub_download
api.create_repo(repo, repo_type="dataset")
content = os.urandom(60_000_000)
operations = [CommitOperationAdd("a.jsonl", content)]
api.create_commit(repo, operations, repo_type="dataset", commit_message="a")
whole = open(hf_hub_download(repo, "a.jsonl", repo_type="dataset"), "rb").read()
with HfFileSystem().open(f"datasets/{repo}/a.jsonl", "rb", block_size=1000) as file:
    file.seek(30_000_000)
    part = file.read(1000)
    file.seek(-10, 2)
    last = file.read()
[told] = api.get_paths_info(repo, ["a.jsonl"], repo_type="dataset")
is_large = told.lfs.sha256 == hashlib.sha256(content).hexdigest()
parts = [content[30_000_000:30_001_000], content[-10:]]
tell(large=is_large, whole=whole == content, parts=[part, last] == parts)
"""


@pytest.mark.slow
def test_the_server_as_a_process_of_its_own_keeps_large_files_out_of_memory(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, hub_server.__file__, "--port", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as server:
        url = server.stdout.readline().strip()
        assert ask(url, LARGE, tmp_path) == {"large": True, "whole": True, "parts": True}
        assert len(list(folder.glob("*/*"))) == 1
        status = Path(f"/proc/{server.pid}/status")
        if status.exists():
            [peak] = [line.split()[1] for line in status.open() if line.startswith("VmHWM")]
            assert int(peak) < 60_000
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=10) == 0
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_a_server_in_a_process_ends_with_its_standard_input(tmp_path):
    with hub_in_a_process() as url:
        create = 'tell(url=api.create_repo("someone/new").repo_id)'
        assert ask(url, create, tmp_path) == {"url": "someone/new"}
    failed = ask(url, 'tell(failed=told(lambda: api.create_repo("someone/new")))', tmp_path)
    assert failed["failed"][0].startswith("Connect")
