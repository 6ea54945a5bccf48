"""What the defaults of fine-tuning reach: few, some and many training rows, no option given.

    python benchmarks/fine_tuning_defaults.py --rows FILE... --scinli FOLDER --encoder FOLDER
        --output FOLDER [--sizes 200,2000] [--seeds 1,2,3] [--set max_epochs=5]

Of each file of rows as many as a size says are taken, the same number of every label, in the order
of a keyed hash of their ids; a size that no file has is left out. Epochs are compared on SciNLI's
validation rows, of which as many as the training rows are taken; tests are on all its test rows.
Prints a table of macro-F1 over the seeds. ``--set`` gives hyper-parameters, to compare with.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from nlihub.baselines.runs.config import RunConfig
from nlihub.baselines.runs.data import read_run_rows
from nlihub.builders.core.keyed import keyed_number

import nlihub


def write_sample(rows: Any, n_rows: int, path: Path) -> Path:
    """Write some rows, of every label as many, in the uniform schema."""
    table = rows.rows.to_pylist()
    table.sort(key=lambda row: keyed_number(1, "sample", row["id"]))
    n_each = n_rows // len(rows.labels)
    left = dict.fromkeys(range(len(rows.labels)), n_each)
    lines = []
    for row in table:
        if left[row["label"]]:
            left[row["label"]] -= 1
            kept = {name: row[name] for name in ("id", "premise", "hypothesis")}
            lines.append(json.dumps(kept | {"label": rows.labels[row["label"]]}) + "\n")
    if any(left.values()):
        raise SystemExit(f"There are too few rows for {n_rows}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def main() -> None:
    """Do the runs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", required=True, help="training rows, as nlihub takes them")
    parser.add_argument("--scinli", type=Path, required=True, help="official files of SciNLI")
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sizes", default="200,2000")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    options = {name: json.loads(value) for name, _, value in (s.partition("=") for s in given.set)}
    rows = read_run_rows(given.rows, "train")
    validation = read_run_rows("scinli:validation", "validation", given.scinli)
    print("| rows | chosen | macro-F1 |\n| --- | --- | --- |")
    for size in map(int, given.sizes.split(",")):
        folder = given.output / f"{size}{''.join(given.set)}"
        train = write_sample(rows, size, folder / "train.jsonl")
        n_judged = min(size, len(validation.rows))
        judged = write_sample(validation, n_judged, folder / "validation.jsonl")
        config = RunConfig.from_json(
            {
                "name": "defaults",
                "method": "encoder",
                "model": str(given.encoder),
                "train": str(train),
                "validation": str(judged),
                "tests": ["scinli"],
                "options": options,
            }
        )
        found = nlihub.baselines.run(
            config,
            folder / "runs",
            seeds=[int(seed) for seed in given.seeds.split(",")],
            folder=given.scinli,
            precision=given.precision,
            keep_checkpoint=False,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
        reports = [one["evaluations"]["scinli-default-test"]["metrics"] for one in found]
        scores = [100 * report["nli_report"]["macro_f1"] for report in reports]
        used = json.loads((Path(found[0]["run"]) / "config.json").read_text())["options"]
        shown = ", ".join(
            f"{name} {used[name]}" for name in ("learning_rate", "batch_size", "max_epochs")
        )
        spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
        print(f"| {size:,} | {shown} | {statistics.mean(scores):.2f} ± {spread:.2f} |", flush=True)


if __name__ == "__main__":
    main()
