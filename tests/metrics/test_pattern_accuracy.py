import random
from fractions import Fraction

import numpy as np
import pytest
import reference_metrics as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import growth_of_peak
from nlihub.metrics.functional import MetricInputError, pattern_accuracy
from nlihub.metrics.scores import as_fraction


def rows_of(counts):
    """Rows for (right, samples) of each pattern, its gold label its number modulo 3."""
    predictions, references, groups = [], [], []
    for group, (right, samples) in enumerate(counts):
        gold = group % 3
        predictions += [gold] * right + [(gold + 1) % 3] * (samples - right)
        references += [gold] * samples
        groups += [group] * samples
    return predictions, references, groups


def test_a_share_that_is_the_threshold_counts():
    """190 of 200 reach 0.95, though 0.95 * 200 is 190.0 only by luck and 0.07 * 100 is not 7."""
    result = pattern_accuracy(*rows_of([(190, 200), (189, 200)]), thresholds=0.95)
    assert result["pattern_accuracy"] == 0.5
    for threshold, right, samples in (
        (0.07, 7, 100),
        (0.29, 29, 100),
        (1 / 3, 1, 3),
        (5 / 6, 5, 6),
    ):
        counts = [(right, samples), (right - 1, samples)]
        result = pattern_accuracy(*rows_of(counts), thresholds=threshold)
        assert result["pattern_accuracy"] == 0.5, threshold


@pytest.mark.parametrize("samples", [1, 2, 3, 7, 49, 100, 200, 997, 3000])
def test_every_boundary_is_exact(samples):
    """For every share k/n: a pattern with k of n reaches it, and one with k - 1 does not."""
    ks = sorted({1, samples, *(random.Random(samples).randint(1, samples) for _ in range(20))})
    for k in ks:
        for threshold in (k / samples, Fraction(k, samples)):
            counts = [(k, samples), (k - 1, samples)]
            found = pattern_accuracy(*rows_of(counts), thresholds=threshold)
            assert found["pattern_accuracy"] == 0.5, (k, samples)


def test_floats_stand_for_the_simplest_fraction():
    for numerator in range(1, 400):
        for denominator in range(numerator, 400, 7):
            fraction = Fraction(numerator, denominator)
            assert as_fraction(float(fraction)) == fraction
    assert as_fraction(np.float32(0.95)) == Fraction(19, 20)
    assert as_fraction(0.123456789) == Fraction(123456789, 10**9)
    assert as_fraction(5e-324) == Fraction(5e-324)
    twentieths = [Fraction(k, 20) for k in range(21)]
    assert list(map(as_fraction, np.linspace(0, 1, 21))) == twentieths
    assert list(map(as_fraction, np.arange(0.5, 1, 0.05))) == twentieths[10:20]
    found = pattern_accuracy(*rows_of([(190, 200)]), thresholds=np.linspace(0, 1, 21))
    assert found["pattern_accuracy"] == [1.0] * 20 + [0.0]


def test_one_threshold_gives_a_number_and_a_list_a_list_in_its_order():
    rows = rows_of([(2, 4), (4, 4), (3, 4)])
    assert pattern_accuracy(*rows)["thresholds"] == 0.95
    assert pattern_accuracy(*rows, thresholds=1)["pattern_accuracy"] == 1 / 3
    for thresholds in ([1.0, 0.5, 0.75], (1.0, 0.5, 0.75), np.array([1.0, 0.5, 0.75])):
        result = pattern_accuracy(*rows, thresholds=thresholds)
        assert result["pattern_accuracy"] == [1 / 3, 1.0, 2 / 3]
        assert result["thresholds"] == [1.0, 0.5, 0.75]
    assert pattern_accuracy(*rows, thresholds=[0.95])["pattern_accuracy"] == [1 / 3]


def test_the_paper_s_example():
    """Section 4.2.2: PA of 50 % at 90 % means that half of the patterns have 90 % solved."""
    counts = [(9, 10), (10, 10), (8, 10), (0, 10)]
    result = pattern_accuracy(*rows_of(counts), thresholds=0.9)
    assert result["pattern_accuracy"] == 0.5
    assert result["accuracy"] == result["area_under_curve"] == 27 / 40
    assert result["curve"] == {
        "thresholds": [0.0, 0.8, 0.9, 1.0],
        "pattern_accuracy": [1.0, 0.75, 0.5, 0.25],
    }


