"""A batch written for annotators: the two texts of each pair, and nothing that tells a label."""

import errno
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from ...loaders.atomic_write import working_folder
from ...loaders.errors import OutputError, UsageError
from ..core.keyed import keyed_hash
from .batches import (
    CONFIG_FILE,
    INSTRUCTIONS_FILE,
    KEY_COLUMNS,
    KEY_FILE,
    SETTINGS_FILE,
    SHEETS_FOLDER,
    TASKS_FILE,
    Batch,
    Pair,
    annotator_names,
    batch_name,
)
from .candidates import check_labels
from .label_studio import labelling_config, tasks
from .questions import RELATION, Question, instructions
from .sheets import SHEET_COLUMNS, write_sheet


def export_batch(
    folder: Path,
    earlier: Sequence[Batch],
    pairs: pa.Table,
    labels: Sequence[str],
    n_annotators: int,
    question: Question = RELATION,
) -> Batch:
    """Write the next batch of a folder, whole or not at all.

    Annotators see keys such as ``b002-0017``: the batch, and the place of the pair in the draw.
    Each sheet has an order of its own, so that tiredness does not fall on the same pairs; in Label
    Studio choose random sampling of tasks for the same reason, and one project for each batch.

    Args:
        folder: The folder of batches; made where it does not exist.
        earlier: All batches in it, as read when the pairs were drawn.
        pairs: The pairs in the order of their draw, with at least ``id``, ``premise`` and
            ``hypothesis``.
        labels: The label set, without ``unclear``, which is always a choice.
        n_annotators: How many annotators are asked; 2 or more.
        question: The question that annotators answer.

    Returns:
        The batch.

    Raises:
        UsageError: There are no pairs, there are fewer than two annotators, two labels cannot be
            told apart, or the label set or the number of annotators is not that of the earlier
            batches.
        OutputError: The batch exists already, as when two sessions draw at once, or the folder
            cannot be written to.

    Source:
        SciNLI, section 3.3: annotators are shown the two sentences of each pair.
    """
    check_labels(labels)
    if n_annotators < 2:
        raise UsageError(f"n_annotators is {n_annotators}; a majority needs 2 or more.")
    if not pairs.num_rows:
        raise UsageError("There are no pairs to annotate: no class that lacks pairs has any left.")
    for batch in earlier:
        if (batch.labels, batch.n_annotators) != (tuple(labels), n_annotators):
            raise UsageError(
                f"{batch.folder} has the labels {', '.join(batch.labels)} and "
                f"{batch.n_annotators} annotators, not {', '.join(labels)} and {n_annotators}; "
                "begin another folder for these."
            )
    number = len(earlier) + 1
    columns = (pairs[name].to_pylist() for name in ("id", "premise", "hypothesis"))
    by_key = {
        f"b{number:03d}-{place:04d}": Pair(*values)
        for place, values in enumerate(zip(*columns, strict=True), 1)
    }
    target = folder.absolute() / batch_name(number)
    batch = Batch(target, tuple(labels), n_annotators, by_key)
    # Not whole_folder: there the last of two wins, here the first must.
    with working_folder(target.parent, f".{target.name}.partial-") as work:
        new = work / "new"
        new.mkdir()
        _write(new, batch, question)
        _put(new, target)
    return batch


def _put(new: Path, target: Path) -> None:
    try:
        new.rename(target)  # fails on a folder that is not empty
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise OutputError(f"{target} cannot be written: {error.strerror}.") from error
        raise OutputError(
            f"{target} exists: another session has drawn this batch meanwhile, with the same "
            "pairs. Annotate that one, or draw again for the batch after it."
        ) from error


def _write(folder: Path, batch: Batch, question: Question) -> None:
    pairs = [(key, pair.premise, pair.hypothesis) for key, pair in batch.pairs.items()]
    settings = {"labels": list(batch.labels), "n_annotators": batch.n_annotators}
    (folder / SHEETS_FOLDER).mkdir()
    _write_json(folder / SETTINGS_FILE, settings)
    write_sheet(
        folder / KEY_FILE, KEY_COLUMNS, [(key, pair.id) for key, pair in batch.pairs.items()]
    )
    for name in annotator_names(batch.n_annotators):
        rows = sorted(pairs, key=lambda pair: keyed_hash(pair[0], name, "sheet"))
        write_sheet(
            folder / SHEETS_FOLDER / f"{name}.csv", SHEET_COLUMNS, [(*row, "") for row in rows]
        )
    _write_json(folder / TASKS_FILE, tasks(pairs))
    config = labelling_config(batch.labels, question.names)
    (folder / CONFIG_FILE).write_text(config, encoding="utf-8")
    told = instructions(batch.labels, question)
    (folder / INSTRUCTIONS_FILE).write_text(told, encoding="utf-8")


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
