"""The readers of release files: what they keep, count and refuse."""

import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from nlihub.loaders.errors import ReleaseError
from nlihub.loaders.releases import Oddities, layout
from nlihub.loaders.releases.bionli import marked_entities, read_bionli, strip_markers
from nlihub.loaders.releases.layout import Column, Layout, one_of
from nlihub.loaders.releases.mismatched import read_mismatched
from nlihub.loaders.releases.mscinli import LAYOUT as MSCINLI_LAYOUT
from nlihub.loaders.releases.scinli import LAYOUT
from nlihub.loaders.releases.spacenli import read_released_spacenli
from release_files import bionli_rows, mscinli_rows, scinli_rows, write_csv, write_jsonl

read_scinli = LAYOUT.read
read_mscinli = MSCINLI_LAYOUT.read
SCINLI = scinli_rows("test")
BIONLI = bionli_rows("test")


def rows_of(batches):
    return [row for batch in batches for row in batch.to_pylist()]


def written(folder, rows, kind):
    path = folder / f"test.{kind}"
    (write_csv if kind == "csv" else write_jsonl)(path, rows)
    return path


def kinds(function):
    return pytest.mark.parametrize("kind", ["csv", "jsonl"])(function)


# ---- what is kept ---------------------------------------------------------------------------


@kinds
def test_every_row_is_read_as_it_is(tmp_path, kind):
    assert rows_of(read_scinli(written(tmp_path, SCINLI, kind))) == SCINLI


@kinds
def test_the_columns_may_stand_in_any_order(tmp_path, kind):
    backwards = [dict(reversed(row.items())) for row in SCINLI]
    assert rows_of(read_scinli(written(tmp_path, backwards, kind))) == SCINLI


def test_an_index_without_a_name_is_passed_over_and_counted(tmp_path):
    path = tmp_path / "dev.csv"
    write_csv(path, SCINLI, index=True)
    oddities = Oddities()
    assert rows_of(read_scinli(path, oddities)) == SCINLI
    assert oddities["unnamed index column"] == 1


@kinds
def test_oddities_are_kept_and_counted(tmp_path, kind):
    oddities = Oddities()
    rows_of(read_scinli(written(tmp_path, SCINLI, kind), oddities))
    assert oddities == {
        "line breaks in sentence1": 1,
        "control characters in sentence2": 1,
        "replacement characters in sentence2": 1,
        "no-break blanks in sentence2": 1,
        "blanks at an end in sentence1": 1,
    }


@kinds
def test_batches_are_bounded(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(layout, "_BATCH_ROWS", 10)
    batches = list(read_scinli(written(tmp_path, SCINLI, kind)))
    assert [len(batch) for batch in batches] == [10, 10, 10, 10, 8]
    assert rows_of(batches) == SCINLI


@kinds
def test_a_byte_order_mark_and_windows_line_ends(tmp_path, kind):
    path = written(tmp_path, SCINLI[3:], kind)  # without line breaks inside
    text = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text)
    assert rows_of(read_scinli(path)) == SCINLI[3:]


def test_texts_that_look_like_something_else_stay_texts(tmp_path):
    odd = ["NA", "null", "1", "1.0", "true", "2024-01-01", "nan", "-", "#"]
    rows = [{**SCINLI[0], "id": f"test_{i}", "sentence1": text} for i, text in enumerate(odd)]
    for kind in ("csv", "jsonl"):
        assert rows_of(read_scinli(written(tmp_path, rows, kind))) == rows


# ---- MSciNLI's domains ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["domain", "Domain", "category"])
@kinds
def test_the_fifth_column_is_the_domain(tmp_path, kind, name):
    rows = mscinli_rows("test")
    renamed = [{name if k == "domain" else k: v for k, v in row.items()} for row in rows]
    oddities = Oddities()
    found = rows_of(read_mscinli(written(tmp_path, renamed, kind), oddities))
    assert {row["domain"] for row in found} == {
        "hardware",
        "networks",
        "software_engineering",
        "security_privacy",
        "neurips",
    }
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert oddities["domain 'Software & its Engineering' read as software_engineering"] == 1


@kinds
def test_a_fifth_column_that_is_no_domain(tmp_path, kind):
    rows = mscinli_rows("test")
    rows[7]["domain"] = "Law"
    with pytest.raises(ReleaseError, match=r"domain: 'Law' begins with none of hardware") as e:
        rows_of(read_mscinli(written(tmp_path, rows, kind)))
    [defect] = e.value.defects
    # A line break in an earlier row of the CSV counts.
    assert defect.line == (10 if kind == "csv" else 8)


