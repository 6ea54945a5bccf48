"""Start a new dataset in a checkout: the files of ``nlihub new``, and what they still lack."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from .builders.core.registry import get_builder
from .builders.core.schema import SPLITS, is_name
from .builders.core.spec import LICENSES
from .loaders.errors import OutputError, SourceNotFoundError, UsageError

DELIMITERS = {"comma": ",", "tab": "\t", "jsonl": ","}
_ENDINGS = {"comma": "csv", "tab": "tsv", "jsonl": "jsonl"}
_COLUMNS = ("id", "premise", "hypothesis", "label")
_TODO = re.compile(r"\bTODO\b")
#: The generated blocks that every card has.
BLOCKS = ("usage", "configs", "columns", "statistics", "provenance", "citation")
_CHECKOUT = ("builders/core", "dataset_cards", "loaders/sources.json", "src/nlihub", "tests")


@dataclass(frozen=True)
class NewDataset:
    """What is known of a dataset before its files are written.

    Attributes:
        name: Its snake_case name.
        labels: Its labels; a label's id is its position.
        delimiter: How its files are written: ``comma``, ``tab`` or ``jsonl``.
        columns: The name that the release gives to ``id``, ``premise``, ``hypothesis``, ``label``.
        splits: Its splits, one file each.
        license: Its licence, one of ``LICENSES``; empty where it is yet to be looked up.
        domain: The field of its texts; empty where it is yet to be named.

    Raises:
        UsageError: Fields are wrong; all are listed.
    """

    name: str
    labels: tuple[str, ...]
    delimiter: str
    columns: Mapping[str, str]
    splits: tuple[str, ...]
    license: str = ""
    domain: str = ""

    def __post_init__(self) -> None:
        found = []
        if not is_name(self.name):
            found.append(f"{self.name!r} is not a snake_case name, as in my_set")
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < 2:
            found.append("labels must be two or more, all different")
        if self.delimiter not in DELIMITERS:
            found.append(f"delimiter {self.delimiter!r} is none of {', '.join(DELIMITERS)}")
        if unknown := sorted(set(self.columns) - set(_COLUMNS)):
            found.append(f"unknown columns {', '.join(unknown)}; expected {', '.join(_COLUMNS)}")
        if len(set(self.columns.values())) != len(self.columns):
            found.append("columns name a column of the release twice")
        if not self.splits or not set(self.splits) <= set(SPLITS):
            found.append(f"splits must be some of {', '.join(SPLITS)}")
        if self.license and self.license not in LICENSES:
            found.append(f"license {self.license!r} is none of {', '.join(LICENSES)}")
        if self.domain and not is_name(self.domain):
            found.append(f"domain {self.domain!r} is not a snake_case name")
        if found:
            raise UsageError(f"{'; '.join(found)}.")

    @property
    def released(self) -> dict[str, str]:
        """The name of each column in the release."""
        return {name: self.columns.get(name, name) for name in _COLUMNS}


def files_of(name: str) -> dict[str, str]:
    """Return the files of a dataset in a checkout, by what they are; sources.json is shared."""
    return {
        "layout": f"loaders/releases/{name}.py",
        "builder": f"builders/{name}.py",
        "card": f"dataset_cards/{name}/README.md",
        "fixture": f"tests/fixtures/{name}.py",
    }


def check_checkout(root: Path) -> Path:
    """Return the folder, if it is a checkout of nlihub.

    Raises:
        SourceNotFoundError: It is not; names what it lacks.
    """
    missing = [part for part in _CHECKOUT if not (root / part).exists()]
    if missing:
        raise SourceNotFoundError(
            f"{root} is not a checkout of nlihub: it has no {', '.join(missing)}. Go to the root "
            "of a clone."
        )
    return root


def write_new_dataset(new: NewDataset, root: Path) -> list[Path]:
    """Write the skeleton of a dataset: four files, and its entry in ``sources.json``.

    Args:
        new: What is known of it.
        root: The checkout.

    Returns:
        The five files.

    Raises:
        SourceNotFoundError: The folder is not a checkout.
        OutputError: The name is taken; nothing is written.
    """
    check_checkout(root)
    sources = root / "loaders/sources.json"
    text = sources.read_text(encoding="utf-8")
    targets = {what: root / path for what, path in files_of(new.name).items()}
    taken = [str(path.relative_to(root)) for path in targets.values() if path.exists()]
    taken += [f"{new.name} in loaders/sources.json"] * (new.name in json.loads(text))
    if taken:
        raise OutputError(f"{new.name} exists: {', '.join(taken)}. Choose another name.")
    texts = {
        "layout": _layout(new),
        "builder": _builder(new),
        "card": _card(new),
        "fixture": _fixture(new),
    }
    for what, path in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[what], encoding="utf-8")
    entry = json.dumps({new.name: {"files": _sources(new)}}, indent=2)
    inner = entry.removeprefix("{\n").removesuffix("\n}")
    sources.write_text(f"{text.rstrip().removesuffix('}').rstrip()},\n{inner}\n}}\n", "utf-8")
    return [*targets.values(), sources]


def find_gaps(name: str, root: Path) -> list[str]:
    """Return what a dataset in a checkout still lacks, a line each; none where it is complete.

    Args:
        name: Its name.
        root: The checkout; its packages are those that are imported.
    """
    return [line for rule in RULES for line in rule(name, root)]


def files_are_there(name: str, root: Path) -> Iterator[str]:
    """Yield the files that are missing; the fixture may be one of ``tests/release_files.py``."""
    paths = files_of(name)
    shared = (root / "tests/release_files.py").read_text(encoding="utf-8")
    if get_builder(name).SPEC.offline or f'"{name}"' in shared:
        del paths["fixture"]
    del paths["layout"]  # a dataset may share that of another
    for what, path in paths.items():
        if not (root / path).is_file():
            yield f"{what}: {path} is missing"


def nothing_is_to_do(name: str, root: Path) -> Iterator[str]:
    """Yield every ``TODO``, with the field or the line where it stands."""
    for what, path in files_of(name).items():
        if not (root / path).is_file():
            continue
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1):
            is_block = what == "card" and line.startswith("TODO: nlihub card")
            if is_block or not _TODO.search(line):
                continue
            field = re.match(r"\s*(\w+)=", line)
            where = field[1] if field else f"line {number}"
            yield f"{what}: {where} is TODO" + (
                "" if field else f": {_TODO.sub('', line).strip(' #:')}"
            )


def sources_are_known(name: str, root: Path) -> Iterator[str]:
    """Yield the sources whose content and number of rows are unknown, or hold a ``TODO``."""
    recorded = json.loads((root / "loaders/sources.json").read_text(encoding="utf-8"))
    if name not in recorded:
        if not get_builder(name).SPEC.offline:
            yield f"sources.json: {name} is missing"
        return
    for source, entry in recorded[name]["files"].items():
        is_pinned = any({"sha256", "git_blob"} & set(each) for each in entry["variants"])
        if not is_pinned and entry.get("rows") is None:
            yield f"sources.json: {name}/{source} has no sha256 and no rows"
        if _TODO.search(json.dumps(entry)):
            yield f"sources.json: {name}/{source} has a TODO"


def card_has_its_blocks(name: str, root: Path) -> Iterator[str]:
    """Yield the generated blocks that the card lacks, or that were never filled."""
    from .builders.versions.card import read_blocks  # datasets takes long to import

    path = root / files_of(name)["card"]
    if not path.is_file():
        return
    blocks = read_blocks(path.read_text(encoding="utf-8"))
    for block in dict.fromkeys((*BLOCKS, *blocks)):
        if block not in blocks:
            yield f"card: block `{block}` is missing"
        elif blocks[block].startswith("TODO"):
            yield f"card: block `{block}` is not filled: nlihub card {name} --write --from FOLDER"


#: What a dataset must have; each rule yields a line for each gap.
RULES = (files_are_there, nothing_is_to_do, sources_are_known, card_has_its_blocks)


def _layout(new: NewDataset) -> str:
    columns = "".join(
        f'        Column("{column}"{", frozenset(LABELS)" if name == "label" else ""}),\n'
        for name, column in new.released.items()
    )
    labels = "".join(f'    "{label}": "{label}",\n' for label in new.labels)
    tab = ""
    if new.delimiter == "tab":
        tab = (
            '    delimiter="\\t",\n'
            "    has_quotes=False,  # True where values are quoted as in CSV\n"
        )
    return f'''"""The release of {new.name}.

