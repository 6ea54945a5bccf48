"""Problems of patterns on a 5-point scale: the draw, the mappings of the scale, the verdicts."""

import itertools
import json
import random
import re

import pytest
from command_line import run_command
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.builders.annotation.batches import read_annotation_batches
from nlihub.builders.annotation.pattern_problems import draw_problems, read_problems
from nlihub.builders.annotation.sheets import SHEET_COLUMNS, read_sheet, write_sheet
from nlihub.builders.procedures.patterns.answer_scale import (
    LABELS_BY_POINT,
    MAPPINGS,
    MAX_EXHAUSTIVE,
    SCALE,
    SYMMETRIC,
    choose_mappings,
    exact_kappa,
    mapped_kappa,
)
from nlihub.builders.procedures.patterns.validation import cohen_kappa
from nlihub.builders.scinli import SciNLI
from nlihub.builders.spacenli import SpaceNLI
from nlihub.builders.versions.version import BuiltVersion
from nlihub.loaders.errors import AnnotationError, UnknownNameError, UsageError
from sklearn.metrics import cohen_kappa_score
from small_versions import build_rows

import nlihub

LABELS = ("entailment", "neutral", "contradiction")
CATEGORIES = ("directional", "projective")
#: The points that an annotator gives for a label, by their mappings.
HABITS = {
    "annotator-1": {"contradiction": (0, 1), "neutral": (2,), "entailment": (3, 4)},
    "annotator-2": {"contradiction": (0,), "neutral": (1, 2, 3), "entailment": (4,)},
    "annotator-3": {"contradiction": (0, 1), "neutral": (2, 3), "entailment": (4,)},
}
PLANTED = {"annotator-1": "2-1-2", "annotator-2": "1-3-1", "annotator-3": "2-2-1"}


def rows_of(n_patterns, per_pattern):
    return [
        {
            "group": f"{pattern}p",
            "category": CATEGORIES[pattern % 2],
            "label": LABELS[pattern % 3],
            "premise": f"The hen number {pattern} is behind the {number}th barn.",
            "hypothesis": f"The {number}th barn is in front of a hen.",
            "n_premises": 1,
            "has_negation": False,
            "expressions": ["behind"],
            "fillers": [],
        }
        for pattern in range(n_patterns)
        for number in range(per_pattern)
    ]


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """A version of 24 patterns with 6 problems each; do not change it."""
    splits = {"test": rows_of(24, 6)}
    return build_rows(tmp_path_factory.mktemp("version"), SpaceNLI.SPEC, splits).folder


def rows_by_id(version):
    built = BuiltVersion(version)
    return {row["id"]: row for row in read_problems(built).to_pylist()}


def fill_in(version, batch, folder, say):
    """Fills the sheets in; ``say`` gives an annotator's answer to a problem, by its row."""
    folder.mkdir()
    known = rows_by_id(version)
    for name in batch.annotators:
        rows, _ = read_sheet(batch.sheets / f"{name}.csv", SHEET_COLUMNS)
        filled = [
            [*(row[column] for column in SHEET_COLUMNS[:3]), say(name, known[batch.pairs[key].id])]
            for _, row in rows
            for key in (row["id"],)
        ]
        write_sheet(folder / f"{name}.csv", SHEET_COLUMNS, filled)
    return sorted(folder.iterdir())


def annotate(version, folder, say, **options):
    nlihub.annotation.sample_patterns(version, folder / "batches", **options)
    (batch,) = read_annotation_batches(folder / "batches")
    sheets = fill_in(version, batch, folder / "back", say)
    return nlihub.annotation.import_validation(version, folder / "batches", sheets)


def by_habit(seed, error=0.0):
    draw = random.Random(seed)

    def say(name, row):
        label = draw.choice(LABELS) if draw.random() < error else row["label"]
        return SCALE[draw.choice(HABITS[name][label])]

    return say


# ----------------------------------------------------------------------------------- the draw


