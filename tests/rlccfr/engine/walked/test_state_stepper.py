"""Deep rules on games represented by OpenSpiel's states: exact fits converge, runs resume, what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from support import engine_stepper

import rlccfr
from rlccfr.engine.walked.paths import value_walks
from rlccfr.engine.walked.state_components import best_run_of
from rlccfr.errors import BudgetError, ComponentError, GameError, PolicyError
from rlccfr.networks.row_learners import RowLearner
from rlccfr.networks.row_models import RowTable
from rlccfr.networks.row_reservoir import RowReservoir
from rlccfr.networks.settings import Approximator

NETWORK = "hidden=16, traversals=60, train_steps=40, policy_steps=40, batch_size=256, train_every=1"

LARGE = "goofspiel(num_cards=13,imp_info=True,points_order=descending)"


def solver(rule: str, name: str = "leduc", sampler: str = "external", **options) -> rlccfr.Solver:
    return rlccfr.Solver(rlccfr.load_game(name, form="generated"), rule, sampler, **options)


DREAM = "dream(preset='states')"
ESCHER = "escher(value='network', explores='actions', preset='states')"


@pytest.mark.parametrize(
    "sampler",
    ["external", "robust_k(k=1)", "outcome", *(pytest.param(s, marks=pytest.mark.slow) for s in (DREAM, ESCHER))],
)
def test_a_table_converges(sampler):
    run = solver("deep_lcfr(model='table', traversals=500, train_every=1)", "kuhn", sampler)
    assert run.run(iterations=30).exploitability < 0.06


@pytest.mark.slow
def test_values_of_histories_become_those_of_the_policies():
    """After enough fits, the network's values are near the exact ones of the policies that are played."""
    run = solver("deep_lcfr(model='table', traversals=100, train_every=1)", "kuhn", ESCHER)
    run.run(iterations=30)
    stepper = engine_stepper(run)
    walks = run.game.walks
    data = value_walks(walks, stepper._policies, 500, np.random.default_rng(0), 0.5, stepper._values.predict)
    found = stepper._values.predict(data.rows)[np.arange(len(data.rows)), data.rows["action"]]
    assert np.mean((found - data.targets) ** 2) < 0.1 * np.var(data.targets)


def test_a_switch_between_samplers_within_an_iteration_is_refused():
    run = solver(f"deep_lcfr({NETWORK})", "kuhn")
    run.run(seconds=1e-6, curve=False)
    with pytest.raises(ComponentError, match="finish the iteration before you change the sampler"):
        run.switch(sampler=DREAM)
    run.run(iterations=1)
    run.switch(sampler=DREAM)
    run.run(iterations=1)
    with pytest.raises(ComponentError, match="with different frequencies"):
        run.switch(sampler="robust_k(k=1)")
    with pytest.raises(ComponentError, match="with different frequencies"):
        run.switch(sampler=ESCHER)


def test_values_are_fitted_in_the_first_iteration_after_a_switch(tmp_path):
    """Otherwise, until the next fit that is due, their regrets would be those of values of 0."""
    run = solver(f"deep_lcfr({NETWORK})", "kuhn", "outcome(exploration=1.0)")
    run.run(iterations=1)
    run.switch(sampler="dream(exploration=1.0, preset='fast')")
    while engine_stepper(run).progress[0] < 3:
        run.run(seconds=1e-6, curve=False)
    run.save(tmp_path / "run.npz")
    for continued in (run, rlccfr.Solver.load(tmp_path / "run.npz", game=run.game)):
        continued.run(iterations=1, curve=False)
        assert engine_stepper(continued)._values.fits == 2


@pytest.mark.slow
def test_networks_converge():
    run = solver(f"deep_lcfr({NETWORK.replace('60', '400').replace('16', '64')}, learning_rate=0.003)")
    assert run.run(iterations=12).exploitability < 0.5 * rlccfr.NetworkPolicy.uniform(run.game).exploitability()


SPECS = (
    f"deep_dcfr({NETWORK}, final_rate=0)",
    f"deep_cfr_plus({NETWORK}, mode='bootstrapped', memory=100)",
    "deep_dcfr_plus(model='table', traversals=500, train_every=2)",
)
SAMPLERS = ("external", "robust_k(k=2)", DREAM, ESCHER.replace("states", "sweep"))


