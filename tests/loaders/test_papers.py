import gzip
import hashlib
import json
import os
import re

import paper_samples as samples
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives import COMPRESSORS, tar
from conftest import shared_data
from memory import growth_of_peak
from nlihub.loaders.bounds import MAX_RECORD_BYTES, MAX_TAGS, MAX_VALUES
from nlihub.loaders.corpora.files import find_paper_files
from nlihub.loaders.corpora.papers.paper import (
    REASONS,
    Paper,
    SkippedPaper,
    id_from_name,
    parse_year,
    year_of_anthology_id,
)
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.errors import SourceNotFoundError


def split(text):
    return [s for s in re.split(r"(?<=[.:])\s+", text.strip()) if s]


@pytest.fixture
def read(tmp_path):
    """Writes a file and reads it; everything that comes of it is checked for form."""

    def write_and_read(content, name="p.bin"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return everything(path)

    return write_and_read


def everything(path):
    found = [one for file in find_paper_files([path]) for one in read_papers(file, split)]
    for one in found:
        if isinstance(one, SkippedPaper):
            assert one.reason in REASONS and one.detail and one.file.startswith(str(path))
        else:
            assert one.id and one.sections
            assert all(section.paragraphs for section in one.sections)
            assert all(paragraph and all(paragraph) for paragraph in one.paragraphs())
    return found


def only(found):
    assert len(found) == 1, found
    return found[0]


def prose(paper):
    """Each section in a line: its title, and paragraphs of sentences."""
    paragraphs = (" / ".join(map(" | ".join, section.paragraphs)) for section in paper.sections)
    titles = (section.title for section in paper.sections)
    return [f"{title}: {text}" for title, text in zip(titles, paragraphs, strict=True)]


def lines(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


# Formats


def test_tei_is_read_as_prose(read):
    paper = only(read(samples.TEI, "N18-3011.tei.xml"))
    assert (paper.id, paper.year, paper.domain, paper.line) == ("N18-3011", 2019, None, 0)
    assert prose(paper) == [
        "Abstract: Foxes run. | However, hens fly.",
        "Introduction: A fox (Hen et al., 2001) is red. | A hen is seen in Figure 3 as in [4, 5] . "
        "/ Its speed is v = s / t where s is the way. | Then it rests. a = b / Hens differ.",
        "Method: We take: / One fox. / Two hens. / and no geese.",
    ]
    body = "<p>A <quote>says</quote> B.</p><quote><p>No.</p></quote><p><p>C.</p></p>"
    text = f"<TEI><text><body><div>{body}</div></body></text></TEI>"
    assert prose(only(read(text, "x.xml"))) == [": A says B. / C."]
    paper = only(read(samples.TEI_SPLIT, "a.xml"))  # which tells its sentences
    assert (paper.id, paper.year) == ("a", None)
    assert prose(paper) == [
        "Abstract: Dr. Fox runs. | Dr. Hen flies.",
        "Speed: It runs at v = 3 which is fast. | It rests.",
    ]


def test_jats_is_read_as_prose(read):
    paper = only(read(samples.JATS, "x.nxml"))
    assert (paper.id, paper.year) == ("PMC77", 2011)
    assert prose(paper) == [
        "Aim: To see foxes.",
        "Result: They are \u03b1-red.",
        "Intro & more: Foxes carry a disease. | However, hens do not. | Geese do [4]. | There are "
        "8 \u00d7 10\u2074 foxes of the 2nd kind, H2O and Ca\u00b2\u207a. / "
        "The speed v is $v=1$ where 1 is s/t at least.",
        "Sub one: We list: / A fox. / A hen. / These are all.",
    ]


BOX = "<boxed-text><sec><title>Box</title><p>C.</p></sec></boxed-text>"
CAPTION = "<boxed-text><caption><title>No</title></caption><p>B.</p></boxed-text>"
FLOATS = (
    "<boxed-text><title>Box</title><p>A.</p></boxed-text><fig><caption><p>No.</p></caption></fig>"
)
QUOTE = "<disp-quote><p>No.</p></disp-quote>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<p>A. B.</p>{BOX}<p>D.</p>", ["S: A. | B.", "Box: C.", "S: D."]),
        (f"<p>A.{CAPTION} C.</p>", ["S: A.", "S: B.", "S: C."]),
        (f"</sec></body><floats-group>{FLOATS}</floats-group><body><sec>", ["Box: A."]),
        ("<p><p>A. B.</p></p>", ["S: A. | B."]),
        ("<p>A. <p>B.</p> C.</p>", ["S: A. / B. / C."]),
        (f"<p>A: {QUOTE} B.</p>{QUOTE}<speech><p>No.</p></speech><p>C.</p>", ["S: A: / B. / C."]),
    ],
)
def test_boxes_and_nested_paragraphs_of_jats_are_read_and_quotations_are_not(read, body, expected):
    text = f"<article><body><sec><title>S</title>{body}</sec></body></article>"
    assert prose(only(read(text, "x.nxml"))) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("pmcid", "PMC5", ("PMC5", None)),
        ("doi", "10.1/x", ("10.1/x", None)),
        ("pmid", "5", ("W04-1013", 2004)),
    ],
)
def test_jats_has_its_best_id(read, kind, text, expected):
    meta = f'<article-meta><article-id pub-id-type="{kind}">{text}</article-id></article-meta>'
    text = f"<article><front>{meta}</front><body><p>A.</p></body></article>"
    paper = only(read(text, "W04-1013.nxml"))
    assert (paper.id, paper.year) == expected


