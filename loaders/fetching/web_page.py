"""Tells a web page from data: what file hosts send instead of a file."""

from pathlib import Path

from ..errors import NotDataError

_HEAD_BYTES = 1024


def refuse_html(path: Path, origin: str) -> None:
    """Refuse a file that is a web page.

    Args:
        path: The file.
        origin: Where it comes from, for the message.

    Raises:
        NotDataError: It begins like HTML.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if looks_like_html(head):
        raise not_data(origin, head)


def looks_like_html(head: bytes) -> bool:
    """Whether bytes are the beginning of a web page."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return text.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def not_data(origin: str, head: bytes) -> NotDataError:
    """The error for a web page, with what its title says of it."""
    text = head.decode("utf-8", errors="replace")
    title = text.partition("<title>")[2].partition("</title>")[0].strip()
    said = f" ({title!r})" if title else ""
    cause = "It asks for a sign-in, a confirmation, or to come back later."
    if "drive.google" in origin or "google drive" in text.lower():
        cause = (
            "Google Drive sends such a page instead of a file that is large, was downloaded too "
            "often today, or is not shared."
        )
    return NotDataError(
        f"{origin} is an HTML page{said}, not data. {cause} Open the address in a browser, save "
        f"the file itself, and name its folder (--from FOLDER; in Python data_dir= or folder=)."
    )
