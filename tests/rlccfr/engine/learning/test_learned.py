"""Iterations whose policies come from models. With exact tables as models they equal the tabular iterations."""

from __future__ import annotations

import concurrent.futures
import gc
import itertools
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from pairs import pairwise_cases
from scipy import stats
from support import (
    engine_state,
    game,
    learners,
    model_policies,
    pending_increment,
    place,
    policy_sums,
    regrets,
    weak_internals,
)

import rlccfr
from rlccfr import interrupts
from rlccfr.catalog import make
from rlccfr.catalog.catalog import DEEP_RULES, SAMPLERS, TABULAR_RULES
from rlccfr.components import Abstraction, UpdateRule
from rlccfr.errors import FailedRunError
from rlccfr.interrupts import uninterrupted

WALKS = 5
# Hyperparameters where the tabular rule's defaults differ from the deep rule's.
TABULAR = {"deep_dcfr_plus": {"alpha": 2.0, "gamma": 2.0}}


def exact(id: str, **more) -> UpdateRule:
    """Return a deep rule with tables as models, one fit per iteration, uniform where no regret is positive."""
    settings = {"model": "table", "traversals": WALKS, "train_every": 1, "memory": 300_000, **more}
    return replace(make(id, **settings), fallback="uniform")


def tabular(id: str) -> UpdateRule:
    return make(id.removeprefix("deep_"), **TABULAR.get(id, {}))


def assert_same(ours: rlccfr.Solver, theirs: rlccfr.Solver, *, averages: bool = True) -> None:
    """Compare regrets to 1e-6, and policies and averages too wherever their table holds more than rounding errors."""
    tree = ours.game
    regret = regrets(theirs)
    scale = max(1.0, np.abs(regret).max())
    assert regrets(ours) == pytest.approx(regret, abs=1e-6 * scale)
    sums = policy_sums(theirs)
    compared = [(rlccfr.Solver.current_policy, np.maximum(regret, 0)), (rlccfr.Solver.average_policy, sums)]
    for policy, table in compared if averages else compared[:1]:
        total = np.repeat(np.add.reduceat(table, tree.view.first_sequence[:-1]), np.diff(tree.view.first_sequence))
        clear = total > 1e-9 * max(1.0, table.max())
        assert policy(ours).probabilities[clear] == pytest.approx(policy(theirs).probabilities[clear], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "sampler", "name", "iterations"),
    [
        *((rule, sampler, "kuhn", 200) for rule, sampler in itertools.product(DEEP_RULES, SAMPLERS)),
        *((rule, sampler, "leduc", 20) for rule, sampler in zip(DEEP_RULES, itertools.cycle(SAMPLERS))),
    ],
)
def test_with_an_exact_fit_a_deep_rule_is_its_tabular_rule(rule, sampler, name, iterations):
    """Regrets and policies agree, although V comes from masses and relabelled rows, never from the regret table.

    Both averages are tables, because a model of the average knows nothing of infosets that were never visited.
    """
    # With these seeds no regrets tie exactly; at a tie rounding would pick the policy, and the runs would part.
    seed = 3 if rule == "deep_dcfr" else 4
    deep = rlccfr.Solver(game(name), exact(rule), sampler, seed=seed)
    table = rlccfr.Solver(game(name), tabular(rule), sampler, seed=seed, walks=WALKS)
    for solver in (deep, table):
        solver.run(iterations=iterations, curve=False)
    assert_same(deep, table)


