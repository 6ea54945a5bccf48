"""A trained model on the Hub, with a card that is made from the folder of its run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from ..baselines.runs.config import RunConfig
from ..baselines.runs.folder import CONFIG, METRICS, RECORD, RunFolder
from ..builders.core.markdown import markdown_table
from ..loaders.errors import UsageError
from ..loaders.paths import local_path
from .eval_results import Benchmark
from .repository import Content, HubRepository

#: The scores that a card shows, by metric: how they are called, and their type on the Hub.
_SHOWN = {
    "nli_report": {"macro_f1": ("macro-F1", "f1"), "accuracy": ("accuracy", "accuracy")},
    "pattern_accuracy": {"area_under_curve": ("area under the PA curve", "pattern_accuracy")},
    "consistency": {"f1_positive": ("F1 of entailment", "f1")},
}


def publish_model(
    run: str | Path,
    repo: str,
    *,
    private: bool = False,
    license_id: str | None = None,
    benchmark: str | None = None,
) -> str:
    """Send the model of a run to the Hub in one commit, with card and results; return its address.

    The token is read as ``huggingface_hub`` reads it.

    Args:
        run: Folder of a run of an encoder that is done, with its checkpoint.
        repo: The repository, ``ORG/NAME``; it is made if there is none.
        private: Whether a repository that is made is private.
        license_id: Licence of the weights as the Hub names it, such as ``apache-2.0``.
        benchmark: A published version, ``ORG/NAME@X.Y.Z``; the model's page shows the accuracies
            on its test splits (see ``eval_results``).

    Raises:
        UsageError: The run is not done, has no checkpoint of an encoder, or was not scored on a
            test split of the benchmark; or a name is malformed.
        VersionError: There is no such benchmark, or it has no ``eval.yaml``.
        HubError: The Hub refuses it or cannot be reached.
    """
    repository = HubRepository(repo, "model")
    folder = RunFolder(local_path(run))
    if not folder.is_done:
        raise UsageError(f"{folder.path} is not a finished run.")
    if folder.config.method != "encoder" or not (folder.checkpoint / "config.json").is_file():
        raise UsageError(
            f"{folder.path} has no checkpoint of an encoder; only such models load on the Hub."
        )
    files: dict[str, Content] = {
        path.relative_to(folder.checkpoint).as_posix(): path
        for path in sorted(folder.checkpoint.rglob("*"))
        if path.is_file()
    }
    files["README.md"] = _model_card(folder, repo, license_id).encode()
    files["metrics.json"] = folder.path / METRICS
    files["run/config.json"] = folder.path / CONFIG
    files["run/record.json"] = folder.path / RECORD
    if benchmark is not None:
        name, content = _eval_results(folder, benchmark)
        files[name] = content
    head = repository.create(private=private)
    name, seed = folder.config.name, folder.config.seed
    commit = repository.commit(files, message=f"{name}, seed {seed}", parent=head)
    return f"{repository.url}/commit/{commit}"


def _eval_results(run: RunFolder, benchmark: str) -> tuple[str, bytes]:
    """Return the file with the run's accuracies on a benchmark: its path, and its bytes."""
    published = Benchmark(benchmark)
    accuracies = {}
    for found in run.read_json(METRICS)["evaluations"].values():
        told = found["dataset"]
        configs = published.configs_of(told["digest"])
        for config in [told["config"]] if told["config"] in configs else configs[:1]:
            accuracies[config] = found["metrics"]["nli_report"]["accuracy"]
    if not accuracies:
        raise UsageError(f"{run.path} has no scores on a test split of {published.name}.")
    seed = run.config.seed
    return published.file(
        [
            published.entry(config, accuracy, f"{run.config.name}, seed {seed}, fine-tuned")
            for config, accuracy in accuracies.items()
        ]
    )


