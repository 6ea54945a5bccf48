"""Fetching over real connections, from a server on loopback, and from local folders."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import ROOT
from nlihub.loaders.errors import ChecksumError, DownloadError, NLIHubError, NotDataError
from nlihub.loaders.errors import SourceNotFoundError as NotFound
from nlihub.loaders.fetching import (
    Source,
    Variant,
    list_sources,
    obtain,
    obtain_all,
)
from nlihub.loaders.fetching.lock import LOCK_FILE, record_hash

CONTENT = b"".join(b"<pattern id='%d'/>\n" % number for number in range(40_000))  # many chunks
CHANGED = CONTENT[:-1] + b"!"
HALF = len(CONTENT) // 2
HTML = b"<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head></html>"
COMMIT = "c" * 40


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file at every address, with the troubles that its script lists."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.script = []  # what to answer, one entry a request; then the whole file
        self.scripts = {}  # the same for an address
        self.encoding = None
        self.seen = []  # the headers of each request
        self.go_on = threading.Event()  # for those that stall

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append({**self.headers, "path": self.path})
        script = server.scripts.get(self.path, server.script)
        answer = script.pop(0) if script else "whole"
        if isinstance(answer, int):
            self.send_response(answer)
            self.send_header("Retry-After", "7")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = {"changed": CHANGED, "html": HTML}.get(answer, server.content)
        self.send_response(200)
        self.send_header("ETag", '"first"')
        if server.encoding:
            self.send_header("Content-Encoding", server.encoding)
            body = gzip.compress(body)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer in ("broken", "stalled"):
            body = body[:HALF]
        self.wfile.write(body)
        if answer == "stalled":
            server.go_on.wait(20)

    def do_HEAD(self):  # the client of the Hub
        if self.server.scripts.get(self.path) == [404]:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
        else:
            self.send_response(200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", '"first"')
            self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()

    def log_message(self, *_):
        pass


def run(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()


@pytest.fixture
def waits(monkeypatch):
    """The seconds waited between retries, which take none here."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    waited = []
    monkeypatch.setattr("nlihub.loaders.network.time.sleep", waited.append)
    return waited


@pytest.fixture
def server(waits):
    with Server() as server:
        yield from run(server)


@pytest.fixture
def catalogue(monkeypatch, tmp_path):
    """Writes a catalogue, and makes it the one that is read."""

    def write(recorded):
        text = recorded if isinstance(recorded, str) else json.dumps(recorded)
        path = tmp_path / f"catalogue-{sha256(text.encode())}.json"
        path.write_text(text, encoding="utf-8-sig")  # as editors on Windows save it
        monkeypatch.setenv("NLIHUB_SOURCES", str(path))
        return path

    return write


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def pinned(*urls, content=CONTENT, path="dataset/patterns.xml", **pins):
    pins = pins or {"bytes": len(content), "sha256": sha256(content)}
    urls = urls or ("http://127.0.0.1:9/patterns.xml",)
    return Source("spacenli", "patterns", (Variant(path, urls, **pins),))


def unpinned(*urls, path="test.csv"):
    return Source("bionli", "test", (Variant(path, urls),), instructions="Ask the authors.")


def files(folder):
    """The files in a folder; those that lock are empty, and stay."""
    if not folder.exists():
        return []
    found = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in found if not path.name.endswith(".lock"))


def put(folder, name, content=CONTENT):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# The catalogue


def test_every_recorded_source_is_well_formed():
    recorded = json.loads((ROOT / "loaders" / "sources.json").read_text())
    assert set(recorded) >= {"scinli", "mscinli", "bionli", "spacenli"}
    for dataset, entry in recorded.items():
        sources = list_sources(dataset)
        assert list(sources) == list(entry["files"])
        for name, source in sources.items():
            assert (source.dataset, source.name) == (dataset, name)
            assert source.how_to_get()
            assert len(set(source.paths)) == len(source.paths)
            for variant in source.variants:
                for place in variant.locations:
                    assert place.startswith("https://")
                for pin in (variant.sha256, variant.git_blob):
                    assert pin is None or (int(pin, 16) and pin == pin.lower())


def test_no_two_recorded_sources_are_one_file():
    recorded = ["scinli", "mscinli", "bionli", "spacenli"]
    variants = [v for name in recorded for s in list_sources(name).values() for v in s.variants]
    pins = Counter(pin for v in variants for pin in (v.sha256, v.git_blob) if pin)
    assert pins.most_common(1)[0][1] == 1


