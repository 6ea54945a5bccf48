"""Split papers and abstracts by year or ratio, and a hash of the id.

Each is in one split only, and stays in it whatever others there are.

Source:
    SciNLI, sections 3.2 and 3.3: papers of 2000-2019 for training, those of 2020 for evaluation, of
    which 36 % are the development set. MSciNLI, section 3.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, NamedTuple

from ...loaders.errors import UsageError
from ..core.keyed import keyed_number
from ..core.schema import SPLITS
from .option_groups import Option

#: Why a paper is in no split.
NO_YEAR = "the paper has no year"
OTHER_YEAR = "the paper is of another year"

VALIDATION_SHARE = 0.36
Years = tuple[int, int]
Shares = tuple[float, float, float]
GROUP = "Splits"


def parse_years(text: str) -> Years:
    """Parse a recipe's first and last year, ``2000-2019``, or one year.

    Raises:
        UsageError: The text has another form.
    """
    if (match := re.fullmatch(r"(\d{4})(?:-(\d{4}))?", text)) is None:
        raise UsageError(f"The years are {text!r}; expected FIRST-LAST, as in 2000-2019.")
    return int(match[1]), int(match[2] or match[1])


def parse_ratio(text: str) -> Shares:
    """Parse a recipe's shares of train, validation and test: ``0.8,0.1,0.1``.

    Raises:
        UsageError: The text has another form.
    """
    try:
        train, validation, test = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"The ratio is {text!r}; expected train,validation,test, as in 0.8,0.1,0.1."
        ) from None
    return train, validation, test


#: The option to split by a hash alone, of every procedure that splits.
Ratio = Annotated[
    Shares | None,
    Option(
        "Shares of train, validation and test; by default those of the paper.",
        GROUP,
        "A,B,C",
        parse_ratio,
    ),
]


class Place(NamedTuple):
    """The split of a paper; None, with the reason, where it is in none."""

    split: str | None
    reason: str = ""


@dataclass(frozen=True)
class ByYear:
    """Splits papers by years, those of the evaluation cut in two by a hash.

    Attributes:
        train: First and last year of the training papers.
        evaluation: First and last year of the others.
        validation_share: Share of the evaluation papers that are for validation, 0 to 1.
    """

    train: Years = (2000, 2019)
    evaluation: Years = (2020, 2020)
    validation_share: float = VALIDATION_SHARE

    def __post_init__(self) -> None:
        for first, last in (self.train, self.evaluation):
            if first > last:
                raise UsageError(f"{first}-{last} are not years; expected FIRST-LAST.")
        if self.train[0] <= self.evaluation[1] and self.evaluation[0] <= self.train[1]:
            raise UsageError("Training and evaluation have years in common.")
        _check_share(self.validation_share)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have papers."""
        return _with_share((1, self.validation_share, 1 - self.validation_share))

    def place_of(self, paper: str, year: int | None, seed: int) -> Place:
        """Return where a paper of an id and a year belongs."""
        if year is None:
            return Place(None, NO_YEAR)
        if self.train[0] <= year <= self.train[1]:
            return Place("train")
        if self.evaluation[0] <= year <= self.evaluation[1]:
            is_first = _share(paper, seed) < self.validation_share
            return Place("validation" if is_first else "test")
        return Place(None, OTHER_YEAR)

    def as_json(self) -> Mapping[str, Any]:
        """Return the splitting as plain values, for the manifest."""
        return {"by": "year", **asdict(self)}


@dataclass(frozen=True)
class ByRatio:
    """Splits papers or abstracts by a hash alone.

    Attributes:
        train: Share for training, 0 to 1.
        validation: Share for validation; the rest is for testing.
    """

    train: float = 0.8
    validation: float = 0.1

    def __post_init__(self) -> None:
        for share in (self.train, self.validation, self.train + self.validation):
            _check_share(share)

    @classmethod
    def of(cls, shares: Shares) -> "ByRatio":
        """Split by the shares of train, validation and test.

        Raises:
            UsageError: The shares do not sum to 1, or one is negative.
        """
        if abs(sum(shares) - 1) > 1e-9:
            raise UsageError(f"{shares} does not sum to 1; expected train, validation, test.")
        return cls(shares[0], shares[1])

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have papers."""
        return _with_share((self.train, self.validation, 1 - self.train - self.validation))

    def place_of(self, paper: str, year: int | None, seed: int) -> Place:
        """Return where a paper of an id belongs; its year does not matter."""
        share = _share(paper, seed)
        if share < self.train:
            return Place("train")
        return Place("validation" if share < self.train + self.validation else "test")

    def as_json(self) -> Mapping[str, Any]:
        """Return the splitting as plain values, for the manifest."""
        return {"by": "ratio", **asdict(self)}


Splitting = ByYear | ByRatio


def _share(paper: str, seed: int) -> float:
    return keyed_number(seed, "split", paper) / 2**64


def _with_share(shares: Sequence[float]) -> tuple[str, ...]:
    return tuple(split for split, share in zip(SPLITS, shares, strict=True) if share > 1e-9)


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"The share is {share}; expected 0 to 1.")
