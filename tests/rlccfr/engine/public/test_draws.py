"""Passes over public trees that draw outcomes of chance, also where players have ranges."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from public_games import derived_game
from subgames import RIVER
from support import SMALL_DICE, game, place_public, public_sums, regrets, settle_public

import rlccfr
from rlccfr.components import Sampler
from rlccfr.engine.public.draws import DRAWN, drawing_for, draws_of
from rlccfr.games.public.records import DOUBLE
from rlccfr.kernels.public.public_iterations import begin_pass, drawn_passes, end_pass, pass_below
from rlccfr.kernels.public.sweep import UPDATE
from rlccfr.kernels.public.workspace import Outcomes, PublicTables, PublicWorkspace
from rlccfr.testing import smallest_p

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

LEVEL = 1e-3
SAMPLERS = {chance: Sampler(chance=chance, opponent="all") for chance in DRAWN}
NATIVE = (
    "holdem(ranks=3,suits=2,private=1,flop=1)",
    "holdem(ranks=4,suits=2,private=2,flop=2)",
    "holdem(ranks=3,suits=2,private=1,flop=1,rounds=3)",
    "bluff(dice=1,opponent_dice=1)",
)
DERIVED = ("kuhn", "leduc", SMALL_DICE)

TURN = {
    "board": "Td9d6hQc", "pot": 20, "stack": 30, "oop": "AhAs,AhKd:0.5,8d7d:0.5,QhJh", "ip": "AdAh:0.5,QsJh,KdTc:0.25",
    "bets": "75%", "raises": "a",
}  # fmt: skip
FLOP = {  # of one suit, so that the other three are merged in boards and in hands
    "board": "Td9d6d", "pot": 20, "stack": 20, "oop": "AA:0.5,TT", "ip": "AA,KK:0.25,9c9h,9c9s,9h9s", "bets": "a",
}  # fmt: skip
SPOTS = {
    "river": RIVER,
    "turn": TURN,
    "wide turn": TURN | {"oop": "QJ:0.5,AA:0.25,8d7d", "ip": "KTs,TT:0.1,86s:0.75", "bets": "a", "raises": ""},
    "turn of one suit": FLOP | {"board": "Td9d6d2d"},
    "flop": FLOP,
}
"""Ranges that differ in hands and weights, and block each other's hands."""

SUMMED = ("wide turn", "turn of one suit", "flop")
"""Spots on which most pairs of a board and two hands are too rare for a normal distribution of means."""

LOCKED = "locked turn"


@cache
def public(name: str):
    if name == LOCKED:
        lock = {"": {"QhJh": {"c": 0.3, "b15": 0.7}}, "c": {"c": 0.5, "b15": 0.5}}
        return rlccfr.Solver(public("turn"), "cfr", lock=lock).game
    if name in SPOTS:
        return rlccfr.subgame(**SPOTS[name])
    return rlccfr.load_game(name) if name in NATIVE else derived_game(game(name).openspiel_name).public


PLAIN = np.array([[1.0, 1.0, -np.inf, 1.0, 0.0]] * 2)
"""Schedule without discounts, floor and prediction."""


@pytest.mark.verify
@pytest.mark.parametrize("name", [*NATIVE, *DERIVED, *SPOTS, LOCKED])
@pytest.mark.parametrize("chance", SAMPLERS)
def test_estimates_are_unbiased(chance, name, figures):
    """Means of regrets and of the averages' increments equal an exact pass's."""
    # A pass over Bluff is a hundred times longer.
    passes = 10 if name.startswith("bluff") else 2_000 if name in (*SPOTS, LOCKED) else 500
    rows = [row for player in (0, 1) for row in compared(name, chance, player, batches=400, passes=passes)]
    figures(
        f"Draws over public trees: {chance} on {name}", rows, f"{400 * passes:,} passes per player; level {LEVEL:g}."
    )
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL


