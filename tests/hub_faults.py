"""What can go wrong with the requests to the Hub of the tests."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Fault:
    """What goes wrong with requests.

    Attributes:
        method: Of the request, such as ``POST``.
        path: A regular expression that is found in its path.
        action: A status to answer with, as the Hub does when it refuses; ``drop``, the connection
            is closed without an answer; ``cut``, it is closed when half of the request's body has
            come; ``tear``, half of the answer is sent; ``flip``, a byte of the answer is another
            one, or of the content that a PUT brings; ``lose``, it is carried out, and then
            dropped; or ``hang``, there is no answer for ``Hub.hang_s`` seconds, and then it is
            dropped. A function is called, and then all goes well.
        times: How often; afterwards all is well.
        skip: Requests that go well before.
    """

    method: str
    path: str
    action: int | str | Callable[[], None]
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


def torn(chunks, n_bytes):
    """The first bytes of a content that comes in parts."""
    for chunk in chunks:
        if n_bytes <= 0:
            return
        yield chunk[:n_bytes]
        n_bytes -= len(chunk)


def flipped(chunks, at):
    """A content that comes in parts, with one bit of the byte at a place changed."""
    for chunk in chunks:
        if 0 <= at < len(chunk):
            yield chunk[:at] + bytes([chunk[at] ^ 1]) + chunk[at + 1 :]
        else:
            yield chunk
        at -= len(chunk)