@kinds
def test_files_of_scinli_and_mscinli_are_told_apart(tmp_path, kind):
    with pytest.raises(ReleaseError, match="lacks the column domain; its columns are 'id'"):
        rows_of(read_mscinli(written(tmp_path, SCINLI, kind)))
    with pytest.raises(ReleaseError, match="has the unknown column domain"):
        rows_of(read_scinli(written(tmp_path, mscinli_rows("test"), kind)))


# ---- BioNLI ---------------------------------------------------------------------------------


@kinds
def test_bionli_is_read_with_its_markers(tmp_path, kind):
    oddities = Oddities()
    found = rows_of(read_bionli(written(tmp_path, BIONLI, kind), oddities))
    assert [row["conclusion"] for row in found] == [row["conclusion"] for row in BIONLI]
    assert [row["pmid"] for row in found] == [row["pmid"].removesuffix(".0") for row in BIONLI]
    assert oddities == {
        "column 'index' passed over": 1,
        "whole numbers written as floats in pmid": sum(r["pmid"][-2:] == ".0" for r in BIONLI),
        "conclusions without a marked regulator": sum(
            "<re>" not in r["conclusion"] for r in BIONLI
        ),
    }


@pytest.mark.parametrize("write", [int, float, str])
def test_pmids_may_be_numbers(tmp_path, write):
    rows = [{**row, "pmid": write(float(row["pmid"]))} for row in BIONLI]
    if write is str:
        rows = [{**row, "pmid": row["pmid"].removesuffix(".0")} for row in rows]
    found = rows_of(read_bionli(written(tmp_path, rows, "jsonl")))
    assert [row["pmid"] for row in found] == [row["pmid"].removesuffix(".0") for row in BIONLI]


@pytest.mark.parametrize("pmid", ["", "12.5", "PMC12", "1e5", "-3", "nan"])
@kinds
def test_a_pmid_that_is_none(tmp_path, kind, pmid):
    rows = [dict(row) for row in BIONLI]
    rows[4]["pmid"] = pmid
    with pytest.raises(ReleaseError, match=f"pmid: {pmid!r} is not a whole number") as caught:
        rows_of(read_bionli(written(tmp_path, rows, kind)))
    assert caught.value.defects[0].line == (6 if kind == "csv" else 5)


def test_the_entities_between_markers():
    texts = pa.array(["a <re> x y <er>-z <el> B <le> and <re> c <er>", "no marker", "<re>\nq <er>"])
    assert marked_entities(texts, "re").to_pylist() == ["x y", None, "q"]
    assert marked_entities(texts, "el").to_pylist() == ["B", None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The <re> ABA <er>-induced <el> pH <le>(i) rise.", "The ABA-induced pH(i) rise."),
        ("<re> A <er> binds <el> B <le>.", "A binds B."),
        ("<re>A<er> and <el>B<le>", "A and B"),
        ("x < y and a <b> c", "x < y and a <b> c"),
        ("", ""),
    ],
)
def test_markers_are_stripped_with_their_blank(text, expected):
    assert strip_markers(text) == expected


# ---- what is refused ------------------------------------------------------------------------


def change(kind, edit):
    """Changes the rows of a file before it is written."""

    def make(folder):
        rows = [dict(row) for row in SCINLI]
        edit(rows)
        return written(folder, rows, kind)

    return make


def change_bytes(kind, edit):
    """Changes the bytes of a file."""

    def make(folder):
        path = written(folder, SCINLI, kind)
        path.write_bytes(edit(path.read_bytes()))
        return path

    return make


def at_row(number, **values):
    return lambda rows: rows[number].update(values)


def in_line(number, old, new):
    """Edits one physical line, counted from 1."""

    def edit(content):
        lines = content.split(b"\n")
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new)
        return b"\n".join(lines)

    return edit


def cut_column(rows):
    for row in rows:
        del row["sentence2"]


