"""Runs over public trees that follow a schedule, beside runs over compiled games and fixed rules."""

import numpy as np
import pytest
from public_games import derived_game
from support import CORES, SMALL_DICE, game, place, place_public, policy_sums, public_sums, regrets

import rlccfr
from rlccfr.components.controller import CHOICES
from rlccfr.controller_file import save_controller
from rlccfr.controller_schedule import follow_schedule
from rlccfr.engine.public import public_components
from rlccfr.games.public.subgame import SUBGAME
from rlccfr.games.public.view import PUBLIC_TREE

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"
ON_AND_OFF = follow_schedule([0.0, 0.3, 0.5, 0.8], [(8, 4, 13), (5, 2, 3), (8, 1, 11), (3, 0, 14)])
"""A schedule with momentum, without it, with it again, and with a floor and another power."""

SPOT = {"board": "Td9d6hQcQs", "pot": 20, "stack": 30, "oop": "AA,T9s,87s", "ip": "KK,QJs,A5s", "bets": "75%,a"}


@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE])
@pytest.mark.parametrize("control", ["schedule", ON_AND_OFF], ids=["shipped", "on and off"])
def test_iterations_are_those_of_the_compiled_game(name, control):
    tree, public = game(name), derived_game(game(name).openspiel_name)
    ours = rlccfr.Solver(public.public, control=control)
    theirs = rlccfr.Solver(tree, control=control, reduce=False)
    start = 100 * (1 + np.random.default_rng(0).random(tree.num_sequences))  # no ties, which rounding could break
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for iterations in (10, 19):  # the second run moves the horizon
        for solver in (ours, theirs):
            solver.run(iterations=iterations, curve=False)
        assert regrets(ours) == pytest.approx(regrets(theirs)[public.sequence], abs=1e-9)
    sums = np.empty(tree.num_sequences)
    sums[public.sequence] = public_sums(ours)
    assert tree.normalised(sums) == pytest.approx(tree.normalised(policy_sums(theirs)), abs=1e-9)


def test_a_switch_to_a_schedule_and_back_is_that_of_the_compiled_game():
    tree, public = game("leduc"), derived_game("leduc_poker")
    ours, theirs = rlccfr.Solver(public.public, "dcfr"), rlccfr.Solver(tree, "dcfr", reduce=False)
    start = 100 * (1 + np.random.default_rng(0).random(tree.num_sequences))
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for rule in ("controlled(controller='schedule')", "pcfr_plus", "controlled(controller='schedule')"):
        for solver in (ours, theirs):
            solver.switch(update_rule=rule)
            solver.run(iterations=9, curve=False)
        assert regrets(ours) == pytest.approx(regrets(theirs)[public.sequence], abs=1e-9)


@pytest.mark.parametrize("momentum", [0, 13])
def test_a_schedule_of_one_row_is_a_fixed_rule(momentum):
    """A pick of momentum 0 leaves the tables of momentum out; its rows are those of the rule all the same."""
    alpha, beta, _ = CHOICES[0][8]
    optimism, weight, memory, power = CHOICES[2][momentum]
    rule = (
        f"scheduled(alpha={alpha},beta={beta},gamma={CHOICES[1][4][0]},floor=False,optimism={optimism},"
        f"momentum={weight},memory={memory},power={power})"
    )
    tree = rlccfr.load_game(SMALL)
    steered = rlccfr.Solver(tree, control=follow_schedule([0.0], [(8, 4, momentum)]))
    fixed = rlccfr.Solver(tree, rule)
    for solver in (steered, fixed):
        solver.run(iterations=20, curve=False)
    assert regrets(steered) == pytest.approx(regrets(fixed), abs=1e-9)
    assert steered.exploitability() == pytest.approx(fixed.exploitability(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("blend", [False, True])
def test_a_run_goes_on_bitwise_from_a_file_and_with_threads(tmp_path, blend):
    tree = rlccfr.load_game("holdem(ranks=4,suits=2)")
    save_controller(ON_AND_OFF, tmp_path / "schedule.npz", {})
    whole, cut = (
        rlccfr.Solver(tree, control=tmp_path / "schedule.npz", blend=blend, threads=threads)
        for threads in (1, min(CORES, 2))
    )
    for solver in (whole, cut):
        solver.run(iterations=37, curve=False)
    cut.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree, threads=min(CORES, 2))
    for solver in (whole, cut, resumed):
        solver.run(iterations=563, curve=False)
        assert np.array_equal(regrets(solver), regrets(whole))
        assert np.array_equal(public_sums(solver), public_sums(whole))
        assert np.array_equal(solver.average_policy().table, whole.average_policy().table)


def test_a_schedule_ends_better_than_fixed_rules():
    tree = rlccfr.load_game(SMALL)
    found = {
        name: rlccfr.Solver(tree, blend=True, **components).run(iterations=600, curve=False).exploitability
        for name, components in {
            "schedule": {"control": "schedule"},
            "dcfr": {"update_rule": "dcfr"},
            "dcfr_plus": {"update_rule": "dcfr_plus"},
        }.items()
    }
    assert found["schedule"] < 0.01 * min(found["dcfr"], found["dcfr_plus"])


def test_a_controller_that_measures_is_refused():
    with pytest.raises(rlccfr.ComponentError, match="can't observe the run: use the controller 'schedule'"):
        rlccfr.Solver(rlccfr.load_game(SMALL), control="shipped")


@pytest.mark.parametrize(("form", "rule"), [(PUBLIC_TREE, "dcfr"), (SUBGAME, "dcfr_plus")])
def test_budgets_are_steered_where_the_tables_fit(form, rule, monkeypatch):
    """A schedule with momentum has four tables, a plain rule two."""
    tree = rlccfr.load_game(SMALL) if form is PUBLIC_TREE else rlccfr.subgame(**SPOT)
    assert rlccfr.solve(tree, iterations=20).why == "steered exact passes"
    assert rlccfr.solve(tree, iterations=1000).why == "steered exact passes with blends"
    monkeypatch.setattr(public_components, "available_memory", lambda: 30 * tree.num_sequences)
    assert rlccfr.solve(tree, iterations=20).why == f"exact passes by {rule}"
