"""Base of the datasets that are read from their authors' release files.

A definition is read without pyarrow; its rows need it.
"""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ...loaders.errors import Defect, ReleaseError, SchemaError
from ...loaders.fetching import Source, SourceFile, list_sources
from ...loaders.fetching.obtain import HINT
from ...loaders.releases import Oddities
from .base import Batch, NLIBuilder
from .options import BuildOptions, Key
from .spec import DatasetSpec

if TYPE_CHECKING:
    import pyarrow as pa

_LOGGER = logging.getLogger(__name__)


class ReleaseReader(Protocol):
    """A reader of a release file; see ``loaders.releases``."""

    def __call__(
        self, path: Path, oddities: Oddities | None = None, *, is_known: bool = False
    ) -> "Iterator[pa.RecordBatch]":
        """Yield the rows in batches.

        Args:
            path: The file.
            oddities: Counts to add to; None counts nothing.
            is_known: Whether the file is, by its hash, a published one.

        Raises:
            ReleaseError: The file is malformed.
        """
        ...


Encoder: TypeAlias = "Callable[[pa.RecordBatch], pa.Table]"
#: Which of some rows a split has, given the rows and the file that they are from.
Membership: TypeAlias = "Callable[[pa.Table, SourceFile], pa.BooleanArray | None]"


def every_row(rows: "pa.Table", file: SourceFile) -> None:
    """Take every row of a file into a split: the membership of most."""


def rows_of_domain(domain: str) -> Membership:
    """Return the membership of the rows of a domain."""

    def is_member(rows: "pa.Table", file: SourceFile) -> "pa.BooleanArray":
        import pyarrow.compute as pc

        return pc.equal(rows["domain"], domain).combine_chunks()

    return is_member


