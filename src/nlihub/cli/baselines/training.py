"""Commands that train or test: one system, or all those of an analysis."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..command import takes_groups
from ..options import From, Json, answer, names, tell, whole_numbers
from .options import (
    Computing,
    Cpu,
    EncoderTraining,
    FewShotRunOptions,
    Head,
    HypothesisOnly,
    Length,
    MaxLength,
    ModelLabels,
    Optimization,
    Output,
    Precision,
    Pretrained,
    ProbedRows,
    Reference,
    RowOptions,
    RunOptions,
    Seeds,
    Test,
    TrainingOptions,
    ValidatedTraining,
)
from .running import check_preset, config_of_options, do_runs, quieten


@takes_groups
def quick_command(
    *,
    pretrained: Pretrained,
    output: Output,
    rows: Annotated[int, typer.Option(min=1, help="Test rows of each dataset.")] = 500,
    cpu: Cpu = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Take a quick look at a model on all datasets at hand, in minutes on a CPU.

    A classifier is tested as it is, a language model is asked, of another encoder the frozen
    features are tried. Samples are tested; no paper's baseline is meant.
    """
    from ...baselines import quick
    from ...loaders.errors import needs_extra

    if pretrained.model is None:
        raise typer.BadParameter("Name a model: --model.")
    with needs_extra("baselines", "A baseline"):
        quieten()
    found = quick(
        pretrained.model,
        output,
        revision=pretrained.revision,
        folder=folder,
        n_rows=rows,
        on_cpu=cpu,
        tell=tell,
    )
    answer(found, as_json, lambda: Path(found["report"]).read_text(encoding="utf-8").strip())


