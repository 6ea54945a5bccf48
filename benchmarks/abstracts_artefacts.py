"""What conclusions made from abstracts give away: the probe by strategy, of versions with options.

    python benchmarks/abstracts_artefacts.py NAME=VERSION...

For each version, the share of the rows of each category that the hypothesis-only probe of ``nlihub
stats`` gets right, in per cent, and in brackets how often it guesses the same of rows of the other
label; then how often its positives and its negatives are negated. A version that has one split
(``--ratio 0,0,1``, all negatives) is judged by five folds of whole mechanisms.
"""

import argparse
from pathlib import Path

import datasets
from nlihub.builders.procedures.abstracts.choose import is_negated
from nlihub.builders.statistics.probe import measure_probe
from nlihub.builders.versions.version import BuiltVersion


def share_negated(rows: datasets.Dataset, label: str) -> float:
    """Return the share of the hypotheses of a label that are negated, in per cent."""
    names = rows.features["label"].names
    texts = [row["hypothesis"] for row in rows if names[row["label"]] == label]
    return 100 * sum(map(is_negated, texts)) / max(len(texts), 1)


def main() -> None:
    """Print a table with a column for each version."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="NAME=VERSION")
    given = dict(one.split("=", 1) for one in parser.parse_args().versions)

    records = {}
    for name, folder in given.items():
        version = BuiltVersion(Path(folder))
        config = version.main_config
        rows = datasets.concatenate_datasets(list(datasets.load_dataset(folder, config).values()))
        found = measure_probe(version)["probe"]
        parts = {**found.get("labels", {}), **found.get("categories", {})}
        shown = {
            part: f"{right} ({of_others}) of {n}" for part, (n, right, of_others) in parts.items()
        }
        shown["macro-F1"] = str(found.get("macro_f1", ["", "", ""])[0])
        for label in rows.features["label"].names:
            shown[f"negated {label}"] = f"{share_negated(rows, label):.1f}"
        records[name] = shown
    print(f"| rows of | {' | '.join(records)} |\n|{' --- |' * (len(records) + 1)}")
    for part in dict.fromkeys(part for shown in records.values() for part in shown):
        print(f"| {part} | {' | '.join(shown.get(part, '') for shown in records.values())} |")


if __name__ == "__main__":
    main()
