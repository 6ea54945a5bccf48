"""Completion in a shell, as the shell asks for it: by environment variables."""

import pytest
from nlihub.baselines.presets import PRESETS
from typer.testing import CliRunner

import nlihub
from nlihub.cli import app

DATASETS = nlihub.list_datasets()


def complete(line, shell="bash"):
    """Return what a shell is told after a line, the last word of which is completed."""
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    variables = {**asked, "_NLIHUB_COMPLETE": f"complete_{shell}"}
    done = CliRunner().invoke(app, [], env=variables, prog_name="nlihub")
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nlihub ver", ["verify", "versions"]),
        ("nlihub annotate im", ["import"]),
        ("nlihub construct ", ["papers", "abstracts", "patterns"]),
        ("nlihub score --thr", ["--thresholds"]),
        ("nlihub show ", DATASETS),
        ("nlihub build scinli m", ["mismatched", "mscinli"]),
        ("nlihub install met", ["metrics"]),
        ("nlihub build scinli --configs ", ["default", "acl_small", "human"]),
        ("nlihub build scinli --configs default,a", ["default,acl_small"]),
        ("nlihub stats built/scinli --splits train,", ["train,validation", "train,test"]),
        ("nlihub score p.csv --dataset spacenli --config few", ["few_shot"]),
        ("nlihub score p.csv --dataset mismatched --split ", ["validation", "test"]),
        ("nlihub build scinli --origin ", ["release", "construct"]),
        ("nlihub baseline finetune --train sc", ["scinli"]),
        ("nlihub baseline finetune --train scinli/a", ["scinli/acl_small"]),
        ("nlihub baseline finetune --train scinli/human:", ["train", "validation", "test"]),
        ("nlihub baseline finetune --preset ", list(PRESETS)),
        ("nlihub reproduce bionli/figure-", ["bionli/figure-1", "bionli/figure-2"]),
        ("nlihub construct papers --random-sentences s", ["scinli"]),
    ],
)
def test_names_are_completed(line, expected):
    start = "scinli/human:" if line.endswith(":") else ""
    assert complete(line).split() == [start + name for name in expected]


@pytest.mark.parametrize(
    "line",
    [
        "nlihub score pre",
        "nlihub verify bu",
        "nlihub score p.csv --dataset built/",
        "nlihub baseline finetune --train rows/a",
        "nlihub stats no_such --configs ",
        "nlihub build --configs ",
    ],
)
def test_the_rest_is_left_to_the_shell_for_files(line):
    assert complete(line).strip() == ""
    assert complete(line, "fish").strip() == ""
    assert complete(line, "zsh").strip() == "_files"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(shell):
    assert all(name in complete("nlihub show ", shell) for name in DATASETS)
