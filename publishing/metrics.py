"""Plan to publish a metric as a Space of the Hub; it is tried by the example on its card."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..loaders.errors import HubError, UnknownNameError, UsageError, VersionError
from ..loaders.network import is_switched_on
from ..metrics import METRICS
from ..metrics.bundle import bundle
from .card import merge_cards
from .changes import Change, Level, parse_number
from .hub.calls import RETRIES
from .hub.repository import HubRepository
from .plan import CARD, OF_NEW_REPOSITORIES, Plan, RepositoryState, compare_files


def space_files(name: str, repository: str | None = None) -> dict[str, str]:
    """Return the files of a metric's Space, by name: script, app, card and requirements.

    None of them needs nlihub.

    Args:
        name: Name of the metric.
        repository: Where it will be, ``ORG/NAME``, for the examples on the card.
    """
    package = f"nlihub.metrics.{name}"
    folder = files(package)
    card = (folder / "README.md").read_text(encoding="utf-8")
    if repository is not None:
        card = card.replace(f'evaluate.load("{name}")', f'evaluate.load("{repository}")')
    return {
        f"{name}.py": bundle(f"{package}.{name}"),
        "app.py": bundle(f"{package}.app"),
        "README.md": card,
        "requirements.txt": (folder / "requirements.txt").read_text(encoding="utf-8"),
    }


def plan_metric(name: str, space: str, *, private: bool = False) -> Plan:
    """Plan to publish a metric as a Space; nothing is changed.

    Its number is the metric's own version, which its signatures quote: any that follows the newest,
    from 1.0.0 on. How much has changed for users cannot be told from the files.

    Args:
        name: Name of the metric.
        space: Its Space, ``ORG/NAME``.
        private: Whether a Space that is made is private.

    Raises:
        UnknownNameError: There is no such metric.
        UsageError: The Space has another name than the metric, is somebody else's, or is public
            where it should be private; or ``evaluate`` is switched offline.
        VersionError: The metric's version is below 1.0.0, is published with other files, does not
            follow the newest, or nothing has changed since the newest.
        HubError: The Hub refuses, or cannot be reached.
    """
    if name not in METRICS:
        raise UnknownNameError.of("metric", name, METRICS)
    if is_switched_on(_OFFLINE):
        raise UsageError(
            f"{_OFFLINE} is set, so {space} could not be tried out once it is committed. Unset it."
        )
    if space.partition("/")[2] != name:
        raise UsageError(
            f"evaluate looks for a script of the Space's name: expected ORG/{name}, not {space!r}."
        )
    scoring = import_module(f"nlihub.metrics.{name}.scoring")
    number = parse_number(str(getattr(scoring, f"{name.upper()}_VERSION")))
    if int(number.major) < 1:
        raise VersionError(
            f"{number} could be taken for a version of evaluate, which looks for modules under the "
            "tag of its own; expected 1.0.0 or higher."
        )
    contents = {path: text.encode() for path, text in space_files(name, space).items()}
    repository = HubRepository(space, "space")
    state = RepositoryState.look(repository, number, mark=f"{name}.py", private=private)
    newest = repository.files(state.published[state.newest]) if state.newest is not None else {}
    changes = _changes_since(state, contents) if state.compared is not None else []
    try:
        return state.plan(
            _with_card(contents, state.card),
            changes,
            listed=set(newest) - OF_NEW_REPOSITORIES,
            data=set(contents) - {CARD},
            try_out=partial(_try_out, name, repository),
            use=f'evaluate.load("{space}", revision="{state.tag}")',
        )
    except VersionError as error:
        raise VersionError(f"{error} A metric's number is in metrics/{name}/scoring.py.") from error


def _changes_since(state: RepositoryState, contents: Mapping[str, bytes]) -> list[Change]:
    repository, commit = state.repository, state.published[state.compared]
    there = repository.files(commit)
    ours = _with_card(contents, repository.read_text(CARD, commit))
    found = compare_files(ours, there, set(there) - OF_NEW_REPOSITORIES)
    return [
        *(Change(Level.PATCH, f"{path} is removed") for path in found.removed),
        *(Change(Level.PATCH, f"{path} is added") for path in found.added),
        *(Change(Level.PATCH, f"{path} is another") for path in found.changed),
    ]


def _with_card(contents: Mapping[str, bytes], theirs: str | None) -> dict[str, bytes]:
    return {**contents, CARD: merge_cards(contents[CARD].decode(), theirs).encode()}


#: Keeps ``evaluate`` from the Hub.
_OFFLINE = "HF_EVALUATE_OFFLINE"
#: What the clients say of a status that may pass.
_PASSING = re.compile(r"\b(?:429|5\d\d)\b|[Cc]onnection")
#: Names of environment variables that may hold a secret.
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL|NETRC", re.IGNORECASE)
_EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
_FROM_HUB = """
import sys
sys.modules["nlihub"] = None  # users do not have it
import evaluate
load = evaluate.load
evaluate.load = lambda _: load({repository!r}, revision={revision!r})
"""
# Without evaluate, whose import takes long.
_OF_THIS_PACKAGE = """
import sys
from types import SimpleNamespace
from nlihub.metrics import functional
metric = SimpleNamespace(compute=functional.{name})
sys.modules["evaluate"] = SimpleNamespace(load=lambda _: metric)
"""
_ANSWER = """
import json
print(json.dumps({"result": result}), flush=True)
"""


def _try_out(name: str, repository: HubRepository, revision: str) -> None:
    """Compare a metric on the Hub with that of this package, by the example on its card.

    It is loaded by ``evaluate.load`` in a process of its own that cannot import nlihub, with caches
    that hold nothing yet and without any token; of a private Space, from a copy of its script.
    """
    space = repository.name
    card = (files(f"nlihub.metrics.{name}") / "README.md").read_text(encoding="utf-8")
    example = _EXAMPLE.findall(card)[0]
    try:
        here = _result(_OF_THIS_PACKAGE.format(name=name) + example)
        with TemporaryDirectory() as folder:
            loaded: dict[str, str | None] = {"repository": space, "revision": revision}
            if repository.is_private():
                script = Path(folder) / name / f"{name}.py"
                script.parent.mkdir()
                script.write_bytes(repository.read(script.name, revision) or b"")
                loaded = {"repository": str(script.parent), "revision": None}
            there = _again(partial(_result, _FROM_HUB.format(**loaded) + example))
        problem = "" if there == here else f"it gives {there}, expected {here}"
    except RuntimeError as error:
        problem = f"it cannot be tried out: {error}"
    if problem:
        raise HubError(f"{space} at {revision} is not the metric of this package: {problem}.")


def _again(run: Callable[[], Any]) -> Any:
    """Run what fetches from the Hub, again where it is refused for a while."""
    attempt = 0
    while True:
        attempt += 1
        try:
            return run()
        except RuntimeError as error:
            wait_s = RETRIES.wait_s(attempt)
            if wait_s is None or not _PASSING.search(str(error)):
                raise
            time.sleep(wait_s)


def _result(program: str) -> Any:
    """Run a program with empty caches and without secrets, and return its ``result``.

    Raises:
        RuntimeError: It fails; the last line of its output.
    """
    with TemporaryDirectory() as caches:
        done = subprocess.run(
            [sys.executable, "-P", "-c", program + _ANSWER],
            capture_output=True,
            text=True,
            cwd=caches,  # where no folder can be taken for a metric
            env={
                **{name: value for name, value in os.environ.items() if not _SECRET.search(name)},
                "HF_HOME": caches,
                "HF_TOKEN_PATH": f"{caches}/token",
                "HF_HUB_CACHE": f"{caches}/hub",
                "HF_DATASETS_CACHE": f"{caches}/datasets",
                "HF_MODULES_CACHE": f"{caches}/modules",
                "HF_EVALUATE_CACHE": f"{caches}/evaluate",
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",
                "USE_TORCH": "0",  # whose import takes as long as all the rest
            },
        )
    # Not by its exit code: threads of the clients may crash a process that has told all.
    for line in done.stdout.splitlines()[-1:]:
        if line.startswith('{"result": '):
            return json.loads(line)["result"]
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    raise RuntimeError(lines[-1])
