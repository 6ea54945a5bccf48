"""Large files of abstracts, cut into parts: together they give what the whole file gives."""

import gzip

import pytest
from abstract_corpus import make_abstract
from hypothesis import given
from hypothesis import strategies as st
from nlihub.loaders.bounds import MAX_RECORD_BYTES
from nlihub.loaders.corpora.abstracts.abstract import ReadUnit
from nlihub.loaders.corpora.abstracts.read import cut_file, read_part
from nlihub.loaders.corpora.files import find_paper_files

LINES = (
    *(
        b"1|t|On hens.",
        b"234|t|Long id.",
        b"2|t|",
        b"1|a|We gave foxin.",
        b"2|a|None.",
        b"3|a|No title.",
    ),
    *(b"\xef\xbb\xbf4|t|A mark.", b"5|t|Not \xff UTF-8", b"1\t3\t7\thens\tSpecies\t1"),
    *(b"2\tPPI\ta\tb", b"", b"  ", b"a line", b"\r", b"6|t|Carriage return.\r", b"x|y|z"),
)


def units_of_parts(file, part_bytes):
    """What the parts of a file give."""
    found = [unit for part in cut_file(file, part_bytes) for unit in read_part(part)]
    return [ReadUnit(unit, list(skipped)) for unit, skipped in found]


def whole(file):
    return [ReadUnit(unit, list(skipped)) for unit, skipped in read_part(file)]


@given(
    lines=st.lists(st.sampled_from(LINES), max_size=30),
    part_bytes=st.integers(1, 200),
    ends=st.booleans(),
)
def test_parts_give_what_the_file_gives(tmp_path_factory, lines, part_bytes, ends):
    path = tmp_path_factory.mktemp("parts") / "a.pubtator"
    path.write_bytes(b"\n".join([b"0|t|First.", *lines]) + b"\n" * ends)
    (file,) = find_paper_files([path])
    assert units_of_parts(file, part_bytes) == whole(file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pubtator.gz", gzip.compress(make_abstract(1).encode() * 9)),
        ("a.jsonl", b'{"pmid": 1}\n' * 40),
        ("a.json", b'{"PubTator3": []}' + b" " * 400),
        ("a.xml", b"<collection>" + b" " * 400 + b"</collection>"),
        ("a.bin", b"nothing that is known" * 40),
    ],
)
def test_what_is_packed_or_of_another_format_is_not_cut(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    (file,) = find_paper_files([path])
    assert cut_file(file, 100) == [file]


def test_a_line_that_is_too_large_begins_no_part(tmp_path):
    path = tmp_path / "a.pubtator"
    path.write_bytes(b"1|t|One.\n2|t|" + b"x" * MAX_RECORD_BYTES + b"\n3|t|Three.\n4|t|Four.\n")
    (file,) = find_paper_files([path])
    parts = cut_file(file, 20)
    assert [part.n_lines_before for part in parts] == [0, 2, 3]
    assert units_of_parts(file, 20) == whole(file)