@pytest.mark.parametrize(("rule", "sampler"), list(zip(DEEP_RULES, itertools.cycle(("none", "external", "outcome")))))
def test_an_exact_fit_does_not_need_alternation_or_matching_averages(rule, sampler, tmp_path):
    """A run can also be resumed: at an iteration's end, no increment of the average is pending."""
    for options in ({"simultaneous": True}, {"averaging": "pre"}, {"simultaneous": True, "averaging": "pre"}):
        if sampler != "none" and "simultaneous" not in options:
            continue
        deep = rlccfr.Solver(game("kuhn"), exact(rule), sampler, **options)
        table = rlccfr.Solver(game("kuhn"), tabular(rule), sampler, walks=WALKS, **options)
        for solver in (deep, table):
            solver.run(iterations=1, curve=False)
        assert_same(deep, table)
        for solver in (deep, table):
            solver.run(iterations=49, curve=False)
        assert_same(deep, table)
        assert not pending_increment(deep).any()


@pytest.mark.parametrize("sampler", ["none", "external", "outcome", "average_strategy"])
@pytest.mark.parametrize("rule", ["deep_cfr", "deep_cfr_plus", "deep_ecfr"])
def test_against_best_responses_too(rule, sampler):
    """The test makes few iterations, because best responses tie exactly on Kuhn, and then rounding picks one."""
    deep = rlccfr.Solver(game("leduc"), exact(rule), sampler, "cfr_br", seed=1)
    table = rlccfr.Solver(game("leduc"), tabular(rule), sampler, "cfr_br", seed=1, walks=WALKS)
    for solver in (deep, table):
        solver.run(iterations=2, curve=False)
    assert_same(deep, table)


@pytest.mark.parametrize(
    ("rule", "sampler"),
    [
        *itertools.product((*TABULAR_RULES, "hs_dcfr", "pcfr_plus", "hedge"), ("none",)),
        *zip((*TABULAR_RULES, "hs_dcfr"), itertools.cycle(("external", "outcome", "variance_reduced"))),
    ],
)
def test_an_exact_regressor_is_the_regret_table(rule, sampler):
    """With an exact fit, regression CFR equals its update rule with a table.

    With a sampler, a table keeps the policy of an infoset's last visit, with the prediction or rate of that iteration.
    A model computes every policy again. So rules with predictions or rates are compared in exact passes only. Averages
    too are compared in exact passes only, because with a sampler a table's average is sampled and a regressor's exact.
    """
    regressor = make("rcfr", model="table", traversals=WALKS)
    fitted = rlccfr.Solver(game("kuhn"), rule, sampler, regressor, seed=2)
    bootstrapped = rlccfr.Solver(game("kuhn"), rule, sampler, replace(regressor, bootstrap=True), seed=2)
    table = rlccfr.Solver(game("kuhn"), rule, sampler, seed=2, walks=WALKS)
    for solver in (fitted, bootstrapped, table):
        solver.run(iterations=100, curve=False)
    assert_same(fitted, table, averages=sampler == "none")
    assert_same(bootstrapped, table, averages=sampler == "none")


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("rule", ["pcfr_plus", "pdcfr_plus", "hs_pcfr_plus"])
def test_predictions_are_folded_alike_with_and_without_a_regressor(rule, name):
    """The kernels have two paths, the general and the fast one. Random regrets avoid ties."""
    tree = game(name)
    regret = np.random.default_rng(0).random(tree.num_sequences)
    fitted = rlccfr.Solver(tree, rule, abstraction=make("rcfr", model="table"))
    table = rlccfr.Solver(tree, rule)
    for solver in (fitted, table):
        place(solver, 5, regret)
        solver.run(iterations=8, curve=False)
    assert_same(fitted, table)


@pytest.mark.parametrize("rule", ["deep_cfr", "deep_ecfr_plus"])
def test_under_a_deep_rule_a_regressor_is_the_form_of_the_network(rule):
    scalar = rlccfr.Solver(game("kuhn"), exact(rule), "external", "rcfr", seed=4)
    vector = rlccfr.Solver(game("kuhn"), exact(rule), "external", seed=4)
    for solver in (scalar, vector):
        solver.run(iterations=50, curve=False)
    assert np.array_equal(scalar.current_policy().probabilities, vector.current_policy().probabilities)


