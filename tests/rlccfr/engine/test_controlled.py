"""Runs whose settings a controller picks, against fixed rules, NumPy's networks and a second derivation."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from support import (
    CORES,
    control_memory,
    decisions_of,
    game,
    iterate,
    policy_sums,
    regrets,
    set_policy_sums,
    without_bundles,
)

import rlccfr
from rlccfr.components import UNIT, UpdateRule
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, OF_RUN, SETTINGS, Controller
from rlccfr.controller_schedule import follow_schedule
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import ComponentError, OverflowedError
from rlccfr.kernels.control import control_layout
from rlccfr.kernels.control.looks import next_look

CONTROLLER = Controller.untrained(CHOICES, hidden=(12, 9), seed=5)
(NETWORKS,) = CONTROLLER.members
SEVERAL = Controller.together([Controller.untrained(CHOICES, hidden=(12, 9), seed=seed) for seed in (5, 6, 7)])


def rule(controller: Controller = CONTROLLER) -> UpdateRule:
    return UpdateRule.controlled_by(controller)


def constant(picks) -> Controller:
    """Return a controller with a single choice for each agent."""
    return Controller.untrained(tuple(own[[pick]] for own, pick in zip(CHOICES, picks, strict=True)), (4,))


def settings(picks) -> dict[str, float | bool | None]:
    """Return the hyperparameters of the fixed rule that a constant pick is."""
    chosen = np.concatenate([choices[pick] for choices, pick in zip(CHOICES, picks, strict=True)])
    values = dict(zip(SETTINGS, chosen.tolist(), strict=True))
    floor = bool(values["floor"])
    alpha = values["alpha"] if np.isfinite(values["alpha"]) else None
    beta = values["beta"] if np.isfinite(values["beta"]) and not floor else None
    return {**values, "alpha": alpha, "beta": beta, "floor": floor}


CONSTANT = [
    (0, 0, 0), (0, 2, 6), (2, 4, 2), (4, 1, 0), (6, 5, 3), (10, 7, 5), (9, 3, 1), (11, 0, 0), (8, 4, 13), (3, 3, 8),
    (5, 2, 10), (11, 4, 16),
]  # fmt: skip


def scheduled(picks) -> dict[str, object]:
    return {"id": "scheduled", **settings(picks)}


@pytest.mark.parametrize("picks", CONSTANT)
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_constant_picks_are_a_fixed_rule(name, picks, monkeypatch):
    without_bundles(monkeypatch)  # the fixed rule's passes go over infosets, as those of the controlled run
    run, solver = ControlRun(game(name), CONTROLLER, 60), rlccfr.Solver(game(name), scheduled(picks))
    episode = run.episode(np.full((len(run.marks), 3), picks))
    expected = []
    for iterations in np.diff([*run.marks, 60]):
        solver.run(iterations=int(iterations), curve=False)
        expected.append(solver.exploitability() / rlccfr.Policy.uniform(game(name)).exploitability())
    assert 10.0 ** episode.errors[1:] == pytest.approx(expected, rel=1e-6)
    assert (episode.picks == picks).all()
    assert run.settings == settings(picks)


def test_momentum_begins_anew_after_a_segment_without_it():
    run = ControlRun(game("leduc"), CONTROLLER, 8)
    assert run.marks == (0, 4, 6, 7)
    stepper = run._stepper
    with_momentum, without = (4, 3, 11), (4, 3, 2)
    for picks in (with_momentum, without, without):
        run.step(picks)
        movement = stepper.tables.state[:, 0].copy()
        assert movement.any()  # it rests
    before = stepper.tables.regret.copy()
    run.step(with_momentum)  # a single iteration
    assert stepper.tables.state[:, 0] == pytest.approx(stepper.tables.regret - before, abs=1e-12)


def test_segments_with_and_without_momentum_are_the_same_with_blends():
    picks = np.array([(4, 3, 11), (4, 3, 2), (8, 4, 13), (2, 1, 7), (8, 4, 15)])
    controller = follow_schedule([0.0, 0.1, 0.3, 0.6, 0.8], picks)
    plain, blended = (rlccfr.Solver(game("leduc"), rule(controller), blend=blend) for blend in (False, True))
    for solver in (plain, blended):
        solver.run(iterations=100, curve=False)
    assert np.array_equal(regrets(plain), regrets(blended))


def test_when_the_end_moves_a_schedule_decides_as_seldom_as_networks(monkeypatch):
    without_bundles(monkeypatch)  # as runs with controllers that look
    picks = np.array([(4, 3, 11), (4, 3, 2), (8, 4, 13), (2, 1, 7), (8, 4, 15)])

    def regrets_after_moved_ends() -> np.ndarray:
        solver = rlccfr.Solver(game("leduc"), control=follow_schedule([0.0, 0.1, 0.3, 0.6, 0.8], picks))
        for iterations in (20, 5, 5, 60, 3, 7):
            solver.run(iterations=iterations, curve=False)
        return regrets(solver)

    without_observing = regrets_after_moved_ends()
    monkeypatch.setattr(Controller, "observes_run", True)
    assert np.array_equal(regrets_after_moved_ends(), without_observing)


def test_decisions_are_due_at_powers_of_two_and_near_the_end():
    assert marks_of(1000) == (0, 7, 15, 31, 62, 125, 250, 500, 750, 875)
    assert marks_of(100) == (0, 6, 12, 25, 50, 75, 88)
    assert marks_of(8) == (0, 4, 6, 7)
    assert marks_of(3) == (0,)
    assert marks_of(1) == (0,)


def picked(controller: Controller, observation: np.ndarray) -> list[int]:
    """Return the picks after an observation, by NumPy."""
    picks, given = [], observation
    for agent, own in enumerate(controller.choices):
        total = np.zeros(len(own))
        for networks in controller.members:
            values = given
            for k, (weights, biases) in enumerate(networks[agent]):
                values = values @ weights + biases
                if k < len(networks[agent]) - 1:
                    values = np.maximum(values, 0.0)
            total += values
        picks.append(int(total.argmax()))
        given = np.append(given, np.eye(len(own))[picks[-1]])
    return picks


@pytest.mark.parametrize("controller", [CONTROLLER, SEVERAL])
def test_the_networks_are_numpys(controller):
    episode = ControlRun(game("leduc"), controller, 1000).episode()
    assert [picked(controller, row) for row in episode.observations] == episode.picks.tolist()
    assert len({tuple(picks) for picks in episode.picks.tolist()}) > 1


def test_weights_are_those_of_all_members():
    again = SEVERAL.with_weights(SEVERAL.flat_weights())
    assert len(again.members) == 3
    assert np.array_equal(again.flat_weights(), SEVERAL.flat_weights())
    assert np.array_equal(again.flat_weights()[: len(CONTROLLER.flat_weights())], CONTROLLER.flat_weights())


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_what_agents_see(name):
    """The entries are derived again from the policies of a run without a controller."""
    tree, picks, horizon = game(name), (2, 4, 2), 64
    run = ControlRun(tree, CONTROLLER, horizon)
    seen = run.episode(np.full((len(run.marks), 3), picks)).observations
    solver, uniform = rlccfr.Solver(tree, scheduled(picks), reduce=False), rlccfr.Policy.uniform(tree)
    start, errors, regret = np.log10(uniform.exploitability()), {0: 0.0}, {}
    before = 0.0
    for k in range(1, len(run.marks)):
        mark, last = run.marks[k], run.marks[k - 1]
        solver.run(iterations=mark - last, curve=False)
        average, current = solver.average_policy(), solver.current_policy()
        errors[mark] = np.log10(average.exploitability()) - start
        regret[mark] = np.log10(np.maximum(regrets(solver), 0.0).sum())
        own = dict(zip(OBSERVATION, seen[k], strict=True))
        doublings = np.log2(mark / last) if last else np.inf
        slope = np.clip((errors[mark] - errors[last]) / doublings, -2, 2)
        expected = {
            "iterations": np.log10(1 + mark) / 4,
            "horizon": np.log10(horizon) / 4,
            "share": mark / horizon,
            "error": errors[mark] / 4,
            "slope": slope,
            "earlier_slope": before,
            "current": np.clip(np.log10(current.exploitability()) - start - errors[mark], -2, 2) / 2,
            "start": (start - np.log10(tree.utility_range)) / 2,
        }
        if name != "leduc":  # whose run is over classes, so that means are over other numbers of infosets
            expected["zeros"] = (current.probabilities == 0).mean()
            expected["distance"] = 4 * np.abs(current.probabilities - average.probabilities).mean()
            expected["growth"] = np.clip((regret[mark] - regret[last]) / doublings, -2, 2) if last else 0.0
        assert {entry: own[entry] for entry in expected} == pytest.approx(expected, abs=1e-4)
        before = slope
    assert np.abs(seen).max() <= 4.0
    assert (seen[:, len(OF_RUN) :] == seen[0, len(OF_RUN) :]).all()


def test_agents_see_what_they_picked_last():
    counts = [len(own) for own in CHOICES]
    picks = np.stack([np.random.default_rng(0).integers(count, size=10) for count in counts], axis=1)
    picks[3, 0] = 0  # no discount
    seen = ControlRun(game("kuhn"), CONTROLLER, 1000).episode(picks).observations
    shown = seen[:, [OBSERVATION.index(f"last_{name}") for name in SETTINGS]]
    assert (shown[0] == 0).all()
    for row, made in zip(shown[1:], picks, strict=False):
        chosen = np.concatenate([own[k] for own, k in zip(CHOICES, made, strict=True)])
        alpha, beta, floor, gamma, optimism, momentum, memory, power = chosen
        expected = [alpha / (alpha + 2) if np.isfinite(alpha) else 1.0, min(beta / 2, 1.0), floor, np.log10(1 + gamma)]
        expected += [optimism, momentum, memory, power - 1.0]
        assert row == pytest.approx(expected, abs=1e-6)


def test_steps_make_the_same_run_as_an_episode():
    run = ControlRun(game("leduc"), CONTROLLER, 200)
    episode = run.episode()
    run.restart()
    for k, picks in enumerate(episode.picks):
        assert run.iteration == run.marks[k]
        assert np.array_equal(run.observe(), episode.observations[k])
        run.step(picks)
    run.observe()
    assert run.iteration == 200
    assert run.error == episode.errors[-1]


def test_a_solver_makes_the_same_run_however_it_is_divided():
    tree = game("leduc")
    whole, parts = rlccfr.Solver(tree, rule()), rlccfr.Solver(tree, rule())
    whole.run(iterations=500, curve=False)
    parts.run(iterations=500)
    assert np.array_equal(policy_sums(whole), policy_sums(parts))
    episode = ControlRun(tree, CONTROLLER, 500, keep=True).episode()
    assert np.log10(whole.exploitability() / rlccfr.Policy.uniform(tree).exploitability()) == pytest.approx(
        episode.errors[-1], abs=1e-9
    )


def looks_of(horizon: int) -> list[int]:
    """Return the numbers of iterations at which the average policy of a run is looked at."""
    looks = [int(next_look(0, horizon))]
    while looks[-1] < horizon:
        looks.append(int(next_look(looks[-1], horizon)))
    return looks


def test_policies_are_looked_at_four_times_in_the_last_eighth():
    assert looks_of(1000) == [907, 938, 969, 1000]
    assert looks_of(40) == [37, 38, 39, 40]
    assert looks_of(10) == [10]
    assert looks_of(1) == [1]


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_each_player_keeps_its_best_average_policy(name, monkeypatch):
    """The best are found again from a fixed rule's run, by the values of best responses to its average policies."""
    without_bundles(monkeypatch)  # the fixed rule's passes go over infosets, as those of the controlled run
    tree, picks, horizon = game(name), (3, 5, 6), 200
    steered, fixed = rlccfr.Solver(tree, rule(constant(picks))), rlccfr.Solver(tree, scheduled(picks))
    steered.run(iterations=horizon, curve=False)
    seen = []
    for look in looks_of(horizon):
        fixed.run(iterations=look - fixed.result().iterations, curve=False)
        seen.append(fixed.average_policy())
    responses = np.array([one.values().best_response for one in seen])
    best = [int(responses[:, 1 - player].argmin()) for player in range(2)]
    expected = np.concatenate([seen[best[player]].probabilities[tree.sequences_of(player)] for player in range(2)])
    assert steered.average_policy().probabilities == pytest.approx(expected, abs=1e-9)
    reached = steered.exploitability()
    assert reached == pytest.approx(sum(responses[best[player], 1 - player] for player in range(2)) / 2, rel=1e-6)
    assert reached <= min(one.exploitability() for one in seen) + 1e-12  # Kuhn poker is solved to rounding


