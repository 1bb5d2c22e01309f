"""Passes with a row for each hand on a board, against passes with a row for each bucket history."""

import json

import numpy as np
import pytest
from support import place_public, public_sums, regrets

import rlccfr

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

GAMES = [
    "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1,buckets=3)",
    "holdem(rounds=3,ranks=4,suits=2,private=2,flop=2,buckets=2)",
]


@pytest.mark.parametrize("rule", ["cfr", "lcfr", "dcfr", "cfr_reset(base=3)"])
@pytest.mark.parametrize("name", GAMES)
def test_runs_by_hand_are_those_by_history(name, rule):
    """Regrets begin without ties, which rounding would break; they are so small that policies change at once."""
    game = rlccfr.load_game(name)
    start = 0.01 * (np.random.default_rng(0).random(game.num_sequences) - 0.3)
    by_history, by_hand = (
        rlccfr.Solver(game, rule, "public_chance", seed=5, by_hand=option) for option in (False, True)
    )
    for solver in (by_history, by_hand):
        place_public(solver, 3, start)
    for iterations in (1, 1, 18):
        for solver in (by_history, by_hand):
            solver.run(iterations=iterations, curve=False)
        for table in (regrets, public_sums):
            expected = table(by_history)
            assert table(by_hand) == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("name", GAMES)
def test_in_single_precision_too(name):
    game = rlccfr.load_game(name)
    start = np.random.default_rng(0).random(game.num_sequences)
    tables = []
    for by_hand in (False, True):
        solver = rlccfr.Solver(game, "lcfr", "public_chance", seed=5, by_hand=by_hand, dtype="float32")
        place_public(solver, 3, start)
        solver.run(iterations=5, curve=False)
        tables.append(public_sums(solver))
    assert tables[1].dtype == np.float32
    assert tables[1] == pytest.approx(tables[0], abs=1e-4 * float(tables[0].max()))


def test_each_hand_counts_as_a_row():
    game = rlccfr.load_game(GAMES[1])
    solvers = [rlccfr.Solver(game, "cfr", "public_chance", by_hand=by_hand) for by_hand in (False, True)]
    for solver in solvers:
        solver.run(iterations=10, curve=False)
    by_history, by_hand = (solver.result().nodes_touched for solver in solvers)
    lines_and_nodes = sum(betting.num_lines * len(betting.nodes) for betting in game.rounds)
    hands = game.bucketing.boards.hands_on_board(2)
    assert by_hand == 10 * 4 * hands * lines_and_nodes
    assert by_history < by_hand


@pytest.mark.parametrize("name", GAMES)
def test_threads_change_no_bit(name):
    game = rlccfr.load_game(name)
    tables = []
    for threads in (1, 2):
        solver = rlccfr.Solver(game, "dcfr", "public_chance", threads=threads, by_hand=True)
        solver.run(iterations=50)
        tables.append(solver.average_policy().table)
    assert np.array_equal(*tables)


def test_a_saved_run_goes_on_bitwise(tmp_path):
    game = rlccfr.load_game(GAMES[1])
    whole, part = (rlccfr.Solver(game, "dcfr", "public_chance", seed=2, by_hand=True) for _ in range(2))
    whole.run(iterations=30)
    part.run(iterations=10)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    assert part.by_hand
    part.run(iterations=20)
    assert np.array_equal(part.average_policy().table, whole.average_policy().table)


def test_a_file_from_before_the_option_is_read(tmp_path):
    solver = rlccfr.Solver(rlccfr.load_game(GAMES[0]), "dcfr", "public_chance")
    solver.run(iterations=3)
    solver.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    del header["options"]["by_hand"]
    np.savez(tmp_path / "old.npz", **{**arrays, "header": np.array(json.dumps(header))})
    loaded = rlccfr.Solver.load(tmp_path / "old.npz")
    assert not loaded.by_hand
    assert np.array_equal(regrets(loaded), regrets(solver))


@pytest.mark.parametrize(
    ("name", "rule", "sampler", "message"),
    [
        ("kuhn", "cfr", "public_chance", "for hold'em in buckets, .* leave out by_hand=True for 'kuhn'"),
        ("holdem(ranks=3,suits=2,private=1,flop=1)", "cfr", "public_chance", "for hold'em in buckets"),
        (GAMES[0], "cfr", "none", "use sampler='public_chance' instead of 'none'"),
        (GAMES[0], "cfr", "chance", "use sampler='public_chance' instead of 'chance'"),
        (GAMES[0], "cfr_plus", "public_chance", "without a floor, .* instead of 'cfr_plus'"),
        (GAMES[0], "dcfr_plus", "public_chance", "without a floor, .* instead of 'dcfr_plus'"),
        (GAMES[0], "pcfr_plus", "public_chance", "without a floor, a prediction .* instead of 'pcfr_plus'"),
        (GAMES[0], "scheduled(floor=False, optimism=1)", "public_chance", "a prediction .* instead of 'scheduled'"),
    ],
)
def test_what_is_another_update_is_refused_in_one_line(name, rule, sampler, message):
    with pytest.raises(rlccfr.ComponentError, match=message) as error:
        rlccfr.Solver(rlccfr.load_game(name), rule, sampler, by_hand=True)
    assert "\n" not in str(error.value)


def test_a_switch_to_another_update_is_refused():
    solver = rlccfr.Solver(rlccfr.load_game(GAMES[0]), "cfr", "public_chance", by_hand=True)
    for components in ({"sampler": "chance"}, {"update_rule": "cfr_plus"}):
        with pytest.raises(rlccfr.ComponentError, match="passes over hands"):
            solver.switch(**components)
    solver.switch(update_rule="lcfr")
    assert solver.run(iterations=3).iterations == 3


def test_the_command_line_has_the_option(run):
    solve = ("solve", GAMES[0], "--update-rule", "lcfr", "--sampler", "public_chance", "--iterations", "5")
    assert run(*solve, "--option", "by_hand=yes", "--checkpoint", "run.npz")[0] == 0
    assert rlccfr.Solver.load("run.npz").by_hand
    code, _, err = run(*solve, "--checkpoint", "run.npz")
    assert (code, err.count("\n")) == (1, 1)
    assert "belongs to another run: its choice of --option by-hand is" in err


def test_by_hand_is_yes_or_no():
    with pytest.raises(rlccfr.ComponentError, match="by_hand must be True or False, not 1"):
        rlccfr.Solver(rlccfr.load_game(GAMES[0]), "cfr", "public_chance", by_hand=1)
