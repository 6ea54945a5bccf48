import pytest
from conftest import PATTERNS, WORLD
from nlihub.loaders.corpora.patterns.pattern_bank import find_pattern_bank, read_pattern_bank
from nlihub.loaders.errors import BankError, SourceNotFoundError


def test_reading(bank_files):
    bank = read_pattern_bank(*bank_files())
    assert [pattern.id for pattern in bank] == ["1", "1b", "2"]
    first, second, third = bank
    assert first.sentences == ("{NP1} is in {NP2}", "{NP3} is {_now} in {NP2}", "{NP3} is in {NP1}")
    assert first.n_premises == 2
    assert list(first.attributes.items()) == [
        ("id", "1"),
        ("label", "neutral"),
        ("exp", "in"),
        ("src", "X"),
        ("ent_type", "non-projective"),
        ("seed", "1"),
    ]
    assert first.category == "non_projective"
    assert first.fillers["NP1"] == ("Bergen", "Cairo", "Oslo")
    assert first.fillers["NP3"] == ("Amara", "Kofi", "the fox", "the goose", "the hen")
    assert first.fillers["_now"] == ("", "now")
    assert second.label == "contradiction"
    assert third.examples[0] == ("Amara has walked into the barn", "Amara is in the barn")
    assert third.reason == "Walking into a place ends there."
    assert third.line == 3


def test_a_restriction_that_names_an_absent_variable_still_narrows(bank_files):
    text = PATTERNS.replace(
        "<SR>walk_into(NP1,NP2)</SR>", "<SR>in(NP1,NP7); walk_into(NP8,NP2)</SR>"
    )
    pattern = read_pattern_bank(*bank_files(text)).patterns[2]
    assert pattern.fillers["NP1"] == ("Bergen", "Cairo", "Oslo", "the fox", "the goose", "the hen")
    assert pattern.fillers["NP2"] == ("the barn", "the mill", "the old mill")


