"""Facts for the record of a run: versions, commit, hardware, size of the model."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PACKAGES = (
    "nlihub",
    "torch",
    "transformers",
    "accelerate",
    "tokenizers",
    "datasets",
    "pyarrow",
    "numpy",
    "scikit-learn",
    "nltk",
    "HanTa",
)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that influence a result."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """Return the commit of a checkout of this code, with ``+`` if files were changed; else None."""
    here = Path(__file__).resolve().parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if not (Path(git("rev-parse", "--show-toplevel")) / "baselines").samefile(here.parent):
            return None  # installed into a folder that happens to lie in someone's repository
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def hardware() -> dict[str, Any]:
    """Return the machine's type, number of CPUs and threads, and GPUs."""
    found: dict[str, Any] = {"machine": platform.machine(), "n_cpus": os.cpu_count()}
    try:
        import torch
    except ImportError:
        return found
    found["n_threads"] = torch.get_num_threads()
    if torch.cuda.is_available():
        found["gpus"] = [
            torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())
        ]
        found["cuda"] = torch.version.cuda
    return found


def model_facts(model: Any) -> Mapping[str, int]:
    """Count the parameters of a model, and those that are trained."""
    parameters = list(model.parameters())
    return {
        "n_parameters": sum(p.numel() for p in parameters),
        "n_trained": sum(p.numel() for p in parameters if p.requires_grad),
    }
