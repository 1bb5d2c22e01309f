"""Exact passes over classes, against passes over the whole game."""

from __future__ import annotations

import json
from itertools import cycle
from random import Random

import numpy as np
import pytest
from random_games import PlantedGame, RandomGame
from support import assert_alike, game, is_reduced, place, policy_sums, regrets

import rlccfr
from rlccfr.catalog import Cell
from rlccfr.components import UpdateRule
from rlccfr.engine import reduced
from rlccfr.envs.measuring.timing import measured_solver
from rlccfr.games.quotient import quotient_of
from rlccfr.registry import update_rules

BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)"
TWO_ROUNDS = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1)"
)
GAMES = ("goofspiel", "leduc", "dark_hex(board_size=2)", BATTLESHIP, TWO_ROUNDS)
RULES = [entry.id for entry in update_rules if not entry.id.startswith("deep_") and entry.make().controller is None]
"""Tabular rules; a controller sees means over what passes run over, so that its choices may differ."""


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    """Use the quotient of every game that has one, whether it saves time or not."""
    monkeypatch.setattr(reduced, "LEAST_GAIN", 0.0)


def start(tree, seed=1):
    """Return random regrets that are equal in each class, so that no two sums of them tie."""
    quotient = quotient_of(tree)
    drawn = np.random.default_rng(seed).normal(size=quotient.num_sequences)
    return drawn[quotient.place]


def pair(tree, rule, **options):
    """Return two solvers with the same tables after three iterations: over classes, and over the whole game."""
    solvers = [rlccfr.Solver(tree, rule, reduce=reduce, **options) for reduce in (True, False)]
    quotient, regret = quotient_of(tree), np.maximum(start(tree), solvers[0].update_rule.floor)
    policy = rlccfr.Policy.from_sums(tree, np.maximum(regret, 0.0)).probabilities[quotient.member][quotient.place]
    for solver in solvers:
        place(solver, 3, regret, policy)
    assert [is_reduced(solver) for solver in solvers] == [True, False]
    return solvers


