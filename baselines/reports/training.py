"""The section of a report on training: scores by epoch, and maps of the training rows."""

from collections.abc import Mapping
from typing import Any

from ...loaders.errors import PredictionsError, UsageError
from ...loaders.json_text import parse_json
from ...metrics.functional import MetricInputError, cartography
from ..runs.folder import DYNAMICS, LOG
from .names import short_dataset_name
from .pictures import N_SYSTEMS, Pictures, plot_learning, plot_training_map
from .scores import show_table
from .systems import FinishedRun, RunCollection, read_run_columns

_WORDS = (
    "Confidence and variability: mean and standard deviation of the gold label's probability over "
    "the epochs; here their means over the rows."
)


def show_training(collection: RunCollection, pictures: Pictures) -> list[str]:
    """Report scores by epoch, a picture for each validation set, and maps of training rows.

    Raises:
        UsageError: A log is malformed; names the line.
        PredictionsError: The dynamics of a run are malformed.
    """
    by_validation: dict[str, dict[str, list[dict[int, float]]]] = {}
    for system in collection.systems:
        curves = [curve for run in system.runs if (curve := _learning_curve(run))]
        if any(len(curve) > 1 for curve in curves):
            name = str(system.config.validation)
            by_validation.setdefault(name, {})[system.name] = curves
    blocks = []
    for name, found in sorted(by_validation.items()):
        place = short_dataset_name(name, "validation")
        order = sorted(found, key=lambda s: (-max(max(c.values()) for c in found[s]), s))
        figure = plot_learning({system: found[system] for system in order[:N_SYSTEMS]})
        whose = f", the best {N_SYSTEMS} of {len(found)} systems" * (len(found) > N_SYSTEMS)
        alt = f"Macro-F1 on the validation rows of {place} by epoch{whose}"
        blocks.append(pictures.add(f"learning {place}", alt, figure))
    return blocks + _show_maps(collection, pictures)


def _learning_curve(run: FinishedRun) -> dict[int, float]:
    """Read macro-F1 on the validation rows by epoch from a run's log; empty if there is none."""
    path = run.folder / LOG
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    curve = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = parse_json(line)
            if entry.get("kind") == "epoch":
                epoch, validation = int(entry["epoch"]), entry.get("validation")
                if validation is not None:
                    curve[epoch] = float(validation["macro_f1"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{path}:{number}: expected a JSON object, for an epoch with its number and "
                f"macro_f1: {error!r}."
            ) from error
    return curve


def _show_maps(collection: RunCollection, pictures: Pictures) -> list[str]:
    """Report a map of the rows of each system's first run, if it was trained on all rows."""
    head = ["system", "seed", "training rows", "epochs", "confidence", "variability"]
    rows: list[list[Any]] = [head]
    shown = []
    for system in collection.systems:
        # Parts and shots are chosen rows: their map says nothing of the training set.
        chosen = system.config.subset is not None or system.config.n_shots is not None
        run, name = system.runs[0], system.name
        result = None if chosen else _training_map(run)
        if result is None:
            continue
        n_rows, seed = result["n_groups"], run.config.seed
        means = [f"{result[key]:.3f}" for key in ("confidence", "variability")]
        rows.append([name, seed, f"{n_rows:,}", result["n_samples"] // n_rows, *means])
        alt = f"Training rows of {name}, seed {seed}, by confidence and variability"
        figure = plot_training_map(result, title=name)
        shown.append(pictures.add(f"training map {name}", alt, figure))
    return ["### Maps of the training rows", _WORDS, show_table(rows), *shown] if shown else []


def _training_map(run: FinishedRun) -> Mapping[str, Any] | None:
    """Compute the cartography of a run's training rows over its epochs; None of fewer than two.

    Source: MSciNLI, section 5.1; Swayamdipta et al., EMNLP 2020.
    """
    path = run.folder / DYNAMICS
    if not path.is_file():
        return None
    table = read_run_columns(path, "id", "epoch", "probability")
    try:
        found = cartography(table["probability"], groups=table["id"])
    except MetricInputError as error:
        raise PredictionsError(f"{path}: {error}") from None
    n_epochs = len(table["epoch"].unique())
    if set(found["groups"]["n_samples"]) != {n_epochs}:
        raise PredictionsError(f"{path}: expected the same rows in each of its {n_epochs} epochs.")
    return found if n_epochs > 1 else None
