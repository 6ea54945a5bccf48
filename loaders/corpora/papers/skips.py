"""How the readers say that a paper cannot be read, before it is known where it stands."""

#: The largest paper that is read, in bytes: no single file or line may fill the memory.
MAX_PAPER_BYTES = 1 << 26


class PaperError(Exception):
    """A paper cannot be read; never leaves this package.

    Attributes:
        reason: Why, one of ``REASONS``.
        detail: What exactly is wrong, expected against got.
        line: The line in the file, from 1; 0 where it has none.
    """

    def __init__(self, reason: str, detail: str, line: int = 0) -> None:
        super().__init__(reason, detail, line)
        self.reason = reason
        self.detail = detail
        self.line = line


def too_large() -> PaperError:
    """The error for a paper of more than ``MAX_PAPER_BYTES``."""
    return PaperError("too large", f"one paper takes more than {MAX_PAPER_BYTES:,} bytes")