@pytest.mark.parametrize(
    ("name", "rule"),
    [(GAMES[(number + shift) % len(GAMES)], rule) for number, rule in enumerate(RULES) for shift in (0, 2)],
)
def test_iterates_over_classes_are_those_over_the_game(name, rule):
    one, other = pair(game(name), rule)
    for _ in range(3):
        for solver in (one, other):
            solver.run(iterations=1, curve=False)
        if not assert_alike(one, other):
            break


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["cfr", "dcfr", "pcfr_plus", "hedge"])
def test_iterates_over_royals_classes_are_those_over_the_game(rule):
    one, other = pair(game("royal"), rule)
    for solver in (one, other):
        solver.run(iterations=1, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize("rule", ["cfr", "cfr_plus", "dcfr", "pcfr_plus", "hedge"])
def test_each_of_fifty_iterations_over_leducs_classes_is_that_over_the_game(rule):
    """Each starts from the tables that the last one left over classes, since rounding grows where regrets are small."""
    one, _ = pair(game("leduc"), rule)
    for iteration in range(3, 53):
        other = rlccfr.Solver(game("leduc"), rule, reduce=False)
        place(other, iteration, regrets(one), one.current_policy().probabilities, policy_sums(one))
        for solver in (one, other):
            solver.run(iterations=1, curve=False)
        assert_alike(one, other)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("options", [{"simultaneous": True}, {"averaging": "pre"}])
def test_other_orders_of_updates_give_the_same_iterates_too(name, options):
    one, other = pair(game(name), "dcfr", **options)
    for solver in (one, other):
        solver.run(iterations=3, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize(("name", "rule"), list(zip(cycle(GAMES), RULES)))
def test_runs_over_classes_converge_from_the_uniform_policy(name, rule):
    """Where regrets are 0, rounding may decide the next policy, so this run may part from the whole game's."""
    found, whole = (rlccfr.Solver(game(name), rule, reduce=reduce) for reduce in (True, False))
    assert is_reduced(found)
    found, expected = (solver.run(iterations=500, curve=False).exploitability for solver in (found, whole))
    assert found < 3 * expected + 1e-12


def test_a_run_over_classes_touches_as_many_histories_as_one_over_the_game():
    whole, reduced_ = (rlccfr.Solver(game("leduc"), reduce=reduce) for reduce in (False, True))
    assert whole.run(nodes=10**6).nodes_touched == reduced_.run(nodes=10**6).nodes_touched


def test_best_responses_are_taken_over_classes():
    """In Leduc no two actions of an infoset are in one class, so best responses to policies without ties are unique."""
    one, other = pair(game("leduc"), "cfr", abstraction="cfr_br")
    for solver in (one, other):
        solver.run(iterations=1, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize("name", GAMES)
def test_runs_against_best_responses_converge(name):
    """Where actions are in one class, the two runs may differ in ties; both approach an equilibrium."""
    found = rlccfr.Solver(game(name), "cfr_plus", abstraction="cfr_br")
    assert is_reduced(found)
    uniform = rlccfr.Policy.uniform(game(name)).exploitability()
    assert found.run(iterations=300).exploitability < 0.05 * uniform


def same_iterates(tree):
    """Return whether the game has a quotient; if so, check that a run over it is the same, and that it stays in use."""
    if quotient_of(tree) is None:
        return False
    one, other = pair(tree, "dcfr")
    for solver in (one, other):
        solver.run(iterations=2, curve=False)
    assert_alike(one, other)
    one.switch(update_rule="cfr_plus")
    assert is_reduced(one)
    return True


@pytest.mark.parametrize("hidden", [(), (0,), (1,)])
def test_planted_symmetries_change_no_iterate(hidden, tmp_path):
    games = [PlantedGame(Random(seed), hidden=hidden) for seed in range(20)]
    found = [same_iterates(rlccfr.load_game(one.write(tmp_path / f"{k}.efg"))) for k, one in enumerate(games)]
    assert sum(found) > (10 if hidden else 18)


@pytest.mark.verify
def test_500_random_games_with_planted_symmetries_and_500_without(tmp_path, figures):
    kinds = {"planted": lambda random, k: PlantedGame(random, hidden=((), (0,), (1,))[k % 3]),
             "not planted": lambda random, k: RandomGame(random)}  # fmt: skip
    rows = []
    for kind, make in kinds.items():
        games = (rlccfr.load_game(make(Random(1000 + k), k).write(tmp_path / f"{kind} {k}.efg")) for k in range(500))
        rows.append({"games": kind, "number": 500, "with a quotient": sum(map(same_iterates, games)), "differing": 0})
    figures("Iterates over classes on random games", rows, "Two iterations of DCFR from random tables.")


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_tables_with_numbers_that_are_not_finite_are_not_equal_in_each_class(wrong):
    quotient = quotient_of(game("leduc"))
    table = start(game("leduc"))
    assert quotient.is_constant(table)
    for member in np.flatnonzero(quotient.place == quotient.place[0]):
        spoilt = table.copy()
        spoilt[member] = wrong
        assert not quotient.is_constant(spoilt)


def test_the_whole_game_is_kept_after_samplers_and_where_asked(tmp_path):
    solver = rlccfr.Solver(game("leduc"), "cfr_plus")
    solver.run(iterations=5, curve=False)
    assert is_reduced(solver)
    solver.switch(update_rule="dcfr")
    assert is_reduced(solver)
    solver.switch(sampler="external")
    solver.run(iterations=50, curve=False)
    before = solver.current_policy().probabilities
    solver.switch(sampler="none")
    assert not is_reduced(solver)
    assert np.array_equal(solver.current_policy().probabilities, before)
    assert not is_reduced(rlccfr.Solver(game("leduc"), reduce=False))
    assert not is_reduced(rlccfr.Solver(game("kuhn")))  # nothing to reduce


@pytest.mark.parametrize(
    "components",
    [
        {"update_rule": UpdateRule(fallback="argmax")},
        {"update_rule": "deep_cfr(model='table',preset='sweep')"},
        {"abstraction": "rcfr(model='table')"},
    ],
)
def test_what_could_tell_members_of_a_class_apart_keeps_the_whole_game(components):
    assert not is_reduced(rlccfr.Solver(game("leduc"), **components))


def test_a_quotient_is_used_where_it_saves_time(monkeypatch):
    monkeypatch.undo()
    assert is_reduced(rlccfr.Solver(game("leduc")))
    assert not is_reduced(rlccfr.Solver(game("goofspiel")))  # as many infosets, and twins
    assert quotient_of(game("goofspiel")) is not None


def test_a_saved_run_goes_on_over_classes_as_if_it_had_not_stopped(tmp_path):
    whole, cut = (rlccfr.Solver(game("leduc"), "hs_dcfr") for _ in range(2))
    whole.run(iterations=20, curve=False)
    cut.run(iterations=7, curve=False)
    cut.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert is_reduced(loaded)
    loaded.run(iterations=13, curve=False)
    assert np.array_equal(loaded.average_policy().probabilities, whole.average_policy().probabilities)
    assert np.array_equal(regrets(loaded), regrets(whole))


def test_a_run_of_a_version_without_reductions_goes_on_over_the_whole_game(tmp_path):
    solver = rlccfr.Solver(game("leduc"), reduce=False)
    solver.run(iterations=3, curve=False)
    solver.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    del header["options"]["reduce"]
    np.savez(tmp_path / "old.npz", **{**arrays, "header": np.array(json.dumps(header))})
    assert not is_reduced(rlccfr.Solver.load(tmp_path / "old.npz"))


def first_only(row, state, parameters, utility_range):
    for a in range(len(row)):
        row[a] = 1.0 if a == 0 else 0.0


def loudest(instant_regret, mass, state, parameters, utility_range):
    instant_regret[0] *= 2.0


@pytest.mark.parametrize("functions", [{"policy_map": first_only}, {"reweight": loudest}])
def test_a_rule_that_depends_on_the_order_of_actions_keeps_the_whole_game(functions):
    assert not is_reduced(rlccfr.Solver(game("leduc"), UpdateRule(**functions)))


def test_reduce_is_true_or_false():
    with pytest.raises(rlccfr.ComponentError, match="reduce must be True or False, not 'yes'"):
        rlccfr.Solver(game("kuhn"), reduce="yes")


def test_measurements_use_what_solvers_use():
    assert is_reduced(measured_solver("leduc", Cell("dcfr", "none", "none"), 0))


@pytest.mark.parametrize("name", ["leduc", BATTLESHIP])
def test_a_run_is_evaluated_over_classes_as_its_policies_are_over_the_game(name):
    solver = rlccfr.Solver(game(name), "cfr_plus")
    solver.run(iterations=20)
    assert is_reduced(solver)
    average, current = solver.average_policy().values(), solver.current_policy().exploitability()
    np.testing.assert_allclose(solver.values()[:3], average[:3], rtol=0, atol=1e-13)
    assert solver.points[-1].exploitability == pytest.approx(average.exploitability, abs=1e-13)
    assert solver.points[-1].exploitability_current == pytest.approx(current, abs=1e-13)


def test_a_saved_run_over_the_whole_game_stays_there_though_its_tables_have_become_constant(tmp_path):
    solver = rlccfr.Solver(game("leduc"), "dcfr", "external")
    solver.run(iterations=3, curve=False)
    solver.switch(sampler="none")
    assert not is_reduced(solver)
    size = solver.game.num_sequences
    place(solver, 3, regret=np.ones(size), policy_sum=np.ones(size))
    solver.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = {name: array for name, array in archive.items() if "over_classes" not in name}
    np.savez(tmp_path / "earlier.npz", **arrays)  # does not say whether passes ran over classes
    assert is_reduced(rlccfr.Solver.load(tmp_path / "earlier.npz"))
    assert not is_reduced(rlccfr.Solver.load(tmp_path / "run.npz"))
