"""What a dataset, a cached version and interrupted reading depend on: their own code alone."""

import ast
import json
import shutil
import time
from pathlib import Path

import pytest
from conftest import ROOT
from nlihub.builders.core import identity
from nlihub.builders.core.identity import code_identity, covered_files
from nlihub.builders.core.options import BuildOptions
from nlihub.builders.core.registry import builders, get_builder
from nlihub.builders.procedures.papers.extract import Job
from nlihub.builders.procedures.papers.pairs import PairRules
from nlihub.builders.versions import open as cache
from nlihub.builders.versions import write_rows
from nlihub.builders.versions.verify import verify_version
from nlihub.loaders.corpora.papers.metadata import Metadata
from nlihub.loaders.corpora.papers.sentences import split_sentences
from nlihub.loaders.releases import scinli

RELEASE = {"builders", "builders/core", "loaders", "loaders/fetching", "loaders/releases"}
PATTERNS = {
    *RELEASE,
    "builders/procedures",
    "builders/procedures/patterns",
    "loaders/corpora",
    "loaders/corpora/patterns",
}
#: The folders whose code the rows of each dataset depend on.
ROOMS = {
    "bionli": RELEASE,
    "mscinli": RELEASE,
    "open_spacenli": PATTERNS - {"loaders/releases"},  # it has none
    "scinli": RELEASE,
    "spacenli": PATTERNS,
}


def names_of(paths):
    """The paths in the package, without the packages that the modules are in."""
    package = identity._folder("builders").resolve().parent
    found = {path.resolve().relative_to(package) for path in paths}
    return {path for path in found if path.name != "__init__.py"}