def test_split_xml_keeps_its_sentences(read):
    paper = only(read(samples.SPLIT_XML, "P98-1046.xml"))
    assert (paper.id, paper.year) == ("P98-1046", 1998)
    assert prose(paper) == [
        'Abstract: A fox is a "fox" &R; \u00e9. | However, a hen is not.',
        "1 Introduction: Foxes run.",
        "1.1 Hens.: Hens fly.",
        "1.2 Geese: Geese swim.",
    ]


ABSTRACT = "Abstract: Foxes run."
IN_2020 = [ABSTRACT, "1 Intro: A fox [1]  is red. / A hen flies.", "1 Intro: It came back."]


@pytest.mark.parametrize(
    ("record", "year", "expected"),
    [
        (samples.S2ORC_2019, 2017, [ABSTRACT, ": A fox is red. | It runs. / A hen flies."]),
        (samples.S2ORC_2020, None, IN_2020),
        (samples.S2ORC_2021, 2011, [ABSTRACT, ": A fox is red."]),
    ],
)
def test_s2orc_alone_and_in_shards(read, record, year, expected):
    for indent in (None, 2):
        alone = only(read(json.dumps(record, indent=indent), "s.json"))
        assert (alone.id, alone.year, alone.line) == (record["paper_id"], year, 0)
        assert prose(alone) == expected
    first, second = read(lines(record, record), "shard")
    assert (first.line, second.line) == (1, 2)
    assert prose(first) == prose(second) == expected


@pytest.mark.parametrize(
    ("part", "heading"), [("content", "sectionheader"), ("body", "section_header")]
)
def test_s2orc_as_the_datasets_api_serves_it(read, part, heading):
    record = samples.s2orc_of_the_api(part, heading)
    told = record[part]["annotations"]

    def annotated(**annotations):
        return {**record, part: {**record[part], "annotations": {**told, **annotations}}}

    spans = json.loads(told["paragraph"])
    texts = [{name: str(value) for name, value in one.items()} for one in spans]
    lists = annotated(**{name: json.loads(value or "[]") for name, value in told.items()})
    broken = ["[{", '{"a": 1}', "[3]", '[{"start": 5, "end": 4}]', '[{"start": 0, "end": 999}]']
    records = [
        record,
        lists,
        annotated(paragraph=json.dumps(texts)),
        annotated(**dict.fromkeys(told)),
    ]
    records += [annotated(paragraph=value) for value in broken]
    paper, same, again, without, *skipped = read(lines(*records))
    assert (paper.id, paper.year, paper.line) == ("7", None, 1)
    assert prose(paper) == prose(same) == prose(again)
    assert prose(paper) == [
        "Abstract: Foxes run. | They rest.",
        "Intro: A fox is red. / A hen flies.",
    ]
    assert without.reason == "no text"
    assert [one.reason for one in skipped] == ["malformed"] * len(broken)
    assert all(f"{part}.annotations.paragraph" in one.detail for one in skipped)


