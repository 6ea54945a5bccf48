"""Hashes of the code that rows depend on, so that no cache serves rows of an earlier rule.

An identity is local: it covers the modules that it is asked for, all that these import of this
package, directly or not, and the data files that they read from their own folders. A change
anywhere else discards nothing.

- Imports inside functions count; those for type checkers do not (``if TYPE_CHECKING:``). They are
  found by their lines, without parsing: a line of a string that reads like one counts too.
- Modules that are found by a name at run time (``import_module``) do not count.
- The top of the package does not count: it only finds names.
"""

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_PACKAGE = __package__.partition(".")[0]
_DATA = {".csv", ".json", ".xml", ".yaml"}
_IMPORT = re.compile(
    r"^[ ]*(?:from[ ]+([.\w]+)[ ]+import[ ]+(\([^)]*\)|[^#\n]*)|import[ ]+(\w[^#\n]*))",
    re.MULTILINE,
)
_NAME = re.compile(r"(?<!as )\b(?!as\b)\w+")
_FOR_TYPE_CHECKERS = re.compile(
    r"^( *)if (?:typing\.)?TYPE_CHECKING:.*\n(?:\n|\1 +.*(?:\n|\Z))*", re.MULTILINE
)


@cache
def code_identity(*module_names: str) -> str:
    """Return the sha256 of modules and of all code and data of this package that they depend on.

    Args:
        module_names: Modules of this package; others, where they are imported, count with what
            they import of it.
    """
    digest = hashlib.sha256()
    modules = _reached(module_names)
    for name, module in modules.items():
        digest.update(f"{name} {len(module.source)}\n".encode() + module.source)
    for path in _data_files(modules.values()):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def covered_files(*module_names: str) -> list[Path]:
    """Return the files that an identity covers, modules first, in the order of their names."""
    modules = _reached(module_names)
    return [*(module.path for module in modules.values()), *_data_files(modules.values())]


class _Module(NamedTuple):
    path: Path
    source: bytes
    imports: frozenset[str]


def _reached(names: Iterable[str]) -> dict[str, _Module]:
    """Return the modules that some depend on, these too, by name in alphabetical order."""
    found: dict[str, _Module] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in found and (module := _read(name)) is not None:
            found[name] = module
            waiting += module.imports
    return dict(sorted(found.items()))


@cache
def _read(name: str) -> _Module | None:
    """Return a module with the names that it imports of this package; some may be no modules."""
    path = _find(name)
    if path is None:
        return None
    source = path.read_bytes()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imported = {
        f"{_PACKAGE}.{whole}"
        for target in _imports(source.decode(), package)
        for whole in _with_parents(target)
    }
    return _Module(path, source, frozenset(imported))


def _imports(source: str, package: str) -> Iterator[str]:
    """Yield the full names that a module of a package imports."""
    for base, names, modules in _IMPORT.findall(_FOR_TYPE_CHECKERS.sub("", source)):
        if modules:
            yield from (name.split()[0] for name in modules.split(","))
            continue
        level = len(base) - len(base.lstrip("."))
        if level:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) + 1 - level], *base[level:].split()])
        yield base
        yield from (f"{base}.{name}" for name in _NAME.findall(names))


def _with_parents(name: str) -> Iterator[str]:
    """Yield a module of this package and the packages around it, without the name of the top."""
    top, *parts = name.split(".")
    if top == _PACKAGE:
        yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _data_files(modules: Iterable[_Module]) -> list[Path]:
    """Return the data files that modules name and that lie beside them."""
    sources: dict[Path, bytes] = {}
    for module in modules:
        folder = module.path.parent
        sources[folder] = sources.get(folder, b"") + module.source
    return [
        path
        for folder, source in sources.items()
        for path in sorted(folder.iterdir())
        if path.suffix in _DATA and path.name.encode() in source
    ]


def _find(name: str) -> Path | None:
    """Return the file of a module, which need not be imported yet."""
    room, _, inside = name.partition(".")[2].partition(".")
    if name.partition(".")[0] != _PACKAGE:
        file = getattr(sys.modules.get(name), "__file__", None)
        return Path(file) if file else None
    place = _folder(room)
    if place is None:
        return None
    path = place.joinpath(*inside.split(".")) if inside else place
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


@cache
def _folder(room: str) -> Path | None:
    spec = find_spec(f"{_PACKAGE}.{room}") if room else None
    if spec is None or not spec.origin or spec.submodule_search_locations is None:
        return None
    return Path(spec.origin).parent
