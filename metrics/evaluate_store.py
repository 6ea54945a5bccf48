"""The private part of ``evaluate.EvaluationModule`` that stores batches, seen in 0.4.5 and 0.4.6.

``evaluate`` writes the batches of a module to a locked Arrow file in its cache, which the processes
of a distributed run share. Its own ``add_batch`` encodes them element by element; ``StoredBatches``
writes whole tables to the same file. The undocumented names of ``EvaluationModule`` are used in
this module only; ``tests/metrics/test_evaluate_store.py`` states what is expected of them.
"""

from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa

#: Rows of a record batch; the default of datasets makes thousands of small ones.
_BATCH = 1 << 20


class StoredBatches:
    """Mixin that stores batches of rows; it goes before ``evaluate.EvaluationModule``."""

    #: Columns that ``evaluate`` may ask for; set by the subclass.
    _columns: tuple[str, ...] = ()

    _is_reading = False

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

    def _is_empty(self) -> bool:
        """Return whether no batch is stored, and no other process may have stored one."""
        return self.writer is None and self.num_process == 1

    def _open_store(self, schema: pa.Schema) -> None:
        """Open the file for tables of a schema, in a distributed run with the other processes."""
        self.selected_feature_format = datasets.Features.from_arrow_schema(schema)
        self._init_writer()

    def _store(self, table: pa.Table) -> None:
        """Write a table of the schema.

        Raises:
            OSError: The disk is full, for example; nothing that was stored can be used.
        """
        self.writer.write_table(table, writer_batch_size=_BATCH)

    def _feature_names(self) -> list[str]:
        if self._is_reading:  # _stored_rows reads all columns, with the types they were stored in
            return []
        return list(self._columns)

    def _compute_stored(self) -> Any:
        """Call ``_compute``, in process 0 only, once all processes have written.

        Raises:
            ValueError: Nothing is stored, or another process has not written in time.
        """
        self._is_reading = True
        try:
            return super().compute()  # type: ignore[misc]
        finally:
            self._is_reading = False

    def _stored_rows(self) -> pa.Table:
        """Return the rows of all processes; to be called by ``_compute`` only."""
        return self.data.with_format("arrow")[:]

    def _drop_store(self) -> None:
        """Delete what was stored; ``evaluate`` itself does so only if nothing fails."""
        self.data = self.writer = self.buf_writer = None
        locked = list(zip(self.filelocks or [], self.file_paths or [], strict=True))
        if self.filelock is not None:  # the file was not read yet
            locked.append((self.filelock, self.cache_file_name))
        for lock, path in locked:
            Path(path).unlink(missing_ok=True)
            lock.release()
        self.filelocks = self.file_paths = self.filelock = self.cache_file_name = None
