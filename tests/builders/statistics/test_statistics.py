"""The papers' tables: every figure by hand, and beside the paper's on the real rows."""

import doctest
import json
from collections import Counter
from itertools import combinations

import pytest
from command_line import run_command
from hypothesis import given
from hypothesis import strategies as st
from memory import growth_of_peak
from nlihub.builders.mscinli import MSciNLI
from nlihub.builders.scinli import SciNLI
from nlihub.builders.statistics import negatives, texts
from nlihub.builders.statistics.survey import show_survey, survey
from nlihub.builders.statistics.texts import (
    STOP_WORDS,
    SharedWords,
    Vocabularies,
    compare_vocabularies,
    find_overlap,
    find_words,
    split_tokens,
)
from nlihub.builders.versions.row_tables import sample_rows
from nlihub.builders.versions.version import BuiltVersion
from nlihub.loaders.errors import UnmeasuredError
from small_versions import build_rows

import nlihub

CONTRASTING, REASONING, ENTAILMENT, NEUTRAL = SciNLI.SPEC.labels


def row(label, premise="A.", hypothesis="B.", **others):
    return {"label": label, "premise": premise, "hypothesis": hypothesis, **others}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It isn't new.", ["it", "isn't", "new", "."]),
        ("(92.5%), e.g. [3]", ["(", "92.5", "%", ")", ",", "e.g", ".", "[", "3", "]"]),
        ("state-of-the-art; and/or", ["state-of-the-art", ";", "and/or"]),
        ("a - b -- c", ["a", "-", "b", "-", "-", "c"]),
        ("model\u2019s x_i\nÉté", ["model\u2019s", "x_i", "été"]),
        ("日本語 λx", ["日本語", "λx"]),
        (" \n\t", []),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert split_tokens(text) == expected


def test_the_examples_of_the_docstrings_run():
    for module in (negatives, texts):
        failed, attempted = doctest.testmod(module)
        assert (failed, attempted > 0) == (0, True)


@given(st.text(max_size=40))
def test_tokens_leave_nothing_out_but_blanks(text):
    found = split_tokens(text)
    assert all(token and not any(c.isspace() for c in token) for token in found)
    found = Counter("".join(found))
    assert found == Counter(c for c in text.lower() if not c.isspace())


def test_words():
    assert " ".join(find_words("The x-axis of GPT-2 isn't A4, été.")) == "the axis of gpt isn été"
    assert all(find_words(word) == [word] for word in STOP_WORDS - {"a"})


@pytest.mark.parametrize(
    ("premise", "hypothesis", "overlap"),
    [
        ("The cat sat.", "the cat sat.", 100),
        ("The cat.", "the dog saw the man.", 50),  # the, the, . of six
        ("a b", "a a a b", 100),  # however often the premise has it
        ("a b", "c d", 0),
        ("a b", " ", 0),
        ("", "a", 0),
    ],
)
def test_overlap(premise, hypothesis, overlap):
    assert find_overlap(split_tokens(premise), split_tokens(hypothesis)) == overlap


@pytest.fixture(scope="module")
def two_domains(tmp_path_factory):
    """Four rows of two domains, and a split with none."""
    rows = [
        row(CONTRASTING, "One two three.", "two four", domain="networks"),  # 4, 2, 50 %
        row(CONTRASTING, "one", "two three four five", domain="networks"),  # 1, 4, 0 %
        row(NEUTRAL, "One, two.", "One.", domain="neurips"),  # 4, 2, 100 %
    ]
    test = [row(NEUTRAL, "x y", "x y z z", domain="neurips")]  # 2, 4, 50 %
    splits = {"train": rows, "validation": [], "test": test}
    return build_rows(tmp_path_factory.mktemp("two"), MSciNLI.SPEC, splits)


def test_rows_are_counted_by_split_domain_and_class(two_domains):
    counts = {(c.split, *c.value): c for c in survey(two_domains).row_counts}
    assert {place: c.rows for place, c in counts.items() if c.rows} == {
        ("train", "networks", CONTRASTING): 2,
        ("train", "neurips", NEUTRAL): 1,
        ("train", CONTRASTING): 2,
        ("train", NEUTRAL): 1,
        ("test", "neurips", NEUTRAL): 1,
        ("test", NEUTRAL): 1,
    }
    assert counts["train", "networks", CONTRASTING].published == 6_366  # Table 2 of the paper
    assert counts["validation", NEUTRAL].published == 250  # also what is not there