@pytest.mark.parametrize(
    ("spec", "sampler"),
    [
        (SPECS[0], "external"),
        (SPECS[1], "robust_k(k=2)"),
        (SPECS[2], DREAM),
        (f"deep_lcfr({NETWORK}, average='value_networks', kept_networks=2)", "external"),
        *(
            pytest.param(spec, sampler, marks=pytest.mark.slow)
            for spec, sampler in itertools.product(SPECS, SAMPLERS)
            if SAMPLERS.index(sampler) != SPECS.index(spec)
        ),
    ],
)
def test_a_run_that_is_saved_within_a_fit_continues_as_if_it_had_not_been(tmp_path, spec, sampler):
    whole = solver(spec, sampler=sampler, seed=3)
    whole.run(iterations=2)
    parted = solver(spec, sampler=sampler, seed=3)
    while parted.result().iterations < 2:
        parted.run(seconds=1e-6, curve=False)
        parted.save(tmp_path / "run.npz")
        parted = rlccfr.Solver.load(tmp_path / "run.npz", game=parted.game)
    np.testing.assert_array_equal(parted.average_policy().probabilities, whole.average_policy().probabilities)
    np.testing.assert_array_equal(parted.current_policy().probabilities, whole.current_policy().probabilities)


def test_a_policy_stays_as_it_was_when_the_run_continues():
    run = solver(f"deep_lcfr({NETWORK})", "kuhn")
    run.run(iterations=1)
    policy = run.average_policy()
    states = [row.reshape(1) for row in run.game._infoset_rows]
    before = [policy.policies.first.at(0, row, run.game.walks.legal(row)) for row in states]
    run.run(iterations=3)
    np.testing.assert_array_equal(
        before, [policy.policies.first.at(0, row, run.game.walks.legal(row)) for row in states]
    )


def test_few_rows_are_fitted_as_their_weighted_means():
    """A fit to equal rows has their mean target, weighted, and their total weight; the order does not matter."""
    row_type = np.dtype([("tensor", np.uint8, 2), ("legal", np.uint8, 1)])
    reservoir = RowReservoir(row_type, 2, 1000)
    settings = Approximator(kind="table", batch_size=10)
    learner = RowLearner(RowTable(2, settings), reservoir, settings, 1.0, [0])
    rng = np.random.default_rng(0)
    rows = np.zeros(300, row_type)
    rows["tensor"][:, 0] = rng.integers(8, size=300)
    target = rng.random((300, 2)).astype(np.float32)
    weight = np.repeat([0.25, 1.0], 150)  # the first half is discounted before the second half comes
    learner.observe(rows[:150], target[:150], rng)
    learner.discount(0.25)
    learner.observe(rows[150:], target[150:], rng)
    found_rows, found_target, found_weight = learner._merged_if_few()
    for number in range(8):
        place = int(np.flatnonzero(found_rows["tensor"][:, 0] == number)[0])
        of_row = rows["tensor"][:, 0] == number
        expected = np.average(target[of_row], axis=0, weights=weight[of_row])
        np.testing.assert_allclose(found_target[place], expected, rtol=1e-5)
        assert found_weight[place] == pytest.approx(8 * weight[of_row].sum() / weight.sum(), rel=1e-5)
    rows["tensor"][:, 1] = np.arange(300) % 256
    learner.observe(rows, target, rng)
    assert learner._merged_if_few() is None


