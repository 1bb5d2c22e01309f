from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from rlccfr.games import memory
from rlccfr.games.memory import available_memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """``system({name: text})`` writes files as the kernel shows them, where the module then looks for them."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")

    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


MACHINE = {"proc/meminfo": "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 8000 kB\nHugePages_Total: 0\n"}
SECOND = MACHINE | {
    "proc/self/cgroup": "0::/outer/inner\n",
    "cgroup/outer/memory.max": "5000000\n",
    "cgroup/outer/memory.current": "2000000\n",
    "cgroup/outer/memory.stat": "anon 5\ninactive_file 300000\nactive_file 150000\nslab_reclaimable 50000\n",
    "cgroup/outer/inner/memory.max": "max\n",
    "cgroup/outer/inner/memory.current": "1000\n",
    "cgroup/outer/inner/memory.stat": "inactive_file 0\n",
}
FIRST = MACHINE | {
    "proc/self/cgroup": "5:cpu,cpuacct:/docker\n4:memory:/docker\n",
    "cgroup/memory/memory.limit_in_bytes": "3000000\n",
    "cgroup/memory/memory.usage_in_bytes": "2500000\n",
    "cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 200000\ntotal_active_file 50000\n",
}


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (MACHINE, 8_192_000),
        (SECOND, 3_500_000),
        (SECOND | {"cgroup/outer/inner/memory.max": "101000"}, 100_000),
        (SECOND | {"cgroup/outer/memory.max": "max\n"}, 8_192_000),
        (FIRST, 750_000),
    ],
)
def test_the_memory_left_is_the_machines_or_that_of_the_narrowest_container(system, files, left):
    system(files)
    assert available_memory() == left


def test_a_system_that_does_not_say_has_an_unknown_amount(system, monkeypatch):
    monkeypatch.setattr("os.sysconf_names", {})
    assert available_memory() is None


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library than GNU's")
def test_freed_memory_is_returned():
    """The last of many arrays lies above what the others leave free, so the C library keeps it."""
    pages = Path("/proc/self/statm")
    arrays = [np.ones(1000) for _ in range(20_000)]
    last = arrays[-1]
    del arrays
    kept = int(pages.read_text().split()[1])
    memory.return_freed_memory()
    assert kept - int(pages.read_text().split()[1]) > 10_000
    assert last.sum() == 1000


def test_other_c_libraries_keep_it(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    memory.return_freed_memory()
