"""Writes samples in the format of SpaceNLI's released file, byte for byte."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .sampling import PatternSample

#: The command that the released file names as its origin.
OFFICIAL_COMMAND = (
    "python/generate_nli.py --sr config/selection_restriction.yaml "
    "--gr python/base_grammar.fcfg dataset/problem_patterns.xml -v "
    "--out dataset/160x200.json --out-max-seed 200"
)


def write_upstream_json(samples: Iterable[PatternSample], command: str, path: Path) -> int:
    """Write samples as the authors' generator does.

    Each row has the attributes of its pattern in file order, then ``prem_num``, ``premises``,
    ``hypothesis`` and ``subs``; two blanks of indent, no final newline.

    Args:
        samples: The samples, in order.
        command: The command that the file names as its origin.
        path: The file to write.

    Returns:
        The number of rows.

    Source:
        ``dataset/160x200.json`` of SpaceNLI at commit 8c10e94d.
    """
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{\n  "generated with a command": {_dump(command)},\n  "data": [')
        for sample in samples:
            for row in _rows(sample):
                separator = ",\n" if n_rows else "\n"
                file.write(separator + _indent(_dump(row, indent=2)))
                n_rows += 1
        file.write("\n  ]\n}" if n_rows else "]\n}")
    return n_rows


def _rows(sample: PatternSample) -> Iterator[dict[str, Any]]:
    texts = zip(sample.premises, sample.hypotheses, sample.phrases, strict=True)
    for number, (premises, hypothesis, phrases) in enumerate(texts):
        yield {
            **sample.pattern.attributes,
            "id": f"{sample.pattern.id}-{number}",
            "prem_num": sample.pattern.n_premises,
            "premises": premises,
            "hypothesis": hypothesis,
            "subs": dict(zip(sample.variables, phrases, strict=True)),
        }


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _indent(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")
