"""The first tier runs every command, and every procedure is one."""

import ast
from itertools import takewhile

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
        assigned = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Assign)]
        if not any("pytestmark = " in text and "mark.slow" in text for text in assigned):
            named = (n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
            yield from (node for node in named if not is_slow(node))


def texts_that_lead(node):
    """The texts with which each call, list or tuple begins, and the functions that are called."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield [getattr(part.func, "attr", getattr(part.func, "id", ""))]
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


def test_every_procedure_is_a_command():
    folders = (ROOT / "builders/procedures").glob("*/__init__.py")
    assert sorted(PROCEDURES) == sorted(path.parent.name for path in folders)
    assert {f"construct {name}" for name in PROCEDURES} <= set(dict(leaf_commands()))