def job():
    return Job(PairRules(), split_sentences, Metadata())


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A copy of the code, which identities are of."""
    for room in ("builders", "loaders"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(identity, "_folder", lambda room: tmp_path / room)
    forget()
    yield tmp_path
    forget()


def forget():
    identity._read.cache_clear()
    identity.code_identity.cache_clear()


def change(path, old="\n", new="\n# changed\n"):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    forget()


# ---- which files it covers ---------------------------------------------------------------------


@pytest.mark.parametrize("name", list(builders()))
def test_the_rooms_that_a_dataset_depends_on(name):
    covered = names_of(covered_files(get_builder(name).__module__))
    rooms = {path.parent.as_posix() for path in covered}
    assert rooms == ROOMS.get(name, RELEASE)
    others = {path.stem for path in covered if path.parent == Path("builders")} - {name}
    is_alike = get_builder(name).SPEC.labels == get_builder("scinli").SPEC.labels
    assert others == ({"scinli"} if is_alike and name != "scinli" else set())


def test_the_code_that_reading_papers_depends_on():
    covered = names_of(covered_files(Job.__module__, split_sentences.__module__))
    folders = {path.parent.as_posix() for path in covered}
    assert folders == {
        "builders/core",
        "builders/procedures/papers",
        "loaders",
        "loaders/corpora",  # where the corpora share a reader
        "loaders/corpora/papers",
    }
    assert {path.name for path in covered if path.suffix == ".json"} == {"phrases.json"}
    assert {path.stem for path in covered if path.parent.name == "core"} == {"keyed"}
    assert "recipe" not in {path.stem for path in covered}


def test_what_writes_rows_does_not_depend_on_cards():
    covered = {path.stem for path in names_of(covered_files(write_rows.__name__))}
    assert {"manifest", "row_digests", "schema", "write_rows"} <= covered
    assert not {"card", "card_statistics", "verify", "version", "write"} & covered


def test_every_import_that_the_source_has_is_followed():
    """Compared with a slow and obvious search for the names of modules."""
    module = get_builder("mscinli").__module__
    covered = set(covered_files(module))
    for path in covered:
        for node in ast.walk(ast.parse(path.read_text()) if path.suffix == ".py" else ast.Module()):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                for target in (folder, *(folder / alias.name for alias in node.names)):
                    if target.with_suffix(".py").is_file():
                        assert target.with_suffix(".py") in covered, (path, target)


def test_imports_for_type_checkers_do_not_count(tree):
    for text, counts in (
        ("from .extra import x", True),
        ("def f():\n    try:\n        from . import extra\n    finally:\n        pass", True),
        ("import nlihub.builders.core.extra", True),
        ("match 1:\n    case _:\n        from .extra import x", True),
        ("import typing\nif typing.TYPE_CHECKING:\n    from .extra import x", False),
        ("if TYPE_CHECKING:\n    from .extra import x\nelse:\n    from .extra import y", True),
        ("'from .extra import x'", False),
    ):
        (tree / "builders/core/extra.py").write_text("x = 1")
        (tree / "builders/core/tried.py").write_text(text)
        forget()
        before = code_identity("nlihub.builders.core.tried")
        (tree / "builders/core/extra.py").write_text("x = 2")
        forget()
        assert (code_identity("nlihub.builders.core.tried") != before) is counts, text


def test_code_outside_the_package_counts_with_what_it_imports(tmp_path, monkeypatch):
    (tmp_path / "their_dataset.py").write_text("from nlihub.builders.scinli import SciNLI\n")
    monkeypatch.syspath_prepend(tmp_path)
    import their_dataset

    class Theirs(their_dataset.SciNLI):
        __module__ = "their_dataset"

    covered = {path.name for path in covered_files("their_dataset")}
    assert {"their_dataset.py", "scinli.py", "tables.py"} <= covered
    before = Theirs.code_identity()
    change(tmp_path / "their_dataset.py")
    assert Theirs.code_identity() != before
    forget()


@pytest.mark.parametrize("name", ["mscinli", "spacenli"])
def test_it_is_quick(name):
    forget()
    start = time.process_time()
    code_identity(get_builder(name).__module__)
    assert time.process_time() - start < 0.5  # 0.03 s on an idle machine


# ---- what a change discards --------------------------------------------------------------------


def test_a_change_elsewhere_discards_nothing(tree):
    """Cards and publishing are no part of the copy: they are never looked at."""
    before = {name: get_builder(name).code_identity() for name in builders()}
    of_papers, of_rows = code_identity(*job().modules()), code_identity(write_rows.__name__)
    for path in (
        "builders/annotation/batch.py",
        "builders/versions/card.py",
        "builders/versions/verify.py",
        "builders/versions/write.py",
        "builders/statistics/survey.py",
        "builders/core/registry.py",
        "builders/core/datasets_builder.py",
        "builders/procedures/abstracts/recipe.py",
        "loaders/sources.json",
    ):
        change(tree / path)
    assert {name: get_builder(name).code_identity() for name in builders()} == before
    assert (code_identity(*job().modules()), code_identity(write_rows.__name__)) == (
        of_papers,
        of_rows,
    )


@pytest.mark.parametrize(
    ("path", "discarded"),
    [
        ("builders/scinli.py", {"scinli", "mscinli"}),
        ("builders/mscinli.py", {"mscinli"}),
        ("loaders/releases/tables.py", {"scinli", "mscinli", "bionli"}),
        ("loaders/releases/bionli.py", {"bionli"}),
        ("builders/procedures/patterns/space.py", {"spacenli", "open_spacenli"}),
        ("loaders/corpora/patterns/mini_world.py", {"spacenli", "open_spacenli"}),
        ("builders/core/schema.py", set(builders())),
        ("builders/core/encode.py", set(builders())),
        ("builders/procedures/papers/cleaning.py", {"papers"}),
        ("builders/procedures/papers/phrases.json", {"papers"}),
        ("loaders/corpora/papers/xml_papers.py", {"papers"}),
        ("builders/versions/write_rows.py", {"files"}),
        ("builders/versions/manifest.py", {"files"}),
    ],
)
def test_a_changed_rule_discards_what_follows_it(tree, path, discarded):
    def identities():
        found = {name: get_builder(name).code_identity() for name in builders()}
        return {
            **found,
            "papers": code_identity(*job().modules()),
            "files": code_identity(write_rows.__name__),
        }

    before = identities()
    change(tree / path)
    changed = {name for name, found in identities().items() if found != before[name]}
    known = {*ROOMS, "papers"}  # of a dataset added since, nothing is said here
    assert changed & known == discarded & known
    if "files" in discarded:
        assert "files" in changed


def test_another_entry_of_the_catalogue_discards_nothing(tmp_path, monkeypatch):
    """The entries of a dataset's own files count, and those of others do not."""
    path = ROOT / "loaders" / "sources.json"
    builder = get_builder("scinli")
    options = BuildOptions(splits=("test",))

    def fingerprint(change_entry):
        entries = json.loads(path.read_text())
        change_entry(entries)
        place = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        place.write_text(json.dumps(entries))
        monkeypatch.setenv("NLIHUB_SOURCES", str(place))
        return builder.fingerprint(options)

    before = fingerprint(lambda entries: None)
    assert fingerprint(lambda entries: entries["bionli"]["files"].pop("test")) == before
    assert fingerprint(lambda entries: entries["scinli"]["files"]["train"].update(rows=1)) == before
    changed = fingerprint(lambda entries: entries["scinli"]["files"]["test"].update(rows=1))
    assert changed != before


