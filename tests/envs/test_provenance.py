from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlccfr.envs import provenance

EPYC = """processor\t: 0
cpu family\t: 26
model\t\t: 2
model name\t: AMD EPYC
stepping\t: 1

processor\t: 1
cpu family\t: 26
model name\t: another
"""


@pytest.fixture
def told(monkeypatch):
    """What the system's files tell, by the ends of their names; the others can't be read."""
    files: dict[str, str] = {}

    def read(path, *_, **__):
        for end, text in files.items():
            if str(path).endswith(end):
                return text
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", read)
    provenance.processor_model.cache_clear()
    yield files
    provenance.processor_model.cache_clear()


def test_processors_of_one_name_are_told_apart(told):
    told["cpuinfo"] = EPYC
    assert provenance.processor_model() == "AMD EPYC (cpu family 26, model 2, stepping 1)"


def test_a_processor_has_a_name_where_the_system_has_no_file(told):
    assert provenance.processor_model()


def test_of_a_cores_threads_one_is_taken(told, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 0, 1, 2, 5}, raising=False)
    for number, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        told[f"cpu{number}/topology/thread_siblings_list"] = siblings
    assert provenance.physical_cores() == [0, 1, 5]  # of 5 the system says nothing


def test_where_there_is_no_affinity_all_processors_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert provenance.physical_cores() == [0, 1, 2]
