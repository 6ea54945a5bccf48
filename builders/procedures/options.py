"""Read options whose value is a text of several values, such as ``train,test``."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from ...loaders.errors import UsageError


def read_by(parse: Callable[[str], Any], metavar: str) -> Parameter:
    """Return how the command line reads an option that a function parses.

    Args:
        parse: Turns the text into the value, and raises ``UsageError``.
        metavar: The form of the text in ``--help``.
    """
    return Parameter(
        converter=lambda _, tokens: parse(tokens[0].value),
        n_tokens=1,
        accepts_keys=False,
        allow_repeating=False,
        metavar=metavar,
    )


def parse_names(text: str) -> tuple[str, ...]:
    """Parse names that are separated by commas.

    Raises:
        UsageError: A name is empty.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"{text!r} is not a list of names separated by commas.")
    return names


def parse_quotas(text: str) -> Mapping[str, int]:
    """Parse a number for each split: ``validation=500,test=1000``.

    Raises:
        UsageError: The text has another form.
    """
    found = {}
    for part in text.split(","):
        split, _, number = part.partition("=")
        if not number.strip().isdecimal():
            raise UsageError(f"{part!r} is not a quota; expected SPLIT=N, as in test=200.")
        found[split.strip()] = int(number)
    return found


#: Names that the command line takes separated by commas.
Names = Annotated[tuple[str, ...], read_by(parse_names, "A,...")]