@pytest.mark.parametrize("sampler", ["none", "external"])
@pytest.mark.parametrize(
    "ids",
    [("cfr", "deep_cfr", "cfr"), ("dcfr", "deep_dcfr", "dcfr"), ("cfr_plus", "deep_cfr_plus", "cfr_plus"),
     ("ecfr", "deep_ecfr", "ecfr"), ("deep_cfr", "deep_cfr_plus", "deep_ecfr_plus"), ("dcfr", "deep_cfr", "dcfr_plus")],
)  # fmt: skip
def test_switching_between_tables_networks_and_regressors_loses_nothing(ids, sampler):
    """With exact fits, a run through deep rules and regressors equals the run through their tabular rules."""
    exactly = sampler == "none"  # a regressor's average is exact, a table's sampled
    deep = rlccfr.Solver(game("kuhn"), _exact_or_table(ids[0]), sampler, seed=6, walks=WALKS)
    table = rlccfr.Solver(game("kuhn"), tabular(ids[0]), sampler, seed=6, walks=WALKS)
    steps = [(ids[0], "rcfr"), (ids[1], "none"), (ids[1], "rcfr"), (ids[2], "none")]
    for number, (id, abstraction) in enumerate([(ids[0], "none"), *steps]):
        if number:
            regressor = make("rcfr", model="table", traversals=WALKS) if abstraction == "rcfr" else Abstraction()
            deep.switch(update_rule=_exact_or_table(id), abstraction=regressor)
            table.switch(update_rule=tabular(id))
        for solver in (deep, table):
            solver.run(iterations=15, curve=False)
        assert_same(deep, table, averages=exactly or not number)


def _exact_or_table(id: str) -> UpdateRule:
    return exact(id) if id.startswith("deep_") else tabular(id)


@pytest.mark.slow
def test_a_switch_of_the_sampler_or_the_opponent_keeps_the_networks():
    solver = rlccfr.Solver(game("kuhn"), "deep_cfr_plus", "external")
    solver.run(iterations=20, curve=False)
    before = solver.current_policy().probabilities
    for change in ({"sampler": "none"}, {"abstraction": "cfr_br"}):
        players = learners(solver)
        solver.switch(**change)
        assert learners(solver) is players
        assert np.array_equal(solver.current_policy().probabilities, before)
    solver.switch(abstraction="rcfr")
    assert learners(solver) is not players


@pytest.mark.slow
@pytest.mark.parametrize("switched_at", [25, 30])
def test_values_of_histories_are_learned_right_after_a_switch(switched_at, tmp_path):
    """Fits are due every 10 iterations, but the first one follows the first walks that count visits."""
    solver = rlccfr.Solver(game("kuhn"), "cfr", "external", seed=2)
    solver.run(iterations=switched_at, curve=False)
    solver.switch(sampler="escher(value='network',preset='sweep')")
    is_decision = solver.game.histories["infoset"] >= 0
    solver.run(iterations=1, curve=False)
    assert not engine_state(solver)["values_fitted_1"][:, is_decision].any()
    solver.save(tmp_path / "run.npz")
    for continued in (solver, rlccfr.Solver.load(tmp_path / "run.npz", game=solver.game)):
        continued.run(iterations=1, curve=False)
        learned = engine_state(continued)["values_fitted_1"][:, is_decision]
        assert learned.any()
        continued.run(iterations=1, curve=False)
        np.testing.assert_array_equal(engine_state(continued)["values_fitted_1"][:, is_decision], learned)


def test_networks_take_over_from_tables_and_tables_from_networks():
    """Real networks start near the tables' average policy, and leave tables that continue to converge.

    At the switch, exploitability rises by less than a tenth of the uniform policy's. After the switch back, 1,000 exact
    iterations bring it below its value after the first 100.
    """
    solver = rlccfr.Solver(game("leduc"), "dcfr", "none")
    before = solver.run(iterations=100, curve=False).exploitability
    solver.switch(update_rule={"id": "deep_dcfr", "preset": "sweep"})
    assert solver.exploitability() < before + 0.1 * rlccfr.Policy.uniform(game("leduc")).exploitability()
    solver.run(iterations=20, curve=False)
    solver.switch(update_rule="dcfr")
    assert solver.run(iterations=1_000, curve=False).exploitability < before


