"""Join a module with all that it imports from this package into one file.

A metric on the Hub, or in the cache of ``evaluate``, is a single script; its source is several
modules.
"""

import ast
from collections.abc import Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path

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
    parts = list(_in_order(module, []))
    _check_names(parts)
    imports = _join_imports(parts)
    entry = parts[-1]
    header = f'"""{ast.get_docstring(entry.tree, clean=False)}"""\n'
    note = f"# One file made of the modules of {_PACKAGE}; change those, and make it anew.\n"
    bodies = [f"# {part.name}\n\n{part.body()}" for part in parts]
    return "\n".join([header, note, imports, "", *bodies])


class _Part:
    """One module of a bundle."""

    def __init__(self, name: str) -> None:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise BundleError(f"There is no module {name}.")
        self.name = name
        self.source = Path(spec.origin).read_text(encoding="utf-8")
        self.tree = ast.parse(self.source)
        self.package = spec.parent or ""

    def target(self, node: ast.AST) -> str | None:
        """Return the module of this package that an import takes names from, or None."""
        if isinstance(node, ast.ImportFrom):
            name = resolve_name("." * node.level + (node.module or ""), self.package)
            return name if name.startswith(_PACKAGE) else None
        if isinstance(node, ast.Import) and any(a.name.startswith("nlihub") for a in node.names):
            raise BundleError(f"{self.name} imports a module of nlihub whole.")
        return None

    def internal(self) -> Iterator[str]:
        """Yield the modules of this package that it imports."""
        top_level = {id(node) for node in self.tree.body}
        for node in ast.walk(self.tree):
            if (name := self.target(node)) is None or not isinstance(node, ast.ImportFrom):
                continue
            if id(node) not in top_level or any(alias.asname for alias in node.names):
                raise BundleError(f"{self.name} renames or hides an import of {name}.")
            yield name

    def defined(self) -> set[str]:
        """Return the names that it defines at top level."""
        names: set[str] = set()
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        return names

    def body(self) -> str:
        """Return its source without docstring and imports, those of examples included."""
        lines = self.source.splitlines()
        for node in self.tree.body:
            is_docstring = node is self.tree.body[0] and isinstance(node, ast.Expr)
            if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
                for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                    lines[line] = ""
        kept = (line for line in lines if not line.lstrip().startswith(f">>> from {_PACKAGE}"))
        return "\n".join(kept).strip("\n") + "\n\n"


def _in_order(module: str, done: list[str]) -> Iterator[_Part]:
    """Yield a module after those that it imports, each once."""
    if module in done:
        return
    done.append(module)
    part = _Part(module)
    for name in part.internal():
        yield from _in_order(name, done)
    yield part


def _check_names(parts: list[_Part]) -> None:
    owners: dict[str, str] = {}
    for part in parts:
        for name in part.defined():
            if name in owners:
                raise BundleError(f"{part.name} and {owners[name]} both define {name!r}.")
            owners[name] = part.name


def _join_imports(parts: list[_Part]) -> str:
    plain: set[str] = set()
    names: dict[str, set[str]] = {}
    for part in parts:
        for node in part.tree.body:
            if isinstance(node, ast.Import):
                part.target(node)
                plain |= {ast.unparse(ast.Import([alias])) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and part.target(node) is None:
                found = names.setdefault(node.module or "", set())
                found |= {ast.unparse(alias) for alias in node.names}
    chosen = [f"from {module} import {', '.join(sorted(n))}" for module, n in names.items()]
    return "\n".join([*sorted(plain), *sorted(chosen)]) + "\n"
