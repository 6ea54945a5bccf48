"""Send a trained model to the Hub."""

from pathlib import Path

from ...baselines.runs.folder import CONFIG, METRICS, RECORD, RunFolder
from ...loaders.errors import UsageError
from ..hub.repository import Content, HubRepository
from .card import model_card


def publish_model(
    run: str | Path, repo: str, *, private: bool = False, license_id: str | None = None
) -> str:
    """Send the model of a run to the Hub in one commit, with its card and its results.

    A token is read as ``huggingface_hub`` reads it.

    Args:
        run: Folder of a run of an encoder that is done, with its checkpoint.
        repo: The repository, ``ORG/NAME``; it is made if there is none.
        private: Whether a repository that is made is private.
        license_id: Licence of the weights as the Hub names it, such as ``apache-2.0``.

    Returns:
        The address of the commit.

    Raises:
        UsageError: The run is not done, has no checkpoint of an encoder, or the name is no
            ``ORG/NAME``.
        HubError: The Hub refuses it or cannot be reached.
    """
    repository = HubRepository(repo, "model")
    folder = RunFolder(Path(run).expanduser())
    if not folder.is_done:
        raise UsageError(f"{folder.path} is no run that is done.")
    if folder.config.method != "encoder" or not (folder.checkpoint / "config.json").is_file():
        raise UsageError(
            f"{folder.path} has no checkpoint of an encoder; only such models load on the Hub."
        )
    files: dict[str, Content] = {
        path.relative_to(folder.checkpoint).as_posix(): path
        for path in sorted(folder.checkpoint.rglob("*"))
        if path.is_file()
    }
    files["README.md"] = model_card(folder, repo, license_id).encode()
    files["metrics.json"] = folder.path / METRICS
    files["run/config.json"] = folder.path / CONFIG
    files["run/record.json"] = folder.path / RECORD
    repository.create(private=private)
    name, seed = folder.config.name, folder.config.seed
    commit = repository.commit(files, message=f"{name}, seed {seed}", parent=repository.head())
    return f"{repository.url}/commit/{commit}"
