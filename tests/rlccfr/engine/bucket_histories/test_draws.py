"""Passes over the bucket histories of drawn boards and deals, against exact passes."""

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from support import place_public, regrets, settle_public

import rlccfr
from rlccfr.engine.bucket_histories.draws import BoardSweeps, HandSweeps, cards_of, kept_showdowns, pending_for
from rlccfr.engine.bucket_histories.sweeps import PassState, Sweeps, scratch_for
from rlccfr.games.public.records import DOUBLE
from rlccfr.kernels.bucket_histories.draws import chance_iterations
from rlccfr.kernels.bucket_histories.passes import NO_PENDING
from rlccfr.kernels.public.workspace import PublicTables
from rlccfr.testing import smallest_p

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

LEVEL = 1e-3
GAMES = [
    "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1,buckets=3)",
    "holdem(rounds=3,ranks=4,suits=2,private=2,flop=2,buckets=2)",
]
PLAIN = np.array([[1.0, 1.0, -np.inf, 1.0, 0.0]] * 2)
"""Schedule without discounts, floor and prediction."""


def empty_tables(game):
    tables = PublicTables.of_one(np.zeros(0))
    return tables._replace(regret=np.zeros(game.num_sequences), policy_sum=np.zeros(game.num_sequences))


def fixed_policy(game):
    return np.random.default_rng(11).random(game.num_sequences)


def exact_sums(game):
    """Return the regrets and the averages' increments of an exact iteration from a fixed policy."""
    tables = empty_tables(game)
    Sweeps(game, DOUBLE).update(PassState(fixed_policy(game), tables, NO_PENDING, PLAIN))
    return tables


def increments_of_draws(game, exact):
    """Return the averages' increments by draws: a history's own are met as often as it is dealt.

    Args:
        exact: increments of an exact iteration, which meets each history once.
    """
    expected = exact.copy()
    for decision in game.decisions:
        dealt = game.matrices(np.dtype(float)).met[decision.round].sum(axis=1)
        decision.of(expected)[:] *= dealt[:, None, None]
    return expected


def boards(game):
    """Yield all boards of a game, as bits of the cards known in each round."""
    deck = game.bucketing.deck
    new_cards = game.bucketing.boards.new_cards

    def further(mask, number):
        if number == len(new_cards):
            yield []
            return
        left = [card for card in range(deck.size) if not mask >> card & 1]
        for chosen in combinations(left, new_cards[number]):
            known = mask | sum(1 << card for card in chosen)
            for masks in further(known, number + 1):
                yield [known, *masks]

    return [np.array(masks) for masks in further(0, 0)]


@pytest.mark.parametrize("kind", [BoardSweeps, HandSweeps])
@pytest.mark.parametrize("name", GAMES)
def test_passes_over_all_boards_add_up_to_an_exact_pass(name, kind):
    game = rlccfr.load_game(name)
    tables = empty_tables(game)
    sweeps = kind(game, DOUBLE)
    all_boards = boards(game)
    for masks in all_boards:
        sweeps.set_board(masks)
        sweeps.update(PassState(fixed_policy(game), tables, NO_PENDING, PLAIN))
    assert tables.regret / len(all_boards) == pytest.approx(exact_sums(game).regret, abs=1e-12)


def deal_batch(game, count, rng):
    """Return the mean regrets and increments of passes over drawn deals from a fixed policy."""
    tables = empty_tables(game)
    most_leaves = max(max(betting.num_folds, betting.num_ends) * betting.num_lines for betting in game.rounds)
    chance_iterations(
        tuple(Sweeps(game, DOUBLE).rounds), tables, fixed_policy(game), pending_for(game), game.bucketing.tables,
        kept_showdowns(game.bucketing), cards_of(game.bucketing), rng, game.rounds[-1].pots,
        np.zeros((2, len(game.rounds), most_leaves)), scratch_for(game, DOUBLE), np.zeros(2, np.int64),
        np.repeat(PLAIN[:1], count + 1, axis=0), np.zeros((count, 3)), 1, 2**62, 0, 2,
    )  # fmt: skip
    return tables.regret / count, tables.policy_sum / count


@pytest.mark.parametrize("name", GAMES)
def test_passes_over_drawn_deals_have_an_exact_pass_as_their_mean(name):
    game = rlccfr.load_game(name)
    exact = exact_sums(game)
    rng = np.array([3], np.uint64)
    estimates, increments = zip(*(deal_batch(game, 2_000, rng) for _ in range(100)), strict=True)
    assert smallest_p(np.array(estimates), exact.regret)[0] > LEVEL
    assert smallest_p(np.array(increments), increments_of_draws(game, exact.policy_sum))[0] > LEVEL


