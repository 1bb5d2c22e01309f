from __future__ import annotations

from pathlib import Path

import pytest

from rlccfr.envs.measuring import provenance

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
    """Contents of the system's files by the ends of their names; other files can't be read."""
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


def test_arms_processors_have_numbers_alone(told):
    told["cpuinfo"] = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"
    assert provenance.processor_model().endswith("(CPU implementer 0x41, CPU part 0xd40)")
