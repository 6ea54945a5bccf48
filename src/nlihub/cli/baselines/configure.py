"""The config of a run from the options of a command."""

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..options import names
from .options import Head, Length, Optimization, Pretrained, Rows, Training

if TYPE_CHECKING:
    from ...baselines.runs.config import Options, RunConfig


def configured(
    method: str,
    preset: str | None,
    rows: Rows,
    *,
    name: str | None,
    pretrained: Pretrained | None = None,
    head: Head | None = None,
    hyper: Iterable[Training | Length | Optimization] = (),
    hypothesis_only: bool = False,
    reference: bool = False,
    default: "Options | None" = None,
) -> "RunConfig":
    """The config of a preset, or a new one, with what was given in its place.

    Args:
        method: Of a new config.
        preset: Name of a preset of this command.
        rows: What to train and test on.
        name: What the system is called.
        pretrained: The model, for methods that take one.
        head: What becomes of the head, for the same.
        hyper: The groups of hyper-parameters that the command has.
        hypothesis_only: Whether it sees the hypothesis alone.
        reference: Whether to train as plainly as the papers.
        default: Hyper-parameters of a new config where none are given.
    """
    from ...baselines.presets import get_preset

    pretrained, head = pretrained or Pretrained(), head or Head()
    if preset is not None:
        config = get_preset(preset).config
    else:
        config = _new(method, name or Path(pretrained.model or method).name, rows, default)
    direct: dict[str, Any] = {
        "name": name,
        "model": pretrained.model,
        "revision": pretrained.revision,
        "train": rows.train,
        "validation": rows.validation,
        "tests": tuple(rows.test or ()) or None,
        "model_labels": tuple(names(head.model_labels)) or None,
        "view": "hypothesis" if hypothesis_only else None,
        "new_head": head.new_head or None,
        "reference": reference or None,
    }
    config = replace(config, **{k: v for k, v in direct.items() if v is not None})
    if config.validation == "none":
        config = replace(config, validation=None)
    return replace(config, options=_chosen(config.options, hyper))


def check_preset(preset: str | None, command: str) -> None:
    """Refuse a preset of another command."""
    from ...baselines.presets import get_preset

    if preset is not None and get_preset(preset).command != command:
        own = get_preset(preset).command
        raise typer.BadParameter(f"{preset} is a preset of nlihub baseline {own}.")


def _new(method: str, name: str, rows: Rows, default: "Options | None") -> "RunConfig":
    from ...baselines.runs.config import Options, RunConfig

    tests = tuple(rows.test or ())
    if rows.train is not None and not tests and method != "prompt":
        tests = (rows.train.partition(":")[0],)
    if not tests:
        raise typer.BadParameter("Give a --preset, or what to test on: --test.")
    validation = _own_validation(rows.train) if rows.train is not None else None
    return RunConfig(name, method, tests, validation=validation, options=default or Options())


def _own_validation(train: str) -> str | None:
    """The name of a training set, if it is that of a dataset with rows to validate on."""
    from ...baselines.runs.data import absolute_name
    from ...builders.core.registry import builders

    dataset, _, config = train.partition(":")[0].partition("/")
    if dataset not in builders() or absolute_name(train) != train:
        return None
    spec = builders()[dataset].SPEC
    splits = spec.configs.get(config or spec.default_config)
    return train.partition(":")[0] if splits and "validation" in splits.splits else None


def _chosen(options: "Options", hyper: Iterable[Training | Length | Optimization]) -> "Options":
    """Hyper-parameters, with those that were given in their place."""
    values = {part.name: getattr(group, part.name) for group in hyper for part in fields(group)}
    given = {name: value for name, value in values.items() if value is not None}
    if "special_tokens" in given:
        given["special_tokens"] = tuple(names(given["special_tokens"]))
    if given.get("patience") == 0:
        given["patience"] = None
    return replace(options, **given)
