"""Score predictions, show the scores, and draw them."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...builders.core.options import check_config, check_split
from ...builders.core.registry import builders, get_builder
from ...builders.versions.open import PathLike, open_version
from ...builders.versions.version import MANIFEST
from ...loaders.atomic_write import whole_file
from ...loaders.errors import (
    PredictionsError,
    SourceNotFoundError,
    UnknownNameError,
    UsageError,
    needs_extra,
)
from ...loaders.json_text import parse_json
from ...loaders.paths import local_path
from ...metrics import app_of
from ...metrics.inputs.files import SUFFIXES, read_input_file
from ...metrics.inputs.problems import MetricInputError
from ...metrics.rows import show_rows_as_text
from .gold import GoldRows
from .harness_logs import RUN_AGAIN, HarnessLog, config_of, read_log, read_logs, restrict_to_logs
from .label_order import find_better_order, name_ids
from .predictions import check_predictions, is_table, join_predictions, read_in_memory
from .scoring import ScoringOptions, score_predictions
from .systems import SystemTable, compare, describe_rows

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

#: Ends of the names by which a list of strings is one of files, and not of labels.
_FILE_ENDS = (*SUFFIXES, ".json", ".eval")

#: How a result gets what a metric needs.
_NEEDS = {
    "cartography": "It takes a column probability_LABEL for every label in the predictions.",
    "pattern_accuracy": "It takes rows whose groups have one gold label each, as in SpaceNLI.",
    "consistency": "It takes rows with groups and two labels, as in BioNLI.",
}


def score(
    predictions: Any,
    dataset: str,
    *,
    config: str | None = None,
    split: str | None = None,
    against: Any = (),
    thresholds: Sequence[float] | float | None = None,
    confidence_level: float | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
    per_group: bool = False,
    by: str | Sequence[str] = (),
    scores: Sequence[str] = (),
    model_labels: Sequence[str] = (),
    folder: PathLike | None = None,
) -> dict[str, Any] | SystemTable:
    """Score predictions with every metric that applies to a dataset.

    Args:
        predictions: Those of one system, one of these; or a mapping of the names of several systems
            to these, or to a list of these: the runs of one system with several seeds. A list of
            files, data frames, Arrow tables or ``Dataset`` objects is as many systems.

            - A path or string: a file (CSV, TSV, JSONL, Parquet) with the columns ``id`` and
              ``prediction``, a label's name or id, and perhaps ``probability_LABEL`` for every
              label. Or what a harness wrote of our tasks: ``samples_*.jsonl`` of lm_eval,
              ``details_*.parquet`` of lighteval, a log of Inspect; of those only the rows that
              were asked are scored.
            - A pandas or Polars data frame, an Arrow table, a ``Dataset`` or a mapping of columns,
              with these columns.
            - A list, array, series or tensor of labels, names or ids, one for each row of the
              split in its order. A list of strings is one of files if every string ends in
              ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.json`` or ``.eval``.

            A null in ``prediction`` stands for no readable answer, which is wrong and counted; CSV
            has no null, and an empty field is refused like any other text that is no label. Other
            columns have no meaning.
        dataset: Name of a dataset, folder of a built version, or a file of rows that ``sample``
            wrote.
        config: Its config; None takes that of the log of a harness, else the default one.
        split: Its split; None takes ``test``, or the only one.
        against: The same for a second system, to compare one system with.
        thresholds: Consistency thresholds; None takes those of the papers.
        confidence_level: Coverage of the intervals, above 0 and below 1; None computes none.
        n_resamples: Number of drawn exchanges in a test, where there are too many to try all.
        seed: Seed of the draws.
        per_group: Whether to add the counts of every group.
        by: Columns of the dataset to break the scores of ``nli_report`` and ``pattern_accuracy``
            down by, one or several, ``A+B`` for two crossed, such as ``domain+label``. A row with
            a list counts under each of its values, such as SpaceNLI's ``expressions``.
        scores: Names of the scores that the table of several systems shows; none shows all but F1
            by class, and the first where scores are broken down.
        model_labels: The labels of the dataset in the order of the ids in the predictions, if that
            is not the dataset's own.
        folder: Local folder with the source files, where the dataset has to be built first.

    Returns:
        Of one system ``dataset`` (name, version, config, split, rows and digest of the rows), the
        names of the files, ``logs`` (for each log of a harness its file, ``harness``, ``model``,
        ``state`` and ``n_failed``, the calls that failed: they count as wrong), ``notes`` on what
        may not be meant, and ``metrics``: what each metric returned, by its name.
        Of several systems, or of one with several runs, a ``SystemTable``: every score with its
        interval, each system tested against the best.

    Raises:
        UnknownNameError: There is no such dataset, config, split or column.
        PredictionsError: Predictions are malformed, not one for every row, or no labels, or no ids
            where ``model_labels`` are given.
        UsageError: Several systems are compared with another, a file is given twice, an option is
            out of its range, a column to break down by has too many values, or several in a
            pattern, or ``model_labels`` are not those of the dataset.
    """
    by = [by] if isinstance(by, str) else list(by)
    systems = _as_systems(predictions, "predictions")
    runs = [run for runs in systems.values() for run in runs]
    others = [run for runs_ in _as_systems(against, "other predictions").values() for run in runs_]
    _check_runs(runs, others, is_table=len(runs) > 1)
    logs = read_logs([run.given for run in (*runs, *others) if isinstance(run.given, Path)])
    gold = find_gold(dataset, config or config_of(logs), split, folder, by)
    gold, n_left_out = restrict_to_logs(gold, logs)
    options = ScoringOptions(thresholds, confidence_level, n_resamples, seed, per_group, by)
    notes = [
        note
        for of_system in (*systems.values(), others)
        for note in _notes_on_logs(of_system, logs)
    ]
    ways = {str(logs[run.given]): run.name for run in (*runs, *others) if run.is_in(logs)}
    if len(ways) > 1 and (others or len(systems) > 1):
        told = "; ".join(f"{name} is {way}" for way, name in ways.items())
        notes.append(f"The systems were not asked alike: {told}.")
    notes += _notes_on_limit(gold, n_left_out)

    def read(run: _Run) -> Any:
        table, found = read_predictions(gold, run.given, model_labels, run.name)
        notes.extend(found)
        return table

    if len(runs) > 1:
        if per_group:
            raise UsageError("Counts of groups are those of one run; give one file.")
        tables = {name: [read(run) for run in of_system] for name, of_system in systems.items()}
        files = {name: [run.name for run in of_system] for name, of_system in systems.items()}
        return compare(gold, tables, options, files=files, notes=notes, scores=scores)
    if scores:
        raise UsageError("scores are for the table of several systems; there is one system.")
    [run], other = runs, others[0] if others else None
    table, compared = read(run), read(other) if other is not None else None
    results = score_predictions(gold.rows, gold.labels, gold.metrics, table, options, compared)
    facts = [f"dataset:{describe_rows(gold.description)}"]
    facts += [f"system:{logs[one.given]}" for one in (run, other) if one and one.is_in(logs)]
    for result in results.values():
        result["signature"] = "|".join([result["signature"], *facts])
    return {
        "dataset": gold.description,
        "predictions": [run.name],
        "against": [run.name for run in others],
        "logs": [
            {
                "file": path.name,
                "harness": log.harness,
                "model": log.model,
                "state": log.state,
                "n_failed": log.n_failed,
            }
            for path, log in logs.items()
        ],
        "notes": notes,
        "metrics": results,
    }


def score_one(predictions: Any, dataset: str, **options: Any) -> dict[str, Any]:
    """Score one run of one system; takes the arguments of ``score``."""
    found = score(predictions, dataset, **options)
    if isinstance(found, SystemTable):
        raise UsageError("Expected the predictions of one run of one system.")
    return found


class _Run(NamedTuple):
    """The predictions of one run: their name in messages, and a path or what is in memory."""

    name: str
    given: Any

    def is_in(self, logs: Mapping[Path, HarnessLog]) -> bool:
        return isinstance(self.given, Path) and self.given in logs


def _as_systems(given: Any, what: str) -> dict[str, list[_Run]]:
    """Return the runs of each system by its name; of one without a name, ``what`` it is."""
    if isinstance(given, Iterator):
        given = list(given)
    if isinstance(given, Mapping) and not any(
        name in given and not _are_runs(given[name]) for name in ("id", "prediction")
    ):  # else a table with these columns
        return {str(name): _as_runs(runs, str(name)) for name, runs in given.items()}
    if given is None or (isinstance(given, list | tuple) and not given):
        return {}
    runs = _as_runs(given, what)
    names = [run.given.stem if isinstance(run.given, Path) else run.name for run in runs]
    if len(set(names)) < len(names):
        names = [str(run.given) if isinstance(run.given, Path) else run.name for run in runs]
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise UsageError(f"{name} is given twice; expected a file for every run.")
    return {name: [run] for name, run in zip(names, runs, strict=True)}


def _as_runs(given: Any, name: str) -> list[_Run]:
    """Return the runs: of a list of files or tables each of them, of a list of labels one."""
    is_many = isinstance(given, list | tuple) and _are_runs(given)
    many = list(given) if is_many else [given]
    found = []
    for number, one in enumerate(many, 1):
        if isinstance(one, str | os.PathLike):
            path = local_path(one)
            found.append(_Run(path.name, path))
        else:
            found.append(_Run(f"{name} {number}" if len(many) > 1 else name, one))
    return found


def _are_runs(given: Any) -> bool:
    """Return whether something is a file or a table, or a list of these."""
    if isinstance(given, list | tuple):
        return bool(given) and all(map(_is_run, given))
    return _is_run(given)


def _is_run(given: Any) -> bool:
    """Return whether an item of a list is a file or a table, and not the prediction of a row."""
    if isinstance(given, str):
        return given.lower().endswith(_FILE_ENDS)
    return isinstance(given, os.PathLike) or (is_table(given) and not isinstance(given, Mapping))


def _check_runs(runs: Sequence[_Run], others: Sequence[_Run], *, is_table: bool) -> None:
    """Check the number of runs, and that none is given twice."""
    if not runs:
        raise UsageError("There are no predictions; expected a file, a table or a column.")
    if others and (is_table or len(others) > 1):
        raise UsageError(
            "--against compares one file with another; several systems are compared by name: "
            "NAME=FILE,FILE NAME=FILE."
        )
    files = [run.given for run in (*runs, *others) if isinstance(run.given, Path)]
    counts = Counter(path.resolve() for path in files)
    if repeated := [path for path, times in counts.items() if times > 1]:
        raise UsageError(f"{repeated[0].name} is given twice; expected a file for every run.")


def _notes_on_logs(runs: Sequence[_Run], logs: Mapping[Path, HarnessLog]) -> Iterator[str]:
    """Yield notes on logs of runs that did not end well, and on runs that are not alike."""
    kinds = []
    for run in runs:
        if not run.is_in(logs):
            kinds.append("not of a harness")
            continue
        log = logs[run.given]
        kinds.append(f"{log}{f',model:{log.model}' if log.model else ''}")
        if not log.is_complete:
            failed = "; these count as wrong" if log.n_failed else ""
            told = f"{log.state}{failed}. {RUN_AGAIN}"
            yield f"{run.name} is of a run that is not complete: {told}"
    if len(set(kinds)) > 1:
        told = "; ".join(f"{run.name} is {kind}" for run, kind in zip(runs, kinds, strict=True))
        yield f"The runs of one system are not alike: {told}."


def _notes_on_limit(gold: GoldRows, n_left_out: int) -> Iterator[str]:
    """Yield what it means that some rows were not asked."""
    if not n_left_out:
        return
    yield f"{n_left_out:,} rows of the split were not asked."
    n_groups = len(gold.rows["group"].drop_null().unique())
    over_groups = [name for name in ("pattern_accuracy", "consistency") if name in gold.metrics]
    if over_groups and n_groups:
        yield (
            f"Groups have {gold.rows.num_rows / n_groups:.1f} rows on average, and "
            f"{over_groups[0]} is that of such small groups; with one row each it is the accuracy."
        )


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
    place = local_path(dataset)
    if place.is_file():
        if config or split or folder:
            raise UsageError(f"{dataset} is a file of rows: it has no config, split or sources.")
        return GoldRows.of_file(place, by=by, with_texts=with_texts)
    if (place / MANIFEST).is_file() and dataset not in builders():
        version = open_version(str(place), folder=folder)
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
    gold: GoldRows, given: Any, model_labels: Sequence[str] = (), name: str | None = None
) -> tuple[pa.Table, list[str]]:
    """Read and check the predictions of a run; return them in the order of the rows, and notes.

    Args:
        gold: The rows.
        given: The path of a file, or a table or column in memory.
        model_labels: See ``score``.
        name: The name of the predictions in messages; None takes that of the file.
    """
    name = name or given.name
    table = _read(given) if isinstance(given, Path) else read_in_memory(given, gold.rows, name)
    named: list[str] = []
    if gold.has_label_ids:
        table, named = name_ids(table, gold.labels, model_labels, name)
    notes = check_predictions(table, gold.labels, name, may_be_ids=gold.has_label_ids)
    joined = join_predictions(gold.rows, table, name)
    return joined, [*named, *notes, *_note_on_order(gold, joined, model_labels, name)]


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
    lines += [f"{log['file']}: {log['harness']}, {log['state']}" for log in found["logs"]]
    for metric, result in found.get("metrics", {}).items():
        app = app_of(metric)
        rows = app.scores(result)
        if metric != "nli_report":  # which has shown it
            rows = [row for row in rows if row[0] != "accuracy"]
        lines += ["", metric, show_rows_as_text(rows), *filter(None, [result.get("note")])]
        for title, rows in app.breakdowns(result).items():
            if per_group or not title.startswith(("By pattern", "By group", "Subsets")):
                of = f" of {found['predictions'][0]}" if found["against"] else ""
                lines += ["", f"{metric}{of}, {title[0].lower()}{title[1:]}"]
                lines += [show_rows_as_text(rows)]
        lines += ["", result["signature"]]
    return "\n".join(lines)


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
        with whole_file(local_path(output)) as path:
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
    except OSError as error:  # such as a link to itself
        raise PredictionsError(f"{path} cannot be read: {os.strerror(error.errno or 0)}.") from None


def _read_result(path: Path, metric: str) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceNotFoundError(f"There is no file {path}.") from None
    except ValueError as error:
        raise UsageError(
            f"{path} is not valid JSON: {error}. Expected what nlihub score --json says."
        ) from None
    if not isinstance(found, dict) or "systems" in found:
        what = "the scores of several systems" if isinstance(found, dict) else "no result"
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
    return [local_path(path) for path in paths]
