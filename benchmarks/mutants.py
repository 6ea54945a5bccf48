"""Measure how many small faults in the code the tests find.

    python benchmarks/mutants.py TREE --number 300 --output mutants.json [--part 1/2]

TREE is a throwaway checkout whose editable install is the Python that runs this file, with
``pytest-cov`` installed. A mutant changes one operator, constant or condition of ``AREAS``; which
mutants are drawn depends on a hash of the changed line alone, so that two states of the code draw
the same mutants where they share the line. A mutant is killed by a test that runs its line in the
unchanged code and now fails, or takes too long. Lines that no test runs count as survivors.
"""

import argparse
import ast
import copy
import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AREAS = [
    "metrics",
    "loaders/releases",
    "builders/versions",
    "builders/procedures/abstracts/perturb",
]
TIMEOUT_S = 300
MAX_TESTS = 120
_SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


def mutate(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield (name, changed copy) of what a mutation makes of one node of the syntax tree."""
    new: Any = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in _SWAPS:
            new.ops = [_SWAPS[type(operator)]()]
            yield "comparison", new
        case ast.BoolOp() | ast.BinOp() if type(new.op) in _SWAPS:
            new.op = _SWAPS[type(new.op)]()
            yield "operator", new
        case ast.UnaryOp(op=ast.Not()):
            yield "not", new.operand
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.IfExp() | ast.If() | ast.While():
            yield "condition", ast.UnaryOp(ast.Not(), new.test)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without f-strings, whose parts have no true positions."""
    if not isinstance(node, ast.JoinedStr):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from walk(child)


def candidates(root: Path) -> Iterator[dict[str, Any]]:
    """Yield every mutant of the areas: its key, its place in the source, and the changed line."""
    for path in sorted(path for area in AREAS for path in (root / area).rglob("*.py")):
        source = path.read_text()
        lines = source.splitlines(keepends=True)
        for node in walk(ast.parse(source)):
            old = node.test if isinstance(node, ast.IfExp | ast.If | ast.While) else node
            for name, new in mutate(node):
                if not isinstance(old, ast.expr) or old.end_lineno != old.lineno:
                    continue
                line = lines[old.lineno - 1].encode()
                start, end = old.col_offset, old.end_col_offset
                text = f"({ast.unparse(ast.fix_missing_locations(new))})".encode()
                indent = len(line) - len(line.lstrip())
                key = f"{name} {start - indent} {line.strip().decode()}"
                yield {
                    "key": hashlib.sha256(key.encode()).hexdigest(),
                    "file": str(path.relative_to(root)),
                    "line": old.lineno,
                    "changed": (line[:start] + text + line[end:]).decode(),
                }


def draw(root: Path, number: int) -> list[dict[str, Any]]:
    """Draw as many mutants of every area, by their keys."""
    everything = sorted(candidates(root), key=lambda mutant: mutant["key"])
    share = number // len(AREAS)
    return [
        mutant
        for area in AREAS
        for mutant in [one for one in everything if one["file"].startswith(area + "/")][:share]
    ]


def pass_in_time(root: Path, tests: list[str]) -> bool:
    """Run these tests of either tier, up to the first failure."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-m", ""]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def record_coverage(root: Path) -> None:
    """Run the first tier once, noting in .coverage which test runs which line."""
    rooms = sorted({area.split("/")[0] for area in AREAS})
    options = ["-q", "-n", "2", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", *options, *(f"--cov={room}" for room in rooms)]
    subprocess.run(command, cwd=root, check=False)


def tests_by_line(root: Path) -> dict[tuple[str, int], list[str]]:
    """Read which tests run a line; those of the line's own room come first."""
    from coverage.numbits import numbits_to_nums

    found: dict[tuple[str, int], list[str]] = {}
    with sqlite3.connect(root / ".coverage") as database:
        for path, context, numbits in database.execute(
            "SELECT path, context, numbits FROM line_bits JOIN file ON file.id = file_id"
            " JOIN context ON context.id = context_id WHERE context != ''"
        ):
            name = str(Path(path).resolve().relative_to(root))
            for line in numbits_to_nums(numbits):
                found.setdefault((name, line), []).append(context.rpartition("|")[0])
    for (name, _), tests in found.items():
        room = f"tests/{name.split('/')[0]}/"
        tests[:] = sorted(dict.fromkeys(tests), key=lambda test: not test.startswith(room))
    return found


def main() -> None:
    """Draw the mutants, try each, and write what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--part", default="1/1", help="which of how many equal parts to try")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    root = options.tree.resolve()
    if not (root / ".coverage").exists():
        record_coverage(root)
    by_line = tests_by_line(root)
    part, parts = map(int, options.part.split("/"))
    mutants = draw(root, options.number)[part - 1 :: parts]
    for mutant in mutants:
        path = root / mutant["file"]
        tests = by_line.get((mutant["file"], mutant["line"]), [])[:MAX_TESTS]
        original = path.read_text()
        lines = original.splitlines(keepends=True)
        lines[mutant["line"] - 1] = mutant["changed"]
        began = time.monotonic()
        try:
            path.write_text("".join(lines))
            mutant["killed"] = bool(tests) and not pass_in_time(root, tests)
        finally:
            path.write_text(original)
        mutant |= {"tests": len(tests), "seconds": round(time.monotonic() - began, 1)}
        options.output.write_text(json.dumps(mutants, indent=1))
    for area in AREAS:
        own = [mutant for mutant in mutants if mutant["file"].startswith(area + "/")]
        print(f"{area}: {sum(mutant['killed'] for mutant in own)} of {len(own)} killed")


if __name__ == "__main__":
    main()
