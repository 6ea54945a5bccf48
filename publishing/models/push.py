"""Sends a trained model to the Hub."""

from ...baselines.runs.folder import CONFIG, METRICS, RECORD, RunFolder
from ...loaders.errors import UsageError
from ..hub.repository import Content, HubRepository
from .card import model_card


def push_model(
    run: RunFolder, repo: str, *, private: bool = False, license_id: str | None = None
) -> str:
    """Sends the model of a run to the Hub in one commit, with its card and its results.

    A token is read as ``huggingface_hub`` reads it.

    Args:
        run: A run of an encoder that is done, with its checkpoint.
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
    if not run.is_done:
        raise UsageError(f"{run.path} is no run that is done.")
    if run.config.method != "encoder" or not (run.checkpoint / "config.json").is_file():
        raise UsageError(
            f"{run.path} has no checkpoint of an encoder; only such models load on the Hub."
        )
    files: dict[str, Content] = {
        path.relative_to(run.checkpoint).as_posix(): path
        for path in sorted(run.checkpoint.rglob("*"))
        if path.is_file()
    }
    files["README.md"] = model_card(run, repo, license_id).encode()
    files["metrics.json"] = run.path / METRICS
    files["run/config.json"] = run.path / CONFIG
    files["run/record.json"] = run.path / RECORD
    repository.create(private=private)
    name, seed = run.config.name, run.config.seed
    commit = repository.commit(files, message=f"{name}, seed {seed}", parent=repository.head())
    return f"{repository.url}/commit/{commit}"