def test_groups_of_different_sizes():
    result = pattern_accuracy(*rows_of([(1, 1), (0, 3)]), thresholds=1)
    assert (result["accuracy"], result["area_under_curve"]) == (0.25, 0.5)
    assert result["curve"] == {"thresholds": [0.0, 1.0], "pattern_accuracy": [1.0, 0.5]}


def test_the_curve_of_groups_too_large_for_quotients(monkeypatch):
    """Beyond 2**26 samples shares are compared as fractions; here from 3 on."""
    rows = rows_of([(1, 3), (2, 6), (3, 3), (0, 2)])
    expected = pattern_accuracy(*rows)["curve"]
    monkeypatch.setattr("nlihub.metrics.scores._MAX_EXACT_SIZE", 3)
    assert pattern_accuracy(*rows)["curve"] == expected


def test_the_curve_ends_at_0_where_nothing_is_solved():
    result = pattern_accuracy(*rows_of([(1, 2), (0, 2)]))
    assert result["curve"] == {
        "thresholds": [0.0, 0.5, 1.0],
        "pattern_accuracy": [1.0, 0.5, 0.0],
    }


def test_categories_and_groups():
    predictions, references, groups = rows_of([(4, 4), (2, 4), (4, 4)])
    names = np.array(["b-1", "a-2", "b-10"])
    categories = np.array(["projective", "directional", "projective"])
    result = pattern_accuracy(
        predictions,
        references,
        names[groups],
        categories=categories[groups],
        thresholds=[0.5, 1.0],
        labels=["entailment", "neutral", "contradiction"],
        per_group=True,
    )
    assert list(result["by_category"]) == ["directional", "projective"]
    assert result["by_category"]["directional"] == {
        "pattern_accuracy": [1.0, 0.0],
        "accuracy": 0.5,
        "area_under_curve": 0.5,
        "n_groups": 1,
        "n_samples": 4,
    }
    assert result["by_category"]["projective"]["pattern_accuracy"] == [1.0, 1.0]
    assert result["groups"] == {
        "group": ["a-2", "b-1", "b-10"],
        "reference": ["neutral", "entailment", "contradiction"],
        "category": ["directional", "projective", "projective"],
        "n_samples": [4, 4, 4],
        "n_correct": [2, 4, 4],
        "accuracy": [0.5, 1.0, 1.0],
    }
    assert result["signature"] == (
        "pattern_accuracy|version:2.0.0|labels:entailment,neutral,contradiction|"
        "thresholds:0.5,1.0|groups:3|samples:12"
    )


#: Ids of every kind, by the number of the group.
ID_KINDS = {
    "dense": lambda i: i,
    "negative": lambda i: i - 5,
    "sparse": lambda i: (i * 2_654_435_761) % 2**61,
    "text": lambda i: f"pattern {i * 7 % 11}-{i}",
}


@pytest.mark.parametrize("kind", ID_KINDS)
def test_parity_with_exact_arithmetic(kind):
    """Over a thousand random cases a kind, thresholds on the boundary among them."""
    rng = random.Random(kind)
    for _ in range(1000):
        n_groups, n_labels = rng.randint(1, 8), rng.randint(1, 4)
        gold = [rng.randrange(n_labels) for _ in range(n_groups)]
        groups = [rng.randrange(n_groups) for _ in range(rng.randint(1, 60))]
        references = [gold[g] for g in groups]
        skill = rng.random()
        predictions = [r if rng.random() < skill else rng.randrange(n_labels) for r in references]
        groups = [ID_KINDS[kind](g) for g in groups]
        shares = reference.group_accuracies(predictions, references, groups)
        thresholds = [0, 1, rng.random(), Fraction(rng.randint(0, 20), 20), *shares.values()]
        thresholds += [float(share) for share in shares.values()]
        result = pattern_accuracy(
            predictions, references, groups, thresholds=thresholds, per_group=True
        )
        args = (predictions, references, groups)
        exact = [
            reference.pattern_accuracy(*args, as_fraction(t) if isinstance(t, float) else t)
            for t in thresholds
        ]
        assert result["pattern_accuracy"] == [float(share) for share in exact]
        assert result["accuracy"] == float(reference.accuracy(predictions, references))
        assert result["area_under_curve"] == pytest.approx(float(reference.area(*args)), abs=1e-15)
        assert result["groups"]["group"] == list(shares)
        assert result["groups"]["accuracy"] == [float(share) for share in shares.values()]
        curve = result["curve"]
        assert curve["thresholds"] == sorted({0.0, 1.0, *map(float, shares.values())})
        assert curve["pattern_accuracy"] == [
            float(reference.pattern_accuracy(*args, as_fraction(t))) for t in curve["thresholds"]
        ]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=12))
