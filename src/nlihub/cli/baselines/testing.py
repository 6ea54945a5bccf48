"""The command that tests models which are not trained here."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..command import takes_groups
from ..options import From, Json
from .configure import check_preset, configured
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
from .running import run

if TYPE_CHECKING:
    from ...baselines.runs.config import RunConfig


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
