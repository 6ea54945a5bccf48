"""The public functions on baselines, under the names that they have at the top."""

from pathlib import Path

from .api import PathLike
from .baselines.running import list_presets as list_presets
from .baselines.running import report as report_baselines
from .baselines.running import rerun_config as rerun_config
from .baselines.running import run as run_baseline
from .baselines.runs.folder import RunFolder

__all__ = ["list_presets", "push_baseline", "report_baselines", "rerun_config", "run_baseline"]


def push_baseline(
    run: PathLike, repo: str, *, private: bool = False, license_id: str | None = None
) -> str:
    """Send the model of a run to the Hub in one commit, with a card that carries its results.

    Args:
        run: Folder of a run of an encoder that is done, with its checkpoint.
        repo: The repository, ``ORG/NAME``; it is made if there is none.
        private: Whether a repository that is made is private.
        license_id: Licence of the weights as the Hub names it.

    Returns:
        The address of the commit.

    Raises:
        UsageError: The run has nothing to send, or the name is no ``ORG/NAME``.
        HubError: The Hub refuses it or cannot be reached.
    """
    from .publishing.models.push import push_model

    folder = RunFolder(Path(run).expanduser())
    return push_model(folder, repo, private=private, license_id=license_id)