def test_data_whose_weights_have_become_0_are_left_out():
    """A table keeps the value of an infoset that is not met again; a fit without data changes nothing."""
    row_type = np.dtype([("tensor", np.uint8, 2), ("legal", np.uint8, 1)])
    settings = Approximator(kind="table", batch_size=10)
    table = RowTable(2, settings)
    learner = RowLearner(table, RowReservoir(row_type, 2, 1000), settings, 1.0, [0])
    rng = np.random.default_rng(0)
    rows = np.zeros(2, row_type)
    rows["tensor"][:, 0] = (1, 2)
    for both, value in ((True, 3.0), (False, 5.0)):
        met = rows if both else rows[:1]
        learner.observe(met, np.full((len(met), 2), value, np.float32), rng)
        learner.begin_fit()
        learner.train(0, 1)
        learner.end_fit()
        for _ in range(80):
            learner.discount(0.1)
    np.testing.assert_array_equal(table.predict(rows), [[5.0, 5.0], [3.0, 3.0]])
    learner.begin_fit()
    learner.train(0, 1)
    learner.end_fit()
    np.testing.assert_array_equal(table.predict(rows), [[5.0, 5.0], [3.0, 3.0]])


@pytest.mark.slow
def test_strong_discounts_do_not_end_a_run():
    """Some infosets are not met for so long that all of their data are forgotten."""
    settings = "preset='sweep', traversals=1, train_steps=1, policy_steps=1, train_every=50"
    run = solver(f"deep_dcfr(alpha=0, {settings})")
    run.run(iterations=300, curve=False)
    assert math.isfinite(run.result().exploitability)


@pytest.mark.slow
def test_values_are_unknown_in_a_game_that_is_too_large():
    run = solver(f"deep_lcfr({NETWORK})", "phantom_ttt", "robust_k(k=2)")
    result = run.run(iterations=1)
    assert math.isnan(result.exploitability)
    assert not run.average_policy().has_values
    with pytest.raises(BudgetError, match="give a budget"):
        run.run(until=0.1)
    with pytest.raises(PolicyError, match="play matches"):
        run.average_policy().values()
    solution = rlccfr.solve("generated(phantom_ttt)", iterations=1)
    assert "not known" in str(solution)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "name", "advice"),
    [
        (("cfr_plus", "external"), "kuhn", "use a deep rule"),
        (("deep_lcfr", "none"), "kuhn", "use sampler='external'"),
        (("deep_lcfr", "average_strategy"), "kuhn", "use sampler='external'"),
        (("deep_lcfr", "probing"), "kuhn", "use sampler='external'"),
        (("deep_lcfr", "variance_reduced"), "kuhn", "use sampler='external'"),
        (("deep_lcfr", "escher"), "kuhn", "use sampler='external'"),
        (("deep_lcfr", "escher(value='network')"), "kuhn", "use explores='actions'"),
        (("deep_lcfr", "balanced"), "kuhn", "use sampler='external'"),
        (("deep_ecfr", "external"), "kuhn", "use deep_lcfr"),
        (("deep_lcfr(average='value_networks',model='table')", "external"), "kuhn", "leave it out"),
        (("deep_lcfr(average='table')", "external"), "kuhn", "leave it out"),
        (("deep_lcfr(model='cards')", "external"), "kuhn", "use model='mlp'"),
        (("deep_lcfr(device='cuda')", "external"), "kuhn", "leave it out"),
        (("deep_lcfr", "external", "rcfr"), "kuhn", "leave it out"),
        (
            ("deep_lcfr", "external"),
            LARGE,
            r"robust_k\(k=1\)",
        ),
        (("deep_lcfr", "robust_k(k=3)"), LARGE, "smaller k"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, name, advice):
    with pytest.raises(ComponentError, match=advice):
        rlccfr.Solver(rlccfr.load_game(name, form="generated"), *arguments)


def test_buckets_and_locks_are_refused():
    game = rlccfr.load_game("leduc", form="generated")
    with pytest.raises(GameError, match="leave out the abstraction"):
        rlccfr.Solver(game, "deep_lcfr", "external", "equity(buckets=2)")
    with pytest.raises(GameError, match="without form='generated'"):
        rlccfr.Solver(game, "deep_lcfr", "external", lock={0: "uniform"})


@pytest.mark.slow
def test_the_default_depends_on_how_long_walks_are():
    assert "external by deep_lcfr" in rlccfr.solve("generated(kuhn)", iterations=1).why
    assert "robust_k by deep_lcfr" in rlccfr.solve("generated(phantom_ttt)", iterations=1).why
    assert best_run_of(rlccfr.load_game(LARGE, form="generated"))["sampler"].startswith("escher")
