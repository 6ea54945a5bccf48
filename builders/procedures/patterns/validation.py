"""Sum up the blind second labelling of a pattern bank (SpaceNLI, section 3.1)."""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ....loaders.corpora.patterns.records import Pattern, PatternBank
from ....loaders.errors import BankError, Defect
from ...core.kappa import cohen_kappa

#: The points of the paper's scale, from "definitely false" to "definitely true". Here no mapping
#: agrees better than the symmetric one: the readers of the bank never differ in a label by it.
LABEL_OF_ANSWER = {
    "1": "contradiction",
    "2": "contradiction",
    "3": "neutral",
    "4": "entailment",
    "5": "entailment",
}
_COLUMNS = ["pattern", "fingerprint", "reader", "answer_1", "answer_2", "answer_3"]


@dataclass(frozen=True)
class PatternAgreement:
    """How far blind readers agree with the labels of a pattern bank.

    Attributes:
        patterns: Number of patterns read.
        agreed_patterns: Patterns whose label every reader gave to every problem.
        answers: Number of answers of all readers.
        agreed_answers: Answers that give the pattern's label.
        firm_answers: Answers that are "definitely" or "unknown", not "most likely".
        kappa: Cohen's kappa between the first two readers over problems, from -1 to 1; None
            where it is undefined.
    """

    patterns: int
    agreed_patterns: int
    answers: int
    agreed_answers: int
    firm_answers: int
    kappa: float | None


def fingerprint(pattern: Pattern) -> str:
    """Return the fingerprint of a pattern that is validated: its text, label and conditions."""
    restrictions = [[r.variables, r.relation.products] for r in pattern.restrictions]
    constraint = None if pattern.constraint is None else asdict(pattern.constraint)
    content = [pattern.sentences, pattern.label, dict(pattern.fillers), restrictions, constraint]
    text = json.dumps(content, default=sorted)  # of sets
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def measure_pattern_agreement(bank: PatternBank, path: Path) -> PatternAgreement:
    """Sum up the answers of the blind readers of a pattern bank.

    Args:
        bank: The bank that was read.
        path: A CSV file with a row a pattern and reader: three answers on the paper's scale, and
            the fingerprint of the pattern that was read.

    Raises:
        BankError: The file is not CSV, a pattern was not read by every reader, or has changed
            since.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except csv.Error as error:
        raise BankError([Defect(str(path), 0, "", f"not CSV: {error}")]) from None
    defects = []
    patterns = {pattern.id: pattern for pattern in bank}
    answers: dict[str, dict[str, list[str]]] = {}
    for line, row in enumerate(rows, start=2):
        pattern = patterns.get(row["pattern"])
        given = [row[column] for column in _COLUMNS[3:]]
        message = None
        if pattern is None:
            message = "is not in the bank"
        elif row["fingerprint"] != fingerprint(pattern):
            message = "has changed since it was read; have it read again"
        elif not set(given) <= set(LABEL_OF_ANSWER):
            message = f"answers {given} are not all from 1 to 5"
        if message:
            defects.append(Defect(str(path), line, f"pattern {row['pattern']}", message))
        answers.setdefault(row["reader"], {})[row["pattern"]] = given
    for reader, read in answers.items():
        for pattern_id in sorted(set(patterns) - set(read)):
            message = f"reader {reader} has not read it"
            defects.append(Defect(str(path), 0, f"pattern {pattern_id}", message))
    if defects:
        raise BankError(defects)
    return _sum_up(bank, [answers[reader] for reader in sorted(answers)])


def _sum_up(bank: PatternBank, readers: Sequence[dict[str, list[str]]]) -> PatternAgreement:
    labels = [
        [LABEL_OF_ANSWER[answer] for pattern in bank for answer in read[pattern.id]]
        for read in readers
    ]
    gold = [pattern.label for pattern in bank for _ in range(3)]
    agreed = [
        all(LABEL_OF_ANSWER[a] == pattern.label for read in readers for a in read[pattern.id])
        for pattern in bank
    ]
    given = [answer for read in readers for answers in read.values() for answer in answers]
    kappa = cohen_kappa(Counter(zip(labels[0], labels[1], strict=True)))
    return PatternAgreement(
        patterns=len(bank),
        agreed_patterns=sum(agreed),
        answers=len(given),
        agreed_answers=sum(a == b for read in labels for a, b in zip(read, gold, strict=True)),
        firm_answers=sum(answer in "135" for answer in given),
        kappa=None if kappa is None else float(kappa),
    )
