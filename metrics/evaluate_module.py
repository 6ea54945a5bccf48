"""Turns a scoring function into an ``evaluate`` module without ``evaluate``'s slow, lenient path.

``evaluate`` encodes inputs element by element and on the way makes 1 of 1.7 and of "1". Here
columns go to the function as they are; batches are checked, then written as Arrow tables.
"""

import inspect
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets
import evaluate
import pyarrow as pa

from .inputs.columns import read_columns
from .inputs.problems import MetricInputError, Problems

# No name may be bound to a class of evaluate here: evaluate.load takes the first it finds.
_LOADING = frozenset(inspect.signature(evaluate.EvaluationModule.__init__).parameters)


#: Rows of a record batch; the default of datasets makes thousands of small ones.
_BATCH = 1 << 20


class ColumnarModule:
    """Mixin for a metric of ``evaluate``; goes before it in the bases.

    Attributes:
        SCORE: The scoring function; its docstring describes the inputs.
        DESCRIPTION: What the metric is, in a paragraph.
        CITATION: BibTeX of the paper that defines it.
        PAPER: Address of the paper.
        REQUIRED: Columns that have to be given.
        OPTIONAL: Columns that may be left out.
    """

    SCORE: ClassVar[Callable[..., dict[str, Any]]]
    DESCRIPTION: ClassVar[str]
    CITATION: ClassVar[str]
    PAPER: ClassVar[str]
    REQUIRED: ClassVar[tuple[str, ...]]
    OPTIONAL: ClassVar[tuple[str, ...]]

    # What the base class from evaluate keeps.
    num_process: int
    selected_feature_format: Any
    writer: Any
    buf_writer: Any
    data: Any
    filelocks: Any
    file_paths: Any
    _init_writer: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        loading = {name: options.pop(name) for name in _LOADING & set(options)}
        super().__init__(*args, **loading)
        columns = {"data", *self.REQUIRED, *self.OPTIONAL}
        known = set(inspect.signature(self.SCORE).parameters) - columns
        if unknown := set(options) - known:
            raise TypeError(f"Unknown options: {sorted(unknown)}. Known: {sorted(known)}.")
        self._options = options
        self._stored: pa.Schema | None = None
        self._class_names: set[tuple[str, ...]] = set()
        self._is_reading = False

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=self.DESCRIPTION,
            citation=self.CITATION,
            inputs_description=inspect.getdoc(self.SCORE) or "",
            features=self._features(),
            reference_urls=[self.PAPER],
        )

    def _features(self) -> list[datasets.Features]:
        """What the required columns may hold."""
        kinds = itertools.product(("int64", "string"), repeat=len(self.REQUIRED))
        return [
            datasets.Features(
                {
                    name: datasets.Value(kind)
                    for name, kind in zip(self.REQUIRED, chosen, strict=True)
                }
            )
            for chosen in kinds
        ]

    def _feature_names(self) -> list[str]:
        if self._is_reading:  # the columns are read in _compute, as they were stored
            return []
        return list(self.REQUIRED if self._stored is None else self._stored.names)

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        """Computes the metric of the given columns and of those added before.

        Args:
            predictions: A column, as described below.
            references: A column, as described below.
            **kwargs: Further columns and options, as described below.

        """
        given = {"predictions": predictions, "references": references, **kwargs}
        names = {"predictions", "references", *self.REQUIRED, *self.OPTIONAL} & set(given)
        columns = {name: given.pop(name) for name in sorted(names)}
        columns = {name: column for name, column in columns.items() if column is not None}
        options = self._options | given
        if columns and self.writer is None and self.num_process == 1:
            return self.SCORE(**columns, **options)
        data = options.pop("data", None)
        if columns:
            self.add_batch(**columns, data=data)
        if self._class_names and options.get("labels") is None:
            if len(self._class_names) > 1:
                raise MetricInputError([f"The batches have label sets {self._class_names}."])
            options["labels"] = next(iter(self._class_names))
        self._is_reading = True
        try:
            return super().compute(**options)  # type: ignore[misc]
        finally:
            self._is_reading = False
            self._forget()

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Adds a batch of rows to those that the next ``compute`` uses.

        Args:
            predictions: A column, as described below.
            references: A column, as described below.
            **kwargs: Further columns, as described below.

        """
        given = {"predictions": predictions, "references": references, **kwargs}
        data = given.pop("data", None)
        given = {name: column for name, column in given.items() if column is not None}
        known = [*self.REQUIRED, *self.OPTIONAL]
        if unknown := [name for name in given if name not in known]:
            raise MetricInputError([f"Unknown columns {unknown}; known: {known}."])
        table = pa.table({name: _storable(a) for name, a in self._read(given, data).items()})
        if self._stored is None:
            self.selected_feature_format = datasets.Features.from_arrow_schema(table.schema)
            self._init_writer()
            self._stored = table.schema
        elif table.schema != self._stored:
            raise MetricInputError(
                [
                    f"This batch has the columns {_listed(table.schema)}; those before have "
                    f"{_listed(self._stored)}."
                ]
            )
        self.writer.write_table(table, writer_batch_size=_BATCH)

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Adds one row to those that the next ``compute`` uses.

        Args:
            prediction: A value of the column ``predictions``.
            reference: A value of the column ``references``.
            **kwargs: A value of each further column, by the column's name.

        """
        row = {"predictions": prediction, "references": reference, **kwargs}
        self.add_batch(**{name: [value] for name, value in row.items() if value is not None})

    def _read(self, given: Mapping[str, Any], data: Any) -> dict[str, pa.Array]:
        """The columns of a batch, checked; a subclass with other kinds of columns overrides it."""
        problems = Problems()
        required = {name: given.get(name) for name in self.REQUIRED}
        optional = {name: given[name] for name in self.OPTIONAL if name in given}
        columns = read_columns(required, optional, data, problems)
        problems.check()
        self._class_names |= {c.class_names for c in columns.values() if c.class_names}
        return {name: column.values for name, column in columns.items()}

    def _compute(self, **options: Any) -> dict[str, Any]:
        table = self.data.with_format("arrow")[:]
        return self.SCORE(**{name: table[name] for name in table.column_names}, **options)

    def _forget(self) -> None:
        """Drops what was added; ``evaluate`` itself does so only where nothing went wrong."""
        self._stored, self._class_names = None, set()
        self.data = self.writer = self.buf_writer = None
        for lock, path in zip(self.filelocks or [], self.file_paths or [], strict=True):
            Path(path).unlink(missing_ok=True)
            lock.release()
        self.filelocks = self.file_paths = None


def _storable(values: pa.Array) -> pa.Array:
    """The values in one of three types, so that batches of different origin fit together."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values.cast(pa.large_string())
    return values


def _listed(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
