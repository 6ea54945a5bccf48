"""Entries that show what this package holds: phrases, settings, prompts."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ...builders.procedures.abstracts.generate.generate import GenerationSettings
from ...builders.procedures.abstracts.mechanisms.rules import read_phrases
from ...builders.procedures.papers.phrases import LinkingPhrases
from ...loaders.errors import SchemaError
from ..systems.prompting.prompts import FORMS, get_prompt
from .entries import Entry
from .tables import ComparedTable, Made, compare_numbers


def make_lexicon(entry: Entry) -> Made:
    """Show a list that the package holds, its size or settings beside the paper's."""
    of = str(entry.options["of"])
    if of not in _LEXICONS:
        raise SchemaError(f"{entry.id} is of {of!r}; expected one of {', '.join(_LEXICONS)}.")
    listed, ours = _LEXICONS[of]()
    compared = ("", "paper", "ours", "difference")
    tables = [ComparedTable("Compared", compared, compare_numbers(entry.numbers, ours))]
    return Made([*listed, *tables], used=set(entry.numbers))


def _linking_phrases() -> tuple[list[ComparedTable], Mapping[str, Any]]:
    by_label = LinkingPhrases.read().as_json()["labels"]
    rows = [[label, ", ".join(phrases)] for label, phrases in by_label.items()]
    counts = {label: len(phrases) for label, phrases in by_label.items()}
    return [ComparedTable("Linking phrases", ("label", "phrases"), rows)], counts


def _conclusion_phrases() -> tuple[list[ComparedTable], Mapping[str, Any]]:
    by_set = read_phrases().values()
    phrases = [phrase for of_set in by_set for phrase in of_set]
    rows = [[phrase] for phrase in phrases]
    return [ComparedTable("Conclusion phrases", ("phrase",), rows)], {"phrases": len(phrases)}


def _decoding() -> tuple[list[ComparedTable], Mapping[str, Any]]:
    settings = dataclasses.asdict(GenerationSettings()).items()
    return [], {name: str(v) if isinstance(v, bool) else v for name, v in settings}


def _prompts() -> tuple[list[ComparedTable], Mapping[str, Any]]:
    labels = LinkingPhrases.read().label_names
    prompts = [get_prompt(form, labels) for form in FORMS]
    rows = [[p.name, o.mark, o.label, o.reply] for p in prompts for o in p.options]
    questions = [[p.name, p.question("PREMISE", "HYPOTHESIS")] for p in prompts]
    return [
        ComparedTable("Questions", ("prompt", "question"), questions),
        ComparedTable("Options", ("prompt", "mark", "label", "reply"), rows),
    ], {"prompts": len(prompts)}


_LEXICONS: Mapping[str, Callable[[], tuple[list[ComparedTable], Mapping[str, Any]]]] = {
    "linking phrases": _linking_phrases,
    "conclusion phrases": _conclusion_phrases,
    "decoding": _decoding,
    "prompts": _prompts,
}
