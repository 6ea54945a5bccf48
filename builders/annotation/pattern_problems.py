"""The problems of a version that was drawn from patterns, and a blind sample of each pattern.

Source: SpaceNLI, section 3.1: three random problems of every new or revised pattern are validated.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.corpora.patterns.pattern_bank import LABELS
from ...loaders.errors import UnknownNameError, UsageError
from ..core.keyed import keyed_hash
from ..versions.version import BuiltVersion

_COLUMNS = ["id", "group", "category", "label"]


def has_patterns(version: BuiltVersion) -> bool:
    """Return whether a version has the labels of datasets that are drawn from patterns."""
    return tuple(version.manifest.labels) == LABELS


def read_problems(version: BuiltVersion, ids: Collection[str] | None = None) -> pa.Table:
    """Read problems of a version that was drawn from patterns.

    Args:
        version: The version; its main config is read.
        ids: The ids of the problems; unknown ones are ignored. None reads all, without texts.

    Returns:
        The columns ``id``, ``group``, ``category`` and ``label``, by name; with ids also
        ``premise``, ``hypothesis`` and ``domain``.

    Raises:
        UsageError: The version has other labels, or problems without a pattern.
        VerificationError: A file is missing or malformed.
    """
    if not has_patterns(version):
        raise UsageError(
            f"{version.folder} has the labels {', '.join(version.manifest.labels)}; expected "
            f"{', '.join(LABELS)}, as a version that was drawn from patterns has."
        )
    columns = _COLUMNS if ids is None else [*_COLUMNS, "premise", "hypothesis", "domain"]
    tables = []
    for split in version.manifest.configs[version.main_config]:
        table = version.table(version.main_config, split, columns)
        if ids is not None:
            table = table.filter(pc.is_in(table["id"], pa.array(sorted(ids), pa.string())))
        place = table.schema.get_field_index("label")
        names = pa.array(LABELS).take(table["label"].combine_chunks())
        tables.append(table.set_column(place, "label", names).replace_schema_metadata(None))
    problems = pa.concat_tables(tables)
    if problems["group"].null_count:
        raise UsageError(
            f"{version.folder} has rows without a pattern in the column group; expected a version "
            "that nlihub build spacenli, or nlihub construct patterns, made."
        )
    return problems


def draw_problems(
    problems: pa.Table,
    done: Collection[str],
    per_pattern: int,
    seed: int,
    *,
    patterns: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
) -> tuple[list[str], dict[str, int]]:
    """Draw problems of patterns by keyed hashes of their ids, whatever the order of the rows.

    Args:
        problems: All problems, from ``read_problems``.
        done: Ids of the problems in earlier batches.
        per_pattern: Number of problems of each pattern, 1 or more.
        seed: The key of the hashes.
        patterns: The patterns to draw from; None for all.
        categories: The inference classes to draw from; None for all.

    Returns:
        The ids, in an order that is independent of patterns and labels; and for every pattern with
        fewer problems left than asked for, how many were lacking.

    Raises:
        UsageError: The number is below 1, or no problem is left.
        UnknownNameError: There is no such pattern or inference class.
    """
    if per_pattern < 1:
        raise UsageError(f"per_pattern is {per_pattern}; expected 1 or more.")
    known = set(problems["category"].to_pylist()) - {None}
    groups = set(problems["group"].to_pylist())
    for kind, given, there in (
        ("inference class", categories, known),
        ("pattern", patterns, groups),
    ):
        for name in given or ():
            if name not in there:
                raise UnknownNameError.of(kind, name, there)
    left: defaultdict[str, list[tuple[bytes, str]]] = defaultdict(list)
    earlier = frozenset(done)
    for row in problems.to_pylist():
        is_wanted = patterns is None or row["group"] in patterns
        if is_wanted and (categories is None or row["category"] in categories):
            found = left[row["group"]]
            if row["id"] not in earlier:
                found.append((keyed_hash(row["id"], str(seed), "sample"), row["id"]))
    ids = [id_ for found in left.values() for _, id_ in sorted(found)[:per_pattern]]
    if not ids:
        raise UsageError("No problem is left of these patterns and inference classes.")
    ids.sort(key=lambda id_: keyed_hash(id_, str(seed), "order"))
    short = {
        name: per_pattern - len(found)
        for name, found in sorted(left.items())
        if len(found) < per_pattern
    }
    return ids, short
