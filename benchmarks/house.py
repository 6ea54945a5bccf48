"""Print the figures of the house: modules, lines, public names, options.

``python benchmarks/house.py`` prints those of this checkout, ``python benchmarks/house.py OLD NEW``
those of two beside each other. The files are parsed; nothing of them is imported or run.

- product modules, product lines: the ``*.py`` of the rooms; every line counts, blank ones too.
- small modules with one importer: modules of fewer than 40 lines that exactly one other module of
  the rooms imports, at its top or in a function; ``__init__.py`` excluded. They are listed below
  the table. Modules that are imported by a computed name are not seen as imported.
- names at the top: what ``__init__.pyi`` imports; in older checkouts, ``__all__``.
- options of nlihub build: the parameters of ``build`` in ``cli/datasets.py`` but its arguments; a
  group of options counts once.
- lines that declare an option: lines at the interface that have it as a parameter, a field or an
  item of a docstring (``seed:``), as a type of the command line (``Seed = Annotated[``) or as a
  flag (``--seed``). The interface is ``src/nlihub`` and, in ``builders``, the modules in
  ``OPTION_MODULES``. The first figure leaves out ``OTHER_DRAWS``, modules of the interface whose
  seed is not that of a dataset that is constructed.
- lines that name phrase_sets: all product lines with the word, whatever they do with it.
"""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOMS = {
    "loaders": "nlihub.loaders",
    "builders": "nlihub.builders",
    "metrics": "nlihub.metrics",
    "baselines": "nlihub.baselines",
    "publishing": "nlihub.publishing",
    "integrations": "nlihub.integrations",
    "src/nlihub": "nlihub",
}
OPTION_MODULES = ("recipe.py", "options.py", "procedure.py")
OTHER_DRAWS = {
    "annotation.py",
    "api.py",  # sample and export, once
    "metrics.py",
    "negatives.py",
    "patterns.py",  # sample and export on the command line
    "prompting.py",  # exemplars of a prompt
    "perturbation.py",
    "perturbations.py",
    "sampling.py",
    "scores.py",
}
SMALL = 40


def read_modules(checkout: Path) -> dict[str, Path]:
    """Return the files of the rooms by the names under which they are imported."""
    found = {}
    for room, package in ROOMS.items():
        folder = checkout / room
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts))
            found[name.removesuffix(".__init__")] = path
    return found


def imported_by(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """Return the modules of the rooms that a module imports."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) + 1 - node.level], *base.split()])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.add(whole if whole in modules else base)
    return (found & modules.keys()) - {name}


def small_with_one_importer(modules: dict[str, Path]) -> list[str]:
    """Return a line for each small module that one other module imports."""
    importers: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for imported in imported_by(name, path, modules):
            importers[imported].add(name)
    return [
        f"{count_lines(path):3} {name} <- {next(iter(importers[name]))}"
        for name, path in modules.items()
        if path.name != "__init__.py" and count_lines(path) < SMALL and len(importers[name]) == 1
    ]


def count_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def count_names(checkout: Path) -> int:
    """Return the number of names at the top of the package."""
    stub = checkout / "src/nlihub/__init__.pyi"
    if stub.is_file():
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        return sum(len(node.names) for node in tree.body if isinstance(node, ast.ImportFrom))
    for node in ast.parse((checkout / "src/nlihub/__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return len(ast.literal_eval(node.value))
    raise SystemExit(f"{checkout}: src/nlihub has no __init__.pyi and no __all__.")


def count_build_options(checkout: Path) -> int:
    """Return the number of options of ``nlihub build``."""
    path = checkout / "src/nlihub/cli/datasets.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in ("build", "build_command"):
            parameters = [*node.args.args, *node.args.kwonlyargs]
            hints = [ast.unparse(a.annotation) for a in parameters if a.annotation]
            return sum("typer.Argument" not in hint for hint in hints)
    raise SystemExit(f"{path} has no function build.")


def count_declared(checkout: Path, option: str, *, everywhere: bool) -> int:
    """Return the number of lines at the interface that declare or document an option.

    Args:
        checkout: The root of the checkout.
        option: Name of the option in Python.
        everywhere: Whether the modules in ``OTHER_DRAWS`` count.
    """
    flag, kind = option.replace("_", "-"), option.title().replace("_", "")
    declares = re.compile(rf"\b{option}:|--{flag}\b|^{kind} = Annotated\[")
    return sum(
        bool(declares.search(line))
        for path in interface(checkout)
        if everywhere or path.name not in OTHER_DRAWS
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def interface(checkout: Path) -> Iterator[Path]:
    """Yield the modules that declare options."""
    yield from (checkout / "src/nlihub").rglob("*.py")
    for path in (checkout / "builders").rglob("*.py"):
        if path.name in OPTION_MODULES:
            yield path


def measure(checkout: Path) -> tuple[dict[str, int], list[str]]:
    """Return the figures of a checkout by name, and its small modules with one importer."""
    modules = read_modules(checkout)
    small = small_with_one_importer(modules)
    lines = sum(map(count_lines, modules.values()))
    benchmarks = sum(map(count_lines, (checkout / "benchmarks").rglob("*.py")))
    named = re.compile(r"phrase[_-]sets|PhraseSets")
    return {
        "product modules": len(modules),
        "small modules with one importer": len(small),
        "product lines": lines,
        "product lines and benchmarks": lines + benchmarks,
        "names at the top": count_names(checkout),
        "options of nlihub build": count_build_options(checkout),
        "lines that declare seed, to construct": count_declared(checkout, "seed", everywhere=False),
        "the same, everywhere": count_declared(checkout, "seed", everywhere=True),
        "lines that declare phrase_sets, to construct": count_declared(
            checkout, "phrase_sets", everywhere=False
        ),
        "the same, perturb included": count_declared(checkout, "phrase_sets", everywhere=True),
        "lines that name phrase_sets": sum(
            bool(named.search(line))
            for path in modules.values()
            for line in path.read_text(encoding="utf-8").splitlines()
        ),
    }, small


def main() -> None:
    """Print the table, then the small modules of the last checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    checkouts = parser.parse_args().checkouts
    found = [measure(checkout) for checkout in checkouts]
    names = [checkout.resolve().name for checkout in checkouts]
    print(f"| figure | {' | '.join(names)} |")
    print(f"| --- |{' ---: |' * len(found)}")
    for figure in found[0][0]:
        print(f"| {figure} | {' | '.join(f'{figures[figure]:,}' for figures, _ in found)} |")
    print(f"\nSmall modules with one importer in {names[-1]}:", *found[-1][1] or ["none"], sep="\n")


if __name__ == "__main__":
    main()
