"""The default way to solve a game: which way is taken, how it is corrected, and what the solution says."""

from __future__ import annotations

import ast
import math
import re
import subprocess
import sys
import time

import pytest
from support import CORES, game

import rlccfr
from rlccfr import solving
from rlccfr.agents.shipped import unmeasured
from rlccfr.engine import linear_program
from rlccfr.engine.public import public_components
from rlccfr.envs import PRESETS, Budget
from rlccfr.errors import BudgetError, ComponentError, GameError
from rlccfr.games.target_runs import FINE_TARGETS_RULE, LARGE_TREE, ON_PUBLIC_TREES
from rlccfr.limits import ProgramWatch

HOPEFUL = (1e-9, 1e-9)
"""A law by which iterations take hardly any time."""

HOPELESS = (10.0, 1.0)
"""A law by which iterations take longer than linear programs of small games."""

SMALL_HOLDEM = "holdem(ranks=4,suits=2,private=1,flop=1)"


def test_a_small_game_is_solved_exactly():
    solution = rlccfr.solve("kuhn")
    assert (solution.method, solution.reached, solution.interrupted) == ("linear program", True, False)
    assert solution.value == pytest.approx(-1 / 18)
    assert solution.policy.exploitability() == solution.exploitability < 1e-9
    assert set(solution.cpu_seconds) == {"predicting", "linear program", "other"}
    assert solution.predicted_seconds == pytest.approx(0.0035, rel=0.2)
    assert solution.why.startswith("a linear program, predicted to take 0.0")
    assert str(solution).startswith("kuhn: exploitability ")


def test_a_coarse_target_takes_iterations():
    solution = rlccfr.solve(game("leduc"), until="0.05x")
    assert (solution.method, solution.reached) == ("iterations", True)
    assert solution.policy.exploitability() == pytest.approx(solution.exploitability)
    assert solution.exploitability <= solution.target == pytest.approx(0.05 * 2.3736, rel=1e-3)
    assert solution.value == pytest.approx(-0.0856, abs=0.05)
    assert solution.result.iterations < 100
    assert solution.why.startswith("exact passes by dcfr_plus, predicted to take 0.0")
    assert set(solution.cpu_seconds) == {"predicting", "iterations", "other"}
    assert solution.solver.run(iterations=10).iterations == solution.result.iterations + 10  # it can go on


def test_a_coarse_target_without_chance_has_a_rule_of_its_own():
    solution = rlccfr.solve(game("goofspiel(num_cards=4,imp_info=True,points_order=descending)"), until="0.05x")
    assert solution.why.startswith("exact passes by hs_pcfr_plus, predicted to take 0.0")
    assert solution.reached


def test_a_budget_in_iterations_is_kept_and_long_runs_blend():
    for iterations, words in ((50, "steered exact passes"), (400, "steered exact passes with blends")):
        solution = rlccfr.solve(game("leduc"), iterations=iterations)
        assert (solution.method, solution.why) == ("iterations", words)
        assert solution.result.iterations == iterations
        assert (solution.target, solution.reached) == (None, True)


def test_a_budget_in_seconds_is_spent_on_the_linear_program_if_that_fits():
    assert rlccfr.solve(game("leduc"), seconds=5.0).method == "linear program"
    short = rlccfr.solve(game("leduc"), seconds=0.002)
    assert short.method == "iterations"
    assert 0 < short.result.cpu_seconds < 0.05


def test_a_linear_program_that_takes_too_long_is_given_up(monkeypatch):
    def refuse(*_, seconds, **__):
        raise BudgetError(f"the linear program was not solved in {seconds:g} seconds")

    monkeypatch.setattr(linear_program, "solve_exactly", refuse)
    monkeypatch.setattr(solving, "SECONDS_LAW", HOPELESS)
    solution = rlccfr.solve(game("leduc"), until="1e-7x")
    assert (solution.method, solution.reached) == ("iterations", True)
    assert re.search(r"a linear program, .* but given up after 0.25 s; exact passes by scheduled", solution.why)


