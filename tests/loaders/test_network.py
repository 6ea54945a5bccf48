"""The policy of retries, and the errors of missing extras."""

import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from nlihub.loaders.errors import MissingExtraError, NLIHubError, UsageError, needs_extra
from nlihub.loaders.network import Retries, wait_asked_for
from nlihub.metrics import inputs


def test_the_wait_that_a_server_asks_for():
    in_30_s = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    for header, wait_s in {
        "0": 0.0,
        " 2 ": 2.0,
        "60": 60.0,
        "86400": 60.0,
        "Wed, 21 Oct 2015 07:28:00 GMT": 0.0,
        "Wed, 21 Oct 2150 07:28:00 GMT": 60.0,
        in_30_s: pytest.approx(30, abs=3),
        **dict.fromkeys(["2.5", "-1", "", None, "later"]),
    }.items():
        assert wait_asked_for(header) == wait_s


def test_waits_double_up_to_a_minute_unless_the_server_asks_for_another():
    waits = [Retries(9, first_wait_s=0.5).wait_s(attempt) for attempt in range(1, 10)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60, None]
    assert [Retries(3).wait_s(n, asked_s=0.0) for n in (1, 3)] == [0.0, None]
    uneven = {Retries(2, first_wait_s=8.0, is_uneven=True).wait_s(1) for _ in range(50)}
    assert all(4.0 <= wait <= 8.0 for wait in uneven) and len(uneven) > 1


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml.loader", None)
    message = r"^Reading needs yaml, which is not installed: pip install 'nlihub\[some\]'$"
    with pytest.raises(MissingExtraError, match=message) as error, needs_extra("some", "Reading"):
        import yaml.loader  # noqa: F401
    assert isinstance(error.value, NLIHubError)
    assert isinstance(error.value, ImportError)


def test_the_metrics_own_error_becomes_ours_and_others_pass():
    own = inputs.MissingLibraryError("Pictures need matplotlib.")
    own.__cause__ = ModuleNotFoundError("no", name="matplotlib")
    for error, expected in (
        (own, MissingExtraError),
        (ModuleNotFoundError("a mistake of ours", name="nlihub.nowhere"), ModuleNotFoundError),
        (ImportError("cannot import name"), ImportError),
        (UsageError("something else"), UsageError),
    ):
        with pytest.raises(expected, match=f"^{error}$") as caught, needs_extra("some", "This"):
            raise error
        assert type(caught.value) is expected