def planted(old, new, expected):
    return pytest.param(PATTERNS.replace(old, new), expected, id=expected[:40])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        planted(
            "<SR>walk_into(NP1", "<SR>stroll(NP1", ":10: pattern 2: unknown predicate stroll/2"
        ),
        planted("has walked into {NP2}", "has walked into {X}", "variable {X} has no filler"),
        planted("{_now}", "{soon_r_01}", "variable {soon_r_01} has no filler"),
        planted("{_now}", "{NP1!r}", "variable {NP1!r} has no filler"),
        planted("{_now}", "{NP1.x}", "variable {NP1.x} has no filler"),
        planted("{_now}", "{now", "unbalanced braces"),
        planted(
            "<SR>walk_into(NP1,NP2)",
            "<SR>walk_into(NP1,NP2); city(NP1)",
            ":3: pattern 2: its restrictions contradict each other: no noun is left for NP1",
        ),
        planted("<BL>NP3 != NP1</BL>", "<BL>NP3 !=! NP1</BL>", ":19: pattern 1: constraint"),
        planted("NP3 != NP1", "NP3 != NP9", "names 'NP9', which the pattern does not have"),
        planted("NP3 != NP1", "exec('x') == NP1", "is not allowed in a constraint"),
        planted('id="1b"', 'id="1"', ":21: pattern 1: duplicate id, first in line 14"),
        planted('id="1b"', 'id="b1"', "id 'b1' is not a number of up to nine digits"),
        planted('label="neutral"', 'label="maybe"', "label 'maybe' is none of entailment"),
        planted("{NP4} saw {NP3}</PT>", "</PT>", "needs at least a premise and a hypothesis"),
        planted("Amara is in the barn</ex>", "\n\nAmara is</ex>", "<ex> has an empty line"),
        planted("Amara is in the barn</ex>", "A b\nC d</ex>", "the example has 3 sentences"),
        planted("<SR>living(NP3)", "<SR>living(NP3", "is not of the form"),
        planted("NP3[+det]", "NP3[-det]", "feature 'NP3[-det]' is not of the form NP1[+det]"),
        planted("NP3[+det]", "NP3[+det]; NP3[+det]", "NP3 has two features"),
        planted("<SR>living(NP3)</SR>", "<SR>living(<b/>NP3)</SR>", "<SR> holds an element"),
        planted(
            "<SR>living", "<group/><SR>living", "<group> in <group> is not read; expected BL, FT"
        ),
        planted("<reason>", "<PT>a\nb</PT><reason>", "has more than one <PT>"),
        planted("</patterns>", "</pattern>", "not well-formed XML: mismatched tag"),
        planted("<patterns>", "<!DOCTYPE x [<!ENTITY a 'b'>]><patterns>", "<!DOCTYPE ...>) is not"),
        planted("<PT>", "<P>", "mismatched tag"),
        planted(
            "<SR>walk_into(NP1,NP2)</SR>", "<SRR>x</SRR>", ":10: pattern 2: <SRR> in <problem>"
        ),
        planted("<patterns>", "<patterns><section/>", "<section> in <patterns> is not read"),
        planted('encoding="UTF-8"', 'encoding="foo"', "cannot be decoded|unknown encoding"),
        planted('encoding="UTF-8"', 'encoding="rot13"', "cannot be decoded|unknown encoding"),
        planted('id="1b"', f'id="{"1" * 5000}"', "is not a number of up to nine digits"),
        planted("{NP1} has", "{NP1} " * 50 + "has", "has a sentence of more than 2000"),
        planted(
            "{NP1} has",
            " ".join(f"{{_w{i}}}" for i in range(20)) + "{NP1} has",
            "has more than 12 variables",
        ),
        planted("<SR>walk_into(NP1,NP2)", "<SR>walk_into(NP1,NP9)", "may fill NP2"),
        planted("<SR>walk_into(NP1,NP2)", "<SR>walk_in(NP1,NP2)", "did you mean 'walk_into'?"),
        planted('exp="into, in"', 'expr="in"', "attribute 'expr' is not read; expected"),
        planted('"directional"', '"directional, projective"', "is not one of directional"),
        planted("has walked into {NP2}", "has walked into {NP2}.", "ends with a full stop"),
        planted("has walked into {NP2}", "has\u200b walked into {NP2}", "invisible characters"),
        planted("NP3 != NP1", "NP3 != NP1 # and", "has a '#', which would hide"),
    ],
)
def test_planted_defects_are_reported_with_file_line_and_pattern(bank_files, text, expected):
    assert text != PATTERNS
    with pytest.raises(BankError) as caught:
        read_pattern_bank(*bank_files(text))
    report = str(caught.value)
    assert "patterns.xml" in report
    assert any(part in report for part in expected.split("|")), report


def test_entities_are_never_expanded(bank_files):
    bomb = (
        '<!DOCTYPE p [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
        "<patterns>&b;&c;</patterns>"
    )
    with pytest.raises(BankError, match="document type declaration"):
        read_pattern_bank(*bank_files(bomb))


def test_all_problems_are_in_one_report(bank_files):
    text = PATTERNS.replace("walk_into(", "stroll(").replace('"neutral"', '"maybe"')
    text = text.replace("NP3[+det]", "NP3[x]")
    with pytest.raises(BankError) as caught:
        read_pattern_bank(*bank_files(text))
    assert {p.where for p in caught.value.defects} == {"pattern 1", "pattern 1b", "pattern 2"}
    assert str(caught.value).startswith("The pattern bank has 4 defects:")


def test_a_bank_without_patterns_is_refused(bank_files):
    with pytest.raises(BankError, match="has no pattern"):
        read_pattern_bank(*bank_files("<patterns/>"))


def test_finding_a_bank_in_a_folder(bank_files, tmp_path):
    patterns, world = bank_files()
    assert find_pattern_bank(patterns.parent) == (patterns, world)
    (patterns.parent / "more.yml").write_text(WORLD)
    with pytest.raises(SourceNotFoundError, match=r"one YAML file, it has more.yml, world.yaml"):
        find_pattern_bank(patterns.parent)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        find_pattern_bank(tmp_path / "absent")
