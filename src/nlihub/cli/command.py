"""A command whose help groups options by subject, and which tells where an option went."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand

from ..moved import MOVED_OPTIONS

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
    """Return the decorator that adds a function to an app as a command of ours.

    Args:
        app: The app.
        name: Name of the command; None takes that of the function.
    """
    return app.command(name, cls=Command)