BAD = {
    "an unknown label": (
        change("csv", at_row(5, label="Neutral")),
        8,
        "label: 'Neutral'",
    ),
    "an unknown label ": (
        change("jsonl", at_row(5, label="Neutral")),
        6,
        "label: 'Neutral'",
    ),
    "a label that is a number": (
        change("jsonl", at_row(5, label=3)),
        6,
        "label: 3 is not a string",
    ),
    "a missing value": (
        change("jsonl", at_row(5, sentence1=None)),
        6,
        "sentence1: None is",
    ),
    "an empty text": (change("csv", at_row(5, sentence1="")), 8, "sentence1: is empty"),
    "an empty text ": (change("jsonl", at_row(5, sentence1="")), 6, "sentence1: is empty"),
    "an empty id": (change("csv", at_row(5, id="")), 8, "id: is empty"),
    "a missing column": (change("csv", cut_column), 1, "lacks the column sentence2"),
    "a missing column ": (change("jsonl", cut_column), 1, "lacks the column sentence2"),
    "a missing key": (
        change("jsonl", lambda rows: rows[5].pop("label")),
        6,
        "lacks the column label",
    ),
    "a ragged row": (
        change_bytes("csv", in_line(8, b",contrasting", b"")),
        8,
        "3 values, exp",
    ),
    "a row too long": (
        change_bytes("csv", in_line(8, b",contrasting", b",contrasting,")),
        8,
        "5 values, expected 4",
    ),
    "an empty line": (
        change_bytes("csv", in_line(8, b",contrasting", b",contrasting\n")),
        9,
        "0 values, expected 4",
    ),
    "an empty line ": (change_bytes("jsonl", in_line(6, b'"}', b'"}\n')), 7, "not a JSON object"),
    "a wrong encoding": (
        change_bytes("csv", in_line(8, b"contrasting", b"\xe9")),
        8,
        "byte 0xe9 at position",
    ),
    "a wrong encoding ": (
        change_bytes("jsonl", in_line(6, b"contrasting", b"\xe9")),
        6,
        "byte 0xe9 at position",
    ),
    "an open quote": (
        change_bytes("csv", in_line(8, b"test_5,", b'test_5,"')),
        8,
        "truncated or",
    ),
    "two rows in a line": (
        change_bytes("jsonl", lambda c: c.replace(b"}\n{", b"} {", 1)),
        1,
        "Extra data",
    ),
    "a key twice": (
        change_bytes("jsonl", in_line(6, b'"id"', b'"id": "x", "id"')),
        6,
        "a key is repeated",
    ),
    "a list": (change_bytes("jsonl", in_line(6, b"{", b"[{")), 6, "not a JSON object"),
    "a list whole": (
        change_bytes("jsonl", lambda c: b'["a"]\n' + c),
        1,
        "one JSON object per line, got ['a']",
    ),
    "cut in a line": (change_bytes("jsonl", lambda c: c[:-30]), 48, "not a JSON object"),
    "cut in a line ": (change_bytes("csv", lambda c: c[:-30]), 50, "values, expected 4"),
    "cut in the last value": (
        change_bytes("csv", lambda c: c[:-1]),
        50,
        "line has no line break",
    ),
    "a stray quote": (
        change_bytes("csv", in_line(8, b"test_5,", b'test_5,"abc"def,')),
        8,
        "',' expected after",
    ),
    "a key more": (change("jsonl", at_row(5, more="x")), 6, "has the unknown column more"),
    "two rows in a line, then none": (
        change_bytes(
            "jsonl", lambda c: c.replace(b"}\n{", b"} {", 1).replace(b"}\n{", b"}\n\n{", 1)
        ),
        1,
        "Extra data",
    ),
    "half a character": (
        change_bytes("jsonl", in_line(6, b'"sentence2": "', b'"sentence2": "\\ud800')),
        6,
        "holds a lone surrogate",
    ),
    "too deep": (
        change_bytes("jsonl", in_line(6, b"{", b"[" * 100_000 + b"{")),
        6,
        "not a JSON object",
    ),
    "a text beyond 128 KiB": (
        change("csv", at_row(0, sentence1="x" * 200_000)),
        2,
        "larger than field limit",
    ),
    "cut inside a quote": (
        change_bytes("csv", lambda c: c[: c.index(b"soft") + 4]),
        4,
        "unexpected end of data",
    ),
    "nothing": (change_bytes("csv", lambda _: b""), 1, "begins with an empty line"),
    "another file": (
        change_bytes("csv", lambda _: b"\x89PNG\r\n\x1a\n\x00\x01"),
        1,
        "lacks the col",
    ),
    "another file ": (
        change_bytes("jsonl", lambda _: b"\x89PNG\r\n\x1a\n\x00\x01"),
        1,
        "not a JSON object",
    ),
}


