"""Checks of a version that read its rows.

Beside its findings a check may yield the number of those that it does not spell out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..core.encode import no_value
from ..core.options import BuildOptions
from ..core.published_counts import count_values, differing_counts, differing_rows
from ..core.schema import NULLABLE, REQUIRED, TEXTS
from ..core.spec import PublishedCounts
from ..core.sql import list_of_texts
from .provenance import compare_rows, differing_facts, read_sources
from .row_tables import ROW_NUMBER
from .subject import Subject

#: Number of findings that are spelt out.
MAX_SHOWN = 10


def no_split_is_empty(version: Subject) -> Iterator[str]:
    """Check that every split has a row."""
    for config, split in version.config_splits():
        if not version.n_rows(config, split):
            yield f"{config}/{split} has no rows"


def values_are_allowed(version: Subject) -> Iterator[str | int]:
    """Check that labels, domains and categories are allowed, and no required text is missing."""
    for config, splits in version.manifest.configs.items():
        missing = dict(_find_missing(version, config))
        found, n_more = _find_values(version, config)
        for number, split in enumerate(splits):
            if number in missing:
                yield f"{config}/{split}: {missing[number]}"
            for name, value in found[number]:
                yield f"{config}/{split}: {name} {value!r} is not allowed"
        yield n_more


def _find_missing(version: Subject, config: str) -> Iterator[tuple[int, str]]:
    """Yield the splits in which a required column has no value, each with the first place."""
    tests = {name: f"{name} IS NULL" + f" OR {name} = ''" * (name != "label") for name in REQUIRED}
    firsts = ", ".join(f"min(number) FILTER ({test})" for test in tests.values())
    table = version.tables.rows(config)
    for split, *numbers in version.tables.execute(
        f"SELECT split, {firsts} FROM {table} GROUP BY split"
    ):
        for name, number in zip(tests, numbers, strict=True):
            if number is not None:
                yield split, no_value(name, version.tables.row_in_split(config, number))
                break


def _find_values(version: Subject, config: str) -> tuple[Mapping[int, list[tuple[str, Any]]], int]:
    """Find the values that are not allowed.

    Returns:
        By number of the split the first of them, each with its column; and how many more there
        are.
    """
    spec = version.builder.SPEC
    allowed = {
        "label": f"{list(range(len(spec.labels)))}::BIGINT[]",
        "domain": list_of_texts(spec.domains),
        "category": list_of_texts(spec.categories),
    }
    queries = (
        f"SELECT split, {place} AS place, {name if name == 'label' else 'NULL'} AS label, "
        f"{name if name != 'label' else 'NULL'} AS text FROM {version.tables.rows(config)} "
        f"WHERE {name} IS {'NOT NULL AND' if name in NULLABLE else 'NULL OR'} "
        f"NOT list_contains({values}, {name})"
        for place, (name, values) in enumerate(allowed.items())
    )
    found = version.tables.find(
        " UNION ".join(queries),
        order="split, place, coalesce(label::VARCHAR, text, 'None')",
        max_rows=MAX_SHOWN,
    )
    by_split = defaultdict(list)
    for split, place, label, text in found.rows:
        by_split[split].append((list(allowed)[place], text if label is None else label))
    return by_split, found.n_more


def rows_have_their_digest(version: Subject) -> Iterator[str]:
    """Check that numbers and digests of rows are those of the manifest."""
    for config, split in version.config_splits():
        entry = version.manifest.configs[config][split]
        hashes = version.hashes[config, split]
        if hashes.rows != entry.rows:
            yield f"{config}/{split} has {hashes.rows} rows, expected {entry.rows}"
        elif (found := hashes.digest()) != entry.digest:
            yield f"{config}/{split} has digest {found}, expected {entry.digest}"
        elif hashes.order_digest != entry.order_digest:
            yield f"{config}/{split} has its rows in another order"
        elif n_differing := sum(n != shard.rows for n, shard in version.shard_rows(config, split)):
            yield f"{n_differing} files of {config}/{split} have other numbers of rows than listed"


def ids_are_unique(version: Subject) -> Iterator[str | int]:
    """Check that an id occurs once in a config, and is the same row in every config."""
    configs = list(version.manifest.configs)
    config_of_file = [configs.index(config) for config, _ in version.config_splits()]
    rows = version.tables.make(
        "VIEW",
        "hashed rows",
        f"SELECT id, hash, {ROW_NUMBER} AS number, "
        f"{config_of_file}[file_index::BIGINT + 1]::TINYINT AS config "
        f"FROM {version.tables.database.scan([one.path for one in version.hashes.values()])}",
    )
    # Hashes of 64 bits leave few ids, which are then compared themselves.
    doubtful = "count(*) > 1"
    if len(configs) > 1:
        doubtful = (
            "count(*) > bit_count(bit_or(1::BIGINT << config)) "
            "OR min(md5_number(hash)) <> max(md5_number(hash))"
        )
    compared = version.tables.make(
        "TEMP TABLE",
        "compared ids",
        f"""
        SELECT id, config, number,
            number <> first_value(number) OVER (PARTITION BY id, config ORDER BY number)
                AS is_second,
            hash <> first_value(hash) OVER (PARTITION BY id ORDER BY number) AS differs
        FROM {rows} SEMI JOIN (
            SELECT hash(id) AS key FROM {rows} GROUP BY key HAVING {doubtful}
        ) ON hash(id) = key
        """,
    )
    found = version.tables.find(
        f"SELECT id, config, number, 0 AS kind FROM {compared} WHERE is_second UNION ALL "
        f"SELECT id, config, number, 1 AS kind FROM {compared} WHERE differs",
        order="number, kind",
        max_rows=MAX_SHOWN,
    )
    defects = ("occurs twice", "is another row than in an earlier config")
    for key, config, _, kind in found.rows:
        yield f"{configs[config]}: id {key!r} {defects[kind]}"
    yield found.n_more


def a_group_has_one_label(version: Subject) -> Iterator[str | int]:
    """Check that all problems of a pattern have its label (SpaceNLI, 3.2)."""
    config = version.main_config
    rows = version.tables.rows(config)
    found = version.tables.find(
        f"""
        SELECT number, split, key FROM (
            SELECT number, split, key, label,
                first_value(label) OVER (PARTITION BY key ORDER BY number) AS first_label
            FROM (SELECT number, split, label, "group" AS key FROM {rows}) JOIN (
                SELECT "group" AS mixed FROM {rows} GROUP BY "group"
                HAVING min(label) <> max(label) OR count(label) NOT IN (0, count(*))
            ) ON key IS NOT DISTINCT FROM mixed
        ) WHERE label IS DISTINCT FROM first_label
        """,
        order="number",
        max_rows=MAX_SHOWN,
    )
    splits = list(version.manifest.configs[config])
    for _, split, group in found.rows:
        yield f"{splits[split]}: group {group!r} has more than one label"
    yield found.n_more


def groups_are_patterns(version: Subject) -> bool:
    """Return whether the groups of the dataset are patterns."""
    return version.builder.SPEC.group == "pattern"


def no_example_is_in_two_splits(version: Subject) -> Iterator[str | int]:
    """Check that no premise and hypothesis are in two splits of a config."""
    for config, splits in version.manifest.configs.items():
        if len(splits) < 2:
            continue
        found = version.tables.find(
            f"SELECT number, first_split, split FROM {version.tables.repeats(config)} "
            "WHERE split <> first_split",
            order="number",
            max_rows=MAX_SHOWN,
        )
        texts = version.tables.values(config, [number for number, *_ in found.rows], TEXTS)
        for text, (_, *numbers) in zip(texts, found.rows, strict=True):
            one, other = (list(splits)[number] for number in numbers)
            yield f"{config}: {text} is in {one} and in {other}"
        yield found.n_more


def no_text_has_two_labels(version: Subject) -> Iterator[str | int]:
    """Check that no premise and hypothesis occur with different labels."""
    config = version.main_config
    found = version.tables.find(
        f"SELECT number FROM {version.tables.repeats(config)} "
        "WHERE label IS DISTINCT FROM first_label",
        order="number",
        max_rows=MAX_SHOWN,
    )
    for text in version.tables.values(config, [number for (number,) in found.rows], TEXTS):
        yield f"{text} has more than one label"
    yield found.n_more


def rows_are_the_published_ones(version: Subject) -> Iterator[str]:
    """Check that every split has as many rows as the paper publishes."""
    for config, split, published in _published(version):
        found = differing_rows(published, version.n_rows(config, split))
        yield from (f"{config}/{split}: {difference}" for difference in found)


def counts_are_the_published_ones(version: Subject) -> Iterator[str]:
    """Check classes, categories and domains of every split against the counts of the paper."""
    for config, split, published in _published(version):
        found = differing_counts(published, partial(_count, version, config, split))
        yield from (f"{config}/{split}: {difference}" for difference in found)


def _count(version: Subject, config: str, split: str, what: str) -> int | Counter[Any]:
    """Count in a split what papers publish."""
    if what not in ("groups", "repeated texts"):
        batches = version.batches(config, split, what.split(", "))
        return count_values(what, batches, version.builder.SPEC.labels)
    tables = version.tables
    number = list(version.manifest.configs[config]).index(split)
    counted = 'count(DISTINCT "group")', tables.rows(config)
    if what == "repeated texts":
        counted = "count(*) - count(DISTINCT (premise, hypothesis))", tables.texts(config)
    [(found,)] = tables.execute("SELECT {} FROM {} WHERE split = {}".format(*counted, number))
    return int(found)


def _published(version: Subject) -> Iterator[tuple[str, str, PublishedCounts]]:
    for config, splits in version.builder.SPEC.published.items():
        for split, counts in splits.items():
            if split in version.manifest.configs.get(config, {}):
                yield config, split, counts


def has_published(version: Subject) -> bool:
    """Return whether the paper publishes counts of a split of the version."""
    return any(True for _ in _published(version))


def rows_are_those_of_the_sources(version: Subject) -> Iterator[str]:
    """Check rows, their order, parameters and oddities against what the sources give now."""
    configs = version.manifest.configs
    splits = tuple(dict.fromkeys(split for found in configs.values() for split in found))
    options = replace(version.sources or BuildOptions(), configs=tuple(configs), splits=splits)
    expected = read_sources(version.builder, options)
    yield from differing_facts(version.manifest, expected)
    for config, split in version.config_splits():
        hashes = version.hashes[config, split]
        if difference := compare_rows(hashes.read(), expected.hashes[config, split]):
            text, row = difference
            where = "" if row is None else f"; first {hashes.read_id(row)}"
            yield f"{config}/{split}: {text}{where}"


def repeated_texts(version: Subject) -> Iterator[str | int]:
    """List the texts that occur more than once in a built version."""
    config = version.main_config
    repeats = version.tables.repeats(config)
    found = version.tables.find(
        f"SELECT DISTINCT first FROM {repeats} WHERE number <> first",
        order="first",
        max_rows=MAX_SHOWN,
    )
    for (first,) in found.rows:
        rows = version.tables.execute(f"SELECT number FROM {repeats} WHERE first = {first}")
        numbers = [number for (number,) in rows]
        keys = (key for (key,) in version.tables.values(config, numbers, ["id"]))
        [text] = version.tables.values(config, [first], TEXTS)
        yield f"{', '.join(keys)}: {' '.join(text)}"
    yield found.n_more
