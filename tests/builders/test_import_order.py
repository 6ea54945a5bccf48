"""The order in which the folders of ``builders`` import each other."""

import ast

import pytest
from conftest import ROOT

BUILDERS = ROOT / "builders"
#: What each folder may import besides itself; the dataset files at the top are ``datasets``.
MAY_IMPORT = {
    "core": set(),
    "dataflow": {"core"},
    "procedures": {"core", "dataflow"},
    "datasets": {"core", "procedures"},
    "versions": {"core", "dataflow", "procedures"},
    "statistics": {"core", "procedures", "versions"},
    "annotation": {"core", "procedures", "versions"},
}


def folder_of(parts):
    return parts[0] if len(parts) > 1 or (BUILDERS / parts[0]).is_dir() else "datasets"


def imported_folders(path):
    parts = path.relative_to(BUILDERS).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(parts):
            base = parts[: len(parts) - node.level]
            for alias in node.names:
                target = (*base, *(node.module or alias.name).split("."))
                if target[0] != "__path__":  # the registry looks for the dataset files
                    yield folder_of(target)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_folders_import_in_one_order(folder):
    files = BUILDERS.glob("*.py") if folder == "datasets" else (BUILDERS / folder).rglob("*.py")
    wrong = [
        f"{path.relative_to(BUILDERS)} imports {name}"
        for path in sorted(files)
        for name in imported_folders(path)
        if name not in MAY_IMPORT[folder] | {folder}
    ]
    assert not wrong


def test_every_folder_has_its_place():
    folders = {path.parent.name for path in BUILDERS.glob("*/__init__.py")}
    assert folders == MAY_IMPORT.keys() - {"datasets"}
