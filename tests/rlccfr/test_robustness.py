"""Things that must not go wrong: interrupts, overflow, odd games, wrong arguments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from support import engine_state, game, regrets

import rlccfr
from rlccfr.components import Sampler, UpdateRule, always
from rlccfr.games import compiler
from rlccfr.registry import update_rule, update_rules


@pytest.mark.slow
@pytest.mark.usefixtures("heeds_ctrl_c")
@pytest.mark.parametrize("sampler", ["none", "external"])
def test_after_an_interrupt_tables_and_counts_agree(sampler):
    """The signal arrives while a kernel runs, and Python handles it when the kernel returns."""
    solver = rlccfr.Solver(game("leduc"), "lcfr", sampler, seed=2)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    try:
        with pytest.raises(KeyboardInterrupt):
            solver.run(seconds=60, curve=False)
    finally:
        signal.signal(signal.SIGALRM, earlier)
    reached = solver.result()
    undisturbed = rlccfr.Solver(game("leduc"), "lcfr", sampler, seed=2).run(iterations=reached.iterations, curve=False)
    assert reached.exploitability == undisturbed.exploitability
    assert reached.nodes_touched == undisturbed.nodes_touched
    assert reached.cpu_seconds > 0


def nearly_pure(row, state, parameters, utility_range):
    for a in range(len(row)):
        row[a] = 1.0 if a == 0 else 1e-200


def test_reach_that_rounds_to_nothing_is_still_a_visit():
    rule = UpdateRule(policy_map=nearly_pure)
    solver = rlccfr.Solver(game("leduc"), rule, "chance", walks=2000)
    solver.run(iterations=3)
    assert np.isfinite(regrets(solver)).all()


@pytest.mark.parametrize("sampler", ["none", "external"])
def test_regrets_that_fade_to_nothing_leave_a_policy(sampler):
    """alpha = 0 halves regrets at every iteration, down to the smallest numbers that a float holds."""
    solver = rlccfr.Solver(game("leduc"), rlccfr.catalog.make("dcfr", alpha=0.0), sampler)
    solver.run(iterations=6000, curve=False)
    assert np.isfinite(solver.current_policy().probabilities).all()
    assert np.isfinite(regrets(solver)).all()


def test_an_overflow_is_an_error_not_a_figure():
    solver = rlccfr.Solver(game("kuhn"), UpdateRule(positive_discount=always(1e3), negative_discount=always(1e3)))
    with pytest.raises(rlccfr.OverflowedError, match="overflowed") as error:
        solver.run(iterations=500)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("hyperparameters", "column", "limit"),
    [
        ({"alpha": 400.0}, 0, lambda t: np.where(t > 2, 1.0, np.where(t > 1, 0.5, 0.0))),  # k^400 is 0, 1 or overflows
        ({"beta": -5.0}, 1, lambda t: np.where(t > 1, 1 / (1 + (t - 1) ** 5), 0.0)),
        ({"gamma": 300.0}, 3, lambda t: np.where(t > 1, np.exp(300 * np.log1p(-1 / np.maximum(t, 2))), 0.0)),
    ],
)
def test_extreme_exponents_are_limits(hyperparameters, column, limit):
    """The schedule has its limit where powers overflow or vanish, and a run stays finite."""
    solver = rlccfr.Solver(game("kuhn"), {"id": "dcfr", **hyperparameters})
    rows = solver.update_rule.schedule(1, 4999)
    assert rows[:, column] == pytest.approx(limit(np.arange(1.0, 5001.0)), rel=1e-9, abs=1e-15)
    solver.run(iterations=5000, curve=False)
    assert np.isfinite(regrets(solver)).all()


def test_average_strategy_sampling_samples_against_best_responses_too():
    sampler = rlccfr.catalog.make("average_strategy", epsilon=1e-6, beta=1.0, tau=1.0)
    touched = {
        name: rlccfr.Solver(game("leduc"), "cfr", part, "cfr_br", seed=1).run(iterations=300).nodes_touched
        for name, part in (("all", "external"), ("some", sampler))
    }
    assert touched["some"] < touched["all"]


def test_switching_to_the_same_changes_nothing():
    plain, switched = (rlccfr.Solver(game("leduc"), "cfr_plus", "external", seed=3) for _ in range(2))
    plain.run(iterations=200, curve=False)
    for _ in range(2):
        switched.run(iterations=100, curve=False)
        switched.switch(update_rule="cfr_plus", sampler={"id": "external"})
    assert switched.exploitability() == plain.exploitability()


@pytest.mark.parametrize("name", ["goofspiel(num_cards=1,imp_info=True)", "matrix_mp", "matrix_brps", "blotto"])
@pytest.mark.parametrize("rule", ["cfr", "ecfr"])
def test_odd_games_are_solved(name, rule):
    """Games with no choice, or one choice per player, are solved to regret matching's bound.

    The bound is payoff range x sqrt(actions / T). On the last two games it is below the uniform policy's
    exploitability.
    """
    tree, iterations = game(name), 20_000
    bound = tree.utility_range * np.sqrt(np.diff(tree.view.first_sequence).max() / iterations)
    for sampler in ("none", "external"):
        result = rlccfr.Solver(tree, rule, sampler).run(iterations=iterations)
        assert np.isfinite(result.curve["exploitability_current"]).all()
        assert result.exploitability <= bound + 1e-12
    assert (bound < rlccfr.Policy.uniform(tree).exploitability()) == (name in ("matrix_brps", "blotto"))


@pytest.mark.parametrize(
    "name",
    [3, None, "liars_dice(numdice=0)", "nfg_game", "kuhn_poker(bogus=2)"],
)
def test_what_openspiel_can_not_play_is_one_line(name, capfd):
    with pytest.raises(rlccfr.GameError) as error:
        rlccfr.load_game(name)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_more_children_than_fit_are_refused(monkeypatch):
    monkeypatch.setattr(compiler, "MOST_CHILDREN", 2)
    with pytest.raises(rlccfr.GameError, match="more than 2 children"):
        rlccfr.load_game("kuhn")


@pytest.mark.slow
def test_the_packages_are_there_without_an_import_of_their_own():
    code = "import rlccfr; print(rlccfr.catalog.make('dcfr').id, rlccfr.envs.Budget, rlccfr.agents.SelectorTeam)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.startswith("dcfr")


@pytest.mark.slow
def test_a_flipped_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "solver.npz"
    solver = rlccfr.Solver(game("kuhn"), "ecfr", "variance_reduced")
    solver.run(iterations=5)
    solver.save(path)
    data, expected = path.read_bytes(), engine_state(solver)
    for at in range(0, len(data), 11):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            state = engine_state(rlccfr.Solver.load(path))
        except rlccfr.CheckpointError:
            continue
        assert all(np.array_equal(state[name], array) for name, array in expected.items())


def test_a_checkpoint_of_a_component_that_is_not_registered_says_so(tmp_path):
    @update_rule("test_passing", source="this test")
    def passing() -> UpdateRule:
        return UpdateRule()

    rlccfr.Solver(game("kuhn"), "test_passing").save(tmp_path / "solver.npz")
    del update_rules._entries["test_passing"]
    with pytest.raises(rlccfr.CheckpointError, match="register the component first"):
        rlccfr.Solver.load(tmp_path / "solver.npz")


def test_a_game_loads_where_stderr_is_closed():
    code = "import os; os.close(2); import rlccfr; print(rlccfr.load_game('kuhn').num_infosets)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "12\n"


def test_saved_files_have_the_usual_permissions(tmp_path):
    rlccfr.Solver(game("kuhn")).save(tmp_path / "solver.npz")
    (tmp_path / "other").touch()
    assert os.stat(tmp_path / "solver.npz").st_mode == os.stat(tmp_path / "other").st_mode


def test_numbers_of_numpy_are_numbers():
    solver = rlccfr.Solver(game("kuhn"), {"id": "dcfr", "gamma": np.float64(3)}, seed=np.int64(2), walks=np.int32(1))
    assert solver.run(iterations=np.int64(5)).iterations == 5
    assert solver.run(seconds=np.float32(0.01)).cpu_seconds >= 0.01
    assert type(solver.update_rule.hyperparameters["gamma"]) is float


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: rlccfr.Solver(game("kuhn")).run(iterations=10**400), rlccfr.BudgetError),
        (lambda: rlccfr.Solver(game("kuhn")).run(seconds=10**400), rlccfr.BudgetError),
        (lambda: rlccfr.Solver(game("kuhn"), {"id": "dcfr", "alpha": 10**400}), rlccfr.ComponentError),
        (lambda: rlccfr.Solver(game("kuhn"), simultaneous="yes"), rlccfr.ComponentError),
        (lambda: Sampler(traverser="some"), rlccfr.ComponentError),
        (lambda: Sampler(opponent="subset"), rlccfr.ComponentError),
        (lambda: Sampler(traverser="subset"), rlccfr.ComponentError),
        (lambda: rlccfr.Policy(game("kuhn"), np.ones(3)), rlccfr.PolicyError),
        (lambda: rlccfr.Policy(game("kuhn"), np.ones(24)), rlccfr.PolicyError),
        (lambda: rlccfr.Policy(game("kuhn"), np.full(24, np.nan)), rlccfr.PolicyError),
    ],
)
def test_what_makes_no_sense_is_one_line(call, error):
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_policy_may_be_a_list():
    tree = game("kuhn")
    as_list = rlccfr.Policy(tree, [0.5] * tree.num_sequences)
    assert as_list.exploitability() == rlccfr.Policy.uniform(tree).exploitability()
