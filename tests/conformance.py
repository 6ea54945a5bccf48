"""What every config of every dataset keeps to, however it is loaded.

Each check takes a ``Subject`` and raises ``AssertionError``. ``test_conformance.py`` runs all of
them on every config, and plants a defect for each.
"""

from dataclasses import dataclass
from typing import Any

from datasets import ClassLabel, Value
from nlihub.builders.core.row_digests import both_digests, row_hashes
from nlihub.builders.core.schema import COLUMNS, NULLABLE


@dataclass
class Subject:
    """A config as loaded in every way, and what it should be.

    Attributes:
        spec: The declaration of its dataset.
        config: Its name.
        ways: For each way of loading, for each split, features and rows (labels as ids).
        tables: For each split the rows as an Arrow table.
        digests: For each split the digest in the manifest.
        source: For each split the id, premise, hypothesis and label name of each row, read from
            the source by other code.
        others: For each id of the dataset's other configs its row, and nothing else.
    """

    spec: Any
    config: str
    ways: dict[str, dict[str, tuple[Any, list[dict[str, Any]]]]]
    tables: dict[str, Any]
    digests: dict[str, str]
    source: dict[str, list[tuple[str, str, str, str]]]
    others: dict[str, dict[str, Any]]

    @property
    def main(self):
        return self.ways["nlihub"]


def the_uniform_columns_come_first(s):
    for splits in s.ways.values():
        for features, _ in splits.values():
            assert list(features)[: len(COLUMNS)] == list(COLUMNS)
            for name in COLUMNS:
                expected = ClassLabel if name == "label" else Value
                assert isinstance(features[name], expected)


def features_are_equal_in_name_type_and_order(s):
    for splits in s.ways.values():
        for features, rows in splits.values():
            assert list(features) == list(s.spec.features)
            assert features == s.spec.features
            assert features["label"].names == list(s.spec.labels)
            assert all(list(row) == list(features) for row in rows)


def splits_are_the_declared_ones(s):
    for splits in s.ways.values():
        assert tuple(splits) == s.spec.configs[s.config].splits


def every_way_of_loading_gives_the_same_rows(s):
    for splits in s.ways.values():
        for split, (_, rows) in splits.items():
            assert rows == s.main[split][1]


def rows_are_those_of_the_source_in_its_order(s):
    for split, (features, rows) in s.main.items():
        names = features["label"].names
        found = [(r["id"], r["premise"], r["hypothesis"], names[r["label"]]) for r in rows]
        assert len(found) == len(s.source[split]), f"{split}: {len(found)} rows"
        for row, expected in zip(found, s.source[split], strict=True):
            assert row == expected, f"{split}: found {row}, expected {expected}"


def an_id_stands_for_one_row(s):
    rows = [row for _, rows in s.main.values() for row in rows]
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(s.others.get(row["id"], row) == row for row in rows)


def required_values_are_there(s):
    for _, rows in s.main.values():
        for row in rows:
            for name in COLUMNS:
                if name not in NULLABLE:
                    assert row[name] not in (None, "")


def values_are_of_their_sets(s):
    for _, rows in s.main.values():
        for row in rows:
            assert row["label"] in range(len(s.spec.labels))
            assert row["domain"] in s.spec.domains
            assert row["category"] in {*s.spec.categories, None}
            assert (row["group"] is None) == (s.spec.group is None)


def numbers_of_rows_are_the_published_ones(s):
    for split, counts in s.spec.published.get(s.config, {}).items():
        assert len(s.main[split][1]) == counts["rows"]


def rows_have_the_digest_of_the_manifest(s):
    for split, table in s.tables.items():
        assert both_digests(row_hashes(table, s.spec.labels))[0] == s.digests[split]


CHECKS = [
    the_uniform_columns_come_first,
    features_are_equal_in_name_type_and_order,
    splits_are_the_declared_ones,
    every_way_of_loading_gives_the_same_rows,
    rows_are_those_of_the_source_in_its_order,
    an_id_stands_for_one_row,
    required_values_are_there,
    values_are_of_their_sets,
    numbers_of_rows_are_the_published_ones,
    rows_have_the_digest_of_the_manifest,
]
