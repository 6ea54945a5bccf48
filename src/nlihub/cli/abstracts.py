"""The options of ``nlihub build`` for a dataset that is made from abstracts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import answer, names
from .own import read_ratio, tell, tell_rows, tell_units

if TYPE_CHECKING:
    from ..abstracts import MadeFromAbstracts, ModelWriter

Abstracts = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH",
        help="Makes a dataset of your own from the annotated abstracts there; may be given several "
        "times.",
    ),
]
PhraseSets = Annotated[
    str | None,
    typer.Option(
        metavar="SET,...",
        help="With --abstracts: the sets of phrases that tell conclusions; default paper; all "
        "takes every one.",
    ),
]
ByOrder = Annotated[
    bool,
    typer.Option(
        "--by-order",
        help="With --abstracts: the entity mentioned first regulates, where nothing tells it.",
    ),
]
Strategies = Annotated[
    str | None,
    typer.Option(
        metavar="S,...", help="With --abstracts: the rule-based strategies; default all seven."
    ),
]
MaxPerCategory = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --abstracts: rows of a rule-based strategy in the balanced training set at "
        "most; default 500.",
    ),
]

Generate = Annotated[
    str | None,
    typer.Option(
        metavar="small|MODEL",
        help="With --abstracts: also GEN and GEN-ND, by a small model from scratch or a pretrained "
        "sequence-to-sequence model, trained in five folds (needs nlihub[baselines]).",
    ),
]
Models = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="With --generate: keeps the models, so that a run that died goes on."
    ),
]

_MAX_SHOWN = 10


def build_from_abstracts(
    name: str, abstracts: list[Path], output: Path, num_proc: int, as_json: bool, **given: Any
) -> None:
    """Builds a dataset from abstracts, and says what was not taken."""
    from .. import abstracts as made_from_abstracts

    options = {option: value for option, value in given.items() if value is not None}
    if "ratio" in options:
        options["ratio"] = read_ratio(options["ratio"])
    writer = _writer(options.pop("generate", None), options.pop("models", None), options)
    if "strategies" in options:
        options["strategies"] = names(options["strategies"])
    if "phrase_sets" in options:
        options["phrase_sets"] = names(options["phrase_sets"])
    made = made_from_abstracts.build_from_abstracts(
        name, abstracts, output, num_proc=num_proc, writer=writer, **options
    )
    _tell(made)
    answer({name: str(made.folder)}, as_json, lambda: str(made.folder))


def _writer(
    model: str | None, models: Path | None, options: dict[str, Any]
) -> "ModelWriter | None":
    from .. import abstracts as made_from_abstracts

    if model is None:
        if models is not None:
            raise typer.BadParameter("--models cannot go without --generate.")
        return None
    seed = options.get("seed", 1)
    if model == "small":
        settings = made_from_abstracts.GenerationSettings.small(seed)
    else:
        pretrained = made_from_abstracts.PretrainedModel(model)
        settings = made_from_abstracts.GenerationSettings(model=pretrained, seed=seed)
    return made_from_abstracts.ModelWriter(settings, models, tell=tell)


def _tell(made: "MadeFromAbstracts") -> None:
    from ..perturbations import show_left_out

    for entry in made.not_taken[:_MAX_SHOWN]:
        tell(f"not taken {show_left_out(entry)}")
    if len(made.not_taken) > _MAX_SHOWN:
        tell(f"and {len(made.not_taken) - _MAX_SHOWN:,} more")
    counts = made.counts["abstracts"]
    tell_units("abstracts", counts, counts["dropped"])
    for what, n in counts["left_out"].items():
        tell(f"{n:,} left out of their abstracts: {what}")
    for kind, of_kind in made.counts["negatives"].items():
        reasons = "".join(f"; {n:,}: {reason}" for reason, n in of_kind["dropped"].items())
        tell(f"{kind}: {of_kind['kept']:,} of {of_kind['read']:,} mechanisms{reasons}")
    tell_rows(made.rows)
    tell(f"all counts: {made.report}")
