"""Short names of data, models and systems in a report."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...builders.core.registry import builders, get_builder
from ..runs.config import RunConfig

#: A test set by its short name, and the name of a score on it: see ``place_of``.
Place = tuple[str, str]


def short_dataset_name(name: str, role: str = "test") -> str:
    """Shorten the name of rows that ``read_run_rows`` takes, for a report.

    Args:
        name: The name; of a path only the last part stays.
        role: The usual split, which is left out, as the default config is.

    >>> short_dataset_name("scinli/default:test")
    'scinli'
    """
    name = name.removesuffix(f":{role}")
    dataset, _, config = name.partition("/")
    if dataset in builders():
        return dataset if config in ("", get_builder(dataset).SPEC.default_config) else name
    return name.rstrip("/").rpartition("/")[2]


def place_of(test: str, score: str) -> Place:
    """Return the smallest test set that a score on a test set covers, and the score's name there.

    The rows of a domain are the same in every config that has them.

    >>> place_of("mscinli", "macro_f1 networks")
    ('mscinli/networks', 'macro_f1')
    """
    dataset, _, config = test.partition("/")
    if dataset not in builders():
        return test, score
    spec = get_builder(dataset).SPEC
    if config in spec.configs and (same := spec.configs[config].test_of):
        test = short_dataset_name(f"{dataset}/{same}")
    name, _, domain = score.partition(" ")
    if name == "macro_f1" and domain in spec.domains:
        if domain in spec.configs:
            return f"{dataset}/{domain}", name
        if domain == "acl" and dataset != "scinli":
            return "scinli", name
    return test, score


def data_name(dataset: Mapping[str, Any]) -> str:
    """Return the shortest name of described rows, without their split."""
    name, config = str(dataset["name"]), dataset["config"]
    if name in builders():
        return short_dataset_name(f"{name}/{config}" if config else name)
    name = short_dataset_name(name)
    return name if config in (None, "default") else f"{name}/{config}"


def benchmark_name(dataset: Mapping[str, Any]) -> str:
    """Return the name of a test set, with its split if that is not ``test``."""
    name, split = data_name(dataset), dataset["split"]
    return name if split in (None, "test") else f"{name}, {split}"


def subset_name(config: RunConfig) -> str:
    """Describe the subset of the training rows that a run sees; empty if it sees all."""
    if config.subset is None:
        return ""
    share = f"{100 * config.subset.share:g} %"
    if config.subset.kind == "without_hardest":
        return f"without the hardest {share}"
    return f"{share} {config.subset.kind}"


def describe_training(train: str | None, view: str, n_shots: int | None, subset: str = "") -> str:
    """Describe what a system was trained on and what it saw, by short names of both."""
    alone = "hypothesis alone" if view == "hypothesis" else ""
    return ", ".join(filter(None, (train or "nothing", alone, show_shots(n_shots), subset)))


def show_shots(n_shots: int | None) -> str:
    """Write a number of shots; empty for None."""
    return "" if n_shots is None else f"{n_shots} shot{'s' * (n_shots != 1)}"


def model_name(config: RunConfig) -> str:
    """Return the model's name on the Hub or the name of its folder; empty without a model."""
    model = config.model or ""
    is_folder = model.startswith((".", "~")) or Path(model).is_absolute() or model.count("/") > 1
    return Path(model).name if is_folder else model


def system_identity(config: RunConfig, *without: str) -> str:
    """Write a config without its seed and some fields: equal for all runs of a system."""
    values = {k: v for k, v in config.as_json().items() if k not in ("seed", *without)}
    if "tests" in values:
        values["tests"] = sorted(values["tests"])
    if values.get("subset") is not None:
        del values["subset"]["run"]  # which run told easy rows from hard ones
    if config.method == "prompt" and "n_shots" in without:
        values.pop("train", None)  # where exemplars come from
    return json.dumps(values, sort_keys=True)


def distinct_names(configs: Sequence[RunConfig], *varied: str) -> list[str]:
    """Make distinct names of the systems of a report, from the names in their configs.

    Equal names get the few facts that distinguish them, besides the fields ``varied``; or a number
    where no fact does, as for two folders of one name.
    """
    facts = [_facts(config, varied) for config in configs]
    names = []
    for config, own in zip(configs, facts, strict=True):
        alike = [f for f, c in zip(facts, configs, strict=True) if c.name == config.name]
        words = ", ".join(text for key in _distinguishing(alike) if (text := own.get(key)))
        names.append(f"{config.name} ({words})" if words else config.name)
    return [
        name if names.count(name) == 1 else f"{name} no. {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


def _distinguishing(facts: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the first facts that distinguish the systems, each of which adds a distinction."""
    chosen: list[str] = []
    n_apart = 1
    for key in dict.fromkeys(itertools.chain.from_iterable(facts)):
        n = len({tuple(found.get(one) for one in (*chosen, key)) for found in facts})
        if n > n_apart:
            chosen.append(key)
            n_apart = n
    return chosen


def _facts(config: RunConfig, varied: Sequence[str]) -> dict[str, str]:
    """Return the facts by which a config can be distinguished, in words, the main ones first."""
    facts = {
        "train": f"trained on {short_dataset_name(config.train, 'train')}" if config.train else "",
        "view": "hypothesis alone" if config.view == "hypothesis" else "",
        "n_shots": show_shots(config.n_shots),
        "subset": subset_name(config),
        "model": model_name(config),
        "method": config.method,
    }
    values = config.as_json()
    values = values.pop("options") | values.pop("details") | values
    others = values.keys() - {"name", "seed", "tests", *facts}
    facts |= {name: f"{name} {_shown(v)}" for name, v in values.items() if name in others}
    facts["tests"] = f"on {', '.join(sorted(map(short_dataset_name, config.tests)))}"
    return {name: text for name, text in facts.items() if name not in varied}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_shown, value)) or "none"
    return Path(value).name if isinstance(value, str) else str(value)
