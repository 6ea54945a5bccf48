"""Join a metric's module with all that it imports from this package into one script; install it.

A metric on the Hub, or in the cache of ``evaluate``, is a single script; its source is several
modules. The layout of that cache is private to ``evaluate``; it was seen in 0.4.5 and 0.4.6 and is
written down here and nowhere else: ``<modules>/metrics/<name>/<64 digits>/<script>``, where the
name is ``evaluate-metric--NAME`` or ``ORG--NAME``, every folder is a package, and the newest script
counts.
"""

import ast
import hashlib
import os
import symtable
from collections.abc import Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from . import METRICS

_PACKAGE = "nlihub.metrics"


class BundleError(ValueError):
    """A module cannot be joined with others in one file."""


def bundle(module: str) -> str:
    """Return a metric's module as one file, with all that it imports from ``nlihub.metrics``.

    Args:
        module: Full name of the module.

    Returns:
        Python source that imports nothing of nlihub, to publish or to install.

    Raises:
        BundleError: There is no such module, two of the joined modules define the same name, or
            one imports nlihub whole, under another name or inside a function.
    """
    parts = list(_parts(module, set()))
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    owners: dict[str, str] = {}
    for part in parts:
        for symbol in symtable.symtable(part.source, part.name, "exec").get_symbols():
            if symbol.is_assigned() and not symbol.is_imported():
                name = symbol.get_name()
                if owners.setdefault(name, part.name) != part.name:
                    raise BundleError(f"{part.name} and {owners[name]} both define {name!r}.")
        for node in part.tree.body:
            if isinstance(node, ast.Import):
                plain |= {ast.unparse(ast.Import([alias])) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not _is_ours(node, part):
                names = named.setdefault(node.module or "", set())
                names |= {ast.unparse(alias) for alias in node.names}
    chosen = [f"from {name} import {', '.join(sorted(names))}" for name, names in named.items()]
    header = f'"""{ast.get_docstring(parts[-1].tree, clean=False)}"""\n'
    note = f"# One file made of the modules of {_PACKAGE}; change those, and make it anew.\n"
    bodies = [f"# {part.name}\n\n{_body(part)}" for part in parts]
    return "\n".join([header, note, *sorted(plain), *sorted(chosen), "\n", *bodies])


class _Part(NamedTuple):
    """One module of a bundle."""

    name: str
    package: str
    source: str
    tree: ast.Module


def _is_ours(node: ast.ImportFrom, part: _Part) -> bool:
    return _target(node, part).startswith(_PACKAGE)


def _target(node: ast.ImportFrom, part: _Part) -> str:
    return resolve_name("." * node.level + (node.module or ""), part.package)


def _parts(name: str, done: set[str]) -> Iterator[_Part]:
    """Yield a module after those of this package that it imports, each once."""
    if name in done:
        return
    done.add(name)
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise BundleError(f"There is no module {name}.")
    source = Path(spec.origin).read_text(encoding="utf-8")
    part = _Part(name, spec.parent or "", source, ast.parse(source))
    for node in ast.walk(part.tree):
        if isinstance(node, ast.Import) and any(a.name.startswith("nlihub") for a in node.names):
            raise BundleError(f"{name} imports a module of nlihub whole.")
        if isinstance(node, ast.ImportFrom) and _is_ours(node, part):
            if node not in part.tree.body or any(alias.asname for alias in node.names):
                raise BundleError(f"{name} renames or hides an import of {_target(node, part)}.")
            yield from _parts(_target(node, part), done)
    yield part


def _body(part: _Part) -> str:
    """Return the source without docstring and imports, those of examples included."""
    lines = part.source.splitlines()
    for i, node in enumerate(part.tree.body):
        if (i == 0 and isinstance(node, ast.Expr)) or isinstance(node, ast.Import | ast.ImportFrom):
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    kept = (line for line in lines if not line.lstrip().startswith(f">>> from {_PACKAGE}"))
    return "\n".join(kept).strip("\n") + "\n\n"


def install_metrics() -> list[Path]:
    """Make ``evaluate.load("pattern_accuracy")`` and the others work offline in every project.

    The metrics load by their bare names and as ``nlihub/NAME`` in all projects that share the
    cache of Hugging Face modules. Installing again replaces the scripts.

    Returns:
        The scripts, two per metric.

    Raises:
        OSError: The cache cannot be written.
    """
    from evaluate.loading import init_dynamic_modules

    root = Path(init_dynamic_modules()) / "metrics"
    scripts = []
    for name in METRICS:
        source = bundle(f"nlihub.metrics.{name}.{name}")
        digest = hashlib.sha256(source.encode()).hexdigest()
        for folder in (f"evaluate-metric--{name}", f"nlihub--{name}"):
            target = root / folder / digest
            target.mkdir(parents=True, exist_ok=True)
            for package in (root, target.parent, target):
                (package / "__init__.py").touch()
            scripts.append(_write(target / f"{name}.py", source))
    return scripts


def _write(path: Path, source: str) -> Path:
    """Write a file atomically; its time is new, since ``evaluate`` takes the newest script."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(source, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
