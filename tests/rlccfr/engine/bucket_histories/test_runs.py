"""Runs on hold'em in buckets: beside the compiled abstract game, and with all options."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support import abstract_game

import rlccfr
from rlccfr.engine.bucket_histories.stepper import sweeps_of

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

SMALL = "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1"
GAMES = [
    (SMALL, 3),
    ("holdem(rounds=4,bet=2,later=5,ranks=5,suits=2,private=1,flop=1", 2),
    ("holdem(rounds=2,raises=2,ranks=4,suits=2,private=2,flop=2", 4),
    ("holdem(rounds=1,raises=3,ranks=6,suits=2", 5),
]
RULES = ["cfr", "cfr_plus", "lcfr", "dcfr", "dcfr_plus", "pcfr_plus", "hs_pcfr_plus", "momentum_dcfr"]


def in_buckets(name, buckets):
    return rlccfr.load_game(f"{name},buckets={buckets})")


def solved(name, buckets, target="2e-5x"):
    solver = rlccfr.Solver(in_buckets(name, buckets), "dcfr_plus")
    assert solver.run(until=target, iterations=50_000).reached
    return solver.average_policy()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("name", "buckets"), GAMES)
def test_runs_are_those_on_the_compiled_abstract_game(name, buckets, rule):
    """After more iterations, rounding decides which of two regrets that tie at 0 is positive."""
    compiled = rlccfr.Solver(rlccfr.load_game(f"{name})"), rule, abstraction=f"equity(buckets={buckets})", reduce=False)
    solver = rlccfr.Solver(in_buckets(name, buckets), rule)
    for iterations in (1, 1, 3):
        compiled.run(iterations=iterations, curve=False)
        solver.run(iterations=iterations, curve=False)
        expected = compiled.abstract_values()
        values = solver.values()
        assert values.game == pytest.approx(expected.game, abs=1e-12)
        assert values.best_response == pytest.approx(expected.best_response, abs=1e-12)


@pytest.mark.parametrize(("name", "buckets"), GAMES)
def test_the_value_is_that_of_a_linear_program(name, buckets):
    compiled = rlccfr.Solver(rlccfr.load_game(f"{name})"), abstraction=f"equity(buckets={buckets})")
    program = rlccfr.solve_exactly(abstract_game(compiled))
    values = solved(name, buckets).values()
    assert -values.best_response[1] - 1e-9 <= program.value <= values.best_response[0] + 1e-9
    assert values.game[0] == pytest.approx(program.value, abs=1e-4)


def test_with_a_bucket_for_each_hand_and_no_board_nothing_is_merged():
    name = "holdem(rounds=1,raises=2,ranks=6,suits=2,private=1"
    whole = rlccfr.Solver(rlccfr.load_game(f"{name})"), "dcfr_plus")
    whole.run(until="2e-5x", iterations=50_000)
    assert solved(name, 6).values().game[0] == pytest.approx(whole.values().game[0], abs=1e-4)


def test_threads_change_no_bit():
    game = in_buckets(SMALL, 3)
    tables = []
    for threads in (1, 2):
        solver = rlccfr.Solver(game, "pcfr_plus", threads=threads)
        solver.run(iterations=50)
        tables.append(solver.average_policy().table)
    assert np.array_equal(*tables)


@pytest.mark.parametrize("rule", ["dcfr", "pcfr_plus", "momentum_dcfr"])
def test_a_saved_run_goes_on_bitwise(rule, tmp_path):
    game = in_buckets(SMALL, 3)
    whole = rlccfr.Solver(game, rule)
    whole.run(iterations=30)
    part = rlccfr.Solver(game, rule)
    part.run(iterations=10)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    part.run(iterations=20)
    assert np.array_equal(part.average_policy().table, whole.average_policy().table)


def test_rules_may_be_switched():
    solver = rlccfr.Solver(in_buckets(SMALL, 3), "cfr")
    solver.run(iterations=20)
    for rule in ("pcfr_plus", "momentum_dcfr", "dcfr_plus"):
        solver.switch(update_rule=rule)
        solver.run(iterations=100)
    assert solver.exploitability() < 0.003


def test_best_responses_are_worth_what_is_said():
    game = in_buckets(SMALL, 3)
    solver = rlccfr.Solver(game, "cfr")
    solver.run(iterations=10)
    policy = solver.average_policy()
    values = policy.values()
    for player in range(2):
        response = policy.best_response(player)
        assert response.values().game[player] == pytest.approx(values.best_response[player], abs=1e-12)
    assert policy.against(policy.best_response()).value < 0
    assert values.game[0] == pytest.approx(-values.game[1])


def test_probabilities_are_the_tables_shares():
    game = in_buckets(SMALL, 3)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(iterations=10)
    policy = solver.average_policy()
    frame = policy.to_frame()
    assert len(frame) == game.num_sequences
    assert frame.groupby(["player", "infoset"])["probability"].sum().to_numpy() == pytest.approx(1)
    letters = policy.action_probabilities("cc/r", 4)
    rows = frame[(frame["player"] == 0) & (frame["infoset"] == "cc/r 4")]
    assert dict(zip(rows["action"], rows["probability"], strict=True)) == letters
    assert sorted(policy.probabilities) == pytest.approx(sorted(frame["probability"]))


def test_policies_are_saved_and_loaded(tmp_path):
    game = in_buckets(SMALL, 3)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(iterations=10)
    policy = solver.average_policy()
    policy.save(tmp_path / "policy.npz")
    loaded = type(policy).load(tmp_path / "policy.npz")
    assert np.array_equal(loaded.table, policy.table)
    assert loaded.game.content_hash == game.content_hash
    with pytest.raises(rlccfr.CheckpointError, match=r"is a policy of .*buckets=3.*, not of .*buckets=2"):
        type(policy).load(tmp_path / "policy.npz", in_buckets(SMALL, 2))


def test_single_precision_is_near_double():
    game = in_buckets(SMALL, 3)
    runs = [rlccfr.Solver(game, "dcfr", dtype=dtype).run(iterations=20) for dtype in ("float32", "float64")]
    assert runs[0].exploitability == pytest.approx(runs[1].exploitability, rel=1e-3)


def test_targets_may_be_in_thousandths_of_a_big_blind():
    solution = rlccfr.solve(in_buckets(SMALL, 3), until="1mbb")
    assert solution.exploitability <= 0.002
    assert solution.policy.exploitability() == pytest.approx(solution.exploitability)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sampler": "external"}, "samplers can draw only deals or boards"),
        ({"update_rule": "ecfr"}, "schedules, but neither functions nor networks"),
        ({"update_rule": "deep_lcfr(fallback='uniform')"}, "schedules, but neither functions nor networks"),
        ({"abstraction": "equity(buckets=2)"}, "leave out the abstraction, and set the buckets in the game's name"),
        ({"abstraction": "cfr_br"}, "best response .* abstraction='none' instead of 'cfr_br'"),
        ({"blend": True}, "no blends"),
        ({"dtype": "int16"}, "dtype='float32' instead of 'int16'"),
        ({"simultaneous": True}, "in alternation"),
        ({"control": "shipped"}, "no controller steers a run: leave it out"),
    ],
)
def test_what_does_not_run_is_refused_in_one_line(arguments, message):
    with pytest.raises(rlccfr.RLCCFRError, match=message) as caught:
        rlccfr.Solver(in_buckets(SMALL, 3), **arguments)
    assert "\n" not in str(caught.value)


def test_a_game_is_freed_with_its_passes():
    import gc
    import weakref

    game = rlccfr.load_game(f"{SMALL},buckets=2)")
    rlccfr.Solver(game, "dcfr").run(iterations=2)
    assert sweeps_of(game, np.dtype(np.float64))
    reference = weakref.ref(game)
    del game
    gc.collect()
    assert reference() is None


def test_the_default_draws_boards_where_exact_passes_are_few():
    """Coarse targets and short budgets are reached sooner by draws, fine targets and long budgets by exact passes."""
    game = in_buckets(*GAMES[0])
    form = game.form
    assert rlccfr.solve(game, until="2e-2x").why == "public_chance by lcfr"
    assert rlccfr.solve(game, until="5e-3x").why == "exact passes by dcfr"
    assert rlccfr.solve(game, iterations=3).why == "exact passes by dcfr"
    assert rlccfr.solve(game, seconds=0.05).why == "exact passes by dcfr"
    cost = 1e-9 * form.part("iteration_cost")(game)
    assert rlccfr.solve(game, seconds=40 * cost).why == "public_chance by lcfr"
    assert rlccfr.solve(game, seconds=40 * cost, until="1e-6x").why.startswith("public_chance by lcfr")


def test_threads_of_python_do_not_disturb_each_other():
    """Runs and evaluations on one game share their working arrays; threads must take turns."""
    game = in_buckets("holdem(rounds=2,ranks=5,suits=2,private=1,flop=1", 4)
    rules = ("cfr", "dcfr_plus")

    def average_of(rule):
        solver = rlccfr.Solver(game, rule)
        solver.run(iterations=400)
        return solver.average_policy().table

    expected = [average_of(rule) for rule in rules]
    with ThreadPoolExecutor(len(rules)) as pool:
        for found in (list(pool.map(average_of, rules)) for _ in range(3)):
            assert all(map(np.array_equal, found, expected))