TODO: where its format is documented, and what is odd in it.
"""

from .layout import Column, Layout

#: Our label for each label of the release, in the order of their ids.
LABELS = {{
{labels}}}
#: The release's name for each column of ours.
COLUMNS = {{
{"".join(f'    "{name}": "{column}",{chr(10)}' for name, column in new.released.items())}}}
LAYOUT = Layout(
    (
{columns}    ),
{tab})
'''


def _builder(new: NewDataset) -> str:
    class_name = "".join(part.capitalize() for part in new.name.split("_"))
    license_ = f'license="{new.license}",'
    if not new.license:
        license_ = 'license="other",  # TODO: that of the release, one of LICENSES'
    domain = f'domains=("{new.domain}",),'
    if not new.domain:
        domain = 'domains=("todo",),  # TODO: the field of the texts, as in ("news",)'
    splits = "".join(f'"{split}", ' for split in new.splits).rstrip()
    splits = splits if len(new.splits) == 1 else splits.removesuffix(",")
    return f'''"""The dataset {new.name}, from its authors' release."""

from ..loaders.fetching import list_sources
from ..loaders.releases.{new.name} import COLUMNS, LABELS, LAYOUT
from .core.release_builder import Part, ReleaseBuilder, everything, row_encoder
from .core.spec import ConfigSpec, DatasetSpec

