"""Fetching over real connections, from a server on loopback, and from local folders."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import ROOT
from nlihub.loaders import fetching
from nlihub.loaders.errors import ChecksumError, DownloadError, NLIHubError, NotDataError
from nlihub.loaders.errors import SourceNotFoundError as NotFound
from nlihub.loaders.fetching import Source, Variant, list_sources, obtain_all
from nlihub.loaders.fetching.lock import LOCK_FILE, record_hash

CONTENT = b"".join(b"<pattern id='%d'/>\n" % number for number in range(40_000))  # many chunks
CHANGED = CONTENT[:-1] + b"!"
HTML = b"<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head></html>"
COMMIT = "c" * 40
LOCAL = r"name a local folder"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file at every address, with the troubles that its script lists."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.encoding = CONTENT, None
        self.script = []  # what to answer, one entry a request; then the whole file
        self.scripts = {}  # the same for an address
        self.seen = []  # the path of each request
        self.go_on = threading.Event()  # for those that stall
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append(self.path)
        script = server.scripts.get(self.path, server.script)
        answer = script.pop(0) if script else "whole"
        body = {"changed": CHANGED, "html": HTML}.get(answer, server.content)
        if isinstance(answer, int):
            body = b""
            self.send_response(answer)
            self.send_header("Retry-After", "7")
        else:
            body = gzip.compress(body) if server.encoding else body
            self.send_response(200)
        self.send_header("ETag", '"first"')
        if server.encoding:
            self.send_header("Content-Encoding", server.encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if answer in ("broken", "stalled") else body)
        if answer == "stalled":
            server.go_on.wait(20)

    def do_HEAD(self):  # the client of the Hub
        is_there = self.server.scripts.get(self.path) != [404]
        self.send_response(200 if is_there else 404)
        self.send_header("X-Repo-Commit", COMMIT)
        if not is_there:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("ETag", '"first"')
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def online(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def waits(online, monkeypatch):
    """The seconds waited between retries, which take none here."""
    waited = []
    monkeypatch.setattr("nlihub.loaders.network.time.sleep", waited.append)
    return waited


@pytest.fixture
def server(waits):
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.go_on.set()
        server.shutdown()
        thread.join()


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


@pytest.fixture
def obtain(cache):
    return partial(fetching.obtain, cache_dir=cache)


def pinned(*urls, content=CONTENT, path="dataset/patterns.xml", **pins):
    pins = pins or {"bytes": len(content), "sha256": sha256(content)}
    urls = urls or ("http://127.0.0.1:9/patterns.xml",)
    return Source("spacenli", "patterns", (Variant(path, urls, **pins),))


def unpinned(*urls, path="test.csv"):
    return Source("bionli", "test", (Variant(path, urls),), instructions="Ask the authors.")


def files(folder):
    """The files in a folder; those that lock are empty, and stay."""
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
    pins = Counter()
    for dataset, entry in recorded.items():
        sources = list_sources(dataset)
        assert list(sources) == list(entry["files"])
        for name, source in sources.items():
            assert (source.dataset, source.name) == (dataset, name)
            assert source.how_to_get()
            for variant in source.variants:
                assert all(place.startswith("https://") for place in variant.locations)
                pins.update(pin for pin in (variant.sha256, variant.git_blob) if pin)
    assert max(pins.values()) == 1  # no two are one file


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


def test_another_catalogue_can_be_named(catalogue, monkeypatch, tmp_path):
    with pytest.raises(KeyError, match="Did you mean 'spacenli'"):
        list_sources("spacenly")
    catalogue({"mine": {"files": {"all": {"variants": [{"path": "a", "locations": WEB}]}}}})
    assert list_sources("mine") == {"all": Source("mine", "all", (Variant("a", WEB),))}
    with pytest.raises(KeyError, match="no dataset with sources 'spacenli'"):
        list_sources("spacenli")
    monkeypatch.setenv("NLIHUB_SOURCES", str(tmp_path / "absent.json"))
    with pytest.raises(FileNotFoundError, match=r"NLIHUB_SOURCES names .*absent.json.*not a file"):
        list_sources("spacenli")
    monkeypatch.setenv("NLIHUB_SOURCES", "")
    assert list_sources("spacenli")


@pytest.mark.parametrize(
    "recorded",
    [
        "{",
        [],
        {"d": {}},
        {"d": {"files": {"x": {}}}},
        {"d": {"files": {"x": {"variants": [{"path": "a", "sha": "b"}]}}}},
        {"d": {"files": {"x": {"variants": [{"path": "a"}]}}}},
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
        "patterns (1).xml",  # known by its content
        "folder/other.xml",
    ],
)
def test_a_local_file_is_taken_as_it_is(tmp_path, cache, obtain, name):
    put(tmp_path / "release", "another.xml", CHANGED)
    path = put(tmp_path / "release", name)
    for place in (tmp_path / "release", path):
        found = obtain(pinned(), place=place)
        assert (found.path, found.bytes, found.sha256) == (path, len(CONTENT), sha256(CONTENT))
    assert not files(cache)


def test_the_folder_of_the_dataset_and_the_first_format_come_first(tmp_path, obtain):
    both = (Variant("a.jsonl", sha256=sha256(b"{}")), Variant("a.csv", sha256=sha256(b"x,y")))
    source = Source("d", "x", both, instructions="Ask.")
    for name, content in (("a.csv", b"x,y"), ("a.jsonl", b"{}"), ("d/a.csv", b"x,y")):
        path = put(tmp_path, name, content)
        assert obtain(source, place=tmp_path).path == path


@pytest.mark.parametrize("name", ["patterns.xml.gz", "dataset/patterns.xml.gz"])
def test_a_compressed_file_is_unpacked_and_verified(tmp_path, cache, obtain, name):
    packed = gzip.compress(CONTENT)
    path = put(tmp_path / "release", name, packed)
    for place in (tmp_path / "release", path):
        assert obtain(pinned(), place=place).path.read_bytes() == CONTENT
        assert files(cache) == ["patterns.xml"]
    next(cache.rglob("patterns.xml")).unlink()
    path.write_bytes(gzip.compress(CHANGED))
    with pytest.raises(ChecksumError, match="is not the pinned"):
        obtain(pinned(), place=path)
    for damaged in (packed[:-99], packed[:99] + bytes(99) + packed[198:], CONTENT, packed[:-8]):
        path.write_bytes(damaged)
        with pytest.raises(NotFound, match=r"patterns.xml.gz cannot be unpacked: "):
            obtain(pinned(), place=path)
    assert not files(cache)


def test_a_local_place_without_the_file_is_reported_with_what_it_holds(tmp_path, obtain):
    changed = put(tmp_path, "readme.txt", CHANGED)
    for source, place, message in (
        (pinned(), tmp_path, r"no dataset/patterns.xml.* It holds: readme.txt\. Download it from"),
        (unpinned(), tmp_path, "has no test.csv, the source 'test' of bionli.*Ask the"),
        (pinned(), changed, "readme.txt is not dataset/patterns.xml, the source"),
        (pinned(), tmp_path / "absent", "is neither a folder nor a file; expected one with"),
    ):
        with pytest.raises(NotFound, match=message):
            obtain(source, place=place)


PINS = {
    "sha256": {"bytes": len(CONTENT), "sha256": sha256(CONTENT)},
    "git blob": {"bytes": len(CONTENT), "git_blob": git_blob(CONTENT)},
}


@pytest.mark.parametrize("pin", PINS)
def test_a_local_file_is_pinned(tmp_path, cache, obtain, pin):
    path = put(tmp_path, "patterns.xml")
    source = pinned(**PINS[pin])
    found = obtain(source, place=tmp_path)
    assert found.identity in PINS[pin].values()
    assert found.entry == {"url": found.address, "bytes": found.bytes, "sha256": sha256(CONTENT)}
    found.accept()
    assert not files(cache)  # nothing to record
    path.write_bytes(CHANGED)
    message = rf"patterns.xml is not the pinned dataset/patterns.xml .* expected {pin} .*Download"
    with pytest.raises(ChecksumError, match=message):
        obtain(source, place=tmp_path)
    path.write_bytes(CONTENT[:-12])
    with pytest.raises(ChecksumError, match="It lacks 12 bytes: it is truncated, or was saved"):
        obtain(source, place=tmp_path)


@pytest.mark.parametrize("pin", [{"sha256": sha256(CHANGED)}, {"git_blob": git_blob(CHANGED)}])
def test_a_file_of_another_dataset_is_named(tmp_path, obtain, catalogue, pin):
    other = {"variants": [{"path": "dev.csv", **pin}], "instructions": "Ask."}
    catalogue({"scinli": {"files": {"validation": other}}})
    put(tmp_path, "patterns.xml", CHANGED)
    with pytest.raises(ChecksumError, match=r"It is dev\.csv of scinli"):
        obtain(pinned(), place=tmp_path)


@pytest.mark.parametrize("page", [HTML, b"\xef\xbb\xbf\n <HTML>", b"<head></head>"])
@pytest.mark.parametrize("source", [pinned(), unpinned()])
def test_a_web_page_is_no_data(tmp_path, obtain, source, page):
    path = put(tmp_path, source.paths[0].rpartition("/")[2], page)
    cause = "'Google Drive - Virus scan warning'.*Google Drive sends" if page == HTML else "sign-in"
    with pytest.raises(NotDataError, match=rf"{path} is an HTML page.*{cause}.*--from FOLDER"):
        obtain(source, place=tmp_path)


def test_the_pinned_files_are_the_official_ones(official, obtain):
    for source in list_sources("spacenli").values():
        assert obtain(source, place=official).bytes == source.variants[0].bytes


# The lock file


def test_an_unpinned_file_is_recorded_when_it_is_accepted(tmp_path, cache, obtain):
    path = put(tmp_path, "test.csv", b"a,b\n")
    found = obtain(unpinned(), place=path)
    assert not cache.exists()  # nothing is recorded yet
    assert not found.is_known
    path.write_bytes(b"a,c\n")
    with pytest.raises(ChecksumError, match="was changed while it was read"):
        found.accept()
    path.write_bytes(b"a,b\n")
    found.accept()
    assert found.is_known
    recorded = cache / LOCK_FILE
    assert json.loads(recorded.read_text()) == {"bionli/test.csv": found.sha256}
    path.write_bytes(b"a,c\n")
    with pytest.raises(ChecksumError, match=rf"was recorded with .* the entry from {recorded}"):
        obtain(unpinned(), place=path)
    recorded.write_text("{}")
    obtain(unpinned(), place=path).accept()
    assert json.loads(recorded.read_text()) == {"bionli/test.csv": sha256(b"a,c\n")}


@pytest.mark.parametrize("content", [b'{"a": ', b"[]", b"\xff"])
def test_a_damaged_lock_file_is_reported(tmp_path, cache, obtain, content):
    path = put(cache, LOCK_FILE, content)
    put(tmp_path, "test.csv", b"a,b\n")
    for read in (
        lambda: obtain(unpinned(), place=tmp_path),
        lambda: record_hash(cache, "a/b", sha256(b"")),
    ):
        with pytest.raises(ChecksumError, match=rf"{path} is not a lock file\. Restore it, or"):
            read()
    assert path.read_bytes() == content


RECORD = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from nlihub.loaders.fetching.lock import record_hash

with ThreadPoolExecutor(2) as pool:
    for number in range(30):
        pool.submit(record_hash, Path(sys.argv[1]), f"{sys.argv[2]}/{number}", "0" * 64)
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


def test_a_download_is_kept_and_one_that_is_damaged_replaced(server, cache, obtain, monkeypatch):
    first = obtain(pinned(server.url))
    assert first.path.read_bytes() == CONTENT
    assert first.entry == {"url": server.url, "bytes": len(CONTENT), "sha256": sha256(CONTENT)}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert obtain(pinned(server.url)) == first
    assert len(server.seen) == 1
    first.path.write_bytes(CHANGED)
    with pytest.raises(DownloadError, match=r"(?s)is not the pinned.*HF_HUB_OFFLINE or"):
        obtain(pinned(server.url))
    assert first.path.exists()  # offline, nothing could replace it
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    first.path.write_bytes(CONTENT[:-100])
    server.script = [404]
    with pytest.raises(DownloadError, match=r"(?s)It lacks 100 bytes.*cannot be downloaded: 404"):
        obtain(pinned(server.url))
    assert obtain(pinned(server.url)).path.read_bytes() == CONTENT
    assert files(cache) == ["patterns.xml"]


@pytest.mark.parametrize("trouble", [408, 429, 503, "broken"])
def test_passing_trouble_is_overcome(server, cache, obtain, waits, trouble):
    server.script, server.encoding = [trouble, trouble], "gzip"  # on the way alone
    assert obtain(pinned(server.url)).path.read_bytes() == CONTENT
    assert len(server.seen) == 3
    assert waits == ([1, 2] if trouble == "broken" else [7, 7])  # these say Retry-After: 7
    assert files(cache) == ["patterns.xml"]


NOT_THERE = (DownloadError, rf"(?s)cannot be downloaded: .*{LOCAL}")
CHANGE = (ChecksumError, "What http.* serves is not the pinned")
PAGE = (NotDataError, "serves is an HTML .*Google Drive")


@pytest.mark.parametrize(
    ("trouble", "error", "n_asked"),
    [
        (404, NOT_THERE, 1),
        (416, NOT_THERE, 1),
        (204, NOT_THERE, 1),
        (503, NOT_THERE, 5),
        ("broken", NOT_THERE, 5),
        ("changed", CHANGE, 1),
        ("html", PAGE, 1),
    ],
)
@pytest.mark.parametrize("pin", [*PINS, None])
def test_lasting_trouble_is_reported_and_leaves_nothing(
    server, cache, obtain, trouble, error, n_asked, pin
):
    server.script = [trouble] * 20
    source = pinned(server.url, **PINS[pin]) if pin else unpinned(server.url)
    if (pin, trouble) == (None, "changed"):
        assert obtain(source).sha256 == sha256(CHANGED)  # nobody knows better
        return
    with pytest.raises(error[0], match=error[1]) as caught:
        obtain(source)
    assert isinstance(caught.value, ConnectionError) == (error is NOT_THERE)
    assert ("Ask the authors." in str(caught.value)) == (pin is None)
    assert (len(server.seen), files(cache)) == (n_asked, [])


def test_no_server_at_all(waits, cache, obtain):
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        obtain(pinned())
    assert waits == [1, 2, 4, 8]
    assert not files(cache)


def test_what_nobody_can_download_is_said_at_once(server, cache, obtain, monkeypatch):
    message = r"test.csv of bionli cannot be .* Ask the authors\. Then"
    with pytest.raises(NotFound, match=message):
        obtain(unpinned())
    with pytest.raises(NotFound, match=message):
        obtain_all([pinned(server.url), unpinned()], cache_dir=cache)
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it was tried again"))
    with pytest.raises(DownloadError, match=r"no-such-host\.invalid is not found; is this machine"):
        obtain(pinned("http://no-such-host.invalid/patterns.xml"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadError, match=rf"(?s)HF_HUB_OFFLINE or .* is set.* {LOCAL}"):
        obtain(pinned(server.url))
    assert not server.seen


def test_unpinned_downloads_are_told_apart_and_recorded(server, cache, obtain):
    first = obtain(unpinned(server.url, path="full/test.csv"))
    first.accept()
    server.content = CHANGED
    second = obtain(unpinned(server.url, path="balanced/test.csv"))
    assert (first.sha256, second.sha256) == (sha256(CONTENT), sha256(CHANGED))
    assert first.path != second.path
    first.path.unlink()
    with pytest.raises(ChecksumError, match="was recorded with"):
        obtain(unpinned(server.url, path="full/test.csv"))
    assert files(cache) == [LOCK_FILE, "test.csv"]
    server.content, server.scripts = CONTENT, {"/one": ["changed"]}
    again = obtain(unpinned(f"{server.url}/one", f"{server.url}/two", path="full/test.csv"))
    assert again.sha256 == sha256(CONTENT)


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


def test_a_killed_process_leaves_no_file_under_its_name(server, cache, obtain):
    server.script = ["stalled"]
    process = start(GET, cache, server.url, sha256(CONTENT), HF_HUB_OFFLINE="0")
    deadline = time.monotonic() + 10
    while not any(path.stat().st_size for path in cache.rglob(".*.partial")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert files(cache) == [".patterns.xml.partial"]
    assert obtain(pinned(server.url)).path.read_bytes() == CONTENT
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
    assert (files(cache), len(server.seen)) == ([], 1)


# Several places, several files


@pytest.mark.parametrize("trouble", [404, 503, "broken", "changed", "html"])
def test_the_next_place_is_asked(server, cache, obtain, trouble):
    server.scripts = {"/one": [trouble] * 9}
    source = pinned(f"{server.url}/one", f"{server.url}/two")
    assert obtain(source).path.read_bytes() == CONTENT
    assert server.seen[-1] == "/two"
    assert files(cache) == ["patterns.xml"]


def test_all_places_that_failed_are_listed(server, cache, obtain):
    server.scripts = {"/one": [404], "/two": ["changed"], "/three": ["html"]}
    source = pinned(*(f"{server.url}/{name}" for name in ("one", "two", "three")))
    with pytest.raises(DownloadError, match="could not be obtained:") as e:
        obtain(source)
    for said in ("/one cannot be downloaded: 404", "/two serves is not", "/three serves is an"):
        assert said in str(e.value)
    assert not files(cache)


def test_another_format_is_downloaded_where_the_first_cannot_be(server, obtain):
    server.scripts = {"/a.jsonl": [404]}
    variants = tuple(
        Variant(name, (f"{server.url}/{name}",), sha256=sha256(CONTENT))
        for name in ("a.jsonl", "a.csv")
    )
    found = obtain(Source("d", "x", variants))
    assert (found.variant.path, found.address) == ("a.csv", f"{server.url}/a.csv")


def test_several_files_are_downloaded_at_once_and_come_in_order(server, cache):
    sources = [unpinned(f"{server.url}/{n}", path=f"{n}.csv") for n in range(8)]
    server.scripts = {"/0": ["broken"], "/3": [503]}
    found = obtain_all([*sources, pinned(server.url), pinned(server.url)], cache_dir=cache)
    assert [file.variant.path for file in found[:8]] == [f"{n}.csv" for n in range(8)]
    assert {file.sha256 for file in found} == {sha256(CONTENT)}
    assert len(server.seen) == 11  # one that is wanted twice is downloaded once
    server.scripts = {"/9": [404]}
    with pytest.raises(DownloadError, match="/9 cannot be downloaded: 404"):
        obtain_all([*sources, unpinned(f"{server.url}/9", path="9.csv")], cache_dir=cache)


def test_a_file_of_the_hub_is_downloaded_and_kept_by_its_client(server, cache, tmp_path):
    path = f"/datasets/me/spacenli/resolve/{COMMIT}/data/patterns.xml"
    place = f"https://huggingface.co{path}"
    variables = {"HF_ENDPOINT": server.url, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}

    def get(name="hf", **more):
        more = {**variables, "HF_HOME": str(tmp_path / name), **more}
        process = start(GET, cache, place, sha256(CONTENT), **more)
        said = process.communicate(timeout=30)[1]
        return process.returncode, said

    code, said = get(HF_HUB_OFFLINE="1")
    assert (code, server.seen) == (1, [])
    assert said.startswith("DownloadError: ") and "is not requested" in said and LOCAL in said
    server.scripts = {path: [404]}
    code, said = get()
    assert code == 1
    assert said.startswith("DownloadError: ") and "cannot be downloaded: 404" in said
    assert place.rpartition("/resolve/")[0] in said and LOCAL in said
    server.scripts, server.content = {}, CHANGED
    code, said = get("other")
    assert code == 1
    assert said.startswith("ChecksumError: ")
    assert f"data/patterns.xml, from {place}, is not the pinned" in said
    server.content = CONTENT
    assert get()[0] == 0
    n_seen = len(server.seen)
    assert path in server.seen
    assert get(HF_HUB_OFFLINE="1")[0] == 0
    assert len(server.seen) == n_seen
    assert not files(cache)
