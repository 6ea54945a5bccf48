"""Rows are compared by SQL as they were in memory, where all of them were held."""

from itertools import chain, combinations, groupby
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.builders.core.row_digests import digest, order_digest, row_hashes
from nlihub.builders.core.schema import TEXTS
from nlihub.builders.spacenli import SpaceNLI
from nlihub.builders.versions import verify as checks
from nlihub.builders.versions.row_tables import measure_statistics, open_rows
from nlihub.builders.versions.verify import VersionUnderTest, _shorten
from nlihub.loaders.errors import OutputError, VerificationError
from reference_repeats import contradicting_rows, first_rows, outline

SCHEMA = SpaceNLI.SPEC.features.arrow_schema
TEXT = st.sampled_from(["", "a", "b", "ab", "\0", "é", None])
ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["x", "y", "z", "é", *map(str, range(9))]),
        "premise": TEXT,
        "hypothesis": TEXT,
        "label": st.sampled_from([0, 1, 2]),
        "group": st.sampled_from(["g", "h", "", None]),
        "category": st.sampled_from([*SpaceNLI.SPEC.categories[:2], None]),
        "domain": st.just("spatial"),
        "source": st.none(),
    }
)
EXTRA = {"n_premises": 1, "has_negation": False}
#: For each config and split the rows of each file.
FILES = {
    "default": {"test": st.lists(st.lists(ROW, max_size=12), min_size=1, max_size=3)},
    "few_shot": {
        split: st.lists(st.lists(ROW, max_size=9), min_size=1, max_size=2)
        for split in ("train", "test")
    },
}


def value_of(kind):
    if pa.types.is_list(kind):
        return []
    return {pa.bool_(): False, pa.string(): "v"}.get(kind, 1)


def table_of(rows):
    others = {f.name: value_of(f.type) for f in SCHEMA if f.name not in row_columns()}
    return pa.Table.from_pylist([others | row for row in rows], SCHEMA)


def row_columns():
    return ("id", *TEXTS, "label", "group", "category", "domain", "source")


def write(folder, files):
    """Write files of rows, in groups of three; return a version of them, not yet opened."""
    subject = VersionUnderTest(folder)
    configs = {}
    for config, splits in files.items():
        configs[config] = {}
        for split, parts in splits.items():
            shards = []
            for number, rows in enumerate(parts):
                name = f"{config}-{split}-{number}.parquet"
                pq.write_table(table_of(rows), folder / name, row_group_size=3)
                shards.append(SimpleNamespace(file=name, rows=len(rows)))
            hashes = row_hashes(table_of(list(chain.from_iterable(parts))), SpaceNLI.SPEC.labels)
            configs[config][split] = SimpleNamespace(
                shards=tuple(shards),
                rows=len(hashes),
                digest=digest(hashes),
                order_digest=order_digest(hashes),
            )
    manifest = SimpleNamespace(
        configs=configs,
        main_config=lambda default: default,
        splits=lambda: (
            (c, s, entry) for c, splits in configs.items() for s, entry in splits.items()
        ),
    )
    vars(subject).update(manifest=manifest, builder=SpaceNLI)
    return subject


