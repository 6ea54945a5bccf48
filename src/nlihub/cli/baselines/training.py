"""Commands that train: one system, or all those of an analysis."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..command import takes_groups
from ..options import From, Json
from .options import (
    Computing,
    Cpu,
    Head,
    HypothesisOnly,
    Length,
    ModelLabels,
    Name,
    Output,
    Precision,
    Preset,
    Pretrained,
    Rows,
    Seeds,
    Test,
)
from .running import check_preset, configured, run

if TYPE_CHECKING:
    from ...baselines.runs.config import RunConfig


from ..options import names, whole_numbers
from .options import (
    EncoderTraining,
    MaxLength,
    Optimization,
    Reference,
    Training,
    ValidatedTraining,
)


@takes_groups
def zero_shot(
    *,
    output: Output,
    preset: Preset = None,
    pretrained: Pretrained,
    test: Test = None,
    name: Name = None,
    hypothesis_only: HypothesisOnly = False,
    length: Length,
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
    from ...baselines.presets import get_preset

    check_preset(preset, "zero-shot")
    asks = prompt is not None or (
        preset is not None and get_preset(preset).config.method == "prompt"
    )
    if not asks and (shots_from or server):
        raise typer.BadParameter("--shots-from and --server go with --prompt.")
    config = configured(
        "prompt" if asks else "zero-shot",
        preset,
        Rows(train=shots_from, validation="none", test=test),
        name=name,
        pretrained=pretrained,
        head=Head(model_labels=model_labels),
        hyper=[length],
        hypothesis_only=hypothesis_only,
    )
    if asks:
        chosen = {"prompt": prompt, "server": server}
        details = dict(config.details) | {k: v for k, v in chosen.items() if v is not None}
        config = replace(config, details=details)
        if shots_from is not None or config.n_shots is None:
            config = replace(config, n_shots=_n_labels(config, folder) if shots_from else 0)
    computing = Computing(precision=precision, cpu=cpu)
    run(config, output, computing, seeds=seeds, preset=preset, folder=folder, as_json=as_json)


def _n_labels(config: "RunConfig", folder: Path | None) -> int:
    from ...baselines.runs.data import read_rows

    return len(read_rows(str(config.train), "train", folder).labels)


@takes_groups
def finetune(
    *,
    output: Output,
    preset: Preset = None,
    pretrained: Pretrained,
    rows: Rows,
    name: Name = None,
    seeds: Seeds = None,
    hypothesis_only: HypothesisOnly = False,
    training: EncoderTraining,
    head: Head,
    reference: Reference = False,
    computing: Computing,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Fine-tune a pretrained encoder.

    Without a preset the hyper-parameters are SciNLI's. Started again, it goes on where it was.
    """
    check_preset(preset, "finetune")
    config = configured(
        "encoder",
        preset,
        rows,
        name=name,
        pretrained=pretrained,
        head=head,
        hyper=[training],
        hypothesis_only=hypothesis_only,
        reference=reference,
    )
    run(config, output, computing, seeds=seeds, preset=preset, folder=folder, as_json=as_json)


@takes_groups
def few_shot(
    *,
    output: Output,
    preset: Preset = None,
    dataset: Annotated[str, typer.Option(help="spacenli or open_spacenli.")] = "spacenli",
    pretrained: Pretrained,
    shots: Annotated[
        str | None, typer.Option(metavar="K,...", help="Rows a pattern; default 0,1,5,10,20.")
    ] = None,
    name: Name = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N,...", help="Seeds, a draw each; default 1,2,3.")
    ] = None,
    hypothesis_only: HypothesisOnly = False,
    training: Training,
    max_length: MaxLength = None,
    optimization: Optimization,
    head: Head,
    reference: Reference = False,
    computing: Computing,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Fine-tune an encoder on a few problems of every pattern, and test it on the others."""
    from ...baselines.presets import FEW_SHOT, SEEDS, SHOTS, get_preset

    check_preset(preset, "few-shot")
    known = get_preset(preset).shots if preset is not None else SHOTS
    pool = f"{dataset}/few_shot" if preset is None or dataset != "spacenli" else None
    config = configured(
        "encoder",
        preset,
        Rows(train=pool, validation="none", test=[pool] if pool is not None else None),
        name=name,
        pretrained=pretrained,
        head=head,
        hyper=[training, Length(max_length=max_length), optimization],
        hypothesis_only=hypothesis_only,
        reference=reference,
        default=FEW_SHOT,
    )
    run(
        config,
        output,
        computing,
        seeds=seeds or ",".join(map(str, SEEDS)),
        shots=whole_numbers("shots", shots) or list(known),
        folder=folder,
        as_json=as_json,
    )


#: The models without pretraining.
KINDS = ("lexicalized", "cbow", "cnn", "bilstm")


@takes_groups
def classical(
    *,
    output: Output,
    preset: Preset = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="lexicalized, cbow, cnn or bilstm.")
    ] = None,
    rows: Rows,
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
    training: ValidatedTraining,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that count features.")] = 1,
    reference: Reference = False,
    computing: Computing,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Train a model without pretraining: the lexicalized classifier, CBOW, CNN or BiLSTM."""
    from ...baselines.presets import get_preset
    from ...loaders.errors import UnknownNameError

    if (preset is None) == (kind is None):
        raise typer.BadParameter("Give either --preset or --kind.")
    check_preset(preset, "classical")
    if kind not in (None, *KINDS):
        raise UnknownNameError.of("kind", str(kind), KINDS)
    method = get_preset(preset).config.method if preset is not None else str(kind)
    is_neural = method != "lexicalized"
    config = configured(
        method,
        preset,
        rows,
        name=name,
        hyper=[training],
        hypothesis_only=hypothesis_only,
        reference=reference,
        default=get_preset("scinli-cbow").config.options if is_neural else None,
    )
    if not is_neural and rows.validation is None:  # the one of the dataset, which it has no use for
        config = replace(config, validation=None)
    chosen = {"groups": names(features) or None, "vectors": str(vectors) if vectors else None}
    details = dict(config.details) | {k: v for k, v in chosen.items() if v is not None}
    run(
        replace(config, details=details),
        output,
        computing,
        seeds=seeds,
        preset=preset,
        num_proc=num_proc,
        folder=folder,
        as_json=as_json,
    )


@takes_groups
def analyse(
    *,
    kind: Annotated[
        str,
        typer.Argument(help="hypothesis-only, domain-shift, cross-dataset or cartography."),
    ],
    output: Output,
    preset: Preset = None,
    pretrained: Pretrained,
    rows: Rows,
    name: Name = None,
    seeds: Seeds = None,
    training: EncoderTraining,
    reference: Reference = False,
    computing: Computing,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Do all runs of an analysis of the papers: train on one domain and test on all, and the like.

    Training and test sets of domain-shift and cross-dataset are those of the paper, MSciNLI.
    """
    check_preset(preset, "finetune")
    if kind in ("domain-shift", "cross-dataset"):
        if rows.train or rows.validation or rows.test:
            raise typer.BadParameter(f"{kind} has the training and test sets of its paper.")
        rows = Rows(train="mscinli")
    config = configured(
        "encoder",
        preset,
        rows,
        name=name,
        pretrained=pretrained,
        hyper=[training],
        reference=reference,
    )
    run(
        config,
        output,
        computing,
        seeds=seeds,
        preset=preset,
        analysis=kind,
        folder=folder,
        as_json=as_json,
    )
