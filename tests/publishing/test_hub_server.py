"""The Hub of the tests, as the real clients see it over HTTP."""

from hub_users import use

KEY = "datasets/someone/rows"
ROWS = """
import io, json, pyarrow as pa, pyarrow.parquet as pq
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

api, repo = HfApi(), "someone/rows"

def told(action):
    try:
        action()
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        return [type(error).__name__.removeprefix("Remote"), status]

def commit(*numbers, operations=None, parent=None):
    file = io.BytesIO()
    pq.write_table(pa.table({"x": list(numbers)}), file)
    files = {"README.md": b"# Rows", "d/a.parquet": file.getvalue()}
    operations = operations or [CommitOperationAdd(*file) for file in files.items()]
    return api.create_commit(
        repo, operations, repo_type="dataset", commit_message="rows", parent_commit=parent
    ).oid

def tag(name, **more):
    api.create_tag(repo, tag=name, repo_type="dataset", **more)
"""


def ask(hub, code, home, **environment):
    """What a process of its own tells, with clients that take our server for the Hub."""
    return use(hub, home, f"{ROWS}{code}\nprint(json.dumps(found))", **environment)


def test_commits_and_tags(hub, tmp_path):
    code = """
api.create_repo(repo, repo_type="dataset")
head = api.repo_info(repo, repo_type="dataset").sha
first, second = commit(1, parent=head), commit(1)
tag("v1.0.0", tag_message="First release")
refused = [
    told(lambda: commit(2, parent=head)),
    told(lambda: commit(operations=[CommitOperationDelete("d/b.parquet")])),
    told(lambda: tag("v1.0.0")),
    told(lambda: tag("v2", revision="v3")),
]
commit(operations=[CommitOperationDelete("d/", is_folder=True)])
info = api.repo_info(repo, repo_type="dataset", revision=first, files_metadata=True)
sizes = {file.rfilename: file.size for file in info.siblings}
dates = [one.created_at.isoformat() for one in api.list_repo_commits(repo, repo_type="dataset")]
found = [first == second, refused, sizes, dates]
"""
    is_same, refused, sizes, dates = ask(hub, code, tmp_path)
    assert is_same  # what has not changed is no commit
    assert refused == [
        ["HfHubHTTPError", 412],
        ["EntryNotFoundError", 404],
        ["HfHubHTTPError", 409],
        ["RevisionNotFoundError", 404],
    ]
    repo = hub.repos[KEY]
    assert sizes == {path: len(hub.blobs[file]) for path, file in repo.commits[1].files.items()}
    assert dates == sorted(set(dates), reverse=True)  # the newest is the first
    assert len(dates) == len(repo.commits) == 3
    assert list(hub.files(KEY)) == [".gitattributes", "README.md"]
    assert repo.tag_messages == {"v1.0.0": "First release"}