@pytest.mark.parametrize("error", [MemoryError(), rlccfr.RLCCFRError("no program today")])
def test_a_linear_program_that_fails_loses_nothing(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(linear_program, "solve_exactly", fail)

    class ImpatientWatch(ProgramWatch):
        """A watch that says at once that a linear program is sooner."""

        def __call__(self):
            self.says_sooner = True
            return True

    monkeypatch.setattr(solving, "ProgramWatch", ImpatientWatch)
    for law in (HOPELESS, HOPEFUL):  # before the iterations, or after some
        monkeypatch.setattr(solving, "SECONDS_LAW", law)
        solution = rlccfr.solve(game("leduc"), until="1e-9x")
        assert (solution.method, solution.reached) == ("iterations", True)
        assert "but given up" in solution.why


def test_iterations_go_on_where_the_linear_program_no_longer_fits(monkeypatch):
    class EagerWatch(ProgramWatch):
        """A watch that wants a linear program as soon as there are points, whatever the budget."""

        def __call__(self):
            self.says_sooner = bool(self._solver.points)
            return self.says_sooner

    monkeypatch.setattr(solving, "ProgramWatch", EagerWatch)
    monkeypatch.setattr(linear_program, "predicted_time", lambda tree: linear_program.PredictedTime(100.0, 2.0))
    solution = rlccfr.solve(game("leduc"), until="1e-6x", seconds=20.0)
    assert (solution.method, solution.reached) == ("iterations", True)
    assert "linear program" not in solution.why


def slow_program(tree, *, seconds, **_):
    """Stand for a linear program that takes all the time it is given, and more."""
    end = time.process_time() + 1.2 * seconds
    while time.process_time() < end:
        pass
    raise BudgetError("the linear program did not end")


@pytest.mark.parametrize("predicted", [0.001, 0.02, 0.04, 10.0])
def test_a_slow_linear_program_leaves_a_policy_in_every_budget(monkeypatch, predicted):
    prediction = linear_program.PredictedTime(predicted, 2.0)
    monkeypatch.setattr(linear_program, "predicted_time", lambda tree: prediction)
    monkeypatch.setattr(linear_program, "solve_exactly", slow_program)
    for limit in ({"seconds": 0.08}, {"seconds": 0.08, "until": "1e-12x"}):
        solution = rlccfr.solve(game("leduc"), **limit)
        assert (solution.method, solution.interrupted) == ("iterations", False)
        assert solution.policy.exploitability() < 0.5
        assert ("given up" in solution.why) == (predicted < 1)


def test_the_better_of_two_policies_is_returned():
    solution = rlccfr.solve(game("leduc"), until=2.7e-14, seconds=0.3)  # less than the program promises
    assert solution.exploitability <= 1e-9
    assert solution.method == "linear program"


def test_public_trees_are_blended_within_budgets_alone():
    tree = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)")
    plain = rlccfr.solve(tree, until="1e-4x", iterations=1000)
    assert (plain.reached, plain.why.partition(",")[0]) == (True, "exact passes by scheduled")
    for budget, words in (
        ({"iterations": 400}, "steered exact passes"),
        ({"iterations": 600}, "steered exact passes with blends"),
        ({"seconds": 1e-3}, "steered exact passes"),
        ({"seconds": 0.1}, "steered exact passes with blends"),
    ):
        assert rlccfr.solve(tree, **budget).why == words, budget
    assert rlccfr.solve(tree, iterations=600).exploitability < plain.exploitability


@pytest.mark.parametrize(("target", "rule"), [("1e-3x", "dcfr_plus"), ("1e-4x", "scheduled")])
def test_the_rule_depends_on_the_target(target, rule):
    solution = rlccfr.solve(game("leduc(ranks=5,suits=2,raises=2)"), until=target, iterations=20_000)
    assert (solution.reached, solution.why.partition(", predicted")[0]) == (True, f"exact passes by {rule}")


@pytest.mark.slow
def test_fine_targets_in_the_largest_games_are_steered_to(monkeypatch):
    """A steered run aims at the number of iterations that its law predicts."""
    aimed_at = []
    run = rlccfr.Solver.run
    monkeypatch.setattr(
        rlccfr.Solver, "run", lambda *args, **options: aimed_at.append(options["horizon"]) or run(*args, **options)
    )
    tree = rlccfr.load_game("leduc(ranks=9,suits=2,raises=2)")
    steered = next(run for run in tree.form.target_runs if "control" in run.arguments)
    monkeypatch.setattr(type(steered), "serves", lambda run, *_: run is steered)
    solution = rlccfr.solve(tree, until="1e-5x", iterations=20_000)
    assert (solution.reached, solution.why.partition(",")[0]) == (True, "steered exact passes with blends")
    assert aimed_at == [math.ceil(steered.iterations(5.0, tree.num_histories))]


