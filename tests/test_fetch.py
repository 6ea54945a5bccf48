"""Fetching over real connections, from a server on loopback."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from nlihub.loaders import fetch as fetching
from nlihub.loaders.errors import ChecksumError, DownloadError, NLIHubError, SourceNotFoundError
from nlihub.loaders.fetch import Source, fetch, list_sources

CONTENT = b"<patterns/>\n" * 5000


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = 0
        self.script = []  # what to answer, one entry a request; then the whole file


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        answer = self.server.script.pop(0) if self.server.script else "whole"
        if isinstance(answer, int):
            self.send_error(answer)
            return
        body = CONTENT[:-1] + b"!" if answer == "changed" else CONTENT
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1000] if answer == "broken" else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("time.sleep", lambda _: None)  # between retries
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def source(server=None, content=CONTENT):
    port = server.server_port if server else 9
    return Source(
        dataset="spacenli",
        name="patterns",
        path="dataset/patterns.xml",
        url=f"http://127.0.0.1:{port}/dataset/patterns.xml",
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_download_is_kept(server, tmp_path):
    first = fetch(source(server), cache_dir=tmp_path)
    assert first.read_bytes() == CONTENT
    assert fetch(source(server), cache_dir=tmp_path) == first
    assert server.requests == 1


def test_a_changed_file_is_never_accepted(server, tmp_path):
    server.script = ["changed"] * 10
    with pytest.raises(ChecksumError, match="does not serve the pinned file"):
        fetch(source(server), cache_dir=tmp_path)
    assert not files(tmp_path)


@pytest.mark.parametrize("trouble", [503, "broken"])
def test_passing_trouble_is_overcome(server, tmp_path, trouble):
    server.script = [trouble, trouble]
    assert fetch(source(server), cache_dir=tmp_path).read_bytes() == CONTENT
    assert server.requests == 3


@pytest.mark.parametrize("trouble", [404, 503, "broken"])
def test_lasting_trouble_is_reported_and_leaves_nothing(server, tmp_path, trouble):
    server.script = [trouble] * 20
    with pytest.raises(DownloadError, match=r"cannot be downloaded: .*name a local folder") as e:
        fetch(source(server), cache_dir=tmp_path)
    assert isinstance(e.value, ConnectionError)
    assert not files(tmp_path)


def test_a_damaged_download_is_replaced(server, tmp_path):
    path = fetch(source(server), cache_dir=tmp_path)
    path.write_bytes(CONTENT[:100])
    assert fetch(source(server), cache_dir=tmp_path).read_bytes() == CONTENT


def test_no_server_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        fetch(source(), cache_dir=tmp_path)


def test_offline_nothing_is_asked(server, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE is set"):
        fetch(source(server), cache_dir=tmp_path)
    assert server.requests == 0


@pytest.mark.parametrize("place", ["patterns.xml", "dataset/patterns.xml"])
def test_a_local_folder_is_taken_as_it_is(tmp_path, place):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(CONTENT)
    assert fetch(source(), folder=tmp_path, cache_dir=tmp_path / "cache") == path


def test_a_local_file_with_another_hash_is_refused(tmp_path):
    (tmp_path / "patterns.xml").write_bytes(CONTENT + b" ")
    with pytest.raises(ChecksumError, match=r"is not the pinned dataset/patterns.xml .* expected"):
        fetch(source(), folder=tmp_path, cache_dir=tmp_path)


def test_a_folder_without_the_file(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"has neither .* Download it from http"):
        fetch(source(), folder=tmp_path, cache_dir=tmp_path)
    with pytest.raises(FileNotFoundError, match="is no folder"):
        fetch(source(), folder=tmp_path / "absent", cache_dir=tmp_path)


def test_recorded_sources():
    assert set(list_sources("spacenli")) == {"patterns", "world"}
    with pytest.raises(KeyError, match="spacenli"):
        list_sources("spacenly")
    with pytest.raises(NLIHubError, match="needs url, bytes and sha256"):
        Source("x", "y", "z", "http://a", 1, "short")


def test_the_pinned_files_are_the_official_ones(official, tmp_path):
    for item in list_sources("spacenli").values():
        path = fetching.fetch(item, folder=official, cache_dir=tmp_path)
        assert path.stat().st_size == item.bytes
