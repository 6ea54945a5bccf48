"""Baselines on real rows: SciNLI with 2,000 training rows, and few shots of SpaceNLI.

``python benchmarks/baselines.py --scinli FOLDER --encoder FOLDER --output FOLDER`` does the SciNLI
runs; with ``--spacenli FOLDER`` also the few-shot runs. Runs that are done are left as they are, so
that it can be stopped and started again. In the end it reports on all of them.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from nlihub.baselines.presets import FEW_SHOT, SEEDS, SHOTS, get_preset
from nlihub.baselines.runs.config import HyperParameters, RunConfig

import nlihub

#: Of the small encoder: with 2,000 rows the papers' rate, 2e-5, leaves it where it began.
ENCODER = HyperParameters(
    learning_rate=1e-4, batch_size=32, max_epochs=5, patience=2, max_length=300
)
SMALL_FEW_SHOT = {"learning_rate": 1e-4, "max_epochs": 5, "batch_size": 32}


def main() -> None:
    """Does the runs and the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--scinli", type=Path, required=True, help="files of SciNLI, with train_1.tsv and 2"
    )
    parser.add_argument("--spacenli", type=Path, help="official files of SpaceNLI")
    parser.add_argument("--encoder", type=Path, required=True, help="a small pretrained encoder")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    neural = get_preset("scinli-cbow").config.options

    def run(
        name: str, method: str, options: HyperParameters, seeds: tuple[int, ...], **more: object
    ) -> None:
        for view in ("pair", "hypothesis"):
            config = RunConfig(
                name,
                method,
                ("scinli",),
                train="scinli/human",
                validation=None if method == "lexicalized" else "scinli",
                view=view,
                options=options,
                **more,
            )
            nlihub.baselines.run(
                config,
                given.output / "scinli" / name / view,
                seeds=seeds,
                folder=given.scinli,
                precision=given.precision if method == "encoder" else "fp32",
                keep_checkpoint=False,
                tell=lambda line: print(line, file=sys.stderr, flush=True),
            )

    run("lexicalized", "lexicalized", HyperParameters(), SEEDS[:1])
    run("cbow", "cbow", neural, SEEDS)
    run("cnn", "cnn", neural, SEEDS)
    run("small encoder", "encoder", ENCODER, SEEDS, model=str(given.encoder))
    if given.spacenli is not None:
        config = RunConfig(
            "small encoder",
            "encoder",
            ("spacenli/few_shot",),
            model=str(given.encoder),
            train="spacenli/few_shot",
            options=replace(FEW_SHOT, **SMALL_FEW_SHOT),
        )
        nlihub.baselines.run(
            config,
            given.output / "spacenli",
            seeds=SEEDS,
            shots=SHOTS,
            folder=given.spacenli,
            precision=given.precision,
            keep_checkpoint=False,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
    run("bilstm", "bilstm", neural, SEEDS)  # by far the slowest on a processor
    found = nlihub.baselines.report([given.output], given.output / "report")
    print(json.dumps(found, indent=2, default=str))


if __name__ == "__main__":
    main()
