"""Reads SpaceNLI's released sample: 160 patterns, 200 problems each.

Source: ``dataset/160x200.json`` of SpaceNLI at commit 8c10e94d.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..corpora.patterns.records import Problem
from ..errors import Defect, ReleaseError
from ..json_text import parse_json

_MAX_SHOWN = 20
_LABELS = ("entailment", "neutral", "contradiction")
_TEXTS = ("id", "label", "exp", "ent_type", "premises", "hypothesis")
_OPTIONAL_TEXTS = ("src", "cat", "rel", "seed")


def read_released_spacenli(path: Path) -> list[Problem]:
    """Read SpaceNLI's released sample in its order; it takes 13 MB of memory.

    Args:
        path: The ``.json`` file.

    Raises:
        ReleaseError: The file is malformed; lists the defects, with the row.
    """
    rows = _read_rows(path)
    defects = [
        Defect(str(path), 0, f"row {number}", problem)
        for number, row in enumerate(rows)
        if (problem := _problem(row))
    ]
    if defects:
        raise ReleaseError(defects[:_MAX_SHOWN])
    return [_record(row) for row in rows]


def _read_rows(path: Path) -> list[Any]:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ReleaseError([Defect(str(path), 0, "", f"not UTF-8: {error}")]) from error
    except json.JSONDecodeError as error:
        raise ReleaseError(
            [Defect(str(path), error.lineno, "", f"not JSON: {error.msg}")]
        ) from error
    except ValueError as error:  # a number too long, or nested too deeply
        raise ReleaseError([Defect(str(path), 0, "", f"not JSON: {error}")]) from error
    rows = content.get("data") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        message = 'expected an object whose "data" is a list of problems'
        raise ReleaseError([Defect(str(path), 1, "", message)])
    return rows


def _problem(row: Any) -> str | None:
    if not isinstance(row, dict):
        return f"expected an object, got {row!r:.80}"
    for name in _TEXTS:
        if not isinstance(row.get(name), str) or not row[name]:
            return f"{name} is {row.get(name)!r:.80}, expected a string"
    for name in _OPTIONAL_TEXTS:
        if not isinstance(row.get(name), str | None):
            return f"{name} is {row[name]!r:.80}, expected a string or null"
    if row["label"] not in _LABELS:
        return f"label {row['label']!r:.80} is none of {', '.join(_LABELS)}"
    if type(row.get("prem_num")) is not int or row["prem_num"] < 1:
        return f"prem_num is {row.get('prem_num')!r:.80}, expected a number from 1"
    subs = row.get("subs")
    if not isinstance(subs, dict) or not all(isinstance(v, str) for v in subs.values()):
        return f"subs is {subs!r:.80}, expected an object of strings"
    known = {*_TEXTS, *_OPTIONAL_TEXTS, "prem_num", "subs"}
    if unknown := sorted(set(row) - known):
        return f"unknown fields {', '.join(unknown)}"
    return None


def _record(row: Mapping[str, Any]) -> Problem:
    return Problem(
        id=row["id"],
        pattern=row["id"].rpartition("-")[0],
        label=row["label"],
        attributes={
            n: row[n] for n in ("exp", "ent_type", *_OPTIONAL_TEXTS) if row.get(n) is not None
        },
        n_premises=row["prem_num"],
        premises=row["premises"],
        hypothesis=row["hypothesis"],
        fillers=dict(sorted(row["subs"].items())),
    )
