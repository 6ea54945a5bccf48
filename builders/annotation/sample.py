"""Draws a blind sample of negatives, and of positives as controls among them.

Source: BioNLI, section 3.5: 25 negatives each of GEN and GEN-ND, judged by two experts. The
controls, and that mechanisms come once where they can, are ours: a second conclusion for a text
would tell that one of the two is wrong.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UnknownNameError, UsageError
from ...loaders.releases.bionli import LABELS
from ..core.keyed import keyed_hash
from ..versions.version import BuiltVersion

#: What the controls are drawn and reported as.
CONTROLS = "controls"
#: The answer that is expected, by the id of the label.
EXPECTED = ("no", "yes")
_ENTAILED = LABELS.index("entailment")


@dataclass(frozen=True)
class Sample:
    """What was drawn.

    Attributes:
        ids: The ids of the pairs, in an order that tells nothing of what they are.
        short: For every strategy, and ``controls``, that had fewer pairs left than asked for, how
            many it lacked.
    """

    ids: Sequence[str]
    short: Mapping[str, int]


def list_pairs(version: BuiltVersion) -> dict[str, list[tuple[str, str]]]:
    """The pairs that may be drawn, of all splits of the main config.

    Args:
        version: A version with BioNLI's labels.

    Returns:
        Id and group of every pair, a group of its own where it has none: the negatives by category
        (those without one cannot be told by strategy, and are not there), the positives as
        ``controls``.

    Raises:
        UsageError: It has other labels, or no negatives with a category.
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
) -> Sample:
    """Draws pairs by keyed hashes of their ids, so that the order of the rows does not matter.

    A pair whose group has none in the sample yet, or in an earlier one, comes before the others;
    the kind with the fewest pairs left chooses first.

    Args:
        pairs: As ``list_pairs`` has them.
        done: Ids of the pairs that were drawn earlier.
        wanted: For each strategy, and for ``controls``, how many.
        seed: The key of the hashes.

    Returns:
        The sample.

    Raises:
        UnknownNameError: There is no negative of a strategy.
        UsageError: A number is negative, or all are 0.
    """
    if not any(wanted.values()) or min(wanted.values()) < 0:
        raise UsageError(f"{dict(wanted)} pairs are asked for; expected 0 or more, and some.")
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
    return Sample(ids, short)


def read_pairs(version: BuiltVersion, ids: Collection[str]) -> pa.Table:
    """The pairs of some ids.

    Args:
        version: As for ``list_pairs``.
        ids: The ids; those that it has not are not in the answer.

    Returns:
        The columns ``id``, ``premise``, ``hypothesis``, ``domain``, ``category`` (of positives
        ``controls``) and ``label``, the answer that is expected: ``no`` or ``yes``.

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
