"""Files that declare or unpack to far more than they have: refused at once, leaving nothing."""

import gzip
import tarfile
import time
from pathlib import Path

import pytest
from nlihub.loaders.bounds import MAX_TOKEN_BYTES
from nlihub.loaders.corpora.files import find_paper_files
from nlihub.loaders.corpora.papers.paper import SkippedPaper
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.corpora.papers.sentences import split_sentences
from nlihub.loaders.errors import NotDataError, ReleaseError
from nlihub.loaders.fetching.obtain import unpack
from nlihub.loaders.releases.scinli import LAYOUT
from nlihub.metrics.inputs.files import read_input_file
from nlihub.metrics.inputs.problems import MetricInputError

MOST_S = 2


@pytest.fixture(autouse=True)
def in_time():
    start = time.process_time()
    yield
    assert time.process_time() - start < MOST_S


def read(path: Path):
    return [one for file in find_paper_files([path]) for one in read_papers(file, split_sentences)]


def test_a_member_of_a_petabyte(tmp_path):
    for name, pack in (("one.xml", bytes), ("one.png", gzip.compress)):
        member = tarfile.TarInfo(name)
        member.size = 2**50
        content = member.tobuf(tarfile.GNU_FORMAT) + b"<PAPER></PAPER>".ljust(512, b"\0")
        (tmp_path / "papers.tar").write_bytes(pack(content))
        *_, last = read(tmp_path / "papers.tar")
        assert last.reason == "unreadable"


def test_a_tag_that_does_not_end_and_a_long_text(tmp_path):
    path = tmp_path / "paper.xml"
    path.write_bytes(b'<PAPER><S sid="' + b"1" * (20 * MAX_TOKEN_BYTES - 100) + b'">A.</S></PAPER>')
    (skipped,) = read(path)
    assert skipped.reason == "too large"
    assert f"{MAX_TOKEN_BYTES:,}" in skipped.detail
    path.write_bytes(b'<PAPER><S sid="1">' + b"A b. " * (MAX_TOKEN_BYTES // 4) + b"</S></PAPER>")
    (paper,) = read(path)
    assert not isinstance(paper, SkippedPaper)


@pytest.mark.parametrize("names", [["a"] * 100_000, [f"a{n}" for n in range(100_000)]])
def test_a_header_of_too_many_columns(tmp_path, names):
    path = tmp_path / "test.csv"
    path.write_text(f"{','.join(names)}\n")
    with pytest.raises(ReleaseError) as caught:
        list(LAYOUT.read(path))
    assert len(str(caught.value)) < 2_000
    with pytest.raises(MetricInputError) as caught:
        read_input_file(path)
    assert len(str(caught.value)) < 2_000


def test_a_bomb_leaves_nothing_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setitem(unpack.__globals__, "MAX_UNPACKED_BYTES", 1_000_000)
    path = tmp_path / "train.csv.gz"
    path.write_bytes(gzip.compress(bytes(5_000_000)))
    with pytest.raises(NotDataError, match="more than 1,000,000 bytes"):
        unpack(path, tmp_path / "cache")
    with pytest.raises(NotDataError, match="more than 10 bytes"):
        unpack(path, tmp_path / "cache", 10)
    assert not [one for one in (tmp_path / "cache").rglob("*") if one.is_file()]
