"""Draws of pairs from papers, of negatives and of the problems of patterns, blind and balanced.

Keyed hashes of ids decide which rows are drawn and in which order, whatever the order of the rows.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.corpora.patterns.pattern_bank import LABELS as PATTERN_LABELS
from ...loaders.errors import AnnotationError, Defect, UnknownNameError, UsageError
from ...loaders.releases.bionli import LABELS as BIONLI_LABELS
from ..core.keyed import keyed_hash
from ..procedures.papers.declaration import UNBALANCED
from ..versions.version import BuiltVersion
from .agreement import CONTROLS, Cell
from .batch import BATCH_FILE, Batch, Item

#: The splits whose pairs people judge.
EVALUATION = ("validation", "test")
#: Default number of negatives of each strategy (BioNLI, section 3.5), and of problems of each
#: pattern (SpaceNLI, section 3.1).
PER_STRATEGY, PER_PATTERN = 25, 3

_COLUMNS = ("id", "label", "domain", "category", "group")
_Kind = TypeVar("_Kind", bound=Hashable)


@dataclass(frozen=True)
class Drawn:
    """Items that were drawn.

    Attributes:
        items: The items, in an order that is independent of their labels.
        short: For every kind with fewer pairs left than its share, how many were lacking.
    """

    items: Sequence[Item]
    short: Mapping[Any, int]


def draw_pairs(
    version: BuiltVersion,
    earlier: Sequence[Batch],
    missing: Mapping[Cell, int],
    n_pairs: int | None,
    seed: int,
) -> Drawn:
    """Draw pairs from papers: as many of every class and domain that lacks confirmed ones.

    That number is divided among the splits in proportion to what each still lacks (largest
    remainders).

    Args:
        version: A version that was made from papers.
        earlier: The earlier batches.
        missing: For every cell that lacks confirmed pairs, how many.
        n_pairs: How many pairs to draw; None takes for each class the most that any class lacks.
        seed: The key of the hashes.

    Raises:
        UsageError: The number of pairs is below 1.
        AnnotationError: A pair of an earlier batch has another text now, or is gone.

    Source: SciNLI, section 3.3: each iteration takes a balanced random sample.
    """
    by_class: defaultdict[tuple[str, str], dict[Cell, int]] = defaultdict(dict)
    for cell, number in sorted(missing.items()):
        by_class[cell.domain, cell.label][cell] = number
    most = max(sum(cells.values()) for cells in by_class.values())
    sizes = dict.fromkeys(by_class, most) if n_pairs is None else _divide(n_pairs, by_class, seed)
    wanted: dict[Cell, int] = {}
    for kind, cells in by_class.items():
        total = sum(cells.values())
        shares = {cell: divmod(sizes[kind] * number, total) for cell, number in cells.items()}
        n_more = sizes[kind] - sum(whole for whole, _ in shares.values())
        by_remainder = sorted(shares, key=lambda cell: -shares[cell][1])
        for cell, (whole, _) in shares.items():
            wanted[cell] = whole + (cell in by_remainder[:n_more])
    rows = read_rows(version, UNBALANCED, _COLUMNS, splits=EVALUATION)
    candidates = [
        (Cell(row["split"], row["domain"], row["label"]), row["id"], row["id"]) for row in rows
    ]
    return _draw(version, earlier, candidates, wanted, seed, _pair_facts, UNBALANCED)


def draw_negatives(
    version: BuiltVersion,
    earlier: Sequence[Batch],
    strategies: Sequence[str] | None,
    n_pairs: int | None,
    n_controls: int,
    seed: int,
) -> Drawn:
    """Draw negatives, as many of each strategy, and positives among them.

    Pairs of mechanisms that are in no batch yet come first: two conclusions of one text would
    reveal that one of them is wrong. The strategy with the fewest pairs left draws first.

    Args:
        version: A version with BioNLI's labels; its main config.
        earlier: The earlier batches.
        strategies: The strategies, by category; None takes all.
        n_pairs: How many pairs to draw, controls included; None takes 25 of each strategy.
        n_controls: How many of them are positives.
        seed: The key of the hashes.

    Raises:
        UsageError: The version has other labels or no negatives with a category, or the numbers
            are below 0 or leave no negative.
        UnknownNameError: A strategy has no negatives.

    Source: BioNLI, section 3.5: 25 negatives each of GEN and GEN-ND, judged by two experts. The
        controls, and that mechanisms come once where they can, are ours.
    """
    _check_labels(version, BIONLI_LABELS, "a version with adversarial negatives")
    candidates = []
    for row in read_rows(version, version.main_config, _COLUMNS):
        kind = _negative_facts(row)["category"]
        if kind is not None:
            group = row["id"] if row["group"] is None else f"group {row['group']}"
            candidates.append((kind, row["id"], group))
    known = {kind for kind, *_ in candidates} - {CONTROLS}
    if not known:
        raise UsageError(f"{version.folder} has no negatives with a category.")
    names = sorted(known if strategies is None else {*strategies})
    for name in names:
        if name not in known:
            raise UnknownNameError.of("strategy", name, known)
    n_negatives = PER_STRATEGY * len(names) if n_pairs is None else n_pairs - n_controls
    if n_negatives < 1 or n_controls < 0:
        raise UsageError(
            f"{n_negatives} negatives and {n_controls} controls are asked for; expected 1 or more, "
            "and 0 or more. The number of pairs is of both together."
        )
    wanted = {**_divide(n_negatives, names, seed), CONTROLS: n_controls}
    config = version.main_config
    return _draw(version, earlier, candidates, wanted, seed, _negative_facts, config)


def draw_problems(
    version: BuiltVersion,
    earlier: Sequence[Batch],
    patterns: Sequence[str] | None,
    categories: Sequence[str] | None,
    n_pairs: int | None,
    seed: int,
) -> Drawn:
    """Draw problems, as many of each pattern.

    Args:
        version: A version that was drawn from patterns; its main config.
        earlier: The earlier batches.
        patterns: The patterns to draw from; None for all.
        categories: The inference classes to draw from; None for all.
        n_pairs: How many problems to draw; None takes 3 of each pattern.
        seed: The key of the hashes.

    Raises:
        UsageError: The version has other labels, problems without a pattern, or no pattern that is
            asked for, or the number is below 1.
        UnknownNameError: There is no such pattern or inference class.

    Source: SpaceNLI, section 3.1: three random problems of every new or revised pattern.
    """
    _check_labels(version, PATTERN_LABELS, "a version that was drawn from patterns")
    rows = list(read_rows(version, version.main_config, _COLUMNS))
    if any(row["group"] is None for row in rows):
        raise UsageError(
            f"{version.folder} has rows without a pattern in the column group; expected a version "
            "that nlihub build spacenli, or nlihub construct patterns, made."
        )
    for column, what, given in (
        ("category", "inference class", categories),
        ("group", "pattern", patterns),
    ):
        known = {row[column] for row in rows} - {None}
        for name in given or ():
            if name not in known:
                raise UnknownNameError.of(what, name, known)
        rows = [row for row in rows if given is None or row[column] in given]
    names = {row["group"] for row in rows}
    number = PER_PATTERN * len(names) if n_pairs is None else n_pairs
    candidates = [(row["group"], row["id"], row["id"]) for row in rows]
    config = version.main_config
    wanted = _divide(number, names, seed)
    return _draw(version, earlier, candidates, wanted, seed, _problem_facts, config)


def has_patterns(version: BuiltVersion) -> bool:
    """Return whether a version has the labels of datasets that are drawn from patterns."""
    return tuple(version.manifest.labels) == PATTERN_LABELS


def _pair_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by which answers to a pair from papers are tallied."""
    return {name: row[name] for name in ("label", "domain", "split")}


