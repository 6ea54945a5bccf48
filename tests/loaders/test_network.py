"""The policy of retries, and the errors of missing extras."""

import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from nlihub.loaders.errors import MissingExtraError, NLIHubError, UsageError, needs_extra
from nlihub.loaders.network import Retries, is_passing, wait_asked_for
from nlihub.metrics.inputs import problems


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_what_is_tried_again(status):
    assert is_passing(status)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 409, 412, 416, 422])
def test_what_is_not_tried_again(status):
    assert not is_passing(status)


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("0", 0.0),
        (" 2 ", 2.0),
        ("2.5", None),
        ("60", 60.0),
        ("86400", 60.0),
        ("-1", None),
        ("", None),
        (None, None),
        ("later", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2150 07:28:00 GMT", 60.0),
    ],
)
def test_the_wait_that_a_server_asks_for(header, wait_s):
    assert wait_asked_for(header) == wait_s


def test_a_wait_until_a_date():
    at = datetime.now(UTC) + timedelta(seconds=30)
    assert wait_asked_for(format_datetime(at, usegmt=True)) == pytest.approx(30, abs=3)


def test_waits_double_up_to_a_minute():
    waits = [Retries(9).wait_s(attempt) for attempt in range(1, 10)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, None]
    assert Retries(1).wait_s(1) is None
    assert Retries(3, first_wait_s=0.5).wait_s(2) == 1.0


def test_the_server_is_obeyed_before_the_backoff():
    assert Retries(3).wait_s(1, asked_s=7.0) == 7.0
    assert Retries(3).wait_s(1, asked_s=0.0) == 0.0
    assert Retries(3).wait_s(3, asked_s=7.0) is None


def test_uneven_waits_are_shorter_by_up_to_a_half():
    waits = [Retries(2, first_wait_s=8.0, is_uneven=True).wait_s(1) for _ in range(50)]
    assert all(4.0 <= wait <= 8.0 for wait in waits)
    assert len(set(waits)) > 1


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml.loader", None)
    message = r"^Reading needs yaml, which is not installed: pip install 'nlihub\[some\]'$"
    with pytest.raises(MissingExtraError, match=message) as error, needs_extra("some", "Reading"):
        import yaml.loader  # noqa: F401
    assert isinstance(error.value, NLIHubError)
    assert isinstance(error.value, ImportError)


def test_the_metrics_own_error_becomes_ours(monkeypatch):
    @needs_extra("plots", "A picture")
    def draw():
        try:
            raise ModuleNotFoundError("no", name="matplotlib")
        except ModuleNotFoundError as error:
            raise problems.MissingLibraryError("Pictures need matplotlib.") from error

    with pytest.raises(MissingExtraError, match=r"^Pictures need matplotlib\.$"):
        draw()


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("a mistake of ours", name="nlihub.nowhere"),
        ImportError("cannot import name"),
        UsageError("something else"),
        MissingExtraError("explained already"),
    ],
)
def test_other_errors_pass(error):
    with pytest.raises(type(error)) as caught, needs_extra("some", "This"):
        raise error
    assert caught.value is error
