"""Entries that are measured on a built version: counts, texts, vocabularies, examples."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...builders.core.registry import get_builder
from ...builders.statistics.counts import count_values
from ...builders.statistics.negatives import PUBLISHED_CATEGORIES, count_possible_negatives
from ...builders.statistics.parses import parse_texts
from ...builders.statistics.rows_and_texts import describe_texts, published_texts, tally_texts
from ...builders.statistics.vocabulary import compare_vocabularies
from ...builders.versions.open import open_version
from ...builders.versions.version import BuiltVersion
from ...loaders.errors import UnmeasuredError, UsageError, needs_extra
from .at_hand import AtHand
from .entries import Entry
from .tables import Cell, ComparedTable, Made, difference

_COMPARED = ("paper", "ours", "difference")


def open_for(entry: Entry, at_hand: AtHand, splits: Sequence[str] = ()) -> BuiltVersion:
    """Open the version that an entry is measured on: the one given, or built from the sources.

    Args:
        entry: The entry.
        at_hand: What was given.
        splits: The splits to build from sources; empty means all.

    Raises:
        UsageError: Several versions are given, or one of other labels than the entry's dataset.
        VerificationError: A file of the version was changed since it was built.
        NLIHubError: The sources are missing, or not those of the dataset.
    """
    spec = get_builder(entry.dataset).SPEC
    if not at_hand.versions:
        return open_version(entry.dataset, folder=at_hand.sources, splits=splits)
    if len(at_hand.versions) > 1:
        listed = ", ".join(str(path) for path in at_hand.versions)
        raise UsageError(f"{entry.id} is measured on one version, not on {listed}. Name one.")
    version = BuiltVersion(Path(at_hand.versions[0])).require_whole()
    if tuple(version.manifest.labels) != tuple(spec.labels):
        raise UsageError(
            f"{version.folder} holds {version.manifest.dataset}, with the labels "
            f"{', '.join(version.manifest.labels)}; {entry.id} needs those of {entry.dataset}, "
            f"{', '.join(spec.labels)}. Name another folder."
        )
    return version


def make_statistics(
    entry: Entry, at_hand: AtHand, splits: Sequence[str] = (), parser: str | None = None
) -> Made:
    """Measure an entry's parts on a version, the paper's figures beside ours.

    Raises:
        UnmeasuredError: A part cannot be measured on these rows.
        UsageError: The version is none of the entry's dataset.
    """
    version = open_for(entry, at_hand, splits)
    config = _config_of(entry, version)
    made = Made(notes=[_describe(version, config)])
    if version.manifest.dataset != entry.dataset:
        made.notes.append(
            f"Ours is another dataset than the paper's {entry.dataset}, so its numbers differ."
        )
    for part in entry.options["parts"]:
        if part == "texts":
            _add_texts(made, entry, version, config, parser)
        else:
            _PARTS[part](made, entry, version, config)
    return made


def _config_of(entry: Entry, version: BuiltVersion) -> str:
    wanted = entry.options.get("config")
    configs = list(version.manifest.configs)
    if wanted is None or (version.manifest.dataset != entry.dataset and wanted not in configs):
        return version.main_config
    if wanted not in configs:
        raise UsageError(
            f"{version.folder} has the configs {', '.join(configs)}; {entry.id} shows {wanted}. "
            "Build that config too."
        )
    return str(wanted)


def _describe(version: BuiltVersion, config: str) -> str:
    manifest = version.manifest
    rows = ", ".join(f"{name} {split.rows:,}" for name, split in manifest.configs[config].items())
    return f"Ours: {manifest.dataset} {manifest.version}, {config}: {rows} rows."


def _add_counts(made: Made, entry: Entry, version: BuiltVersion, config: str) -> None:
    spec = get_builder(entry.dataset).SPEC
    published = spec.published.get(entry.options.get("config", spec.default_config), {})
    unit = entry.options.get("unit", "rows")
    # A paper's share is the one that it prints, of the rows with the same first value.
    shares = ("paper %", "ours %") if any(key.endswith(" %") for key in entry.numbers) else ()
    for name in entry.options["by"]:
        rows: list[list[Cell]] = []
        counts = count_values(version, config, [name], published)
        for count in counts:
            value = ", ".join(map(str, count.value))
            theirs = count.published if unit == "rows" else entry.numbers.get(value)
            made.used |= {value, f"{value} %"} & set(entry.numbers)
            ours = count.rows if unit == "rows" else count.groups
            row = [count.split, *count.value, theirs, ours, difference(theirs, ours)]
            if shares:
                alike = (
                    other.rows
                    for other in counts
                    if (other.split, other.value[:-1]) == (count.split, count.value[:-1])
                )
                row += [entry.numbers.get(f"{value} %"), round(100 * ours / sum(alike), 1)]
            rows.append(row)
        columns = ("split", *name.split("+"), *_COMPARED, *shares)
        made.tables.append(ComparedTable(f"{unit.capitalize()} by {name}", columns, rows))


def _add_texts(
    made: Made, entry: Entry, version: BuiltVersion, config: str, parser: str | None
) -> None:
    spec = get_builder(entry.dataset).SPEC
    figures = {
        "premise_tokens": "words of a premise",
        "hypothesis_tokens": "words of a hypothesis",
        "overlap": "overlap %",
    }
    rows: list[list[Cell]] = []
    for text in describe_texts(version, config, tally_texts(version, config)):
        published = published_texts(spec.name, spec.default_config, text.part)
        for name, title in figures.items():
            theirs, ours = published.get(name), getattr(text, name)
            rows.append([text.part, title, theirs, ours, difference(theirs, ours)])
    if parser is not None:
        for roots in parse_texts(version, config, parser).roots:
            for side in ("premise", "hypothesis"):
                theirs = published_texts(spec.name, spec.default_config, roots.part).get(
                    f"{side}_s_roots"
                )
                ours = getattr(roots, side).s_roots
                what = f"S roots of a {side} %"
                rows.append([roots.part, what, theirs, ours, difference(theirs, ours)])
    else:
        made.notes.append("S roots were not measured: name a CoreNLP server with --parser URL.")
    made.tables.append(ComparedTable("Texts", ("rows of", "what", *_COMPARED), rows))


def _add_vocabularies(made: Made, entry: Entry, version: BuiltVersion, config: str) -> None:
    rows: list[list[Cell]] = []
    for pair in compare_vocabularies(version, config).shared:
        theirs, ours = pair.published_cosine, round(pair.cosine, 4)
        rows.append([", ".join(pair.domains), theirs, ours, difference(theirs, ours)])
    made.tables.append(ComparedTable("Cosine of the vocabularies", ("domains", *_COMPARED), rows))


def _add_possible_negatives(made: Made, entry: Entry, version: BuiltVersion, config: str) -> None:
    counts = count_possible_negatives(version, config)
    if not counts:
        raise UnmeasuredError(
            f"{version.manifest.dataset} has no split besides train with positives and negatives."
        )
    rows: list[list[Cell]] = []
    for count in counts:
        published = PUBLISHED_CATEGORIES.get((entry.dataset, "full", count.split), {})
        n, theirs = count.n_categories, published.get(count.n_categories)
        rows.append([count.split, n, theirs, count.share, difference(theirs, count.share)])
    columns = ("split", "kinds of negatives", *_COMPARED)
    made.tables.append(ComparedTable("Share of mechanisms, %", columns, rows))
    first = counts[0].split
    shares = {count.n_categories: count.share / 100 for count in counts if count.split == first}
    told = PUBLISHED_CATEGORIES.get((entry.dataset, "full", first), {})
    made.notes.append(f"The picture shows {first}.")
    made.draw = partial(_draw_shares, shares, {n: each / 100 for n, each in told.items()})


def _draw_shares(shares: Mapping[int, float], published: Mapping[int, float], output: Path) -> None:
    with needs_extra("plots", "A picture"):
        from ...metrics.plots import plot_possible_perturbations, save_figure

        save_figure(plot_possible_perturbations(shares, published=published or None), output)


_Add = Callable[[Made, Entry, BuiltVersion, str], None]
_PARTS: Mapping[str, _Add] = {
    "counts": _add_counts,
    "vocabularies": _add_vocabularies,
    "possible_negatives": _add_possible_negatives,
}


def make_examples(entry: Entry, at_hand: AtHand, splits: Sequence[str] = ()) -> Made:
    """Show rows of a version: of some groups, or the first of each value of a column.

    Raises:
        UsageError: The version is none of the entry's dataset, or has none of the groups.
    """
    version = open_for(entry, at_hand, splits)
    config = _config_of(entry, version)
    columns = list(entry.options["columns"])
    split = "test" if "test" in version.manifest.configs[config] else None
    split = split or next(iter(version.manifest.configs[config]))
    rows = version.table(config, split, columns=list(dict.fromkeys([*columns, "group", "label"])))
    chosen = _choose(entry, rows)
    if not chosen:
        raise UsageError(
            f"{version.folder} has no row of the groups {', '.join(entry.options['groups'])} in "
            f"{split}. Name a version that has them."
        )
    labels = version.builder.SPEC.labels
    cells: list[list[Cell]] = [
        [labels[row[name]] if name == "label" else row[name] for name in columns]
        for row in rows.take(pa.array(chosen)).to_pylist()
    ]
    title = f"Rows of {version.manifest.dataset}, {split}"
    return Made([ComparedTable(title, tuple(columns), cells)], [_describe(version, config)])


def _choose(entry: Entry, rows: pa.Table) -> list[int]:
    """Return the places of the rows to show."""
    options: Mapping[str, Any] = entry.options
    if "groups" in options:
        places: list[int] = []
        groups = rows["group"].to_pylist()
        for group in options["groups"]:
            of_group = [place for place, name in enumerate(groups) if name == group]
            places += of_group[: options.get("n", 1)]
        return places
    if options.get("of_one_group"):  # the first with the most values
        counts = rows.group_by("group").aggregate([(options["each"], "count_distinct")])
        most = pc.max(counts[f"{options['each']}_count_distinct"])
        full = counts.filter(pc.equal(counts[f"{options['each']}_count_distinct"], most))["group"]
        group = next(name for name in rows["group"].to_pylist() if name in set(full.to_pylist()))
        taken = [name == group for name in rows["group"].to_pylist()]
    else:
        taken = [True] * len(rows)
    first: dict[Any, int] = {}
    for place, value in enumerate(rows[options["each"]].to_pylist()):
        if taken[place]:
            first.setdefault(value, place)
    return list(first.values())
