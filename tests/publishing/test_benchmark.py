"""The file with which the Hub takes a repository for a benchmark."""

from dataclasses import replace

import pytest
import yaml
from nlihub.builders.core.registry import get_builder
from nlihub.builders.versions.version import BuiltVersion
from nlihub.publishing.dataset import eval_file


@pytest.fixture(scope="module")
def manifest(small):
    return BuiltVersion(small).manifest


def test_a_task_for_each_config_with_a_test_split(manifest):
    spec = get_builder("open_spacenli").SPEC
    told = yaml.safe_load(eval_file(manifest, spec))
    assert [task["id"] for task in told["tasks"]] == list(manifest.configs)
    for task in told["tasks"]:
        fields = task["field_spec"]
        assert {fields["input"], fields["target"], *fields["metadata"]} <= set(manifest.columns)
    train = {"default": {"train": manifest.configs["few_shot"]["train"]}}
    assert eval_file(replace(manifest, configs=train), spec) is None


@pytest.mark.parametrize("dataset", ["scinli", "bionli", "spacenli"])
def test_the_question_has_both_texts_and_every_label_by_its_id(manifest, dataset):
    spec = get_builder(dataset).SPEC
    task = yaml.safe_load(eval_file(manifest, spec))["tasks"][0]
    template = task["solvers"][0]["args"]["template"]
    asked = template.format(prompt="A cow is here.", hypothesis="It is not.")  # no other braces
    assert asked.index("A cow is here.") < asked.index("It is not.")
    for number, name in enumerate(spec.labels):
        assert f"\n{number}: {name.replace('_', ' ')}\n" in asked
