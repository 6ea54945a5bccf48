"""Cartography as a metric of ``evaluate``.

Example:
    >>> metric = Cartography(fraction=0.5)
    >>> result = metric.compute(probabilities=[0.25, 0.75, 1.0, 1.0], groups=["a", "a", "b", "b"])
    >>> result["groups"]["confidence"], result["subsets"]["easy"]
    ([0.5, 1.0], ['b'])
"""

from collections.abc import Mapping
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
from nlihub.metrics.cartography.scoring import cartography
from nlihub.metrics.evaluate_module import ColumnarModule, name_labels
from nlihub.metrics.inputs.columns import check_lengths, read_input_columns
from nlihub.metrics.inputs.probabilities import read_probabilities
from nlihub.metrics.inputs.problems import Problems

_CITATION = """
@inproceedings{swayamdipta-etal-2020-dataset,
  title = {Dataset Cartography: Mapping and Diagnosing Datasets with Training Dynamics},
  author = {Swayamdipta, Swabha and Schwartz, Roy and Lourie, Nicholas and Wang, Yizhong and
    Hajishirzi, Hannaneh and Smith, Noah A. and Choi, Yejin},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language
    Processing (EMNLP)},
  pages = {9275--9293},
  year = {2020}
}
"""


class Cartography(ColumnarModule, evaluate.Metric):
    """Cartography; ``compute`` takes the arguments of the function ``cartography``."""

    SCORE = staticmethod(cartography)
    DESCRIPTION = (
        "Confidence and variability of the gold label's probability, over the samples of a pattern "
        "or the epochs of training, and the easy, hard and ambiguous subsets."
    )
    CITATION = _CITATION
    PAPER = "https://aclanthology.org/2020.emnlp-main.746"
    REQUIRED = ("probabilities", "groups")
    OPTIONAL = ("references", "other_probabilities")

    def _features(self) -> list[datasets.Features]:
        of_gold_label = datasets.Value("float64")
        of_every_label = datasets.Sequence(of_gold_label)
        return [
            datasets.Features({"probabilities": kind, "groups": datasets.Value(id_kind)})
            for kind in (of_gold_label, of_every_label)
            for id_kind in ("int64", "string")
        ]

    def _read(
        self, given: Mapping[str, Any], data: Any
    ) -> tuple[dict[str, pa.Array], set[tuple[str, ...]]]:
        problems = Problems()
        columns = read_input_columns(
            {"groups": given.get("groups")}, {"references": given.get("references")}, data, problems
        )
        matrices = {}
        for name in ("probabilities", "other_probabilities"):
            if name in given or name == "probabilities":
                matrices[name] = read_probabilities(given.get(name), data, problems, name)
        problems.check()
        arrays, label_sets = name_labels(columns)
        arrays |= {name: _as_array(m) for name, m in matrices.items() if m is not None}
        check_lengths({name: len(array) for name, array in arrays.items()}, problems)
        problems.check()
        return arrays, label_sets


def _as_array(matrix: np.ndarray) -> pa.Array:
    if matrix.ndim == 1:
        return pa.array(matrix)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