def test_between_looks_each_player_has_the_better_of_two_policies():
    tree = game("kuhn")
    steered = rlccfr.Solver(tree, rule(constant((3, 5, 6))))
    steered.run(iterations=100, curve=False)
    kept = steered.average_policy()
    iterate(steered, 3)
    set_policy_sums(steered, tree.sequences_of(0), 1.0)  # the uniform policy, which is worse than what was kept
    present = rlccfr.Policy.from_sums(tree, policy_sums(steered))
    both = (kept.values().best_response, present.values().best_response)
    better = [int(np.argmin([one[1 - player] for one in both])) for player in range(2)]
    assert better == [0, 1]
    own = [(kept, present)[better[player]].probabilities[tree.sequences_of(player)] for player in range(2)]
    assert np.array_equal(steered.average_policy().probabilities, np.concatenate(own))
    assert steered.exploitability() == pytest.approx((both[0][1] + both[1][0]) / 2, rel=1e-9)
    set_policy_sums(steered, slice(1), np.nan)
    with pytest.raises(OverflowedError):
        steered.result()
    overflowed = rlccfr.Policy.from_sums(tree, policy_sums(steered))
    assert np.array_equal(steered.average_policy().probabilities, overflowed.probabilities)
    set_policy_sums(steered, slice(1), 1.0)
    steered.switch(update_rule="dcfr")
    assert steered.exploitability() == pytest.approx(present.exploitability(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.skipif(CORES < 2, reason="one core"))])