def test_each_target_is_served_by_one_run_first():
    """Coarse targets have a rule of their own, and fine ones in the largest games a schedule."""
    runs = rlccfr.load_game("kuhn").form.target_runs

    def first(decades, histories, has_chance=True):
        return next(run for run in runs if run.serves(decades, histories, has_chance)).arguments

    assert first(3.0, 10**6) == {"update_rule": "dcfr_plus"}
    assert first(4.0, 10**6) == first(6.0, 10**5) == {"update_rule": FINE_TARGETS_RULE}
    assert first(5.0, 10**6) == {"control": "schedule", "blend": True}
    assert first(6.0, 10**6, has_chance=False) == {"update_rule": "hs_pcfr_plus"}


def test_large_public_trees_have_rules_of_their_own():
    def first(decades, size):
        return next(run for run in ON_PUBLIC_TREES if run.serves(decades, size, True)).arguments["update_rule"]

    assert [first(decades, LARGE_TREE) for decades in (2, 3, 4, 5)] == ["dcfr_plus", "dcfr_plus", "dcfr", "dcfr"]
    assert [first(decades, LARGE_TREE - 1) for decades in (2, 3)] == ["dcfr", "dcfr"]
    assert first(5.5, LARGE_TREE) == first(4, LARGE_TREE - 1) == FINE_TARGETS_RULE


def test_a_budget_in_iterations_that_is_far_too_small_is_used_as_one_without_a_target():
    tree = game("leduc(ranks=5,suits=2,raises=2)")
    hopeless = rlccfr.solve(tree, until="1e-6x", iterations=100)
    assert hopeless.exploitability == rlccfr.solve(tree, iterations=100).exploitability
    short = rlccfr.solve(tree, until="1e-6x", iterations=400)
    assert short.exploitability == rlccfr.solve(tree, iterations=400).exploitability


def test_what_is_out_of_reach_is_steered_and_blended():
    tree = game("leduc(ranks=5,suits=2,raises=2)")
    hopeless = rlccfr.solve(tree, until="1e-12x", seconds=0.01)
    assert (hopeless.reached, hopeless.target) == (False, pytest.approx(1e-12 * 2.6, rel=0.2))
    assert "steered exact passes with blends, since the target was predicted to take" in hopeless.why


def test_a_curve_is_measured_if_it_is_wanted():
    solution = rlccfr.solve(game("kuhn"), curve=True)
    assert (solution.method, solution.reached) == ("iterations", True)
    assert all(point.exploitability_current >= 0 for point in solution.result.points)


@pytest.mark.parametrize(
    ("predicted", "seconds", "method"),
    [(0.1, None, "iterations"), (0.2, None, "linear program"), (0.1, 1.0, "iterations"), (0.1, 0.11, "linear program")],
)
def test_iterations_begin_unless_a_linear_program_is_clearly_sooner(monkeypatch, predicted, seconds, method):
    """Iterations may need far less than predicted; here, they reach the target within half of the program's time.

    A budget that is too small for both is left to the linear program.
    """
    monkeypatch.setattr(solving, "SECONDS_LAW", (predicted, 1e-9))
    monkeypatch.setattr(linear_program, "predicted_time", lambda tree: linear_program.PredictedTime(0.05, 2.0))
    solution = rlccfr.solve(game("leduc"), until="1e-5x", seconds=seconds)
    assert (solution.method, solution.reached) == (method, True)
    assert (solution.result is None) == (method == "linear program")


def test_iterations_end_where_a_linear_program_is_sooner(monkeypatch):
    monkeypatch.setattr(solving, "SECONDS_LAW", HOPEFUL)
    solution = rlccfr.solve(game("leduc"), until="1e-10x")
    assert (solution.method, solution.reached) == ("linear program", True)
    assert re.match(r"exact passes by scheduled for .* s; then a linear program, predicted to ", solution.why)
    assert solution.result.exploitability > solution.target
    assert {"iterations", "linear program"} <= set(solution.cpu_seconds)


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_gives_what_is_there(monkeypatch):
    solution = rlccfr.solve(game("leduc"), iterations=10**6, progress=interrupt)
    assert solution.interrupted
    assert 0 < solution.result.iterations < 10**6
    assert solution.policy.exploitability() == pytest.approx(solution.exploitability)
    # A linear program leaves nothing. The real one may end before it calls anything that could interrupt it.
    monkeypatch.setattr(linear_program, "solve_exactly", lambda *_, **__: interrupt(0.0))
    monkeypatch.setattr(solving, "SECONDS_LAW", HOPELESS)
    with pytest.raises(KeyboardInterrupt):
        rlccfr.solve(game("leduc(ranks=5,suits=2,raises=2)"), until="1e-10x")


