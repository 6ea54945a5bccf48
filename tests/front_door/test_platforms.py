"""What is said, and what works, where the system is not POSIX."""

import subprocess
import sys

import pytest
from nlihub.loaders import atomic_write
from nlihub.loaders.errors import OutputError

import nlihub

#: Modules of Python that Windows lacks.
POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "syslog")


def test_declarations_and_metrics_need_no_posix_module():
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({POSIX_ONLY}))\n"
        "import nlihub, nlihub.cli\n"
        "from nlihub.metrics.functional import nli_report, paired_t_test, pattern_accuracy\n"
        "assert 'scinli' in nlihub.list_datasets()\n"
        "assert pattern_accuracy([0, 1], [0, 0], ['a', 'b'])['pattern_accuracy'] == 0.5\n"
        "assert nli_report(['x', 'y'], ['x', 'x'], labels=['x', 'y'])['accuracy'] == 0.5\n"
        "assert paired_t_test([1, 2, 3], [1, 1, 1])['p_value'] > 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_locks_folders_says_that_it_needs_posix(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write, "_IS_POSIX", False)
    monkeypatch.setenv("NLIHUB_CACHE", str(tmp_path / "cache"))
    for run in (
        lambda: nlihub.build("open_spacenli", tmp_path / "built"),
        lambda: nlihub.load_dataset("open_spacenli", split="test"),
    ):
        with pytest.raises(OutputError, match=r"expected Linux or another POSIX system.*use WSL"):
            run()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]