def test_policies_kept_are_saved(tmp_path, monkeypatch, threads):
    monkeypatch.setattr("rlccfr.engine.threads.LEAST_COST", 0.0)
    tree, path, saved = game("goofspiel"), tmp_path / "run", []

    def save(share: float) -> None:
        if share > 0.95 and not saved:
            solver.save(path)
            saved.append(solver.result().iterations)

    solver = rlccfr.Solver(tree, control="shipped")
    solver.run(iterations=400, progress=save)
    again = rlccfr.Solver.load(path, threads=threads)
    assert 380 <= saved[0] < 400
    again.run(iterations=400 - saved[0])
    assert np.array_equal(again.average_policy().probabilities, solver.average_policy().probabilities)


def test_a_later_budget_moves_the_horizon():
    solver = rlccfr.Solver(game("kuhn"), rule())
    made = decisions_of(solver)
    solver.run(iterations=100, curve=False)
    solver.run(iterations=300, curve=False)
    assert made == [(t, 100) for t in marks_of(100)] + [(132, 400), (200, 400), (300, 400), (350, 400)]
    solver.run(until=solver.exploitability() / 1.1)
    assert control_memory(solver)["horizon"] == 0


@pytest.mark.parametrize("curve", [False, True])
@pytest.mark.parametrize("blend", [False, True])
def test_a_run_that_knows_what_its_target_needs_is_steered_like_a_run_of_that_length(blend, curve):
    to_target, of_length = (rlccfr.Solver(game("leduc"), control="schedule", blend=blend) for _ in range(2))
    result = to_target.run(500, until="1e-12x", horizon=500, curve=curve)
    assert not result.reached
    assert result.iterations == 500
    of_length.run(500, curve=False)
    assert np.array_equal(regrets(to_target), regrets(of_length))
    assert to_target.exploitability() == of_length.exploitability()