def test_texts_by_class_domain_and_split(two_domains):
    found = {t.part: t for t in survey(two_domains).texts}
    assert found["domain networks"].published == {
        "premise_tokens": 26.37,
        "hypothesis_tokens": 25.01,
        "overlap": 30.17,
        "premise_s_roots": 93.9,
        "hypothesis_s_roots": 93.7,
    }
    plain = {
        part: (t.rows, t.premise_tokens, t.hypothesis_tokens, t.overlap)
        for part, t in found.items()
    }
    assert plain == {
        "class contrasting": (2, 2.5, 3.0, 25.0),
        "class reasoning": (0, None, None, None),
        "class entailment": (0, None, None, None),
        "class neutral": (2, 3.0, 3.0, 75.0),
        "domain networks": (2, 2.5, 3.0, 25.0),
        "domain neurips": (2, 3.0, 3.0, 75.0),
        "split train": (3, 3.0, 2.67, 50.0),
        "split validation": (0, None, None, None),
        "split test": (1, 2.0, 4.0, 50.0),
        "all": (4, 2.75, 3.0, 50.0),
    }


def test_a_survey_is_shown(two_domains):
    text = show_survey(MSciNLI.SPEC, survey(two_domains))
    for line in (
        "| train | networks | 2 (6,366) | 0 (6,366) | 0 (6,366) | 0 (6,366) | 2 (25,464) |",
        "| test | all | 0 (1,000) | 0 (1,000) | 0 (1,000) | 1 (1,000) | 1 (4,000) |",
        "In brackets: what the paper counts, where it differs.",
        "| domain networks | 2 | 2.50 (26.37) | 3.00 (25.01) | 25.00 (30.17) |",
        "| split validation | 0 |  |  |  |",
        "- probe: not measured: not asked for",
        "- parses: not measured: no parser was named",
    ):
        assert line in text
    assert "- vocabularies" not in text


def test_a_version_without_rows(tmp_path):
    version = build_rows(tmp_path, SciNLI.SPEC, {"train": [], "test": []})
    found = survey(version, probe=True)
    assert [t.rows for t in found.texts] == [0] * 7
    assert sum(c.rows for c in found.row_counts) == 0
    assert found.unmeasured["probe"] == "there are no rows"
    assert "| all | 0 | (27.38) | (25.93) | (30.06) |" in show_survey(SciNLI.SPEC, found)


# ---- the vocabulary of domains -----------------------------------------------------------------


def build_domains(folder, **by_domain):
    rows = [row(NEUTRAL, text, "the", domain=domain) for domain, text in by_domain.items()]
    return build_rows(folder, MSciNLI.SPEC, {"train": rows})


def test_vocabularies(tmp_path, two_domains):
    version = build_domains(
        tmp_path,
        hardware="The chip runs; the chip and a cache. Chip 3.5 x",  # chip 3, cache, runs
        networks="A cache of packets runs on the net.",  # cache, net, packets, runs
        neurips="We learn. The cache of the net learns.",  # cache, learn, learns, net
    )
    found = survey(version).vocabularies
    assert found == Vocabularies(
        compared_words=3,
        different_words={"hardware": 3, "networks": 4, "neurips": 4},
        shared=(
            # cache is shared; runs is fourth by the alphabet. 2 words in common, once each.
            SharedWords(("hardware", "networks"), 1, 33.3, round(2 / (11 * 4) ** 0.5, 2), 0.94),
            SharedWords(("hardware", "neurips"), 1, 33.3, round(1 / (11 * 4) ** 0.5, 2), 0.7),
            # Net is fourth of neurips.
            SharedWords(("networks", "neurips"), 1, 33.3, round(2 / (4 * 4) ** 0.5, 2), 0.63),
        ),
    )
    shown = show_survey(MSciNLI.SPEC, survey(version))
    assert "| hardware (3) | networks (4) | 1 | 33.3 | 0.30 (0.94) |" in shown
    assert "of the 3 most frequent words of each" in shown
    assert "In brackets: the paper's" in shown


def test_the_published_cosines_are_of_each_two_domains():
    for one, other in combinations(MSciNLI.SPEC.domains, 2):
        cosine = texts._published_cosine("mscinli", one, other)
        assert 0.6 < cosine == texts._published_cosine("mscinli", other, one)
    assert texts._published_cosine("mscinli", "neurips", "acl") == 0.81
    assert texts._published_cosine("mine", "neurips", "acl") is None


