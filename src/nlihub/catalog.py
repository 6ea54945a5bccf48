"""What datasets there are, and what each declares of itself."""

from dataclasses import asdict
from typing import Any

from .builders.core.registry import builders, get_builder


def list_datasets() -> list[str]:
    """The names of the datasets, in alphabetical order."""
    return list(builders())


def describe(name: str) -> dict[str, Any]:
    """What a dataset declares of itself.

    Args:
        name: Name of the dataset.

    Returns:
        Its declaration as plain values: version, summary, labels, configs and their splits,
        columns, metrics, licence, citation, paper.

    Raises:
        UnknownNameError: There is no such dataset.
    """
    spec = get_builder(name).SPEC
    return {
        "name": spec.name,
        "pretty_name": spec.pretty_name,
        "version": spec.version,
        "summary": spec.summary,
        "labels": list(spec.labels),
        "configs": {config: asdict(value) for config, value in spec.configs.items()},
        "columns": list(spec.columns),
        "group": spec.group,
        "metrics": list(spec.metrics),
        "license": spec.license,
        "paper": spec.paper,
        "homepage": spec.homepage,
        "needs_download": not spec.offline,
        "origins": list(spec.origins),
        "citation": spec.citation,
    }
