"""Score predictions with every metric that applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UsageError
from ...metrics.functional import (
    MetricInputError,
    cartography,
    consistency,
    nli_report,
    pattern_accuracy,
)
from ...metrics.inputs.files import probability_matrix
from ...metrics.thresholds import is_many
from .predictions import has_probabilities

#: SpaceNLI, Table 5; BioNLI, Figure 2, from 50 % in steps of 10.
THRESHOLDS = {
    "pattern_accuracy": [0.5, 0.67, 0.9, 0.95, 1.0],
    "consistency": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
}

#: The scores of each metric that are averaged over runs.
_SUMMARIZED = {
    "nli_report": ("macro_f1", "accuracy"),
    "pattern_accuracy": ("pattern_accuracy", "accuracy", "area_under_curve"),
    "consistency": ("consistency", "accuracy", "f1_positive", "f1_negative", "macro_f1"),
    "cartography": ("confidence", "variability"),
}


@dataclass(frozen=True)
class ScoringOptions:
    """Options of scoring predictions.

    Attributes:
        thresholds: One or more consistency thresholds, from 0 to 1; None takes those of the papers.
        confidence_level: Level of the confidence intervals, above 0 and below 1; None computes
            none.
        n_resamples: Number of drawn exchanges in a test, from 1.
        seed: Seed of the draws.
        per_group: Whether to return the counts of every group.
        by: Columns to break scores down by, ``A+B`` for two.
    """

    thresholds: Sequence[float] | float | None = None
    confidence_level: float | None = None
    n_resamples: int = 9999
    seed: int = 0
    per_group: bool = False
    by: Sequence[str] = ()


def score_predictions(
    rows: pa.Table,
    labels: Sequence[str],
    metrics: Sequence[str],
    predictions: pa.Table,
    options: ScoringOptions,
    other: pa.Table | None = None,
) -> dict[str, dict[str, Any]]:
    """Score predictions with several metrics; the result of each by its name.

    Args:
        rows: The rows of a split, with the uniform columns ``label`` (ids), ``group``,
            ``category`` and ``domain``, and those to break scores down by.
        labels: The label set in the order of its ids.
        metrics: Names of the metrics; cartography is left out without probabilities
            or without groups.
        predictions: Predictions in the order of the rows: the column ``prediction``, and optionally
            ``probability_LABEL`` for every label.
        options: Thresholds, intervals and what else to compute.
        other: Predictions of a second system to compare with, in the order of the rows.

    Raises:
        UsageError: An option is out of its range, or scores cannot be broken down by a column.
    """
    shared: dict[str, Any] = {
        "labels": labels,
        "confidence_level": options.confidence_level,
        "n_resamples": options.n_resamples,
        "seed": options.seed,
    }
    judged = {"predictions": predictions["prediction"], "references": rows["label"]}
    if other is not None:
        judged["other_predictions"] = other["prediction"]
    groups, categories = (
        {name: rows[column]} if rows[column].null_count < len(rows) else {}
        for name, column in (("groups", "group"), ("categories", "category"))
    )
    domains = {"domains": rows["domain"]} if len(pc.unique(rows["domain"])) > 1 else {}
    broken_down = _broken_down(rows, labels, options.by)
    results = {}
    try:
        for metric in metrics:
            if metric == "nli_report":
                results[metric] = nli_report(**judged, **groups, **domains, **broken_down, **shared)
            elif metric == "cartography":
                probabilities = _probabilities(labels, predictions, other)
                if probabilities and groups:  # rows from papers have no groups to map
                    results[metric] = cartography(
                        **probabilities, references=rows["label"], **groups, **shared
                    )
            else:
                function = {"pattern_accuracy": pattern_accuracy, "consistency": consistency}[
                    metric
                ]
                results[metric] = function(
                    **judged,
                    groups=rows["group"],
                    **categories,
                    **(broken_down if metric == "pattern_accuracy" else {}),
                    **shared,
                    thresholds=_as_list(options.thresholds, THRESHOLDS[metric]),
                    per_group=options.per_group,
                )
    except MetricInputError as error:  # the predictions were checked before
        raise UsageError(str(error)) from None
    return results


def _broken_down(rows: pa.Table, labels: Sequence[str], by: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a metric that break its scores down, with labels by name."""
    if not by:
        return {}
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    return {"by": list(by), "data": columns | {"label": pa.array(labels).take(rows["label"])}}


