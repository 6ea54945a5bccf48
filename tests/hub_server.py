"""A Hub on loopback that the real clients speak to: repositories, commits, LFS, tags, downloads.

It can be told to fail; see ``Fault``.
"""

import base64
import hashlib
import json
import re
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

_KINDS = {"models": "", "datasets": "datasets/", "spaces": "spaces/"}
_REPO = r"(?P<name>[\w.-]+/[\w.-]+)"
_API = rf"/api/(?P<kind>models|datasets|spaces)/{_REPO}"
_PLAIN = rf"/(?P<prefix>datasets/|spaces/|){_REPO}"


@dataclass
class Commit:
    """A state of a repository: the sha256 of every file's content, by its path."""

    oid: str
    files: dict[str, str]
    message: str = ""


@dataclass
class Repo:
    """A repository: its commits on main, the newest last, and its tags."""

    commits: list[Commit]
    tags: dict[str, Commit] = field(default_factory=dict)
    private: bool = False
    sdk: str | None = None

    def at(self, revision):
        """The commit of a branch, a tag or a hash; None where there is none."""
        if revision in ("main", "refs/heads/main"):
            return self.commits[-1]
        by_oid = {commit.oid: commit for commit in self.commits}
        return self.tags.get(revision.removeprefix("refs/tags/")) or by_oid.get(revision)


