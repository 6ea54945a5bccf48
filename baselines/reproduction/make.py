"""List the papers' tables, figures and analyses, and make them: ``nlihub reproduce``."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...loaders.atomic_write import whole_file
from ...loaders.errors import MissingExtraError, OutputError, UnknownNameError, UsageError
from ...loaders.paths import local_path
from .at_hand import AtHand, find_at_hand, list_lacks, show_status
from .entries import NEEDS, PAPERS, Entry, entries, get_entry

if TYPE_CHECKING:
    from .tables import Made

PathLike = str | os.PathLike[str]

_PICTURES = (".png", ".svg")
_EXTRAS = ("plots", "baselines")


def list_reproductions(
    paper: str | None = None,
    *,
    sources: PathLike | Sequence[PathLike] = (),
    predictions: PathLike | Sequence[PathLike] = (),
) -> list[dict[str, Any]]:
    """List every table, figure and numbered analysis of the papers, with what can be made now.

    Args:
        paper: ``scinli``, ``mscinli``, ``bionli`` or ``spacenli``; None takes all.
        sources: What is at hand, as in ``reproduce``.
        predictions: Files of predictions.

    Returns:
        For each its ``id``, ``source``, ``kind``, ``shows``, ``section``, ``dataset``, ``needs``
        (in words), ``lacks`` (the needs that are not at hand), ``commands``, ``numbers`` (of the
        paper, those published nowhere else in this package), ``why``, ``note``, ``status`` (``can
        be made``, ``needs`` or ``cannot be made``) and ``reason``.

    Raises:
        UnknownNameError: There is no such paper.
        SourceNotFoundError: A folder or file is not there.
        UsageError: A folder is empty, or several hold source files.
    """
    if paper is not None and paper not in PAPERS:
        raise UnknownNameError.of("paper", paper, PAPERS)
    at_hand = find_at_hand(_as_paths(sources), _as_paths(predictions))
    chosen = (entry for entry in entries().values() if paper in (None, entry.id.split("/")[0]))
    return [_describe(entry, at_hand) for entry in chosen]


def reproduce(
    name: str,
    *,
    sources: PathLike | Sequence[PathLike] = (),
    predictions: PathLike | Sequence[PathLike] = (),
    output: PathLike | None = None,
    config: str | None = None,
    splits: Sequence[str] = (),
    parser: str | None = None,
) -> dict[str, Any]:
    """Make a table, figure or analysis of a paper, its numbers beside ours.

    Args:
        name: Its id, ``bionli/table-2``; see ``list_reproductions``.
        sources: What to make it from, one or several: a folder of source files, a built version,
            a folder of runs of ``nlihub baseline``, of results of ``nlihub score --json`` or of
            annotation batches; or a file of results. Which it is, is told by its files.
        predictions: Files of predictions, each of one system; see ``score``.
        output: A folder to write ``PAPER-PLACE.md`` and ``.json`` into, and of a figure ``.png``
            and ``.svg``; None writes nothing, and draws no picture.
        config: Config that predictions are scored on; None takes the default one.
        splits: Splits to build from source files, empty means all; of predictions the one that
            they are of.
        parser: Address of a CoreNLP server, for tables with parses.

    Returns:
        What ``list_reproductions`` says of it, ``inputs``, ``tables`` (``title``, ``columns``,
        ``rows``), ``notes``, ``files`` and ``markdown``.

    Raises:
        UnknownNameError: There is no such entry.
        UsageError: What it needs is not at hand, or is of another dataset.
        SourceNotFoundError: A folder or file is not there.
        PredictionsError: Predictions do not fit the rows, or lack probabilities for a data map.
        UnmeasuredError: It cannot be measured on these rows.
        OutputError: A file to write exists.
        MissingExtraError: ``nlihub[plots]`` is not installed, and a picture is to be drawn.
    """
    entry = get_entry(name)
    at_hand = find_at_hand(_as_paths(sources), _as_paths(predictions))
    _check_needs(entry, at_hand, draws=output is not None)
    stem = entry.id.replace("/", "-")
    folder = None if output is None else local_path(output)
    if folder is not None:
        _check_output(folder, stem)
    made = _make(entry, at_hand, config, tuple(splits), parser)
    from .tables import left_over

    tables = [*made.tables, *left_over(entry.numbers, made)]
    draw = made.draw or (lambda path: None)
    pictures = [f"{stem}{suffix}" for suffix in _PICTURES] if made.draw and folder else []
    found = _describe(entry, at_hand) | {
        "inputs": at_hand.describe(),
        "tables": [table.as_json() for table in tables],
        "notes": made.notes,
        "files": [],
    }
    blocks = [f"# {entry.source}", f"{entry.shows}."]
    blocks += [f"![{entry.shows}]({pictures[0]})"] if pictures else []
    blocks += [table.as_markdown() for table in tables]
    notes = [*made.notes, entry.note, entry.why]
    blocks += ["\n".join(f"- {note}" for note in notes if note)] if any(notes) else []
    if entry.commands:
        blocks += ["By hand:", "\n".join(["```bash", *entry.commands, "```"])]
    text = "\n\n".join(blocks) + "\n"
    if folder is not None:
        names = [f"{stem}.md", f"{stem}.json", *pictures]
        found["files"] = [str(folder / file) for file in names]
        for picture in pictures:
            with whole_file(folder / picture) as path:
                draw(path)
        with whole_file(folder / f"{stem}.md") as path:
            path.write_text(text, encoding="utf-8", newline="\n")
        with whole_file(folder / f"{stem}.json") as path:
            path.write_text(json.dumps(found, ensure_ascii=False, indent=2), encoding="utf-8")
    return found | {"markdown": text}


def _make(
    entry: Entry,
    at_hand: AtHand,
    config: str | None,
    splits: Sequence[str],
    parser: str | None,
) -> "Made":
    """Make an entry; the modules that do it are imported here, since listing needs none of them."""
    if entry.maker in ("statistics", "examples"):
        from . import from_versions

        if entry.maker == "examples":
            return from_versions.make_examples(entry, at_hand, splits)
        return from_versions.make_statistics(entry, at_hand, splits, parser)
    if entry.maker in ("scores", "shots"):
        from . import from_systems

        if entry.maker == "shots":
            return from_systems.make_shots(entry, at_hand)
        split = splits[0] if splits else None
        return from_systems.make_scores(entry, at_hand, from_systems.ScoreOptions(config, split))
    if entry.maker in ("agreement", "errors"):
        from . import from_people

        if entry.maker == "errors":
            return from_people.make_errors(entry, at_hand)
        return from_people.make_agreement(entry, at_hand)
    if entry.maker == "lexicon":
        from .from_package import make_lexicon

        return make_lexicon(entry)
    from .tables import Made

    return Made()


def _check_needs(entry: Entry, at_hand: AtHand, *, draws: bool) -> None:
    """Refuse to make what cannot be made of what is at hand, with the next step."""
    # Sources that are not in the cache are downloaded, or the error says how to get them.
    lacks = [need for need in list_lacks(entry, at_hand) if need != "version"]
    if not draws and "plots" in lacks:
        lacks.remove("plots")
    for extra in lacks:
        if extra in _EXTRAS:
            raise MissingExtraError(
                f"{entry.id} needs nlihub[{extra}]: pip install 'nlihub[{extra}]'."
            )
    if lacks:
        words = "; and ".join(NEEDS[need] for need in lacks)
        raise UsageError(f"{entry.id} needs {words}. To get it: {entry.commands[0]}")


def _check_output(folder: Path, stem: str) -> None:
    for suffix in (".md", ".json", *_PICTURES):
        if (folder / f"{stem}{suffix}").exists():
            raise OutputError(
                f"{folder / f'{stem}{suffix}'} exists. Name another folder, or move it away."
            )


def _describe(entry: Entry, at_hand: AtHand) -> dict[str, Any]:
    status, reason = show_status(entry, at_hand)
    return {
        "id": entry.id,
        "source": entry.source,
        "kind": entry.kind,
        "shows": entry.shows,
        "section": entry.section,
        "dataset": entry.dataset,
        "needs": {need: NEEDS[need] for need in entry.needs},
        "lacks": [] if entry.maker == "none" else list_lacks(entry, at_hand),
        "commands": list(entry.commands),
        "numbers": dict(entry.numbers),
        "why": entry.why,
        "note": entry.note,
        "status": status,
        "reason": reason,
    }


def _as_paths(given: PathLike | Sequence[PathLike]) -> list[Path]:
    listed = [given] if isinstance(given, str | os.PathLike) else given
    return [local_path(path) for path in listed]