@pytest.mark.parametrize(("make", "line", "message"), BAD.values(), ids=BAD)
def test_what_is_refused_is_named_with_file_line_and_value(tmp_path, make, line, message):
    path = make(tmp_path)
    with pytest.raises(ReleaseError, match=re.escape(message)) as caught:
        rows_of(read_scinli(path))
    first = next(d for d in caught.value.defects if message in d.message)
    assert (first.file, first.line) == (str(path), line)
    assert isinstance(caught.value, ValueError)


def test_a_header_beyond_every_limit(tmp_path):
    (tmp_path / "x.csv").write_text("a" * 200_000 + "\n1\n")
    (tmp_path / "x.jsonl").write_text("[" * 100_000 + "\n")
    for name, message in (("x.csv", "field larger"), ("x.jsonl", "not a JSON object")):
        with pytest.raises(ReleaseError, match=f":1: {message}"):
            rows_of(read_scinli(tmp_path / name))


def test_several_columns_without_a_name_are_passed_over(tmp_path):
    path = tmp_path / "dev.csv"
    write_csv(path, [{"": "x", **row} for row in SCINLI], index=True)
    assert rows_of(read_scinli(path)) == SCINLI


def test_many_defects_are_listed_up_to_a_limit_and_equal_ones_once(tmp_path):
    rows = [{**row, "label": f"?{i % 30}"} for i, row in enumerate(SCINLI * 10)]
    with pytest.raises(ReleaseError, match="has 20 defects") as caught:
        rows_of(read_scinli(written(tmp_path, rows, "jsonl")))
    assert len(caught.value.defects) == 20
    rows = [{**row, "label": "?"} for row in SCINLI]
    with pytest.raises(ReleaseError, match=r"has 1 defect:\n.*:1: label: '\?' .*48 times"):
        rows_of(read_scinli(written(tmp_path, rows, "jsonl")))


def test_another_kind_of_file(tmp_path):
    (tmp_path / "x.tsv").write_text("id\n")
    with pytest.raises(ReleaseError, match=r"expected a file .csv or .jsonl"):
        rows_of(read_scinli(tmp_path / "x.tsv"))


