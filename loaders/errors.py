"""The errors of nlihub: one root, each also the built-in error that a caller would catch.

A message says what is wrong, where (file, line, pattern or column), what was expected and what
to do next.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar


class NLIHubError(Exception):
    """Root of every error that nlihub raises on purpose."""

    def __str__(self) -> str:
        # KeyError and OSError would print a repr or an errno.
        return " ".join(str(argument) for argument in self.args)


class MissingExtraError(NLIHubError, ImportError):
    """A library that only some features need is not installed; names the extra that has it."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Name the extra to install where a library that the block imports is missing.

    The metrics, which are published without this package, have an error of their own for this; it
    becomes one of ours, with its message.

    Args:
        extra: The extra that has the library, e.g. ``"croissant"``.
        what: What needs it, the subject of the message, e.g. ``"Croissant metadata"``.

    Raises:
        MissingExtraError: A library is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "nlihub":  # a mistake of ours
            raise
        raise MissingExtraError(
            f"{what} needs {library}, which is not installed: pip install 'nlihub[{extra}]'"
        ) from error
    except ImportError as error:
        if isinstance(error, NLIHubError) or not isinstance(error.__cause__, ImportError):
            raise
        raise MissingExtraError(str(error)) from error


class UsageError(NLIHubError, ValueError):
    """An argument that makes no sense, alone or with another."""


class SourceNotFoundError(NLIHubError, FileNotFoundError):
    """A source file is neither in the given folder nor to be fetched."""


class DownloadError(NLIHubError, ConnectionError):
    """A source file cannot be downloaded."""


class HubError(NLIHubError, ConnectionError):
    """The Hub refuses a request, cannot be reached, or holds something else than it should."""


class RaceError(HubError):
    """Somebody else changed a repository at the same time."""


class VersionError(NLIHubError, ValueError):
    """A version number that is taken, too small for the change, or not published."""


class NotDataError(NLIHubError, ValueError):
    """A web page came where data was expected."""


class ChecksumError(NLIHubError, ValueError):
    """A source file is not, byte for byte, the file that was pinned."""


class UnknownNameError(NLIHubError, KeyError, ValueError):
    """A dataset, config, split or pattern of that name does not exist."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> "UnknownNameError":
        """Build the error with the known names and the closest of them.

        Args:
            kind: What was named, e.g. ``"dataset"``.
            name: The name that was not found.
            known: The names that exist.
        """
        names = sorted(known)
        by_plain = {known_name.casefold(): known_name for known_name in names}
        close = get_close_matches(name.casefold(), by_plain, n=1)
        hint = f" Did you mean {by_plain[close[0]]!r}?" if close else ""
        shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        return cls(f"There is no {kind} {name!r}.{hint} Known: {shown}.")


class OutputError(NLIHubError, FileExistsError):
    """The output cannot be written where it was asked for."""


class SchemaError(NLIHubError, ValueError):
    """Rows do not fit the uniform schema."""


class PredictionsError(NLIHubError, ValueError):
    """Predictions that do not fit the dataset that they are for."""


class ModelError(NLIHubError, ValueError):
    """A model that cannot be used for what was asked: its labels, its tokenizer, its limits."""


class TrainingError(NLIHubError, RuntimeError):
    """Training broke off: memory ran out, or the loss is no number. What was finished is kept."""


class VerificationError(NLIHubError, ValueError):
    """A built version failed a check."""


@dataclass(frozen=True, slots=True, order=True)
class Defect:
    """One thing that is wrong with an input.

    Attributes:
        file: The file, as the user named it.
        line: Line in the file, from 1; 0 where it has none.
        where: The unit inside the file, e.g. ``"pattern 7a"``; may be empty.
        message: What is wrong, expected against got.
    """

    file: str
    line: int
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (place, self.where, self.message) if part)


class _DefectsError(NLIHubError, ValueError):
    """An input has defects; all of them are listed.

    Attributes:
        defects: Every defect found, in the order of file and line.
    """

    subject: ClassVar[str]

    def __init__(self, defects: Sequence[Defect], advice: str = "") -> None:
        self.defects = tuple(sorted(set(defects)))
        count = len(self.defects)
        listed = "\n".join(f"  {defect}" for defect in self.defects)
        head = f"The {self.subject} has {count} defect{'s' * (count != 1)}:\n{listed}"
        super().__init__(f"{head}\n{advice}" if advice else head)


class BankError(_DefectsError):
    """A pattern bank has defects; all of them are listed."""

    subject = "pattern bank"


class ReleaseError(_DefectsError):
    """A release file is not of the form of its release; the defects are listed."""

    subject = "release file"


class AnnotationError(_DefectsError):
    """Batches of pairs for annotators, or their answers, have defects; all of them are listed."""

    subject = "annotation"


class MetadataError(_DefectsError):
    """A table of papers has defects; all of them are listed."""

    subject = "table of papers"


class CorpusError(NLIHubError, ValueError):
    """A corpus does not give what was asked for: no pair of a class, too few of them, no paper."""


class UnmeasuredError(NLIHubError, ValueError):
    """A figure has no meaning for a version, or cannot be computed from it; says why."""


#: The largest paper or document that is read, in bytes: no single file or line may fill the memory.
MAX_RECORD_BYTES = 1 << 26


class RecordError(Exception):
    """A paper, an abstract or a part of one cannot be read; never leaves the readers.

    Attributes:
        reason: Why, one of the ``REASONS`` of papers or abstracts.
        detail: What exactly is wrong, expected against got.
        line: The line in the file, from 1; 0 where it has none.
    """

    def __init__(self, reason: str, detail: str, line: int = 0) -> None:
        super().__init__(reason, detail, line)
        self.reason = reason
        self.detail = detail
        self.line = line


def too_large() -> RecordError:
    """The error for a paper of more than ``MAX_RECORD_BYTES``."""
    return RecordError("too large", f"one paper takes more than {MAX_RECORD_BYTES:,} bytes")