@pytest.mark.parametrize(("name", "passes"), [("leduc", 100), ("turn", 2_000), ("flop", 2_000)])
@pytest.mark.parametrize("chance", SAMPLERS)
def test_estimates_on_small_games_are_unbiased(chance, name, passes):
    rows = [row for player in (0, 1) for row in compared(name, chance, player, batches=100, passes=passes)]
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL / (2 * len(SAMPLERS))


def compared(name: str, chance: str, player: int, batches: int, passes: int) -> list[dict]:
    """Return a row per kind of estimate, with the smallest p of all that were tested."""
    tree = public(name)
    table = np.random.default_rng(11).random(tree.num_sequences)
    drawing = drawing_for(tree, draws_of(SAMPLERS[chance]), np.array([player], np.uint64))
    workspace = PublicWorkspace.of(tree, DOUBLE, drawing)
    summed = summed_by_line(tree) if name in SUMMED else lambda entries: entries
    exact = [summed(entries) for entries in estimates(tree, player, table, PublicWorkspace.of(tree, DOUBLE), 1)]
    found = []
    for _ in range(batches):
        found.append([summed(sums / passes) for sums in estimates(tree, player, table, workspace, passes)])
    rows = []
    for what, batch, mean in zip(("regrets", "increments"), zip(*found, strict=True), exact, strict=True):
        p, tested = smallest_p(np.array(batch), mean)
        rows.append({"traverser": player, "estimate of": what, "tested": tested, "smallest p (Holm)": p})
    return rows


def summed_by_line(tree):
    """Return a function that sums a table's entries, with random weights, by action and line of actions."""
    names = [re.sub("/[^/]*/", "/", tree.path(node)) for node in tree.decisions.tolist()]  # without boards
    keys = [
        f"{name} {action}"
        for name, actions, rows in zip(names, tree.actions.tolist(), tree.rows.tolist(), strict=True)
        for action in range(actions)
        for _ in range(rows)
    ]
    _, places = np.unique(keys, return_inverse=True)
    weights = np.random.default_rng(12).random(len(keys))
    return lambda entries: np.bincount(places, weights * entries)


def estimates(tree, player, table, workspace, passes):
    """Return the sums of a player's regrets and of the other's increments over passes with a fixed policy."""
    outcomes, tables = Outcomes.of(tree, DOUBLE), PublicTables.of_one(np.zeros(len(table)))
    tables = tables._replace(policy_sum=np.zeros(len(table)))
    if workspace.drawing.draws_public:
        drawn_passes(tree.view, player, table, tables, workspace, outcomes, PLAIN, passes)
    else:
        begin_pass(tree.view, player, table, tables, workspace, outcomes, PLAIN, UPDATE)
        pass_below(tree.view, player, table, tables, workspace, outcomes, PLAIN, UPDATE, 0, len(tree.view.outcomes))
        end_pass(tree.view, player, table, tables, workspace, outcomes, PLAIN, UPDATE)
    return tables.regret, tables.policy_sum


@pytest.mark.parametrize("name", [NATIVE[1], "turn", LOCKED])
@pytest.mark.parametrize("rule", ["dcfr", "cfr_plus", "pcfr_plus", "cfr_reset"])
@pytest.mark.parametrize("chance", SAMPLERS)
def test_discounts_wait_until_tables_are_met(chance, rule, name):
    """A run whose pending discounts are applied after every iteration has the same tables."""
    tree = public(name)
    lazy, eager = (rlccfr.Solver(tree, rule, SAMPLERS[chance], seed=5) for _ in range(2))
    for solver in (lazy, eager):  # with regrets so large that policies have no ties, which rounding would break
        place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(tree.num_sequences)))
    lazy.run(iterations=20, curve=False)
    for _ in range(20):
        eager.run(iterations=1, curve=False)
        settle_public(eager)
    settle_public(lazy)
    assert regrets(lazy) == pytest.approx(regrets(eager), abs=1e-12)
    assert public_sums(lazy) == pytest.approx(public_sums(eager), abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "river"])
