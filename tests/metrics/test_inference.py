import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nlihub.metrics import inference
from nlihub.metrics.functional import MetricInputError, paired_t_test, pattern_accuracy
from nlihub.metrics.inference import (
    Resampling,
    _sign_test,
    _student_p_value,
    compare_systems,
    confidence_intervals,
    correct_by_holm,
    mcnemar,
    resample,
)
from scipy import stats

RESAMPLING = Resampling(0.95, 4000, 0)


def mean(totals):
    return {"mean": totals[:, 1] / totals[:, 0]}


def naive(vectors, n_resamples, seed):
    """Draws clusters one by one."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(vectors), (n_resamples, len(vectors)))
    return mean(vectors[drawn].sum(axis=1))["mean"]


@pytest.mark.parametrize("n_values", [2, 5, 10_000], ids=["two kinds", "five", "all different"])
def test_the_distribution_is_that_of_drawing_clusters(n_values):
    """Equal clusters are drawn together; the scores are distributed as if they were not."""
    values = np.random.default_rng(1).integers(0, n_values, 150) / n_values
    vectors = np.column_stack([np.ones(150), values])
    found = resample(vectors, mean, RESAMPLING)["mean"]
    expected = naive(vectors, 4000, 7)
    assert found.mean() == pytest.approx(expected.mean(), abs=0.005)
    assert found.std() == pytest.approx(expected.std(), rel=0.06)
    assert stats.ks_2samp(found, expected).pvalue > 1e-4


def test_counts_stand_for_equal_clusters():
    vectors = np.array([[1.0, 0.0], [1.0, 1.0]])
    counts = np.array([30, 70])
    repeated = np.repeat(vectors, counts, axis=0)
    assert confidence_intervals(vectors, mean, RESAMPLING, counts) == confidence_intervals(
        repeated, mean, RESAMPLING
    )


def test_the_interval_of_a_share_is_that_of_the_binomial():
    """1,000 clusters, 70 % solved: the share of a resample is binomial."""
    vectors = np.column_stack([np.ones(1000), np.arange(1000) < 700])
    low, high = confidence_intervals(vectors, mean, Resampling(0.95, 20_000, 0))["mean"]
    expected = stats.binom(1000, 0.7).ppf([0.025, 0.975]) / 1000
    assert (low, high) == pytest.approx(tuple(expected), abs=0.002)


def test_intervals_cover():
    """Of 300 samples of 100 patterns, about 95 % have intervals that hold the true share."""
    rng = np.random.default_rng(4)
    n_covered = 0
    for _ in range(300):
        right = rng.random(100) < 0.6
        found = pattern_accuracy(
            right.astype(int),
            np.ones(100, int),
            np.arange(100),
            confidence_level=0.95,
            n_resamples=999,
        )
        low, high = found["confidence_intervals"]["pattern_accuracy"]
        n_covered += low <= 0.6 <= high
    assert 270 <= n_covered <= 297


def test_the_p_value_is_uniform_where_systems_do_not_differ():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(200):
        ones = np.ones(200)
        first, other = (np.column_stack([ones, rng.random(200)]) for _ in range(2))
        found = compare_systems([first, other], mean, Resampling(0.95, 500, 0))
        p_values.append(found["mean"]["p_value"])
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3


def test_seeds():
    vectors = np.column_stack([np.ones(50), np.arange(50)])
    results = [confidence_intervals(vectors, mean, Resampling(0.95, 500, s)) for s in (1, 1, 2)]
    assert results[0] == results[1] != results[2]


def test_memory_is_bounded():
    """Many clusters, each of its own kind: weights are drawn in parts, to the same result."""
    vectors = np.column_stack([np.ones(300_000), np.random.default_rng(0).random(300_000)])
    low, high = confidence_intervals(vectors, mean, Resampling(0.9, 120, 0))["mean"]
    assert 0.498 < low < high < 0.502


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (1, 0), (5, 2), (40, 25), (300, 340), (0, 60)]
)
def test_mcnemar_is_the_sign_test(first, second):
    right = np.array([True] * first + [False] * second + [True] * 7 + [False] * 3)
    other = np.array([False] * first + [True] * second + [True] * 7 + [False] * 3)
    found = mcnemar(right, other)
    n, least = first + second, min(first, second)
    tail = sum(math.comb(n, k) for k in range(least + 1))
    exact = min(1, 2 * tail / 2**n)
    assert (found["n_only_first"], found["n_only_second"]) == (first, second)
    assert found["p_value"] == pytest.approx(exact)


def test_the_paired_t_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for n in (2, 3, 10):
        first, other = rng.normal(78, 1, n), rng.normal(77, 1, n)
        found, expected = paired_t_test(first, other), stats.ttest_rel(first, other)
        assert found["t"] == pytest.approx(expected.statistic)
        assert found["p_value"] == pytest.approx(expected.pvalue)
        assert found["degrees_of_freedom"] == n - 1
        assert found["difference"] == pytest.approx(first.mean() - other.mean())


#: Below, scipy gives 0, and floats have fewer digits.
SMALLEST = 1e-280


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 3000))
@example(1_000_000, 1_003_000)
@example(35_100, 35_000)
@example(35_000, 35_000)
@example(0, 0)
@example(0, 2000)
def test_the_sign_test_is_that_of_scipy(first, second):
    """To twelve digits, but for tiny p-values, for which scipy has fewer."""
    found = _sign_test(first, second)
    n = first + second
    expected = stats.binomtest(first, n, 0.5).pvalue if n else 1.0
    within = 1e-12 if expected > 1e-12 else 1e-10
    assert found == pytest.approx(expected, rel=within, abs=SMALLEST)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1200), st.integers(0, 1200))
@example(20_000, 20_400)
@example(2, 9)
def test_a_sign_test_in_floats_is_that_in_whole_numbers(first, second):
    exact = _sign_test(first, second)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "_MOST_TOSSES", -1)
        assert _sign_test(first, second) == pytest.approx(exact, rel=1e-12, abs=1e-300)


@settings(max_examples=300, deadline=None)
@given(st.floats(-8, 12).map(lambda power: 10**power), st.integers(1, 60) | st.integers(1, 5000))
@example(0.0, 1)
@example(1.0, 1)
@example(1.0, 100_000)
@example(5.0, 100_000)
@example(1e12, 1)
@example(1e12, 50)
def test_the_tail_of_student_is_that_of_scipy(t, freedom):
    """Near 0 scipy has fewer digits than the arc tangent, which it is with one degree."""
    expected, within = 2 * stats.t.sf(t, freedom), 1e-12 if t > 0.1 else 1e-8
    for sign in (1, -1):
        found = _student_p_value(sign * t, freedom)
        assert found == pytest.approx(expected, rel=within, abs=SMALLEST)
    cauchy = 2 / math.pi * math.atan2(1, t)
    assert _student_p_value(t, 1) == pytest.approx(cauchy, rel=1e-13)


def test_the_paired_t_test_without_variance():
    """Nothing can be tested, least of all be found significant."""
    for scores, others in (
        ([1, 2], [1, 2]),
        ([2, 3], [1, 2]),
        ([0.3, 0.6, 0.8], [0.2, 0.5, 0.7]),
        ([0.5] * 3, [0.4] * 3),
    ):
        found = paired_t_test(scores, others)
        assert (found["t"], found["p_value"]) == (None, None)


@pytest.mark.parametrize(
    ("scores", "others"),
    [
        ([1], [2]),
        ([1, 2], [1, 2, 3]),
        ([1, float("nan")], [1, 2]),
        ([1, 1e308], [1, 2]),
        ([[1, 2]], [[1, 2]]),
        ([], []),
        (["78.0", "78.4"], [1, 2]),
        ([True, False], [1, 2]),
        (["a", 2], [1, 2]),
        ({1, 2}, [1, 2]),
        ([[1], 2], [1, 2]),
        (np.ma.array([1, 2], mask=[0, 1]), [1, 2]),
        (None, [1, 2]),
    ],
)
def test_scores_that_make_no_pairs_are_refused(scores, others):
    with pytest.raises(MetricInputError):
        paired_t_test(scores, others)


def test_holm():
    assert correct_by_holm([0.01, 0.04, None, 0.03]) == [0.03, 0.06, None, 0.06]
    assert correct_by_holm([0.6, 0.7]) == [1.0, 1.0]
    assert correct_by_holm([None]) == [None]