def test_the_bootstrapped_form_is_what_its_source_fits():
    """With exact passes and a table as the network: V <- D max(V, 0) + r / (reach of chance and the opponent)."""
    solver = rlccfr.Solver(game("kuhn"), exact("deep_dcfr_plus", mode="bootstrapped"))
    values, masses = np.zeros(24), []
    learner = learners(solver)[0]
    seen = learner.observe

    def observe(mass, gain, now):
        counts = np.diff(solver.game.view.first_sequence)
        wide = np.repeat(mass, counts)
        masses.append(wide.copy())
        newest = np.divide(gain, wide, out=np.zeros(24), where=wide > 0)
        values[:] = np.where(wide > 0, now[0] * np.maximum(values, 0) + newest, values)
        seen(mass, gain, now)

    learner.observe = observe
    solver.run(iterations=30, curve=False)
    first = solver.game.sequences_of(0)
    assert learner._advantages.predicted_regrets() == pytest.approx(values[first], abs=1e-9)
    assert len(masses) == 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learning", "kept", "model"),
    pairwise_cases([("deep_cfr", 1), ("deep_lcfr", 3), ("deep_ecfr_plus", 1)], [0, 4, 100], ["table", "mlp"]),
)
def test_kept_value_networks_mix_to_the_average_policy(learning, kept, model):
    """The policies' sequence forms, weighted by their shares, add up to the average's, as SD-CFR claims."""
    tree = game("kuhn")
    rule, every = learning
    chosen = make(rule, model=model, average="value_networks", preset="sweep", train_every=every, kept_networks=kept)
    solver = rlccfr.Solver(tree, chosen, "external", seed=1)
    solver.run(iterations=20, curve=False)
    assert kept != 4 or len(learners(solver)[0].played) == 1 + 4
    ahead = chosen.schedule(21, 0)[0]
    for player, learner in enumerate(learners(solver)):
        sequences = tree.sequences_of(player)
        mixture = np.zeros(tree.num_sequences)
        for number in range(len(learner.played)):
            row = learner.predicted_regrets_of(number)
            policy = tree.uniform_policy()
            policy[sequences] = learner.played.first if row is None else model_policies(solver, player, row, ahead)
            mixture += learner.played.shares()[number] * reach(tree, policy)
        assert learner.played.shares().sum() == pytest.approx(1.0)
        found = rlccfr.Policy.from_sums(tree, mixture).probabilities[sequences]
        assert found == pytest.approx(solver.average_policy().probabilities[sequences], abs=1e-6)


def reach(tree, policy: np.ndarray) -> np.ndarray:
    """Return the owner's own reach of each sequence, (m,)."""
    found = np.ones(tree.num_sequences + 2)
    for infoset in range(tree.num_infosets):
        sequences = tree.infoset_sequences(infoset)
        found[sequences] = found[tree.view.parent[infoset]] * policy[sequences]
    return found[:-2]


@pytest.mark.slow
@pytest.mark.parametrize("before", ["nothing", "a tabular rule"])
def test_episodes_with_drawn_policies_are_played_as_by_the_average_policy(before):
    """The mean reach over 3,000 draws is the average policy's: largest |z|, Bonferroni-corrected, at level 1e-3."""
    tree, draws = game("kuhn"), 3_000
    solver = rlccfr.Solver(tree, "cfr")
    if before == "a tabular rule":
        solver.run(iterations=30, curve=False)
    solver.switch(update_rule=make("deep_lcfr", model="table", average="value_networks", train_every=2))
    solver.run(iterations=12, curve=False)
    found = np.array([reach(tree, solver.draw_policy(seed).probabilities) for seed in range(draws)])
    expected = reach(tree, solver.average_policy().probabilities)
    error = found.std(axis=0, ddof=1) / np.sqrt(draws)
    assert found[:, error < 1e-12].mean(axis=0) == pytest.approx(expected[error < 1e-12], abs=1e-9)
    z = np.abs(found.mean(axis=0) - expected)[error >= 1e-12] / error[error >= 1e-12]
    assert len(z) > 10
    assert 2 * stats.norm.sf(z.max()) * len(z) > 1e-3


