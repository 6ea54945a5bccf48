"""Commands that take groups of options."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command some of whose parameters are groups of options, as Typer can take it.

    Options that several commands share are written once, and reach the command as one typed value.
    A group is a frozen dataclass whose fields are ``Annotated[..., typer.Option(...)]``, with
    defaults unless they are required. Typer sees the fields as options, in the place of the
    parameter; the command gets the dataclass. Its parameters have to be keyword-only, as those
    with a default stand between those without.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    seen: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        whole = parameter.replace(annotation=hints[name])
        seen += _options(groups[name]) if name in groups else [whole]

    @wraps(command)
    def taken(**values: Any) -> None:
        made = {
            name: kind(**{part.name: values.pop(part.name) for part in fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **made)

    taken.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    taken.__annotations__ = {parameter.name: parameter.annotation for parameter in seen}
    return taken


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            part.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if part.default is MISSING else part.default,
            annotation=hints[part.name],
        )
        for part in fields(group)
    ]
