"""A blind sample of negatives, positives among them as controls, and the share of true negatives.

Source: BioNLI, section 3.5: 25 negatives each of GEN and GEN-ND, judged by two experts. The
controls, and that mechanisms come once where they can, are ours: a second conclusion for a text
would tell that one of the two is wrong.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UnknownNameError, UsageError
from ...loaders.releases.bionli import LABELS
from ..core.keyed import keyed_hash
from ..versions.version import BuiltVersion
from .agreement import AnnotatorAgreement, Share, measure_agreement
from .gold import KEPT, UNDECIDED, Judged

#: The name under which controls are drawn and reported.
CONTROLS = "controls"
#: The answer that is expected, by the id of the label.
EXPECTED = ("no", "yes")
_ENTAILED = LABELS.index("entailment")


@dataclass(frozen=True)
class NegativesSample:
    """A blind sample of negatives, with positives among them.

    Attributes:
        ids: The ids of the pairs, in an order that is independent of their labels.
        short: For every strategy, and for ``controls``, with fewer pairs left than asked for, how
            many were lacking.
    """

    ids: Sequence[str]
    short: Mapping[str, int]


@dataclass(frozen=True)
class Verdict:
    """The experts' judgement of the pairs of one kind.

    Attributes:
        n_pairs: Number of pairs drawn.
        as_expected: Share of decided pairs whose majority is as expected, "no" for a negative and
            "yes" for a control. The whole includes pairs without a majority and those whose
            majority is ``unclear``.
        interval: Wilson's 95 % interval of that share, from 0 to 1; None where no pair is decided.
        answers: Share of single answers that are as expected.
    """

    n_pairs: int
    as_expected: Share
    interval: tuple[float, float] | None
    answers: Share


@dataclass(frozen=True)
class Quality:
    """The quality of negatives, as experts judge a blind sample of them.

    Attributes:
        strategies: By strategy, the verdict on its negatives.
        negatives: The verdict on the negatives of all strategies together.
        controls: The verdict on the positives among them; None where none was drawn.
        agreement: Agreement of the experts over all pairs; ``unclear`` is the answer of an expert
            who cannot judge.
    """

    strategies: dict[str, Verdict]
    negatives: Verdict
    controls: Verdict | None
    agreement: AnnotatorAgreement

    def as_json(self) -> dict[str, Any]:
        """Return all figures in plain types, an undefined number as None."""
        return {
            "strategies": {name: _plain(found) for name, found in self.strategies.items()},
            "negatives": _plain(self.negatives),
            "controls": _plain(self.controls) if self.controls else None,
            "agreement": self.agreement.as_json(),
        }


def list_sample_pairs(version: BuiltVersion) -> dict[str, list[tuple[str, str]]]:
    """List the pairs that a sample of negatives may draw, of all splits of the main config.

    Args:
        version: A version with BioNLI's labels.

    Returns:
        Id and group of every pair, by category for negatives and as ``controls`` for positives. A
        pair without a group is a group of its own; negatives without a category are left out.

    Raises:
        UsageError: The version has other labels, or no negatives with a category.
        VerificationError: A file is missing or malformed.
    """
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    if tuple(version.manifest.labels) != LABELS:
        raise UsageError(
            f"{version.folder} has the labels {', '.join(version.manifest.labels)}; expected "
            f"{' and '.join(LABELS)}, as a version with adversarial negatives has."
        )
    columns = ["id", "group", "label", "category"]
    for split in version.manifest.configs[version.main_config]:
        for batch in version.batches(version.main_config, split, columns):
            rows = zip(*(batch[name].to_pylist() for name in columns), strict=True)
            for id_, group, label, category in rows:
                kind = CONTROLS if label == _ENTAILED else category
                if kind is not None:
                    found[kind].append((id_, f"group {group}" if group is not None else id_))
    if not found.keys() - {CONTROLS}:
        raise UsageError(f"{version.folder} has no negatives with a category.")
    return dict(found)


def draw_sample(
    pairs: Mapping[str, Sequence[tuple[str, str]]],
    done: Collection[str],
    wanted: Mapping[str, int],
    seed: int,
) -> NegativesSample:
    """Draw a sample of negatives by keyed hashes of their ids, whatever the order of the rows.

    A pair whose group is not yet in this or an earlier sample comes before the others; the kind
    with the fewest pairs left chooses first.

    Args:
        pairs: Id and group of the pairs by kind, from ``list_sample_pairs``.
        done: Ids of the pairs in earlier samples.
        wanted: Number of pairs to draw for each strategy, and for ``controls``.
        seed: The key of the hashes.

    Raises:
        UnknownNameError: A strategy has no negatives.
        UsageError: A number is negative, or all are 0.
    """
    if not any(wanted.values()) or min(wanted.values()) < 0:
        raise UsageError(f"The numbers of pairs are {dict(wanted)}; expected 0 or more, not all 0.")
    for name in wanted.keys() - pairs.keys() - {CONTROLS}:
        raise UnknownNameError.of("strategy", name, pairs.keys() - {CONTROLS})
    earlier = frozenset(done)
    used = {group for found in pairs.values() for id_, group in found if id_ in earlier}
    left = {
        name: sorted(
            (keyed_hash(id_, str(seed), "sample"), id_, group)
            for id_, group in pairs.get(name, ())
            if id_ not in earlier
        )
        for name in wanted
    }
    ids: list[str] = []
    short: dict[str, int] = {}
    for name in sorted(wanted, key=lambda name: (len(left[name]), name)):
        first: list[str] = []
        others: list[str] = []
        for _, id_, group in left[name]:
            is_new = group not in used and len(first) < wanted[name]
            (first if is_new else others).append(id_)
            if is_new:
                used.add(group)
        drawn = (first + others)[: wanted[name]]
        ids += drawn
        if len(drawn) < wanted[name]:
            short[name] = wanted[name] - len(drawn)
    ids.sort(key=lambda id_: keyed_hash(id_, str(seed), "order"))
    return NegativesSample(ids, short)


def read_sampled_pairs(version: BuiltVersion, ids: Collection[str]) -> pa.Table:
    """Read the pairs of a sample of negatives by their ids.

    Args:
        version: A version with BioNLI's labels.
        ids: The ids; unknown ones are ignored.

    Returns:
        The columns ``id``, ``premise``, ``hypothesis``, ``domain``, ``category`` (``controls`` for
        positives) and ``label``, the expected answer: ``no`` or ``yes``.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    columns = ["id", "premise", "hypothesis", "domain", "category", "label"]
    wanted = pa.array(sorted(ids), pa.string())
    tables = []
    for split in version.manifest.configs[version.main_config]:
        for batch in version.batches(version.main_config, split, columns):
            rows = batch.filter(pc.is_in(batch["id"], value_set=wanted))
            label = rows["label"].combine_chunks()
            kind = pc.if_else(pc.equal(label, _ENTAILED), CONTROLS, rows["category"])
            tables.append(
                rows.select(columns[:4])
                .append_column("category", kind)
                .append_column("label", pa.array(EXPECTED).take(label))
                .replace_schema_metadata(None)
            )
    return pa.concat_tables(tables)


def measure_negatives(pairs: pa.Table, judged: Sequence[Judged], n_annotators: int) -> Quality:
    """Measure the share of true negatives by strategy, and the agreement of the experts.

    Args:
        pairs: The pairs, from ``read_sampled_pairs``.
        judged: The same pairs, judged.
        n_annotators: How many experts were asked for each pair.

    Source:
        BioNLI, section 3.5: 88 % of GEN and 84 % of GEN-ND are correct negatives to two experts.
        It does not say how a pair counts on which they differ: here as not correct. In the share
        ``answers`` it counts half.
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
    """Return Wilson's 95 % interval of the share ``n / of``, from 0 to 1; None where ``of`` is 0.

    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    >>> tuple(round(end, 3) for end in wilson_interval(22, 25))
    (0.7, 0.958)
    """
    if not of:
        return None
    share, z = n / of, NormalDist().inv_cdf(0.975)
    middle = share + z**2 / (2 * of)
    reach = z * math.sqrt(share * (1 - share) / of + (z / (2 * of)) ** 2)
    ends = [(middle + side * reach) / (1 + z**2 / of) for side in (-1, 1)]
    return (ends[0] if n else 0.0, ends[1] if n < of else 1.0)


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