@pytest.mark.parametrize("rule", ["dcfr", "pcfr_plus"])
def test_public_chance_is_an_exact_pass_where_no_chance_is_public(rule, name):
    tree = public(name)
    exact, drawn = (rlccfr.Solver(tree, rule, sampler) for sampler in ("none", SAMPLERS["public"]))
    for solver in (exact, drawn):
        place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(tree.num_sequences)))
        solver.run(iterations=10, curve=False)
    assert regrets(drawn) == pytest.approx(regrets(exact), abs=1e-12)
    assert public_sums(drawn) == pytest.approx(public_sums(exact), abs=1e-12)


@pytest.mark.parametrize(
    "chance", ["one", *(pytest.param(one, marks=pytest.mark.slow) for one in SAMPLERS if one != "one")]
)
def test_runs_with_draws_converge(chance):
    solver = rlccfr.Solver(public("leduc"), "lcfr", SAMPLERS[chance], seed=2)
    assert solver.run(iterations=100_000, curve=False).exploitability < 0.1


@pytest.mark.parametrize(
    "chance", ["public", *(pytest.param(one, marks=pytest.mark.slow) for one in SAMPLERS if one != "public")]
)
def test_runs_with_draws_converge_on_spots(chance):
    """An exact run's bounds hold the value of a sampled run's policy, which is close to an equilibrium."""
    tree = public("turn")
    solver = rlccfr.Solver(tree, "lcfr", SAMPLERS[chance], seed=2)
    result = solver.run(iterations=100_000 if chance == "public" else 500_000, curve=False)
    assert result.exploitability < 0.01 * tree.pot
    exact = rlccfr.Solver(tree, "dcfr")
    exact.run(until="0.01%", curve=False)
    assert solver.values().game[0] == pytest.approx(exact.values().game[0], abs=2 * result.exploitability)


def test_regrets_are_told_with_the_discounts_that_are_pending():
    solver = rlccfr.Solver(public(NATIVE[1]), "dcfr", SAMPLERS["one"], seed=5)
    solver.run(iterations=20, curve=False)
    told = regrets(solver)
    settle_public(solver)
    assert told == pytest.approx(regrets(solver), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "sampler"), [(NATIVE[1], "chance"), ("turn", "public_chance"), ("turn", "chance"), ("flop", "chance")]
)
def test_a_run_with_draws_goes_on_bitwise(name, sampler, tmp_path):
    tree = public(name)
    whole, part = (rlccfr.Solver(tree, "pdcfr_plus", sampler, seed=4) for _ in range(2))
    part.run(iterations=50, curve=False)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    for solver, iterations in ((part, 50), (whole, 100)):
        solver.run(iterations=iterations, curve=False)
    assert np.array_equal(regrets(whole), regrets(part))
    assert np.array_equal(public_sums(whole), public_sums(part))


@pytest.mark.parametrize("name", [NATIVE[1], "turn"])
def test_the_sampler_changes_during_a_run(name):
    solver = rlccfr.Solver(public(name), "dcfr", SAMPLERS["one"], seed=5)
    solver.run(iterations=20, curve=False)
    before = regrets(solver)
    for sampler in ("none", SAMPLERS["public"], SAMPLERS["own"]):
        solver.switch(sampler=sampler)
        assert regrets(solver) == pytest.approx(before, abs=1e-12)
        solver.run(iterations=5, curve=False)
        before = regrets(solver)


@pytest.mark.parametrize("name", [NATIVE[0], "turn"])
def test_other_samplers_are_refused_in_one_line(name):
    tree = public(name)
    with pytest.raises(rlccfr.ComponentError, match="samplers can draw only chance outcomes"):
        rlccfr.Solver(tree, "cfr", "external")
    with pytest.raises(rlccfr.ComponentError, match="leave out walks=2"):
        rlccfr.Solver(tree, "cfr", "chance", walks=2)
