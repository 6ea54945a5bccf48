"""Read a corpus of papers on a Spark cluster, with the same pairs as on one machine.

Every worker must see the files of papers under the same paths, and have nlihub. What a shard gives
comes back through ``datasets.Dataset.from_spark``, as its very files.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import move, rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa
from datasets import Dataset

from ....loaders.atomic_write import working_folder
from ....loaders.errors import needs_extra
from ..shards import CorpusShard, Engine, Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Shards that are read at a time; the earlier ones are kept when the cluster or the driver dies.
_SHARDS_PER_CORE = 16
_CHUNK_BYTES = 16_000_000
_SCHEMA = "shard long, name string, start long, content binary"
_ARROW_SCHEMA = pa.schema(
    {"shard": pa.int64(), "name": pa.string(), "start": pa.int64(), "content": pa.binary()}
)


def spark_engine(session: "SparkSession | None" = None, folder: Path | None = None) -> Engine:
    """Return an engine that reads papers on a Spark cluster.

    Args:
        session: The session; None takes the active one, or begins one by Spark's own configuration.
            Its workers run the Python that ``PYSPARK_PYTHON`` names; where that is not set, a
            session begun here on this machine runs the Python of the caller.
        folder: A folder that the driver and all workers see, for what comes back; None takes one
            beside the shards, which is enough where all of Spark is on this machine.

    Raises:
        MissingExtraError: ``nlihub[spark]`` is not installed.
    """
    with needs_extra("spark", "Reading papers on a Spark cluster"):
        from pyspark.sql import SparkSession
    spark = session or SparkSession.getActiveSession() or _begin(SparkSession.builder)

    def work(job: Job, shards: Sequence[CorpusShard]) -> Iterator[None]:
        waiting = shards
        while waiting:
            at_once = _SHARDS_PER_CORE * spark.sparkContext.defaultParallelism  # which may grow
            yield from _work(spark, job, waiting[:at_once], folder)
            waiting = waiting[at_once:]

    return work


def _begin(builder: "SparkSession.Builder") -> "SparkSession":
    spark = builder.appName("nlihub").getOrCreate()
    context = spark.sparkContext
    if (context.master or "").startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # else the python3 of the path, perhaps without nlihub
    return spark


def _work(
    spark: "SparkSession", job: Job, shards: Sequence[CorpusShard], folder: Path | None
) -> Iterator[None]:
    """Read some shards; none of their folders is there before all are read."""
    files = [list(shard.files) for shard in shards]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                with TemporaryDirectory() as place:
                    target = Path(place) / "shard"
                    job.run(CorpusShard(files[number], target))
                    yield from _chunks(number, target)

    frame = spark.range(0, len(shards), 1, len(shards)).mapInArrow(run, _SCHEMA)
    with working_folder(folder or shards[0].folder.parent, "from-spark-") as cache:
        frame = frame.persist()  # or from_spark, which first looks at some rows, works twice
        try:
            found = Dataset.from_spark(frame, cache_dir=str(cache))
            yield from _put_together(found, shards, cache)
        finally:
            frame.unpersist()


def _chunks(shard: int, folder: Path) -> Iterator[pa.RecordBatch]:
    """Yield the files of a shard in pieces that fit into a row."""
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            start = 0
            while (content := file.read(_CHUNK_BYTES)) or not start:
                row = [[shard], [path.name], [start], [content]]
                columns = [pa.array(c, f.type) for c, f in zip(row, _ARROW_SCHEMA, strict=True)]
                yield pa.record_batch(columns, schema=_ARROW_SCHEMA)
                start += len(content)
                if not content:
                    break


def _put_together(dataset: Dataset, shards: Sequence[CorpusShard], cache: Path) -> Iterator[None]:
    """Put the folders of the shards together from pieces in any order; yield once for each."""
    for row in dataset:
        target = cache / str(row["shard"]) / row["name"]
        target.parent.mkdir(exist_ok=True)
        target.touch()
        with target.open("r+b") as file:
            file.seek(row["start"])
            file.write(row["content"])
    for number, shard in enumerate(shards):
        rmtree(shard.folder, ignore_errors=True)  # of a shard that is to be read again
        move(cache / str(number), shard.folder)  # perhaps from another file system
        yield
