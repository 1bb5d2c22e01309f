from __future__ import annotations

import pytest

from rlccfr.games import memory
from rlccfr.games.memory import available_memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """``system(name=text)`` writes files as the kernel shows them, where the module then looks for them."""
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)

    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


MACHINE = {"meminfo": "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 8000 kB\n"}
SECOND = {"memory.max": "5000000\n", "memory.current": "2000000\n", "memory.stat": "anon 5\ninactive_file 500000\n"}
FIRST = {
    "memory/memory.limit_in_bytes": "3000000\n",
    "memory/memory.usage_in_bytes": "2500000\n",
    "memory/memory.stat": "inactive_file 1\ntotal_inactive_file 250000\n",
}


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (MACHINE, 8_192_000),
        (MACHINE | SECOND, 3_500_000),
        (MACHINE | SECOND | {"memory.max": "max\n"}, 8_192_000),
        (MACHINE | FIRST, 750_000),
    ],
)
def test_the_memory_left_is_the_machines_or_the_containers(system, files, left):
    system(files)
    assert available_memory() == left


def test_a_system_that_does_not_say_has_an_unknown_amount(system, monkeypatch):
    monkeypatch.setattr("os.sysconf_names", {})
    assert available_memory() is None