def test_a_public_tree_is_solved_by_the_rule_that_was_measured_best():
    solution = rlccfr.solve(SMALL_HOLDEM, until="1e-3x")
    assert (solution.method, solution.reached) == ("iterations", True)
    assert solution.why.startswith("exact passes by dcfr, predicted to take")
    best = unmeasured.public_choice(Budget("seconds", 60.0), PRESETS["accuracy"]).cell
    assert tuple(best) == ("dcfr", "none", "none")


def test_a_public_tree_has_a_rule_with_more_tables_to_fine_targets_if_they_fit(monkeypatch):
    fine = rlccfr.solve(SMALL_HOLDEM, until="1e-5x")
    assert (fine.reached, fine.why.partition(",")[0]) == (True, "exact passes by scheduled")
    tree = rlccfr.load_game(SMALL_HOLDEM)
    assert tree.form.run_to(tree, 5.0, "int16").arguments == {"update_rule": "dcfr"}
    monkeypatch.setattr(public_components, "available_memory", lambda: 30 * tree.num_sequences)
    small = rlccfr.solve(tree, until="1e-5x")
    assert (small.reached, small.why) == (True, "exact passes by dcfr")
    assert math.isnan(small.predicted_seconds)  # no law was fitted to this run


def test_a_budget_that_is_far_too_small_for_the_target_is_steered_on_a_public_tree():
    """A law predicts the iterations, so that a run does not aim at a target that it can't reach."""
    tree = rlccfr.load_game(SMALL_HOLDEM)
    hopeless = rlccfr.solve(tree, until="1e-6x", iterations=20)
    assert hopeless.exploitability == rlccfr.solve(tree, iterations=20).exploitability
    assert hopeless.why.startswith("steered exact passes, since the target was predicted to take")
    in_seconds = rlccfr.solve(tree, until="1e-6x", seconds=1e-3)
    assert in_seconds.why.startswith("steered exact passes")
    assert "since the target was predicted to take" in in_seconds.why
    fine = rlccfr.solve(tree, until="1e-6x", seconds=60)
    assert (fine.reached, fine.why.partition(",")[0]) == (True, "exact passes by scheduled")
    assert 0 < fine.predicted_seconds < 60


@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_threads_share_the_time_that_is_predicted_on_a_public_tree():
    one, two = (rlccfr.solve(SMALL_HOLDEM, until="1e-3x", threads=threads) for threads in (1, 2))
    assert two.predicted_seconds == pytest.approx(one.predicted_seconds / 2)


def test_a_game_that_the_uniform_policy_solves():
    solution = rlccfr.solve(rlccfr.matrix_game([[1.0, 1.0], [1.0, 1.0]]))
    assert (solution.reached, solution.exploitability, solution.value) == (True, 0.0, 1.0)


def test_a_game_of_tiny_payoffs_has_a_default_target():
    assert rlccfr.solve(rlccfr.matrix_game([[2e-10, 0.0], [0.0, 1e-10]])).reached


def test_what_can_not_be_done_is_refused():
    with pytest.raises(BudgetError, match="at most one budget"):
        rlccfr.solve("kuhn", seconds=1, iterations=1)
    with pytest.raises(BudgetError, match="seconds must be a positive"):
        rlccfr.solve("kuhn", seconds=0)
    with pytest.raises(BudgetError, match="iterations must be"):
        rlccfr.solve("kuhn", iterations=0.5)
    with pytest.raises(BudgetError, match="a target must be"):
        rlccfr.solve("kuhn", until="soon")
    with pytest.raises(GameError, match="kuhhn"):
        rlccfr.solve("kuhhn")
    with pytest.raises(ComponentError, match="threads must be"):
        rlccfr.solve("kuhn", threads=0)
    with pytest.raises(TypeError, match="game must come from"):
        rlccfr.solve(3)


@pytest.mark.slow
def test_a_solve_from_the_shell_loads_no_learner_no_plots_and_nothing_of_other_forms():
    code = (
        "import sys; from rlccfr.cli import main\n"
        "try: main(['solve', 'kuhn', '--target', '1e-6'])\n"
        "finally: print(set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout.splitlines()[-1]))
    assert "numba" in loaded
    assert not {"torch", "stable_baselines3", "gymnasium", "pandas", "matplotlib", "sklearn"} & loaded
    assert not {"rlccfr.kernels.bucket_histories", "rlccfr.kernels.public", "open_spiel.python.games"} & loaded
