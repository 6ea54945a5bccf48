"""The documentation site: it is built strictly, and loads nothing from elsewhere."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import ROOT

import nlihub

sys.path.insert(0, str(ROOT / "docs"))
from build_site import find_loads, show_formulae
from generated_pages import generated_pages, leaf_commands


@pytest.fixture(scope="module")
def pages():
    return generated_pages(ROOT)


def test_every_dataset_has_a_page_with_the_results_of_its_paper(pages):
    for name in nlihub.list_datasets():
        assert f"]({name}.md)" in pages["datasets/index.md"]
    assert "| RoBERTa | scinli | scinli | macro-F1 78." in pages["datasets/scinli.md"]
    assert "nlihub reproduce bionli/table-2" in pages["datasets/bionli.md"]
    # Those of later papers that no run is compared with say why.
    assert "not compared with runs: " in pages["datasets/bionli.md"]


def test_every_command_and_public_name_is_in_the_reference(pages):
    import typer

    from nlihub.cli import app

    for path, _ in leaf_commands(typer.main.get_command(app), "nlihub"):
        assert f"## `{path}`" in pages["reference/command-line.md"]
    for procedure in ("papers", "abstracts", "patterns"):
        assert f"## `nlihub construct {procedure}`" in pages["reference/command-line.md"]
    assert "`--per-pattern" in pages["reference/command-line.md"]
    functions = "\n".join(text for name, text in pages.items() if name.startswith("reference/"))
    namespaces = {"annotation", "baselines", "construct", "hub", "metrics", "perturbation"}
    for name in {*nlihub.__all__} - namespaces - {"__version__"}:
        assert f"::: nlihub.{name}\n" in functions


def test_what_is_loaded_from_elsewhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="https://a.org">told, not loaded</a><link rel="canonical" href="https://b.org">'
        '<script src="https://c.org/x.js"></script><img alt="" src=//d.org/x.png>'
        '<link rel="stylesheet" href="https://e.org/x.css"><script src="own.js"></script>'
    )
    (tmp_path / "a.css").write_text("a { background: url(https://f.org/x.png) }")
    found = {line.partition("//")[2][:5] for line in find_loads(tmp_path)}
    assert found == {"c.org", "d.org", "e.org", "f.org"}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("zensical") is None, reason="nlihub[docs] is not installed")
class TestBuild:
    def test_strictly(self, tmp_path):
        command = [sys.executable, ROOT / "docs" / "build_site.py", "--folder", tmp_path / "docs"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        site = tmp_path / "docs" / "site"
        assert "pattern_accuracy" in (site / "reference/python/index.html").read_text()
        construct = (site / "reference/nlihub.construct/index.html").read_text()
        for option in ("Papers", "neutral_distance"), ("Abstracts", "strategies"):
            assert "Recipe.".join(option) in construct
        # A broken link, anchor or reference is an error.
        for broken in ("[a](gone.md)", "[a](index.md#gone)", "[a][nlihub.gone]"):
            (tmp_path / "docs" / "pages" / "changelog.md").write_text(f"# Changelog\n\n{broken}\n")
            command = [sys.executable, "-m", "zensical", "build", "--strict", "-f"]
            done = subprocess.run([*command, tmp_path / "docs/mkdocs.yml"], capture_output=True)
            assert done.returncode != 0

    def test_formulae_are_mathml(self):
        shown = show_formulae("A\n\n$$\n\\frac{1}{2}\n$$\n")
        assert "<mfrac>" in shown
        assert "$$" not in shown
