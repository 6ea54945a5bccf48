"""Turns a scoring function into an ``evaluate`` module without ``evaluate``'s slow, lenient path.

``evaluate`` encodes inputs element by element and on the way makes 1 of 1.7 and of "1". Here
columns go to the function as they are; batches are checked, then written as Arrow tables.
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import datasets
import evaluate
import pyarrow as pa

from .inputs.columns import LABEL_COLUMNS, Column, name_classes, read_columns
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
        OPTIONAL: Columns that may be left out. ``evaluate.combine`` hands over those of them that
            are named when the module is made: ``columns=["categories"]``.
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
    filelock: Any
    cache_file_name: Any
    _init_writer: Any

    def __init__(self, *args: Any, columns: Sequence[str] = (), **options: Any) -> None:
        loading = {name: options.pop(name) for name in _LOADING & set(options)}
        super().__init__(*args, **loading)
        if loading.get("seed") is not None:  # that of evaluate is ours too
            options["seed"] = loading["seed"]
        known = set(inspect.signature(self.SCORE).parameters)
        known -= {"data", *self.REQUIRED, *self.OPTIONAL}
        if unknown := set(options) - known:
            raise TypeError(f"Unknown options: {sorted(unknown)}. Known: {sorted(known)}.")
        if unknown := set(columns) - set(self.OPTIONAL):
            raise TypeError(f"Unknown columns: {sorted(unknown)}. Known: {self.OPTIONAL}.")
        self._options = options
        self._columns = (*self.REQUIRED, *columns)
        self._stored: pa.Schema | None = None
        self._label_sets: set[tuple[str, ...]] = set()
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
        return list(self._columns)

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
            return self.SCORE(**dict.fromkeys(self.REQUIRED) | columns, **options)
        data = options.pop("data", None)
        if columns:
            self.add_batch(**columns, data=data)
        self._is_reading = True
        try:
            return super().compute(**self._label_set(options))  # type: ignore[misc]
        finally:
            self._is_reading = False
            self._forget()

    def _label_set(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options, with the label set that the batches had, if none is given."""
        default = inspect.signature(self.SCORE).parameters["labels"].default
        if options.get("labels", default) is not None or not self._label_sets:
            return options
        if len(self._label_sets) > 1:
            listed = " and ".join(map(str, sorted(self._label_sets)))
            raise MetricInputError([f"The batches have different label sets: {listed}."])
        return options | {"labels": next(iter(self._label_sets))}

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
        arrays, label_sets = self._read(given, data)
        table = pa.table({name: _storable(name, array) for name, array in arrays.items()})
        if self._stored is None:
            self.selected_feature_format = datasets.Features.from_arrow_schema(table.schema)
            self._init_writer()
            self._stored = table.schema
        elif table.schema != self._stored:
            raise MetricInputError(
                [
                    f"This batch has the columns {_show_schema(table.schema)}; those before have "
                    f"{_show_schema(self._stored)}."
                ]
            )
        try:
            self.writer.write_table(table, writer_batch_size=_BATCH)
        except BaseException:  # a full disk: never compute on a part
            self._forget()
            raise
        self._label_sets |= label_sets

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Adds one row to those that the next ``compute`` uses.

        Args:
            prediction: A value of the column ``predictions``.
            reference: A value of the column ``references``.
            **kwargs: A value of each further column, by the column's name.

        """
        row = {"predictions": prediction, "references": reference, **kwargs}
        self.add_batch(**{name: [value] for name, value in row.items() if value is not None})

    def _read(
        self, given: Mapping[str, Any], data: Any
    ) -> tuple[dict[str, pa.Array], set[tuple[str, ...]]]:
        """The columns of a batch, checked, and the label sets that they bring.

        A subclass with other kinds of columns overrides it.
        """
        problems = Problems()
        required = {name: given.get(name) for name in self.REQUIRED}
        optional = {name: given[name] for name in self.OPTIONAL if name in given}
        columns = read_columns(required, optional, data, problems)
        problems.check()
        return name_labels(columns)

    def _compute(self, **options: Any) -> dict[str, Any]:
        table = self.data.with_format("arrow")[:]
        return self.SCORE(**{name: table[name] for name in table.column_names}, **options)

    def _forget(self) -> None:
        """Drops what was added; ``evaluate`` itself does so only where nothing went wrong."""
        self._stored, self._label_sets = None, set()
        self.data = self.writer = self.buf_writer = None
        locked = list(zip(self.filelocks or [], self.file_paths or [], strict=True))
        if self.filelock is not None:  # nothing was read yet
            locked.append((self.filelock, self.cache_file_name))
        for lock, path in locked:
            Path(path).unlink(missing_ok=True)
            lock.release()
        self.filelocks = self.file_paths = self.filelock = self.cache_file_name = None


def name_labels(
    columns: Mapping[str, Column],
) -> tuple[dict[str, pa.Array], set[tuple[str, ...]]]:
    """The values of columns, and the label sets that they are from.

    Where one column of labels is that of a ``Dataset``, numbers of all of them become names: the
    number of a class means nothing to another batch or process.
    """
    arrays = {name: column.values for name, column in columns.items()}
    label_sets = {c.class_names for c in columns.values() if c.class_names is not None}
    problems = Problems()
    if len(label_sets) > 1:
        problems.add(f"The columns have different label sets: {sorted(label_sets)}.")
    elif label_sets:
        (names,) = label_sets
        for name in arrays.keys() & set(LABEL_COLUMNS):
            if pa.types.is_integer(arrays[name].type):
                arrays[name] = name_classes(name, arrays[name], names, problems)
    problems.check()
    return arrays, label_sets


def _storable(name: str, values: pa.Array) -> pa.Array:
    """The values in one of a few types, so that batches of different origin fit together."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_integer(kind):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            raise MetricInputError([f"{name}: holds integers beyond 63 bits."]) from None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values.cast(pa.string())
    return values


def _show_schema(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