def test_the_area_is_the_integral_of_the_curve(counts):
    counts = [(min(right, samples), samples) for right, samples in counts]
    curve = pattern_accuracy(*rows_of(counts))["curve"]
    steps = zip(np.diff(curve["thresholds"]), curve["pattern_accuracy"][1:], strict=True)
    area = sum(width * share for width, share in steps)
    assert pattern_accuracy(*rows_of(counts))["area_under_curve"] == pytest.approx(area)


def test_a_pattern_with_two_gold_labels_is_refused():
    with pytest.raises(MetricInputError) as caught:
        pattern_accuracy([0, 0, 0, 0], [0, 0, 1, 0], ["x", "y", "x", "y"])
    assert caught.value.problems == (
        "references: not the same for all rows of a group in 1 of 2 groups: "
        "'x' (row 0: 0, row 2: 1).",
    )
    for groups in ([5, 6, 5, 6], [10**12, 7, 10**12, 7]):
        with pytest.raises(MetricInputError, match="in 1 of 2 groups"):
            pattern_accuracy([0, 0, 0, 0], [0, 0, 1, 0], groups)
        with pytest.raises(MetricInputError, match=r"categories: .*row 0: a, row 2: b"):
            pattern_accuracy([0] * 4, [0] * 4, groups, categories=["a", "a", "b", "a"])


def test_comparison_of_two_systems():
    """The first solves patterns 0 to 5 wholly, the second only 5."""
    predictions, references, groups = rows_of([(4, 4)] * 6 + [(0, 4)])
    other = rows_of([(3, 4)] * 5 + [(4, 4), (0, 4)])[0]
    result = pattern_accuracy(
        predictions, references, groups, thresholds=[1.0], other_predictions=other
    )
    found = result["comparison"]["pattern_accuracy"][0]
    assert (found["other"], found["difference"]) == pytest.approx((1 / 7, 5 / 7))
    assert (found["n_only_first"], found["n_only_second"]) == (5, 0)
    assert found["p_value"] == pytest.approx(2 / 2**5)  # McNemar's, exact
    assert found["interval"][0] <= 0
    assert result["comparison"]["accuracy"]["difference"] == pytest.approx(5 / 28)
    assert result["signature"].endswith("|test:exchange|resamples:9999|seed:0|confidence:0.95")
    single = pattern_accuracy(
        predictions, references, groups, thresholds=1.0, other_predictions=other
    )
    assert single["comparison"]["pattern_accuracy"] == found


def test_a_perfect_system_has_an_area_of_1_whatever_the_sizes():
    counts = [(size, size) for size in range(1, 200)]
    assert pattern_accuracy(*rows_of(counts))["area_under_curve"] == 1.0


def test_a_system_does_not_differ_from_itself():
    rng = random.Random(0)
    counts = [(rng.randint(0, 9), rng.randint(9, 30)) for _ in range(40)]
    predictions, references, groups = rows_of(counts)
    found = pattern_accuracy(predictions, references, groups, other_predictions=predictions)
    for score in found["comparison"].values():
        assert (score["difference"], score["p_value"], score["interval"]) == (0.0, 1.0, [0.0, 0.0])


def test_many_categories_or_labels_need_no_large_tables():
    """Tables of all combinations would have 400 million and a billion cells."""
    setup = """
    import numpy as np
    from nlihub.metrics.functional import pattern_accuracy
    pattern_accuracy([0, 1], [0, 0], [0, 1])
    """
    code = """
    n = 20_000
    ids = np.arange(n)
    zeros = np.zeros(n, np.int64)
    assert len(pattern_accuracy(zeros, zeros, ids, categories=ids)["by_category"]) == n
    labels = zeros.copy()
    labels[7] = 999
    assert pattern_accuracy(labels, zeros, ids)["accuracy"] == 1 - 1 / n
    for groups in (ids.astype(str), np.array([f"{i}" for i in ids], object)):
        assert pattern_accuracy(labels, zeros, groups)["accuracy"] == 1 - 1 / n
    """
    assert growth_of_peak(setup, code) < 200e6
