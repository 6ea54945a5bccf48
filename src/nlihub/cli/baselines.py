"""Commands on baselines: training, testing, reporting."""

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import From, Json, answer, names

if TYPE_CHECKING:
    from ..baselines.runs.config import RunConfig

_Rows = "A dataset, NAME or NAME/CONFIG, a built folder, or a file of rows; :SPLIT may follow."

Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A paper's baseline; see nlihub baseline presets."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")]
Name = Annotated[str | None, typer.Option(help="What the system is called in reports.")]
Model = Annotated[str | None, typer.Option(help="A model on the Hub, or a folder.")]
Revision = Annotated[str | None, typer.Option(help="Revision of a model on the Hub.")]
Train = Annotated[str | None, typer.Option(metavar="ROWS", help=f"To train on. {_Rows}")]
Validation = Annotated[
    str | None,
    typer.Option(metavar="ROWS|none", help="To compare epochs on; default that of the dataset."),
]
Test = Annotated[
    list[str] | None, typer.Option(metavar="ROWS", help="To test on; may be given several times.")
]
Seeds = Annotated[
    str | None, typer.Option(metavar="N,...", help="Seeds, a run each; default the preset's, or 1.")
]
HypothesisOnly = Annotated[
    bool, typer.Option("--hypothesis-only", help="Show the hypothesis alone.")
]
LearningRate = Annotated[float | None, typer.Option(help="Learning rate.")]
BatchSize = Annotated[int | None, typer.Option(help="Pairs to a step, over all devices.")]
Epochs = Annotated[int | None, typer.Option(help="Epochs at most.")]
Patience = Annotated[
    int | None, typer.Option(help="Epochs without gain before training stops; 0 never stops.")
]
MaxLength = Annotated[int | None, typer.Option(help="Tokens of a pair at most.")]
Truncation = Annotated[
    str | None, typer.Option(help="longest_first, or only_first: the premise alone is cut.")
]
Optimizer = Annotated[str | None, typer.Option(help="adam or adamw.")]
WeightDecay = Annotated[float | None, typer.Option(help="Of adamw.")]
Schedule = Annotated[str | None, typer.Option(help="constant or linear.")]
WarmupSteps = Annotated[int | None, typer.Option(help="Steps of warm-up.")]
TrainedLayers = Annotated[
    int | None, typer.Option(help="Top layers that are trained, with the head; default all.")
]
SpecialTokens = Annotated[
    str | None, typer.Option(metavar="T,...", help="Markers that become tokens of their own.")
]
NewHead = Annotated[bool, typer.Option("--new-head", help="Replace the head of a classifier.")]
ModelLabels = Annotated[
    str | None,
    typer.Option(metavar="L,...", help="A classifier's labels by id, where it does not name them."),
]
MicroBatch = Annotated[
    int | None, typer.Option(help="Pairs in memory at once; changes only rounding and dropout.")
]
Precision = Annotated[str | None, typer.Option(help="fp32 or bf16; default bf16 on a GPU.")]
Compile = Annotated[
    bool | None, typer.Option("--compile/--no-compile", help="Default: compile on a GPU.")
]
Reference = Annotated[
    bool,
    typer.Option("--reference", help="Train as plainly as the papers: padded, fp32, not compiled."),
]
Cpu = Annotated[bool, typer.Option("--cpu", help="Leave a GPU alone.")]
NoCheckpoint = Annotated[
    bool, typer.Option("--no-checkpoint", help="Remove trained models when a run is done.")
]

app = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train and test reference baselines by the papers' protocols, and report on them.",
)