@dataclass
class Fault:
    """What goes wrong with requests.

    Attributes:
        method: Of the request, such as ``POST``.
        path: A regular expression that is found in its path.
        action: A status to answer with; ``drop``, the connection is closed without an answer;
            ``tear``, half of the answer is sent; ``flip``, a byte of the answer is another one;
            ``lose``, it is carried out, and then dropped; or ``hang``.
        times: How often; afterwards all is well.
        skip: Requests that go well before.
    """

    method: str
    path: str
    action: int | str
    times: int = 1
    skip: int = 0

    def strikes(self, method, path):
        """Whether it is the turn of this request."""
        if method != self.method or not re.search(self.path, path) or self.times < 1:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class Hub(ThreadingHTTPServer):
    """The server.

    Attributes:
        repos: Repositories by kind and name, ``datasets/org/name``; models have no kind before.
        blobs: Contents by sha256.
        faults: What is to go wrong.
        requests: Methods and paths of all requests, in their order.
    """

    daemon_threads = True
    disable_nagle_algorithm = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repos, self.blobs, self.faults, self.requests = {}, {}, [], []
        self.lock, self.stopped = threading.RLock(), threading.Event()

    @property
    def url(self):
        """The address, for ``HF_ENDPOINT``."""
        return f"http://127.0.0.1:{self.server_port}"

    def files(self, name, revision="main"):
        """The contents of a repository's files by path."""
        commit = self.repos[name].at(revision)
        return {path: self.blobs[digest] for path, digest in commit.files.items()}

    def keep(self, content):
        """Keeps a content; returns its sha256."""
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return digest

    def handle_error(self, request, client_address):
        """Clients that go away are no news."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        self.action = None
        super().handle_one_request()

    def _serve(self):
        address = urlsplit(self.path)
        path, self.query = unquote(address.path), parse_qs(address.query)
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server = self.server
        with server.lock:
            server.requests.append((self.command, path))
            faults = [fault for fault in server.faults if fault.strikes(self.command, path)]
        self.action = faults[0].action if faults else None
        if isinstance(self.action, int):
            return self._answer({"error": f"Told to answer {self.action}."}, status=self.action)
        if self.action == "hang":
            server.stopped.wait(60)
        if self.action in ("drop", "hang"):
            return self._hang_up()
        for method, pattern, handler in _ROUTES:
            if method == self.command and (found := re.fullmatch(pattern, path)):
                with server.lock:
                    return handler(self, **found.groupdict(default=""))
        return self._answer({"error": f"No such address: {path}"}, status=404)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _hang_up(self):
        self.close_connection = True
        self.connection.close()

    def _answer(self, content=None, *, status=200, headers=None):
        """Answers with JSON, or with bytes."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        if self.action == "lose":
            return self._hang_up()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return None
        if self.action == "tear":
            self.wfile.write(body[: len(body) // 2])
            return self._hang_up()
        if self.action == "flip" and body:
            at = len(body) // 2
            body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        self.wfile.write(body)
        return None

    def _missing(self, code):
        return self._answer({"error": code}, status=404, headers={"X-Error-Code": code})

    def _repo(self, kind, name):
        return self.server.repos.get(_KINDS[kind] + name)

    # ------------------------------------------------------------------------- repositories

    def create(self):
        asked = json.loads(self.body)
        kind = {"dataset": "datasets", "space": "spaces"}.get(asked.get("type"), "models")
        if kind == "spaces" and not asked.get("sdk"):
            return self._answer({"error": "A Space needs an sdk."}, status=400)
        key = f"{_KINDS[kind]}{asked['organization']}/{asked['name']}"
        if key in self.server.repos:
            return self._answer({"error": "It exists.", "url": self._url(key)}, status=409)
        first = Commit(_oid(key), {})
        private = bool(asked.get("private"))
        self.server.repos[key] = Repo([first], private=private, sdk=asked.get("sdk"))
        return self._answer({"url": self._url(key), "name": f"{asked['name']}", "id": key})

    def _url(self, key):
        return f"{self.server.url}/{key}"

    def info(self, kind, name, revision="main"):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        if (commit := repo.at(revision)) is None:
            return self._missing("RevisionNotFound")
        siblings = [{"rfilename": path} for path in sorted(commit.files)]
        return self._answer(
            {
                "_id": "0" * 24,
                "id": name,
                "modelId": name,
                "author": name.partition("/")[0],
                "sha": commit.oid,
                "private": repo.private,
                "gated": False,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "lastModified": "2026-01-01T00:00:00.000Z",
                "createdAt": "2026-01-01T00:00:00.000Z",
                "siblings": siblings,
                "sdk": repo.sdk,
            }
        )

    def tree(self, kind, name, revision, folder=""):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        if (commit := repo.at(revision)) is None:
            return self._missing("RevisionNotFound")
        folder = folder.strip("/")
        inside = {p: d for p, d in commit.files.items() if not folder or p.startswith(f"{folder}/")}
        if folder and not inside:
            return self._missing("EntryNotFound")
        entries, folders = [], set()
        is_deep = self.query.get("recursive", ["false"])[0].lower() in ("true", "1")
        for path, digest in sorted(inside.items()):
            rest = path[len(folder) + 1 :] if folder else path
            parents = rest.split("/")[:-1]
            for depth in range(1, (len(parents) if is_deep else min(len(parents), 1)) + 1):
                part = "/".join(filter(None, (folder, *parents[:depth])))
                if part not in folders:
                    folders.add(part)
                    entries.append(
                        {"type": "directory", "path": part, "oid": _oid(part), "size": 0}
                    )
            if is_deep or not parents:
                entries.append(self._file_entry(path, digest))
        return self._answer(entries)

    def _file_entry(self, path, digest):
        size = len(self.server.blobs[digest])
        entry = {"type": "file", "path": path, "oid": digest[:40], "size": size}
        if _is_lfs(path):
            entry["lfs"] = {"oid": digest, "size": size, "pointerSize": 134}
        return entry

    def paths_info(self, kind, name, revision):
        if (repo := self._repo(kind, name)) is None or (commit := repo.at(revision)) is None:
            return self._missing("RevisionNotFound")
        asked = json.loads(self.body)["paths"]
        return self._answer(
            [self._file_entry(path, commit.files[path]) for path in asked if path in commit.files]
        )

    def refs(self, kind, name):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        head = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.commits[-1].oid}
        tags = [
            {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": commit.oid}
            for tag, commit in repo.tags.items()
        ]
        return self._answer({"branches": [head], "converts": [], "tags": tags})

    def history(self, kind, name, revision):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        commits = [
            {
                "id": commit.oid,
                "title": commit.message,
                "message": "",
                "authors": [],
                "date": "2026-01-01T00:00:00.000Z",
            }
            for commit in reversed(repo.commits)
        ]
        return self._answer(commits, headers={"X-Total-Count": len(commits)})

    def tag(self, kind, name, revision):
        if (repo := self._repo(kind, name)) is None or (commit := repo.at(revision)) is None:
            return self._missing("RevisionNotFound")
        tag = json.loads(self.body)["tag"]
        if tag in repo.tags:
            return self._answer({"error": "The tag exists."}, status=409)
        repo.tags[tag] = commit
        return self._answer({})

    def remove_tag(self, kind, name, tag):
        if (repo := self._repo(kind, name)) is None or tag not in repo.tags:
            return self._missing("RevisionNotFound")
        del repo.tags[tag]
        return self._answer({})

    # ------------------------------------------------------------------------------- commits

    def validate(self):
        return self._answer({"errors": [], "warnings": []})

    def preupload(self, kind, name, revision):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        known = repo.commits[-1].files
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if _is_lfs(file["path"]) else "regular",
                "shouldIgnore": False,
                "oid": known.get(file["path"]),
            }
            for file in json.loads(self.body)["files"]
        ]
        return self._answer({"files": files})

    def lfs_batch(self, prefix, name):
        objects = []
        for asked in json.loads(self.body)["objects"]:
            oid, href = asked["oid"], f"{self.server.url}/lfs/{asked['oid']}"
            entry = {"oid": oid, "size": asked["size"], "authenticated": True}
            if oid not in self.server.blobs:  # else the client has nothing to send
                entry["actions"] = {"upload": {"href": href}, "verify": {"href": f"{href}/verify"}}
            objects.append(entry)
        return self._answer({"transfer": "basic", "objects": objects})

    def lfs_put(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            return self._answer({"error": "The content has another hash."}, status=400)
        self.server.keep(self.body)
        return self._answer({})

    def lfs_verify(self, oid):
        size = len(self.server.blobs.get(oid, b""))
        is_there = oid in self.server.blobs and json.loads(self.body)["size"] == size
        return self._answer({}, status=200 if is_there else 404)

    def commit(self, kind, name, revision):
        if (repo := self._repo(kind, name)) is None:
            return self._missing("RepoNotFound")
        lines = [json.loads(line) for line in self.body.splitlines() if line]
        header = next(line["value"] for line in lines if line["key"] == "header")
        head = repo.commits[-1]
        if (parent := header.get("parentCommit")) not in (None, head.oid):
            return self._answer({"error": f"The head is no longer {parent}."}, status=412)
        files = dict(head.files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = self.server.keep(base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.server.blobs:
                    return self._answer({"error": f"{value['path']} was not sent."}, status=400)
                files[value["path"]] = value["oid"]
            elif line["key"] == "deletedFile":
                files.pop(value["path"], None)
        oid = _oid(f"{name} {len(repo.commits)} {sorted(files.items())}")
        repo.commits.append(Commit(oid, files, header["summary"]))
        url = f"{self._url(_KINDS[kind] + name)}/commit/{oid}"
        return self._answer({"success": True, "commitOid": oid, "commitUrl": url, "hookOutput": ""})

    # ----------------------------------------------------------------------------- downloads

    def resolve(self, prefix, name, revision, path):
        if (repo := self.server.repos.get(prefix + name)) is None:
            return self._missing("RepoNotFound")
        if (commit := repo.at(revision)) is None:
            return self._missing("RevisionNotFound")
        if path not in commit.files:
            return self._answer(
                {"error": "EntryNotFound"},
                status=404,
                headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit.oid},
            )
        digest = commit.files[path]
        content, headers = self.server.blobs[digest], {"X-Repo-Commit": commit.oid}
        headers |= {"ETag": f'"{digest}"', "Accept-Ranges": "bytes"}
        if _is_lfs(path):
            headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": len(content)}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            return self._answer(content, headers=headers)
        first, last = int(asked[1]), int(asked[2] or len(content) - 1)
        if first >= len(content):
            return self._answer(b"", status=416, headers=headers)
        part = content[first : last + 1]
        headers["Content-Range"] = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
        return self._answer(part, status=206, headers=headers)


_ROUTES = [
    ("POST", r"/api/repos/create", _Handler.create),
    ("POST", r"/api/validate-yaml", _Handler.validate),
    ("GET", _API, _Handler.info),
    ("GET", rf"{_API}/revision/(?P<revision>.+)", _Handler.info),
    ("GET", rf"{_API}/tree/(?P<revision>refs/\w+/[^/]+|[^/]+)(?P<folder>/.*)?", _Handler.tree),
    ("GET", rf"{_API}/refs", _Handler.refs),
    ("GET", rf"{_API}/commits/(?P<revision>.+)", _Handler.history),
    ("POST", rf"{_API}/paths-info/(?P<revision>.+)", _Handler.paths_info),
    ("POST", rf"{_API}/preupload/(?P<revision>.+)", _Handler.preupload),
    ("POST", rf"{_API}/commit/(?P<revision>.+)", _Handler.commit),
    ("POST", rf"{_API}/tag/(?P<revision>.+)", _Handler.tag),
    ("DELETE", rf"{_API}/tag/(?P<tag>.+)", _Handler.remove_tag),
    ("POST", rf"{_PLAIN}\.git/info/lfs/objects/batch", _Handler.lfs_batch),
    ("PUT", r"/lfs/(?P<oid>\w+)", _Handler.lfs_put),
    ("POST", r"/lfs/(?P<oid>\w+)/verify", _Handler.lfs_verify),
    *(
        (method, rf"{_PLAIN}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", _Handler.resolve)
        for method in ("HEAD", "GET")
    ),
]


def _oid(text):
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


def _is_lfs(path):
    return path.endswith((".parquet", ".safetensors", ".bin", ".pt"))


@contextmanager
def running_hub():
    """A Hub while the block runs."""
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.stopped.set()
        hub.shutdown()
        hub.server_close()
        thread.join()