def _negative_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by which answers to a negative or a control are tallied."""
    is_entailed = row["label"] == "entailment"
    facts = {"label": "yes" if is_entailed else "no", "domain": row["domain"]}
    return {**facts, "category": CONTROLS if is_entailed else row["category"]}


def _problem_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by which answers to a problem of a pattern are tallied."""
    return {name: row[name] for name in ("label", "domain", "group", "category")}


def read_rows(
    version: BuiltVersion,
    config: str,
    columns: Sequence[str],
    splits: Collection[str] | None = None,
    ids: Collection[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield rows of a version with their split, labels by name.

    Args:
        version: The version.
        config: Its config.
        columns: The columns to read.
        splits: The splits to read; None reads all.
        ids: The ids to read, unknown ones are ignored; None reads all.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    wanted = None if ids is None else pa.array(sorted(ids), pa.string())
    for split in version.manifest.configs[config]:
        if splits is not None and split not in splits:
            continue
        for batch in version.batches(config, split, columns):
            table = batch if wanted is None else batch.filter(pc.is_in(batch["id"], wanted))
            for row in table.to_pylist():
                yield {**row, "label": version.manifest.labels[row["label"]], "split": split}


def check_unchanged(
    version: BuiltVersion, config: str, batches: Sequence[Batch], ids: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Check that the items of batches are in a version with the same texts.

    Returns:
        The rows of these items, and of further ids, by id.

    Raises:
        AnnotationError: An item is not in the version, or has another text; lists every one.
    """
    items = [(batch, key, item) for batch in batches for key, item in batch.items.items()]
    columns = (*_COLUMNS, "premise", "hypothesis")
    asked = {*ids, *(item.id for *_, item in items)}
    rows = {row["id"]: row for row in read_rows(version, config, columns, ids=asked)}
    defects = []
    for batch, key, item in items:
        now = rows.get(item.id)
        if now is None or (now["premise"], now["hypothesis"]) != (item.premise, item.hypothesis):
            problem = (
                f"{item.id!r} {'is not in the version' if now is None else 'has another text now'}"
            )
            defects.append(Defect(str(batch.folder / BATCH_FILE), 0, f"pair {key}", problem))
    if defects:
        raise AnnotationError(defects, "Give the version that the batches were drawn from.")
    return rows


def _draw(
    version: BuiltVersion,
    earlier: Sequence[Batch],
    candidates: Iterable[tuple[_Kind, str, str]],
    wanted: Mapping[_Kind, int],
    seed: int,
    facts_of: Callable[[Mapping[str, Any]], dict[str, Any]],
    config: str,
) -> Drawn:
    """Draw from candidates: kind, id and group; groups that are not yet drawn come first."""
    done = {item.id for batch in earlier for item in batch.items.values()}
    used: set[str] = set()
    left: defaultdict[_Kind, list[tuple[bytes, str, str]]] = defaultdict(list)
    for kind, id_, group in candidates:
        if id_ in done:
            used.add(group)
        elif kind in wanted:
            left[kind].append((keyed_hash(id_, str(seed), "sample"), id_, group))
    ids: list[str] = []
    short: dict[_Kind, int] = {}
    for kind in sorted(wanted, key=lambda kind: (len(left[kind]), kind)):
        first: list[str] = []
        others: list[str] = []
        for _, id_, group in sorted(left[kind]):
            is_new = group not in used and len(first) < wanted[kind]
            (first if is_new else others).append(id_)
            if is_new:
                used.add(group)
        drawn = (first + others)[: wanted[kind]]
        ids += drawn
        if len(drawn) < wanted[kind]:
            short[kind] = wanted[kind] - len(drawn)
    ids.sort(key=lambda id_: keyed_hash(id_, str(seed), "order"))
    rows = check_unchanged(version, config, earlier, ids)
    items = [Item(i, rows[i]["premise"], rows[i]["hypothesis"], facts_of(rows[i])) for i in ids]
    return Drawn(items, dict(sorted(short.items())))


def _divide(n: int, kinds: Collection[_Kind], seed: int) -> dict[_Kind, int]:
    """Divide a number evenly; keyed hashes decide which kinds have one more."""
    if n < 1 or not kinds:
        raise UsageError(f"{n} pairs of {len(kinds)} kinds are asked for; expected 1 or more.")
    whole, n_more = divmod(n, len(kinds))
    turns = sorted(kinds, key=lambda kind: keyed_hash(str(kind), str(seed), "turn"))
    return {kind: whole + (place < n_more) for place, kind in enumerate(turns)}


def _check_labels(version: BuiltVersion, labels: Sequence[str], what: str) -> None:
    if tuple(version.manifest.labels) != tuple(labels):
        raise UsageError(
            f"{version.folder} has the labels {', '.join(version.manifest.labels)}; expected "
            f"{', '.join(labels)}, as {what} has."
        )
