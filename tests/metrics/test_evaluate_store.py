"""The undocumented parts of evaluate that this package uses; a new version may change them."""

import inspect

import evaluate
import nlihub.metrics.functional
import pytest
from evaluate.loading import CachedEvaluationModuleFactory, import_main_class
from nlihub.metrics import METRICS
from nlihub.metrics.bundle import install_metrics

CHANGED = (
    f"evaluate {evaluate.__version__} differs from the versions that metrics/evaluate_module.py "
    "and metrics/bundle.py name; adapt them, then name this version there"
)


def test_what_is_overridden_is_there_with_these_parameters():
    module = evaluate.EvaluationModule
    expected = {
        "_feature_names": ["self"],
        "_info": ["self"],
        "_compute": ["self", "predictions", "references", "kwargs"],
        "compute": ["self", "predictions", "references", "kwargs"],
        "add_batch": ["self", "predictions", "references", "kwargs"],
        "add": ["self", "prediction", "reference", "kwargs"],
    }
    found = {
        name: list(inspect.signature(getattr(module, name)).parameters)
        for name in expected
        if hasattr(module, name)
    }
    assert found == expected, CHANGED


def test_options_of_a_module_are_told_from_those_of_a_metric():
    found = set(inspect.signature(evaluate.EvaluationModule.__init__).parameters)
    assert found >= {"cache_dir", "keep_in_memory", "num_process", "process_id", "seed"}, CHANGED
    options = {
        name
        for metric in METRICS
        for name in inspect.signature(getattr(nlihub.metrics.functional, metric)).parameters
    }
    assert found & options == {"seed"}, CHANGED


def test_an_installed_metric_is_where_evaluate_looks(monkeypatch, tmp_path):
    root = tmp_path / "evaluate_modules"
    root.mkdir()
    monkeypatch.setattr("evaluate.loading.init_dynamic_modules", lambda: str(root))
    scripts = install_metrics()
    for name in METRICS:
        for folder in (f"evaluate-metric--{name}", f"nlihub--{name}"):
            found = CachedEvaluationModuleFactory(folder, dynamic_modules_path=str(root))
            path = found.get_module().module_path.split(".")
            expected = root.joinpath(*path[1:]).with_suffix(".py")
            assert path[0] == root.name and expected in scripts, CHANGED
    text = scripts[0].read_text()
    scripts[0].write_text("broken")
    assert install_metrics() == scripts  # again, which replaces a damaged script
    assert scripts[0].read_text() == text
    assert {p.name for p in scripts[0].parent.iterdir()} == {"__init__.py", scripts[0].name}


@pytest.mark.parametrize("name", METRICS)
def test_evaluate_finds_the_class_of_a_script(name):
    found = import_main_class(f"nlihub.metrics.{name}.{name}")
    assert found is getattr(nlihub.metrics, METRICS[name]), CHANGED
