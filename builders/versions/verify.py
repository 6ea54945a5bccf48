"""Verify a built version, from its files alone or against its sources too."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import NLIHubError, OutputError, UsageError, VerificationError
from ...loaders.progress import progress_bar
from ..core.options import BuildOptions
from .checks import CHECKS, VersionUnderTest
from .row_tables import MAX_SHOWN
from .version import BuiltVersion


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
    if sources is not None and _is_constructed(folder):
        raise UsageError(
            f"{folder} was constructed from files that nobody has published under a hash. To "
            "prove its rows, construct it again from them and compare the digests of both "
            "manifests."
        )
    with VersionUnderTest(folder, sources) as version:
        return VerificationReport(folder, tuple(_run_checks(version)))


def _is_constructed(folder: Path) -> bool:
    try:
        return bool(BuiltVersion(folder).manifest.declaration)
    except VerificationError:
        return False


def _run_checks(version: VersionUnderTest) -> list[CheckOutcome]:
    outcomes: dict[str, CheckOutcome] = {}
    for check in progress_bar("Verifying", CHECKS, unit="check"):
        name = check.name
        unmet = [need.name for need in check.needs if not outcomes[need.name].passed]
        if unmet:
            reason = f"{unmet[0]} did not pass"
            outcomes[name] = CheckOutcome(name, False, (reason,), ran=False)
            continue
        applies = True
        try:
            applies = check.applies(version)
            findings = _shorten(check.find(version)) if applies else ()
        except OutputError:
            raise  # memory or the disk is full: nothing that the version could help
        except NLIHubError as error:
            findings = (str(error),)
        except Exception as error:  # damage may be of any kind; a report is due all the same
            findings = (f"could not run: {error!r}",)
        # What needs nothing looks at the manifest, which names the dataset.
        is_known = bool(check.needs) and name in version.builder.SPEC.known_defects
        passed = not findings or check.lists_only or is_known
        outcomes[name] = CheckOutcome(name, passed, findings, applies=applies)
    return list(outcomes.values())


def require_verified(version: BuiltVersion) -> None:
    """Refuse a version that fails a check.

    Raises:
        VerificationError: A check fails; names the first one.
    """
    for outcome in verify_version(version.folder).outcomes:
        if not outcome.passed:
            raise VerificationError(
                f"{version.folder} fails the check {outcome.check!r}. See: nlihub verify "
                f"{version.folder}"
            )


def _shorten(findings: Iterable[str | int]) -> tuple[str, ...]:
    """Return the first findings, and the number of the others."""
    shown: list[str] = []
    n_more = 0
    for finding in findings:
        if isinstance(finding, int):
            n_more += finding
        elif len(shown) < MAX_SHOWN:
            shown.append(finding)
        else:
            n_more += 1
    return (*shown, f"and {n_more} more") if n_more else tuple(shown)
