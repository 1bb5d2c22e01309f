"""The engine's CPU seconds exclude compilation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher
from support import CORES

from rlccfr import Solver, load_game
from rlccfr.engine.engine import Engine
from rlccfr.kernels import handles
from rlccfr.kernels.jit import UNJITTED

compiled = pytest.mark.skipif(UNJITTED, reason="nothing is compiled")

ROOT = Path(__file__).parents[3]
COUNT = """
import json, sys
sys.path.insert(0, "tests/helpers")
from tests.rlccfr.engine.test_timing import counted
game, settings = json.loads(sys.argv[1])
print(counted(game, settings))
"""


def counted(game: str, settings: dict) -> list[str]:
    """Run a solver, and return the names of the functions that were compiled or loaded in its counted time."""
    found, timed = [], []
    compile = Dispatcher.compile

    def noted(dispatcher, signature):
        before = len(dispatcher.overloads)
        result = compile(dispatcher, signature)
        if timed and len(dispatcher.overloads) > before:
            found.append(dispatcher.py_func.__name__)
        return result

    def within(method):
        def call(*arguments):
            timed.append(True)
            try:
                return method(*arguments)
            finally:
                timed.pop()

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", noted)
        solver = Solver(load_game(game), **settings)
        patch.setattr(Engine, "advance", within(Engine.advance))
        patch.setattr(Solver, "_finish", within(Solver._finish))
        solver.run(4, curve=False)
    return found


@compiled
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"sampler": "outcome"},
        {"sampler": "variance_reduced"},
        {"update_rule": "controlled"},
        {"blend": True},
    ],
    ids=str,
)
def test_a_run_compiles_no_writers_of_handles(settings):
    handles._writer.cache_clear()
    assert counted("kuhn", settings) == []


@compiled
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("kuhn", {"update_rule": "cfr_plus"}),
        ("goofspiel", {"update_rule": "cfr_plus"}),
        ("goofspiel", {"update_rule": "cfr_plus", "blend": True}),
        ("kuhn", {"control": "shipped"}),
        ("kuhn", {"control": "shipped", "blend": True}),
        ("kuhn", {"control": "schedule"}),
        ("kuhn", {"control": "schedule", "blend": True}),
        pytest.param("royal", {"threads": 2}, marks=pytest.mark.skipif(CORES < 2, reason="one core")),
    ],
    ids=str,
)
def test_a_run_in_a_new_process_loads_no_kernels(name, settings):
    """Kernels are loaded when they are first needed, which must not count as the run's time."""
    ended = subprocess.run(
        [sys.executable, "-c", COUNT, json.dumps([name, settings])],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert ended.stdout == "[]\n"


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["none", "public_chance"])
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.skipif(CORES < 2, reason="one core"))])
def test_a_run_on_a_public_tree_compiles_no_kernels(sampler, threads):
    case = json.dumps(["holdem(ranks=3,suits=2,private=1,flop=1)", {"sampler": sampler, "threads": threads}])
    ended = subprocess.run(
        [sys.executable, "-c", COUNT, case],  # kernels that this process has compiled would not be noted
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert ended.stdout == "[]\n"