@takes_groups
def zero_shot_command(
    *,
    runs: RunOptions,
    pretrained: Pretrained,
    test: Test = None,
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
    precision: Precision = None,
    cpu: Cpu = False,
) -> None:
    """Test a model that is not trained here: an NLI classifier, or a prompted language model.

    The classifier's labels are aligned by name. A server's key is read from NLIHUB_API_KEY or
    OPENAI_API_KEY.
    """
    from ...baselines.presets import get_preset
    from ...baselines.runs.data import read_run_rows

    check_preset(runs.preset, "zero-shot")
    asks = prompt is not None or (
        runs.preset is not None and get_preset(runs.preset).config.method == "prompt"
    )
    if not asks and (shots_from or server):
        raise typer.BadParameter("--shots-from and --server go with --prompt.")
    config = config_of_options(
        "prompt" if asks else "zero-shot",
        runs,
        RowOptions(train=shots_from, validation="none", test=test),
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
            pool = str(config.train)
            n_shots = len(read_run_rows(pool, "train", runs.folder).labels) if shots_from else 0
            config = replace(config, n_shots=n_shots)
    do_runs(config, runs, Computing(precision=precision, cpu=cpu))


@takes_groups
def finetune_command(
    *,
    runs: RunOptions,
    pretrained: Pretrained,
    rows: RowOptions,
    hypothesis_only: HypothesisOnly = False,
    training: EncoderTraining,
    head: Head,
    reference: Reference = False,
    computing: Computing,
) -> None:
    """Fine-tune a pretrained encoder.

    Without a preset the hyper-parameters follow from the training rows and the model, and are
    shown; with fewer than 1,000 rows a linear probe is trained too. Started again, it resumes.
    """
    check_preset(runs.preset, "finetune")
    config = config_of_options(
        "encoder",
        runs,
        rows,
        pretrained=pretrained,
        head=head,
        hyper=[training],
        hypothesis_only=hypothesis_only,
        reference=reference,
    )
    do_runs(config, runs, computing)


@takes_groups
def probe_command(
    *,
    output: Output,
    name: Annotated[str | None, typer.Option(help="Name of the system in reports.")] = None,
    pretrained: Pretrained,
    rows: ProbedRows,
    hypothesis_only: HypothesisOnly = False,
    seeds: Seeds = None,
    precision: Precision = None,
    cpu: Cpu = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Train a linear probe: logistic regression on what a frozen encoder makes of each text.

    It says in a minute what an encoder has before any fine-tuning, and does not depend on the seed.
    """
    runs = RunOptions(output, name=name, seeds=seeds, folder=folder, as_json=as_json)
    config = config_of_options(
        "probe", runs, rows, pretrained=pretrained, hypothesis_only=hypothesis_only
    )
    do_runs(config, runs, Computing(precision=precision, cpu=cpu))


@takes_groups
def few_shot_command(
    *,
    runs: FewShotRunOptions,
    dataset: Annotated[str, typer.Option(help="spacenli or open_spacenli.")] = "spacenli",
    pretrained: Pretrained,
    shots: Annotated[
        str | None, typer.Option(metavar="K,...", help="Rows of each pattern; default 0,1,5,10,20.")
    ] = None,
    hypothesis_only: HypothesisOnly = False,
    training: TrainingOptions,
    max_length: MaxLength = None,
    optimization: Optimization,
    head: Head,
    reference: Reference = False,
    computing: Computing,
) -> None:
    """Fine-tune an encoder on a few problems of every pattern, and test it on the others."""
    from ...baselines.presets import SEEDS, SHOTS, get_preset

    check_preset(runs.preset, "few-shot")
    known = get_preset(runs.preset).shots if runs.preset is not None else SHOTS
    pool = f"{dataset}/few_shot" if runs.preset is None or dataset != "spacenli" else None
    config = config_of_options(
        "encoder",
        runs,
        RowOptions(train=pool, validation="none", test=[pool] if pool is not None else None),
        pretrained=pretrained,
        head=head,
        hyper=[training, Length(max_length=max_length), optimization],
        hypothesis_only=hypothesis_only,
        reference=reference,
    )
    runs = replace(runs, seeds=runs.seeds or ",".join(map(str, SEEDS)))
    do_runs(config, runs, computing, shots=whole_numbers("shots", shots) or list(known))


#: The models without pretraining.
KINDS = ("lexicalized", "cbow", "cnn", "bilstm")


@takes_groups
def classical_command(
    *,
    runs: RunOptions,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="lexicalized, cbow, cnn or bilstm.")
    ] = None,
    rows: RowOptions,
    hypothesis_only: HypothesisOnly = False,
    features: Annotated[
        str | None,
        typer.Option(metavar="F,...", help="Features: bleu, length, overlap, unigrams, bigrams."),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Vectors in GloVe's format; default random."),
    ] = None,
    training: ValidatedTraining,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that count features.")] = 1,
    reference: Reference = False,
    computing: Computing,
) -> None:
    """Train a model without pretraining: the lexicalized classifier, CBOW, CNN or BiLSTM."""
    from ...baselines.presets import get_preset
    from ...loaders.errors import UnknownNameError

    if (runs.preset is None) == (kind is None):
        raise typer.BadParameter("Give either --preset or --kind.")
    check_preset(runs.preset, "classical")
    if kind not in (None, *KINDS):
        raise UnknownNameError.of("kind", str(kind), KINDS)
    method = get_preset(runs.preset).config.method if runs.preset is not None else str(kind)
    is_neural = method != "lexicalized"
    config = config_of_options(
        method,
        runs,
        rows,
        hyper=[training],
        hypothesis_only=hypothesis_only,
        reference=reference,
        default=get_preset("scinli-cbow").config.options if is_neural else None,
    )
    if not is_neural and rows.validation is None:  # the one of the dataset, which it has no use for
        config = replace(config, validation=None)
    chosen = {"groups": names(features) or None, "vectors": str(vectors) if vectors else None}
    details = dict(config.details) | {k: v for k, v in chosen.items() if v is not None}
    do_runs(replace(config, details=details), runs, computing, num_proc=num_proc)


@takes_groups
def analyse_command(
    *,
    kind: Annotated[
        str,
        typer.Argument(help="hypothesis-only, domain-shift, cross-dataset or cartography."),
    ],
    runs: RunOptions,
    pretrained: Pretrained,
    rows: RowOptions,
    training: EncoderTraining,
    reference: Reference = False,
    computing: Computing,
) -> None:
    """Run an analysis of the papers, such as training on each domain and testing on all.

    Training and test sets of domain-shift and cross-dataset are those of the paper, MSciNLI; --test
    adds test sets of other datasets with the same labels, such as mismatched.
    """
    check_preset(runs.preset, "finetune")
    if kind in ("domain-shift", "cross-dataset"):
        if rows.train or rows.validation:
            raise typer.BadParameter(f"{kind} has the training and validation sets of its paper.")
        rows = RowOptions(train="mscinli", test=rows.test)
    config = config_of_options(
        "encoder",
        runs,
        rows,
        pretrained=pretrained,
        hyper=[training],
        reference=reference,
    )
    do_runs(config, runs, computing, analysis=kind)
