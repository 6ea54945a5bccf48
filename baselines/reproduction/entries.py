"""The registry: an entry for each table, figure and numbered analysis of the papers."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ...loaders.errors import SchemaError, UnknownNameError

#: The papers by the first part of an entry's id, which is also the name of the file of entries.
PAPERS = {"scinli": "SciNLI", "mscinli": "MSciNLI", "bionli": "BioNLI", "spacenli": "SpaceNLI"}

KINDS = ("table", "figure", "analysis")

#: What an entry may need, and how to give it.
NEEDS = {
    "version": "its release, or a version built from it or by its procedure: --from FOLDER",
    "constructed": "a version constructed by its procedure, as releases lack the column: "
    "--from FOLDER",
    "predictions": "predictions (--predictions FILE), or a folder of runs or of results of "
    "nlihub score --json (--from FOLDER)",
    "probabilities": "predictions with a column probability_LABEL for every label",
    "runs": "a folder of runs of nlihub baseline: --from FOLDER",
    "annotations": "a folder of batches that people have answered, and the version that they were "
    "drawn from: --from FOLDER --from VERSION",
    "codes": "a folder of errors that people have coded: --from FOLDER",
    "plots": "nlihub[plots]",
    "baselines": "nlihub[baselines]",
}

#: How an entry is made; what ``none`` has cannot be.
MAKERS = (
    "statistics",
    "examples",
    "scores",
    "shots",
    "agreement",
    "errors",
    "lexicon",
    "none",
)

_ID = re.compile(r"(table|figure|section)-[0-9a-z.]+")


@dataclass(frozen=True)
class Entry:
    """A table, figure or numbered analysis of a paper.

    Attributes:
        id: ``bionli/table-2``; an analysis has the section that states it, ``scinli/section-3.3``.
        kind: ``table``, ``figure`` or ``analysis``.
        shows: What it shows, in our words.
        section: The section of the paper that discusses it.
        dataset: The dataset that it is about.
        maker: How it is made, one of ``MAKERS``.
        needs: What that takes, keys of ``NEEDS``.
        commands: The commands that give the same, to type one after the other.
        options: What the maker is told: columns, configs, scores, kind of picture.
        numbers: Numbers of the paper that are published nowhere else in this package, by what
            they are of, in the unit of the paper.
        why: Why it cannot be made, or not all of it; empty where it can.
        note: What is odd about it in the paper, or was not verified; empty for nothing.

    Raises:
        SchemaError: A field is malformed.
    """

    id: str
    kind: str
    shows: str
    section: str
    dataset: str
    maker: str
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    why: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        paper, _, place = self.id.partition("/")
        problems = []
        if paper not in PAPERS or not _ID.fullmatch(place):
            problems.append("its id is malformed")
        if self.kind not in KINDS or (self.kind == "analysis") != place.startswith("section"):
            problems.append(f"its kind is {self.kind!r}")
        if self.maker not in MAKERS:
            problems.append(f"its maker is {self.maker!r}")
        if unknown := set(self.needs) - set(NEEDS):
            problems.append(f"it needs {', '.join(unknown)}")
        if (self.maker == "none") != (not self.commands) or (self.maker == "none" and not self.why):
            problems.append("it has no command, and no reason why not, or both")
        if problems:
            raise SchemaError(f"The entry {self.id} is wrong: {'; '.join(problems)}.")

    @property
    def paper(self) -> str:
        """Return the name of its paper."""
        return PAPERS[self.id.partition("/")[0]]

    @property
    def place(self) -> str:
        """Return where it is in the paper: ``Table 2``."""
        kind, _, number = self.id.partition("/")[2].partition("-")
        return f"{kind.capitalize() if kind != 'section' else kind} {number}"

    @property
    def source(self) -> str:
        """Return paper and place: ``BioNLI, Table 2``."""
        return f"{self.paper}, {self.place}"


@cache
def entries() -> Mapping[str, Entry]:
    """Return all entries by id: paper by paper its tables, figures and analyses.

    Raises:
        SchemaError: An entry is malformed, or an id is given twice.
    """
    found: dict[str, Entry] = {}
    for paper in PAPERS:
        text = (files(__package__) / f"{paper}.toml").read_text(encoding="utf-8")
        for place, fields in tomllib.loads(text).items():
            entry = _entry(f"{paper}/{place}", paper, fields)
            found[entry.id] = entry
    return found


def _entry(id_: str, paper: str, fields: Mapping[str, Any]) -> Entry:
    kind, _, _ = id_.partition("/")[2].partition("-")
    told: dict[str, Any] = {"kind": "analysis" if kind == "section" else kind, "dataset": paper}
    told |= {k: tuple(v) if k in ("needs", "commands") else v for k, v in fields.items()}
    try:
        return Entry(id_, **told)
    except TypeError as error:
        raise SchemaError(f"The entry {id_} is wrong: {error}.") from None


def get_entry(id_: str) -> Entry:
    """Return an entry by its id.

    Raises:
        UnknownNameError: There is no such entry; names the closest.
    """
    if id_ not in entries():
        raise UnknownNameError.of("table, figure or analysis", id_, entries())
    return entries()[id_]
