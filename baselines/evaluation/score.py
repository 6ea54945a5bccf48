"""Score files of predictions, show the scores, and draw them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...builders.core.options import check_config, check_split
from ...builders.core.registry import builders, get_builder
from ...builders.versions.manifest import FILE_NAME as MANIFEST
from ...builders.versions.open import PathLike, open_version
from ...loaders.atomic_write import whole_file
from ...loaders.errors import (
    PredictionsError,
    SourceNotFoundError,
    UnknownNameError,
    UsageError,
    needs_extra,
)
from ...loaders.json_text import parse_json
from ...metrics import app_of
from ...metrics.inputs.files import read_input_file
from ...metrics.inputs.problems import MetricInputError
from ...metrics.rows import Rows, shorten, show_p_value, show_rows_as_text
from .gold import GoldRows
from .harness_logs import config_of, read_log, read_logs, restrict_to_logs
from .label_order import find_better_order, name_ids
from .predictions import check_predictions, join_predictions
from .scoring import ScoringOptions, score_predictions, summarize_runs

#: The metric that each kind of picture shows.
_PLOTS = {
    "pattern-accuracy": "pattern_accuracy",
    "categories": "pattern_accuracy",
    "patterns": "pattern_accuracy",
    "consistency": "consistency",
    "recall": "consistency",
    "breakdown": "nli_report",
    "cartography": "cartography",
}

#: Options that only one kind of picture takes.
_OWN_OPTIONS = {
    "threshold": "categories",
    "by": "breakdown",
    "score": "breakdown",
    "color": "cartography",
    "larger_side": "consistency",
}

#: How a result gets what a metric needs.
_NEEDS = {
    "cartography": "It takes a column probability_LABEL for every label in the predictions.",
    "pattern_accuracy": "It takes rows whose groups have one gold label each, as in SpaceNLI.",
    "consistency": "It takes rows with groups and two labels, as in BioNLI.",
}


def score(
    predictions: PathLike | Sequence[PathLike],
    dataset: str,
    *,
    config: str | None = None,
    split: str | None = None,
    against: PathLike | Sequence[PathLike] = (),
    thresholds: Sequence[float] | float | None = None,
    confidence_level: float | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
    per_group: bool = False,
    by: str | Sequence[str] = (),
    model_labels: Sequence[str] = (),
    folder: PathLike | None = None,
) -> dict[str, Any]:
    """Score predictions with every metric that applies to a dataset.

    Args:
        predictions: A file (CSV, JSONL, Parquet) with the columns ``id`` and ``prediction``, a
            label's name or id, and perhaps ``probability_LABEL`` for every label; or several
            files, the runs of one system with several seeds. A null in ``prediction`` stands for
            no readable answer, which is wrong and counted; CSV has no null, and an empty field is
            refused like any other text that is no label. Other columns have no meaning. Or what a
            harness wrote of our tasks: ``samples_*.jsonl`` of lm_eval, ``details_*.parquet`` of
            lighteval, a log of Inspect; of those only the rows that were asked are scored.
        dataset: Name of a dataset, folder of a built version, or a file of rows that ``sample``
            wrote.
        config: Its config; None takes that of the log of a harness, else the default one.
        split: Its split; None takes ``test``, or the only one.
        against: The same for a second system, to compare with.
        thresholds: Consistency thresholds; None takes those of the papers.
        confidence_level: Coverage of the intervals, above 0 and below 1; None computes none.
        n_resamples: Number of drawn exchanges in a test, where there are too many to try all.
        seed: Seed of the draws.
        per_group: Whether to add the counts of every group.
        by: Columns of the dataset to break the scores of ``nli_report`` and ``pattern_accuracy``
            down by, one or several, ``A+B`` for two crossed, such as ``domain+label``. A row with
            a list counts under each of its values, such as SpaceNLI's ``expressions``.
        model_labels: The labels of the dataset in the order of the ids in the predictions, if that
            is not the dataset's own.
        folder: Local folder with the source files, where the dataset has to be built first.

    Returns:
        ``dataset`` (name, version, config, split, rows and digest of the rows), the names of the
        files, ``notes`` on what may not be meant, and ``metrics``: what each metric returned, by
        its name. For several files ``runs``, a list of such results, and ``summary`` (see
        ``summarize_runs``).

    Raises:
        UnknownNameError: There is no such dataset, config, split or column.
        PredictionsError: Predictions are malformed, not one for every row, or no labels, or no ids
            where ``model_labels`` are given.
        UsageError: There are not as many files of both systems, a file is given twice, an option
            is out of its range, a column to break down by has too many values, or several in a
            pattern, or ``model_labels`` are not those of the dataset.
    """
    files, other_files = _as_paths(predictions), _as_paths(against)
    _check_files(files, other_files)
    if len(files) > 1 and (confidence_level is not None or per_group):
        raise UsageError(
            "Intervals and counts of groups are those of one run; of several files the spread over "
            "the runs is shown."
        )
    by = [by] if isinstance(by, str) else list(by)
    logs = read_logs([*files, *other_files])
    gold = find_gold(dataset, config or config_of(logs), split, folder, by)
    gold, n_left_out = restrict_to_logs(gold, logs)
    options = ScoringOptions(thresholds, confidence_level, n_resamples, seed, per_group, by)
    notes = [f"{n_left_out:,} rows of the split were not asked."] * bool(n_left_out)

    def read(path: Path) -> Any:
        table, found = read_predictions(gold, path, model_labels)
        notes.extend(found)
        return table

    def results(path: Path, other: Path | None) -> dict[str, dict[str, Any]]:
        table, compared = read(path), read(other) if other is not None else None
        scores = score_predictions(gold.rows, gold.labels, gold.metrics, table, options, compared)
        if systems := [f"system:{logs[one]}" for one in (path, other) if one in logs]:
            for result in scores.values():
                result["signature"] = "|".join([result["signature"], *systems])
        return scores

    found: dict[str, Any] = {
        "dataset": gold.description,
        "predictions": [path.name for path in files],
        "against": [path.name for path in other_files],
        "notes": notes,
    }
    if len(files) == 1:
        return found | {"metrics": results(files[0], other_files[0] if other_files else None)}
    runs = [results(path, None) for path in files]
    others = [results(path, None) for path in other_files]
    return found | {"runs": runs, "other_runs": others, "summary": summarize_runs(runs, others)}


def _check_files(files: list[Path], other_files: list[Path]) -> None:
    if not files or len(other_files) not in (0, len(files)):
        raise UsageError(
            f"{len(files)} files of predictions against {len(other_files)}; expected as many of "
            "both systems, seed by seed."
        )
    seen = [path.resolve() for path in (*files, *other_files)]
    if repeated := [path for path in seen if seen.count(path) > 1]:
        raise UsageError(f"{repeated[0].name} is given twice; expected a file for every run.")


def find_gold(
    dataset: str,
    config: str | None,
    split: str | None,
    folder: PathLike | None,
    by: Sequence[str],
    *,
    with_texts: bool = False,
) -> GoldRows:
    """Read the gold rows that ``score`` takes for its arguments of these names."""
    if Path(dataset).is_file():
        if config or split or folder:
            raise UsageError(f"{dataset} is a file of rows: it has no config, split or sources.")
        return GoldRows.of_file(Path(dataset), by=by, with_texts=with_texts)
    if (Path(dataset) / MANIFEST).is_file() and dataset not in builders():
        version = open_version(dataset, folder=folder)
        return GoldRows.of_version(version, config, split, by=by, with_texts=with_texts)
    # Only what is scored is built, so that the sources of other splits may be missing.
    spec = get_builder(dataset).SPEC
    config = check_config(spec, config or spec.default_config)
    splits = spec.configs[config].splits
    split = split or (splits[0] if len(splits) == 1 else "test")
    check_split(split, splits)
    version = open_version(dataset, folder=folder, configs=[config], splits=[split])
    return GoldRows.of_version(version, config, split, by=by, with_texts=with_texts)


def read_predictions(
    gold: GoldRows, path: Path, model_labels: Sequence[str] = ()
) -> tuple[pa.Table, list[str]]:
    """Read and check a file of predictions; return them in the order of the rows, and notes.

    Args:
        gold: The rows.
        path: The file.
        model_labels: See ``score``.
    """
    table = _read(path)
    named: list[str] = []
    if gold.has_label_ids:
        table, named = name_ids(table, gold.labels, model_labels, path.name)
    notes = check_predictions(table, gold.labels, path.name, may_be_ids=gold.has_label_ids)
    joined = join_predictions(gold.rows, table, path.name)
    return joined, [*named, *notes, *_note_on_order(gold, joined, model_labels, path.name)]


def _note_on_order(
    gold: GoldRows, table: pa.Table, model_labels: Sequence[str], name: str
) -> Iterator[str]:
    """Yield a note where predictions would be far better with their labels in another order."""
    predicted = table["prediction"]
    are_ids = pa.types.is_integer(predicted.type)
    codes = (
        predicted if are_ids else pc.index_in(predicted.cast(pa.string()), pa.array(gold.labels))
    )
    is_read = pc.is_valid(codes)
    references = gold.rows["label"].filter(is_read).to_numpy().astype(np.intp)
    codes = codes.filter(is_read).to_numpy().astype(np.intp)
    if (found := find_better_order(codes, references, gold.labels)) is None:
        return
    order, now, then = found
    scores = f"the accuracy would be {100 * then:.1f} % instead of {100 * now:.1f} %"
    if are_ids:
        own = [gold.labels.index(label) for label in model_labels or gold.labels]
        given = ",".join(order[number] for number in own)
        yield (
            f"{name}: with --model-labels {given} {scores}. Compare the model's own order, such as "
            "id2label of its config.json."
        )
    else:
        others = (
            f"{label} for {one}"
            for one, label in zip(gold.labels, order, strict=True)
            if label != one
        )
        yield f"{name}: with {', '.join(others)} {scores}. Are the labels of the model named right?"


def show_scores(found: Mapping[str, Any], *, per_group: bool = False) -> str:
    """Show what ``score`` returned: a table for every metric and breakdown, and the signatures.

    Args:
        found: What ``score`` returned.
        per_group: Whether to show the tables of groups.
    """
    gold = found["dataset"]
    where = [str(gold[key]) for key in ("config", "split") if gold[key] is not None]
    name = " ".join(str(part) for part in (gold["name"], gold["version"]) if part is not None)
    systems = [", ".join(names) for names in (found["predictions"], found["against"]) if names]
    lines = [", ".join([name, *where]) + f": {gold['rows']:,} rows", " against ".join(systems)]
    for metric, result in found.get("metrics", {}).items():
        app = app_of(metric)
        rows = app.scores(result)
        if metric != "nli_report":  # which has shown it
            rows = [row for row in rows if row[0] != "accuracy"]
        lines += ["", metric, show_rows_as_text(rows)]
        for title, rows in app.breakdowns(result).items():
            if per_group or not title.startswith(("By pattern", "By group", "Subsets")):
                of = f" of {found['predictions'][0]}" if found["against"] else ""
                lines += ["", f"{metric}{of}, {title[0].lower()}{title[1:]}"]
                lines += [show_rows_as_text(rows)]
        lines += ["", result["signature"]]
    for metric, scores in found.get("summary", {}).items():
        lines += ["", f"{metric}, mean and standard deviation of {len(found['runs'])} runs"]
        signature = found["runs"][0][metric]["signature"]
        lines += [show_rows_as_text(_summary_rows(scores)), "", signature]
    return "\n".join(lines)


def _summary_rows(scores: Mapping[str, Mapping[str, Any]]) -> Rows:
    heads = {
        "mean": "mean",
        "std": "std",
        "other_mean": "other mean",
        "other_std": "other std",
        "difference": "difference",
        "t": "t",
        "p_value": "p (paired t)",
    }
    columns = [key for key in heads if key in next(iter(scores.values()))]
    rows: Rows = [["score", *(heads[key] for key in columns)]]
    for name, found in scores.items():
        shown = {key: "" if found[key] is None else shorten(found[key]) for key in columns}
        if "p_value" in shown:
            shown["p_value"] = show_p_value(found["p_value"])
        score, *value = name.split(", ", 1)  # the value of a column stays as it is
        score = score.replace("macro_f1", "macro-F1").replace("_", " ")
        rows.append([", ".join([score, *value]), *shown.values()])
    return rows


@needs_extra("plots", "A picture")
def plot(
    kind: str,
    results: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    names: Sequence[str] | None = None,
    start: float = 0.0,
    threshold: float | None = None,
    larger_side: bool = False,
    by: str | None = None,
    score: str | None = None,
    color: str | None = None,
) -> None:
    """Draw results of metrics for a paper.

    Args:
        kind: ``pattern-accuracy`` or ``consistency`` (curves of 1 to 7 systems), ``categories``,
            ``recall`` or ``breakdown`` (bars of 1 to 7 systems), ``patterns`` (heat map of any
            number of systems, scored with ``per_group``) or ``cartography`` (one system).
        results: JSON files: what ``score`` or a metric returned, a file a system.
        output: The picture, ``.png``, ``.svg`` or ``.pdf``.
        names: Names of the systems; None takes those of the files.
        start: Threshold at which curves begin.
        threshold: Threshold that categories are shown at; None takes the only one, or 0.95.
        larger_side: Whether ``consistency`` shows the larger side, which BioNLI's Figure 2 is
            about, beside that of a perfect system.
        by: The breakdown to show; None takes the only one.
        score: Score of a breakdown, ``accuracy`` or ``macro_f1``; None takes the accuracy.
        color: What cartography colours groups by, ``label`` or ``correctness``; None takes the
            label.

    Raises:
        UsageError: There is no such kind, not a name for each file, or the output ends
            otherwise; a result does not have what the picture shows, or an option belongs to
            another kind.
        SourceNotFoundError: A file is not there.
        MissingExtraError: matplotlib is not installed.
    """
    from ...metrics import plots

    if kind not in _PLOTS:
        raise UnknownNameError.of("kind of picture", kind, _PLOTS)
    given = {
        "threshold": threshold,
        "by": by,
        "score": score,
        "color": color,
        "larger_side": larger_side or None,
    }
    for option, own in _OWN_OPTIONS.items():
        if given[option] is not None and kind != own:
            raise UsageError(f"{option} belongs to pictures of {own}, not of {kind}.")
    paths = _as_paths(results)
    systems = list(names) if names is not None else [path.stem for path in paths]
    if len(systems) != len(paths) or len(set(systems)) != len(systems):
        raise UsageError(
            f"{len(paths)} files and the names {', '.join(systems)}; expected one each, all "
            "different."
        )
    found = {
        name: _read_result(path, _PLOTS[kind]) for name, path in zip(systems, paths, strict=True)
    }
    try:
        plots.check_picture_name(output)
        if kind == "pattern-accuracy":
            figure = plots.plot_pattern_accuracy(found, start=start)
        elif kind == "consistency":
            figure = plots.plot_consistency(found, start=start, larger_side=larger_side)
        elif kind == "categories":
            figure = plots.plot_categories(found, threshold=threshold)
        elif kind == "patterns":
            figure = plots.plot_patterns(found)
        elif kind == "recall":
            figure = plots.plot_recall(found)
        elif kind == "breakdown":
            figure = plots.plot_breakdown(found, by=by, score=score or "accuracy")
        elif len(found) > 1:
            raise UsageError(f"cartography shows one system, not {len(found)}.")
        else:
            ((name, result),) = found.items()
            figure = plots.plot_cartography(result, color=color or "label", title=name)
        with whole_file(Path(output)) as path:
            plots.save_figure(figure, path)
    except MetricInputError as error:
        raise UsageError(str(error)) from None


def _read(path: Path) -> Any:
    if (log := read_log(path)) is not None:
        return log.predictions
    try:
        return read_input_file(path)
    except MetricInputError as error:
        raise PredictionsError(str(error)) from None
    except FileNotFoundError:
        raise SourceNotFoundError(f"There is no file {path}.") from None


def _read_result(path: Path, metric: str) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceNotFoundError(f"There is no file {path}.") from None
    except ValueError as error:
        raise UsageError(
            f"{path} is not valid JSON: {error}. Expected what nlihub score --json says."
        ) from None
    if not isinstance(found, dict) or "runs" in found:
        what = "the scores of several runs" if isinstance(found, dict) else "no result"
        raise UsageError(f"{path} holds {what}; expected what nlihub score --json says of one run.")
    results = found.get("metrics", {metric: found})
    if metric not in results:
        listed = ", ".join(results) or "none"
        step = _NEEDS.get(metric, "")
        raise UsageError(f"{path} holds no result of {metric}, but {listed}. {step}".rstrip())
    result: dict[str, Any] = results[metric]
    return result


def _as_paths(given: PathLike | Sequence[PathLike]) -> list[Path]:
    paths = [given] if isinstance(given, str | os.PathLike) else list(given)
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"{path!r} is no file; expected a path.")
    return [Path(path) for path in paths]
