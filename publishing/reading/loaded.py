"""Loads a version from the Hub with the plain ``datasets`` library, and tells what came.

Run as a program: a request in JSON on standard input, an answer a line on standard output.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import datasets

from ...builders.core.row_digests import digest, order_digest, row_hashes

#: What a line with an answer begins with.
ANSWER = "answer: "
_BATCH_ROWS = 5_000


@dataclass(frozen=True)
class Request:
    """What to load.

    Attributes:
        repository: ``ORG/NAME``.
        revision: A commit or a tag.
        splits: The splits of each config.
    """

    repository: str
    revision: str
    splits: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Loaded:
    """A split as it was loaded.

    Attributes:
        config: The config.
        split: The split.
        way: ``loaded`` or ``streamed``.
        rows: Number of rows.
        digest: Digest of the rows, labels by name.
        order_digest: Digest of the rows in their order.
        columns: The Arrow type of each column.
        labels: The names of the labels, by id.
    """

    config: str
    split: str
    way: str
    rows: int
    digest: str
    order_digest: str
    columns: Mapping[str, str]
    labels: list[str]


def load(request: Request) -> Iterator[Loaded]:
    """Loads and streams every config and split of a request.

    Args:
        request: What to load.

    Yields:
        What came, a split at a time.
    """
    for config, splits in request.splits.items():
        for streaming in (False, True):
            rows = datasets.load_dataset(
                request.repository, config, revision=request.revision, streaming=streaming
            )
            if unexpected := set(rows) - set(splits):
                raise ValueError(f"{config} has the unexpected splits {', '.join(unexpected)}")
            for split in splits:
                yield _describe(config, split, rows[split], "streamed" if streaming else "loaded")


def _describe(config: str, split: str, rows: Any, way: str) -> Loaded:
    labels = list(rows.features["label"].names)
    hashes: list[bytes] = []
    for table in rows.with_format("arrow").iter(batch_size=_BATCH_ROWS):
        hashes += row_hashes(table, labels)
    return Loaded(
        config=config,
        split=split,
        way=way,
        rows=len(hashes),
        digest=digest(hashes),
        order_digest=order_digest(hashes),
        columns={field.name: str(field.type) for field in rows.features.arrow_schema},
        labels=labels,
    )


def main() -> None:
    """Answers the request on standard input."""
    try:
        for loaded in load(Request(**json.load(sys.stdin))):
            print(ANSWER + json.dumps(asdict(loaded)), flush=True)
    except Exception as error:  # of whatever library: the caller is told, in a line
        lines = str(error.__cause__ or error).strip().splitlines() or [repr(error)]
        print(ANSWER + json.dumps({"error": f"{type(error).__name__}: {lines[0]}"}))


if __name__ == "__main__":
    main()
