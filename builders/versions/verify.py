"""Verify a built version, from its files alone or against its sources too."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import NLIHubError, OutputError, UsageError, VerificationError
from ...loaders.progress import progress_bar
from ..core.options import BuildOptions
from . import file_checks as files
from . import row_checks as rows
from .subject import Subject
from .version import BuiltVersion

_Check = Callable[[Subject], Iterator[str | int]]

#: The checks in order, each with those that must have passed before it can run.
CHECKS: dict[_Check, tuple[_Check, ...]] = {
    files.manifest_is_readable: (),
    files.files_have_their_hashes: (files.manifest_is_readable,),
    files.files_are_those_of_a_version: (files.manifest_is_readable,),
    files.schema_is_uniform: (files.manifest_is_readable,),
    rows.no_split_is_empty: (files.schema_is_uniform,),
    rows.values_are_allowed: (files.schema_is_uniform,),
    rows.rows_have_their_digest: (files.schema_is_uniform, rows.values_are_allowed),
    rows.ids_are_unique: (files.schema_is_uniform, rows.values_are_allowed),
    rows.a_group_has_one_label: (files.schema_is_uniform,),
    rows.no_example_is_in_two_splits: (files.schema_is_uniform,),
    rows.no_text_has_two_labels: (files.schema_is_uniform,),
    rows.rows_are_the_published_ones: (files.schema_is_uniform, rows.values_are_allowed),
    rows.counts_are_the_published_ones: (files.schema_is_uniform, rows.values_are_allowed),
    files.card_is_true: (files.schema_is_uniform, rows.values_are_allowed),
    files.licence_and_citation_are_true: (files.manifest_is_readable,),
    files.sources_are_those_of_the_dataset: (files.manifest_is_readable,),
    rows.rows_are_those_of_the_sources: (files.schema_is_uniform, rows.values_are_allowed),
    files.parts_that_are_missing: (files.manifest_is_readable,),
    files.taken_on_trust: (files.manifest_is_readable,),
    rows.repeated_texts: (files.schema_is_uniform,),
}
#: Checks that list their findings and never fail.
LISTS_ONLY = frozenset({files.parts_that_are_missing, files.taken_on_trust, rows.repeated_texts})
#: Checks that are run only where sources are given.
NEEDS_SOURCES = frozenset({rows.rows_are_those_of_the_sources})
#: Checks that apply to some versions only, each with the condition.
APPLIES_TO: dict[_Check, Callable[[Subject], bool]] = {
    rows.a_group_has_one_label: rows.groups_are_patterns,
    files.sources_are_those_of_the_dataset: files.is_of_this_package,
    rows.rows_are_the_published_ones: rows.has_published,
    rows.counts_are_the_published_ones: rows.has_published,
}


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one check of a built version.

    Attributes:
        check: Its name.
        passed: Whether it passed.
        findings: The defects that it found; for a check that only lists, the list.
        ran: Whether it was run; a check is not run where one that it needs failed.
        applies: Whether it applies to this version: there may be no published counts.
    """

    check: str
    passed: bool
    findings: tuple[str, ...] = ()
    ran: bool = True
    applies: bool = True


@dataclass(frozen=True)
class VerificationReport:
    """The outcomes of all checks of a built version.

    Attributes:
        folder: The folder of the version.
        outcomes: The outcome of each check, in order.
    """

    folder: Path
    outcomes: tuple[CheckOutcome, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(outcome.passed for outcome in self.outcomes)


def verify_version(folder: Path, sources: BuildOptions | None = None) -> VerificationReport:
    """Run every check on the built version in a folder; one that fails raises nothing.

    The checks run in order; a check that needs a failed one is not run, and its outcome says so.

    Args:
        folder: The folder.
        sources: Where the sources are, to compare the rows with what they give now; None leaves
            that check out.

    Raises:
        OutputError: Memory or the disk is full.
        UsageError: Sources are given for a version that somebody constructed: it names none.
    """
    with Subject(folder, sources) as subject:
        if sources is not None and files.is_constructed(subject):
            raise UsageError(
                f"{folder} was constructed from files that nobody has published under a hash. To "
                "prove its rows, construct it again from them and compare the digests of both "
                "manifests."
            )
        return VerificationReport(folder, tuple(_run_checks(subject)))


def _run_checks(subject: Subject) -> list[CheckOutcome]:
    has_sources = subject.sources is not None
    checks = {c: needs for c, needs in CHECKS.items() if has_sources or c not in NEEDS_SOURCES}
    outcomes: list[CheckOutcome] = []
    for check, needs in progress_bar("Verifying", checks.items(), unit="check"):
        unmet = [_name(need) for need in needs if not _passed(outcomes, need)]
        if unmet:
            reason = f"{unmet[0]} did not pass"
            outcomes.append(CheckOutcome(_name(check), False, (reason,), ran=False))
            continue
        applies = True
        try:
            applies = check not in APPLIES_TO or APPLIES_TO[check](subject)
            found = _shorten(check(subject)) if applies else ()
        except OutputError:
            raise  # memory or the disk is full: nothing that the version could help
        except NLIHubError as error:
            found = (str(error),)
        except Exception as error:  # damage may be of any kind; a report is due all the same
            found = (f"could not run: {error!r}",)
        passed = not found or check in LISTS_ONLY or _name(check) in _known_defects(subject)
        outcomes.append(CheckOutcome(_name(check), passed, found, applies=applies))
    return outcomes


def require_verified(version: BuiltVersion) -> None:
    """Refuse a version that fails a check.

    Raises:
        VerificationError: A check fails; names the first one.
    """
    failed = [
        outcome.check for outcome in verify_version(version.folder).outcomes if not outcome.passed
    ]
    if failed:
        raise VerificationError(
            f"{version.folder} fails the check {failed[0]!r}. See: nlihub verify {version.folder}"
        )


def _shorten(findings: Iterable[str | int]) -> tuple[str, ...]:
    """Return the first findings, and the number of the others."""
    shown: list[str] = []
    n_more = 0
    for finding in findings:
        if isinstance(finding, int):
            n_more += finding
        elif len(shown) < rows.MAX_SHOWN:
            shown.append(finding)
        else:
            n_more += 1
    return (*shown, f"and {n_more} more") if n_more else tuple(shown)


def _known_defects(version: Subject) -> frozenset[str]:
    try:
        return version.builder.SPEC.known_defects
    except NLIHubError:  # no manifest, or of no dataset of this package
        return frozenset()


def _name(check: _Check) -> str:
    return check.__name__.replace("_", " ")


def _passed(outcomes: list[CheckOutcome], check: _Check) -> bool:
    return any(outcome.passed and outcome.check == _name(check) for outcome in outcomes)
