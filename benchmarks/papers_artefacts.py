"""What a pair made from papers gives away: probes of versions that were built with other options.

    python benchmarks/papers_artefacts.py NAME=VERSION... [--scinli FOLDER]

For each version: the hypothesis-only probe of ``nlihub stats`` (words and pairs of words, folds by
paper) with its recall by class; a probe of overlap alone (how many content words the two texts
share, and their lengths), which tells neutral pairs from others; and, with SciNLI's official files,
the hypothesis-only probe trained on the version's rows and judged on SciNLI's test set. Macro-F1
and balanced accuracy in per cent.
"""

import argparse
import re
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from nlihub.builders.statistics.probe import probe_hypotheses, train_words
from nlihub.builders.versions.version import BuiltVersion
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from sklearn.model_selection import GroupKFold, cross_val_predict

import nlihub

_WORD = re.compile(r"[^\W\d_]{4,}")


def overlap_features(premise: str, hypothesis: str) -> list[float]:
    """Return the numbers of words of two texts, and the words that they share."""
    a, b = (set(_WORD.findall(text.lower())) for text in (premise, hypothesis))
    shared = len(a & b)
    fewer, all_words = max(min(len(a), len(b)), 1), max(len(a | b), 1)
    return [len(a), len(b), shared, shared / fewer, shared / all_words]


def probe_overlap(rows: Any, neutral: int) -> float:
    """Return how well overlap alone tells neutral pairs, as balanced accuracy; chance is 50."""
    features = np.array(
        [overlap_features(row["premise"], row["hypothesis"]) for row in rows], np.float64
    )
    is_neutral = np.array([row["label"] == neutral for row in rows])
    papers = [row["source"].split(":")[0] for row in rows]
    guesses = cross_val_predict(
        HistGradientBoostingClassifier(random_state=0, class_weight="balanced", max_iter=60),
        features,
        is_neutral,
        groups=papers,
        cv=GroupKFold(5),
    )
    return float(100 * balanced_accuracy_score(is_neutral, guesses))


def main() -> None:
    """Print a row of the table for each version."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="NAME=VERSION")
    parser.add_argument("--scinli", type=Path, help="official files of SciNLI")
    given = parser.parse_args()
    test = (
        nlihub.load_dataset("scinli", split="test", data_dir=given.scinli) if given.scinli else []
    )
    print("| version | rows | hypothesis alone | by class | overlap: neutral | on SciNLI's test |")
    print("| --- | --- | --- | --- | --- | --- |")
    for one in given.versions:
        name, _, folder = one.partition("=")
        version = BuiltVersion(Path(folder))
        rows = datasets.load_dataset(folder, split="train")
        labels = rows.features["label"].names
        probe = probe_hypotheses(version, "default")
        classifier = train_words(rows["hypothesis"][:], np.array(rows["label"][:]))
        papers = [source.split(":")[0] for source in rows["source"]]
        by_class = _recall_by_class(rows, papers, labels)
        overlap = probe_overlap(rows, labels.index("neutral"))
        transfer = "-"
        if len(test):
            guesses = classifier.predict(test["hypothesis"][:])
            transfer = f"{100 * f1_score(test['label'][:], guesses, average='macro'):.1f}"
        low, high = probe.macro_f1.interval or (0.0, 0.0)
        print(
            f"| {name} | {len(rows):,} | {probe.macro_f1.value:.1f} ({low:.1f} to {high:.1f}) "
            f"| {by_class} | {overlap:.1f} | {transfer} |"
        )


def _recall_by_class(rows: Any, papers: list[str], labels: list[str]) -> str:
    gold = np.array(rows["label"][:])
    texts = np.array(rows["hypothesis"][:], object)
    guesses = np.empty_like(gold)
    for training, judged in GroupKFold(5).split(texts, gold, papers):
        classifier = train_words(texts[training].tolist(), gold[training])
        guesses[judged] = classifier.predict(texts[judged].tolist())
    recalls = recall_score(gold, guesses, average=None)
    pairs = zip(labels, recalls, strict=True)
    return ", ".join(f"{label} {100 * recall:.1f}" for label, recall in pairs)


if __name__ == "__main__":
    main()
