"""Options that are written once: a field in Python, a flag on the command line, a line of docs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin


@dataclass(frozen=True)
class Option:
    """How an option reads in the help, and how the command line gives it.

    Attributes:
        help: What the option is, in a sentence.
        group: The subject that it stands under in ``--help``.
        metavar: What stands for its value in ``--help``; empty takes that of its type.
        parse: Turns the text of the command line into the value, and raises ``UsageError``; None
            for a plain type, which the command line reads by itself.
        switch: Its name on the command line where it is a switch; ``parse`` makes its value.
    """

    help: str
    group: str
    metavar: str = ""
    parse: Callable[[Any], Any] | None = None
    switch: str = ""


class OptionGroup:
    """Base of frozen dataclasses whose fields are options: in Python, on the command line, in docs.

    A field that is annotated with an ``Option`` is all of these at once; one without is for Python
    alone, and is described in the docstring of its class.
    """

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        lines = [f"        {name}: {option.help}" for name, (_, option) in cls.options().items()]
        cls.__doc__ = "\n".join([(cls.__doc__ or "").rstrip(), "", "    Options:", *lines])

    @classmethod
    def options(cls) -> dict[str, tuple[Any, Option]]:
        """Return for each option its type and how it is offered, in the order of the fields."""
        found = {}
        for owner in reversed(cls.__mro__):
            for name, hint in vars(owner).get("__annotations__", {}).items():
                if get_origin(hint) is Annotated and isinstance(hint.__metadata__[0], Option):
                    found[name] = (get_args(hint)[0], hint.__metadata__[0])
        return found
