"""What a dataset of the package must have; every rule yields a line for each gap."""

import json
import re

from nlihub.builders.core.new_dataset import skeleton_files
from nlihub.builders.core.registry import get_builder
from nlihub.builders.versions.card import read_blocks

TODO = re.compile(r"\bTODO\b")
#: The generated blocks that every card has.
BLOCKS = ("usage", "configs", "columns", "statistics", "provenance", "citation")


def find_gaps(name, root):
    """Return what a dataset in a checkout still lacks, a line each; none where it is complete.

    Args:
        name: Its name.
        root: The checkout; its packages are those that are imported.
    """
    return [line for rule in RULES for line in rule(name, root)]


def files_are_there(name, root):
    """Yield the files that are missing; the fixture may be one of ``tests/release_files.py``."""
    paths = skeleton_files(name)
    shared = (root / "tests/release_files.py").read_text(encoding="utf-8")
    if get_builder(name).SPEC.offline or f'"{name}"' in shared:
        del paths["fixture"]
    del paths["layout"]  # a dataset may share that of another
    for what, path in paths.items():
        if not (root / path).is_file():
            yield f"{what}: {path} is missing"


def nothing_is_to_do(name, root):
    """Yield every ``TODO``, with the field or the line where it stands."""
    for what, path in skeleton_files(name).items():
        if not (root / path).is_file():
            continue
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1):
            is_block = what == "card" and line.startswith("TODO: nlihub card")
            if is_block or not TODO.search(line):
                continue
            field = re.match(r"\s*(\w+)=", line)
            where = field[1] if field else f"line {number}"
            yield f"{what}: {where} is TODO" + (
                "" if field else f": {TODO.sub('', line).strip(' #:')}"
            )


def sources_are_known(name, root):
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
        if TODO.search(json.dumps(entry)):
            yield f"sources.json: {name}/{source} has a TODO"


def card_has_its_blocks(name, root):
    """Yield the generated blocks that the card lacks, or that were never filled."""
    path = root / skeleton_files(name)["card"]
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