def test_an_unknown_dataset_is_answered_with_a_close_name():
    with pytest.raises(KeyError, match="Did you mean 'spacenli'"):
        list_sources("spacenly")


WEB = ("https://a/b",)


@pytest.mark.parametrize(
    ("variants", "problem"),
    [
        ((), "x of d has no variant"),
        ((Variant("a"),), "a has neither locations nor instructions"),
        ((Variant("a", WEB, sha256="abc"),), "a has the hash abc, expected 64 digits"),
        ((Variant("a", WEB, git_blob="g" * 40),), "expected 40 digits"),
    ],
)
def test_a_wrong_declaration_is_refused(variants, problem):
    with pytest.raises(ValueError, match=problem):
        Source("d", "x", variants)


def test_another_catalogue_can_be_named(catalogue):
    catalogue({"mine": {"files": {"all": {"variants": [{"path": "a", "locations": WEB}]}}}})
    expected = Variant("a", WEB)
    assert list_sources("mine") == {"all": Source("mine", "all", (expected,))}
    with pytest.raises(KeyError, match="no dataset with sources 'spacenli'"):
        list_sources("spacenli")


def test_an_empty_name_of_a_catalogue_is_none(monkeypatch):
    monkeypatch.setenv("NLIHUB_SOURCES", "")
    assert list_sources("spacenli")


def test_an_absent_catalogue_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("NLIHUB_SOURCES", str(tmp_path / "absent.json"))
    with pytest.raises(
        FileNotFoundError, match=r"\$NLIHUB_SOURCES names .*absent.json.*not a file"
    ):
        list_sources("spacenli")


def in_catalogue(source):
    return {"d": {"files": {"x": source}}}


@pytest.mark.parametrize(
    "recorded",
    [
        "{",
        [],
        {"d": {}},
        in_catalogue({}),
        in_catalogue({"variants": "ab"}),
        in_catalogue({"variants": [{"path": "a", "sha": "b"}]}),
        in_catalogue({"variants": [{"path": "a"}]}),
        in_catalogue({"variants": [{"path": "a", "sha256": 1}], "instructions": "Ask."}),
    ],
)
def test_a_malformed_catalogue_is_reported(catalogue, recorded):
    path = catalogue(recorded)
    with pytest.raises(NLIHubError, match=rf"{path} is not a catalogue of sources"):
        list_sources("d")


# Local files


@pytest.mark.parametrize(
    "name",
    [
        "dataset/patterns.xml",
        "patterns.xml",
        "spacenli/patterns.xml",
        "spacenli/dataset/patterns.xml",
    ],
)
def test_a_local_folder_is_taken_as_it_is(tmp_path, cache, name):
    path = put(tmp_path / "release", name)
    found = obtain(pinned(), place=tmp_path / "release", cache_dir=cache)
    assert (found.path, found.bytes, found.sha256) == (path, len(CONTENT), sha256(CONTENT))
    assert not files(cache)


def test_the_folder_of_the_dataset_comes_first(tmp_path, cache):
    put(tmp_path, "patterns.xml", b"of another dataset")
    path = put(tmp_path, "spacenli/patterns.xml")
    assert obtain(pinned(), place=tmp_path, cache_dir=cache).path == path


def test_any_format_will_do_the_first_is_preferred(tmp_path, cache):
    both = (Variant("a.jsonl", sha256=sha256(b"{}")), Variant("a.csv", sha256=sha256(b"x,y")))
    source = Source("d", "x", both, instructions="Ask.")
    put(tmp_path, "a.csv", b"x,y")
    assert obtain(source, place=tmp_path, cache_dir=cache).variant.path == "a.csv"
    put(tmp_path, "a.jsonl", b"{}")
    assert obtain(source, place=tmp_path, cache_dir=cache).variant.path == "a.jsonl"


def test_a_single_file_can_be_named(tmp_path, cache):
    path = put(tmp_path, "patterns.xml")
    assert obtain(pinned(), place=path, cache_dir=cache).path == path
    other = put(tmp_path, "other.xml")  # known by its content, whatever its name
    assert obtain(pinned(), place=other, cache_dir=cache).path == other
    with pytest.raises(NotFound, match=r"changed.xml is not dataset/patterns.xml, the source"):
        obtain(pinned(), place=put(tmp_path, "changed.xml", CHANGED), cache_dir=cache)


