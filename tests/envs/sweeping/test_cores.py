from __future__ import annotations

import os
from pathlib import Path

from rlccfr.envs.sweeping.cores import physical_cores


def test_of_a_cores_threads_one_is_taken(monkeypatch):
    siblings = {"cpu0": "0,2", "cpu1": "1,3", "cpu2": "0,2", "cpu3": "1,3"}

    def read(path, *_, **__):
        if (name := path.parent.parent.name) in siblings:
            return siblings[name]
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 0, 1, 2, 5}, raising=False)
    assert physical_cores() == [0, 1, 5]  # the system has no information on core 5


def test_where_there_is_no_affinity_all_processors_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert physical_cores() == [0, 1, 2]
