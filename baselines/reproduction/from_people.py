"""Entries that people's answers to annotation batches give."""

from collections.abc import Mapping
from typing import Any

from ...builders.annotation import error_codes, judgements, pattern_validation, rounds
from ...builders.annotation.agreement import AnnotatorAgreement, Share
from ...builders.annotation.pattern_labels import PatternValidation
from ...loaders.errors import UsageError
from .at_hand import AtHand
from .entries import Entry
from .from_versions import open_for
from .tables import ComparedTable, Made, compare_numbers

_COMPARED = ("paper", "ours", "difference")


def make_agreement(entry: Entry, at_hand: AtHand) -> Made:
    """Review annotation batches, the paper's figures beside ours.

    Raises:
        UsageError: There are several folders of batches, or they ask something else.
        AnnotationError: The batches or the answers are malformed or of another version.
    """
    if len(at_hand.batches) > 1:
        listed = ", ".join(str(path) for path in at_hand.batches)
        raise UsageError(f"{entry.id} is measured on one folder of batches, not on {listed}.")
    version, batches = open_for(entry, at_hand).folder, at_hand.batches[0]
    if "per_class" in entry.options:
        ours = _agreement(rounds.review(version, batches, entry.options["per_class"]).agreement)
    elif entry.options.get("of") == "negatives":
        ours = _quality(judgements.review_judgements(version, batches))
    else:
        ours = _validation(pattern_validation.review_validation(version, batches))
    rows = compare_numbers(entry.numbers, {n: v for n, v in ours.items() if v is not None})
    table = ComparedTable("Agreement", ("", *_COMPARED), rows)
    return Made([table], [f"Ours: {batches}, drawn from {version}."], set(entry.numbers))


def make_errors(entry: Entry, at_hand: AtHand) -> Made:
    """Tally the codes that people gave to errors, the paper's shares beside ours.

    Raises:
        UsageError: There are several folders of errors.
        AnnotationError: The folder, or an answer in it, is malformed.
    """
    if len(at_hand.errors) > 1:
        listed = ", ".join(str(path) for path in at_hand.errors)
        raise UsageError(f"{entry.id} is measured on one folder of errors, not on {listed}.")
    tally = error_codes.review_codes(at_hand.errors[0])
    ours: dict[str, float | str | None] = {"errors drawn": tally.n_errors}
    ours |= {f"{code} %": _percent(share) for code, share in tally.codes.items()}
    table = ComparedTable("Errors", ("", *_COMPARED), compare_numbers(entry.numbers, ours))
    return Made([table], [f"Ours: {at_hand.errors[0]}."], set(entry.numbers))


def _validation(found: PatternValidation) -> Mapping[str, float | str | None]:
    kappa, unanimity = found.kappa, found.unanimity
    return {
        "mean of Cohen's kappa": _number(kappa),
        "problems": sum(found.outcomes.values()),
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


def _quality(found: Any) -> Mapping[str, float | str | None]:
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
