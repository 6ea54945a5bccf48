"""Large versions: little of them is held in memory, and all is found in them that was before."""

import hashlib
import random
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import growth_of_peak
from nlihub.builders.core.base import Batch, NLIBuilder, Rows
from nlihub.builders.core.options import BuildOptions
from nlihub.builders.core.row_digests import digest, order_digest
from nlihub.builders.core.schema import TEXTS, encode
from nlihub.builders.scinli import SciNLI
from nlihub.builders.versions import write
from nlihub.builders.versions.row_tables import measure_statistics, open_rows
from nlihub.builders.versions.verify import verify_version
from nlihub.builders.versions.version import BuiltVersion
from nlihub.builders.versions.write import build_version
from nlihub.loaders.errors import VerificationError
from small_versions import build_rows
from test_verify import TEST, edit_rows

N_ROWS, N_CHARS, N_PARTS = 50_000, 2_000, 10


class LongRows(Rows):
    """100 MB of texts that do not compress well, the last tenth of them for the test."""

    sources = ()
    parameters = {}  # noqa: RUF012

    def batches(self):
        rng = random.Random(0)
        n = N_ROWS // N_PARTS
        for part in range(N_PARTS):
            columns = {
                "id": [f"{part}-{row}" for row in range(n)],
                "premise": [rng.randbytes(N_CHARS // 2).hex() for _ in range(n)],
                "hypothesis": [f"Hypothesis {row}." for row in range(n)],
                "label": [SciNLI.SPEC.labels[row % 4] for row in range(n)],
                "group": pa.nulls(n),
                "category": pa.nulls(n),
                "domain": ["acl"] * n,
                "source": pa.nulls(n),
            }
            split = "test" if part == N_PARTS - 1 else "train"
            yield Batch(encode(columns, SciNLI.SPEC.features), {("default", split): None})


def measure(version):
    with open_rows(version) as tables:
        return measure_statistics(tables)


class LongSciNLI(NLIBuilder):
    SPEC = SciNLI.SPEC

    @classmethod
    def make_rows(cls, options):
        return LongRows()


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory):
    """A version with many groups of rows, each of which is read at once."""
    options = BuildOptions(configs=("default",), splits=("train", "test"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "_ROW_GROUP_ROWS", 5_000)
        return build_version(LongSciNLI, tmp_path_factory.mktemp("long"), options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "work", ["verify_version(Path({!r}))", "measure(BuiltVersion(Path({!r})))"]
)
def test_memory_does_not_grow_with_the_texts(long_texts, built, work, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "100MB")  # of more, SQL keeps more of the files
    n_bytes = sum(split.arrow_bytes for split in long_texts.manifest.configs["default"].values())
    assert n_bytes > 100e6
    setup = f"""
    import sys
    from pathlib import Path
    sys.path = {sys.path!r}
    from test_large_versions import measure
    from nlihub.builders.versions.verify import verify_version
    from nlihub.builders.versions.version import BuiltVersion
    {work.format(str(built))}  # loads what is loaded on first use
    """
    code = f"found = {work.format(str(long_texts.folder))}"
    assert growth_of_peak(setup, code) < 0.6 * n_bytes


@pytest.mark.slow
def test_only_counts_and_sources_differ_from_the_published_ones(long_texts):
    failed = [o.check for o in verify_version(long_texts.folder).outcomes if not o.passed]
    assert failed == [
        "rows are the published ones",
        "counts are the published ones",
        "sources are those of the dataset",
    ]
    [overlap] = measure(long_texts).overlaps
    assert (overlap.texts, overlap.premises, overlap.hypotheses, overlap.groups) == (0, 0, 5000, 0)


@pytest.mark.parametrize("columns", [None, ["premise", "label"]])
@pytest.mark.parametrize("max_rows", [7_000, 100_000])
def test_batches_are_the_table(built, columns, max_rows):
    version = BuiltVersion(built)
    batches = list(version.batches("default", "test", columns, max_rows))
    assert max(map(len, batches)) == min(max_rows, 33_000)
    table = version.table("default", "test", columns)
    found = pa.concat_tables(batches)
    assert found == table
    assert found.schema.equals(table.schema, check_metadata=True)


def test_batches_of_what_cannot_be_read(built, tmp_path):
    folder = tmp_path / "open_spacenli"
    shutil.copytree(built, folder)
    version = BuiltVersion(folder)
    pq.write_table(pq.read_schema(folder / TEST).empty_table(), folder / TEST)
    [batch] = version.batches("default", "test", ["id"])
    assert batch.schema.names == ["id"]
    assert not len(batch)
    (folder / TEST).write_text("PAR1")
    with pytest.raises(VerificationError, match="cannot be read as Parquet"):
        list(version.batches("default", "test"))
    (folder / TEST).unlink()
    with pytest.raises(VerificationError, match="cannot be read as Parquet"):
        list(version.batches("default", "test"))


@pytest.mark.slow
def test_findings_name_rows_wherever_they_are(built, tmp_path):
    folder = tmp_path / "open_spacenli"
    shutil.copytree(built, folder)
    rows = []

    def repeat(changed):
        for n, row in enumerate(range(20_000, 20_012)):
            for column in TEXTS:
                changed[row][column] = changed[n][column]
            changed[row]["label"] = (changed[n]["label"] + (n < 2)) % 3
        changed[32_000]["id"] = changed[5]["id"]
        rows.extend(changed)

    def leak(changed):
        for column in TEXTS:
            changed[16_000][column] = train[12_000][column]

    edit_rows(folder, repeat)
    train = pq.read_table(folder / "few_shot/train-00000-of-00001.parquet").to_pylist()
    edit_rows(folder, leak, "few_shot/test-00000-of-00001.parquet")
    found = {o.check: o.findings for o in verify_version(folder).outcomes}
    repeated = [
        f"{rows[n]['id']}, {rows[20_000 + n]['id']}: {rows[n]['premise']} {rows[n]['hypothesis']}"
        for n in range(10)
    ]
    assert found["repeated texts"] == (*repeated, "and 2 more")
    texts = [tuple(row[column] for column in TEXTS) for row in rows[:2]]
    assert found["no text has two labels"] == tuple(
        f"{text} has more than one label" for text in texts
    )
    leaked = tuple(train[12_000][column] for column in TEXTS)
    assert found["no example is in two splits"] == (f"few_shot: {leaked} is in train and in test",)
    assert found["ids are unique"][0] == f"id {rows[5]['id']!r} occurs twice in a config"


@settings(deadline=None, max_examples=20)
@given(st.lists(st.text("aé \t\n\v\f\r\x1c\u3000", min_size=1), min_size=1))
def test_words_are_split_at_spaces(tmp_path_factory, texts):
    rows = [{"label": "neutral", "premise": text} for text in texts]
    version = build_rows(tmp_path_factory.mktemp("words"), SciNLI.SPEC, {"test": rows})
    expected = sum(len(list(filter(None, text.split(" ")))) for text in texts) / len(texts)
    assert measure(version).mean_words["premise"] == round(expected, 1)


@given(st.lists(st.binary(min_size=31, max_size=31)), st.sampled_from([b"\0", b"\xff", b" "]))
def test_digests_of_hashes_however_they_are_joined(starts, end):
    hashes = [start + end for start in starts]
    expected = hashlib.sha256(b"".join(sorted(hashes))).hexdigest()
    assert digest(hashes) == digest([b"".join(hashes)]) == expected
    assert order_digest(hashes) == order_digest([b"".join(hashes)])