def test_s2orc_falls_back_to_what_else_it_has(read):
    record = {**samples.S2ORC_2019, "latex_parse": {"body_text": [{"text": "From TeX."}]}}
    record["grobid_parse"] = None
    assert prose(only(read(json.dumps(record)))) == ["Abstract: Not this one.", ": From TeX."]


def test_plain_papers(read):
    gaps = {"id": "a", "abstract": ["", "A."], "sentences": ["B.", " \n", ""]}
    paper, flat, without_gaps = read(lines(samples.PLAIN, samples.FLAT, gaps))
    assert (paper.id, paper.year, paper.domain, paper.line) == ("a1", 2020, "acl", 1)
    assert prose(paper) == [
        "Intro: Dr. Fox runs. | He rests. / Foxes run. | Hens fly.",
        "Method: Dr. Hen  flies.",
        ": Geese swim. | Ducks swim. / Foxes rest.",
    ]
    assert (flat.id, flat.year, flat.domain, flat.line) == ("7", None, None, 2)
    assert prose(flat) == ["Abstract: Foxes run. | Hens fly.", ": Geese swim."]
    assert prose(without_gaps) == ["Abstract: A.", ": B."]


def test_plain_papers_in_parquet(tmp_path):
    path = tmp_path / "p.parquet"
    sections = [{"title": "Intro", "paragraphs": [["A.", "B."], ["C."]], "text": None}]
    nested = {"id": "a", "year": 2020.0, "domain": "acl", "sections": sections}
    rows = [nested, {**nested, "id": "b", "year": None, "sections": []}]
    pq.write_table(pa.Table.from_pylist(rows), path)
    paper, skipped = everything(path)
    assert (paper.id, paper.year, paper.domain, paper.line) == ("a", 2020, "acl", 1)
    assert prose(paper) == ["Intro: A. | B. / C."]
    assert (skipped.line, skipped.reason) == (2, "no text")
    bad = pa.array([b"A. B.", b"\xff.", b"C."]).view(pa.string())  # no UTF-8
    flat = {"id": [1, 2, 3], "year": ["1999", "?", None], "domain": ["x", None, None], "text": bad}
    pq.write_table(pa.table({**flat, "other": [0, 0, 0]}), path)
    one, skipped, three = everything(path)
    assert (one.id, one.year, one.domain, prose(one)) == ("1", 1999, "x", [": A. | B."])
    assert (skipped.line, skipped.reason) == (2, "malformed")
    assert (three.id, three.year, three.domain) == ("3", None, None)
    pq.write_table(pa.table({"id": ["a"], "body": ["A."]}), path)
    assert only(everything(path)).detail == "the columns are id, body"


# Containers


@pytest.mark.parametrize(
    ("content", "name"),
    [(samples.TEI, "a.tei.xml"), (json.dumps(samples.S2ORC_2021), "a.json")],
)
def test_compressed_files(read, content, name):
    plain = only(read(content, name))
    for ending, compress in COMPRESSORS.items():
        packed = only(read(compress(content.encode()), f"{name}.{ending}"))
        assert (packed.id, prose(packed)) == (plain.id, prose(plain))


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_archives_are_read_to_the_end(read, mode):
    members = {
        "./acl/P98-1046.xml": samples.SPLIT_XML,
        "acl/broken.xml": "<PAPER><S>",
        "acl/README.md": "no paper",
        ".hidden/a.xml": samples.TEI,
        "link.xml": None,
        "cut.json.gz": gzip.compress(json.dumps(samples.S2ORC_2021).encode())[:-9],
        "lines.jsonl": lines(samples.PLAIN, samples.FLAT),
        "inner.tar": tar({"a.xml": samples.TEI}),
        "b.xml.gz": gzip.compress(samples.TEI.encode()),
    }
    found = read(tar(members, mode), "all.tar")
    assert [f"{one.file.rpartition('all.tar/')[2]}:{one.line}" for one in found] == [
        *("./acl/P98-1046.xml:0", "acl/broken.xml:1", "link.xml:0", "cut.json.gz:0"),
        *("lines.jsonl:1", "lines.jsonl:2", "inner.tar:0", "b.xml.gz:0"),
    ]
    assert [one.id for one in found if isinstance(one, Paper)] == ["P98-1046", "a1", "7", "b"]
    reasons = [one.reason for one in found if isinstance(one, SkippedPaper)]
    assert reasons == ["malformed", "unreadable", "unreadable", "unknown format"]