def _model_card(run: RunFolder, name: str, license_id: str | None) -> str:
    """Return Markdown with YAML in front, which has the results in the form that the Hub shows."""
    config, record = run.config, run.read_json(RECORD)
    evaluations = run.read_json(METRICS)["evaluations"]
    data = ModelCardData(
        language="en",
        license=license_id,
        library_name="transformers",
        pipeline_tag="text-classification",
        base_model=config.model if _is_on_hub(config) else None,
        tags=["natural-language-inference", "nlihub"],
        model_name=name.partition("/")[2],
        eval_results=[
            EvalResult(
                task_type="text-classification",
                dataset_type=found["dataset"]["name"],
                dataset_name=_name_of(found),
                dataset_config=found["dataset"]["config"],
                dataset_split=found["dataset"]["split"],
                metric_type=kind,
                metric_name=shown,
                metric_value=round(value, 6),
            )
            for found in evaluations.values()
            for shown, kind, value in _scores(found["metrics"])
        ],
    )
    seen = "the hypothesis alone" if config.view == "hypothesis" else "premise and hypothesis"
    train = record["data"]["train"]
    where = f"{train['name']} {train['config'] or ''}".rstrip()
    base = f"`{config.model}`" if _is_on_hub(config) else "A local encoder"
    given = '{"text": "A premise.", "text_pair": "A hypothesis."}'
    if config.view == "hypothesis":
        given = '"A hypothesis."'
    parts = [
        f"---\n{data.to_yaml()}\n---",
        f"# {name.partition('/')[2]}",
        f"{base}, fine-tuned on {record['n_train']:,} rows of {where}; it reads {seen}. "
        "Trained and tested with [nlihub](https://pypi.org/project/nlihub).",
        "## Results",
        markdown_table(
            ["test set", "rows", "score", "value"],
            [
                [_name_of(found), f"{found['dataset']['rows']:,}", shown, f"{100 * value:.2f} %"]
                for found in evaluations.values()
                for shown, _, value in _scores(found["metrics"])
            ],
        ),
        "One run with one seed; `metrics.json` has everything that was measured. Signatures:",
        "\n".join(
            f"- `{result['signature']}`"
            for found in evaluations.values()
            for result in found["metrics"].values()
        ),
        "## Use",
        "```python\nfrom transformers import pipeline\n\n"
        f'classify = pipeline("text-classification", model="{name}")\n'
        f"print(classify({given}))\n```",
        "## Training",
        markdown_table(["setting", "value"], list(_settings(config, record))),
    ]
    return "\n\n".join(parts) + "\n"


def _settings(config: RunConfig, record: Mapping[str, Any]) -> Iterator[list[Any]]:
    if config.preset:
        yield ["preset", config.preset]
    yield ["seed", config.seed]
    for name, value in config.as_json()["options"].items():
        yield [name, ", ".join(value) if isinstance(value, list) else value]
    yield ["best epoch", f"{record['best_epoch']} of {record['n_epochs']}"]
    yield ["training pairs a second", record["pairs_per_s"]]
    yield ["parameters, of which trained", f"{record['n_parameters']:,}, {record['n_trained']:,}"]
    train = record["data"]["train"]
    yield ["training rows", f"{train['name']} {train['version'] or ''}, digest `{train['digest']}`"]
    for name, version in record["versions"].items():
        yield [name, version]


def _scores(metrics: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    for metric, shown in _SHOWN.items():
        for score, (title, kind) in shown.items():
            if score in metrics.get(metric, {}):
                yield title, kind, metrics[metric][score]
    patterns = metrics.get("pattern_accuracy")
    if patterns:
        for threshold, value in zip(
            patterns["thresholds"], patterns["pattern_accuracy"], strict=True
        ):
            yield f"PA at {threshold}", "pattern_accuracy", value


def _name_of(found: Mapping[str, Any]) -> str:
    described = found["dataset"]
    parts = (described["name"], described["config"], described["split"])
    return " ".join(str(part) for part in parts if part is not None)


def _is_on_hub(config: RunConfig) -> bool:
    return config.model is not None and not config.model.startswith(("/", ".", "~"))
