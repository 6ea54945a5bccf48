"""A small Hub on loopback: it takes commits from the real client, and keeps their files."""

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hub(ThreadingHTTPServer):
    """Repositories by name, each with its files; ``refuses`` is a status for the next commit."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repos, self.commits, self.refuses = {}, [], None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            known = name in self.server.repos
            self.server.repos.setdefault(name, {})
            return self.answer(409 if known else 200, {"url": f"{self.server.url}/{name}"})
        if self.path == "/api/validate-yaml":
            return self.answer(200, {"errors": [], "warnings": []})
        if self.path.endswith("/preupload/main"):
            files = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            return self.answer(200, {"files": files})
        if self.path.endswith("/commit/main"):
            if self.server.refuses:
                return self.answer(self.server.refuses, {"error": "You may not write here."})
            name = self.path.removeprefix("/api/models/").removesuffix("/commit/main")
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    content = base64.b64decode(entry["value"]["content"])
                    self.server.repos[name][entry["value"]["path"]] = content
            self.server.commits.append(name)
            url = f"{self.server.url}/{name}/commit/{len(self.server.commits):040d}"
            oid = f"{len(self.server.commits):040d}"
            return self.answer(200, {"success": True, "commitUrl": url, "commitOid": oid})
        return self.answer(404, {"error": self.path})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_hub():
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
