"""A quick look at a model: the smallest honest answer on every dataset at hand."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..builders.core.keyed import keyed_number
from ..builders.core.markdown import markdown_table
from ..builders.core.registry import builders, get_builder
from ..loaders.atomic_write import whole_file
from ..loaders.errors import ModelError, NLIHubError, UsageError, needs_extra
from ..loaders.paths import local_path
from ..loaders.progress import Tell, silent
from .evaluation.gold import GoldRows, interleave
from .reproduction.inputs import has_sources
from .running import run
from .runs.config import HyperParameters, RunConfig
from .runs.data import read_run_rows

PathLike = str | os.PathLike[str]
REPORT = "quick.md"
#: Rows that a probe is trained on, at most.
_N_TRAIN = 2_000
_MAX_LENGTH = 300
_HOW = {
    "zero-shot": "as it is",
    "prompt": "asked with prompt p1, no exemplar",
    "probe": "linear probe on {n_train:,} {train_split} rows",
}
_SPLIT = {"train": "training"}


@needs_extra("baselines", "A baseline")
def quick(
    model: str,
    output: PathLike,
    *,
    revision: str | None = None,
    folder: PathLike | None = None,
    n_rows: int = 500,
    on_cpu: bool = False,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Take a quick look at a model on all datasets at hand, in minutes on a CPU.

    A classifier of NLI is tested as it is; a causal language model is asked with prompt p1; of any
    other encoder the features are frozen, and a linear probe is trained on them. It is tested on a
    sample of each test set, in which every pattern or class has its share. Started again, it
    goes on.

    Args:
        model: A name on the Hub, or a folder.
        output: Folder of the runs, the rows and ``quick.md``.
        revision: Commit, tag or branch of a model on the Hub.
        folder: Local folder with source files; those datasets are at hand whose files it has. None
            takes those whose files are in the cache. What the package ships is always at hand.
        n_rows: Test rows of each dataset, from 1.
        on_cpu: Whether to compute on the CPU even if there is a GPU.
        tell: Receives progress messages.

    Returns:
        ``model``, ``method`` (``zero-shot``, ``prompt`` or ``probe``), ``report`` (the file) and
        ``datasets``: by name ``rows``, ``macro_f1`` and ``accuracy`` with their intervals of 95 %,
        ``most_frequent`` (the share of the most frequent label) and ``run``, of a probe also
        ``n_train``, ``train_split``, and ``known_groups``, the share of test rows whose group has
        training rows; or ``problem``, where the source files are not at hand or not those of the
        dataset, or the model does not fit the labels.

    Raises:
        UsageError: ``n_rows`` is below 1.
        SourceNotFoundError: The model cannot be loaded.
        MissingExtraError: ``nlihub[baselines]`` is not installed.
    """
    if n_rows < 1:
        raise UsageError(f"n_rows is {n_rows}; expected 1 or more.")
    from .systems.pretrained import model_size, suited_method

    place = local_path(output)
    sources = local_path(folder) if folder is not None else None
    method = suited_method(model, revision)
    _, max_tokens = model_size(model, revision)
    found: dict[str, dict[str, Any]] = {}
    where = f"in {sources}" if sources is not None else "in the cache; name a folder with --from"
    tell(f"a quick look at {model} ({method})")
    for name in builders():
        if not (get_builder(name).SPEC.offline or has_sources(name, sources)):
            found[name] = {"problem": f"its source files are not {where}"}
            tell(f"{name}: {found[name]['problem']}")
            continue
        try:
            config, training = _config(model, revision, method, name, place, sources, n_rows)
        except NLIHubError as error:  # files of another dataset may have the names of its own
            text = " ".join(str(error).split())
            found[name] = {"problem": f"its files are another dataset's, or damaged: {text}"}
            continue
        options = HyperParameters(max_length=min(_MAX_LENGTH, max_tokens or _MAX_LENGTH))
        if method == "zero-shot":
            config = RunConfig.from_json({**config.as_json(), "options": vars(options)})
        try:
            [done] = run(config, place / "runs" / name, on_cpu=on_cpu, tell=tell)
        except ModelError as error:
            found[name] = {"problem": " ".join(str(error).split())}
            continue
        found[name] = {**_scores(done, config.tests[0]), **training}
    result = {"model": model, "method": method, "datasets": found}
    report = place / REPORT
    with whole_file(report) as path:
        path.write_text("\n".join(_report(result)), encoding="utf-8")
    return {**result, "report": str(report)}