@app.command()
def finetune(
    output: Output,
    preset: Preset = None,
    model: Model = None,
    revision: Revision = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    name: Name = None,
    seeds: Seeds = None,
    hypothesis_only: HypothesisOnly = False,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    epochs: Epochs = None,
    patience: Patience = None,
    max_length: MaxLength = None,
    truncation: Truncation = None,
    optimizer: Optimizer = None,
    weight_decay: WeightDecay = None,
    schedule: Schedule = None,
    warmup_steps: WarmupSteps = None,
    trained_layers: TrainedLayers = None,
    special_tokens: SpecialTokens = None,
    new_head: NewHead = False,
    model_labels: ModelLabels = None,
    micro_batch: MicroBatch = None,
    precision: Precision = None,
    compiled: Compile = None,
    reference: Reference = False,
    cpu: Cpu = False,
    no_checkpoint: NoCheckpoint = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Fine-tune a pretrained encoder.

    Without a preset the hyper-parameters are SciNLI's. Started again, it goes on where it was.
    """
    _refuse_few_shot(preset)
    config = _configured(preset, "encoder", locals())
    _run(config, output, locals(), preset=preset)


@app.command("few-shot")
def few_shot(
    output: Output,
    preset: Preset = None,
    dataset: Annotated[str, typer.Option(help="spacenli or open_spacenli.")] = "spacenli",
    model: Model = None,
    revision: Revision = None,
    shots: Annotated[
        str | None, typer.Option(metavar="K,...", help="Rows a pattern; default 0,1,5,10,20.")
    ] = None,
    name: Name = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N,...", help="Seeds, a draw each; default 1,2,3.")
    ] = None,
    hypothesis_only: HypothesisOnly = False,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    epochs: Epochs = None,
    max_length: MaxLength = None,
    optimizer: Optimizer = None,
    weight_decay: WeightDecay = None,
    schedule: Schedule = None,
    warmup_steps: WarmupSteps = None,
    trained_layers: TrainedLayers = None,
    new_head: NewHead = False,
    model_labels: ModelLabels = None,
    micro_batch: MicroBatch = None,
    precision: Precision = None,
    compiled: Compile = None,
    reference: Reference = False,
    cpu: Cpu = False,
    no_checkpoint: NoCheckpoint = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Fine-tune an encoder on a few problems of every pattern, and test it on the others."""
    from ..baselines.presets import FEW_SHOT, SEEDS, SHOTS, get_preset

    given = locals() | {"train": f"{dataset}/few_shot", "test": [f"{dataset}/few_shot"]}
    if preset is not None and dataset == "spacenli":
        given |= {"train": None, "test": None}
    config = _configured(preset, "encoder", given | {"validation": "none"}, FEW_SHOT)
    known = get_preset(preset).shots if preset is not None else ()
    _run(
        config,
        output,
        given | {"seeds": seeds or ",".join(map(str, SEEDS))},
        shots=_whole_numbers("shots", shots) or list(known or SHOTS),
    )


@app.command("zero-shot")
def zero_shot(
    output: Output,
    preset: Preset = None,
    model: Model = None,
    revision: Revision = None,
    test: Test = None,
    name: Name = None,
    hypothesis_only: HypothesisOnly = False,
    max_length: MaxLength = None,
    truncation: Truncation = None,
    model_labels: ModelLabels = None,
    prompt: Annotated[
        str | None,
        typer.Option(metavar="p1|p2|p3", help="Ask a language model, with this form of a prompt."),
    ] = None,
    shots_from: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS", help="Show one exemplar of each class, drawn from these rows."
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Ask an OpenAI-compatible server, such as http://localhost:8000/v1."
        ),
    ] = None,
    seeds: Seeds = None,
    precision: Precision = None,
    cpu: Cpu = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Test a model that is not trained here: an NLI classifier, or a prompted language model.

    The classifier's labels are aligned by name. A server's key is read from NLIHUB_API_KEY or
    OPENAI_API_KEY.
    """
    from ..baselines.presets import get_preset

    asks = prompt is not None or (
        preset is not None and get_preset(preset).config.method == "prompt"
    )
    if not asks and (shots_from or server):
        raise typer.BadParameter("--shots-from and --server go with --prompt.")
    given = locals() | {"train": shots_from, "validation": "none"}
    config = _configured(preset, "prompt" if asks else "zero-shot", given)
    if asks:
        chosen = {"prompt": prompt, "server": server}
        details = dict(config.details) | {k: v for k, v in chosen.items() if v is not None}
        config = replace(config, details=details)
        if shots_from is not None or config.n_shots is None:
            config = replace(config, n_shots=_n_labels(config, folder) if shots_from else 0)
    _run(config, output, given, preset=preset)


@app.command()
def classical(
    output: Output,
    preset: Preset = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="lexicalized, cbow, cnn or bilstm.")
    ] = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    name: Name = None,
    seeds: Seeds = None,
    hypothesis_only: HypothesisOnly = False,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="F,...", help="Of the lexicalized: bleu, length, overlap, unigrams, bigrams."
        ),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Word vectors as GloVe's; default drawn.")
    ] = None,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    epochs: Epochs = None,
    patience: Patience = None,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that count features.")] = 1,
    micro_batch: MicroBatch = None,
    precision: Precision = None,
    compiled: Compile = None,
    reference: Reference = False,
    cpu: Cpu = False,
    no_checkpoint: NoCheckpoint = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Train a model without pretraining: the lexicalized classifier, CBOW, CNN or BiLSTM."""
    from ..baselines.presets import get_preset

    if (preset is None) == (kind is None):
        raise typer.BadParameter("Give either --preset or --kind.")
    config = (
        _configured(preset, get_preset(preset).config.method, locals())
        if preset is not None
        else _configured(None, str(kind), locals(), get_preset("scinli-cbow").config.options)
    )
    if config.method == "lexicalized":
        config = replace(config, validation=None)
    chosen = {"groups": names(features) or None, "vectors": str(vectors) if vectors else None}
    details = dict(config.details) | {k: v for k, v in chosen.items() if v is not None}
    _run(replace(config, details=details), output, locals(), preset=preset)


