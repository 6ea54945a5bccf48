"""Sends a trained model to the Hub."""

from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HFValidationError

from ...loaders.errors import DownloadError, UsageError
from ..runs.folder import CONFIG, METRICS, RECORD, RunFolder
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
        DownloadError: The Hub refuses it or cannot be reached.
    """
    if repo.count("/") != 1 or not all(repo.split("/")):
        raise UsageError(f"{repo!r} is no repository; expected ORG/NAME.")
    if not run.is_done:
        raise UsageError(f"{run.path} is no run that is done.")
    if run.config.method != "encoder" or not (run.checkpoint / "config.json").is_file():
        raise UsageError(
            f"{run.path} has no checkpoint of an encoder; only such models load on the Hub."
        )
    files: dict[str, Path | bytes] = {
        path.relative_to(run.checkpoint).as_posix(): path
        for path in sorted(run.checkpoint.rglob("*"))
        if path.is_file()
    }
    files["README.md"] = model_card(run, repo, license_id).encode()
    files["metrics.json"] = run.path / METRICS
    files["run/config.json"] = run.path / CONFIG
    files["run/record.json"] = run.path / RECORD
    operations = [CommitOperationAdd(name, content) for name, content in files.items()]
    api = HfApi()
    try:
        api.create_repo(repo, private=private, exist_ok=True)
        done = api.create_commit(
            repo, operations, commit_message=f"{run.config.name}, seed {run.config.seed}"
        )
    except HFValidationError as error:
        raise UsageError(f"{repo!r} is no name of a repository: {error}") from error
    except Exception as error:  # the client's errors have no common root over its versions
        first = str(error).strip().splitlines()[0]
        raise DownloadError(f"{repo} could not be pushed: {first}") from error
    return str(done.commit_url)