def test_the_sample_is_blind(version, tmp_path):
    made = nlihub.annotation.sample_patterns(version, tmp_path, per_pattern=2)
    assert (made.n_pairs, made.short) == (48, {})
    (batch,) = read_annotation_batches(tmp_path)
    known = rows_by_id(version)
    groups = [known[pair.id]["group"] for pair in batch.pairs.values()]
    assert sorted(groups) == sorted(2 * [f"{n}p" for n in range(24)])
    assert sum(one == other for one, other in itertools.pairwise(groups)) < 12
    orders = []
    for path in batch.sheets.iterdir():
        text = path.read_text(encoding="utf-8-sig")
        assert not re.search(r"entail|neutral|contradict|directional|projective|\d+p\b|test-", text)
        if path.suffix == ".csv":
            rows, _ = read_sheet(path, SHEET_COLUMNS)
            orders.append([row["id"] for _, row in rows])
            assert text.splitlines()[0] == "id,premise,hypothesis,answer"
    assert len({tuple(order) for order in orders}) == 3
    told = (batch.sheets / "instructions.md").read_text()
    config = (batch.sheets / "labels.xml").read_text()
    for answer in (*SCALE, "difficult", "skip"):
        assert f"- `{answer}`: " in told
        assert f'value="{answer}"' in config
    assert "unclear" not in told + config
    assert "TextArea" not in config


def test_the_draw_depends_on_ids_and_seed_alone(version):
    problems = read_problems(BuiltVersion(version))
    one = draw_problems(problems, (), 3, 1)
    turned = problems.take(list(range(len(problems)))[::-1])
    assert draw_problems(turned, (), 3, 1) == one
    assert draw_problems(problems, (), 3, 2)[0] != one[0]
    later, short = draw_problems(problems, one[0], 4, 1)
    assert not set(later) & set(one[0])
    assert short == {f"{n}p": 1 for n in range(24)}


def test_patterns_and_classes_are_chosen(version):
    problems = read_problems(BuiltVersion(version))
    known = rows_by_id(version)
    ids, _ = draw_problems(problems, (), 1, 1, categories=["projective"])
    assert {known[id_]["category"] for id_ in ids} == {"projective"}
    assert len(ids) == 12
    ids, _ = draw_problems(problems, (), 3, 1, patterns=["4p", "7p"])
    assert sorted(known[id_]["group"] for id_ in ids) == ["4p"] * 3 + ["7p"] * 3
    with pytest.raises(UnknownNameError, match="no pattern '44p'"):
        draw_problems(problems, (), 3, 1, patterns=["44p"])
    with pytest.raises(UnknownNameError, match="no inference class 'directed'"):
        draw_problems(problems, (), 3, 1, categories=["directed"])
    with pytest.raises(UsageError, match="1 or more"):
        draw_problems(problems, (), 0, 1)
    with pytest.raises(UsageError, match="No problem is left"):
        draw_problems(problems, known, 3, 1)


# ------------------------------------------------------------------------------ the mappings


def test_the_mappings_are_monotone_and_unknown_is_neutral():
    sorted_labels = itertools.combinations_with_replacement(LABELS_BY_POINT, len(SCALE))
    expected = {
        labels
        for labels in sorted_labels
        if labels[2] == "neutral" and set(labels) == set(LABELS_BY_POINT)
    }
    assert {mapping.labels for mapping in MAPPINGS} == expected
    assert len(MAPPINGS) == len(expected) == 4
    assert [str(mapping) for mapping in MAPPINGS] == ["2-1-2", "1-2-2", "2-2-1", "1-3-1"]
    assert MAPPINGS[0] == SYMMETRIC


def test_labels_are_not_merged_to_agree():
    """Annotators who differ between neutral and entailment alone keep both."""
    draw = random.Random(1)
    truth = [draw.choice((0, 2, 4)) for _ in range(200)]
    answers = [
        [{2: 4, 4: 2}.get(point, 0) if draw.random() < 0.2 else point for point in truth]
        for _ in range(3)
    ]
    pairs = list(itertools.combinations(range(3), 2))
    counts = {(str(i), str(j)): table_of(answers[i], answers[j]) for i, j in pairs}
    assert set(choose_mappings(("0", "1", "2"), counts).values()) == {SYMMETRIC}


ANSWERS = st.lists(st.tuples(*[st.integers(0, len(SCALE) - 1)] * 3), min_size=1, max_size=25).map(
    lambda rows: [list(column) for column in zip(*rows, strict=True)]
)


def table_of(one, other):
    table = [[0] * len(SCALE) for _ in SCALE]
    for a, b in zip(one, other, strict=True):
        table[a][b] += 1
    return table