@pytest.mark.parametrize("name", ["patterns (1).xml", "folder/other.xml"])
def test_a_pinned_file_is_found_by_its_content(tmp_path, cache, name):
    path = put(tmp_path, name)
    put(tmp_path, "another.xml", CHANGED)
    assert obtain(pinned(), place=tmp_path, cache_dir=cache).path == path


@pytest.mark.parametrize("name", ["patterns.xml.gz", "dataset/patterns.xml.gz"])
def test_a_compressed_file_is_unpacked_and_verified(tmp_path, cache, name):
    path = put(tmp_path / "release", name, gzip.compress(CONTENT))
    for place in (tmp_path / "release", path):
        found = obtain(pinned(), place=place, cache_dir=cache)
        assert found.path.read_bytes() == CONTENT
        assert files(cache) == ["patterns.xml"]
    path.write_bytes(gzip.compress(CHANGED))
    with pytest.raises(ChecksumError, match="is not the pinned"):
        obtain(pinned(), place=path, cache_dir=cache)


def damaged(packed, how):
    middle = len(packed) // 2
    return {
        "cut": packed[:middle],
        "changed": packed[:middle] + bytes(b ^ 0xFF for b in packed[middle:]),
        "other": CONTENT,
        "end": packed[:-8] + b"\0" * 8,
    }[how]


@pytest.mark.parametrize("how", ["cut", "changed", "other", "end"])
def test_a_damaged_compressed_file_is_refused(tmp_path, cache, how):
    path = put(tmp_path, "patterns.xml.gz", damaged(gzip.compress(CONTENT), how))
    with pytest.raises(NotFound, match=r"patterns.xml.gz cannot be unpacked: "):
        obtain(pinned(), place=path, cache_dir=cache)
    assert not files(cache)


def test_a_folder_without_the_file_is_reported_with_what_it_holds(tmp_path, cache):
    put(tmp_path, "readme.txt")
    message = r"has no dataset/patterns.xml.* It holds: readme.txt\. Download it from http"
    with pytest.raises(NotFound, match=message):
        obtain(pinned(), place=tmp_path, cache_dir=cache)
    with pytest.raises(NotFound, match=r"has no test.csv, the source 'test' of bionli.*Ask the"):
        obtain(unpinned(), place=tmp_path, cache_dir=cache)


def test_an_absent_folder_is_reported(tmp_path, cache):
    with pytest.raises(
        FileNotFoundError, match="is neither a folder nor a file; expected one with"
    ):
        obtain(pinned(), place=tmp_path / "absent", cache_dir=cache)


PINS = {
    "sha256": {"bytes": len(CONTENT), "sha256": sha256(CONTENT)},
    "git blob": {"bytes": len(CONTENT), "git_blob": git_blob(CONTENT)},
}


@pytest.mark.parametrize("pin", PINS)
def test_a_local_file_is_pinned(tmp_path, cache, pin):
    path = put(tmp_path, "patterns.xml")
    source = pinned(**PINS[pin])
    found = obtain(source, place=tmp_path, cache_dir=cache)
    assert found.identity in PINS[pin].values()
    assert found.entry == {"url": found.address, "bytes": found.bytes, "sha256": sha256(CONTENT)}
    path.write_bytes(CHANGED)
    message = rf"patterns.xml is not the pinned dataset/patterns.xml .* expected {pin} .*Download"
    with pytest.raises(ChecksumError, match=message):
        obtain(source, place=tmp_path, cache_dir=cache)
    path.write_bytes(CONTENT[:-12])
    with pytest.raises(ChecksumError, match="It lacks 12 bytes: it is truncated, or was saved"):
        obtain(source, place=tmp_path, cache_dir=cache)


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_a_git_blob_is_what_git_says(tmp_path):
    path = put(tmp_path, "patterns.xml")
    said = subprocess.run(["git", "hash-object", path], capture_output=True, text=True)  # noqa: S607
    assert said.stdout.strip() == git_blob(CONTENT)


