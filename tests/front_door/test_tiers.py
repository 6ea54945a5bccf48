"""The first tier has a test of every room, command, dataset and procedure."""

import ast
from functools import cache

import pytest
from command_line import leaf_commands
from conftest import ROOT

TESTS = ROOT / "tests"
_CLI = "front_door/test_cli.py"
_VERBS = "builders/core/test_building_releases.py::test_every_verb_works_for_every_dataset"
_PUBLISHING = "publishing/test_publishing.py::test_the_whole_way"
_BASELINES = "baselines/test_baseline_commands.py"
_ANNOTATED = "builders/annotation/test_annotated_versions.py::test_the_command_line_leads_through"
_JUDGED = "builders/annotation/test_negatives_sample.py::test_the_command_line_leads_through"
_PROCEDURES = "builders/procedures"
_CONFORMANCE = "builders/core/test_conformance.py"

#: For each command a test of the first tier that runs it.
COMMANDS = {
    "tasks": "integrations/test_tasks.py::test_every_test_set_is_a_task_in_every_form",
    "list": f"{_CLI}::test_list_and_show",
    "show": f"{_CLI}::test_list_and_show",
    "stats": _VERBS,
    "card": _VERBS,
    "fetch": _VERBS,
    "build": _VERBS,
    "verify": _VERBS,
    "install": f"{_CONFORMANCE}::test_after_installing_every_config_is_loaded_by_name_offline",
    "sample": f"{_CLI}::test_sample_and_export",
    "export": f"{_CLI}::test_sample_and_export",
    "new": "front_door/test_new.py::test_new_writes_five_files_and_says_what_to_do",
    "perturb": "front_door/test_perturb_command.py::test_all_ways_and_a_limit",
    "score": "baselines/test_score.py::test_on_the_command_line",
    "plot": "baselines/test_score.py::test_on_the_command_line",
    "reproduce": "baselines/test_reproduction.py::test_the_command_prints_markdown_or_json",
    "publish": "publishing/test_publishing.py::test_a_damaged_version_is_not_published",
    "publish-metric": "publishing/test_publishing_metrics.py::test_a_metric_is_published",
    "versions": _PUBLISHING,
    "diff": _PUBLISHING,
    "eval-results": "publishing/test_eval_results.py::test_a_log_becomes_a_result",
    "construct papers": f"{_PROCEDURES}/test_from_papers.py::TestCommandLine",
    "construct abstracts": f"{_PROCEDURES}/test_from_abstracts.py::TestCommand",
    "construct patterns": f"{_CLI}::test_construct_patterns",
    "annotate export": _ANNOTATED,
    "annotate sample": _JUDGED,
    "annotate import": _ANNOTATED,
    "annotate review": _ANNOTATED,
    "annotate build": _ANNOTATED,
    "baseline finetune": f"{_BASELINES}::test_finetune_trains_a_run_for_every_seed",
    "baseline few-shot": f"{_BASELINES}::test_few_shot_on_a_small_bank",
    "baseline zero-shot": f"{_BASELINES}::test_zero_shot_takes_a_classifier_as_it_is",
    "baseline probe": "baselines/test_probe.py::test_the_command_trains_a_probe",
    "baseline classical": f"{_BASELINES}::test_models_without_pretraining_are_trained",
    "baseline analyse": f"{_BASELINES}::test_an_analysis_and_its_report",
    "baseline prompt": "baselines/test_prompting.py::test_a_prompt_is_shown_as_it_is_sent",
    "baseline quick": "baselines/test_quick_look.py::test_a_classifier_is_tested_where_it_fits",
    "baseline run": f"{_BASELINES}::test_a_run_can_be_done_again_from_its_config",
    "baseline presets": f"{_BASELINES}::test_presets_name_datasets_that_there_are",
    "baseline report": f"{_BASELINES}::test_an_analysis_and_its_report",
    "baseline push": f"{_BASELINES}::test_a_model_is_pushed_with_its_results",
}

#: For each procedure a test of the first tier that constructs a dataset by it.
PROCEDURES = {
    "papers": f"{_PROCEDURES}/test_from_papers.py::TestCommandLine",
    "abstracts": f"{_PROCEDURES}/test_from_abstracts.py::TestCommand",
    "patterns": f"{_CLI}::test_construct_patterns",
}
ROOMS = ("baselines", "builders", "front_door", "integrations", "loaders", "metrics", "publishing")


@cache
def content_of(file):
    """The functions and classes of a file by their names, and whether all of it is slow."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    named = {node.name: node for node in tree.body if hasattr(node, "name")}
    whole = [ast.unparse(n.value) for n in tree.body if isinstance(n, ast.Assign)
             if ast.unparse(n.targets[0]) == "pytestmark"]  # fmt: skip
    return named, any("mark.slow" in mark for mark in whole)


def is_slow(node):
    return any(ast.unparse(d).removeprefix("pytest.") == "mark.slow" for d in node.decorator_list)


def find(test):
    """The test of a place such as ``room/test_it.py::test_this``, and what it calls beside it."""
    file, _, name = test.partition("::")
    named, is_all_slow = content_of(file)
    assert name in named, f"{test} is not there"
    node = named[name]
    assert not is_all_slow and not is_slow(node), f"{test} is not in the first tier"
    if isinstance(node, ast.ClassDef):
        tests = [n for n in node.body if getattr(n, "name", "").startswith("test_")]
        assert not all(map(is_slow, tests)), f"{test} has no test of the first tier"
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    helpers = [n for key, n in named.items() if key in used and not key.startswith("test_")]
    return node, helpers


def test_every_command_has_a_test():
    assert sorted(COMMANDS) == sorted(dict(leaf_commands()))


@pytest.mark.parametrize("command", COMMANDS)
def test_its_test_is_in_the_first_tier_and_runs_it(command):
    node, helpers = find(COMMANDS[command])
    said = {n.value for part in (node, *helpers) for n in ast.walk(part)
            if isinstance(n, ast.Constant)}  # fmt: skip
    assert set(command.split()) - said <= {"annotate", "baseline"}, said


def test_every_dataset_has_a_test():
    """The conformance suite goes through the registry: a dataset cannot be left out."""
    every = "[(name, config) for name, b in builders().items() for config in b.SPEC.configs]"
    assert f"CONFIGS = {every}" in (TESTS / _CONFORMANCE).read_text(encoding="utf-8")
    test, _ = find(f"{_CONFORMANCE}::test_every_config_keeps_to_every_check")
    assert [ast.unparse(mark) for mark in test.decorator_list] == [
        "pytest.mark.parametrize(('name', 'config'), CONFIGS)"
    ]


def test_every_procedure_has_a_test():
    folders = (ROOT / _PROCEDURES).glob("*/__init__.py")
    assert sorted(PROCEDURES) == sorted(path.parent.name for path in folders)
    for test in PROCEDURES.values():
        find(test)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_test(room):
    files = [str(path.relative_to(TESTS)) for path in (TESTS / room).rglob("test_*.py")]
    assert any(
        not is_all_slow
        and any(n.startswith("test_") and not is_slow(node) for n, node in named.items())
        for named, is_all_slow in map(content_of, files)
    )


def test_rooms_are_the_folders_of_the_package():
    packages = {"front_door"}
    for path in ROOT.glob("*/__init__.py"):
        packages.add(path.parent.name)
    assert packages - {"dataset_cards"} == set(ROOMS)
