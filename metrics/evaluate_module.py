"""Modules of ``evaluate`` made from scoring functions.

``evaluate`` encodes inputs element by element and turns 1.7 and "1" into 1. Here columns go to the
function unchanged; batches are validated, then stored as Arrow tables: in the locked file in its
cache to which ``evaluate`` writes them too, and which the processes of a distributed run share. The
undocumented attributes of ``evaluate.EvaluationModule`` that this takes were seen in 0.4.5 and
0.4.6; ``tests/metrics/test_evaluate_store.py`` states what is expected of them.
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import datasets
import evaluate
import pyarrow as pa

from .inputs import MetricInputError, Problems
from .inputs.columns import (
    ANSWER_COLUMNS,
    LABEL_COLUMNS,
    InputColumn,
    check_lengths,
    name_classes,
    read_input_columns,
)
from .inputs.probabilities import read_probabilities
from .rows import flatten

# Bind no name to a module class of evaluate here: evaluate.load takes the first that it finds.
_LOADING = frozenset(inspect.signature(evaluate.EvaluationModule.__init__).parameters)

#: Columns of probabilities; all others hold labels or ids.
_PROBABILITIES = ("probabilities", "other_probabilities")

#: Rows of a record batch; the default of datasets makes thousands of small ones.
_BATCH = 1 << 20


class ColumnarModule:
    """Mixin for a metric of ``evaluate``; it goes before ``evaluate.Metric`` in the bases.

    Options of the scoring function may be given when the module is loaded: ``labels``, so that it
    stands beside other metrics in ``evaluate.combine``, which know no such option. ``flat=True``
    gives each result as numbers by path, which ``Trainer`` and trackers log.

    Attributes:
        SCORE: The scoring function; its docstring describes the inputs.
        DESCRIPTION: The metric in a paragraph.
        CITATION: BibTeX of the paper that defines the metric.
        PAPER: URL of the paper.
        REQUIRED: Columns that must be given.
        OPTIONAL: Columns that may be left out. ``evaluate.combine`` passes on only those that are
            named when the module is made: ``columns=["categories"]``.
    """

    SCORE: ClassVar[Callable[..., dict[str, Any]]]
    DESCRIPTION: ClassVar[str]
    CITATION: ClassVar[str]
    PAPER: ClassVar[str]
    REQUIRED: ClassVar[tuple[str, ...]]
    OPTIONAL: ClassVar[tuple[str, ...]]

    # Attributes that EvaluationModule sets.
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
        if loading.get("seed") is not None:  # one seed for evaluate and for the test
            options["seed"] = loading["seed"]
        known = set(inspect.signature(self.SCORE).parameters)
        known = known - {"data", *self.REQUIRED, *self.OPTIONAL} | {"flat"}
        if unknown := set(options) - known:
            raise TypeError(f"Unknown options: {sorted(unknown)}. Known: {sorted(known)}.")
        if unknown := set(columns) - set(self.OPTIONAL):
            raise TypeError(f"Unknown columns: {sorted(unknown)}. Known: {self.OPTIONAL}.")
        self._options = options
        self._columns = (*self.REQUIRED, *columns)
        self._options_now: dict[str, Any] = {}
        self._is_reading = False
        self._stored: pa.Schema | None = None
        self._label_sets: set[tuple[str, ...]] = set()

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=self.DESCRIPTION,
            citation=self.CITATION,
            inputs_description=inspect.getdoc(self.SCORE) or "",
            features=self._features(),
            reference_urls=[self.PAPER],
        )

    def _features(self) -> list[datasets.Features]:
        """Return the types that the required columns may have."""
        ids = list(map(datasets.Value, ("int64", "string")))
        number = datasets.Value("float64")
        probabilities = [number, datasets.Sequence(number)]
        kinds = [probabilities if name in _PROBABILITIES else ids for name in self.REQUIRED]
        return [
            datasets.Features(zip(self.REQUIRED, chosen, strict=True))
            for chosen in itertools.product(*kinds)
        ]

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        """Compute the metric from the given columns and from those added before.

        Args:
            predictions: The column ``predictions`` that is described below, n values.
            references: The column ``references`` that is described below, n values.
            **kwargs: The other columns and the options that are described below, by name; also
                ``flat``, whether to return numbers by path, such as ``per_class/neutral/f1``,
                without the texts, curves and tables.

        """
        given = {"predictions": predictions, "references": references, **kwargs}
        names = {"predictions", "references", *self.REQUIRED, *self.OPTIONAL} & set(given)
        columns = {name: given.pop(name) for name in sorted(names)}
        columns = {name: column for name, column in columns.items() if column is not None}
        options = self._options | given
        is_flat = options.pop("flat", False)
        result = self._result(columns, options)
        return flatten(result) if is_flat and result is not None else result

    def _result(self, columns: dict[str, Any], options: dict[str, Any]) -> Any:
        """Return the result for columns and batches, None in processes other than the first."""
        if columns and self.writer is None and self.num_process == 1:  # nothing is stored
            return self.SCORE(**dict.fromkeys(self.REQUIRED) | columns, **options)
        data = options.pop("data", None)
        if columns:
            self.add_batch(**columns, data=data)
        try:
            self._options_now = self._label_set(options)
            self._is_reading = True
            return super().compute()  # type: ignore[misc]
        finally:
            self._is_reading = False
            self._forget()

    def _feature_names(self) -> list[str]:
        """Return the columns that ``evaluate`` may ask for; all that are stored are read."""
        return [] if self._is_reading else list(self._columns)

    def _label_set(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options, with the label set of the batches if the options have none."""
        default = inspect.signature(self.SCORE).parameters["labels"].default
        if options.get("labels", default) is not None or not self._label_sets:
            return options
        if len(self._label_sets) > 1:
            listed = " and ".join(map(str, sorted(self._label_sets)))
            raise MetricInputError([f"The batches have different label sets: {listed}."])
        return options | {"labels": next(iter(self._label_sets))}

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of n rows to those that the next ``compute`` uses.

        Args:
            predictions: The column ``predictions`` that is described below, n values.
            references: The column ``references`` that is described below, n values.
            **kwargs: The other columns that are described below, by name.

        """
        given = {"predictions": predictions, "references": references, **kwargs}
        data = given.pop("data", None)
        given = {name: column for name, column in given.items() if column is not None}
        known = [*self.REQUIRED, *self.OPTIONAL]
        if unknown := [name for name in given if name not in known]:
            raise MetricInputError([f"Unknown columns {unknown}; known: {known}."])
        arrays, label_sets = self._read(given, data)
        table = pa.table({name: _storable(name, array) for name, array in arrays.items()})
        table = self._type_unanswered(table)
        if self._stored is None:
            self.selected_feature_format = datasets.Features.from_arrow_schema(table.schema)
            self._init_writer()  # in a distributed run with the other processes
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
        except BaseException:  # such as a full disk: never compute on a part of the rows
            self._forget()
            raise
        self._label_sets |= label_sets

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one row to those that the next ``compute`` uses.

        Args:
            prediction: One value of the column ``predictions``; None for no readable answer.
            reference: One value of the column ``references``.
            **kwargs: One value of each other column, by name of the column.

        """
        row = {"predictions": prediction, "references": reference, **kwargs}
        answers = set(ANSWER_COLUMNS) & {*self.REQUIRED, *kwargs}
        given = {name for name, value in row.items() if value is not None}
        self.add_batch(**{name: [value] for name, value in row.items() if name in given | answers})

    def _type_unanswered(self, table: pa.Table) -> pa.Table:
        """Return a batch in which answers that are all null have the type of others, or of labels.

        Args:
            table: n rows to store.
        """
        for name in set(ANSWER_COLUMNS) & set(table.column_names):
            if table[name].null_count == len(table):
                stored = self._stored
                if stored is not None and name in stored.names:
                    kind = stored.field(name).type
                else:
                    kind = table.field("references").type
                place = table.column_names.index(name)
                table = table.set_column(place, name, pa.nulls(len(table), kind))
        return table

    def _read(
        self, given: Mapping[str, Any], data: Any
    ) -> tuple[dict[str, pa.Array], set[tuple[str, ...]]]:
        """Validate a batch; return its columns, and the label sets of ``ClassLabel`` columns.

        Raises:
            MetricInputError: A column is missing or malformed, or lengths differ.
        """
        problems = Problems()
        needed = {*self.REQUIRED, *given} & set(_PROBABILITIES)
        matrices = {n: read_probabilities(given.get(n), data, problems, n) for n in sorted(needed)}
        required = {n: given.get(n) for n in self.REQUIRED if n not in needed}
        optional = {n: given[n] for n in self.OPTIONAL if n in given and n not in needed}
        columns = read_input_columns(required, optional, data, problems)
        problems.check()
        arrays, label_sets = name_labels(columns)
        for name, matrix in matrices.items():
            if matrix is not None and matrix.ndim == 1:
                arrays[name] = pa.array(matrix)
            elif matrix is not None:
                flat = pa.array(matrix.ravel())
                arrays[name] = pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])
        check_lengths({name: len(array) for name, array in arrays.items()}, problems)
        problems.check()
        return arrays, label_sets

    def _compute(self) -> dict[str, Any]:
        table = self.data.with_format("arrow")[:]  # the rows of all processes
        columns = {name: table[name] for name in table.column_names}
        return self.SCORE(**columns, **self._options_now)

    def _forget(self) -> None:
        """Drop all batches; ``evaluate`` itself does so only if nothing fails."""
        self._stored, self._label_sets = None, set()
        self.data = self.writer = self.buf_writer = None
        locked = list(zip(self.filelocks or [], self.file_paths or [], strict=True))
        if self.filelock is not None:  # the file was not read yet
            locked.append((self.filelock, self.cache_file_name))
        for lock, path in locked:
            Path(path).unlink(missing_ok=True)
            lock.release()
        self.filelocks = self.file_paths = self.filelock = self.cache_file_name = None


def name_labels(
    columns: Mapping[str, InputColumn],
) -> tuple[dict[str, pa.Array], set[tuple[str, ...]]]:
    """Return the values of a batch's columns, with named labels, and its label sets: one or none.

    If one column of labels has the class names of a ``Dataset``, the numbers in all columns of
    labels become names: another batch or process may number the classes differently.

    Raises:
        MetricInputError: The columns have different label sets, or a number that is not a class.
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
    """Return integers as int64 and strings as string, so that batches of any origin fit."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_integer(kind):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            raise MetricInputError(
                [f"{name}: holds integers beyond 63 bits; expected smaller ones."]
            ) from None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values.cast(pa.string())
    return values


def _show_schema(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
