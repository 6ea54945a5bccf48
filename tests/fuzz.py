"""Damage valid files of every format that is read, and see that each is read or refused in words.

    python tests/fuzz.py [--seconds 3600] [--readers papers,banks] [--keep FOLDER]

prints, for each reader, the inputs that were tried, how many were refused, what crashed, the
slowest and the largest growth of memory. A crash is any exception but those for users, an example
of more than ``MAX_S`` or ``MAX_GROWTH`` of memory; its file is kept in FOLDER, to become a fixture
in ``tests/fixtures/fuzz/READER/``.
"""

import argparse
import faulthandler
import gzip
import json
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import abstract_samples
import paper_samples
import pyarrow as pa
import pyarrow.parquet as pq
from archives import tar
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from nlihub.builders.annotation.answers import read_answer_file
from nlihub.builders.annotation.batch import Batch
from nlihub.builders.annotation.questions import RELATION
from nlihub.builders.core.registry import get_builder
from nlihub.loaders.corpora.abstracts.read import read_abstracts
from nlihub.loaders.corpora.files import find_paper_files
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.corpora.papers.sentences import split_sentences
from nlihub.loaders.corpora.patterns.pattern_bank import find_pattern_bank, scan_pattern_bank
from nlihub.loaders.corpora.patterns.records import read_released_spacenli
from nlihub.loaders.errors import NLIHubError
from nlihub.metrics.functional import nli_report
from nlihub.metrics.inputs import MetricInputError
from nlihub.metrics.inputs.files import read_input_file
from release_files import bionli_rows, scinli_rows, write_csv, write_jsonl, write_small_bank

MAX_S = 2.0
MAX_GROWTH = 512 << 20
_LABELS = ["entailment", "neutral", "contradiction"]


@dataclass(frozen=True)
class Reader:
    """A reader of files, and valid files for it.

    Attributes:
        files: Valid files by name.
        read: Reads the file of a path to its end.
        beside: Files that stand beside it, whole.
    """

    files: dict
    read: object
    beside: dict = field(default_factory=dict)


def _exhaust(values):
    for _ in values:
        pass


def _written(name, write, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name, *arguments)
        return (Path(folder) / name).read_bytes()


def _parquet(rows):
    return _written("x.parquet", lambda path: pq.write_table(pa.Table.from_pylist(rows), path))


def _releases():
    scinli, bionli = scinli_rows("test")[:12], bionli_rows("test")[:12]
    parts = {
        part.source.dataset: part.read
        for name in ("scinli", "bionli")
        for part in get_builder(name).parts()
        if (part.source.dataset, part.source.name) == (name, "test")
    }
    texts = {"premises": "A fox is in the barn.", "hypothesis": "It is in the barn."}
    problem = {"id": "1-0", "prem_num": 1, "subs": {"X": "a fox"}, "ent_type": "Dir", "exp": "in"}
    problem |= texts | {"label": "entailment"}
    files = {
        "scinli.jsonl": _written("test.jsonl", write_jsonl, scinli),
        "scinli.csv": _written("test.csv", write_csv, scinli),
        "bionli.csv": _written("test.csv", write_csv, bionli),
        "spacenli.json": json.dumps({"data": [problem] * 3}).encode(),
    }
    parts["spacenli"] = read_released_spacenli
    return Reader(files, lambda path: _exhaust(parts[path.stem](path)))


def _papers():
    plain = abstract_samples.json_lines(paper_samples.PLAIN, paper_samples.FLAT).encode()
    split, jats = paper_samples.SPLIT_XML.encode(), paper_samples.JATS.encode()
    files = {
        "a.tei.xml": paper_samples.TEI.encode(),
        "b.tei.xml": paper_samples.TEI_SPLIT.encode(),
        "c.nxml": jats,
        "d.xml": split,
        "e.jsonl": plain,
        "f.jsonl.gz": gzip.compress(plain),
        "g.tar.gz": tar({"d.xml": split, "c.nxml": jats}, "w:gz"),
        "h.parquet": _parquet([{"id": "a", "abstract": "Foxes run. Hens fly.", "text": "Go."}]),
    }

    def read(path):
        for file in find_paper_files([path]):
            _exhaust(read_papers(file, split_sentences))

    return Reader(files, read)