def test_a_changed_bank_discards_the_dataset_that_ships_it(tmp_path, monkeypatch):
    builder = get_builder("open_spacenli")
    before = builder.code_identity()
    changed = tmp_path / "patterns.xml"
    changed.write_bytes(builder.SHIPPED[0].read_bytes() + b"\n")
    monkeypatch.setattr(builder, "SHIPPED", (changed, *builder.SHIPPED[1:]))
    assert builder.code_identity() != before


def test_a_changed_card_is_written_anew_beside_the_same_rows(tmp_path, monkeypatch):
    builder = get_builder("open_spacenli")
    options = BuildOptions(cache_dir=tmp_path, configs=("projective",))
    version = cache.ensure_built(builder, options)
    [shard] = (version.folder / "projective").iterdir()
    before, card = shard.stat(), (version.folder / "README.md").read_text()
    render = cache.write.render_card
    monkeypatch.setattr(cache.write, "render_card", lambda *args: render(*args) + "\nChanged.\n")
    assert (cache.ensure_built(builder, options).folder / "README.md").read_text() == card

    whole = cache.code_identity
    monkeypatch.setattr(
        cache, "code_identity", lambda name: whole(name) + "x" * (name == cache.write.__name__)
    )
    again = cache.ensure_built(builder, options)
    assert again.folder == version.folder
    assert (again.folder / "README.md").read_text() == card + "\nChanged.\n"
    assert not list(again.damaged_files())
    assert (shard.stat().st_ino, shard.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    monkeypatch.undo()
    assert verify_version(cache.ensure_built(builder, options).folder).passed  # and back again
    assert shard.stat().st_ino == before.st_ino

    monkeypatch.setattr(cache, "code_identity", lambda name: "other")
    assert cache.ensure_built(builder, options).folder != version.folder


def test_labels_of_generic_rooms_come_from_no_dataset():
    """No room below the datasets imports one of them."""
    datasets = {f"nlihub.builders.{name}" for name in builders()}
    for path in sorted((ROOT / "builders").glob("*/**/*.py")):
        inside = path.relative_to(ROOT / "builders").with_suffix("").as_posix().replace("/", ".")
        module = identity._read(f"nlihub.builders.{inside.removesuffix('.__init__')}")
        assert module is not None, path
        assert not datasets & module.imports, path
    assert get_builder("scinli").SPEC.labels == scinli.LABELS
