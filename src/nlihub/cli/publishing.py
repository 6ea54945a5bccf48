"""Commands that publish to the Hub, and read what is published."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command import command
from .options import Configs, From, Json, Splits, answer, names, tell

if TYPE_CHECKING:
    from ..publishing.plan import Plan
    from ..publishing.publish_all import PublishingSummary

Private = Annotated[bool, typer.Option("--private", help="Create the repository as private.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module, in the order of the help."""
    for function in (
        publish_command,
        publish_metric_command,
        versions_command,
        diff_command,
        croissant_command,
        eval_results_command,
    ):
        command(app)(function)


def publish_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME|FOLDER", help="Dataset, or built version.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="Its repository on the Hub.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="X.Y.Z", help="Its version number.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All datasets and metrics, and a collection of them.")
    ] = False,
    org: Annotated[
        str | None, typer.Option(metavar="ORG", help="With --all: the user or organisation.")
    ] = None,
    built: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With --all: the output folder of nlihub build."),
    ] = None,
    folder: From = None,
    configs: Configs = None,
    splits: Splits = None,
    private: Private = False,
    croissant: Annotated[bool, typer.Option("--croissant", help="Add Croissant metadata.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Publish a version of a dataset to the Hub: one commit, read back, tagged.

    It is first verified and compared with what is published. After an interruption, the same
    command resumes. Log in with "hf auth login", or set HF_TOKEN.

    --all publishes every dataset and metric of this package, each after what it needs, and makes a
    collection of them.
    """
    if everything:
        _publish_all(
            {"NAME": name, "--repo": repo, "--version": version, "--configs": configs}
            | {"--splits": splits, "--croissant": croissant or None},
            org,
            built,
            folder,
            private,
            dry_run,
            yes,
            as_json,
        )
        return
    if name is None or repo is None or version is None:
        raise typer.BadParameter("expected NAME, --repo ORG/NAME and --version X.Y.Z, or --all.")
    if org is not None or built is not None:
        raise typer.BadParameter("--org and --built go with --all.")
    from ..builders.versions.open import open_version
    from ..publishing.dataset import plan_dataset

    opened = open_version(name, folder=folder, configs=names(configs), splits=names(splits))
    plan = plan_dataset(opened, repo, version, private=private, croissant=croissant)
    _carry_out(plan, dry_run, yes, as_json)


def publish_metric_command(
    name: Annotated[str, typer.Argument(help="Metric.")],
    space: Annotated[str, typer.Option(metavar="ORG/NAME", help="Its Space on the Hub.")],
    private: Private = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Publish a metric as a Space, for evaluate.load("ORG/NAME"): one commit, tried out, tagged."""
    from ..publishing.metrics import plan_metric

    _carry_out(plan_metric(name, space, private=private), dry_run, yes, as_json)


def versions_command(
    repo: Annotated[str, typer.Argument(metavar="ORG/NAME")],
    space: Annotated[
        bool, typer.Option("--space", help="The repository is the Space of a metric.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the published versions of a dataset or a metric."""
    from ..publishing import publish as hub

    found = hub.versions(repo, space=space)

    def text() -> str:
        if not found:
            return f"{repo} has no published version"
        return "\n".join(
            f"{v.number:10} {v.commit[:8]}  {str(v.date or '')[:10]:10}  {_rows(v.rows)}"
            for v in found
        )

    answer([asdict(version) for version in found], as_json, text)


def diff_command(
    old: Annotated[str, typer.Argument(metavar="ORG/NAME@X.Y.Z|FOLDER")],
    new: Annotated[str, typer.Argument(metavar="ORG/NAME@X.Y.Z|FOLDER")],
    examples: Annotated[int, typer.Option(min=0, help="How many ids to show of each kind.")] = 5,
    as_json: Json = False,
) -> None:
    """Compare two versions row by row: added, removed, relabelled, edited, moved."""
    from ..publishing import publish as hub
    from ..publishing.diff import show_diff

    found = hub.diff(old, new)
    answer(found.as_json(), as_json, lambda: show_diff(found, max_examples=examples))


def croissant_command(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    location: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the files will be; default where they are now."),
    ] = None,
    folder: From = None,
    configs: Configs = None,
    splits: Splits = None,
    as_json: Json = False,
) -> None:
    """Describe a dataset in Croissant, the format of MLCommons."""
    from ..publishing import publish as hub

    found = hub.croissant(
        name,
        output,
        location=location,
        folder=folder,
        configs=names(configs),
        splits=names(splits),
    )
    answer(str(found), as_json, lambda: str(found))


def eval_results_command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOGS...", help="Logs of harnesses, of one model.")
    ],
    benchmark: Annotated[
        str, typer.Option(metavar="ORG/NAME@X.Y.Z", help="The published version that was asked.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for .eval_results/NAME.yaml.")
    ],
    as_json: Json = False,
) -> None:
    """Write scores of a harness as the page of a model shows them, for "hf upload"."""
    from ..publishing.eval_results import eval_results

    found = eval_results(logs, benchmark, output)
    answer(str(found), as_json, lambda: str(found))


def _carry_out(plan: "Plan", dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show a plan, ask, and carry it out."""
    if dry_run:
        answer(_plan_as_json(plan), as_json, lambda: "\n".join(_plan_as_text(plan)))
        return
    print("\n".join(_plan_as_text(plan)), file=sys.stderr)
    if plan.files or plan.tagged is None:
        _ask(f"Publish {plan.repository.name} {plan.number}?", yes)
    done = plan.publish(tell)
    answer(asdict(done), as_json, lambda: f"{done.url}\n{done.use}")


def _publish_all(
    others: dict[str, Any],
    org: str | None,
    built: Path | None,
    folder: Path | None,
    private: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    if given := [option for option, value in others.items() if value is not None]:
        raise typer.BadParameter(f"{', '.join(given)} cannot go with --all.")
    if org is None:
        raise typer.BadParameter("--all needs --org ORG.")
    from ..publishing import publish_all

    if not dry_run:
        _ask(f"Publish all datasets and metrics to {org}?", yes)
    found = publish_all.publish_all(
        org, built=built, folder=folder, private=private, dry_run=dry_run, tell=tell
    )
    answer(_summary_as_json(found), as_json, lambda: "\n".join(_summary_as_text(found)))
    if not found.is_complete:
        sys.exit(1)


def _ask(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is nobody to ask; give --yes, or look with --dry-run.")
    typer.confirm(question, abort=True, err=True)


def _plan_as_json(plan: "Plan") -> dict[str, Any]:
    return {
        "repository": plan.repository.name,
        "version": str(plan.number),
        "newest": str(plan.newest) if plan.newest is not None else None,
        "is_published": plan.tagged is not None,
        "changes": [{"level": c.level.name, "what": c.what} for c in plan.changes],
        "files": asdict(plan.files),
        "keeps_text_of_the_card": plan.keeps_text,
    }


def _plan_as_text(plan: "Plan") -> Iterator[str]:
    state = "is there" if plan.head is not None else "will be made"
    newest = f", newest version {plan.newest}" if plan.newest is not None else ""
    yield f"{plan.repository.name} {plan.number}: the repository {state}{newest}"
    if plan.tagged is not None:
        yield f"  {plan.tag} is published already, with the same content; it will be tried out"
        if plan.files:
            yield "  the main branch holds something else; it will be put back"
    for change in plan.changes:
        yield f"  {change.level.name:6} {change.what}"
    marks = (("+", plan.files.added), ("~", plan.files.changed), ("-", plan.files.removed))
    for mark, paths in marks:
        yield from (f"  {mark} {path}" for path in paths)
    if plan.keeps_text:
        yield "  the card's text was changed on the Hub, and stays; its blocks are renewed"


def _summary_as_json(found: "PublishingSummary") -> dict[str, Any]:
    return {
        "items": [
            {
                "kind": o.item.kind,
                "name": o.item.name,
                "repository": o.repository,
                "plan": _plan_as_json(o.plan) if o.plan is not None else None,
                "publication": asdict(o.publication) if o.publication is not None else None,
                "problem": o.problem or None,
            }
            for o in found.outcomes
        ],
        "collection": found.collection,
        "problem": found.problem or None,
    }


def _summary_as_text(found: "PublishingSummary") -> Iterator[str]:
    for outcome in found.outcomes:
        if outcome.problem:
            yield f"FAILED    {outcome.item}: {outcome.problem}"
        elif outcome.publication is not None:
            done = outcome.publication
            state = "was there" if done.was_there else "published"
            yield f"{state}  {outcome.item} {done.version}: {done.use}"
        elif outcome.plan is not None:
            yield from _plan_as_text(outcome.plan)
    if found.collection is not None:
        yield f"collection: {found.collection}"
    if found.problem:
        yield f"FAILED    collection: {found.problem}"


def _rows(rows: dict[str, dict[str, int]] | None) -> str:
    if not rows:
        return ""
    return "; ".join(
        f"{config} " + "/".join(f"{n:,}" for n in splits.values())
        for config, splits in rows.items()
    )
