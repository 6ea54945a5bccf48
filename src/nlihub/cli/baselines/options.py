"""The options of the commands on baselines, alone and in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..completion import complete_presets
from ..options import From, Json

_Rows = "A dataset, NAME or NAME/CONFIG, a built folder, or a file of rows; :SPLIT may follow."

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")]
Test = Annotated[
    list[str] | None,
    typer.Option(metavar="ROWS", help="Rows to test on; may be repeated."),
]
Seeds = Annotated[
    str | None, typer.Option(metavar="N,...", help="Seeds, a run each; default the preset's, or 1.")
]
HypothesisOnly = Annotated[
    bool, typer.Option("--hypothesis-only", help="Show the hypothesis alone.")
]
MaxLength = Annotated[int | None, typer.Option(help="Maximum number of tokens of a pair.")]
ModelLabels = Annotated[
    str | None,
    typer.Option(metavar="L,...", help="Labels of a classifier by id, if it does not name them."),
]
Reference = Annotated[
    bool,
    typer.Option("--reference", help="Train as plainly as the papers: padded, fp32, not compiled."),
]
Precision = Annotated[str | None, typer.Option(help="fp32 or bf16; default bf16 on a GPU.")]
Cpu = Annotated[bool, typer.Option("--cpu", help="Compute on the CPU, even if there is a GPU.")]


@dataclass(frozen=True)
class RunOptions:
    """The runs of a command: their folder, preset, name, seeds and sources, and the answer."""

    output: Output
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A paper's baseline; see nlihub baseline presets.",
            autocompletion=complete_presets,
        ),
    ] = None
    name: Annotated[str | None, typer.Option(help="Name of the system in reports.")] = None
    seeds: Seeds = None
    folder: From = None
    as_json: Json = False


@dataclass(frozen=True)
class FewShotRunOptions(RunOptions):
    """The runs of few-shot learning, a draw of shots for each seed."""

    seeds: Annotated[
        str | None, typer.Option(metavar="N,...", help="Seeds, a draw each; default 1,2,3.")
    ] = None


@dataclass(frozen=True)
class Pretrained:
    """The model to start from."""

    model: Annotated[str | None, typer.Option(help="A model on the Hub, or a folder.")] = None
    revision: Annotated[str | None, typer.Option(help="Revision of a model on the Hub.")] = None


@dataclass(frozen=True)
class Head:
    """The head of a classifier: a new one, or the labels of its own."""

    new_head: Annotated[
        bool, typer.Option("--new-head", help="Replace the head of a classifier.")
    ] = False
    model_labels: ModelLabels = None


@dataclass(frozen=True)
class RowOptions:
    """The rows to train and test on."""

    train: Annotated[str | None, typer.Option(metavar="ROWS", help=f"Training rows. {_Rows}")] = (
        None
    )
    validation: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS|none",
            help="Rows to choose the best epoch on; default those of the dataset that is trained "
            "on, and the last epoch where there are none, as for a file.",
        ),
    ] = None
    test: Test = None


@dataclass(frozen=True)
class ProbedRows(RowOptions):
    """The rows to train and test a probe on."""

    validation: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS|none",
            help="Rows to choose the penalty on; default those of the dataset that is trained on, "
            "and a fixed penalty where there are none, as for a file.",
        ),
    ] = None


@dataclass(frozen=True)
class TrainingOptions:
    """Hyper-parameters of all training; the fields have the names of ``HyperParameters``."""

    learning_rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None
    batch_size: Annotated[int | None, typer.Option(help="Pairs of a step, over all devices.")] = (
        None
    )
    max_epochs: Annotated[
        int | None, typer.Option("--epochs", help="Maximum number of epochs.")
    ] = None


@dataclass(frozen=True)
class ValidatedTraining(TrainingOptions):
    """Hyper-parameters of training that compares epochs."""

    patience: Annotated[
        int | None, typer.Option(help="Epochs without gain before training stops; 0 never stops.")
    ] = None


@dataclass(frozen=True)
class Length:
    """Limits on the texts of an encoder; the fields have the names of ``HyperParameters``."""

    max_length: MaxLength = None
    truncation: Annotated[
        str | None, typer.Option(help="longest_first, or only_first: the premise alone is cut.")
    ] = None


@dataclass(frozen=True)
class Optimization:
    """Hyper-parameters of an encoder alone; the fields have the names of ``HyperParameters``."""

    optimizer: Annotated[str | None, typer.Option(help="adam or adamw.")] = None
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of adamw.")] = None
    schedule: Annotated[str | None, typer.Option(help="constant or linear.")] = None
    warmup_steps: Annotated[int | None, typer.Option(help="Steps of warm-up.")] = None
    n_trained_layers: Annotated[
        int | None,
        typer.Option(
            "--trained-layers", help="Number of top layers to train, with the head; default all."
        ),
    ] = None
    lora_rank: Annotated[
        int | None,
        typer.Option(
            "--lora", metavar="RANK", help="Train adapters (LoRA) of a rank, and the head."
        ),
    ] = None


@dataclass(frozen=True)
class EncoderTraining(Optimization, Length, ValidatedTraining):
    """All hyper-parameters of an encoder."""

    special_tokens: Annotated[
        str | None, typer.Option(metavar="T,...", help="Markers that become tokens of their own.")
    ] = None


@dataclass(frozen=True)
class Computing:
    """How to compute, and what to keep of it."""

    micro_batch: Annotated[
        int | None,
        typer.Option(help="Pairs in memory at once; changes only rounding and dropout."),
    ] = None
    precision: Precision = None
    compiled: Annotated[
        bool | None,
        typer.Option("--compile/--no-compile", help="Default: on a GPU, for long training."),
    ] = None
    cpu: Cpu = False
    track: Annotated[
        str | None,
        typer.Option(metavar="T,...", help="Log to tensorboard, wandb or mlflow, if installed."),
    ] = None
    no_checkpoint: Annotated[
        bool, typer.Option("--no-checkpoint", help="Remove trained models when a run is done.")
    ] = False