@pytest.mark.parametrize("curve", [False, True])
def test_a_run_that_reaches_its_target_where_it_was_expected_ends_there(curve):
    of_length = rlccfr.Solver(game("leduc"), control="schedule", blend=True)
    target = 1.001 * of_length.run(400, curve=False).exploitability
    result = rlccfr.Solver(game("leduc"), control="schedule", blend=True).run(until=target, horizon=400, curve=curve)
    assert (result.reached, result.iterations) == (True, 400)


def test_a_run_that_misses_its_target_where_it_was_expected_goes_on():
    late, open_end = (rlccfr.Solver(game("leduc"), control="schedule", blend=True) for _ in range(2))
    result = late.run(until="1e-5x", horizon=100, curve=False)
    assert result.reached
    assert 100 < result.iterations < 3 * open_end.run(until="1e-5x", curve=False).iterations


def test_many_small_budgets_are_steered_to_the_end():
    solver = rlccfr.Solver(game("kuhn"), rule())
    made = decisions_of(solver)
    for _ in range(20):
        solver.run(iterations=100, curve=False)
    times = [t for t, _ in made]
    assert times[-1] >= 2000 / 1.5**2
    assert len(times) <= 4 * len(marks_of(2000))
    assert all(later > earlier for earlier, later in pairwise(times))