@app.command()
def analyse(
    kind: Annotated[
        str,
        typer.Argument(help="hypothesis-only, domain-shift, cross-dataset or cartography."),
    ],
    output: Output,
    preset: Preset = None,
    model: Model = None,
    revision: Revision = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    name: Name = None,
    seeds: Seeds = None,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = None,
    epochs: Epochs = None,
    patience: Patience = None,
    max_length: MaxLength = None,
    optimizer: Optimizer = None,
    schedule: Schedule = None,
    warmup_steps: WarmupSteps = None,
    trained_layers: TrainedLayers = None,
    special_tokens: SpecialTokens = None,
    micro_batch: MicroBatch = None,
    precision: Precision = None,
    compiled: Compile = None,
    reference: Reference = False,
    cpu: Cpu = False,
    no_checkpoint: NoCheckpoint = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Do all runs of an analysis of the papers: train on one domain and test on all, and the like.

    Training and test sets of domain-shift and cross-dataset are those of the paper, MSciNLI.
    """
    given = locals()
    _refuse_few_shot(preset)
    if kind in ("domain-shift", "cross-dataset"):
        if train or validation or test:
            raise typer.BadParameter(f"{kind} has the training and test sets of its paper.")
        given |= {"train": "mscinli"}
    config = _configured(preset, "encoder", given)
    _run(config, output, given, preset=preset, analysis=kind)


@app.command("run")
def run_again(
    config: Annotated[
        Path, typer.Argument(metavar="RUN|CONFIG", help="Folder of a run, or a config.json.")
    ],
    output: Output,
    seeds: Seeds = None,
    micro_batch: MicroBatch = None,
    precision: Precision = None,
    compiled: Compile = None,
    cpu: Cpu = False,
    no_checkpoint: NoCheckpoint = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Do what a config says, such as that of an earlier run."""
    from ..runs import rerun_config

    _run(rerun_config(config), output, locals())


@app.command()
def presets(as_json: Json = False) -> None:
    """List the papers' baselines."""
    from ..runs import list_presets

    found = list_presets()
    rows = [
        (name, preset["config"]["model"] or preset["config"]["method"], preset["source"])
        for name, preset in found.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = (f"{n:<{widths[0]}}  {model:<{widths[1]}}  {source}" for n, model, source in rows)
    answer(found, as_json, lambda: "\n".join(lines))


@app.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUNS...", help="Folders of runs, at any depth.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the report.")],
    confidence_level: Annotated[
        float | None, typer.Option(help="Of bootstrap intervals, e.g. 0.95; default none.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report on runs: means over seeds, tests, the papers' numbers beside ours, pictures."""
    from ..runs import report_baselines

    found = report_baselines(runs, output, confidence_level=confidence_level)
    answer(found, as_json, lambda: str(output / "report.md"))


@app.command()
def push(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run that is done.")],
    repo: Annotated[str, typer.Option(metavar="ORG/NAME", help="Repository on the Hub.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make it private if it is new.")
    ] = False,
    license_id: Annotated[
        str | None, typer.Option("--license", help="Licence of the weights, e.g. apache-2.0.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Send a fine-tuned model to the Hub, with a card that carries its results."""
    from ..runs import push_baseline

    url = push_baseline(run, repo, private=private, license_id=license_id)
    answer({"commit": url}, as_json, lambda: url)


def _configured(
    preset: str | None, method: str, given: dict[str, Any], options: Any = None
) -> "RunConfig":
    """The config of a preset, or a new one, with what was given in its place."""
    from ..baselines.presets import get_preset
    from ..baselines.runs.config import Options, RunConfig

    if preset is not None:
        config = get_preset(preset).config
        if config.method != method:
            raise typer.BadParameter(
                f"{preset} is no preset of this command: it is {config.method}."
            )
    else:
        train, tests = given.get("train"), tuple(given.get("test") or ())
        if train is not None and not tests and method != "prompt":
            tests = (train.partition(":")[0],)
        if not tests:
            raise typer.BadParameter("Give a --preset, or what to test on: --test.")
        name = given.get("name") or Path(given.get("model") or method).name
        config = RunConfig(name, method, tests, options=options or Options())
        if given.get("validation") is None and train is not None:
            given = given | {"validation": _own_validation(train)}
    direct: dict[str, Any] = {
        "name": given.get("name"),
        "model": given.get("model"),
        "revision": given.get("revision"),
        "train": given.get("train"),
        "validation": given.get("validation"),
        "tests": tuple(given.get("test") or ()) or None,
        "model_labels": tuple(names(given.get("model_labels"))) or None,
        "view": "hypothesis" if given.get("hypothesis_only") else None,
        "new_head": given.get("new_head") or None,
        "reference": given.get("reference") or None,
    }
    config = replace(config, **{k: v for k, v in direct.items() if v is not None})
    if config.validation == "none":
        config = replace(config, validation=None)
    hyper = {
        "max_epochs": given.get("epochs"),
        "n_trained_layers": given.get("trained_layers"),
        **{part.name: given[part.name] for part in fields(Options) if part.name in given},
    }
    hyper["special_tokens"] = tuple(names(given.get("special_tokens"))) or None
    chosen = {k: v for k, v in hyper.items() if v is not None}
    if chosen.get("patience") == 0:
        chosen["patience"] = None
    return replace(config, options=replace(config.options, **chosen))


def _refuse_few_shot(preset: str | None) -> None:
    """Refuses a preset whose training set is a pool to draw from."""
    from ..baselines.presets import get_preset

    if preset is not None and get_preset(preset).shots:
        raise typer.BadParameter(f"{preset} is a preset of nlihub baseline few-shot.")


def _own_validation(train: str) -> str | None:
    """The name of a training set, if it is that of a dataset with rows to validate on."""
    from ..builders.registry import builders

    dataset, _, config = train.partition(":")[0].partition("/")
    if dataset not in builders() or Path(train).exists():
        return None
    spec = builders()[dataset].SPEC
    splits = spec.configs.get(config or spec.default_config)
    return train.partition(":")[0] if splits and "validation" in splits.splits else None


def _n_labels(config: "RunConfig", folder: Path | None) -> int:
    from ..baselines.data import read_rows

    return len(read_rows(str(config.train), "train", folder).labels)


def _run(
    config: "RunConfig",
    output: Path,
    given: dict[str, Any],
    *,
    preset: str | None = None,
    shots: Sequence[int] | None = None,
    analysis: str | None = None,
) -> None:
    """Does the runs, and answers with their scores."""
    from ..baselines.presets import get_preset
    from ..baselines.runs.extra import extra_explained
    from ..runs import run_baseline

    with extra_explained():
        _quieten()
    seeds = _whole_numbers("seeds", given.get("seeds"))
    if not seeds and preset is not None:
        seeds = list(get_preset(preset).seeds)
    execution = {
        "micro_batch": given.get("micro_batch"),
        "precision": given.get("precision"),
        "compiled": given.get("compiled"),
        "on_cpu": given.get("cpu", False),
        "num_proc": given.get("num_proc", 1),
    }
    found = run_baseline(
        config,
        output,
        seeds=seeds or None,
        shots=shots,
        analysis=analysis,
        folder=given.get("folder"),
        keep_checkpoint=not given.get("no_checkpoint", False),
        tell=lambda line: print(f"nlihub: {line}", file=sys.stderr, flush=True),
        **execution,
    )
    from accelerate import PartialState

    if PartialState().is_main_process:
        answer(found, given["as_json"], lambda: _show_runs(found))


def _quieten() -> None:
    """Leaves stderr to our own lines: transformers reports on every head that it draws."""
    import transformers

    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _show_runs(found: Sequence[dict[str, Any]]) -> str:
    from ..metrics.rows import show_rows_as_text

    rows: list[list[Any]] = [["run", "test", "macro_f1", "accuracy", "PA 0.95"]]
    for run in found:
        for key, evaluation in run["evaluations"].items():
            metrics = evaluation["metrics"]
            report, patterns = metrics["nli_report"], metrics.get("pattern_accuracy")
            solved = "-"
            if patterns:
                solved = dict(
                    zip(patterns["thresholds"], patterns["pattern_accuracy"], strict=True)
                )[0.95]
            rows.append([run["run"], key, report["macro_f1"], report["accuracy"], solved])
    if all(row[-1] == "-" for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    return show_rows_as_text(rows)


def _whole_numbers(what: str, text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise typer.BadParameter(
            f"{what} is {text!r}; expected whole numbers, as in 1,2,3."
        ) from None
