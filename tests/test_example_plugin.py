"""A package by others is installed, found, checked, used by a solver, and chosen by an environment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "rlccfr-example"

USE = """
import json, rlccfr
from rlccfr.catalog import Catalog
from rlccfr.envs import SelectorEnv
from rlccfr.testing import check_sampler, check_update_rule
loaded = rlccfr.load_plugins()
check_update_rule("sqrt_dcfr")
check_sampler("root")
result = rlccfr.Solver(rlccfr.load_game("leduc"), {"id": "sqrt_dcfr", "gamma": 2.0}, "root").run(iterations=200)
catalog = Catalog.paper().plus(["sqrt_dcfr"], ["root"])
env = SelectorEnv(budget={"unit": "iterations", "amount": 20}, catalog=catalog)
env.reset(seed=0)
info = env.step([16, 7, 2])[4]
found = {"loaded": loaded, "iterations": result.iterations}
print(json.dumps(found | {"picked": info["update_rule"], "status": info["status"]}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder as pip leaves it: the module, and metadata that names its entry points."""
    site = tmp_path_factory.mktemp("site")
    (site / "rlccfr_example.py").write_text((EXAMPLE / "rlccfr_example.py").read_text())
    (site / "rlccfr_broken.py").write_text("import nothing_of_that_name\n")
    info = site / "rlccfr_example-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rlccfr-example\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[rlccfr.plugins]\nexample = rlccfr_example\nwrecked = rlccfr_broken\n")
    return site


def run(site, *arguments):
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n"
    return subprocess.run([sys.executable, "-c", code + arguments[0], *arguments[1:]], capture_output=True, text=True)


@pytest.mark.slow
def test_a_plugin_is_found_checked_solved_with_and_chosen(installed):
    done = run(installed, USE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["loaded"]["example"] is None
    assert "nothing_of_that_name" in found["loaded"]["wrecked"]
    assert (found["iterations"], found["picked"], found["status"]) == (200, "sqrt_dcfr", "ok")


@pytest.mark.slow
def test_the_command_line_loads_plugins_if_asked(installed):
    main = "from rlccfr.cli import main; main(sys.argv[1:])"
    listed = run(installed, main, "--plugins", "catalog", "--json")
    assert {"sqrt_dcfr", "root"} <= {row["id"] for row in json.loads(listed.stdout)}
    assert "'wrecked' is skipped" in listed.stderr
    assert "sqrt_dcfr" not in run(installed, main, "catalog", "--json").stdout


def test_the_example_says_the_same_entry_point():
    assert 'example = "rlccfr_example"' in (EXAMPLE / "pyproject.toml").read_text()
