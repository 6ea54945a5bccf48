"""What is fragile in ``datasets``: these tests fail when a version of it changes that."""

import inspect
import pickle

import datasets
import datasets.streaming
import pytest
from nlihub.builders.core import datasets_builder as ours
from nlihub.builders.core.datasets_builder import TableBuilder, datasets_builder
from nlihub.builders.open_spacenli import OpenSpaceNLI


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    cache_dir = tmp_path_factory.mktemp("datasets")
    builder = datasets_builder(OpenSpaceNLI)(config_name="projective", cache_dir=str(cache_dir))
    builder.download_and_prepare()
    return builder


def test_the_hooks_are_those_of_the_library():
    for hook in ("_info", "_split_generators", "_generate_tables"):
        assert hook in vars(TableBuilder)
        assert hasattr(datasets.ArrowBasedBuilder, hook), hook
    parameters = inspect.signature(datasets.DatasetBuilder.__init__).parameters
    assert {"hash", "config_name", "dataset_name", "repo_id", "cache_dir", "data_dir"} <= set(
        parameters
    )


def test_a_marked_module_keeps_its_names_and_another_does_not():
    """The library replaces ``open`` in a builder's module unless it bears the mark."""
    module = type(ours)("tried")
    for is_marked in (True, False):
        vars(module).update(open=open, __name__="tried")
        if is_marked:
            module._patched_for_streaming = True
        else:
            del module._patched_for_streaming
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(__import__("sys").modules, "tried", module)
            datasets.streaming.extend_module_for_streaming(
                "tried", download_config=datasets.DownloadConfig()
            )
        assert (module.open is open) is is_marked


def test_the_hash_names_the_folder_in_the_cache(prepared):
    assert prepared.cache_dir.endswith(f"open_spacenli/projective/1.0.0/{prepared.hash}")
    assert len(prepared.hash) == 16
    rows = prepared.as_dataset("test")
    assert (rows.info.dataset_name, rows.info.builder_name) == ("open_spacenli", "open_spacenli")
    assert rows.features == OpenSpaceNLI.SPEC.features


@pytest.mark.parametrize("copy", [pickle, "dill"], ids=str)
def test_a_builder_can_be_sent_to_another_process(prepared, copy):
    copy = pytest.importorskip(copy) if isinstance(copy, str) else copy
    again = copy.loads(copy.dumps(prepared))
    assert again.cache_dir == prepared.cache_dir
    assert again.as_dataset("test")["id"][:] == prepared.as_dataset("test")["id"][:]
    tables = [table for _, table in again._generate_tables("test")]
    assert sum(map(len, tables)) == len(prepared.as_dataset("test"))


def test_several_processes_prepare_the_same_rows(prepared, tmp_path):
    builder = datasets_builder(OpenSpaceNLI)(config_name="projective", cache_dir=str(tmp_path))
    builder.download_and_prepare(num_proc=2)
    assert builder.as_dataset("test")[:3] == prepared.as_dataset("test")[:3]
