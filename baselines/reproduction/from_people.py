"""Entries that people's answers to annotation batches give."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...builders.annotation.agreement import (
    AnnotatorAgreement,
    CodeTally,
    Quality,
    Review,
    Share,
)
from ...builders.annotation.pattern_labels import PatternValidation
from ...builders.annotation.task import review
from ...loaders.errors import UsageError
from .at_hand import Given
from .entries import Entry
from .made import Made, Options, compare_numbers


def make_agreement(entry: Entry, given: Given, options: Options) -> Made:
    """Review annotation batches, the paper's figures beside ours.

    Raises:
        UsageError: There are several folders of batches, or they ask another question.
        AnnotationError: The batches or the answers are malformed.
    """
    return _compare(entry, "Agreement", given["annotation batches"])


def make_errors(entry: Entry, given: Given, options: Options) -> Made:
    """Tally the codes that people gave to errors, the paper's shares beside ours.

    Raises:
        UsageError: There are several folders of errors.
        AnnotationError: The folder, or an answer in it, is malformed.
    """
    return _compare(entry, "Errors", given["coded errors"])


def _compare(entry: Entry, title: str, folders: Sequence[Path]) -> Made:
    if len(folders) > 1:
        listed = ", ".join(map(str, folders))
        raise UsageError(f"{entry.id} is measured on one folder, not on {listed}.")
    found = review(folders[0])
    if isinstance(found, Review):
        ours = _agreement(found.agreement)
    elif isinstance(found, Quality):
        ours = _quality(found)
    elif isinstance(found, CodeTally):
        ours = _codes(found)
    else:
        ours = _validation(found)
    if entry.numbers and not entry.numbers.keys() & ours.keys():
        raise UsageError(f"{folders[0]} asks another question than {entry.id}.")
    known = {name: value for name, value in ours.items() if value is not None}
    table = compare_numbers(title, entry.numbers, known)
    return Made([table], [f"Ours: {folders[0]}."], set(entry.numbers))


def _codes(found: CodeTally) -> Mapping[str, float | str | None]:
    shares = {f"{code} %": _percent(share) for code, share in found.codes.items()}
    return {"errors drawn": found.n_errors, **shares}


def _validation(found: PatternValidation) -> Mapping[str, float | str | None]:
    kappa, unanimity = found.kappa, found.unanimous
    return {
        "mean of Cohen's kappa": _number(kappa),
        "problems": sum(found.problems.values()),
        "unanimous with the original label %": _percent(unanimity.before),
        "the same, of validated patterns %": _percent(unanimity.after),
    }


def _agreement(found: AnnotatorAgreement) -> Mapping[str, float | str | None]:
    shares = {**found.by_class, **found.by_domain}
    return {
        "pairs annotated": found.overall.of,
        "pairs confirmed": found.overall.n,
        "confirmed %, all": _percent(found.overall),
        **{f"confirmed %, {name}": _percent(share) for name, share in shares.items()},
        "without a majority %": _percent(found.without_majority),
        "Fleiss' kappa": _number(found.kappa),
    }


def _quality(found: Quality) -> Mapping[str, float | str | None]:
    return {
        "pairs": found.negatives.n_pairs,
        **{
            f"true negatives %, {name}": _percent(verdict.as_expected)
            for name, verdict in found.strategies.items()
        },
        "true negatives %, all": _percent(found.negatives.as_expected),
        "Fleiss' kappa": _number(found.agreement.kappa),
    }


def _percent(share: Share) -> float | None:
    return _number(100 * share.value, 1)


def _number(value: float | None, n_digits: int = 4) -> float | None:
    """Return a rounded number; None for one that is undefined."""
    return None if value is None or value != value else round(value, n_digits)
