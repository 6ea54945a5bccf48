"""Constructing in one call: what belongs to the recipe, and what is said of the dataset."""

from dataclasses import fields

import nlihub
from nlihub.construct import About, AbstractsRecipe, PapersRecipe

_OF_THE_CALL = ("num_proc", "probe", "sample", "tell")


def from_papers(name, paths, output="built", **options):
    return nlihub.construct.papers(name, paths, output, **_sorted(PapersRecipe, options))


def from_abstracts(name, paths, output="built", **options):
    return nlihub.construct.abstracts(name, paths, output, **_sorted(AbstractsRecipe, options))


def _sorted(recipe, options):
    about = {field.name for field in fields(About)} & options.keys()
    call = {name: options[name] for name in _OF_THE_CALL if name in options}
    given = {name: value for name, value in options.items() if name not in {*about, *call}}
    said = About(**{name: options[name] for name in about})
    return {"recipe": recipe(**given), "about": said, **call}
