"""The undocumented parts of evaluate that this package uses; a new version may change them."""

import inspect
from pathlib import Path

import evaluate
import nlihub.metrics.functional
import pytest
from evaluate.loading import CachedEvaluationModuleFactory, import_main_class
from nlihub.metrics import METRICS, PatternAccuracy
from nlihub.metrics.bundle import install_metrics

CHANGED = (
    f"evaluate {evaluate.__version__} differs from the versions that metrics/evaluate_module.py "
    "and metrics/bundle.py name; adapt them, then name this version there"
)
ROWS = {"predictions": [0, 1], "references": [0, 0], "groups": ["a", "b"]}

#: The attributes of a module that holds nothing.
EMPTY = dict.fromkeys(
    ["writer", "buf_writer", "data", "filelock", "cache_file_name", "selected_feature_format"]
)


def state(store):
    missing = [name for name in EMPTY if not hasattr(store, name)]
    assert not missing, f"{CHANGED}: no {missing}"
    return {name: getattr(store, name) for name in EMPTY}


def test_what_is_overridden_is_there_with_these_parameters():
    module = evaluate.EvaluationModule
    expected = {
        "_feature_names": ["self"],
        "_init_writer": ["self", "timeout"],
        "_finalize": ["self"],
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


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_tables_are_stored_read_and_deleted(keep_in_memory, tmp_path):
    store = PatternAccuracy(cache_dir=str(tmp_path), keep_in_memory=keep_in_memory)
    for _ in range(2):
        store.add_batch(**ROWS)
    files = list(Path(store.data_dir).glob("*.arrow"))
    if keep_in_memory:
        assert not files and store.buf_writer is not None, CHANGED
    else:
        assert files == [Path(store.cache_file_name)], CHANGED
        assert store.filelock.is_locked, CHANGED
    assert store.compute()["n_samples"] == 4, CHANGED
    assert {**state(store), "selected_feature_format": None} == EMPTY, CHANGED
    assert not list(tmp_path.rglob("*.arrow")), CHANGED


@pytest.mark.parametrize("is_read", [False, True])
def test_what_fails_leaves_nothing(is_read, tmp_path):
    store = PatternAccuracy(cache_dir=str(tmp_path))
    store.add_batch(**ROWS)
    lock = store.filelock
    if is_read:  # evaluate then holds the file among those of all processes
        store._finalize()
        assert store.filelocks == [lock] and len(store.file_paths) == 1, CHANGED
        store.filelock = store.cache_file_name = None  # as compute does before _compute
    store._forget()
    assert not lock.is_locked, CHANGED
    assert not list(tmp_path.rglob("*.arrow")), CHANGED
    with pytest.raises(ValueError, match="call `add` or `add_batch`"):
        store.compute()


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
