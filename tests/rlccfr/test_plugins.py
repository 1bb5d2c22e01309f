"""Components of a Python file, from the command line: again and again, in every order, and in a sweep's workers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

MINE = '''
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule

def milder(instant_regret, mass, state, parameters, utility_range):
    for a in range(len(instant_regret)):
        instant_regret[a] *= 0.5

@update_rule("test_mine", source="a test")
def test_mine():
    """CFR with all regrets halved, which changes nothing."""
    return UpdateRule(reweight=milder)
'''


@pytest.fixture
def call(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)

    def run(*arguments):
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


SOLVE = ("solve", "kuhn", "--update-rule", "test_mine", "--iterations", "50", "--json")
IMPORT = """
import mine, rlccfr
print(rlccfr.Solver(rlccfr.load_game("kuhn"), "test_mine").run(iterations=50).exploitability)
"""


@pytest.mark.slow
def test_what_was_compiled_for_one_use_harms_no_other(call):
    loaded = ("-m", "rlccfr", "--load", "mine.py", *SOLVE)
    found = {json.loads(call(*loaded))["exploitability"] for _ in range(2)}
    found |= {float(call("-c", IMPORT)) for _ in range(2)}
    found |= {json.loads(call(*loaded))["exploitability"]}
    assert len(found) == 1


@pytest.mark.slow
def test_a_sweep_measures_what_was_loaded(call):
    sweep = ("sweep", "kuhn", "--catalog", "tabular + test_mine", "--seeds", "1", "--seconds", "0", "--iterations", "3")
    out = call("-m", "rlccfr", "--load", "mine.py", *sweep, "--no-pilot", "--workers", "1", "--json")
    assert json.loads(out) == {"kuhn": {"ok": 9 * 7 * 2}}


@pytest.mark.slow
def test_the_command_that_recommend_prints_loads_what_was_loaded(call):
    rlccfr = ("-m", "rlccfr", "--plugins", "--load", "mine.py")
    call(*rlccfr, "train", "kuhn", "--catalog", "tabular + test_mine", "--evaluations", "3", "--iterations", "20")
    found = json.loads(call(*rlccfr, "recommend", "kuhn", "--json"))
    line = call(*rlccfr, "recommend", "kuhn").splitlines()[-1]
    assert line.startswith('run it: rlccfr --plugins --load "mine.py" solve "kuhn" --update-rule ')
    again = json.loads(call("-m", *shlex.split(line.removeprefix("run it: ")), "--json"))
    assert again["exploitability"] == found["exploitability"]


DEFINITION = """
import json, mine
from rlccfr.envs import Cell
from rlccfr.envs.measuring.identity import definitions
print(json.dumps(definitions(Cell("test_mine", "none", "cfr_br"))))
"""


def test_what_was_measured_of_a_changed_function_is_another_measurement(call, tmp_path):
    before = json.loads(call("-c", DEFINITION))
    assert [set(one) for one in before] == [
        {"id", "version", "hyperparameters", "code"},
        *[{"id", "version", "hyperparameters"}] * 2,
    ]
    found = []
    for changed in (
        MINE + "# a remark below\n",
        MINE.replace("*= 0.5", "*= 0.25"),
        MINE.replace("all regrets", "them"),
    ):
        (tmp_path / "mine.py").write_text(changed)
        found.append(json.loads(call("-c", DEFINITION)) == before)
    assert found == [True, False, False]
