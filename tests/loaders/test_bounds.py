"""Files that declare or unpack to far more than they have: refused at once, leaving nothing."""

import gzip
import hashlib
import io
import json
import tarfile
import time
from pathlib import Path

import pytest
from nlihub.loaders.bounds import MAX_DIGITS, MAX_TOKEN_BYTES, is_whole_number
from nlihub.loaders.corpora.abstracts.abstract import Abstract
from nlihub.loaders.corpora.abstracts.read import read_abstracts
from nlihub.loaders.corpora.papers.files import find_paper_files
from nlihub.loaders.corpora.papers.paper import SkippedPaper
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.corpora.papers.sentences import split_sentences
from nlihub.loaders.errors import ChecksumError, NotDataError, ReleaseError
from nlihub.loaders.fetching import Source, Variant, local, obtain
from nlihub.loaders.fetching.local import unpack
from nlihub.loaders.releases.scinli import LAYOUT
from nlihub.metrics.inputs.files import read_input_file
from nlihub.metrics.inputs.problems import MetricInputError

MOST_S = 2


@pytest.fixture(autouse=True)
def in_time():
    start = time.monotonic()
    yield
    assert time.monotonic() - start < MOST_S


def read(path: Path):
    return [one for file in find_paper_files([path]) for one in read_papers(file, split_sentences)]


@pytest.mark.parametrize("ending", [".tar", ".tar.gz"])
@pytest.mark.parametrize("is_paper", [True, False])
def test_a_member_of_a_petabyte(tmp_path, ending, is_paper):
    member = tarfile.TarInfo("one.xml" if is_paper else "one.pdf.png")
    member.size = 2**50
    content = member.tobuf(tarfile.GNU_FORMAT) + b"<PAPER></PAPER>".ljust(512, b"\0")
    path = tmp_path / f"papers{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    *_, last = read(path)
    assert isinstance(last, SkippedPaper)
    assert last.reason == "unreadable"


def test_a_whole_archive_is_read_to_its_end(tmp_path):
    path = tmp_path / "papers.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(40):
            content = f'<PAPER><S sid="1">Sentence {number}.</S></PAPER>'.encode()
            member = tarfile.TarInfo(f"{number}.xml")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert len(read(path)) == 40


def test_a_tag_that_does_not_end(tmp_path):
    path = tmp_path / "paper.xml"
    path.write_bytes(b'<PAPER><S sid="' + b"1" * (20 * MAX_TOKEN_BYTES - 100) + b'">A.</S></PAPER>')
    (skipped,) = read(path)
    assert skipped.reason == "too large"
    assert f"{MAX_TOKEN_BYTES:,}" in skipped.detail


def test_a_long_text_is_no_long_tag(tmp_path):
    path = tmp_path / "paper.xml"
    path.write_bytes(b'<PAPER><S sid="1">' + b"A b. " * (MAX_TOKEN_BYTES // 4) + b"</S></PAPER>")
    (paper,) = read(path)
    assert not isinstance(paper, SkippedPaper)


PUBTATOR = "1|t|A title.\n1|a|A text of foxin.\n1\t{start}\t{end}\tfoxin\tGene\tG1\n\n"


@pytest.mark.parametrize("n_digits", [MAX_DIGITS + 1, 5_000])
def test_an_offset_of_thousands_of_digits_is_a_defect_of_its_line(tmp_path, n_digits):
    path = tmp_path / "a.pubtator"
    good = PUBTATOR.format(start=19, end=24)
    bad = PUBTATOR.format(start=19, end="9" * n_digits).replace("1\t", "1\t").replace("1|", "1|")
    path.write_text(bad.replace("1|", "2|").replace("\n1\t", "\n2\t") + good)
    found = list(read_abstracts([path]))
    assert [one.pmid for one in found if isinstance(one, Abstract)] == ["2", "1"]
    (skipped,) = [one for one in found if not isinstance(one, Abstract)]
    assert (skipped.reason, skipped.line) == ("malformed", 3)


def test_a_length_of_thousands_of_digits_in_bioc(tmp_path):
    document = {
        "id": "1",
        "passages": [
            {
                "infons": {"type": "title"},
                "offset": 0,
                "text": "Foxin is found.",
                "annotations": [
                    {
                        "id": "1",
                        "infons": {"type": "Gene", "identifier": "G1"},
                        "text": "Foxin",
                        "locations": [{"offset": 0, "length": "9" * 5_000}],
                    }
                ],
            },
            {"infons": {"type": "abstract"}, "offset": 16, "text": "So it is.", "annotations": []},
        ],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"documents": [document]}))
    found = list(read_abstracts([path]))
    assert [one.pmid for one in found if isinstance(one, Abstract)] == ["1"]
    (skipped,) = [one for one in found if not isinstance(one, Abstract)]
    assert skipped.reason == "malformed"


@pytest.mark.parametrize("text", ["", "-1", "1.5", "\u0663", "1" * (MAX_DIGITS + 1), " 1"])
def test_what_is_no_whole_number(text):
    assert not is_whole_number(text)


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
    monkeypatch.setattr(local, "MAX_UNPACKED_BYTES", 1_000_000)
    path = tmp_path / "train.csv.gz"
    path.write_bytes(gzip.compress(bytes(5_000_000)))
    with pytest.raises(NotDataError, match="more than 1,000,000 bytes"):
        unpack(path, tmp_path / "cache")
    with pytest.raises(NotDataError, match="more than 10 bytes"):
        unpack(path, tmp_path / "cache", 10)
    assert not [one for one in (tmp_path / "cache").rglob("*") if one.is_file()]


def test_what_is_refused_after_it_was_unpacked_leaves_nothing(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"another content"))
    pin = hashlib.sha256(b"the content").hexdigest()
    source = Source("toy", "a", (Variant("a.csv", (), sha256=pin),), instructions="Ask.")
    with pytest.raises(ChecksumError):
        obtain(source, place=tmp_path, cache_dir=tmp_path / "cache")
    assert not [one for one in (tmp_path / "cache").rglob("*") if one.is_file()]