def slow_kappa(one, other):
    """Cohen's kappa in floats, label by label; 0 where it is undefined."""
    n = len(one)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    expected = sum(one.count(label) / n * other.count(label) / n for label in {*one, *other})
    return 0.0 if len({*one, *other}) == 1 else (observed - expected) / (1 - expected)


@settings(max_examples=25, deadline=None)
@given(ANSWERS)
def test_no_other_choice_of_mappings_agrees_better(answers):
    names = ("a", "b", "c")
    pairs = list(itertools.combinations(range(3), 2))
    counts = {(names[i], names[j]): table_of(answers[i], answers[j]) for i, j in pairs}
    chosen = choose_mappings(names, counts)

    def mean(mappings):
        labelled = [
            [mapping.labels[point] for point in points]
            for mapping, points in zip(mappings, answers, strict=True)
        ]
        return sum(slow_kappa(labelled[i], labelled[j]) for i, j in pairs) / 3

    reached = mean([chosen[name] for name in names])
    means = {each: mean(each) for each in itertools.product(MAPPINGS, repeat=3)}
    assert reached == pytest.approx(max(means.values()))
    best = [each for each, value in means.items() if value > reached - 1e-12]
    most_symmetric = max(each.count(SYMMETRIC) for each in best)
    assert list(chosen.values()).count(SYMMETRIC) == most_symmetric


@settings(max_examples=50, deadline=None)
@given(ANSWERS, st.sampled_from(MAPPINGS), st.sampled_from(MAPPINGS))
def test_kappa_is_that_of_scikit_learn(answers, first, second):
    kappa = mapped_kappa(table_of(answers[0], answers[1]), first, second)
    one = [first.labels[point] for point in answers[0]]
    other = [second.labels[point] for point in answers[1]]
    if len({*one, *other}) == 1:
        assert kappa is None
    else:
        assert float(kappa) == pytest.approx(cohen_kappa_score(one, other))


def test_kappa_of_nothing():
    for answers in ([], ["entailment"] * 3):
        assert cohen_kappa(answers, answers) is None  # as scikit-learn's, which is NaN
    assert exact_kappa([[0, 0], [0, 0]]) is None
    assert exact_kappa([[3, 0], [0, 0]]) is None
    assert exact_kappa([[0, 2], [2, 0]]) == -1


def test_more_annotators_than_can_be_tried_out():
    draw = random.Random(3)
    habits = list(HABITS.values())
    names = [f"person-{n}" for n in range(MAX_EXHAUSTIVE + 1)]
    truth = [draw.choice(LABELS) for _ in range(80)]
    given_ = {
        name: [draw.choice(habits[n % 3][label]) for label in truth] for n, name in enumerate(names)
    }
    counts = {
        (one, other): table_of(given_[one], given_[other])
        for one, other in itertools.combinations(names, 2)
    }
    chosen = choose_mappings(names, counts)
    assert [str(chosen[name]) for name in names[:3]] == list(PLANTED.values())
    assert len({chosen[name] for name in names[::3]}) == 1


# ------------------------------------------------------------------------------ the verdicts


def test_planted_mappings_are_found(version, tmp_path):
    found = annotate(version, tmp_path, by_habit(1))
    assert {name: str(one.mapping) for name, one in found.annotators.items()} == PLANTED
    assert found.kappa == 1
    assert found.symmetric_kappa < 0.8
    assert found.unanimity.before == found.unanimity.after
    assert (found.unanimity.before.n, found.unanimity.before.of) == (72, 72)
    assert {one.status for one in found.patterns.values()} == {"kept"}
    assert found.as_json()["to_remove"] == []


def test_kappas_with_errors_are_those_of_a_slow_reference(version, tmp_path):
    found = annotate(version, tmp_path, by_habit(2, error=0.2))
    batches = read_annotation_batches(tmp_path / "batches")
    given_ = {}
    for path in batches[0].answer_files():
        rows, _ = read_sheet(path, SHEET_COLUMNS)
        given_[path.stem] = {row["id"]: SCALE.index(row["answer"]) for _, row in rows}
    keys = sorted(batches[0].pairs)
    points = {name: [answers[key] for key in keys] for name, answers in given_.items()}

    def mean(mappings):
        labelled = {
            name: [mapping.labels[point] for point in points[name]]
            for name, mapping in zip(sorted(points), mappings, strict=True)
        }
        pairs = itertools.combinations(sorted(points), 2)
        return sum(cohen_kappa_score(labelled[a], labelled[b]) for a, b in pairs) / 3

    best = max(mean(each) for each in itertools.product(MAPPINGS, repeat=3))
    assert found.kappa == pytest.approx(best)
    assert found.symmetric_kappa == pytest.approx(mean([SYMMETRIC] * 3))
    assert {str(one.mapping) for one in found.annotators.values()} == set(PLANTED.values())