def _abstracts():
    files = {
        "a.pubtator": abstract_samples.pubtator().encode(),
        "b.json": json.dumps({"documents": [abstract_samples.bioc()]}).encode(),
        "c.xml": abstract_samples.bioc_xml(abstract_samples.bioc()).encode(),
        "d.jsonl": abstract_samples.json_lines(abstract_samples.RECORD).encode(),
        "e.txt.gz": gzip.compress(abstract_samples.pubtator().encode()),
    }
    return Reader(files, lambda path: _exhaust(read_abstracts([path])))


def _banks():
    with tempfile.TemporaryDirectory() as folder:
        bank = write_small_bank(Path(folder) / "bank")
        files = {path.name: path.read_bytes() for path in bank.iterdir() if path.suffix != ".csv"}

    def read(path):
        scan_pattern_bank(*find_pattern_bank(path.parent))

    return Reader(files, read, beside=files)


def _predictions():
    rows = [
        {"id": f"r{n}", "prediction": _LABELS[n % 3], "reference": _LABELS[n % 2]}
        | {"probability_neutral": 0.25}
        for n in range(12)
    ]
    files = {
        "a.csv": _written("a.csv", write_csv, rows),
        "b.jsonl": _written("b.jsonl", write_jsonl, rows),
        "c.parquet": _parquet(rows),
    }

    def read(path):
        table = read_input_file(path)
        nli_report(predictions="prediction", references="reference", labels=_LABELS, data=table)

    return Reader(files, read)


def _sheets():
    columns = "id,premise,hypothesis,answer,completed_premise,completed_hypothesis,comment"
    rows = ["k1,A fox.,It runs.,neutral,,,", "k2,A hen.,It runs.,,,,x"]
    sheet = "\r\n".join([columns, *rows])
    texts = {"pair": "k1", "premise": "A fox.", "hypothesis": "It runs."}
    choice = {"from_name": "answer", "type": "choices", "value": {"choices": ["neutral"]}}
    task = {"id": 1, "data": texts, "annotations": [{"completed_by": 1, "result": [choice]}]}
    files = {
        "annotator-1.csv": sheet.encode("utf-8-sig"),
        "a.json": json.dumps([task, task]).encode(),
    }

    def read(path):
        read_answer_file(path, Batch(path.parent, RELATION, 1, {}, {}))

    return Reader(files, read)


READERS = {
    "releases": _releases,
    "papers": _papers,
    "abstracts": _abstracts,
    "banks": _banks,
    "predictions": _predictions,
    "sheets": _sheets,
}

#: What stands where it should not: numbers too large, marks of every format, halves of characters.
_PIECES = [
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"'"),
    *(b"<", b">", b"&", b"</", b"<!--", b"]]>", b"<![CDATA[", b"&#0;", b"&lol;", b"<!DOCTYPE a ["),
    *(b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\ud800", b"null", b"NaN", b"1e999", b"-1"),
    *(b"9" * 5000, b"[" * 5000, b"{" * 3000, b"<a>" * 3000, b"x" * 100_000, b" not" * 2000),
    *(b"1" * 25, b"true", b"\xe2\x80\xa8", b"&!?*", b"*a", b"!!python/object:os.system"),
    *(b"|" * 99, b"&a [*a]"),
]
_KINDS = ["insert", "replace", "delete", "double", "flip", "cut", "swap", "repeat"]
_SHARES = st.floats(0, 1, allow_nan=False)
_STEPS = st.tuples(st.sampled_from(_KINDS), _SHARES, st.integers(1, 400), st.sampled_from(_PIECES))


