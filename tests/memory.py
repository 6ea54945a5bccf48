"""Peak memory of a piece of code, measured in a process of its own.

Not by ``tracemalloc``: with threads of other tests at work, stopping it can crash Python 3.11
(python/cpython#128679). Memory goes back to the system there as soon as it is free: how much a pool
keeps for later depends on threads and chance.
"""

import os
import subprocess
import sys
from textwrap import dedent

_NO_POOLS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_MMAP_THRESHOLD_": "65536"}
_PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
"""


def growth_of_peak(setup, code):
    """Bytes by which the peak of resident memory grows while code runs.

    Args:
        setup: Runs before, such as imports.
        code: What is measured.
    """
    script = f"{dedent(setup)}\n{_PEAK}\nbefore = peak()\n{dedent(code)}\nprint(peak() - before)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | _NO_POOLS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout.splitlines()[-1])
