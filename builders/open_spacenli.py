"""open_spacenli: a spatial NLI dataset of this package's own, built with nothing downloaded."""

import csv
import hashlib
import json
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..loaders.corpora.patterns.pattern_bank import find_pattern_bank
from ..loaders.corpora.patterns.records import Pattern, PatternBank
from ..loaders.errors import BankError, Defect, UsageError
from ..loaders.fetching import Source
from .core.kappa import cohen_kappa, show_kappa
from .core.options import BuildOptions
from .procedures.patterns.declaration import PatternBuilder, describe_file, pattern_spec

BANK = Path(str(files("nlihub.loaders.corpora") / "open_spacenli"))

#: The points of the paper's scale, from "definitely false" to "definitely true". Here no mapping
#: agrees better than the symmetric one: the readers of the bank never differ in a label by it.
LABEL_OF_ANSWER = {
    "1": "contradiction",
    "2": "contradiction",
    "3": "neutral",
    "4": "entailment",
    "5": "entailment",
}


class OpenSpaceNLI(PatternBuilder):
    """open_spacenli: SpaceNLI's procedure on a bank written from scratch for this package."""

    SPEC = pattern_spec(
        name="open_spacenli",
        pretty_name="Open SpaceNLI",
        version="1.0.0",
        summary="NLI problems on spatial reasoning, 200 from each pattern of an open bank.",
        license="apache-2.0",
        copyright="Copyright 2026 the nlihub authors",
        citation="""@misc{nlihub-open-spacenli,
  title = {Open {SpaceNLI}: an open pattern bank for inferences in space},
  author = {{The nlihub authors}},
  year = {2026},
  note = {Follows the procedure of SpaceNLI (arXiv 2307.02269)}
}
""",
        paper="https://arxiv.org/abs/2307.02269",
        homepage=None,
        offline=True,
        origins=("construct",),
    )
    SHIPPED = (BANK / "patterns.xml", BANK / "world.yaml")

    @classmethod
    def wanted_sources(cls, options: BuildOptions) -> list[Source]:
        """Return none: the bank is part of the package.

        Raises:
            UsageError: A folder with sources is given.
        """
        if options.folder is not None:
            raise UsageError(
                "open_spacenli is made from the bank that the package ships and takes no source "
                "folder. To sample a bank of your own, name its folder: nlihub sample FOLDER."
            )
        return []

    @classmethod
    def bank_files(cls, options: BuildOptions) -> list[tuple[Path, Mapping[str, Any]]]:
        """Return the two files of the bank that the package ships, with their entries.

        Raises:
            UsageError: A folder with sources is given.
        """
        cls.wanted_sources(options)  # for its error
        place = "nlihub/loaders/corpora/open_spacenli"
        files = find_pattern_bank(BANK)
        return [(path, describe_file(path, f"{place}/{path.name}")) for path in files]

    @classmethod
    def card_blocks(cls) -> dict[str, str]:
        """Return the block on how far the blind readers agree with the bank's labels."""
        bank = cls.read_bank(BuildOptions())
        found = measure_agreement(bank, BANK / "validation.csv")
        share = 100 * found.agreed_answers / found.answers
        text = (
            "Both readers gave the gold label to all three problems in "
            f"{found.agreed_patterns} of {len(bank)} patterns. Of their {found.answers:,} "
            f"answers {found.agreed_answers:,} ({share:.1f} %) are the gold label; "
            f'{found.answers - found.firm_answers} of them said only "most likely". '
            f"Cohen's kappa between the readers is {show_kappa(found.kappa)}."
        )
        return {"validation": textwrap.fill(text, 100)}


@dataclass(frozen=True)
class BlindAgreement:
    """How far blind readers agree with the labels of a pattern bank.

    Attributes:
        agreed_patterns: Patterns whose label every reader gave to every problem.
        answers: Number of answers of all readers.
        agreed_answers: Answers that give the pattern's label.
        firm_answers: Answers that are "definitely" or "unknown", not "most likely".
        kappa: Cohen's kappa of the two readers over problems, from -1 to 1; None where it is
            undefined.
    """

    agreed_patterns: int
    answers: int
    agreed_answers: int
    firm_answers: int
    kappa: float | None


def measure_agreement(bank: PatternBank, path: Path) -> BlindAgreement:
    """Measure how far two blind readers agree with a pattern bank (SpaceNLI, section 3.1).

    Args:
        bank: The bank that was read.
        path: A CSV file with a row a pattern and reader: three answers on the paper's scale, and
            the fingerprint of the pattern that was read.

    Raises:
        BankError: A reader has not read a pattern, or not as it is.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    readers = sorted({row["reader"] for row in rows})
    read = {(row["reader"], row["pattern"], row["fingerprint"]) for row in rows}
    expected = {(name, pattern.id, _fingerprint(pattern)) for name in readers for pattern in bank}
    if read != expected:
        wrong = sorted({(name, pattern) for name, pattern, _ in read ^ expected})
        raise BankError(
            [
                Defect(str(path), 0, f"pattern {pattern}", f"{name} has not read it as it is")
                for name, pattern in wrong
            ]
        )
    answers = {
        (row["reader"], row["pattern"]): [row[f"answer_{n}"] for n in (1, 2, 3)] for row in rows
    }
    given = [answer for each in answers.values() for answer in each]
    labels = {key: [LABEL_OF_ANSWER[answer] for answer in each] for key, each in answers.items()}
    pairs: Counter[tuple[str, str]] = Counter()
    agreed: list[int] = []
    for pattern in bank:
        first, second = (labels[name, pattern.id] for name in readers)
        pairs.update(zip(first, second, strict=True))
        agreed.append([*first, *second].count(pattern.label))
    kappa = cohen_kappa(pairs)
    return BlindAgreement(
        agreed_patterns=agreed.count(6),
        answers=len(given),
        agreed_answers=sum(agreed),
        firm_answers=sum(answer in "135" for answer in given),
        kappa=None if kappa is None else float(kappa),
    )


def _fingerprint(pattern: Pattern) -> str:
    """Return the hash of what is validated: the text, label and conditions of a pattern."""
    restrictions = [[r.variables, r.relation.products] for r in pattern.restrictions]
    constraint = None if pattern.constraint is None else asdict(pattern.constraint)
    content = [pattern.sentences, pattern.label, dict(pattern.fillers), restrictions, constraint]
    text = json.dumps(content, default=sorted)  # of sets
    return hashlib.sha256(text.encode()).hexdigest()[:12]