def _config(
    model: str,
    revision: str | None,
    method: str,
    dataset: str,
    place: Path,
    sources: Path | None,
    n_rows: int,
) -> tuple[RunConfig, dict[str, Any]]:
    """Write the rows of a run, and return its config and facts of the training rows."""
    spec = get_builder(dataset).SPEC
    config = spec.default_config
    if method == "probe" and not {"train", "validation"} & set(spec.configs[config].splits):
        config = next(name for name, c in spec.configs.items() if "train" in c.splits)
    own = None if spec.offline else sources
    gold = read_run_rows(f"{dataset}/{config}:test", "test", own)
    files = place / "rows"
    fair = interleave(gold.rows)[:n_rows].tolist()
    test = _write(gold, fair, files / f"{dataset}.jsonl")
    fields: dict[str, Any] = {"details": {"prompt": "p1"}} if method == "prompt" else {}
    facts: dict[str, Any] = {}
    if method == "probe":
        train = _training_rows(f"{dataset}/{config}", own)
        chosen = _sample(train)
        facts = {
            "n_train": len(chosen),
            "train_split": train.description["split"],
            "known_groups": _known_groups(train.rows.take(chosen), gold.rows.take(fair)),
        }
        fields["train"] = str(_write(train, chosen, files / f"{dataset}-train.jsonl"))
    name = Path(model).name
    return RunConfig(name, method, (str(test),), model=model, revision=revision, **fields), facts


def _known_groups(train: pa.Table, test: pa.Table) -> float:
    """Return the share of test rows whose group, if they have one, has training rows."""
    known = set(train["group"].drop_null().to_pylist())
    groups = test["group"].to_pylist()
    return sum(group in known for group in groups) / len(groups)


def _training_rows(name: str, sources: Path | None) -> GoldRows:
    """Read training rows, or where these are not at hand validation rows."""
    try:
        return read_run_rows(f"{name}:train", "train", sources)
    except NLIHubError:
        return read_run_rows(f"{name}:validation", "validation", sources)


def _sample(rows: GoldRows) -> list[int]:
    """Draw training rows, of every label as many as there can be."""
    labels = rows.rows["label"].to_pylist()
    keys = [keyed_number(1, "quick", id_) for id_ in rows.rows["id"].to_pylist()]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    of_label = [[i for i in order if labels[i] == label] for label in range(len(rows.labels))]
    n_each = min(_N_TRAIN // len(of_label), *map(len, of_label))
    return sorted(i for chosen in of_label for i in chosen[:n_each])


def _write(rows: GoldRows, chosen: list[int], path: Path) -> Path:
    """Write chosen rows in the uniform schema."""
    table = rows.rows.take(chosen).to_pylist()
    kept = ("id", "premise", "hypothesis", "group", "category", "domain")
    with whole_file(path) as part:
        lines = (
            json.dumps({k: row[k] for k in kept} | {"label": rows.labels[row["label"]]})
            for row in table
        )
        part.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _scores(done: dict[str, Any], rows: str) -> dict[str, Any]:
    """Return scores with intervals of what a run predicted."""
    from .evaluation.score import score_one

    [evaluation] = done["evaluations"].values()
    predictions = Path(done["run"]) / evaluation["predictions"]
    result = score_one(predictions, rows, confidence_level=0.95)
    report = result["metrics"]["nli_report"]
    counts = [label["n_references"] for label in report["per_class"].values()]
    return {
        "rows": report["n_samples"],
        **{
            name: [report[name], *(report["confidence_intervals"][name] or ())]
            for name in ("macro_f1", "accuracy")
        },
        "most_frequent": max(counts) / sum(counts),
        "run": done["run"],
    }


def _report(result: dict[str, Any]) -> Iterator[str]:
    yield f"# A quick look at {result['model']}"
    yield ""
    head = ["dataset", "rows", "how", "macro-F1", "accuracy", "most frequent label"]
    rows = []
    for name, found in result["datasets"].items():
        if "problem" not in found:
            split = found.get("train_split")
            how = _HOW[result["method"]].format(
                n_train=found.get("n_train"), train_split=_SPLIT.get(split, split)
            )
            scores = [_interval(*found[score]) for score in ("macro_f1", "accuracy")]
            frequent = f"{100 * found['most_frequent']:.1f}"
            rows.append([name, f"{found['rows']:,}", how, *scores, frequent])
    yield markdown_table(head, rows)
    yield ""
    problems = {name: f["problem"] for name, f in result["datasets"].items() if "problem" in f}
    yield "In per cent, with intervals of 95 % where five groups were drawn. What this is not:"
    yield ""
    yield "- a result of the whole test sets: it is one of a sample of each;"
    yield "- a baseline of a paper: `nlihub baseline presets` lists these;"
    if result["method"] == "probe":
        known = [name for name, f in result["datasets"].items() if f.get("known_groups")]
        if known:
            yield (
                f"- a test on new groups of {', '.join(known)}: the probe has learned from other "
                "rows of the same patterns or abstracts;"
            )
        yield "- what the model can learn: `nlihub baseline finetune` may do better."
    elif result["method"] == "prompt":
        yield "- what the model knows: another prompt, or exemplars, may give another picture."
    else:
        yield "- what the model can learn: `nlihub baseline finetune` trains it."
    yield ""
    if problems:
        yield "Not tested:"
        yield ""
        yield from (f"- {name}: {problem}" for name, problem in problems.items())
        yield ""


def _interval(value: float, *ends: float) -> str:
    shown = " to ".join(f"{100 * end:.1f}" for end in ends)
    return f"{100 * value:.1f}" + f" ({shown})" * bool(ends)
