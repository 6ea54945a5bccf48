"""The README and the cards keep what they say."""

import doctest
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from nlihub.builders.core.registry import get_builder
from nlihub.builders.versions.card import fill_blocks, read_blocks
from nlihub.builders.versions.packaged_card import CardCheck, check_card
from nlihub.loaders.errors import SchemaError
from release_files import fixtures

import nlihub
from nlihub import loading

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_of_the_readme_runs(built, tmp_path):
    (tmp_path / "built").symlink_to(built.parent)
    code = "\n".join(blocks("python"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "=>" in done.stdout


def test_the_examples_of_the_docstrings_run():
    failed, attempted = doctest.testmod(loading)
    assert (failed, attempted > 0) == (0, True)


def test_the_bank_of_the_readme_can_be_sampled(tmp_path):
    bank = tmp_path / "bank"
    bank.mkdir()
    (bank / "world.yaml").write_text(blocks("yaml")[0])
    (bank / "patterns.xml").write_text(blocks("xml")[0])
    summary = nlihub.sample(str(bank), tmp_path / "sample.parquet", seed=1)
    assert summary.rows == 4  # four figures, one building


def test_the_readme_knows_every_dataset_and_command():
    for name in set(nlihub.list_datasets()) - set(fixtures()):  # those tell of themselves
        assert f"`{name}`" in README
        for config in nlihub.describe(name)["configs"]:
            assert f"`{config}`" in README
    from nlihub.cli import app

    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert re.search(rf"(\||`nlihub)\s+{name}\b", README), name
    from nlihub.cli.baselines import app as baseline

    for command in baseline.registered_commands:
        name = command.name or command.callback.__name__
        assert re.search(rf"(\| `|nlihub baseline ){name}\b", README), name


def test_packaged_cards_are_up_to_date():
    """In all that needs no source; where no source is needed, in everything."""
    for name in nlihub.list_datasets():
        found = check_card(name)
        assert found.stale == ()
        assert bool(found.unchecked) == nlihub.describe(name)["needs_download"]


def test_the_packaged_card_of_spacenli_is_up_to_date(official):
    assert check_card("spacenli", folder=official) == CardCheck((), ())


def test_the_packaged_card_of_scinli_is_up_to_date(scinli_release):
    found = check_card("scinli", folder=scinli_release, splits=["validation", "test"])
    assert found == CardCheck((), ())


def test_a_stale_card_is_told(monkeypatch, capsys):
    spec = get_builder("bionli").SPEC
    monkeypatch.setitem(spec.__dict__, "citation", spec.citation.replace("2022", "2023"))
    assert check_card("bionli").stale == ("citation",)


def test_blocks():
    card = "a\n<!-- nlihub:begin x -->\nold\n<!-- nlihub:end x -->\nb\n"
    assert read_blocks(card) == {"x": "old\n"}
    filled = fill_blocks(card, {"x": "new", "y": "unused"})
    assert filled == "a\n<!-- nlihub:begin x -->\nnew\n<!-- nlihub:end x -->\nb\n"
    with pytest.raises(SchemaError, match="unknown block 'x'"):
        fill_blocks(card, {})
