"""Show the prompts that language models are sent: about a row, and as a table of the forms."""

import os
import re
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ....builders.core.markdown import markdown_table
from ....builders.core.registry import builders
from ....builders.core.schema import SPLITS
from ....loaders.errors import UnknownNameError, UsageError
from ....loaders.paths import local_path
from ...evaluation.gold import GoldRows
from ...runs.data import read_run_rows
from .prompts import FORMS, Prompt, Shot, chat_messages, draw_exemplars, get_prompt, plain_text

PathLike = str | os.PathLike[str]


def show_prompt(
    dataset: str,
    *,
    form: str = "p1",
    n_shots: int = 0,
    row: str | None = None,
    shots_from: str | None = None,
    seed: int = 1,
    folder: PathLike | None = None,
) -> dict[str, Any]:
    """Write the prompt about a row, as a run with the same options sends it.

    Args:
        dataset: The row's dataset, config, built version or file, as ``--test`` of a run takes it;
            the split is ``test`` unless it is named.
        form: The form: ``p1``, ``p2`` or ``p3``.
        n_shots: 0, or the number of labels for one exemplar a class.
        row: The row's id; None takes the first row.
        shots_from: Rows to draw the exemplars from; None takes those that the dataset declares,
            such as ``scinli/human``, or else the validation split, or the file itself.
        seed: Seed of the draw; it is that of the run.
        folder: Local folder with the source files, if the dataset has to be built first.

    Returns:
        ``dataset`` (its description), ``form``, ``row`` (its id), ``shots`` (ids of the exemplars),
        ``messages`` (the chat, which a server or a chat template is given) and ``text`` (the chat
        under headings, for models that have no chat template).

    Raises:
        UnknownNameError: There is no such dataset, config, split, form or row.
        UsageError: There is no prompt for these labels; the number of shots is neither 0 nor that
            of the labels; or the row is an exemplar itself.
        SourceNotFoundError: A file or source is missing.
        SchemaError: Rows are malformed.
    """
    place = local_path(folder) if folder is not None else None
    rows = read_run_rows(dataset, "test", place)
    prompt = get_prompt(form, rows.labels)
    if n_shots not in (0, len(rows.labels)):
        raise UsageError(
            f"{n_shots} shots; expected 0, or {len(rows.labels)} for one exemplar a class."
        )
    asked = _row(rows, row)
    shots: tuple[Shot, ...] = ()
    if n_shots:
        pool = _pool(shots_from or _default_pool(rows, dataset), place)
        shots = draw_exemplars(pool.rows, rows.labels, seed)
        if asked["id"] in {shot.id for shot in shots}:
            raise UsageError(
                f"The row {asked['id']} is one of the exemplars. Draw them from another split."
            )
    messages = chat_messages(prompt, asked["premise"], asked["hypothesis"], shots)
    return {
        "dataset": dict(rows.description),
        "form": form,
        "row": asked["id"],
        "shots": [shot.id for shot in shots],
        "messages": messages,
        "text": plain_text(messages),
    }


def _default_pool(rows: GoldRows, dataset: str) -> str:
    builder = builders().get(str(rows.description["name"]))
    if builder is not None and builder.SPEC.exemplars:
        return f"{builder.SPEC.exemplars}:train"
    return re.sub(rf":({'|'.join(SPLITS)})$", "", dataset)


def _pool(name: str, folder: Path | None) -> GoldRows:
    try:
        return read_run_rows(name, "validation", folder)
    except UnknownNameError as error:
        raise UsageError(f"{error} Name the rows of the exemplars with --shots-from.") from None


def _row(rows: GoldRows, id_: str | None) -> dict[str, Any]:
    table = rows.rows if id_ is None else rows.rows.filter(pc.equal(rows.rows["id"], id_))
    if not table.num_rows:
        known = rows.rows["id"].to_pylist()
        if id_ is None:
            raise UsageError(f"{rows.description['name']} has no rows to ask about.")
        raise UnknownNameError.of("row", id_, known)
    found: dict[str, Any] = table.slice(0, 1).to_pylist()[0]
    return found


def tabulate_prompts(dataset: str, *, folder: PathLike | None = None) -> str:
    """Write all forms of the prompt for a dataset as a Markdown table, a column a form.

    The first row has the question, with ``{premise}`` and ``{hypothesis}`` for the texts, the
    second the answers, in the order of the options.

    Args:
        dataset: As for ``show_prompt``; one of this package is not built.
        folder: Local folder with the source files, if the dataset has to be built first.

    Raises:
        UnknownNameError: There is no such dataset.
        UsageError: There is no prompt for these labels.
        SourceNotFoundError: A file or source is missing.
        SchemaError: Rows are malformed.

    Source: MSciNLI, Table 18.
    """
    name = dataset.partition(":")[0].partition("/")[0]
    if name in builders():
        labels = builders()[name].SPEC.labels
    else:
        place = local_path(folder) if folder is not None else None
        labels = read_run_rows(dataset, "test", place).labels
    prompts = [get_prompt(form, labels) for form in FORMS]
    rows = [["question", *map(_question, prompts)], ["answers", *map(_answers, prompts)]]
    return markdown_table(["", *FORMS], rows)


def _question(prompt: Prompt) -> str:
    return prompt.question("{premise}", "{hypothesis}").replace("\n", "<br>")


def _answers(prompt: Prompt) -> str:
    return "<br>".join(f"{option.reply} ({option.label})" for option in prompt.options)