@pytest.mark.parametrize("solver", [("deep_cfr",), ("cfr",)], ids=["networks", "tables"])
def test_policies_can_be_drawn_only_where_networks_are_kept(solver):
    with pytest.raises(rlccfr.ComponentError, match="value_networks"):
        rlccfr.Solver(game("kuhn"), *solver).draw_policy(0)


def test_fits_are_as_rare_as_they_are_told_to_be():
    solver = rlccfr.Solver(game("kuhn"), make("deep_cfr", train_every=4), "external")
    policies = [solver.run(iterations=1, curve=False) and solver.current_policy().probabilities for _ in range(9)]
    changes = [not np.array_equal(a, b) for a, b in itertools.pairwise(policies)]
    assert changes == [False, False, True, False, False, False, True, False]


def test_a_small_memory_forgets_but_still_learns():
    solver = rlccfr.Solver(game("kuhn"), make("deep_cfr", model="table", memory=50, train_every=1), "external")
    result = solver.run(iterations=500, curve=False)
    assert result.exploitability < 0.5 * rlccfr.Policy.uniform(game("kuhn")).exploitability()
    sizes = [a for name, a in engine_state(solver).items() if name.endswith("memory.infoset")]
    assert sizes
    assert all(len(rows) == 50 for rows in sizes)


@pytest.mark.slow
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_waits_for_the_iteration_to_end():
    """The interrupt is raised, and tables and counts are those of whole iterations."""
    stopped, whole = (rlccfr.Solver(game("kuhn"), "deep_cfr", "external", seed=1) for _ in range(2))
    learner = learners(stopped)[0]
    learn = learner.learn

    def interrupted(state, iteration, row):
        if iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return learn(state, iteration, row)

    learner.learn = interrupted
    with pytest.raises(KeyboardInterrupt):
        stopped.run(iterations=10, curve=False)
    assert stopped.result().iterations == 3
    stopped.run(iterations=7, curve=False)
    whole.run(iterations=10, curve=False)
    assert np.array_equal(stopped.average_policy().probabilities, whole.average_policy().probabilities)


