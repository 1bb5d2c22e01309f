"""Runs whose tables have 16-bit numbers, beside runs in double precision.

Those that run are slow, since the passes are compiled once more for such tables.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import support
from subgames import EXAMPLE, RIVER
from support import CORES, engine_state, public_sums, regrets

import rlccfr
from rlccfr.components import UpdateRule
from rlccfr.engine.public import public_state
from rlccfr.engine.public.public_state import PublicState
from rlccfr.games.public.view import PublicGame

MOST_ADDED = 0.02
"""What 16 bits may add to the exploitability of a run with 64 bits, in per cent of the pot, ..."""

MOST_TIMES = 1.1
"""... after it has been multiplied by this: roundings of any kind change the path of a run."""

SPOT = RIVER | {
    "pot": 200, "stack": 900, "oop": "66+,A8s+,AJo+,KQo:0.5", "ip": "QQ-22,AQs-A2s,ATo+,KJo+",
    "bets": ("60%, a", "33%, 75%, a"), "raises": "2.5x, a",
}  # fmt: skip

TURN = SPOT | {"board": "Td9d6hQc", "oop": "99+,AJs+,KQs", "ip": "JJ-77,AQs-ATs", "bets": "60%, a", "raises": "a"}

HOLDEM = "holdem(ranks=5,suits=2,private=2,flop=2)"

RULES = ("dcfr", "cfr", "cfr_plus", "lcfr", "dcfr_plus")
"""Rules that keep regrets and policy sums alone; their regrets grow in different ways."""


def share_of_pot(game: PublicGame, solver: rlccfr.Solver) -> float:
    """Return a run's exploitability in per cent of the pot; without a pot, of the range of payoffs."""
    return 100 * solver.exploitability() / (game.pot or game.utility_range)