def test_archives_that_are_damaged_or_hold_nothing(read):
    whole = tar({"a.xml": samples.SPLIT_XML, "b.xml": samples.SPLIT_XML})
    second = 512 + -(-len(samples.SPLIT_XML) // 512) * 512
    for damaged in (
        whole[:second],
        whole[: second + 100],
        whole[: second + 700],
        whole[:second] + b"x" * 512 + whole[second + 512 :],
    ):
        paper, *_, skipped = read(damaged)
        assert (paper.id, skipped.reason) == ("a", "unreadable")
    assert only(read(tar({"a.txt": "x"}))).reason == "no text"


# Bad input


EXTERNAL = '<!DOCTYPE PAPER [<!ENTITY x SYSTEM "secret">]><PAPER><S>&x;</S></PAPER>'
PARAMETER = '<!DOCTYPE PAPER [<!ENTITY % x SYSTEM "secret"> %x;]><PAPER/>'
DEEP = f"<TEI><text><body>{'<p>' * 9000}{'</p>' * 9000}</body></text></TEI>"
#: Content, the line where it is wrong, and what is said, by reason; files of JSON begin with {.
BAD = {
    "no text": [
        ("", 0, "the file is empty"),
        ("<TEI/>", 0, "the paper 'a' has no sentence"),
        ("<article/>", 0, "the paper 'a' has no sentence"),
        ("<PAPER><S sid='0'>A title</S></PAPER>", 0, "'a' has no sentence"),
    ],
    "unknown format": [
        (b"%PDF-1.5\n%\xe2\xe3", 0, "a PDF"),
        (b"PK\x03\x04abc", 0, "a zip archive"),
        (b"\0" * 600, 0, "begins with"),
        ("<!doctype HTML><p>Not found", 0, "a web page"),
        ("<rss/>", 1, "the root is <rss>, expected <PAPER>, <TEI>"),
        ("{}", 0, "the keys of the object are none"),
        ('{"corpusid": 1}', 0, "are 'corpusid'"),
        (gzip.compress(b"PAR1 and more", mtime=0), 0, "a Parquet file, compressed"),
    ],
    "malformed": [
        ("<PAPER><S>\n</PAPER>", 2, "mismatched tag"),
        ("<PAPER><S sid='1'>A.</S>", 1, "no element found"),
        (b"<PAPER><S>\xff</S></PAPER>", 1, "invalid token"),
        (b"<?xml version='1.0' encoding='klingon'?><PAPER/>", 1, "unknown encoding: klingon"),
        ("<PAPER><S>&nbsp;</S></PAPER>", 1, "undefined entity"),
        (samples.JATS.replace("nbsp", "fox"), 8, "&fox; is not known"),
        (samples.LAUGHS, 1, "declares the entity 'a'"),
        (EXTERNAL, 1, "declares the entity 'x'"),
        (PARAMETER, 1, "declares the entity 'x'"),
        (DEEP, 0, "too many to follow"),
        ("[1, 2]", 0, "expected a JSON object, got list"),
        ('{"id":\n"a"', 2, "not JSON"),
    ],
    "unreadable": [
        (gzip.compress(b"{}" * 99, mtime=0)[:-12], 0, "to its end"),
        (b"\x1f\x8bnot gzip", 0, "to its end"),
        (b"\xfd7zXZ\x00nothing", 0, "to its end"),
        (b"PAR1 and no more", 0, "to its end"),
    ],
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_files_are_reported(read, reason):
    for content, line, detail in BAD[reason]:
        skipped = only(read(content, "a.json" if content[:1] in ("{", "[") else "a.xml"))
        assert (skipped.reason, skipped.line) == (reason, line), skipped
        assert detail in skipped.detail


#: What is wrong with a line of JSON, and what is said.
BAD_LINES = [
    ("{", "not JSON"),
    ("7", "expected a JSON object, got int"),
    ('{"id": "a", "text": "\\ud800"}', "not JSON"),
    (b'{"id": "a", "text": "\xff"}', "not JSON"),
    ("[" * 2000, "not JSON"),
    ('{"id": " ", "text": "A."}', "id: expected text, got none"),
    ('{"id": true, "text": "A."}', "id: expected text, got bool"),
    ('{"id": "a", "text": 7}', "text: expected text, got int"),
    ('{"id": "a", "domain": 7, "text": "A."}', "domain: expected text, got int"),
    ('{"id": "a", "sentences": "A."}', "sentences: expected a list of sentences"),
    ('{"id": "a", "sentences": ["", 7]}', "expected sentences, got int"),
    ('{"id": "a", "abstract": [null]}', "abstract.sentences: expected sentences"),
    ('{"id": "a", "sections": {}}', "sections: expected a list, got dict"),
    ('{"id": "a", "sections": [7]}', "sections[0]: expected an object, got int"),
    ('{"id": "a", "sections": [{"txt": ""}]}', "got 'txt'"),
    ('{"id": "a", "sections": [{"title": 1, "text": "A."}]}', "sections[0].title: expected text"),
    ('{"id": "a", "sections": [{"paragraphs": [{"b": 1}]}]}', "expected a list of sentences, got"),
    ('{"id": "a", "paragraphs": "A."}', "paragraphs: expected a list, got str"),
    ('{"paper_id": "a", "body_text": 7}', "body_text: expected a list, got int"),
    ('{"paper_id": "a", "body_text": [7]}', "body_text[0]: expected an object"),
    ('{"paper_id": "a", "body_text": [{}]}', "body_text[0].text: expected text"),
    (
        '{"paper_id": "a", "body_text": [{"text": "A.", "section": 1}]}',
        "[0].section: expected text",
    ),
    ('{"paper_id": "a", "grobid_parse": 7}', "grobid_parse: expected an object"),
    ('{"paper_id": [], "body_text": []}', "paper_id: expected text, got list"),
    ('{"paper_id": "a", "metadata": [1], "body_text": []}', "metadata: expected an object"),
    ('{"id": "a", "text": ""}', "has no sentence"),
    ('{"id": "a", "sections": []}', "has no sentence"),
    ('{"paper_id": "a", "body_text": {}}', "has no sentence"),
    ('{"paper_id": "a", "grobid_parse": null}', "has no sentence"),
]


def test_a_bad_line_is_reported_and_the_rest_read(read):
    bad = [line if isinstance(line, bytes) else line.encode() for line, _ in BAD_LINES]
    content = [b"\xef\xbb\xbf" + lines(samples.FLAT), *(b"%b\n \n" % line for line in bad)]
    for name in ("a.jsonl", "a"):
        first, *skipped, last = read(b"".join([*content, lines(samples.PLAIN)]), name)
        assert (first.id, first.line, last.id) == ("7", 1, "a1")
        for number, (one, (line, detail)) in enumerate(zip(skipped, BAD_LINES, strict=True)):
            assert one.line == 2 + 2 * number
            assert one.reason == ("no text" if "no sentence" in detail else "malformed"), line
            assert detail in one.detail


def test_what_is_after_the_cut_of_a_shard_is_reported(read):
    content = b"".join(lines({"id": str(i), "text": os.urandom(64).hex()}) for i in range(8000))
    for compress in COMPRESSORS.values():
        *papers, skipped = read(compress(content)[: len(content) // 4], "a.jsonl")
        assert 2000 < len(papers) < 8000
        assert all(isinstance(paper, Paper) for paper in papers)
        assert (skipped.reason, skipped.line) == ("unreadable", len(papers) + 1)


def test_papers_that_are_too_large(read):
    filler = b" " * MAX_RECORD_BYTES
    assert only(read(b"<PAPER>" + filler + b"</PAPER>")).reason == "too large"
    assert only(read(b'{"id": "a",' + filler + b"}", "a.json")).reason == "too large"
    line = b'{"id": "a", "text": "' + filler + b'"}\n'
    large, paper = read(line + lines(samples.PLAIN), "a.jsonl")
    assert (large.reason, large.line, paper.line) == ("too large", 1, 2)


@pytest.mark.slow
def test_papers_of_too_many_pieces(read):
    tags = b"<TEI><text><body>" + b"<p>" * MAX_TAGS
    values = b'{"id": "a", "text": [' + b"[]," * MAX_VALUES + b"]}"
    for content, name in ((tags, "a.xml"), (values, "a.json")):
        skipped = only(read(content, name))
        assert (skipped.reason, "more than" in skipped.detail) == ("too large", True)
    text = {"id": "a", "text": "One, two. " * 20_000}
    assert len(lines(text)) < MAX_VALUES
    assert isinstance(only(read(lines(text), "a.json")), Paper)


def test_pictures_may_be_declared(read):
    jats = samples.JATS.replace(
        '.dtd">', '.dtd" [<!NOTATION gif SYSTEM "gif"><!ENTITY f1 SYSTEM "f1.gif" NDATA gif>]>'
    )
    assert only(read(jats)).id == "PMC77"


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252", "utf-8-sig"])
def test_xml_declares_its_encoding(read, encoding):
    declared = encoding.removesuffix("-sig")
    text = f"<?xml version='1.0' encoding='{declared}'?><PAPER><S sid='1'>Caf\u00e9.</S></PAPER>"
    assert prose(only(read(text.encode(encoding)))) == [": Caf\u00e9."]


# Files


def test_the_files_of_a_folder(tmp_path):
    papers = ["B.tei.xml", "a/x.jsonl.gz", "a/y.json", "a.pdf", "b/part-0", "b.parquet"]
    others = ["README", "readme.md", "LICENSE", "x.txt", "x.csv", "x.bib", ".x.xml", "_SUCCESS"]
    for name in [*papers, *others, ".git/x.xml", "a/.x/y.xml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("abc")
    (tmp_path / "b" / "up").symlink_to(tmp_path)
    (tmp_path / "b" / "self.xml").symlink_to("self.xml")
    (tmp_path / "b" / "gone.xml").symlink_to("nowhere")
    found = find_paper_files([tmp_path])
    assert [file.name for file in found] == sorted([*papers, "b/gone.xml", "b/self.xml"])
    assert {file.size for file in found} == {0, 3}
    assert all(file.path == tmp_path / file.name for file in found)
    assert [f.name for f in find_paper_files([tmp_path / "x.txt"])] == ["x.txt"]
    assert len(find_paper_files([tmp_path, tmp_path / "a.pdf", tmp_path])) == len(found)
    for name in ("b/self.xml", "b/gone.xml"):
        file = next(file for file in found if file.name == name)
        assert only(list(read_papers(file, split))).reason == "unreadable"


def test_missing_or_empty_sources_are_refused(tmp_path):
    with pytest.raises(SourceNotFoundError, match="no file or folder"):
        find_paper_files([tmp_path / "nowhere"])
    (tmp_path / "README.md").write_text("x")
    with pytest.raises(SourceNotFoundError, match="holds no file that is taken for papers"):
        find_paper_files([tmp_path])


def test_names_that_are_no_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.xml"
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(samples.SPLIT_XML.encode())
    file = only(find_paper_files([tmp_path]))
    paper = only(list(read_papers(file, split)))
    assert (file.name, paper.id) == ("\ufffd.xml", "\ufffd")
    assert paper.file.encode()


# Ids and years


def test_ids_and_years():
    for paper_id, year in {
        "P98-1046": 1998,
        "W04-1013": 2004,
        "J60-1001": 1960,
        "N59-1001": 2059,
        "2020.acl-main.207": 2020,
        "2021.naacl-srw.3": 2021,
        **dict.fromkeys(["P98-1046b", "p98-1046", "9999.acl-main.1", "PMC5828200", ""]),
    }.items():
        assert year_of_anthology_id(paper_id) == year
    for value in (2011, "2011-11", " 2011 ", 2011.0):
        assert parse_year(value) == 2011
    for value in (2011.5, float("nan"), "20111", "May 2011", 1499, 2101, True, None, []):
        assert parse_year(value) is None
    for name, paper_id in {
        "a/N18-3011.tei.xml": "N18-3011",
        "2020.acl-main.207.tei.xml.gz": "2020.acl-main.207",
        "x.v2.json": "x.v2",
        ".xml": ".xml",
        "x": "x",
    }.items():
        assert id_from_name(name) == paper_id


# Memory


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lines", "archive", "parquet"])
def test_memory_does_not_grow_with_the_papers(tmp_path, kind):
    text = " ".join(f"Sentence number {i} is here." for i in range(2000))
    record, path = lines({"id": "a", "sentences": text.split(". ")}), tmp_path / "p"
    if kind == "parquet":
        schema = pa.schema({"id": pa.string(), "text": pa.string()})
        with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
            for _ in range(20):  # what does not compress: what is kept of a file is packed
                texts = [os.urandom(len(text) // 2).hex() for _ in range(100)]
                writer.write_table(pa.table({"id": ["a"] * 100, "text": texts}))
    else:
        members = {f"{i}.jsonl": record for i in range(2000)}
        path.write_bytes(record * 2000 if kind == "lines" else tar(members))
    setup = f"""
        from pathlib import Path
        import pyarrow.parquet
        from nlihub.loaders.corpora.files import find_paper_files
        from nlihub.loaders.corpora.papers.read import read_papers
        [file] = find_paper_files([Path({str(path)!r})])
        papers = read_papers(file, lambda text: text.split(". "))
        for _ in range(200):
            next(papers)
        """
    grown = growth_of_peak(setup, "assert sum(1 for _ in papers) == 1800")
    assert grown < 24 << 20, grown  # of more than 100 MB of text


# Real papers


def shape(paper):
    sentences = [sentence for paragraph in paper.paragraphs() for sentence in paragraph]
    ends = hashlib.sha256(f"{sentences[0]}\n{sentences[-1]}".encode()).hexdigest()[:8]
    n_paragraphs = sum(1 for _ in paper.paragraphs())
    return paper.id, paper.year, len(paper.sections), n_paragraphs, len(sentences), ends


SHA = "24e6b80e338a4e543de6b49cada07156c9149d22"
#: Id, year, sections, paragraphs, sentences, hash of the first and the last sentence.
REAL = {
    "pdf/N18-3011.tei.xml": ("N18-3011", 2018, 13, 64, 256, "2aa4c2bf"),
    "pdf/2020.acl-main.207.tei.xml": ("2020.acl-main.207", 2020, 19, 55, 308, "6e24b39c"),
    "jats/PMC5828200.nxml": ("PMC5828200", 2018, 27, 42, 227, "256390bf"),
    "s2orc/20190928/10002293.json": ("10002293", 2017, 2, 14, 218, "97441662"),
    "s2orc/20200705/18980380.json": ("18980380", None, 11, 57, 238, "ba23af71"),
    f"s2orc/20210101/{SHA}.json": (SHA, 2011, 5, 27, 224, "3d521cc4"),
}


@pytest.mark.parametrize("file", REAL)
def test_real_papers_of_every_format(file):
    assert shape(only(everything(shared_data("paper_formats") / file))) == REAL[file]


def test_the_real_papers_of_the_acl():
    papers = everything(shared_data("acl_fulltext"))
    assert len(papers) == 708
    assert all(isinstance(paper, Paper) for paper in papers)
    assert {paper.year for paper in papers} <= set(range(1980, 2014))
    sentences = [s for paper in papers for paragraph in paper.paragraphs() for s in paragraph]
    # All but titles, those without text, and those of acknowledgements and references.
    assert len(sentences) == 145_698 - 708 - 4_576 - 1_009
    assert not any("&quot;" in sentence or "\n" in sentence for sentence in sentences)
    assert shape(papers[0]) == ("A00-1031", 2000, 5, 5, 173, "228588e4")
    by_id = {paper.id: [section.title for section in paper.sections] for paper in papers}
    assert by_id["C00-1007"] == [""]
    assert by_id["C96-2141"][-2:] == [
        "4.1 The Task and the Corpus.",
        "4.2 Tra in ing and ILesul ts.",
    ]
