"""The command line. Answers go to stdout, everything else to stderr.

Exit codes: 0 done, 1 a check failed, 2 wrong use.
"""

import gc
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="nlihub",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
From = Annotated[
    Path | None,
    typer.Option("--from", metavar="FOLDER", help="Local folder with the source files."),
]
NumProc = Annotated[int, typer.Option("--num-proc", min=1, help="Processes to use.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the draw.")]
Patterns = Annotated[
    str | None,
    typer.Option(metavar="IDS", help="Ids of patterns, separated by commas; default all."),
]
Categories = Annotated[
    str | None,
    typer.Option(
        "--category", metavar="CLASSES", help="Inference classes, separated by commas; default all."
    ),
]
WithoutExamples = Annotated[
    bool, typer.Option("--without-examples", help="Leave out the bank's hand-written examples.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The JSON file to write.")]
SampleOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The file to write, .parquet or .jsonl.")
]


def main() -> None:
    """Runs the command line; the entry point of the program ``nlihub``."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files go
    try:
        with _errors_as_exit_codes():
            app()
    finally:
        gc.freeze()  # the process ends: spare it the last search for cycles, 0.1 s


@contextmanager
def _errors_as_exit_codes() -> Iterator[None]:
    from .loaders.errors import (
        BankError,
        ChecksumError,
        DownloadError,
        NLIHubError,
        SchemaError,
        VerificationError,
    )

    try:
        yield
    except NLIHubError as error:
        print(f"nlihub: {error}", file=sys.stderr)
        failed_checks = (BankError, ChecksumError, DownloadError, SchemaError, VerificationError)
        sys.exit(1 if isinstance(error, failed_checks) else 2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our answer has gone
        sys.exit(1)
    except OSError as error:  # no space left, no permission, ...
        print(f"nlihub: {error}", file=sys.stderr)
        sys.exit(1)


def _answer(value: Any, as_json: bool, text: Callable[[], str]) -> None:
    shown = json.dumps(value, ensure_ascii=False, indent=2, default=str) if as_json else text()
    print(shown)


def _names(text: str | None) -> list[str]:
    names = [name.strip() for name in (text or "").split(",")]
    if text is not None and not all(names):
        raise typer.BadParameter(f"{text!r} is no list of names separated by commas.")
    return names if text is not None else []


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


@app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the datasets."""
    from . import api

    found = [api.describe(name) for name in api.list_datasets()]
    _answer(
        found,
        as_json,
        lambda: "\n".join(f"{d['name']:16} {d['version']:8} {d['summary']}" for d in found),
    )


@app.command()
def show(name: str, as_json: Json = False) -> None:
    """Show what a dataset declares of itself."""
    from . import api

    found = api.describe(name)

    def text() -> str:
        lines = [f"{found['pretty_name']} {found['version']}: {found['summary']}"]
        for config, value in found["configs"].items():
            lines.append(f"  {config:22} {'/'.join(value['splits']):12} {value['description']}")
        lines.append(f"labels: {', '.join(found['labels'])}")
        lines.append(f"columns: {', '.join(found['columns'])}")
        lines.append(f"licence: {found['license']}; paper: {found['paper']}")
        return "\n".join(lines)

    _answer(found, as_json, text)


