"""Entries that are measured on a built version: counts, texts, vocabularies, examples."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ...builders.core.registry import get_builder
from ...builders.statistics.counts import count_rows
from ...builders.statistics.negatives import PUBLISHED_CATEGORIES, count_possible_negatives
from ...builders.statistics.parses import parse_texts
from ...builders.statistics.texts import (
    compare_vocabularies,
    describe_texts,
    published_texts,
)
from ...builders.versions.open import open_version
from ...builders.versions.row_tables import open_rows
from ...builders.versions.version import BuiltVersion
from ...loaders.errors import UnmeasuredError, UsageError, needs_extra
from .entries import Entry
from .inputs import Inputs
from .tables import Options, Reproduced, Table, compare


def make_statistics(entry: Entry, inputs: Inputs, options: Options) -> Reproduced:
    """Measure an entry's parts on a version, the paper's figures beside ours.

    Raises:
        UnmeasuredError: A part cannot be measured on these rows.
        UsageError: The version is not one of the entry's dataset.
        VerificationError: A file of the version was changed since it was built.
        NLIHubError: The sources are missing, or not those of the dataset.
    """
    version, config = _open(entry, inputs, options)
    result = Reproduced(notes=[_describe(version, config)])
    if version.manifest.dataset != entry.dataset:
        result.notes.append(
            f"Ours is another dataset than the paper's {entry.dataset}, so its numbers differ."
        )
    for part in entry.options["parts"]:
        _PARTS[part](result, entry, version, config, options.parser)
    return result


def _open(entry: Entry, inputs: Inputs, options: Options) -> tuple[BuiltVersion, str]:
    """Open the version given, or built from the sources; return it with the config to measure."""
    spec, versions = get_builder(entry.dataset).SPEC, inputs["version"]
    if len(versions) > 1:
        listed = ", ".join(map(str, versions))
        raise UsageError(f"{entry.id} is measured on one version, not on {listed}. Name one.")
    if versions:
        version = BuiltVersion(versions[0]).require_whole()
    else:
        sources = next(iter(inputs["source files"]), None)
        version = open_version(entry.dataset, folder=sources, splits=options.splits)
    manifest = version.manifest
    if tuple(manifest.labels) != tuple(spec.labels):
        raise UsageError(
            f"{version.folder} holds {manifest.dataset}, with the labels "
            f"{', '.join(manifest.labels)}; {entry.id} needs those of {entry.dataset}, "
            f"{', '.join(spec.labels)}. Name another folder."
        )
    wanted, configs = entry.options.get("config"), list(manifest.configs)
    if wanted in configs:
        return version, str(wanted)
    if wanted is not None and manifest.dataset == entry.dataset:
        raise UsageError(
            f"{version.folder} has the configs {', '.join(configs)}; {entry.id} shows {wanted}. "
            "Build that config too."
        )
    return version, version.main_config


def _describe(version: BuiltVersion, config: str) -> str:
    manifest = version.manifest
    rows = ", ".join(f"{name} {split.rows:,}" for name, split in manifest.configs[config].items())
    return f"Ours: {manifest.dataset} {manifest.version}, {config}: {rows} rows."


def _add_counts(
    result: Reproduced, entry: Entry, version: BuiltVersion, config: str, parser: str | None
) -> None:
    spec = get_builder(entry.dataset).SPEC
    published = spec.published.get(entry.options.get("config", spec.default_config), {})
    unit = entry.options.get("unit", "rows")
    for name in entry.options["by"]:
        rows, shares = [], []
        with open_rows(version) as tables:
            counts = count_rows(tables, config, [name], published)
        for count in counts:
            value, cells = ", ".join(map(str, count.value)), (count.split, *count.value)
            result.used |= {value, f"{value} %"}
            if unit == "rows":
                rows.append((*cells, count.published, count.rows))
            else:
                rows.append((*cells, entry.numbers.get(value), count.groups))
            # Of the rows with the same first value, as a paper prints them.
            alike = (c.rows for c in counts if (c.split, *c.value)[:-1] == cells[:-1])
            share = round(100 * count.rows / sum(alike), 1)
            shares.append((*cells, entry.numbers.get(f"{value} %"), share))
        head = ("split", *name.split("+"))
        result.tables.append(compare(f"{unit.capitalize()} by {name}", head, rows))
        if any(paper is not None for *_, paper, _ in shares):
            result.tables.append(compare(f"Shares by {name}, %", head, shares))


def _add_texts(
    result: Reproduced, entry: Entry, version: BuiltVersion, config: str, parser: str | None
) -> None:
    def published(part: str) -> Mapping[str, float]:
        return published_texts(entry.dataset, get_builder(entry.dataset).SPEC.default_config, part)

    figures = {
        "premise_tokens": "words of a premise",
        "hypothesis_tokens": "words of a hypothesis",
        "overlap": "overlap %",
    }
    rows = [
        (text.part, title, published(text.part).get(name), getattr(text, name))
        for text in describe_texts(version, config)
        for name, title in figures.items()
    ]
    if parser is None:
        result.notes.append("S roots were not measured: name a CoreNLP server with --parser URL.")
    else:
        for roots in parse_texts(version, config, parser).roots:
            for side, ours in (("premise", roots.premise), ("hypothesis", roots.hypothesis)):
                theirs = published(roots.part).get(f"{side}_s_roots")
                rows.append((roots.part, f"S roots of a {side} %", theirs, ours.s_roots))
    result.tables.append(compare("Texts", ("rows of", "what"), rows))


def _add_vocabularies(
    result: Reproduced, entry: Entry, version: BuiltVersion, config: str, parser: str | None
) -> None:
    rows = [
        (", ".join(pair.domains), pair.published_cosine, round(pair.cosine, 4))
        for pair in compare_vocabularies(version, config).shared
    ]
    result.tables.append(compare("Cosine of the vocabularies", ("domains",), rows))


def _add_possible_negatives(
    result: Reproduced, entry: Entry, version: BuiltVersion, config: str, parser: str | None
) -> None:
    with open_rows(version) as tables:
        counts = count_possible_negatives(tables, config)
    if not counts:
        raise UnmeasuredError(
            f"{version.manifest.dataset} has no split besides train with positives and negatives."
        )
    papers = {
        c.split: PUBLISHED_CATEGORIES.get((entry.dataset, "full", c.split), {}) for c in counts
    }
    rows = [(c.split, c.n_categories, papers[c.split].get(c.n_categories), c.share) for c in counts]
    result.tables.append(compare("Share of mechanisms, %", ("split", "kinds of negatives"), rows))
    first = counts[0].split
    ours = {count.n_categories: count.share / 100 for count in counts if count.split == first}
    result.notes.append(f"The picture shows {first}.")
    result.draw = partial(_draw_shares, ours, {n: one / 100 for n, one in papers[first].items()})


def _draw_shares(shares: Mapping[int, float], published: Mapping[int, float], output: Path) -> None:
    with needs_extra("plots", "A picture"):
        from ...metrics.plots import plot_possible_perturbations, save_figure

        save_figure(plot_possible_perturbations(shares, published=published or None), output)


_Add = Callable[[Reproduced, Entry, BuiltVersion, str, str | None], None]
_PARTS: Mapping[str, _Add] = {
    "counts": _add_counts,
    "texts": _add_texts,
    "vocabularies": _add_vocabularies,
    "possible_negatives": _add_possible_negatives,
}


def make_examples(entry: Entry, inputs: Inputs, options: Options) -> Reproduced:
    """Show rows of a version: of some groups, or the first of each value of a column.

    Raises:
        UsageError: The version is not one of the entry's dataset, or has none of the groups.
        VerificationError: A file of the version was changed since it was built.
        NLIHubError: The sources are missing, or not those of the dataset.
    """
    version, config = _open(entry, inputs, options)
    columns, splits = list(entry.options["columns"]), version.manifest.configs[config]
    split = "test" if "test" in splits else next(iter(splits))
    rows = version.table(config, split, columns=list(dict.fromkeys([*columns, "group", "label"])))
    chosen = _choose(entry.options, rows.to_pylist())
    if not chosen:
        raise UsageError(
            f"{version.folder} has no row of the groups {', '.join(entry.options['groups'])} in "
            f"{split}. Name a version that has them."
        )
    labels = version.builder.SPEC.labels
    cells = [
        [labels[row[name]] if name == "label" else row[name] for name in columns] for row in chosen
    ]
    title = f"Rows of {version.manifest.dataset}, {split}"
    return Reproduced([Table(title, columns, cells)], [_describe(version, config)])


def _choose(options: Mapping[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows to show: the first of each group, or of each value of a column."""
    by_group: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        by_group.setdefault(row["group"], []).append(row)
    if "groups" in options:
        n_shown = options.get("n", 1)
        return [row for name in options["groups"] for row in by_group.get(name, ())[:n_shown]]
    column = options["each"]
    if options.get("of_one_group"):  # the first with the most values
        rows = max(by_group.values(), key=lambda group: len({row[column] for row in group}))
    first: dict[Any, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row[column], row)
    return list(first.values())
