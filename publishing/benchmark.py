"""The file with which a dataset's repository is a benchmark on the Hub: ``eval.yaml``.

``inspect eval hf/ORG/NAME`` runs it. The form has no prompt of ours and no scores over groups:
a label is asked for by its id, and the score is the accuracy. The tasks of ``nlihub.integrations``
have both.

Source: the schema that inspect_ai 0.3.285 reads (``HFTask``).
"""

from typing import Any

import yaml

from ..builders.core.spec import DatasetSpec
from ..builders.versions.version import Manifest

FILE_NAME = "eval.yaml"
#: The split that a benchmark scores.
SPLIT = "test"


def eval_file(manifest: Manifest, spec: DatasetSpec) -> bytes | None:
    """Return the bytes of ``eval.yaml``: a task for each config with a test split.

    Args:
        manifest: The manifest of the version.
        spec: The spec of its dataset.

    Returns:
        YAML in UTF-8; None where there is no test split.
    """
    configs = [name for name, splits in manifest.configs.items() if SPLIT in splits]
    if not configs:
        return None
    told = {
        "name": spec.pretty_name,
        "description": spec.summary,
        "evaluation_framework": "inspect-ai",
        "tasks": [_task(name, spec) for name in configs],
    }
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True).encode()


def _task(config: str, spec: DatasetSpec) -> dict[str, Any]:
    return {
        "id": config,
        "config": config,
        "split": SPLIT,
        "field_spec": {
            "input": "premise",
            "target": "label",
            "metadata": ["id", "hypothesis", "group", "category"],
        },
        "solvers": [
            {"name": "prompt_template", "args": {"template": _template(spec)}},
            {"name": "generate", "args": {"temperature": 0.0, "max_tokens": 40}},
        ],
        "scorers": [{"name": "answer", "args": {"pattern": "word"}}],
    }


def _template(spec: DatasetSpec) -> str:
    """Return the question, with a place for the premise (``prompt``) and one for the hypothesis."""
    labels = "\n".join(
        f"{number}: {name.replace('_', ' ')}" for number, name in enumerate(spec.labels)
    )
    return (
        "Premise:\n{prompt}\n\nHypothesis:\n{hypothesis}\n\n"
        f"Which is the relation of the hypothesis to the premise?\n{labels}\n\n"
        "Reply with one line, 'ANSWER: NUMBER', where NUMBER is that of your choice."
    )