@pytest.mark.parametrize("curve", [True, False])
def test_a_budget_in_seconds_is_turned_into_iterations(curve):
    solver = rlccfr.Solver(game("leduc"), rule())
    result = solver.run(seconds=0.2, curve=curve)
    memory = control_memory(solver)
    assert memory["seen_at"] > result.iterations / 4
    assert np.log2(memory["decided"] / result.iterations) == pytest.approx(0.0, abs=1.0)
    assert memory["decisions"] <= 2 * len(marks_of(result.iterations))


@pytest.mark.parametrize(("abstraction", "factor"), [("none", 2), ("cfr_br", 4)])
def test_a_budget_in_histories_is_turned_into_iterations(abstraction, factor):
    solver = rlccfr.Solver(game("leduc"), "lcfr", "external")
    solver.run(iterations=50, curve=False)
    solver.switch(update_rule=rule(), sampler="none", abstraction=abstraction)
    made = decisions_of(solver)
    solver.run(nodes=200 * factor * game("leduc").num_histories, curve=False)
    assert {horizon for _, horizon in made} == {250}


def test_a_budget_without_end():
    solver = rlccfr.Solver(game("kuhn"), rule())
    solver.run(iterations=1, curve=False)
    with pytest.raises(KeyboardInterrupt):
        solver.run(iterations=2**63 - 1, progress=interrupt)
    assert control_memory(solver)["horizon"] == 0
    with pytest.raises(KeyboardInterrupt):
        rlccfr.Solver(game("kuhn"), "cfr").run(seconds=1e306, progress=interrupt)