def assert_near(game: PublicGame, parts: tuple[str, ...], marks: tuple[int, ...], **options: Any) -> None:
    """Check that a run with 16 bits is hardly more exploitable than one with 64, after some numbers of iterations."""
    short, double = (rlccfr.Solver(game, *parts, dtype=dtype, **options) for dtype in ("int16", "float64"))
    for mark in marks:
        for solver in (short, double):
            solver.run(iterations=mark - solver.result().iterations, curve=False)
        most = MOST_TIMES * share_of_pot(game, double) + MOST_ADDED
        assert 0.0 < share_of_pot(game, short) <= most, (parts, mark)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_river_is_as_exploitable_as_in_double_precision(rule):
    assert_near(rlccfr.subgame(**SPOT), (rule,), (100, 300, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["dcfr", "cfr_plus"])
def test_a_turn_and_limit_holdem_are_as_exploitable_as_in_double_precision(rule):
    for game in (rlccfr.subgame(**TURN), rlccfr.load_game(HOLDEM)):
        assert_near(game, (rule,), (100, 300))


@pytest.mark.slow
def test_the_turn_of_postflop_solvers_documentation():
    assert_near(rlccfr.subgame(**EXAMPLE), ("dcfr",), (100, 300))


INTERPRETED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import rlccfr
from support import public_sums, regrets
solver = rlccfr.Solver(rlccfr.load_game(sys.argv[2]), "dcfr", dtype="int16")
solver.run(iterations=5, curve=False)
print(json.dumps([regrets(solver).tolist(), public_sums(solver).tolist(), solver.exploitability()]))
"""


@pytest.mark.slow
def test_compiled_kernels_equal_their_python():
    name = "holdem(ranks=3,suits=2,private=1,flop=1)"
    out = subprocess.run(
        [sys.executable, "-c", INTERPRETED, str(Path(support.__file__).parent), name],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    regret, policy_sum, exploitability = json.loads(out)
    solver = rlccfr.Solver(rlccfr.load_game(name), "dcfr", dtype="int16")
    solver.run(iterations=5, curve=False)
    assert regrets(solver) == pytest.approx(np.array(regret), rel=1e-6)
    assert np.array_equal(public_sums(solver), policy_sum)
    assert solver.exploitability() == pytest.approx(exploitability, rel=1e-5)


@pytest.mark.slow
def test_a_first_iteration_is_rounded_by_a_step_at_most():
    game = rlccfr.subgame(**SPOT)
    short, double = (rlccfr.Solver(game, "cfr", dtype=dtype) for dtype in ("int16", "float64"))
    for solver in (short, double):
        solver.run(iterations=1, curve=False)
    sizes = game.rows * game.actions
    exact = regrets(double)
    largest = np.maximum.reduceat(np.abs(exact), np.cumsum(sizes) - sizes)
    # Player 0 is updated first, against the same policy in both runs.
    is_first = np.repeat(game.view.nodes["kind"][game.decisions] == 0, sizes)
    error = np.abs(regrets(short) - exact) * 32766
    assert (error <= 1.001 * np.repeat(largest, sizes))[is_first].all()
    assert error.max() > 0.0


@pytest.mark.parametrize("arguments", [SPOT, EXAMPLE])
def test_tables_take_half_of_those_in_single_precision(arguments):
    game = rlccfr.subgame(**arguments)
    short, single = (
        sum(table.nbytes for table in PublicState.at_start(game, 0, dtype).tables) for dtype in ("int16", "float32")
    )
    assert 0.5 <= short / single < 0.55


@pytest.mark.slow
def test_a_run_goes_on_bitwise_from_its_file_and_under_another_rule(tmp_path):
    game = rlccfr.subgame(**SPOT)
    whole, part = (rlccfr.Solver(game, "dcfr", dtype="int16") for _ in range(2))
    part.run(iterations=7)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    assert part.dtype == "int16"
    for solver in (whole, part):
        solver.run(iterations=20 - solver.result().iterations)
        solver.switch(update_rule="cfr_plus")  # which raises regrets to 0
        assert regrets(solver).min() == 0.0
        solver.run(iterations=5)
    theirs = engine_state(part)
    for name, array in engine_state(whole).items():
        assert np.array_equal(array, theirs[name]), name
    assert public_sums(whole).dtype == np.int16
    assert whole.exploitability() == part.exploitability()


@pytest.mark.slow
def test_a_switch_raises_regrets_to_a_floor_in_the_games_units():
    game = rlccfr.subgame(**SPOT)
    solver = rlccfr.Solver(game, "dcfr", dtype="int16")
    solver.run(iterations=3, curve=False)
    floor = float(np.quantile(regrets(solver), 0.2))
    solver.switch(update_rule=UpdateRule(floor=floor))
    assert floor <= regrets(solver).min() < 0.99 * floor


@pytest.mark.slow
@pytest.mark.skipif(CORES < 2, reason="there is one core")
def test_threads_leave_bitwise_the_same():
    one, two = (rlccfr.Solver(rlccfr.subgame(**TURN), "dcfr", threads=threads, dtype="int16") for threads in (1, 2))
    results = [solver.run(iterations=7, curve=False) for solver in (one, two)]
    assert np.array_equal(regrets(one), regrets(two))
    assert np.array_equal(public_sums(one), public_sums(two))
    assert results[0].exploitability == results[1].exploitability


@pytest.mark.slow
def test_policies_have_the_values_of_the_run():
    game = rlccfr.subgame(**SPOT)
    solver = rlccfr.Solver(game, "dcfr", dtype="int16")
    points = solver.run(iterations=50).points
    assert all(np.isfinite(point.exploitability_current) for point in points)
    for current in (False, True):
        policy = solver.current_policy() if current else solver.average_policy()
        values = solver.values(current=current)
        assert policy.table.dtype == np.float32
        assert policy.values().game[0] == pytest.approx(values.game[0], abs=1e-4)
        assert policy.values().exploitability == pytest.approx(values.exploitability, rel=1e-3)


@pytest.mark.slow
def test_best_responses_as_opponents_run():
    assert_near(rlccfr.subgame(**SPOT), ("cfr_plus", "none", "cfr_br"), (100, 300))


@pytest.mark.slow
def test_locked_rows_leave_the_others_their_precision():
    """Regrets of a lock that loses grow without bound, and would set the step of the decision."""
    lock = {"": {"AA": {"c": 1}, "77": {"a": 1}}, "c": {"22": {"a": 1}}}
    assert_near(rlccfr.subgame(**SPOT), ("dcfr",), (1000,), lock=lock)
    solver = rlccfr.Solver(rlccfr.subgame(**SPOT), "dcfr", lock=lock, dtype="int16")
    solver.run(iterations=10, curve=False)
    is_locked = np.isin(np.arange(solver.game.num_sequences), solver.game.lock.entries)
    assert (regrets(solver)[is_locked] == 0.0).all()
    assert regrets(solver)[~is_locked].any()


@pytest.mark.slow
def test_a_run_that_overflows_says_so():
    solver = rlccfr.Solver(
        rlccfr.subgame(**SPOT), UpdateRule(positive_discount=lambda t: 1e30 + 0.0 * t), dtype="int16"
    )
    with pytest.raises(rlccfr.OverflowedError):
        solver.run(iterations=30)


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        (("pcfr_plus",), {}, "'pcfr_plus' needs another table: use dcfr, or leave out dtype='int16'"),
        (("momentum_dcfr",), {}, "'momentum_dcfr' needs another table: use dcfr, or leave out dtype='int16'"),
        (("cfr", "public_chance"), {}, "use sampler='none' instead of 'public_chance'"),
        (("cfr",), {"blend": True}, "leave out blend=True or dtype='int16'"),
        (("cfr", "none", "equity"), {}, "are always in double precision: leave out dtype='int16'"),
    ],
)
def test_what_keeps_more_than_regrets_and_sums_is_refused(parts, options, message):
    game = rlccfr.load_game(HOLDEM)
    with pytest.raises(rlccfr.ComponentError, match=message) as error:
        rlccfr.Solver(game, *parts, dtype="int16", **options)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_switch_to_such_a_rule_leaves_the_run_as_it_is():
    solver = rlccfr.Solver(rlccfr.load_game(HOLDEM), "dcfr", dtype="int16")
    solver.run(iterations=2)
    with pytest.raises(rlccfr.ComponentError, match="use dcfr, or leave out dtype='int16'"):
        solver.switch(update_rule="pcfr_plus")
    assert solver.run(iterations=2).iterations == 4


def test_what_does_not_fit_is_refused_with_the_numbers_that_fit(monkeypatch):
    game = rlccfr.load_game(HOLDEM)
    entry = 2 * game.num_sequences
    steps = 16 * game.num_nodes
    for available, dtype, advice in (
        (6 * entry, None, "use dtype='float32', which needs .* GB, or a smaller game"),
        (2 * entry + steps, None, "use dtype='int16' .for exact passes .*, without blends., which needs .* GB"),
        (2 * entry + steps, "float32", "use dtype='int16' .for exact passes .*, without blends., which needs .* GB"),
        (1000, "float32", "are available: use a smaller game"),
        (1000, "int16", "are available: use a smaller game"),
    ):
        monkeypatch.setattr(public_state, "available_memory", lambda available=available: available)
        with pytest.raises(rlccfr.RLCCFRError, match=advice):
            PublicState.at_start(game, 0, dtype)
    monkeypatch.setattr(public_state, "available_memory", lambda: 2 * entry + steps)
    PublicState.at_start(game, 0, "int16")


def test_compiled_games_have_no_such_tables():
    with pytest.raises(rlccfr.ComponentError, match="in double precision: leave out dtype='int16'"):
        rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", dtype="int16")
