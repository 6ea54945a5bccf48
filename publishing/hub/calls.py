"""Call the Hub through its own client: calls that end, are tried again, and fail in words."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from huggingface_hub import constants

from ...loaders.errors import DownloadError, HubError, RaceError, UsageError
from ...loaders.network import Retries, check_reachable, is_passing, wait_asked_for
from .client import with_timeouts

_Answer = TypeVar("_Answer")

#: How often a call is made; the client itself makes some again.
RETRIES = Retries(max_attempts=3)
_ADVICE = {
    401: "The Hub does not know the token, or needs one: run hf auth login, or set HF_TOKEN.",
    403: "The token may not do this: look at its rights on the Hub.",
    404: "It is not there, or the token may not see it.",
    429: "The Hub asks to slow down. Run the command again in a few minutes.",
}
_STALE = 412
_OF_XET = "/xet-"  # in the address that the client asks for a key to Xet storage


def call_hub(
    of: str,
    what: str,
    call: Callable[[], _Answer],
    *,
    is_done: Callable[[], _Answer | None] | None = None,
) -> _Answer:
    """Call the Hub's client, again where a failure may pass, and return its answer.

    Args:
        of: What is asked about, such as the name of a repository.
        what: What is not done if it fails, for the message.
        call: The call.
        is_done: Asked before the call is tried again, where to do it twice is not the same as
            once: returns the answer where it was carried out though it failed, else None.

    Raises:
        RaceError: A repository has changed meanwhile.
        HubError: The Hub refuses, or cannot be reached.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return _call(of, what, call)
        except HubError as error:
            cause = error.__cause__
            if not _may_pass(cause):
                raise
            headers = getattr(_answer_to(cause), "headers", {})
            wait_s = RETRIES.wait_s(attempt, wait_asked_for(headers.get("Retry-After")))
            if wait_s is None:
                raise
            time.sleep(wait_s)
            if is_done is not None and (answer := is_done()) is not None:
                return answer


def status_of(error: BaseException | None) -> int | None:
    """Return the status of the Hub's answer that an error of the client, or its cause, has."""
    answer = _answer_to(error)
    return None if answer is None else int(answer.status_code)


def _answer_to(error: BaseException | None) -> Any:
    """Return the answer that an error of the client, or its cause, has; None for none."""
    while error is not None:
        answer = getattr(error, "response", None)
        if answer is not None:
            return answer
        error = error.__cause__
    return None


def _call(of: str, what: str, call: Callable[[], _Answer]) -> _Answer:
    try:
        check_reachable(constants.ENDPOINT)
        with with_timeouts():
            return call()
    except DownloadError as error:
        raise HubError(f"{of} {what}: {error}") from error
    except (HubError, MemoryError, UsageError):
        raise
    except Exception as error:  # the client's errors have no common root over its versions
        status = status_of(error)
        if status == _STALE:
            raise RaceError(
                f"{of} {what}: somebody else changed it at the same time. Run the command again to "
                "see what it holds now."
            ) from error
        reasons = dict.fromkeys(_first_line(e) for e in (error, error.__cause__) if e is not None)
        again = "Run the command again: it goes on where it was."
        advice = _ADVICE.get(status or 0, again)
        if any(_OF_XET in reason for reason in reasons):
            advice = f"If this Hub has no Xet storage, set HF_HUB_DISABLE_XET=1. {again}"
        raise HubError(f"{of} {what}: {': '.join(reasons)}. {advice}") from error


def _may_pass(error: BaseException | None) -> bool:
    """Return whether what went wrong may go right when tried again."""
    if isinstance(error, DownloadError | TypeError):  # no network, or our own mistake
        return False
    status = status_of(error)
    return status is None or is_passing(status)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [repr(error)])[0].rstrip(".")