class Reference:
    """The checks and statistics as they were, over outlines of all rows."""

    def __init__(self, files):
        self.files = files
        self.tables = {
            (config, split): table_of(list(chain.from_iterable(parts)))
            for config, splits in files.items()
            for split, parts in splits.items()
        }

    def rows(self, config):
        return pa.concat_tables(
            outline([table]).append_column("split", pa.repeat(split, len(table)))
            for (name, split), table in self.tables.items()
            if name == config
        )

    def texts(self, config, numbers):
        rows = pa.concat_tables(t for (name, _), t in self.tables.items() if name == config)
        found = rows.select(TEXTS).take(pa.array(numbers, pa.int64())).to_pydict()
        return zip(*found.values(), strict=True)

    def ids_are_unique(self):
        found = {}
        for (config, _), table in self.tables.items():
            hashes = row_hashes(table, SpaceNLI.SPEC.labels)
            for key, row in zip(table["id"].to_pylist(), hashes, strict=True):
                found.setdefault(key, []).append((config, row))
        for key, places in found.items():
            if len(places) > len({config for config, _ in places}):
                yield f"id {key!r} occurs twice in a config"
            elif len({row for _, row in places}) > 1:
                yield f"id {key!r} is another row in another config"

    def a_group_has_one_label(self):
        labels = {}
        for row in self.rows("default").to_pylist():
            labels.setdefault(row["group"], set()).add(row["label"])
        for group, found in labels.items():
            if len(found) > 1:
                yield f"group {group!r} has more than one label"

    def no_example_is_in_two_splits(self):
        for config in self.files:
            rows = self.rows(config)
            first = first_rows(rows, TEXTS)
            again = contradicting_rows(first, rows["split"])
            for text, row in zip(self.texts(config, again), again, strict=True):
                one, other = (rows["split"][n].as_py() for n in (first[row], row))
                yield f"{config}: {text} is in {one} and in {other}"

    def no_text_has_two_labels(self):
        rows = self.rows("default")
        again = contradicting_rows(first_rows(rows, TEXTS), rows["label"])
        for text in self.texts("default", again):
            yield f"{text} has more than one label"

    def repeated_texts(self):
        rows = self.rows("default")
        first = first_rows(rows, TEXTS)
        is_repeated = np.bincount(first, minlength=len(rows))[first] > 1
        by_text = np.flatnonzero(is_repeated)[np.argsort(first[is_repeated], kind="stable")]
        texts = self.texts("default", np.unique(first[is_repeated]))
        for text, (_, found) in zip(texts, groupby(by_text, first.__getitem__), strict=True):
            keys = (rows["id"][row].as_py() for row in found)
            yield f"{', '.join(keys)}: {' '.join(map(str, text))}"

    def statistics(self, config):
        rows = self.rows(config)
        texts = first_rows(rows, TEXTS)
        contradictory = np.unique(texts[contradicting_rows(texts, rows["label"])])
        splits = {s: outline([t]) for (c, s), t in self.tables.items() if c == config}
        overlaps = [
            ((one, other), *(_n_shared(splits[one], splits[other], names) for names in COMPARED))
            for one, other in combinations(splits, 2)
        ]
        n_groups = pc.count_distinct(rows["group"]).as_py()
        return len(texts) - len(np.unique(texts)), len(contradictory), n_groups, overlaps


COMPARED = (TEXTS, ("premise",), ("hypothesis",), ("group",))


def _n_shared(one, other, columns):
    tables = [table.select(columns).drop_null() for table in (one, other)]
    n = len(tables[0])
    found = first_rows(pa.concat_tables(tables), columns)[n:]
    return len(np.unique(found[found < n]))


CHECKS = (
    "ids_are_unique",
    "a_group_has_one_label",
    "no_example_is_in_two_splits",
    "no_text_has_two_labels",
)


