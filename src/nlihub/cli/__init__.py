"""The command line. Answers go to stdout, everything else to stderr.

Exit codes: 0 done, 1 a check or a service failed or data are malformed, 2 wrong use.
"""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from ..loaders.interrupts import notes_of
from . import (
    annotation,
    baselines,
    construct,
    datasets,
    metrics,
    patterns,
    perturbations,
    publishing,
    reproduction,
    tasks,
)

app = typer.Typer(
    name="nlihub",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; the entry point of the program ``nlihub``."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files go
    try:
        with _errors_as_exit_codes():
            app()
    except SystemExit as end:
        if end.code in _INTERRUPTED:
            print(" ".join(["nlihub: interrupted.", *notes_of(end)]), file=sys.stderr)
        raise
    finally:
        gc.freeze()  # the process ends: spare it the last search for cycles, 0.1 s


#: The exit codes of SIGINT and SIGTERM.
_INTERRUPTED = (130, 143)


@contextmanager
def _errors_as_exit_codes() -> Iterator[None]:
    from ..loaders.errors import NLIHubError
    from ..loaders.fetching.obtain import advise_on_cache

    try:
        yield
    except NLIHubError as error:
        print(f"nlihub: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our answer has gone
        sys.exit(1)
    except OSError as error:  # no space left, no permission, ...
        print(f"nlihub: {error}{advise_on_cache(error)}", file=sys.stderr)
        sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"nlihub {version('nlihub')}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """SciNLI, MSciNLI, BioNLI and SpaceNLI in the Hugging Face ecosystem."""


for room in (datasets, patterns, perturbations, metrics, tasks, reproduction, publishing):
    room.add_commands(app)
app.add_typer(construct.app)
app.add_typer(annotation.app, name="annotate")
app.add_typer(baselines.app)
