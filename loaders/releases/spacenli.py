"""Reads SpaceNLI's released sample: 160 patterns, 200 problems each.

Source: ``dataset/160x200.json`` of SpaceNLI at commit 8c10e94d.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..corpora.patterns.records import Problem
from ..errors import Defect, ReleaseError
from ..json_text import parse_json

_ATTRIBUTES = ("exp", "ent_type", "src", "cat", "rel", "seed")


def read_released_spacenli(path: Path) -> list[Problem]:
    """Read SpaceNLI's released sample in its order; it takes 13 MB of memory.

    Args:
        path: The ``.json`` file, of the pinned hash: its values are not checked one by one.

    Raises:
        ReleaseError: It is another file; names the first problem that cannot be read.
    """
    where = ""
    problems = []
    try:
        for number, row in enumerate(parse_json(path.read_bytes())["data"]):
            where = f"row {number}"
            problems.append(_read_problem(row))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"is not a problem of the released sample: {error!r:.80}"
        raise ReleaseError([Defect(str(path), 0, where, message)]) from error
    return problems


def _read_problem(row: Mapping[str, Any]) -> Problem:
    return Problem(
        id=row["id"],
        pattern=row["id"].rpartition("-")[0],
        label=row["label"],
        attributes={name: row[name] for name in _ATTRIBUTES if row.get(name) is not None},
        n_premises=row["prem_num"],
        premises=row["premises"],
        hypothesis=row["hypothesis"],
        fillers=dict(sorted(row["subs"].items())),
    )
