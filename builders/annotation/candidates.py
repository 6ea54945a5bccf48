"""The pairs that may be annotated, the cells that balance them, and the draw of a batch."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import SchemaError, UsageError
from ..core.keyed import keyed_hash
from ..procedures.papers.declaration import UNBALANCED
from ..versions.version import BuiltVersion

#: The columns that a table of candidates must have, all strings; ``label`` is the automatic label.
COLUMNS = ("id", "premise", "hypothesis", "label", "domain", "split")
SPLITS = ("validation", "test")
#: The answer where the two sentences do not tell the relation.
UNCLEAR = "unclear"


class Cell(NamedTuple):
    """A class of a domain in a split; every cell of a split gets the same number of pairs."""

    split: str
    domain: str
    label: str


def candidates_of(version: BuiltVersion) -> pa.Table:
    """Return the evaluation pairs of a version made from papers, before classes were balanced.

    They have the columns of ``COLUMNS``, labels by name.

    Raises:
        UsageError: The version has no such pairs, or is annotated already.
        VerificationError: A file is missing or malformed.
    """
    labels = pa.array(version.manifest.labels)
    tables = []
    for split in SPLITS:
        if split not in version.manifest.configs.get(UNBALANCED, {}):
            continue
        table = version.table(UNBALANCED, split, ("id", "premise", "hypothesis", "label", "domain"))
        place = table.schema.get_field_index("label")
        table = table.set_column(place, "label", labels.take(table["label"].combine_chunks()))
        tables.append(table.append_column("split", pa.repeat(split, len(table))))
    if not tables or "agreement" in version.manifest.construction:
        raise UsageError(
            f"{version.folder} has no candidates to annotate; expected a version that nlihub "
            "construct papers made, before annotation."
        )
    return pa.concat_tables(tables).replace_schema_metadata(None)


def check_annotator_labels(labels: Sequence[str], others: Sequence[str] = (UNCLEAR,)) -> None:
    """Check that annotators can choose among labels.

    Args:
        labels: The label set.
        others: The answers that are not labels.

    Raises:
        UsageError: There are fewer than two labels, two differ only in case or blanks, or one is
            blank or among the other answers.
    """
    plain = [label.strip().casefold() for label in labels]
    if len(set(plain)) < max(len(plain), 2) or not all(plain) or {*others} & {*plain}:
        raise UsageError(
            f"The labels are {list(labels)}; expected two or more, different whatever their case, "
            f"and none of them {' or '.join(map(repr, others))}, which every annotator may choose."
        )


def check_candidates(candidates: pa.Table, labels: Sequence[str]) -> None:
    """Check that a table is one of candidates for annotation.

    Args:
        candidates: A table with at least the columns of ``COLUMNS``.
        labels: The label set.

    Raises:
        SchemaError: A column is missing, is not of strings or has a null, an id occurs twice, a
            label is not in the label set, or a split is not an evaluation split.
    """
    for name in COLUMNS:
        if name not in candidates.column_names:
            raise SchemaError(f"The candidates have no column {name!r}.")
        column = candidates[name]
        if column.type != pa.string() or column.null_count:
            raise SchemaError(f"Column {name!r} has nulls, or values that are not strings.")
    counts = pc.value_counts(candidates["id"])
    twice = pc.index(pc.greater(counts.field("counts"), 1), True).as_py()
    if twice >= 0:
        raise SchemaError(f"The id {counts.field('values')[twice].as_py()!r} occurs twice.")
    for name, known in (("label", labels), ("split", SPLITS)):
        if unknown := set(pc.unique(candidates[name]).to_pylist()) - set(known):
            raise SchemaError(
                f"Column {name!r} has {', '.join(map(repr, sorted(unknown)))}; "
                f"expected {', '.join(known)}."
            )


def cells_of(candidates: pa.Table) -> list[Cell]:
    """Return the cells of n candidates for annotation, in their order."""
    columns = (candidates[name].to_pylist() for name in Cell._fields)
    return [Cell(*values) for values in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Draw:
    """The pairs drawn for a batch.

    Attributes:
        pairs: Rows of the candidates, in an order that is independent of their labels.
        short: For every cell with fewer pairs left than its share, how many were lacking.
    """

    pairs: pa.Table
    short: Mapping[Cell, int]


def draw_batch(
    candidates: pa.Table,
    done: Collection[str],
    missing: Mapping[Cell, int],
    size_per_class: int,
    seed: int,
) -> Draw:
    """Draw a batch to annotate: the same number of pairs of every class and domain.

    That number is divided among the splits in proportion to what each still lacks (largest
    remainders). A cell that lacks nothing gets no pairs; one with too few pairs left gives all it
    has. Keyed hashes of the ids decide which pairs are drawn and in which order, so the order of
    the rows does not matter.

    Args:
        candidates: The candidates, a table that passes ``check_candidates``.
        done: Ids of the pairs in earlier batches.
        missing: For every cell the number of gold pairs that it still lacks, ``Gold.missing``.
        size_per_class: Pairs for each class of each domain, over all splits; 1 or more.
        seed: The key of the hashes.

    Raises:
        UsageError: The size is below 1, or a candidate's cell is not in ``missing``.

    Source: SciNLI, section 3.3: each iteration takes a balanced random sample.
    """
    if size_per_class < 1:
        raise UsageError(f"size_per_class is {size_per_class}; expected 1 or more.")
    earlier = frozenset(done)
    left: dict[Cell, list[tuple[bytes, int]]] = defaultdict(list)
    ids = candidates["id"].to_pylist()
    for row, (id_, cell) in enumerate(zip(ids, cells_of(candidates), strict=True)):
        if cell not in missing:
            raise UsageError(f"The pair {id_!r} is of {cell}, for which there is no quota.")
        if id_ not in earlier:
            left[cell].append((keyed_hash(id_, str(seed), "draw"), row))
    rows: list[int] = []
    short: dict[Cell, int] = {}
    for cell, share in _shares(missing, size_per_class).items():
        drawn = sorted(left[cell])[:share]
        rows += (row for _, row in drawn)
        if len(drawn) < share:
            short[cell] = share - len(drawn)
    rows.sort(key=lambda row: keyed_hash(ids[row], str(seed), "order"))
    return Draw(candidates.take(pa.array(rows, pa.int64())), short)


def _shares(missing: Mapping[Cell, int], size_per_class: int) -> dict[Cell, int]:
    """Return how many pairs to draw of each cell."""
    together: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in sorted(missing):
        together[cell.domain, cell.label].append(cell)
    shares: dict[Cell, int] = {}
    for cells in together.values():
        total = sum(missing[cell] for cell in cells)
        if not total:
            continue
        wanted = {cell: divmod(size_per_class * missing[cell], total) for cell in cells}
        by_remainder = sorted(cells, key=lambda cell: -wanted[cell][1])
        n_more = size_per_class - sum(whole for whole, _ in wanted.values())
        shares |= {cell: whole for cell, (whole, _) in wanted.items()}
        for cell in by_remainder[:n_more]:
            shares[cell] += 1
    return shares