def _as_list(given: Any, default: Sequence[float]) -> Any:
    if given is None:
        return list(default)
    return given if is_many(given) else [given]


def _probabilities(
    labels: Sequence[str], predictions: pa.Table, other: pa.Table | None
) -> dict[str, Any]:
    """Return the probabilities of each system that has them; of neither if the first has none."""
    if not has_probabilities(predictions):
        return {}
    found = {"probabilities": probability_matrix(predictions, labels)[0]}
    if other is not None and has_probabilities(other):
        found["other_probabilities"] = probability_matrix(other, labels)[0]
    return found


def flat_scores(metric: str, result: Mapping[str, Any]) -> dict[str, float]:
    """Flatten the result of a metric into a score for each threshold, class and domain.

    Their names are like ``macro_f1``, ``f1 neutral``, ``macro_f1 networks`` and
    ``pattern_accuracy 0.95``; of a value that scores are broken down by like ``f1 neutral, year
    2020``.
    """
    thresholds = result.get("thresholds")
    flat = _flat_part(metric, result, thresholds)
    domains = result.get("by_domain", {}).items()
    flat |= {f"macro_f1 {name}": part["macro_f1"] for name, part in domains}
    for column, parts in result.get("by", {}).items():
        for value, part in parts.items():
            found = _flat_part(metric, part, thresholds).items()
            flat |= {f"{score}, {column} {value}": number for score, number in found}
    return flat


def _flat_part(metric: str, result: Mapping[str, Any], thresholds: Any) -> dict[str, float]:
    flat: dict[str, float] = {}
    for score in _SUMMARIZED[metric]:
        if isinstance(result[score], list):
            pairs = zip(thresholds, result[score], strict=True)
            flat |= {f"{score} {threshold}": value for threshold, value in pairs}
        else:
            flat[score] = result[score]
    return flat | {f"f1 {name}": part["f1"] for name, part in result.get("per_class", {}).items()}


def all_scores(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return every score of the metrics of one run by name, from 0 to 1.

    The names are those of ``flat_scores``, and ``accuracy projective``, ``pattern_accuracy 0.95
    projective``, ``recall SEN``, ``macro_recall neural``, ``precision neutral``, ``larger_side
    0.5`` and ``confidence 102f``.
    """
    scores: dict[str, float] = {}
    for metric, result in metrics.items():
        scores |= flat_scores(metric, result)
        thresholds = result.get("thresholds", ())
        for category, part in result.get("by_category", {}).items():
            scores[f"accuracy {category}"] = part["accuracy"]
            for threshold, value in zip(thresholds, part["pattern_accuracy"], strict=True):
                scores[f"pattern_accuracy {threshold} {category}"] = value
        for category, part in result.get("recall_by_category", {}).items():
            scores[f"recall {category}"] = part["recall"]
        macro = result.get("macro_recall", {}).items()
        scores |= {f"macro_recall {kind}": value for kind, value in macro if value is not None}
        for label, part in result.get("per_class", {}).items():
            scores |= {f"{name} {label}": part[name] for name in ("precision", "recall")}
        if side := result.get("larger_side"):
            pairs = zip(thresholds, side["consistency"], strict=True)
            scores |= {f"larger_side {threshold}": value for threshold, value in pairs}
        groups = result.get("groups", {})
        for name in ("confidence", "variability") if "confidence" in groups else ():
            pairs = zip(groups["group"], groups[name], strict=True)
            scores |= {f"{name} {group}": value for group, value in pairs}
    return scores
