"""Show docstrings whole: their examples as code, and the options that fields of recipes are."""

import importlib
import inspect
import re
from typing import Any

import griffe
from nlihub.builders.procedures.option_groups import OptionGroup

_DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
_HEADING = re.compile(r"^Example:$", re.MULTILINE)
_ATTRIBUTES = "Attributes:"


class Docstrings(griffe.Extension):
    """Fence runs of lines that begin with ``>>>``, name sections of examples as griffe does.

    An option says in its annotation what it is; it is listed with the attributes.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring:
            text = _DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
            obj.docstring.value = _HEADING.sub("Examples:", text)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """List the options of a recipe."""
        if cls.docstring and cls.path.startswith("nlihub.builders.procedures."):
            found = getattr(importlib.import_module(cls.module.path), cls.name, None)
            if isinstance(found, type) and issubclass(found, OptionGroup):
                options = found.options().items()
                lines = [
                    f"    {name} ({_shown(hint)}): {one.help}" for name, (hint, one) in options
                ]
                heading = [] if _ATTRIBUTES in cls.docstring.value else ["", _ATTRIBUTES]
                cls.docstring.value = "\n".join([cls.docstring.value.rstrip(), *heading, *lines])


def _shown(hint: Any) -> str:
    """Return a type as code has it, without the modules."""
    text: str = getattr(hint, "__forward_arg__", "") or inspect.formatannotation(hint)
    return re.sub(r"\b[a-z_]+\.", "", text)
