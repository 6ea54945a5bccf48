"""A metric as a Space of the Hub: its files, what publishing them would do, and how it is tried.

It is tried as its users will: by the example on its card.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

from ..loaders.errors import VersionError
from ..metrics.bundle import bundle
from .card import is_handwritten, merge_cards
from .compare.changes import Change
from .compare.numbers import Level, parse_number, published_numbers
from .hub.repository import HubRepository
from .plan import (
    CARD,
    OF_NEW_REPOSITORIES,
    Plan,
    check_number,
    check_repository,
    compare_files,
    files_to_restore,
)


def space_files(name: str, repository: str | None = None) -> dict[str, str]:
    """The files of a metric's Space: script, app, card and requirements.

    Args:
        name: Name of the metric.
        repository: Where it will be, ``ORG/NAME``, for the examples on the card.

    Returns:
        Text by file name; none of it needs nlihub.
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


def metric_version(name: str) -> str:
    """The version of a metric, which its signatures quote.

    Args:
        name: Name of the metric.
    """
    scoring = import_module(f"nlihub.metrics.{name}.scoring")
    return str(getattr(scoring, f"{name.upper()}_VERSION"))


def plan_space(
    files: Mapping[str, bytes],
    repository: HubRepository,
    number: str,
    *,
    mark: str,
    private: bool = False,
) -> Plan:
    """Compare the files of a Space with what is published.

    How much has changed for its users nobody can tell from its files: any number that follows the
    newest is taken.

    Args:
        files: The content of each file, by path; a card among them.
        repository: Where it would go.
        number: ``X.Y.Z``, from 1.0.0 on: ``evaluate`` looks for a module under the tag of its own
            version, such as ``v0.4.6``, before it takes the newest.
        mark: A file that every version has, by which a Space of ours is known.
        private: Whether a Space that is made is private.

    Returns:
        The plan; nothing was changed.

    Raises:
        UsageError: The number is none, or the Space is somebody else's, or public where it should
            be private.
        VersionError: It is below 1.0.0, is taken by other files, does not follow the newest, or
            nothing has changed since the newest.
        HubError: The Hub refuses, or cannot be reached.
    """
    wanted = parse_number(number)
    if int(wanted.major) < 1:
        raise VersionError(
            f"{number} could be taken for a version of evaluate, which looks for modules under the "
            "tag of its own; expected 1.0.0 or higher."
        )
    head = repository.head()
    check_repository(repository, head, mark, private=private)
    tags = published_numbers(repository.tags()) if head is not None else {}
    newest = list(tags)[-1] if tags else None
    compared = wanted if wanted in tags else newest
    changes = [] if compared is None else _changes_since(tags[compared], files, repository)
    check_number(wanted, list(tags), changes)
    card = repository.read_text(CARD, head) if head is not None else None
    contents = _with_card(files, card)
    there = repository.files(head) if head is not None else {}
    before = repository.files(tags[newest]) if newest is not None else {}
    differing = compare_files(contents, there, set(before) - OF_NEW_REPOSITORIES)
    if wanted in tags:
        data = set(contents) - {CARD}
        differing = files_to_restore(differing, data, is_newest=wanted == newest)
    return Plan(
        repository=repository,
        number=wanted,
        contents=contents,
        head=head,
        published=tags,
        changes=changes,
        files=differing,
        keeps_text=card is not None and is_handwritten(card),
        private=private,
    )


def _changes_since(
    commit: str, files: Mapping[str, bytes], repository: HubRepository
) -> list[Change]:
    contents = _with_card(files, repository.read_text(CARD, commit))
    there = repository.files(commit)
    found = compare_files(contents, there, set(there) - OF_NEW_REPOSITORIES)
    return [
        *(Change(Level.PATCH, f"{path} is removed") for path in found.removed),
        *(Change(Level.PATCH, f"{path} is added") for path in found.added),
        *(Change(Level.PATCH, f"{path} is another") for path in found.changed),
    ]


def _with_card(files: Mapping[str, bytes], theirs: str | None) -> dict[str, bytes]:
    return {**files, CARD: merge_cards(files[CARD].decode(), theirs).encode()}


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


def difference(name: str, repository: str, revision: str) -> str | None:
    """How a metric on the Hub differs from that of this package, if it does.

    It is loaded by ``evaluate.load`` in a process of its own that cannot import nlihub, with caches
    that hold nothing yet, and computes the example on its card.

    Args:
        name: Name of the metric.
        repository: Its Space, ``ORG/NAME``.
        revision: A commit or a tag.

    Returns:
        What differs, or why it cannot be loaded, in words; None where all is the same.
    """
    card = (files(f"nlihub.metrics.{name}") / "README.md").read_text(encoding="utf-8")
    example = _EXAMPLE.findall(card)[0]
    try:
        here = _result(_OF_THIS_PACKAGE.format(name=name) + example)
        there = _result(_FROM_HUB.format(repository=repository, revision=revision) + example)
    except RuntimeError as error:
        return f"it cannot be tried out: {error}"
    return None if there == here else f"it gives {there}, expected {here}"


def _result(program: str) -> Any:
    """The ``result`` of a program, run with empty caches.

    Raises:
        RuntimeError: It fails; the last line of what it says.
    """
    with TemporaryDirectory() as caches:
        done = subprocess.run(
            [sys.executable, "-P", "-c", program + _ANSWER],
            capture_output=True,
            text=True,
            cwd=caches,  # where no folder can be taken for a metric
            env={
                **os.environ,
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
