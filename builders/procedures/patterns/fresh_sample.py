"""Writes a fresh sample of a pattern bank: problems that the released dataset lacks, mended."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_file
from ....loaders.corpora.patterns.pattern_bank import LABELS
from ....loaders.errors import UsageError
from .mending import Mend, mend_sample
from .rows import encode_samples
from .sampling import PatternSample

_BATCH_ROWS = 50_000


@dataclass(frozen=True)
class SampleSummary:
    """What was written.

    Attributes:
        output: The file of problems.
        rows: Its number of rows.
        patterns: Number of patterns that gave them.
        short: Patterns that had fewer problems left than were asked for, with what they gave.
        mended: Sentences mended, by rule.
        mends: The file that lists every mend, or None where there was none.
    """

    output: Path
    rows: int = 0
    patterns: int = 0
    short: dict[str, int] = field(default_factory=dict)
    mended: dict[str, int] = field(default_factory=dict)
    mends: Path | None = None


def check_ending(output: Path) -> None:
    """Check that a file can be written in the form that its ending names.

    Args:
        output: The file.

    Raises:
        UsageError: It ends neither in ``.parquet`` nor in ``.jsonl``.
    """
    if output.suffix not in {".parquet", ".jsonl"}:
        raise UsageError(f"{output} must end in .parquet or .jsonl.")


def write_fresh_sample(
    samples: Iterable[PatternSample],
    output: Path,
    *,
    id_infix: str,
    per_pattern: int,
    mend: bool,
) -> SampleSummary:
    """Write samples in the uniform schema, a batch at a time.

    Args:
        samples: The samples, in order.
        output: The file to write, ``.parquet`` or ``.jsonl``; appears whole or not at all.
        id_infix: Stands between a pattern's id and the number of the problem, so that no id is one
            of the release.
        per_pattern: Problems asked for a pattern.
        mend: Whether to mend the text defects of SpaceNLI; the mends are listed in a file beside
            the output, named like it with ``.mends.jsonl`` at the end.

    Returns:
        What was written.

    Raises:
        UsageError: The output has another ending.
        BankError: The samples end with a report of defects; nothing is written.
    """
    check_ending(output)
    rows, patterns = 0, 0
    short: dict[str, int] = {}
    mends: list[Mend] = []
    with whole_file(output) as path, _RowWriter(path, id_infix) as writer:
        for sample in samples:
            mended, found = mend_sample(sample, id_infix) if mend else (sample, [])
            writer.write(mended)
            mends.extend(found)
            rows += len(sample)
            patterns += 1
            if len(sample) < per_pattern:
                short[sample.pattern.id] = len(sample)
    list_of_mends = output.with_name(output.name + ".mends.jsonl")
    list_of_mends.unlink(missing_ok=True)  # of an earlier sample
    if mends:
        with whole_file(list_of_mends) as path:
            path.write_text("".join(_json_line(asdict(m)) for m in mends), encoding="utf-8")
    counts = dict(Counter(one.rule for one in mends))
    return SampleSummary(output, rows, patterns, short, counts, list_of_mends if mends else None)


class _RowWriter:
    """Gathers samples into batches and writes these as Parquet or as JSON lines."""

    def __init__(self, path: Path, id_infix: str) -> None:
        self._path = path
        self._infix = id_infix
        self._waiting: list[PatternSample] = []
        self._parquet: pq.ParquetWriter | None = None
        self._lines: Any = None

    def __enter__(self) -> "_RowWriter":
        schema = encode_samples([]).schema
        if self._path.suffix == ".parquet":
            self._parquet = pq.ParquetWriter(self._path, schema, compression="zstd")
        else:
            self._lines = self._path.open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._flush()
        (self._parquet or self._lines).close()

    def write(self, sample: PatternSample) -> None:
        self._waiting.append(sample)
        if sum(map(len, self._waiting)) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        table = encode_samples(self._waiting, self._infix)
        self._waiting = []
        if self._parquet is not None:
            self._parquet.write_table(table)
        else:
            self._lines.writelines(map(_json_line, _with_label_names(table)))


def _with_label_names(table: pa.Table) -> Iterator[dict[str, Any]]:
    for row in table.to_pylist():
        yield {**row, "label": LABELS[row["label"]]}


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