def damage(content, steps):
    """Return a content after some steps of damage, each at a share of its length."""
    for kind, where, size, piece in steps:
        at = int(where * len(content))
        before, here, behind = content[:at], content[at : at + size], content[at + size :]
        content = {
            "insert": before + piece + here + behind,
            "replace": before + piece + behind,
            "delete": before + behind,
            "double": before + here * 2 + behind,
            "flip": before + bytes(byte ^ 1 << size % 8 for byte in here[:1]) + here[1:] + behind,
            "cut": before,
            "swap": behind + here + before,
            "repeat": before + here * min(2000, 1 + (1 << 17) // max(len(here), 1)) + behind,
        }[kind]
    return content


class CrashError(AssertionError):
    """A file that is neither read nor refused in words, or not within the bounds."""


@dataclass
class Tally:
    """What happened to the inputs of a reader.

    Attributes:
        n_tried: Inputs tried.
        n_refused: Those refused with an error for users.
        slowest_s: Seconds that the slowest took.
        growth: Largest growth of the peak of memory by one of them, in bytes.
        crashes: What crashed: the file, and the error.
    """

    n_tried: int = 0
    n_refused: int = 0
    slowest_s: float = 0.0
    growth: int = 0
    crashes: dict = field(default_factory=dict)


def read_damaged(reader, name, content, tally):
    """Read a damaged file, alone in a folder but for what stands beside it.

    Raises:
        CrashError: It is neither read nor refused in words, or takes too long or too much memory.
    """
    with tempfile.TemporaryDirectory() as folder:
        for other, whole in reader.beside.items():
            (Path(folder) / other).write_bytes(whole)
        path = Path(folder) / name
        path.write_bytes(content)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        faulthandler.dump_traceback_later(60, exit=True)
        tally.n_tried += 1
        try:
            reader.read(path)
        except (NLIHubError, MetricInputError):
            tally.n_refused += 1
        except Exception as error:
            raise CrashError(f"{name}: {type(error).__name__}: {str(error)[:200]}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
            took_s = time.process_time() - started
            growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) << 10
            tally.slowest_s = max(tally.slowest_s, took_s)
            tally.growth = max(tally.growth, growth)
    if took_s > MAX_S:
        raise CrashError(f"{name}: it took {took_s:.1f} s.")
    if growth > MAX_GROWTH:
        raise CrashError(f"{name}: it took {growth >> 20:,} MB.")


def fuzz(reader, n_examples, number, tally, keep):
    """Try so many damaged files; what crashes is told in ``tally``, and kept."""

    @seed(number)
    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(sorted(reader.files)), st.lists(_STEPS, min_size=1, max_size=5))
    def run(name, steps):
        content = damage(reader.files[name], steps)
        try:
            read_damaged(reader, name, content, tally)
        except CrashError as error:
            tally.crashes[name] = str(error)
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{number}-{len(tally.crashes)}-{name}").write_bytes(content)

    run()


def main():
    """Fuzz each reader for its share of the time, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--keep", type=Path)
    given_ = parser.parse_args()
    names = given_.readers.split(",")
    print("| reader | inputs | refused | crashes | slowest, ms | memory, MB |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    n_crashes = 0
    for name in names:
        reader, tally = READERS[name](), Tally()
        end = time.monotonic() + given_.seconds / len(names)
        number = 0
        while time.monotonic() < end:
            number += 1
            keep = given_.keep / name if given_.keep else None
            fuzz(reader, 200, number, tally, keep)
        n_crashes += len(tally.crashes)
        print(
            f"| {name} | {tally.n_tried:,} | {tally.n_refused:,} | {len(tally.crashes)} "
            f"| {1000 * tally.slowest_s:,.0f} | {tally.growth >> 20:,} |",
            flush=True,
        )
        for file, crash in tally.crashes.items():
            print(f"{file}: {crash}", file=sys.stderr)
    sys.exit(n_crashes > 0)


if __name__ == "__main__":
    main()