def test_patterns_by_hand(version, tmp_path):
    definite = {"contradiction": SCALE[0], "neutral": SCALE[2], "entailment": SCALE[4]}
    seen = {}

    def say(name, row):
        number = seen[name, row["group"]] = seen.get((name, row["group"]), 0) + 1
        group, label = row["group"], row["label"]
        if group == "0p":  # all three see another label
            return definite["neutral"]
        if group == "1p":  # three labels for each problem
            return definite[LABELS[int(name[-1]) - 1]]
        if group == "2p" and name == "annotator-2":  # one deviates in all problems
            return "skip"
        if group == "3p" and name == "annotator-3" and number == 1:  # one deviates once
            return "Difficult"
        if group == "4p" and name != "annotator-1":  # two cannot judge
            return ("difficult", "skip")[int(name[-1]) - 2]
        return definite[label]

    found = annotate(version, tmp_path, say)
    status = {name: found.patterns[f"{name}p"].status for name in range(6)}
    assert status == {
        0: "gold differs",
        1: "no majority",
        2: "low agreement",
        3: "kept",
        4: "no majority",
        5: "kept",
    }
    assert found.patterns["0p"].majority == "neutral"
    assert found.patterns["1p"].majority is None
    share = found.patterns["2p"].agreement
    assert (share.n, share.of) == (3, 9)
    share = found.patterns["3p"].agreement
    assert (share.n, share.of) == (7, 9)
    assert found.patterns["4p"].others == {"difficult": 3, "skip": 3}
    assert found.outcomes == {"kept": 63, "gold differs": 3, "no majority": 3, "unclear": 3}
    # Not unanimous with the label: 3 of each of 0p, 1p, 2p and 4p, and one of 3p.
    before, after = found.unanimity.before, found.unanimity.after
    assert (before.n, before.of) == (72 - 13, 72)
    assert (after.n, after.of) == (72 - 13, 72 - 9)
    assert found.as_json()["to_remove"] == ["1p", "4p", "2p"]
    assert found.annotators["annotator-2"].answers["skip"] == 3
    # Where one of the two skips or finds it difficult, the pair is not compared.
    n = {pair: one.n_problems for pair, one in found.kappas.items()}
    assert n["annotator-1", "annotator-2"] == 72 - 3 - 3
    assert n["annotator-1", "annotator-3"] == 72 - 1 - 3
    # By label and by class they are parts of the whole.
    for parts in (found.by_label, found.by_category):
        assert sum(one.before.of for one in parts.values()) == 72
        assert sum(one.after.n for one in parts.values()) == after.n
    strict = nlihub.annotation.review_validation(version, tmp_path / "batches", min_agreement=0.8)
    assert strict.patterns["3p"].status == "low agreement"
    loose = nlihub.annotation.review_validation(version, tmp_path / "batches", min_agreement=0)
    assert loose.patterns["2p"].status == "kept"
    with pytest.raises(UsageError, match="from 0 to 1"):
        nlihub.annotation.review_validation(version, tmp_path / "batches", min_agreement=2)


def test_half_of_the_answers(version, tmp_path):
    """Nothing is counted of problems that not all have answered, and no pattern is thrown out."""

    def say(name, row):
        return "" if name == "annotator-3" else SCALE[HABITS["annotator-1"][row["label"]][0]]

    found = annotate(version, tmp_path, say)
    assert found.unanimity.before.of == 0
    assert found.outcomes == {"kept": 72}  # two of three agree already
    assert {one.status for one in found.patterns.values()} == {"kept"}
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["kappa"] == 1


def test_nothing_is_answered(version, tmp_path):
    nlihub.annotation.sample_patterns(version, tmp_path)
    found = nlihub.annotation.review_validation(version, tmp_path)
    assert found.kappa is None
    assert {one.status for one in found.patterns.values()} == {"not enough answers"}
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["pairs"] == []


# --------------------------------------------------------------------------- what is refused