def test_a_switch_that_fails_or_is_interrupted_leaves_the_solver_whole(monkeypatch):
    """Ctrl-C takes effect after the switch; an error undoes the switch."""
    solver, untouched = (rlccfr.Solver(game("kuhn"), "dcfr", "external", seed=2) for _ in range(2))
    for one in (solver, untouched):
        one.run(iterations=30, curve=False)
    with monkeypatch.context() as patched:
        patched.setattr("rlccfr.engine.learning.deep_player.DeepPlayer.enter", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            solver.switch(update_rule="deep_dcfr")
    assert solver.update_rule.id == "dcfr"
    for one in (solver, untouched):
        one.run(iterations=30, curve=False)
    for name, array in engine_state(untouched).items():
        assert np.array_equal(array, engine_state(solver)[name]), name


def test_a_take_over_counts_as_engine_time():
    solver = rlccfr.Solver(game("kuhn"), "dcfr")
    before = solver.run(iterations=30, curve=False).cpu_seconds
    solver.switch(update_rule="deep_dcfr")
    assert solver.result().cpu_seconds > before + 0.01


def test_other_threads_have_no_ctrl_c_to_hold_back():
    done = []

    def work():
        with uninterrupted():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"id": "deep_cfr", "preset": "quick"}, "preset must be one of"),
        ({"id": "deep_cfr", "model": "tree"}, "model must be 'mlp' or 'cards' or 'table', not 'tree'"),
        ({"id": "deep_cfr", "average": "none"}, "average must be 'network' or"),
        ({"id": "deep_cfr", "device": "tpu"}, "device must be one of"),
        ({"id": "deep_cfr", "hidden": 0}, "hidden must lie in"),
        ({"id": "deep_cfr", "hidden": 1.5}, "hidden must be of type int"),
        ({"id": "deep_cfr", "retrain_from_scratch": 1}, "retrain_from_scratch must be of type bool"),
        ({"id": "deep_cfr", "mode": "bootstrapped"}, "no hyperparameter 'mode'"),
        ({"id": "deep_cfr_plus", "mode": "boot"}, "mode must be"),
        ({"id": "deep_cfr", "kept_networks": 5}, "kept_networks needs average='value_networks'"),
        ({"id": "deep_dcfr", "skipped_steps": 5}, "skipped_steps needs a rule whose data keep their original targets"),
        ({"id": "deep_cfr", "retrain": "never"}, "retrain must be 'always' or 'linear' or 'exponential'"),
    ],
)
def test_settings_are_checked_in_one_line(spec, message):
    with pytest.raises(rlccfr.ComponentError, match=message) as error:
        rlccfr.Solver(game("kuhn"), spec)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"floor": -1.0}, "must use regret matching"),
        ({"prediction": lambda t: 1.0}, "must use regret matching"),
        ({"floor": 0.0}, "must relabel"),
        ({"negative_discount": lambda t: 0.5}, "must relabel"),
        ({"reweight": lambda *_: None}, "need an action_weight"),
    ],
)
def test_networks_are_told_enough_to_be_the_rule(wrong, message):
    networks = make("deep_cfr").networks
    with pytest.raises(rlccfr.ComponentError, match=message):
        UpdateRule(networks=networks, **wrong)


@pytest.mark.slow
def test_torchs_threads_come_back_when_the_last_solver_is_done():
    before = torch.get_num_threads()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = [
            pool.submit(rlccfr.Solver(game("kuhn"), "deep_cfr", seed=seed).run, iterations=20, curve=False)
            for seed in range(6)
        ]
        found = [run.result().exploitability for run in runs]
    assert torch.get_num_threads() == before
    alone = [rlccfr.Solver(game("kuhn"), "deep_cfr", seed=s).run(iterations=20, curve=False) for s in range(6)]
    assert found == [result.exploitability for result in alone]


@pytest.mark.parametrize("components", [("deep_cfr", "external", "none"), ("cfr", "none", "rcfr")])
def test_memories_and_models_are_freed_with_their_solver(components):
    """They are freed at once. The cycle collector counts objects, so hundreds of megabytes would wait for it."""
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), *components)
    solver.run(iterations=2)
    engine, learning = weak_internals(solver)
    gc.disable()
    try:
        del solver
        assert (engine(), learning()) == (None, None)
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_a_second_ctrl_c_breaks_an_iteration_off(monkeypatch, tmp_path):
    """The run is then neither whole nor saved, and says so; its average policy can still be read."""
    told = []
    monkeypatch.setattr(interrupts, "when_held", [lambda: told.append("held")])
    solver = rlccfr.Solver(game("kuhn"), "deep_cfr(preset='sweep',traversals=1000000000)", "external")
    timers = [threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)) for delay in (0.3, 0.6)]
    for timer in timers:
        timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.run(iterations=2, curve=False)
    assert told == ["held"]
    assert solver.result().iterations == 0
    with pytest.raises(FailedRunError, match="an iteration was interrupted"):
        solver.save(tmp_path / "run.npz")
    with pytest.raises(FailedRunError, match="an iteration was interrupted"):
        solver.run(iterations=1)
    assert not (tmp_path / "run.npz").exists()