def test_only_the_most_frequent_words_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "MAX_WORDS", 2)
    version = build_domains(
        tmp_path,
        hardware="chip chip cache cache net",
        networks="net net cache cache chip",
        acl="parser chart " + 7 * "parser chart chart ",
        neurips="chart chart parser " * 5,
    )
    found = {p.domains: p for p in compare_vocabularies(version, "default").shared}
    cosine = round((2 * 1 + 2 * 2 + 1 * 2) / 9, 2)  # of all words, not of the two most frequent
    pair = ("hardware", "networks")
    assert found[pair] == SharedWords(pair, 1, 50.0, cosine, 0.94)
    assert found["hardware", "acl"].cosine == 0.0
    assert found["acl", "neurips"].cosine == 1.0  # however much text there is


def test_vocabularies_that_cannot_be_compared(tmp_path, built):
    assert survey(BuiltVersion(built)).unmeasured["vocabularies"] == "all rows are of one domain"
    version = build_domains(tmp_path, hardware="The and of 3", networks="chip")
    with pytest.raises(UnmeasuredError, match="a domain has no words"):
        compare_vocabularies(version, "default")


# ---- samples -----------------------------------------------------------------------------------


def test_a_sample_does_not_depend_on_order(tmp_path):
    rows = [row(NEUTRAL, id=f"r{n}", hypothesis=f"H {n}") for n in range(300)]
    ids = set()
    for name, some in {"a": rows, "b": rows[::-1]}.items():
        splits = {"train": some[:200], "test": some[200:]}
        version = build_rows(tmp_path / name, SciNLI.SPEC, splits)
        found = sample_rows(version, "default", ["train", "test"], ["id", "label"], 50)
        assert found.column_names == ["id", "label", "split"]
        assert len(set(found["id"].to_pylist())) == 50
        assert set(found["split"].to_pylist()) == {"train", "test"}
        ids.add(tuple(found["id"].to_pylist()))
        everything = sample_rows(version, "default", ["train"], ["label"], 1_000)
        assert (len(everything), set(everything["split"].to_pylist())) == (200, {"train"})
    assert len(ids) == 1


# ---- the whole ---------------------------------------------------------------------------------


def test_stats_on_the_command_line(built):
    def run(*arguments):
        return run_command("stats", built, *arguments)

    found = json.loads(run("--json").stdout)
    assert found["groups"] == 165
    assert found["labels"] == {"entailment": 11_800, "neutral": 10_600, "contradiction": 10_600}
    assert {c["value"][0]: c["rows"] for c in found["row_counts"]} == found["labels"]
    assert (found["texts"][-1]["part"], found["texts"][-1]["rows"]) == ("all", 33_000)
    assert (found["probe"], found["unmeasured"]["probe"]) == (None, "not asked for")
    assert "## Texts" in run("--no-probe").stdout
    done = run("--parser", "localhost:9000")
    assert (done.returncode, "expected an address" in done.stderr) == (2, True)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path):
    words = " ".join(f"word{n}" for n in range(150))
    rows = [row(SciNLI.SPEC.labels[n % 4], f"{n} {words}", f"{n} word") for n in range(120_000)]
    version = build_rows(tmp_path, SciNLI.SPEC, {"train": rows})
    n_bytes = version.manifest.configs["default"]["train"].arrow_bytes
    assert n_bytes > 130e6
    setup = f"""
    from pathlib import Path
    from nlihub.builders.statistics.texts import describe_texts
    from nlihub.builders.versions.row_tables import sample_rows
    from nlihub.builders.versions.version import BuiltVersion
    version = BuiltVersion(Path({str(version.folder)!r}))
    sample_rows(version, "default", ["train"], ["hypothesis"], 10)
    """
    code = """
    describe_texts(version, "default")
    sample_rows(version, "default", ["train"], ["hypothesis"], 2_000)
    """
    assert growth_of_peak(setup, code) < 0.4 * n_bytes


def test_figures_of_the_real_scinli_are_near_the_papers(scinli_release, tmp_path):
    folder = nlihub.build(
        "scinli",
        tmp_path,
        folder=scinli_release,
        splits=["validation", "test"],
        configs=["default"],
    )
    found = nlihub.stats(str(folder))
    assert all(c.rows == c.published for c in found.row_counts)
    assert "The paper counts the same." in show_survey(SciNLI.SPEC, found)
    known = {t.part: t for t in found.texts if t.published}
    assert len(known) == 5
    for text in known.values():
        assert text.premise_tokens == pytest.approx(text.published["premise_tokens"], abs=2)
        assert text.hypothesis_tokens == pytest.approx(text.published["hypothesis_tokens"], abs=1.2)
        assert text.overlap == pytest.approx(text.published["overlap"], abs=1.6)
    everything = known["all"]
    figures = (everything.premise_tokens, everything.hypothesis_tokens, everything.overlap)
    assert figures == pytest.approx((27.94, 25.52, 28.99), abs=0.005)