def test_the_open_bank(built, tmp_path):
    made = nlihub.annotation.sample_patterns(built, tmp_path, per_pattern=1)
    n_patterns = len(set(read_problems(BuiltVersion(built))["group"].to_pylist()))
    assert (made.n_pairs, made.short) == (n_patterns, {})


def test_bad_answers_and_other_datasets_are_refused(version, tmp_path):
    nlihub.annotation.sample_patterns(version, tmp_path / "b")
    (batch,) = read_annotation_batches(tmp_path / "b")
    for number, (answer, message) in enumerate(
        {
            "unclear": r"'unclear' is unknown; expected definitely false, .*, difficult, skip",
            "entailment": r"'entailment' is unknown",
            "4": r"'4' is unknown",
        }.items()
    ):
        sheets = fill_in(version, batch, tmp_path / str(number), lambda *_, a=answer: a)
        with pytest.raises(AnnotationError, match=message):
            nlihub.annotation.import_validation(version, tmp_path / "b", sheets)
    with pytest.raises(UsageError, match="not a sample of negatives"):
        nlihub.annotation.review_judgements(version, tmp_path / "b")
    other = build_rows(tmp_path / "v", SciNLI.SPEC, {"test": [{"label": "neutral"}]}).folder
    with pytest.raises(UsageError, match=r"has the labels .*drawn from patterns"):
        nlihub.annotation.sample_patterns(other, tmp_path / "c")
    with pytest.raises(UsageError, match="has no batch"):
        nlihub.annotation.review_validation(version, tmp_path / "c")
    with pytest.raises(UsageError, match="has no answers yet"):
        nlihub.annotation.sample_patterns(version, tmp_path / "b")


def test_rows_without_a_pattern_are_refused(tmp_path):
    rows = rows_of(3, 2)
    rows[0]["group"] = None
    folder = build_rows(tmp_path / "v", SpaceNLI.SPEC, {"test": rows}).folder
    with pytest.raises(UsageError, match="without a pattern"):
        nlihub.annotation.sample_patterns(folder, tmp_path / "b")


def test_another_version_is_refused(version, tmp_path):
    nlihub.annotation.sample_patterns(version, tmp_path / "b")
    rows = rows_of(24, 6)
    for row in rows:
        row["hypothesis"] = f"{row['hypothesis']} Now."
    other = build_rows(tmp_path / "v", SpaceNLI.SPEC, {"test": rows}).folder
    with pytest.raises(AnnotationError, match="has another text now"):
        nlihub.annotation.review_validation(other, tmp_path / "b")


# ------------------------------------------------------------------------------- as a user


def test_the_command_line_leads_through(version, tmp_path):
    def run(*arguments, code=0):
        done = run_command("annotate", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    there = (str(version), "--batches", "b")
    assert "12 pairs; hand out" in run(
        "sample", *there, "--categories", "projective", "--per-pattern", "1"
    )
    (batch,) = read_annotation_batches(tmp_path / "b")
    sheets = fill_in(version, batch, tmp_path / "back", by_habit(5, error=0.1))
    said = run("import", str(version), *map(str, sheets), "--batches", "b")
    assert re.search(r"annotator-2 +scale \d-\d-\d \(false-unknown-true\); 12 answers", said)
    assert "the mean of 3 pairs" in said
    assert json.loads(run("review", *there, "--json"))["min_agreement"] == 2 / 3
    said = run("review", *there, "--min-agreement", "1")
    assert "low agreement" in said
    assert "leave out --strategies" in run("sample", *there, "--strategies", "GEN", code=2)
    assert "no candidates" in run("review", *there, "--per-class", "test=3", code=2)


def test_the_real_bank(official, tmp_path):
    """As in the second phase: three problems of every pattern, three annotators."""
    version = nlihub.build("spacenli", tmp_path / "built", folder=official)
    made = nlihub.annotation.sample_patterns(version, tmp_path / "b")
    assert (made.n_pairs, made.short) == (480, {})
    (batch,) = read_annotation_batches(tmp_path / "b")
    sheets = fill_in(version, batch, tmp_path / "back", by_habit(7, error=0.1))
    found = nlihub.annotation.import_validation(version, tmp_path / "b", sheets)
    assert {name: str(one.mapping) for name, one in found.annotators.items()} == PLANTED
    assert found.kappa == pytest.approx(0.81, abs=0.05)
    assert found.unanimity.after.value > found.unanimity.before.value + 0.03
    assert len(found.patterns) == 160