@pytest.mark.parametrize("name", GAMES)
def test_boards_are_drawn_alike(name):
    """Each board's frequency is that of a fair draw."""
    game = rlccfr.load_game(name)
    sweeps = BoardSweeps(game, DOUBLE)
    rng = np.array([7], np.uint64)
    counts: dict[tuple, int] = {tuple(masks.tolist()): 0 for masks in boards(game)}
    draws = 40 * len(counts)
    for _ in range(draws):
        sweeps.draw(rng)
        counts[tuple(sweeps._cards.masks.tolist())] += 1
    expected = draws / len(counts)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    degrees = len(counts) - 1
    assert abs(chi_square - degrees) < 4 * (2 * degrees) ** 0.5


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "lcfr", "cfr_plus", "pcfr_plus"])
@pytest.mark.parametrize(("sampler", "iterations"), [("public_chance", 3_000), ("chance", 100_000)])
def test_runs_come_close_to_an_equilibrium(sampler, iterations, rule):
    game = rlccfr.load_game(GAMES[0])
    solver = rlccfr.Solver(game, rule, sampler)
    start = solver.exploitability()
    solver.run(iterations=iterations)
    assert solver.exploitability() < start / 20


@pytest.mark.parametrize("rule", ["dcfr", "cfr_plus", "pcfr_plus", "cfr_reset(base=3)"])
@pytest.mark.parametrize("sampler", ["public_chance", "chance"])
def test_discounts_wait_until_histories_are_met(sampler, rule):
    """A run whose pending discounts are applied after every iteration has the same tables."""
    game = rlccfr.load_game(GAMES[0])
    lazy, eager = (rlccfr.Solver(game, rule, sampler, seed=5) for _ in range(2))
    for solver in (lazy, eager):  # with regrets so large that policies have no ties, which rounding would break
        place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(game.num_sequences)))
    lazy.run(iterations=20, curve=False)
    for _ in range(20):
        eager.run(iterations=1, curve=False)
        settle_public(eager)
    assert regrets(lazy) == pytest.approx(regrets(eager), rel=1e-12)


def test_a_discount_of_zero_is_applied_as_by_exact_passes():
    """With one round there is one board, so drawing it is an exact pass: policies are read before the discount."""
    game = rlccfr.load_game("holdem(rounds=1,raises=2,ranks=6,suits=2,buckets=4)")
    exact, drawn = (rlccfr.Solver(game, "cfr_reset(base=3)", sampler) for sampler in ("none", "public_chance"))
    for solver in (exact, drawn):
        place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(game.num_sequences)))
    for _ in range(4):
        for solver in (exact, drawn):
            solver.run(iterations=5, curve=False)
        assert regrets(drawn) == pytest.approx(regrets(exact), rel=1e-10, abs=1e-10)
        assert drawn.average_policy().table == pytest.approx(exact.average_policy().table, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("sampler", ["public_chance", "chance"])
def test_a_saved_run_goes_on_bitwise(sampler, tmp_path):
    game = rlccfr.load_game(GAMES[1])
    whole = rlccfr.Solver(game, "dcfr", sampler, seed=2)
    whole.run(iterations=30)
    part = rlccfr.Solver(game, "dcfr", sampler, seed=2)
    part.run(iterations=10)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    part.run(iterations=20)
    assert np.array_equal(part.average_policy().table, whole.average_policy().table)
    assert not np.array_equal(part.average_policy().table, rlccfr.Solver(game, "dcfr").average_policy().table)


def test_samplers_may_be_switched():
    """Discounts that are pending are applied at each switch."""
    solver = rlccfr.Solver(rlccfr.load_game(GAMES[0]), "lcfr", "chance")
    exploitabilities = []
    for sampler in ("public_chance", "none", "chance"):
        solver.run(iterations=2_000)
        exploitabilities.append(solver.exploitability())
        regrets_before = regrets(solver)
        solver.switch(sampler=sampler)
        assert regrets(solver) == pytest.approx(regrets_before)
    assert exploitabilities[2] < exploitabilities[1] < exploitabilities[0]


@pytest.mark.parametrize("threads", [2])
def test_threads_change_no_bit(threads):
    game = rlccfr.load_game(GAMES[1])
    tables = []
    for number in (1, threads):
        solver = rlccfr.Solver(game, "dcfr", "public_chance", threads=number)
        solver.run(iterations=50)
        tables.append(solver.average_policy().table)
    assert np.array_equal(*tables)


@pytest.mark.parametrize(
    ("rule", "sampler", "message"),
    [
        ("cfr", "external", "samplers can draw only deals or boards"),
        ("cfr", "outcome", "samplers can draw only deals or boards"),
        ("momentum_dcfr", "chance", "needs exact passes"),
    ],
)
def test_what_is_not_sound_is_refused(rule, sampler, message):
    with pytest.raises(rlccfr.ComponentError, match=message):
        rlccfr.Solver(rlccfr.load_game(GAMES[0]), rule, sampler)


IN_PLAIN_PYTHON = """
import rlccfr
game = rlccfr.load_game("holdem(rounds=2,ranks=3,suits=2,private=1,flop=1,buckets=2)")
runs = [("pcfr_plus", "none"), ("momentum_dcfr", "none"), ("cfr_reset(base=3)", "chance"), ("dcfr", "chance")]
runs.append(("dcfr", "public_chance"))
for rule, sampler, by_hand in [(*run, False) for run in runs] + [(*runs[-1], True)]:
    solver = rlccfr.Solver(game, rule, sampler, seed=1, by_hand=by_hand)
    solver.run(iterations=5, curve=False)
    print(solver.average_policy().table.tolist(), solver.values())
"""


def test_plain_python_gives_the_same_numbers():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", IN_PLAIN_PYTHON],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disable in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("Values") == 6
