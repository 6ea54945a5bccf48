"""The first tier has a test of every room, command, dataset and procedure."""

import ast
from itertools import takewhile

import pytest
from command_line import leaf_commands
from conftest import ROOT
from nlihub.builders.procedures import PROCEDURES

TESTS = ROOT / "tests"
ROOMS = ("baselines", "builders", "front_door", "integrations", "loaders", "metrics", "publishing")


def is_slow(node):
    return any(ast.unparse(d).removeprefix("pytest.") == "mark.slow" for d in node.decorator_list)


def first_tier(room):
    """The functions and classes of a room's tests, but for slow tests."""
    for path in (TESTS / room).rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        marks = [n for n in tree.body if ast.unparse(n).startswith("pytestmark = ")]
        if not any("mark.slow" in ast.unparse(mark) for mark in marks):
            named = (n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
            yield from (node for node in named if not is_slow(node))


def texts_that_lead(node):
    """The texts with which each call, list or tuple begins, and the functions that are called."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield [ast.unparse(part.func).rpartition(".")[2]]
        if isinstance(part, (ast.Call, ast.List, ast.Tuple)):
            elements = part.args if isinstance(part, ast.Call) else part.elts
            constants = takewhile(lambda e: isinstance(e, ast.Constant), elements)
            yield [str(constant.value) for constant in constants]


def test_every_command_is_run():
    run = [texts for room in ROOMS for node in first_tier(room) for texts in texts_that_lead(node)]
    for command in dict(leaf_commands()):
        short = command.removeprefix("baseline ").removeprefix("annotate ").split()
        words = command.split()
        assert any(short == t[: len(short)] or words == t[: len(words)] for t in run), command


def test_every_dataset_has_a_test():
    """The conformance suite goes through the registry: a dataset cannot be left out."""
    suite = (TESTS / "builders/core/test_conformance.py").read_text(encoding="utf-8")
    every = "[(name, config) for name, b in builders().items() for config in b.SPEC.configs]"
    assert f"CONFIGS = {every}" in suite
    mark = '@pytest.mark.parametrize(("name", "config"), CONFIGS)\n'
    assert f"\n\n{mark}def test_every_config_keeps_to_every_check" in suite


def test_every_procedure_is_a_command():
    folders = (ROOT / "builders/procedures").glob("*/__init__.py")
    assert sorted(PROCEDURES) == sorted(path.parent.name for path in folders)
    assert {f"construct {name}" for name in PROCEDURES} <= set(dict(leaf_commands()))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_test(room):
    assert any(node.name.startswith("test_") for node in first_tier(room))


def test_rooms_are_the_folders_of_the_package():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert {*packages, "front_door"} - {"dataset_cards"} == set(ROOMS)