@app.command()
def stats(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Measure the statistics of a dataset on its built files."""
    from . import api
    from .builders.release.card import statistics_block
    from .builders.release.statistics import measure

    version = api.open_version(name, folder=folder)
    found = measure(version)
    _answer(asdict(found), as_json, lambda: statistics_block(version.builder.SPEC, found))


@app.command()
def card(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    folder: From = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check that the packaged card is up to date.")
    ] = False,
    body: Annotated[bool, typer.Option("--body", help="Leave out the front matter.")] = False,
) -> None:
    """Print the card of a dataset, with fresh statistics."""
    from . import api
    from .builders.release.card import card_template, split_card

    version = api.open_version(name, folder=folder)
    text = (version.folder / "README.md").read_text(encoding="utf-8")
    fresh = split_card(text)[1]
    if check:
        name = version.builder.SPEC.name
        if fresh != card_template(name):
            print(f"nlihub: the packaged card of {name} is out of date.", file=sys.stderr)
            sys.exit(1)
        print(f"the packaged card of {name} is up to date")
        return
    print(fresh if body else text, end="")


@app.command()
def fetch(name: str, folder: From = None, as_json: Json = False) -> None:
    """Download and verify the source files of a dataset."""
    from . import api

    found = api.fetch(name, folder=folder)
    if not found:
        print(f"nlihub: {name} needs no source files.", file=sys.stderr)
        if not as_json:
            return
    _answer([str(p) for p in found], as_json, lambda: "\n".join(map(str, found)))


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Default: all that needs no download."),
    ] = None,
    folder: From = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Builds FOLDER/NAME.")
    ] = Path("built"),
    num_proc: NumProc = 1,
    as_json: Json = False,
) -> None:
    """Build datasets: Parquet files, card and manifest, laid out as on the Hub."""
    from . import api

    chosen = names or [n for n in api.list_datasets() if not api.describe(n)["needs_download"]]
    # Looked up first, so that an unknown name is reported before anything is built.
    takes_folder = {name: api.describe(name)["needs_download"] for name in chosen}
    if folder is not None and not any(takes_folder.values()):
        raise typer.BadParameter("none of these datasets has source files.", param_hint="--from")
    built = {
        name: api.build(
            name, output, folder=folder if takes_folder[name] else None, num_proc=num_proc
        )
        for name in chosen
    }
    _answer(
        {name: str(path) for name, path in built.items()},
        as_json,
        lambda: "\n".join(str(path) for path in built.values()),
    )


@app.command()
def verify(folder: Path, as_json: Json = False) -> None:
    """Re-check everything about a built version."""
    from . import api

    report = api.verify(folder)

    def text() -> str:
        lines = []
        for outcome in report.outcomes:
            mark = "ok" if outcome.passed else "FAILED" if outcome.ran else "not run"
            lines.append(f"{mark:8} {outcome.check}")
            lines += [f"         {finding}" for finding in outcome.findings]
        return "\n".join(lines)

    _answer({**asdict(report), "passed": report.passed}, as_json, text)
    if not report.passed:
        sys.exit(1)


@app.command()
def install(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Make load_dataset("nlihub/NAME", CONFIG) work offline in every project."""
    from . import api

    found = api.install(name, folder=folder)
    _answer([str(p) for p in found], as_json, lambda: "\n".join(map(str, found)))


@app.command()
def sample(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    output: SampleOutput,
    seed: Seed,
    per_pattern: Annotated[
        int, typer.Option(min=-1, help="Problems a pattern; -1 takes all.")
    ] = 200,
    patterns: Patterns = None,
    categories: Categories = None,
    without_examples: WithoutExamples = False,
    include_released: Annotated[
        bool, typer.Option("--include-released", help="Allow released problems and examples.")
    ] = False,
    folder: From = None,
    num_proc: NumProc = 1,
    as_json: Json = False,
) -> None:
    """Draw fresh problems: an evaluation set that no model has seen."""
    from . import api

    found = api.sample(
        name,
        output,
        seed=seed,
        per_pattern=per_pattern,
        patterns=_names(patterns),
        categories=_names(categories),
        without_examples=without_examples,
        include_released=include_released,
        folder=folder,
        num_proc=num_proc,
    )

    def text() -> str:
        lines = [f"{found.output}: {found.rows:,} problems from {found.patterns} patterns"]
        if found.short:
            listed = ", ".join(f"{pattern} ({rows})" for pattern, rows in found.short.items())
            lines.append(f"fewer than {per_pattern} were left in {len(found.short)}: {listed}")
        if found.mended:
            listed = ", ".join(f"{rule} {count}" for rule, count in found.mended.items())
            lines.append(f"mended sentences: {listed}; listed in {found.mends}")
        return "\n".join(lines)

    _answer(asdict(found), as_json, text)


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    output: Output,
    file_format: Annotated[
        str, typer.Option("--format", help="Format to write: upstream-json.")
    ] = "upstream-json",
    seed: Annotated[int | None, typer.Option(help="Seed; default that of the release.")] = None,
    per_pattern: Annotated[
        int | None,
        typer.Option(
            min=-1,
            help="Problems a pattern; default that of the release, -1 all, 0 examples only.",
        ),
    ] = None,
    patterns: Patterns = None,
    categories: Categories = None,
    without_examples: WithoutExamples = False,
    folder: From = None,
    num_proc: NumProc = 1,
    as_json: Json = False,
) -> None:
    """Write a draw as the authors' generator does; by default the released file."""
    from . import api

    if file_format != "upstream-json":
        raise typer.BadParameter(f"{file_format!r} is not upstream-json.", param_hint="--format")
    rows = api.export(
        name,
        output,
        seed=seed,
        per_pattern=per_pattern,
        patterns=_names(patterns),
        categories=_names(categories),
        without_examples=without_examples,
        folder=folder,
        num_proc=num_proc,
    )
    _answer({"output": str(output), "rows": rows}, as_json, lambda: f"{output}: {rows:,} problems")