@pytest.mark.parametrize("pin", [{"sha256": sha256(CHANGED)}, {"git_blob": git_blob(CHANGED)}])
def test_a_file_of_another_dataset_is_named(tmp_path, cache, catalogue, pin):
    other = {"variants": [{"path": "dev.csv", **pin}], "instructions": "Ask."}
    catalogue({"scinli": {"files": {"validation": other}}})
    put(tmp_path, "patterns.xml", CHANGED)
    with pytest.raises(ChecksumError, match=r"It is dev\.csv of scinli"):
        obtain(pinned(), place=tmp_path, cache_dir=cache)


@pytest.mark.parametrize("page", [HTML, b"\xef\xbb\xbf\n <HTML>", b"<head></head>"])
@pytest.mark.parametrize("source", [pinned(), unpinned()])
def test_a_web_page_is_no_data(tmp_path, cache, source, page):
    path = put(tmp_path, Path(source.paths[0]).name, page)
    cause = "'Google Drive - Virus scan warning'.*Google Drive sends" if page == HTML else "sign-in"
    with pytest.raises(NotDataError, match=rf"{path} is an HTML page.*{cause}.*--from FOLDER"):
        obtain(source, place=tmp_path, cache_dir=cache)


def test_the_pinned_files_are_the_official_ones(official, tmp_path):
    for source in list_sources("spacenli").values():
        found = obtain(source, place=official, cache_dir=tmp_path)
        assert found.bytes == source.variants[0].bytes


# The lock file


def test_an_unpinned_file_is_recorded_when_it_is_accepted(tmp_path, cache):
    path = put(tmp_path, "test.csv", b"a,b\n")
    found = obtain(unpinned(), place=path, cache_dir=cache)
    assert not cache.exists()  # nothing is recorded yet
    assert not found.is_known
    path.write_bytes(b"a,c\n")
    with pytest.raises(ChecksumError, match="was changed while it was read"):
        found.accept()
    path.write_bytes(b"a,b\n")
    found.accept()
    assert found.is_known
    assert files(cache) == ["sources.lock.json"]
    assert json.loads((cache / LOCK_FILE).read_text()) == {"bionli/test.csv": found.sha256}


def test_a_later_change_of_an_unpinned_file_is_refused(tmp_path, cache):
    path = put(tmp_path, "test.csv", b"a,b\n")
    obtain(unpinned(), place=path, cache_dir=cache).accept()
    path.write_bytes(b"a,c\n")
    recorded = cache / LOCK_FILE
    with pytest.raises(ChecksumError, match=rf"was recorded with .* the entry from {recorded}"):
        obtain(unpinned(), place=path, cache_dir=cache)
    recorded.write_text("{}")
    obtain(unpinned(), place=path, cache_dir=cache).accept()
    assert json.loads(recorded.read_text()) == {"bionli/test.csv": sha256(b"a,c\n")}


def test_a_pinned_file_is_not_recorded(tmp_path, cache):
    put(tmp_path, "patterns.xml")
    obtain(pinned(), place=tmp_path, cache_dir=cache).accept()
    assert not files(cache)


@pytest.mark.parametrize("content", [b'{"a": ', b"[]", b"\xff"])
def test_a_damaged_lock_file_is_reported(tmp_path, cache, content):
    path = put(cache, LOCK_FILE, content)
    put(tmp_path, "test.csv", b"a,b\n")
    with pytest.raises(
        ChecksumError, match=rf"{path} is not a lock file\. Restore it, or delete it"
    ):
        obtain(unpinned(), place=tmp_path, cache_dir=cache)
    with pytest.raises(ChecksumError, match="is not a lock file"):
        record_hash(cache, "a/b", sha256(b""))
    assert path.read_bytes() == content


