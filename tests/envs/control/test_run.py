"""Runs of one game under a controller: what they refuse."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.controller_file import save_controller
from rlccfr.envs.control.run import ControlRun
from rlccfr.errors import GameError, RLCCFRError

CONTROLLER = Controller.untrained(CHOICES, (12, 9), seed=4)
LIMITS = "discounting below 12, averaging below 8, prediction below 17"
ROWS = len(ControlRun(game("kuhn"), CONTROLLER, 60).marks)
SIZE = len(CONTROLLER.flat_weights())
FORCED = f"forced must be {ROWS} rows of three indices"
WEIGHTS = f"weights must be {SIZE:,} finite numbers, as Controller.flat_weights returns"


def picks(value, dtype=int) -> np.ndarray:
    return np.full((ROWS, 3), value, dtype)


@pytest.mark.parametrize("options", [{}, {"keep": True}, {"blend": True}])
def test_the_last_error_is_that_of_what_a_solver_returns(options):
    tree = game("leduc")
    uniform = rlccfr.Policy.uniform(tree).exploitability()
    run = ControlRun(tree, CONTROLLER, 300, **options)
    last_error = run.episode().errors[-1]
    assert run.episode().errors[-1] == last_error
    expected = run.exploitability
    if options:
        solver = rlccfr.Solver(tree, control=CONTROLLER, blend="blend" in options)
        expected = solver.run(iterations=300, curve=False).exploitability
    assert 10.0**last_error * uniform == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.episode(picks(10**6)), FORCED),
        (
            lambda run: run.episode(picks((0, 0, 17))),
            f"{FORCED} ({LIMITS}; a negative index leaves the pick to the networks), not [[0, 0",
        ),
        (lambda run: run.episode(np.zeros((1, 3), int)), FORCED),
        (lambda run: run.episode(np.array(-1)), FORCED),
        (lambda run: run.episode(picks(0, float)), FORCED),
        (lambda run: run.episode([[0], [0, 0]]), FORCED),
        (lambda run: run.step((0, 8, 0)), f"an action must be three indices ({LIMITS}), not (0, 8, 0)"),
        (lambda run: run.step((0, -1, 0)), "an action must be three indices"),
        (lambda run: run.step((0, 0)), "an action must be three indices"),
        (lambda run: run.step((0, 0.5, 0)), "an action must be three indices"),
        (lambda run: run.episode() and run.step((0, 0, 0)), "the run is over: call restart() first"),
        (lambda run: run.episode(weights=np.zeros(SIZE - 1)), WEIGHTS),
        (lambda run: run.episode(weights=np.full(SIZE, np.nan)), WEIGHTS),
        (lambda run: run.episode(weights=["1"] * SIZE), WEIGHTS),
        (lambda run: run.aim(0), "horizon must be a positive integer, not 0"),
        (lambda run: ControlRun(run.game, CONTROLLER, {100: 1.0}), "horizon must be a positive integer"),
        (lambda run: ControlRun(run.game, 3, 60), "a controller's file or a Controller, not 3"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(RLCCFRError, match=re.escape(message)):
        call(ControlRun(game("kuhn"), CONTROLLER, 60))


def test_the_game_must_be_loaded():
    with pytest.raises(TypeError, match=r"game must come from rlccfr.load_game\(...\), not 'leduc'"):
        ControlRun("leduc", CONTROLLER, 60)
    with pytest.raises(GameError, match="needs a game's histories"):
        ControlRun(rlccfr.load_game("holdem(ranks=4,suits=2,private=2,flop=2)"), CONTROLLER, 60)


def test_negative_picks_are_the_networks_own():
    run = ControlRun(game("kuhn"), CONTROLLER, 60)
    own, forced = run.episode().picks, picks(-1)
    forced[1] = (2, 1, -5)
    found = run.episode(forced).picks
    assert found[1, :2].tolist() == [2, 1]
    assert np.array_equal(found[0], own[0])


@pytest.mark.parametrize("keep", [False, True])
def test_a_copy_is_a_run_of_its_own(keep):
    run = ControlRun(game("leduc"), CONTROLLER, 100, keep=keep)
    run.episode(weights=-CONTROLLER.flat_weights())
    run.restart()
    run.step((1, 2, 3))
    other = copy.deepcopy(run)
    assert other.game is run.game
    other.step((4, 5, 6))
    assert (run.iteration, other.iteration) == run.marks[1:3]
    assert run.settings != other.settings
    run.step((4, 5, 6))
    assert np.array_equal(run.observe(), other.observe())
    assert np.array_equal(run.episode().errors, other.episode().errors)


def test_a_file_names_a_controller(tmp_path):
    save_controller(CONTROLLER, tmp_path / "mine.npz")
    runs = [ControlRun(game("kuhn"), one, np.int64(60)) for one in (CONTROLLER, tmp_path / "mine.npz")]
    assert np.array_equal(*(run.episode().picks for run in runs))
    assert ControlRun(game("kuhn"), "shipped", 60).episode().picks.shape == (ROWS, 3)
