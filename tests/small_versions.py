"""Versions of a few rows that a test writes by hand, and the content of any version."""

import pyarrow as pa
from nlihub.builders.core.base import Batch, NLIBuilder, Rows
from nlihub.builders.core.options import BuildOptions
from nlihub.builders.core.schema import encode
from nlihub.builders.versions.write import build_version

ROW = {"premise": "A.", "hypothesis": "B.", "group": None, "category": None, "source": None}


def content(folder, ending=""):
    """All files of a folder whose names have an ending, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob(f"*{ending}"))
        if path.is_file()
    }


def build_rows(folder, spec, splits):
    """Builds a version of a dataset from rows.

    Args:
        folder: The folder to build in.
        spec: What the dataset declares.
        splits: For each split its rows; what a row does not say is as in ``ROW``.
    """

    class SmallRows(Rows):
        sources = tuple({"url": f"{split}.csv", "bytes": 1, "sha256": "0" * 64} for split in splits)
        parameters = {}  # noqa: RUF012

        def batches(self):
            for split, rows in splits.items():
                whole = [
                    {"id": f"{split}-{n}", "domain": spec.domains[0], **ROW, **row}
                    for n, row in enumerate(rows)
                ]
                columns = {
                    name: pa.array([row.get(name) for row in whole]) for name in spec.features
                }
                yield Batch(encode(columns, spec.features), {(spec.default_config, split): None})

    class Small(NLIBuilder):
        SPEC = spec

        @classmethod
        def make_rows(cls, options):
            return SmallRows()

    options = BuildOptions(configs=(spec.default_config,), splits=tuple(splits))
    return build_version(Small, folder, options)
