"""An interrupt ends a command with its code, and says what is kept."""

import signal
import subprocess
import sys
import time

import pytest
from command_line import run_command
from paper_corpus import make_papers, write_lines


@pytest.fixture
def papers(tmp_path):
    return write_lines(tmp_path / "papers.jsonl", make_papers(12))


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (SystemExit(143), 143)])
def test_what_is_kept_of_reading_papers(papers, tmp_path, monkeypatch, error, code):
    from nlihub.builders.dataflow import work

    class Interrupted(work.LocalEngine):
        def map(self, job, items):
            raise error

    monkeypatch.setattr(work, "LocalEngine", Interrupted)
    done = run_command("construct", "papers", "mine", papers, "--domain", "acl", cwd=tmp_path)
    assert done.returncode == code
    told = "nlihub: interrupted. The shards that were read are kept: run it again to go on."
    assert told in done.stderr.splitlines()
    assert "Traceback" not in done.stderr


def test_what_is_kept_of_a_build(papers, tmp_path, monkeypatch):
    from nlihub.builders.versions import write

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "write_rows", interrupt)
    done = run_command("construct", "papers", "mine", papers, "--domain", "acl", cwd=tmp_path)
    assert done.returncode == 130
    assert f"{tmp_path / 'built' / 'mine'} is as it was." in done.stderr or (
        "built/mine is as it was." in done.stderr
    )
    assert "The shards that were read are kept" in done.stderr
    assert not list((tmp_path / "built").glob("*mine*"))


def test_an_interrupt_of_the_imports_tells_nothing():
    command = [sys.executable, "-m", "nlihub", "--version"]
    for delay_s in (0.12, 0.2, 0.3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(delay_s)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=10)
        # Before our code runs, the interpreter itself is interrupted.
        assert b"nlihub/cli" not in told