def row_encoder(
    spec: DatasetSpec,
    columns: Mapping[str, str],
    *,
    constants: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Callable[[], Encoder]:
    """Return what makes the function that turns batches of a release into rows.

    Args:
        spec: The declaration of the dataset.
        columns: For each column of ours that the release has, its name there.
        constants: For columns of ours, the value of every row; the others are null.
        labels: Our label for each label of the release; None where they are the same.

    Raises:
        SchemaError: A column is not declared, or a declared one of the dataset's own has no source.
    """
    filled = {*columns, *(constants or {})}
    problems = [
        f"column {name!r} is not declared; name it in extra and meanings"
        for name in sorted(filled - set(spec.columns))
    ]
    problems += [
        f"column {name!r} is declared in extra, and nothing fills it; name it in COLUMNS"
        for name in spec.extra
        if name not in filled
    ]
    if problems:
        raise SchemaError(f"The columns of {spec.name!r} are wrong: {'; '.join(problems)}.")

    def make() -> Encoder:
        import pyarrow as pa
        import pyarrow.compute as pc

        from .encode import encode

        features = spec.features
        schema = features.arrow_schema
        given = constants or {}

        def column(name: str, batch: pa.RecordBatch) -> pa.Array:
            if name in given:
                return pa.repeat(given[name], len(batch))
            if name not in columns:
                return pa.nulls(len(batch))
            values = batch.column(columns[name])
            if name == "label" and labels is not None:
                ids = pc.index_in(values, pa.array(labels, pa.string()))
                return pa.array(labels.values(), pa.string()).take(ids)
            return values

        def encode_batch(batch: pa.RecordBatch) -> pa.Table:
            return encode({name: column(name, batch) for name in features}, features, schema)

        return encode_batch

    return make


@dataclass(frozen=True)
class Part:
    """A release file, and the splits that take rows of it.

    Attributes:
        source: The file.
        read: Reads it.
        encoder: Returns the function that turns batches into rows of the uniform schema; called
            once a pass, as the function may count ids.
        members: For each split of a config that takes rows of the file, which it takes.
    """

    source: Source
    read: ReleaseReader
    encoder: Callable[[], Encoder]
    members: Mapping[Key, Membership]


class ReleaseBuilder(NLIBuilder):
    """A dataset read from release files; a subclass says which parts its configs have."""

    @classmethod
    @abstractmethod
    def parts(cls) -> list[Part]:
        """Return every file of the release, in the order of the rows."""

    @classmethod
    def wanted_sources(cls, options: BuildOptions) -> list[Source]:
        """Return the release files that the rows asked for are read from.

        Raises:
            UnknownNameError: The dataset has no such config, or there is no such split.
            UsageError: No split is left, or the dataset has no such origin.
        """
        return [part.source for part in cls._wanted_parts(options)]

    @classmethod
    def make_rows(cls, options: BuildOptions) -> "ReleaseRows":
        """Open the release files that the rows asked for are read from.

        Raises:
            NLIHubError: A file is missing or not the pinned one.
        """
        return ReleaseRows(
            cls._wanted_parts(options), cls.find_sources(options), options.keys(cls.SPEC), cls.SPEC
        )

    @classmethod
    def _wanted_parts(cls, options: BuildOptions) -> list[Part]:
        keys = options.keys(cls.SPEC)
        return [part for part in cls.parts() if not keys.isdisjoint(part.members)]


@dataclass(frozen=True)
class ReleaseRows:
    """The rows of release files.

    Attributes:
        parts: The files' parts.
        files: The local file of each part.
        keys: The splits of configs that are wanted.
        spec: The declaration of the dataset.
        parameters: Nothing: a release has no seeds.
    """

    parts: Sequence[Part]
    files: Sequence[SourceFile]
    keys: frozenset[Key]
    spec: DatasetSpec
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The files: where each is published, its size and its hash."""
        return [file.entry for file in self.files]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows of each file in the order of the release; see ``Rows``.

        Raises:
            ReleaseError: A file is malformed, has another number of rows than was published, or an
                id twice.
            ChecksumError: A file was changed while it was read.
        """
        for part, file in zip(self.parts, self.files, strict=True):
            counts = None if oddities is None else Oddities()
            try:
                yield from self._read(part, file, counts)
            except ReleaseError as error:
                if not file.reject():
                    raise
                raise ReleaseError(
                    error.defects,
                    f"The file was downloaded from {file.address}, and is removed again. Try again "
                    f"later, or {HINT}",
                ) from error
            if oddities is not None and counts is not None:
                oddities[f"{part.source.dataset}/{file.variant.path}"] = counts

    def _read(self, part: Part, file: SourceFile, oddities: Oddities | None) -> Iterator[Batch]:
        encode = part.encoder()
        is_known = file.is_known
        ids: list[pa.ChunkedArray] = []
        counted: list[pa.Table] = []
        for batch in part.read(file.path, oddities, is_known=is_known):
            table = encode(batch)
            ids.append(table["id"])
            if not is_known:
                counted.append(table.select(["label", "category", "domain"]))
            members = {
                key: member(table, file) for key, member in part.members.items() if key in self.keys
            }
            yield Batch(table, members)
        _check_rows(file, sum(map(len, ids)))
        _check_ids(file, ids)
        if is_known or not self._differs(part, file, counted):
            file.accept()

    def _differs(self, part: Part, file: SourceFile, batches: "list[pa.Table]") -> bool:
        """Return whether a file of unpublished content differs from the paper's counts.

        Then a warning says by how much, and its hash is not recorded.
        """
        import pyarrow as pa  # takes long to import

        from .published_counts import count_values, differing_counts

        counted = pa.concat_tables(batches)
        count = partial(count_values, batches=[counted], labels=self.spec.labels)
        for (config, split), member in part.members.items():
            published = self.spec.published.get(config, {}).get(split, {})
            if member is every_row and published.get("rows") == len(counted):
                found = list(differing_counts(published, count))
                if found:
                    _LOGGER.warning(
                        "%s is read as %s of %s, but differs from the counts of the paper: %s. If "
                        "it is the wrong file, remove it and try again.",
                        file.path,
                        part.source.name,
                        part.source.dataset,
                        "; ".join(found),
                    )
                return bool(found)
        return False


def _check_rows(file: SourceFile, n_rows: int) -> None:
    expected = file.source.rows
    if expected is None or n_rows == expected:
        return
    others = [s.name for s in list_sources(file.source.dataset).values() if s.rows == n_rows]
    hint = f"; {n_rows:,} is the published number of {', '.join(others)}" if others else ""
    raise ReleaseError(
        [
            Defect(
                str(file.path),
                0,
                "",
                f"{n_rows:,} rows, published for {file.source.name} of {file.source.dataset}: "
                f"{expected:,} ({n_rows - expected:+,}){hint}",
            )
        ],
        f"It is truncated, or another file. {file.source.how_to_get()}",
    )


def _check_ids(file: SourceFile, ids: "list[pa.ChunkedArray]") -> None:
    import pyarrow as pa  # takes long to import
    import pyarrow.compute as pc

    chunks = [chunk for column in ids for chunk in column.chunks]
    counts = pa.chunked_array(chunks, pa.string()).value_counts()
    if len(counts) == sum(map(len, chunks)):
        return
    doubled = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")[:5].to_pylist()
    message = f"ids that occur more than once: {', '.join(doubled)}"
    raise ReleaseError([Defect(str(file.path), 0, "", message)])