_SPLITS = ({splits})


class {class_name}(ReleaseBuilder):
    """The dataset {new.name}."""

    SPEC = DatasetSpec(
        name="{new.name}",
        pretty_name="TODO",
        version="1.0.0",
        summary="TODO: what it is, in a line.",
        labels=tuple(dict.fromkeys(LABELS.values())),
        {domain}
        categories=(),
        group=None,
        metrics=("nli_report",),
        configs={{"default": ConfigSpec("the release", _SPLITS)}},
        extra={{}},
        meanings={{}},
        {license_}
        copyright="TODO: Copyright (c) YEAR AUTHORS",
        citation="""@misc{{TODO}}
""",
        paper="TODO: https://...",
        homepage=None,
        offline=False,
        origins=("release",),
    )

    @classmethod
    def parts(cls) -> list[Part]:
        """Return a file for each split."""
        sources = list_sources("{new.name}")
        constants = {{"domain": cls.SPEC.domains[0]}}
        encoder = row_encoder(cls.SPEC, COLUMNS, constants=constants, labels=LABELS)
        return [
            Part(sources[split], LAYOUT.read, encoder, {{("default", split): everything}})
            for split in _SPLITS
        ]
'''


def _card(new: NewDataset) -> str:
    def block(name: str) -> str:
        body = f"TODO: nlihub card {new.name} --write --from FOLDER"
        return f"<!-- nlihub:begin {name} -->\n{body}\n<!-- nlihub:end {name} -->"

    return f"""# {new.name}

TODO: who made it, what it asks, from which texts, how its labels were found.

## Use

{block("usage")}

## Configs

{block("configs")}

## Columns

{block("columns")}

TODO: what each label means, as the paper defines it.

## Statistics

{block("statistics")}

## How it was made

TODO: in a few sentences, with the paper's sections.

## Limits

TODO: what a user should know, counted where it can be.

{block("oddities")}

## Provenance, licence and citation

{block("provenance")}

{block("citation")}
"""


def _sources(new: NewDataset) -> dict[str, object]:
    ending = _ENDINGS[new.delimiter]
    return {
        split: {
            "variants": [{"path": f"{split}.{ending}"}],
            "instructions": "TODO: where a person gets it; sha256, bytes, rows, locations.",
        }
        for split in new.splits
    }


def _fixture(new: NewDataset) -> str:
    ending = _ENDINGS[new.delimiter]
    files, rows = "", ""
    for split in new.splits:
        made = list(_sample(new, split))
        lines = "".join(f"        {json.dumps(line + chr(10))}\n" for line in _lines(new, made))
        files += f'    "{split}": (\n        "{split}.{ending}",\n{lines[:-1]},\n    ),\n'
        shown = "".join(f"        ({', '.join(map(json.dumps, row))}),\n" for row in made)
        rows += f'    ("default", "{split}"): [\n{shown}    ],\n'
    return f'''"""A small release of {new.name}: rows of our own in its format."""

# TODO: write the files as the release does, with what is odd in it, and the rows that they give.

#: For each source its file, and what is in it.
FILES = {{
{files}}}
#: For each config and split its rows: id, premise, hypothesis, label.
ROWS = {{
{rows}}}
'''


def _sample(new: NewDataset, split: str) -> Iterator[tuple[str, str, str, str]]:
    for number, label in enumerate(islice(cycle(new.labels), 2 * len(new.labels))):
        yield f"{split}-{number}", f"A {split} premise, {number}.", f"Hypothesis {number}.", label


def _lines(new: NewDataset, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    names = tuple(new.released.values())
    if new.delimiter == "jsonl":
        yield from (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
        return
    for row in (names, *rows):
        if new.delimiter == "comma":
            row = tuple(f'"{value}"' if "," in value else value for value in row)
        yield DELIMITERS[new.delimiter].join(row)
