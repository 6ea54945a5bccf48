"""What a file of answers says of one pair."""

from dataclasses import dataclass

from ...loaders.errors import Defect


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair in a file of answers, as it stands there.

    Attributes:
        line: Its line in the file, from 1; 0 where it has none.
        where: The place in a file without lines, e.g. ``"task 3"``; empty elsewhere.
        annotator: Who answered.
        key: The key of the pair in its batch.
        premise: The first sentence.
        hypothesis: The second sentence.
        answer: The answer; blank where there is none.
    """

    line: int
    where: str
    annotator: str
    key: str
    premise: str
    hypothesis: str
    answer: str


#: What a reader of answers gives: the entries, and what is wrong with the rest of the file.
Entries = tuple[list[Entry], list[Defect]]
