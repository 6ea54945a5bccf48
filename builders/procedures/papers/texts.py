"""Many texts in one run of bytes: for each an object of its own would take most of the time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Numbers


@dataclass(frozen=True)
class Texts:
    """Texts in UTF-8, somewhere in one run of bytes.

    Attributes:
        content: The bytes.
        start: n places where a text begins.
        end: n places behind its last byte.
    """

    content: bytes
    start: Numbers
    end: Numbers

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Texts":
        """Some texts, one after another."""
        end = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return cls(b"".join(texts), np.append(0, end[:-1])[: len(end)], end)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, number: int) -> bytes:
        return self.content[self.start[number] : self.end[number]]

    def select(self, chosen: Numbers) -> "Texts":
        """The chosen ones of them."""
        return Texts(self.content, self.start[chosen], self.end[chosen])

    def without(self, cut: Numbers) -> "Texts":
        """They without their first n bytes, for each its own number."""
        return Texts(self.content, self.start + cut, self.end)

    def to_list(self) -> list[bytes]:
        """Each by itself."""
        bounds = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [self.content[start:end] for start, end in bounds]
