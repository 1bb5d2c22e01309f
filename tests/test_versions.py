"""Shipped and kept files depend on declared versions, so outputs may change only together with their versions."""

from __future__ import annotations

import golden
import pytest

GOLDENS = golden.goldens()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "method joint DQN" else name for name in GOLDENS]
)
def test_outputs_change_only_with_their_version(name):
    expected, kept = GOLDENS[name], golden.kept().get(name)
    assert kept is not None, f"{name} has no recorded output: run `python -m tests.helpers.golden`"
    if expected.version != kept["version"]:
        pytest.fail(f"the version of {name} was raised: record its output with `python -m tests.helpers.golden`")
    assert golden.alike(kept["output"], expected.compute()), (
        f"the output of {name} changed: raise its version, or mend what changed it"
    )


def test_nothing_is_recorded_that_is_gone():
    assert set(golden.kept()) <= set(GOLDENS)


def test_an_output_that_changes_at_the_same_version_is_not_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(golden, "KEPT", tmp_path / "outputs.json")
    monkeypatch.setattr(golden, "goldens", lambda: {"one": golden.Golden(1, lambda: [1.0, "a"])})
    assert list(golden.differing()) == []
    monkeypatch.setattr(golden, "goldens", lambda: {"one": golden.Golden(1, lambda: [1.0 + 1e-4, "a"])})
    assert list(golden.differing()) == ["one"]
    assert golden.kept()["one"]["output"] == [1.0, "a"]
    monkeypatch.setattr(golden, "goldens", lambda: {"one": golden.Golden(2, lambda: [1.0 + 1e-4, "a"])})
    assert list(golden.differing()) == []
    assert golden.kept()["one"] == {"version": 2, "output": [1.0 + 1e-4, "a"]}
