"""Commands: help grouped by subject, options that moved, groups of options as one value."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand

from ..builders.procedures.option_groups import Option, OptionGroup
from ..loaders.paths import local_path
from ..moved import MOVED_OPTIONS
from .completion import add_completion

_OTHERS = "Options"
#: Wrong use, as the library under Typer calls it: click, which newer versions of Typer carry.
_UsageError: Any = typer.BadParameter.__base__
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(TyperCommand):
    """Every command of the program; an option's ``rich_help_panel`` names its subject."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, a section for each subject, those without one last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            kind = "Arguments" if isinstance(parameter, TyperArgument) else _OTHERS
            subject = getattr(parameter, "rich_help_panel", None) or kind
            sections.setdefault(subject, []).append(record)
        others = sections.pop(_OTHERS, [])
        for subject, records in {**sections, _OTHERS: others}.items():
            if records:
                with formatter.section(subject):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; of an option that went, say what took its place."""
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            option = getattr(error, "option_name", None)
            now = MOVED_OPTIONS.get((str(ctx.info_name), str(option)))
            if now is None:
                raise
            raise _UsageError(f"{option} of {ctx.command_path} is now: {now}", ctx) from None


def command(app: typer.Typer, name: str | None = None) -> Callable[[_Function], _Function]:
    """Return the decorator that adds ``<name>_command`` to an app as the command ``<name>``."""

    def add(function: _Function) -> _Function:
        add_completion(function)
        derived = function.__name__.removesuffix("_command").replace("_", "-")

        @wraps(function)
        def run(**values: Any) -> None:
            function(**{name: _with_local_paths(value) for name, value in values.items()})

        app.command(name or derived, cls=Command)(run)
        return function

    return add


def _with_local_paths(value: Any) -> Any:
    """Return a value with its paths as ``local_path`` does, also where a name could stand."""
    if isinstance(value, list):
        return [_with_local_paths(one) for one in value]
    if isinstance(value, str) and value.startswith("~/"):
        return str(local_path(value))
    return local_path(value) if isinstance(value, Path) else value


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command some of whose parameters are groups of options, as Typer can take it.

    A group is a frozen dataclass: an ``OptionGroup``, or one whose fields are
    ``Annotated[..., typer.Option(...)]``. Typer sees its fields as options, in the place of the
    parameter; the command gets the dataclass. The parameters have to be keyword-only, as those
    with a default stand between those without.

    Args:
        command: The command.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    seen: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        whole = parameter.replace(annotation=hints[name])
        seen += parameters_of(groups[name]) if name in groups else [whole]

    @wraps(command)
    def taken(**values: Any) -> None:
        made = {name: fill(kind, values) for name, kind in groups.items()}
        in_groups = {part.name for kind in groups.values() for part in fields(kind)}
        others = {name: value for name, value in values.items() if name not in in_groups}
        command(**others, **made)

    set_parameters(taken, seen)
    return taken


def set_parameters(command: Any, parameters: list[inspect.Parameter]) -> None:
    """Give a command the parameters that Typer is to see."""
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {one.name: one.annotation for one in parameters}


def parameters_of(group: type[Any]) -> list[inspect.Parameter]:
    """Return the options of a group as parameters of a command."""
    defaults = {part.name: part.default for part in fields(group)}
    if issubclass(group, OptionGroup):
        return [
            _parameter(name, _offered(name, kind, option), _default(defaults[name], option))
            for name, (kind, option) in group.options().items()
        ]
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(name, hints[name], value) for name, value in defaults.items()]


def fill(group: type[Any], given: Mapping[str, Any]) -> Any:
    """Return a group with the values that were given, parsed; the others have their defaults.

    Args:
        group: The group.
        given: Values by option; others may be among them.

    Raises:
        UsageError: A value has another form, or makes no sense.
    """
    if not issubclass(group, OptionGroup):
        return group(**{part.name: given[part.name] for part in fields(group)})
    values = {}
    for name, (_, option) in group.options().items():
        value = given[name]
        if option.parse is None:
            values[name] = value
        elif value is not None:
            values[name] = option.parse(value)
    return group(**values)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=annotation,
    )


def _offered(name: str, kind: Any, option: Option) -> Any:
    flag = option.switch or name.replace("_", "-")
    if option.parse is not None:
        kind = bool if option.switch else str | None
    shown = typer.Option(
        f"--{flag}",
        help=option.help,
        metavar=option.metavar or None,
        rich_help_panel=option.group,
        show_default=option.parse is None,
    )
    return Annotated[kind, shown]


def _default(value: Any, option: Option) -> Any:
    if option.parse is not None:
        return False if option.switch else None
    return value
