"""The Hub of the tests, as the real clients see it over HTTP."""

import json
import os
import subprocess
import sys

import pytest
from hub_server import Fault, running_hub

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
    process = subprocess.run(
        [sys.executable, "-c", ROWS + code],
        capture_output=True,
        text=True,
        env=os.environ
        | {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_secret", "HF_HUB_OFFLINE": "0"}
        | {"HF_HUB_DISABLE_XET": "1", "HF_HOME": str(home), "HF_DATASETS_OFFLINE": "0"}
        | environment,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


@pytest.fixture
def hub():
    with running_hub() as running:
        yield running


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
    assert found["files"] == ["README.md", "d/a.parquet"]
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
    status = 200
except HfHubHTTPError as error:
    status = error.response.status_code
tell(status=status)
""",
        tmp_path,
    )
    assert found == {"status": 412}
    assert len(hub.repos["datasets/someone/rows"].commits) == 2


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