RECORD = """
import sys
from pathlib import Path
from threading import Thread
from nlihub.loaders.fetching.lock import record_hash

def record(thread):
    for number in range(15):
        record_hash(Path(sys.argv[1]), f"{sys.argv[2]}/{thread}/{number}", "0" * 64)

threads = [Thread(target=record, args=[thread]) for thread in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def start(program, *arguments, **environment):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, **environment}, text=True, stderr=-1)


def test_processes_and_threads_that_record_at_once_lose_nothing(cache):
    for process in [start(RECORD, cache, name) for name in "ab"]:
        assert process.communicate(timeout=30) == (None, "")
    assert len(json.loads((cache / LOCK_FILE).read_text())) == 60
    assert files(cache) == [LOCK_FILE]


# Downloads


def test_a_download_is_kept(server, cache):
    first = obtain(pinned(server.url), cache_dir=cache)
    assert first.path.read_bytes() == CONTENT
    assert first.entry == {"url": server.url, "bytes": len(CONTENT), "sha256": sha256(CONTENT)}
    assert obtain(pinned(server.url), cache_dir=cache) == first
    assert len(server.seen) == 1
    assert files(cache) == ["patterns.xml"]


def test_a_download_is_pinned_by_its_git_blob(server, cache):
    source = pinned(server.url, git_blob=git_blob(CONTENT))
    assert obtain(source, cache_dir=cache).sha256 == sha256(CONTENT)
    server.content = CHANGED
    with pytest.raises(ChecksumError, match="expected git blob"):
        obtain(source, cache_dir=cache / "other")


def test_a_changed_file_is_never_accepted(server, cache):
    server.script = ["changed"] * 10
    with pytest.raises(ChecksumError, match=rf"What {server.url} serves is not the pinned"):
        obtain(pinned(server.url), cache_dir=cache)
    assert len(server.seen) == 1
    assert not files(cache)


def test_a_damaged_download_is_replaced(server, cache):
    found = obtain(pinned(server.url), cache_dir=cache)
    found.path.write_bytes(CONTENT[:100])
    assert obtain(pinned(server.url), cache_dir=cache).path.read_bytes() == CONTENT
    assert files(cache) == ["patterns.xml"]


def test_a_damaged_download_that_cannot_be_replaced_is_reported(server, cache):
    found = obtain(pinned(server.url), cache_dir=cache)
    found.path.write_bytes(CONTENT[:-100])
    server.script = [404]
    with pytest.raises(DownloadError, match=r"(?s)It lacks 100 bytes.*cannot be downloaded: 404"):
        obtain(pinned(server.url), cache_dir=cache)


@pytest.mark.parametrize("trouble", [408, 429, 503, "broken"])
def test_passing_trouble_is_overcome(server, cache, waits, trouble):
    server.script = [trouble, trouble]
    assert obtain(pinned(server.url), cache_dir=cache).path.read_bytes() == CONTENT
    assert len(server.seen) == 3
    assert waits == ([1, 2] if trouble == "broken" else [7, 7])  # these say Retry-After: 7
    assert files(cache) == ["patterns.xml"]


@pytest.mark.parametrize("trouble", [404, 503, 416, 204])
def test_lasting_trouble_is_reported_and_leaves_nothing(server, cache, trouble):
    server.script = [trouble] * 20
    with pytest.raises(
        DownloadError, match=r"(?s)cannot be downloaded: .*name a local folder"
    ) as e:
        obtain(pinned(server.url), cache_dir=cache)
    assert isinstance(e.value, ConnectionError)
    assert len(server.seen) == (5 if trouble == 503 else 1)
    assert not files(cache)


def test_breaks_without_end_are_reported(server, cache):
    server.script = ["broken"] * 20
    with pytest.raises(DownloadError, match=r"(?s)cannot be downloaded: .*name a local folder"):
        obtain(pinned(server.url), cache_dir=cache)
    assert len(server.seen) == 5
    assert not files(cache)


def test_no_server_at_all(waits, cache):
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        obtain(pinned(), cache_dir=cache)
    assert waits == [1, 2, 4, 8]
    assert not files(cache)


def test_offline_nothing_is_asked(server, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        DownloadError, match=r"(?s)HF_HUB_OFFLINE or .* is set.* name a local folder"
    ):
        obtain(pinned(server.url), cache_dir=cache)
    assert not server.seen


def test_offline_a_download_is_still_there(server, cache, monkeypatch):
    first = obtain(pinned(server.url), cache_dir=cache)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert obtain(pinned(server.url), cache_dir=cache) == first
    first.path.write_bytes(CHANGED)
    with pytest.raises(DownloadError, match=r"(?s)is not the pinned.*HF_HUB_OFFLINE or"):
        obtain(pinned(server.url), cache_dir=cache)
    assert first.path.exists()  # offline, nothing could replace it


def test_a_file_that_only_people_can_get(cache):
    with pytest.raises(NotFound, match=r"test.csv of bionli cannot be .* Ask the authors\. Then"):
        obtain(unpinned(), cache_dir=cache)


def test_a_served_web_page_is_no_data(server, cache):
    server.script = ["html"] * 3
    for source in (pinned(server.url), unpinned(server.url)):
        with pytest.raises(NotDataError, match=rf"{server.url} serves is an HTML .*Google Drive"):
            obtain(source, cache_dir=cache)
    assert len(server.seen) == 2
    assert not files(cache)


def test_an_answer_that_is_compressed_on_the_way_is_unpacked(server, cache):
    server.encoding = "gzip"
    assert obtain(pinned(server.url), cache_dir=cache).path.read_bytes() == CONTENT


def test_unpinned_downloads_of_one_name_are_told_apart(server, cache):
    first = obtain(unpinned(server.url, path="full/test.csv"), cache_dir=cache)
    server.content = CHANGED
    second = obtain(unpinned(server.url, path="balanced/test.csv"), cache_dir=cache)
    assert first.path != second.path
    assert (first.sha256, second.sha256) == (sha256(CONTENT), sha256(CHANGED))


def test_a_change_of_an_unpinned_download_is_refused(server, cache):
    found = obtain(unpinned(server.url), cache_dir=cache)
    found.accept()
    found.path.unlink()
    server.content = CHANGED
    with pytest.raises(ChecksumError, match="was recorded with"):
        obtain(unpinned(server.url), cache_dir=cache)
    assert files(cache) == [LOCK_FILE]


# Interruptions


GET = """
import json, sys
from pathlib import Path
from nlihub.loaders.fetching import Source, Variant, obtain