@settings(deadline=None, max_examples=12)
@given(st.fixed_dictionaries({c: st.fixed_dictionaries(s) for c, s in FILES.items()}))
def test_rows_are_compared_as_they_were_in_memory(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("rows")
    reference = Reference(files)
    subject = write(folder, files)
    with open_rows(subject) as subject.tables:
        for check in CHECKS:
            expected = list(getattr(reference, check)())
            found = _shorten(getattr(checks, check).find(subject))
            assert found[:10] == tuple(expected[:10]), check
            n_more = f"and {len(expected) - 10} more" if len(expected) > 10 else None
            assert found[10:] == ((n_more,) if n_more else ()), check
        empty = [f"{c}/{s}" for (c, s), table in reference.tables.items() if not len(table)]
        found = _shorten(checks.rows_have_their_digest.find(subject))
        assert found == tuple(f"{split} has no rows" for split in empty)
        for config in files:
            subject.manifest.main_config = lambda default, config=config: config
            found = measure_statistics(subject.tables)
            shared = [tuple(vars(overlap).values()) for overlap in found.overlaps]
            figures = found.repeated_texts, found.contradictory_texts, found.groups, shared
            assert figures == reference.statistics(config)


@settings(deadline=None, max_examples=8)
@given(st.lists(ROW, max_size=30))
def test_repeated_texts_are_listed_as_they_were(tmp_path_factory, rows):
    rows = [row | {name: row[name] or "none" for name in TEXTS} for row in rows]
    files = {"default": {"test": [rows[:7], rows[7:]]}}
    subject = write(tmp_path_factory.mktemp("rows"), files)
    with open_rows(subject) as subject.tables:
        found = _shorten(checks.repeated_texts.find(subject))
    assert found == _shorten(Reference(files).repeated_texts())


ODD = ROW.flatmap(
    lambda row: st.fixed_dictionaries(
        {
            **{name: st.just(value) for name, value in row.items()},
            "label": st.sampled_from([0, 1, -1, 10, 9, None]),
            "domain": st.sampled_from(["spatial", "b'", "a", None]),
            "category": st.sampled_from(["directional", "c", "", None]),
        }
    )
)


@settings(deadline=None, max_examples=10)
@given(st.lists(st.lists(ODD, max_size=6), min_size=2, max_size=2))
def test_values_are_checked_as_they_were(tmp_path_factory, parts):
    spec = SpaceNLI.SPEC
    allowed = {
        "id": {row["id"] for part in parts for row in part},
        **{name: {"a", "b", "ab", "\0", "é"} for name in TEXTS},
        "label": set(range(3)),
        "domain": set(spec.domains),
        "category": {*spec.categories, None},
    }
    defects = {}
    for number, part in enumerate(parts):
        for n, row in enumerate(part):
            for place, (name, values) in enumerate(allowed.items()):
                if row[name] not in values:
                    key = (place, row[name] is not None, str(row[name]))
                    defects.setdefault(key, (name, row[name], []))[2].append((number, n))
    expected = []
    for _, (name, value, found) in sorted(defects.items()):
        shown = "null" if value is None else repr(str(value))
        file, row = found[0]
        expected.append(
            f"default/test: {name} {shown} is not allowed "
            f"({len(found):,} rows, the first is row {row} of {file}.parquet)"
        )
    folder = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(parts):
        pq.write_table(table_of(part), folder / f"{number}.parquet", row_group_size=2)
    shards = tuple(SimpleNamespace(file=f"{n}.parquet") for n in range(2))
    configs = {"default": {"test": SimpleNamespace(shards=shards)}}
    subject = VersionUnderTest(folder)
    vars(subject).update(manifest=SimpleNamespace(configs=configs), builder=SpaceNLI)
    with open_rows(subject) as subject.tables:
        found = _shorten(checks.values_are_allowed.find(subject))
    assert found == _shorten(expected)


def test_a_damaged_file_is_named(tmp_path):
    row = {"id": "x", "premise": "p", "hypothesis": "h", "label": 0, "group": "g"}
    row |= {"category": None, "domain": "spatial", "source": None}
    rows = [row | {"id": str(n), "premise": f"{n} {'long ' * n}"} for n in range(3_000)]
    subject = write(tmp_path, {"default": {"test": [rows]}})
    [file] = tmp_path.glob("*.parquet")
    content = bytearray(file.read_bytes())
    content[4_000:6_000] = bytes(2_000)
    file.write_bytes(content)
    with (
        open_rows(subject) as tables,
        pytest.raises(VerificationError, match=rf"{file.name} cannot be read as Parquet"),
    ):
        tables.repeats("default")


@pytest.mark.slow
def test_what_does_not_fit_says_what_to_set(tmp_path, monkeypatch):
    monkeypatch.setenv("NLIHUB_MEMORY", "1MB")
    row = {"id": "x", "premise": "p", "hypothesis": "h", "label": 0, "group": "g"}
    row |= {"category": None, "domain": "spatial", "source": None}
    subject = write(
        tmp_path, {"default": {"test": [[row | {"id": str(n)} for n in range(20_000)]]}}
    )
    with (
        open_rows(subject) as tables,
        pytest.raises(OutputError, match="Set NLIHUB_MEMORY to more"),
    ):
        tables.repeats("default")
