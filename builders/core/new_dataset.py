"""Start a new dataset in a checkout: write the files of ``nlihub new`` from ``skeleton/``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from string import Template

from ...loaders.errors import OutputError, SourceNotFoundError, UsageError
from .schema import SPLITS, is_name
from .spec import LICENSES

DELIMITERS = {"comma": ",", "tab": "\t", "jsonl": ","}
_ENDINGS = {"comma": "csv", "tab": "tsv", "jsonl": "jsonl"}
_COLUMNS = ("id", "premise", "hypothesis", "label")
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
            found.append(f"delimiter {self.delimiter!r} is not one of {', '.join(DELIMITERS)}")
        if unknown := sorted(set(self.columns) - set(_COLUMNS)):
            found.append(f"unknown columns {', '.join(unknown)}; expected {', '.join(_COLUMNS)}")
        if len(set(self.columns.values())) != len(self.columns):
            found.append("columns name a column of the release twice")
        if not self.splits or not set(self.splits) <= set(SPLITS):
            found.append(f"splits must be some of {', '.join(SPLITS)}")
        if self.license and self.license not in LICENSES:
            found.append(f"license {self.license!r} is not one of {', '.join(LICENSES)}")
        if self.domain and not is_name(self.domain):
            found.append(f"domain {self.domain!r} is not a snake_case name")
        if found:
            raise UsageError(f"{'; '.join(found)}.")

    @property
    def released(self) -> dict[str, str]:
        """The name of each column in the release."""
        return {name: self.columns.get(name, name) for name in _COLUMNS}


def skeleton_files(name: str) -> dict[str, str]:
    """Return the files of a new dataset in a checkout, by what they are; sources.json is shared."""
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
    """Write the skeleton of a new dataset, four files and its entry in ``sources.json``.

    Args:
        new: What is known of it.
        root: The checkout.

    Raises:
        SourceNotFoundError: The folder is not a checkout.
        OutputError: The name is taken; nothing is written.
    """
    check_checkout(root)
    sources = root / "loaders/sources.json"
    text = sources.read_text(encoding="utf-8")
    targets = {what: root / path for what, path in skeleton_files(new.name).items()}
    taken = [str(path.relative_to(root)) for path in targets.values() if path.exists()]
    taken += [f"{new.name} in loaders/sources.json"] * (new.name in json.loads(text))
    if taken:
        raise OutputError(f"{new.name} exists: {', '.join(taken)}. Choose another name.")
    blanks = _blanks(new)
    for what, path in targets.items():
        skeleton = (files(__package__) / "skeleton" / f"{what}.txt").read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(skeleton).substitute(blanks), encoding="utf-8")
    todo = "TODO: where a person gets it; sha256, bytes, rows, locations."
    entries = {
        split: {
            "variants": [{"path": f"{split}.{_ENDINGS[new.delimiter]}"}],
            "instructions": todo,
        }
        for split in new.splits
    }
    entry = json.dumps({new.name: {"files": entries}}, indent=2)
    inner = entry.removeprefix("{\n").removesuffix("\n}")
    sources.write_text(f"{text.rstrip().removesuffix('}').rstrip()},\n{inner}\n}}\n", "utf-8")
    return [*targets.values(), sources]


def _blanks(new: NewDataset) -> dict[str, str]:
    """Return what stands for each ``$word`` of the skeletons."""
    tab = '    delimiter="\\t",\n    has_quotes=False,  # True where values are quoted as in CSV\n'
    found, rows = "", ""
    for split in new.splits:
        made = list(_sample(new, split))
        lines = "".join(f"        {json.dumps(line + chr(10))}\n" for line in _lines(new, made))
        ending = _ENDINGS[new.delimiter]
        found += f'    "{split}": (\n        "{split}.{ending}",\n{lines[:-1]},\n    ),\n'
        shown = "".join(f"        ({', '.join(map(json.dumps, row))}),\n" for row in made)
        rows += f'    ("default", "{split}"): [\n{shown}    ],\n'
    splits = ", ".join(f'"{split}"' for split in new.splits)
    return {
        "name": new.name,
        "class_name": "".join(part.capitalize() for part in new.name.split("_")),
        "splits": splits + "," * (len(new.splits) == 1),
        "license": f'license="{new.license}",'
        if new.license
        else 'license="other",  # TODO: that of the release, one of LICENSES',
        "domain": f'domains=("{new.domain}",),'
        if new.domain
        else 'domains=("todo",),  # TODO: the field of the texts, as in ("news",)',
        "labels": "\n".join(f'    "{label}": "{label}",' for label in new.labels),
        "columns": "\n".join(f'    "{ours}": "{theirs}",' for ours, theirs in new.released.items()),
        "read": "\n".join(
            f'        Column("{theirs}"{", frozenset(LABELS)" * (ours == "label")}),'
            for ours, theirs in new.released.items()
        ),
        "format": tab if new.delimiter == "tab" else "",
        "files": found[:-1],
        "rows": rows[:-1],
    }


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