# ---- the real files -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dev", "test"])
def test_the_official_files_of_scinli(scinli_release, name):
    found = {}
    for kind in ("csv", "jsonl"):
        oddities = Oddities()
        found[kind] = rows_of(read_scinli(scinli_release / f"{name}.{kind}", oddities)), oddities
    rows, oddities = found["jsonl"]
    lines = (scinli_release / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert rows == [json.loads(line) for line in lines]
    assert found["csv"][0] == rows
    assert found["csv"][1] - oddities == ({"unnamed index column": 1} if name == "dev" else {})
    # Counted in the release with other code.
    expected = {"dev": (5, 49, 2, 1, 22), "test": (4, 117, 1, 2, 32)}[name]
    kinds_found = ("line br", "control", "replacement", "no-break", "blanks at an end")
    counted = (sum(n for w, n in oddities.items() if w.startswith(kind)) for kind in kinds_found)
    assert tuple(counted) == expected


# ---- SpaceNLI's released sample -------------------------------------------------------------


@pytest.fixture
def released(release_files, tmp_path):
    """Writes the small released sample, edited."""
    folder, _ = release_files
    content = json.loads((folder / "released/spacenli/160x200.json").read_text())

    def write(edit):
        edit(content["data"])
        path = tmp_path / "160x200.json"
        path.write_text(json.dumps(content))
        return path

    return write


def test_a_malformed_released_problem(released):
    path = released(lambda rows: rows[3].pop("premises"))
    with pytest.raises(ReleaseError, match=r"row 3: is not a problem .*'premises'"):
        read_released_spacenli(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"data": {"a": 1}}', '{"data": [1]}'])
def test_what_is_no_released_sample(tmp_path, text):
    (tmp_path / "160x200.json").write_text(text)
    with pytest.raises(ReleaseError, match="is not a problem of the released sample"):
        read_released_spacenli(tmp_path / "160x200.json")


# ---- tables with tabs -----------------------------------------------------------------------

TSV = Layout(
    (Column("id"), Column("text"), Column("label", one_of("ab"))),
    delimiter="\t",
    has_quotes=False,
)


def test_tsv_keeps_quotation_marks_and_commas(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text(
        'id\ttext\tlabel\n1\t"Yes", he said\ta\n2\tso "\tb\n3\t"No."\ta\n', encoding="utf-8"
    )
    expected = [("1", '"Yes", he said', "a"), ("2", 'so "', "b"), ("3", '"No."', "a")]
    assert [tuple(row.values()) for row in rows_of(TSV.read(path))] == expected


def test_tsv_with_quotes_reads_tabs_inside_them(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text('id\ttext\tlabel\n1\t"a\tb"\ta\n', encoding="utf-8")
    [row] = rows_of(replace(TSV, has_quotes=True).read(path))
    assert row["text"] == "a\tb"
    with pytest.raises(ReleaseError, match=r"test.tsv:2: 4 values, expected 3"):
        rows_of(TSV.read(path))


def test_tsv_that_a_csv_writer_quoted_is_refused(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text('id\ttext\tlabel\n1\tx\ta\n2\t"""Yes,"" he said."\ta\n', encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"test.tsv:3: .*is quoted as in CSV, but here"):
        rows_of(TSV.read(path))


@pytest.mark.parametrize("row", ["1\tx", "1\tx\tc", "\tx\ta", "1\tx\ta\tmore"])
def test_malformed_tsv_is_refused_with_its_line(tmp_path, row):
    path = tmp_path / "test.tsv"
    path.write_text(f"id\ttext\tlabel\n{row}\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"test.tsv:2: "):
        rows_of(TSV.read(path))


def test_a_layout_names_its_endings(tmp_path):
    path = tmp_path / "test.csv"
    path.write_text("id,text,label\n")
    with pytest.raises(ReleaseError, match=r"expected a file .tsv or .txt or .jsonl"):
        rows_of(TSV.read(path))


# ---- MisMatched, whose files were not at hand ---------------------------------------------------

HEADER = "sentence1\tsentence2\tlabel\tDomain"


def mismatched(path, *rows, header=HEADER):
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "released", "read"),
    [
        (HEADER, ("ENTAILMENT", "PSYCHOLOGY"), ("entailment", "psychology")),
        (HEADER.lower(), ("entailing", "Public Health"), ("entailment", "public_health")),
        (
            HEADER.replace("label", "gold_label"),
            ("Entailing", "public_health"),
            ("entailment", "public_health"),
        ),
        (
            "first_sentence\tsecond_sentence\tlabel\tDomain\tid",
            ("CONTRASTING", "engineering"),
            ("contrasting", "engineering"),
        ),
        (HEADER.upper(), ("neutral", "PUBLIC-HEALTH"), ("neutral", "public_health")),
    ],
)
def test_the_spellings_of_mismatched_are_recognised(tmp_path, header, released, read):
    row = "\t".join(("a", "b", *released, *["7"] * header.endswith("id")))
    oddities = Oddities()
    [found] = rows_of(read_mismatched(mismatched(tmp_path / "a.tsv", row, header=header), oddities))
    assert (found["label"], found["domain"]) == read
    assert (found["sentence1"], found["sentence2"], len(found["id"])) == ("a", "b", 16)
    for name, value, ours in zip(("label", "domain"), released, read, strict=True):
        assert (f"{name} {value!r} read as {ours}" in oddities) == (value != ours)
    assert ("column 'id' passed over" in oddities) == header.endswith("id")


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        (HEADER, "a\tb\tentailed\tPsychology", "label: 'entailed' is none of"),
        (HEADER, "a\tb\t neutral\tPsychology", "label: ' neutral' is none of"),
        (HEADER, "a\tb\tneutral\tMedicine", "domain: 'Medicine' is none of"),
        (HEADER, "a\t\tneutral\tPsychology", "sentence2: is empty"),
        ("sentence1\tsentence2\tlabel", "a\tb\tneutral", "lacks the column domain"),
        (
            f"{HEADER}\tgold_label",
            "a\tb\tneutral\tPsychology\tneutral",
            "has more than one column label: 'label', 'gold_label'",
        ),
    ],
)
def test_what_mismatched_does_not_describe_is_refused(tmp_path, header, row, said):
    with pytest.raises(ReleaseError, match=said):
        rows_of(read_mismatched(mismatched(tmp_path / "a.tsv", row, header=header)))


def test_ids_of_mismatched_depend_on_the_texts_alone(tmp_path):
    rows = ["a\tb\tneutral\tPsychology", "c\td\treasoning\tEngineering"]
    first, second = rows_of(read_mismatched(mismatched(tmp_path / "a.tsv", *rows)))
    turned = rows_of(read_mismatched(mismatched(tmp_path / "b.tsv", *reversed(rows), rows[0])))
    assert [row["id"] for row in turned] == [second["id"], first["id"], f"{first['id']}-2"]
