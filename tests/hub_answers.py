"""What the Hub of the tests answers with, and how it refuses."""

import http
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Answer:
    """An answer: its body comes in parts, whose number of bytes is known before."""

    status: int
    chunks: Iterable[bytes]
    n_bytes: int
    headers: dict[str, str] = field(default_factory=dict)


def answer(content, status=200, headers=None):
    """Answers with JSON."""
    body = json.dumps(content).encode()
    return Answer(status, [body], len(body), dict(headers or {}))


class Refusal(Exception):  # noqa: N818
    """A request is refused, with the code and the message by which clients tell why."""

    def __init__(self, status, message, code=None, headers=None, **content):
        super().__init__(message)
        headers = {"X-Error-Message": message} | (headers or {})
        if code:
            headers["X-Error-Code"] = code
        self.answer = answer({"error": message} | content, status, headers)


def refusal(status, path, has_token):
    """How the Hub refuses with this status at an address.

    Args:
        status: Such as 404.
        path: Of the request.
        has_token: Whether it came with a token.
    """
    of_repository = re.match(r"/api/(models|datasets|spaces)/", path)
    of_file = "/resolve/" in path
    if status == 401 and has_token:
        return Refusal(401, "Invalid credentials in Authorization header")
    if status == 401:
        # Clients take this one for a missing repository if the address begins with https, which
        # ours does not: hence the code.
        code = "RepoNotFound" if of_repository or of_file else None
        return Refusal(401, "Invalid username or password.", code)
    if status == 403:
        return Refusal(403, "Authorization error.")
    if status == 404 and of_file:
        return Refusal(404, "Entry not found", "EntryNotFound")
    if status == 404 and of_repository:
        return Refusal(404, "Repository not found", "RepoNotFound")
    if status == 429:  # huggingface_hub 0.34 reads none of these headers
        limits = {"RateLimit": '"api";r=0;t=1', "RateLimit-Policy": '"fixed window";"api";q=9;w=9'}
        return Refusal(429, "Too many requests.", headers={"Retry-After": "1"} | limits)
    return Refusal(status, http.HTTPStatus(status).phrase)