def interrupt(share: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("horizon", [1, 2, 3, 5])
def test_short_runs(horizon):
    solver = rlccfr.Solver(game("kuhn"), rule())
    solver.run(iterations=horizon)
    assert control_memory(solver)["decisions"] == len(marks_of(horizon))


@pytest.mark.parametrize("options", [{"averaging": "pre"}, {"simultaneous": True}, {"abstraction": "cfr_br"}])
def test_options_of_runs(options):
    picks = (3, 3, 2)
    rules = rule(constant(picks)), scheduled(picks)
    steered, fixed = (rlccfr.Solver(game("leduc"), one, **options) for one in rules)
    for solver in (steered, fixed):
        solver.run(iterations=80, curve=False)
    assert policy_sums(steered) == pytest.approx(policy_sums(fixed), rel=1e-6)


def test_a_game_whose_uniform_policy_is_an_equilibrium():
    """Its exploitability is 0 at the start; nothing that agents see may be infinite or out of bounds."""
    run = ControlRun(game("matrix_mp"), CONTROLLER, 64)
    episode = run.episode(np.full((len(run.marks), 3), (3, 2, 1)))
    assert np.isfinite(episode.errors).all()
    assert np.abs(episode.observations).max() <= 4.0


def test_weights_of_an_episode_leave_the_controllers_own():
    run, own = ControlRun(game("kuhn"), CONTROLLER, 64), CONTROLLER.flat_weights().astype(np.float32)
    before, other = run.episode().observations, Controller.untrained(CHOICES, hidden=(12, 9), seed=8).flat_weights()
    assert not np.array_equal(run.episode(weights=other).observations, before)
    assert np.array_equal(CONTROLLER.single_weights, own)
    run.aim(64)
    assert np.array_equal(run.episode().observations, before)


@pytest.mark.skipif(CORES < 2, reason="there is one core")
def test_threads_leave_the_same_bits(monkeypatch):
    monkeypatch.setattr("rlccfr.engine.threads.LEAST_COST", 0.0)
    one, two = (rlccfr.Solver(game("goofspiel"), rule(), threads=threads) for threads in (1, 2))
    for solver in (one, two):
        solver.run(iterations=40, curve=False)
    assert np.array_equal(regrets(one), regrets(two))


def test_switching_to_a_controller_and_away():
    solver = rlccfr.Solver(game("leduc"), "dcfr")
    solver.run(iterations=50)
    before = solver.exploitability()
    solver.switch(update_rule=rule())
    solver.run(iterations=450)
    assert control_memory(solver)["decisions"] == 1 + sum(mark > 50 for mark in marks_of(500))
    solver.switch(update_rule="cfr_plus")
    assert solver.run(iterations=100).exploitability < before


def test_sampling_and_models_are_refused():
    with pytest.raises(ComponentError, match="a controller steers only exact passes: leave out the sampler 'external'"):
        rlccfr.Solver(game("kuhn"), rule(), "external")
    with pytest.raises(ComponentError, match="use abstraction='none'"):
        rlccfr.Solver(game("kuhn"), rule(), "none", "rcfr")
    with pytest.raises(ComponentError, match="needs exact_only=True, a prediction"):
        UpdateRule(controller=CONTROLLER)
    with pytest.raises(ComponentError, match=r"use UpdateRule\.controlled_by"):
        UpdateRule(prediction=UNIT, exact_only=True, controller=CONTROLLER)


def test_controllers_are_checked():
    for broken, message in (
        ({"members": ()}, "for each of discounting, averaging, prediction"),
        ({"members": (NETWORKS[:2],)}, "for each of discounting, averaging, prediction"),
        ({"members": (NETWORKS[::-1],)}, "the network for discounting have the sizes"),
        ({"members": (NETWORKS, *Controller.untrained(CHOICES, (12,)).members)}, "must have the same shapes"),
        ({"choices": (CHOICES[0][:, :2], *CHOICES[1:])}, "a choice for discounting must be 3 numbers"),
        ({"choices": (CHOICES[0], CHOICES[1][:-1], CHOICES[2])}, "end with 7 choices"),
    ):
        with pytest.raises(ComponentError, match=message):
            replace(CONTROLLER, **broken)
    (weights, biases), *rest = NETWORKS[0]
    nothing = ((weights * np.nan, biases), *rest)
    with pytest.raises(ComponentError, match="not finite"):
        replace(CONTROLLER, members=((nothing, *NETWORKS[1:]),))


def test_the_kernels_know_the_settings_in_their_order():
    names = ("ALPHA", "BETA", "FLOOR_IS_ZERO", "GAMMA", "OPTIMISM", "MOMENTUM", "MEMORY", "POWER")
    assert [getattr(control_layout, name) for name in names] == list(range(len(SETTINGS)))
    assert SETTINGS == ("alpha", "beta", "floor", "gamma", "optimism", "momentum", "memory", "power")
    counts = [len(settings) for settings in AGENTS.values()]
    assert (0, *np.cumsum(counts)) == control_layout.FIRST_SETTING
