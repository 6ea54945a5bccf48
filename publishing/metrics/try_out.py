"""Tries a metric on the Hub as its users will: by the example on its card."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

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