cache, place, sha256 = sys.argv[1:]
source = Source("spacenli", "patterns", (Variant("patterns.xml", (place,), sha256=sha256),))
try:
    print(obtain(source, cache_dir=Path(cache)).path)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def test_a_killed_process_leaves_no_file_under_its_name(server, cache):
    server.script = ["stalled"]
    process = start(GET, cache, server.url, sha256(CONTENT), HF_HUB_OFFLINE="0")
    deadline = time.monotonic() + 10
    while not any(path.stat().st_size for path in cache.rglob(".*.partial")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert files(cache) == [".patterns.xml.partial"]
    assert obtain(pinned(server.url), cache_dir=cache).path.read_bytes() == CONTENT
    assert files(cache) == ["patterns.xml"]


@pytest.mark.slow
def test_processes_that_want_one_file_all_get_it(server, cache):
    server.script = ["broken"]  # the others wait for the one that is on it
    arguments = (cache, server.url, sha256(CONTENT))
    for process in [start(GET, *arguments, HF_HUB_OFFLINE="0") for _ in range(4)]:
        process.communicate(timeout=30)
        assert process.returncode == 0
    assert len(server.seen) == 2
    assert files(cache) == ["patterns.xml"]


def test_a_full_disk_is_reported(server, cache):
    limit = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
"""
    process = start(limit + GET, cache, server.url, sha256(CONTENT), HF_HUB_OFFLINE="0")
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 1
    assert "OSError: [Errno 27] File too large" in said
    assert "patterns.xml.partial'" in said
    assert not files(cache)
    assert len(server.seen) == 1


# Several places, several files


@pytest.mark.parametrize("trouble", [404, 503, "broken", "changed", "html"])
def test_the_next_place_is_asked(server, cache, trouble):
    server.scripts = {"/one": [trouble] * 9}
    source = pinned(f"{server.url}/one", f"{server.url}/two")
    assert obtain(source, cache_dir=cache).path.read_bytes() == CONTENT
    assert server.seen[-1]["path"] == "/two"
    assert files(cache) == ["patterns.xml"]


def test_the_next_place_is_asked_for_a_file_that_is_recorded(server, cache):
    found = obtain(unpinned(server.url), cache_dir=cache)
    found.accept()
    found.path.unlink()
    server.scripts = {"/one": ["changed"]}
    again = obtain(unpinned(f"{server.url}/one", f"{server.url}/two"), cache_dir=cache)
    assert again.sha256 == sha256(CONTENT)


def test_all_places_that_failed_are_listed(server, cache):
    server.scripts = {"/one": [404], "/two": ["changed"], "/three": ["html"]}
    source = pinned(*(f"{server.url}/{name}" for name in ("one", "two", "three")))
    with pytest.raises(DownloadError, match="could not be obtained:") as e:
        obtain(source, cache_dir=cache)
    for said in (
        "/one cannot be downloaded: 404",
        "/two serves is not",
        "/three serves is an",
    ):
        assert said in str(e.value)
    assert not files(cache)


def test_another_format_is_downloaded_where_the_first_cannot_be(server, cache):
    server.scripts = {"/a.jsonl": [404]}
    variants = tuple(
        Variant(name, (f"{server.url}/{name}",), sha256=sha256(CONTENT))
        for name in ("a.jsonl", "a.csv")
    )
    found = obtain(Source("d", "x", variants), cache_dir=cache)
    assert (found.variant.path, found.address) == ("a.csv", f"{server.url}/a.csv")


def test_several_files_are_downloaded_at_once_and_come_in_order(server, cache):
    sources = [unpinned(f"{server.url}/{n}", path=f"{n}.csv") for n in range(8)]
    server.scripts = {"/0": ["broken"], "/3": [503]}
    found = obtain_all(sources, cache_dir=cache)
    assert [file.variant.path for file in found] == [f"{n}.csv" for n in range(8)]
    assert {file.sha256 for file in found} == {sha256(CONTENT)}
    assert len(server.seen) == 10


def test_one_file_that_is_wanted_twice_at_once_is_downloaded_once(server, cache):
    obtain_all([pinned(server.url)] * 4, cache_dir=cache)
    assert len(server.seen) == 1


def test_one_of_several_files_that_cannot_be_had_is_reported(server, cache):
    server.scripts = {"/1": [404]}
    sources = [unpinned(f"{server.url}/{n}", path=f"{n}.csv") for n in range(3)]
    with pytest.raises(DownloadError, match="/1 cannot be downloaded: 404"):
        obtain_all(sources, cache_dir=cache)


# The Hub


@pytest.fixture
def get_from_hub(server, cache, tmp_path):
    def get(place, **environment):
        variables = {
            "HF_ENDPOINT": server.url,
            "HF_HUB_OFFLINE": "0",
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            **environment,
        }
        process = start(GET, cache, place, sha256(CONTENT), **variables)
        said = process.communicate(timeout=30)[1]
        return process.returncode, said

    return get


PLACE = f"https://huggingface.co/datasets/me/spacenli/resolve/{COMMIT}/data/patterns.xml"


def test_a_file_of_the_hub_is_downloaded_and_kept_by_its_client(server, cache, get_from_hub):
    assert get_from_hub(PLACE)[0] == 0
    seen = [seen["path"] for seen in server.seen]
    assert f"/datasets/me/spacenli/resolve/{COMMIT}/data/patterns.xml" in seen
    assert get_from_hub(PLACE, HF_HUB_OFFLINE="1")[0] == 0
    assert len(server.seen) == len(seen)
    assert not files(cache)


def test_a_wrong_file_of_the_hub_is_refused(server, get_from_hub):
    server.content = CHANGED
    code, said = get_from_hub(PLACE)
    assert code == 1
    assert said.startswith("ChecksumError: ")
    assert f"data/patterns.xml, from {PLACE}, is not the pinned" in said


def test_a_file_that_the_hub_lacks_is_reported(server, get_from_hub):
    server.scripts = {f"/datasets/me/spacenli/resolve/{COMMIT}/data/patterns.xml": [404]}
    code, said = get_from_hub(PLACE)
    assert code == 1
    assert said.startswith("DownloadError: ")
    assert "https://huggingface.co/datasets/me/spacenli/resolve/" in said
    assert "cannot be downloaded: 404" in said
    assert "name a local folder" in said


def test_offline_the_hub_is_not_asked(server, get_from_hub):
    code, said = get_from_hub(PLACE, HF_HUB_OFFLINE="1")
    assert code == 1
    assert said.startswith("DownloadError: ")
    assert "is not requested" in said
    assert "name a local folder" in said
    assert not server.seen


def test_without_a_network_it_is_said_at_once(cache, monkeypatch):
    """A name that cannot be resolved is not asked again and again."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it was tried again"))
    source = pinned("http://no-such-host.invalid/patterns.xml")
    with pytest.raises(DownloadError, match=r"no-such-host\.invalid is not found; is this machine"):
        obtain(source, cache_dir=cache)


def test_what_cannot_be_downloaded_is_said_before_anything_is(server, cache):
    by_hand = Source("bionli", "test", (Variant("test.csv"),), 38, "Ask its authors.")
    with pytest.raises(NotFound, match=r"cannot be downloaded by a program\. Ask its authors"):
        obtain_all([pinned(server.url), by_hand], cache_dir=cache)
    assert not server.seen
