"""What experts make of a blind sample: how many negatives are true ones, by strategy."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from .agreement import Agreement, Share, measure_agreement
from .judge import KEPT, UNDECIDED, Judged
from .sample import CONTROLS, EXPECTED


@dataclass(frozen=True)
class Verdict:
    """What became of the pairs of one kind.

    Attributes:
        n_pairs: How many were drawn.
        as_expected: Pairs of which the majority says what was expected, "no" of a negative and
            "yes" of a control, of all decided pairs: those without a majority, or with an unclear
            one, are in the whole.
        interval: Wilson's 95 % interval of that share, from 0 to 1; None where no pair is decided.
        answers: Single answers that were expected, of all answers.
    """

    n_pairs: int
    as_expected: Share
    interval: tuple[float, float] | None
    answers: Share


@dataclass(frozen=True)
class Quality:
    """What a blind sample has come to.

    Attributes:
        strategies: By strategy the verdict on its negatives.
        negatives: That on the negatives of all strategies together.
        controls: That on the positives among them; None where none was drawn.
        agreement: How far the experts agree, over all pairs; its ``unclear`` are those who cannot
            judge.
    """

    strategies: dict[str, Verdict]
    negatives: Verdict
    controls: Verdict | None
    agreement: Agreement

    def as_json(self) -> dict[str, Any]:
        """It all in plain types; a number that is not defined is None."""
        return {
            "strategies": {name: _plain(found) for name, found in self.strategies.items()},
            "negatives": _plain(self.negatives),
            "controls": _plain(self.controls) if self.controls else None,
            "agreement": self.agreement.as_json(),
        }


def measure_quality(pairs: pa.Table, judged: Sequence[Judged], n_annotators: int) -> Quality:
    """Measures the share of true negatives.

    Args:
        pairs: The pairs, as ``read_pairs`` has them.
        judged: The same pairs, judged.
        n_annotators: How many experts were asked for each.

    Returns:
        What was found.

    Source:
        BioNLI, section 3.5: 88 % of GEN and 84 % of GEN-ND are correct negatives to two experts.
        It does not say what a pair counts as on which they differ: here as none. ``answers`` is
        the share in which it counts half.
    """
    kinds = dict(zip(pairs["id"].to_pylist(), pairs["category"].to_pylist(), strict=True))
    by_kind = {
        name: [pair for pair in judged if kinds[pair.id] == name]
        for name in sorted(set(kinds.values()))
    }
    controls = by_kind.pop(CONTROLS, None)
    negatives = [pair for found in by_kind.values() for pair in found]
    return Quality(
        strategies={name: _verdict(found) for name, found in by_kind.items()},
        negatives=_verdict(negatives),
        controls=_verdict(controls) if controls else None,
        agreement=measure_agreement(judged, EXPECTED, n_annotators),
    )


def wilson_interval(n: int, of: int) -> tuple[float, float] | None:
    """The 95 % interval of a share.

    Args:
        n: Size of the part.
        of: Size of the whole.

    Returns:
        Its ends, from 0 to 1; None of nothing.

    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    >>> tuple(round(end, 3) for end in wilson_interval(22, 25))
    (0.7, 0.958)
    """
    from scipy.stats import binomtest

    if not of:
        return None
    found = binomtest(n, of).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _verdict(pairs: Iterable[Judged]) -> Verdict:
    all_pairs = list(pairs)
    outcomes = [pair.outcome for pair in all_pairs if pair.outcome not in UNDECIDED]
    n_kept = outcomes.count(KEPT)
    given = [answer == pair.automatic for pair in all_pairs for answer in pair.answers.values()]
    return Verdict(
        len(all_pairs),
        Share(n_kept, len(outcomes)),
        wilson_interval(n_kept, len(outcomes)),
        Share(sum(given), len(given)),
    )


def _plain(verdict: Verdict) -> dict[str, Any]:
    found = asdict(verdict)
    for name in ("as_expected", "answers"):
        share = getattr(verdict, name)
        found[name]["value"] = share.value if share.of else None
    return found
