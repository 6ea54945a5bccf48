import pytest
from nlihub.metrics.functional import MetricInputError, consistency


def test_by_hand():
    """Three mechanisms: all right; a negative wrong; the positive wrong."""
    result = consistency(
        predictions=[1, 0, 0, 1, 1, 0, 0, 0],
        references=[1, 0, 0, 1, 0, 0, 1, 0],
        groups=["a", "a", "a", "b", "b", "b", "c", "c"],
        categories=["positive", "SEN", "LPR", "positive", "SEN", "LPR", "positive", "SEN"],
        thresholds=[0.5, 0.6, 1.0],
        per_group=True,
    )
    assert result["consistency"] == [1.0, 2 / 3, 1 / 3]
    assert result["accuracy"] == 6 / 8
    assert result["area_under_curve"] == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert result["n_wholly_solved"] == 1
    assert result["n_positive_right"] == 2
    assert result["n_negatives_right"] == 2
    assert result["n_positive_and_negatives_right"] == 1
    assert result["n_complete_groups"] == 3
    assert result["f1_positive"] == pytest.approx(2 * 2 / (3 + 3))
    assert result["f1_negative"] == pytest.approx(2 * 4 / (5 + 5))
    assert result["macro_f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert result["recall_by_category"] == {
        "LPR": {"recall": 1.0, "n_correct": 2, "n_samples": 2},
        "SEN": {"recall": 2 / 3, "n_correct": 2, "n_samples": 3},
        "positive": {"recall": 2 / 3, "n_correct": 2, "n_samples": 3},
    }
    assert result["macro_recall"] == {"rule_based": None, "neural": None}
    assert result["agreement"] == {
        "pairwise": pytest.approx((1 / 3 + 1 / 3 + 1) / 3),
        "majority": pytest.approx((2 / 3 + 2 / 3 + 1) / 3),
        "unanimous": 1 / 3,
        "n_groups": 3,
    }
    assert result["groups"]["n_correct"] == [3, 2, 1]
    assert result["curve"]["thresholds"] == [0.0, 0.5, 2 / 3, 1.0]
    assert result["signature"] == (
        "consistency|version:2.0.0|labels:not_entailment,entailment|positive:entailment|"
        "absent_class:0|thresholds:0.5,0.6,1.0|groups:3|samples:8"
    )


def test_the_means_of_table_5():
    """PubMedBERT with premise on the full distribution: recall by category."""
    names = ["SEN", "SEP", "SRE", "SREO", "VNeg", "SN", "LPR", "GEN-ND", "GEN"]
    recalls = (0.96, 0.97, 0.50, 0.98, 0.91, 0.82, 0.56, 0.60, 0.57)
    predictions, references, groups, categories = [], [], [], []
    for category, recall in zip(names, recalls, strict=True):
        predictions += [0] * round(100 * recall) + [1] * round(100 - 100 * recall)
        references += [0] * 100
        categories += [category] * 100
        groups += range(100)
    result = consistency(predictions, references, groups, categories=categories)
    assert [result["recall_by_category"][name]["recall"] for name in names] == list(recalls)
    assert result["macro_recall"]["rule_based"] == pytest.approx(0.81, abs=0.005)
    assert result["macro_recall"]["neural"] == pytest.approx(0.585)


def test_a_perfect_system_has_seven_eighths_of_a_positive_and_seven_negatives():
    """And so no group of both labels is ever whole, as BioNLI's section 4.4 found."""
    gold, groups = [1, *[0] * 7, 1, 0], [*["a"] * 8, "b", "b"]
    found = consistency(gold, gold, groups, thresholds=[0.5, 0.875, 1.0])
    assert found["consistency"] == [1.0, 1.0, 1.0]
    larger = found["larger_side"]
    assert larger["consistency"] == [1.0, 0.5, 0.0]
    assert larger["area_under_curve"] == (7 / 8 + 1 / 2) / 2
    assert larger["curve"] == {
        "thresholds": [0.0, 0.5, 0.875, 1.0],
        "consistency": [1.0, 1.0, 0.5, 0.0],
    }
    assert larger.pop("perfect") == larger


def test_a_category_with_both_labels_and_a_third_label_are_refused():
    with pytest.raises(MetricInputError, match="'SEN' has samples of both labels"):
        consistency([1, 0], [1, 0], ["a", "a"], categories=["SEN", "SEN"])
    for predictions, references in (("ab", "bb"), ("aa", "aa"), ("ca", "cb")):
        with pytest.raises(MetricInputError, match="labels: missing; name the negative"):
            consistency(list(predictions), list(references), [0, 0], labels=None)
    with pytest.raises(MetricInputError, match="expected two, the positive one last"):
        consistency([1, 0], [1, 0], ["a", "a"], labels=["a", "b", "c"])
    with pytest.raises(MetricInputError, match=r"outside the label set in 1 of 2 rows: 1 \(2\)"):
        consistency([1, 2], [1, 0], ["a", "a"])
