"""The examples for configurators and selectors of others run, and say what they compare."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def figures(name: str, needed: tuple[str, ...], folder: Path) -> dict[str, float]:
    """Return the figures that an example prints, by their names; skip the test if a package is missing."""
    if missing := [package for package in needed if importlib.util.find_spec(package) is None]:
        pytest.skip(f"{name} needs {', '.join(missing)}")
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / name)]
    same_order = {**os.environ, "PYTHONHASHSEED": "0"}  # on which SMAC3 depends
    done = subprocess.run(command, cwd=folder, env=same_order, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return {name: float(value) for name, value in re.findall(r"^ *(.+): (-?\d+\.\d+)", done.stdout, re.MULTILINE)}


@pytest.mark.slow
def test_the_controller_gains_more_than_points_and_random_picks(tmp_path):
    found = figures("dac_baselines.py", ("dacbench",), tmp_path)
    assert next(iter(found)) == "random"
    assert max(found, key=found.__getitem__) == "shipped controller"
    assert all(found["random"] < value for name, value in found.items() if name != "random")


@pytest.mark.verify
def test_smac_finds_a_point_that_is_better_than_the_plain_rules(tmp_path):
    found = figures("smac_schedule.py", ("smac",), tmp_path)
    assert found["SMAC3's scheduled"] < min(found["cfr_plus"], found["dcfr"], found["pcfr_plus"])
    assert found["shipped controller"] < found["SMAC3's scheduled"]


@pytest.mark.verify
def test_selectors_of_others_are_compared_on_one_scenario(tmp_path):
    found = figures("asf_selector.py", ("asf", "clingo", "sksurv", "zerofolio"), tmp_path)
    assert list(found) == ["single best", "ASF", "ZeroFolio", "kernel regression"]
    assert all(0 <= value < 1 for value in found.values())
