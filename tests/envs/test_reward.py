from __future__ import annotations

import math

import numpy as np
import pytest

from rlccfr.envs import PRESETS, Measurement, Preset, Weights
from rlccfr.envs.episode import parse_preset
from rlccfr.envs.observation import agents_rewards, reward_weights_of
from rlccfr.envs.reward import (
    CONVERGED_LOG,
    SCALES,
    Costs,
    costs,
    costs_on_all_scales,
    mean_costs,
    mean_reward,
    preset,
    rewards,
    speed_cost,
)
from rlccfr.errors import RLCCFRError

UNIFORM = 0.5


def measured(exploitability, throughput=1000.0, status="ok", uniform=UNIFORM, unit=1.0):
    return Measurement("", status, exploitability, 2 * exploitability, uniform, throughput, 1000.0, 1.0, 1, 1, unit)


def errors(*arguments, **options):
    """Return e on each scale."""
    return costs(measured(*arguments, **options))[:-1]


def test_error_costs_by_hand():
    assert errors(0.5) == (1.0, 1.0, 0.5)  # the uniform policy
    assert errors(0.5e-2) == pytest.approx((1 - 2 / 8, 0.01, 0.5e-2))  # two of eight decades below it
    assert errors(0.5e-8) == pytest.approx((0.0, 1e-8, 0.5e-8), abs=1e-15)
    assert errors(0.0) == (0.0, 0.0, 0.0)
    assert errors(5.0) == pytest.approx((1 + 1 / 8, 10.0, 5.0))  # worse than uniform: nothing is clipped
    assert errors(6.0, unit=2.0)[2] == 3.0  # in big blinds of two chips


def test_speed_cost_by_hand():
    assert speed_cost(1000.0, 1000.0) == 0.5
    assert speed_cost(99_000.0, 1000.0) == pytest.approx(0.01)
    assert speed_cost(0.0, 1000.0) == 1.0


def test_reward_by_hand():
    """The formula as the paper prints it: e is the exploitability 0.005, and s = 1 / (1 + 3) = 0.25."""
    m = measured(0.5e-2, 3000.0)
    assert PRESETS["paper-kuhn"].scale == "units"
    assert rewards(m, PRESETS["paper-kuhn"]) == pytest.approx(
        (1 - (0.005 + 0.1), 1 - (0.8 * 0.005 + 0.15), 1 - (0.9 * 0.005 + 0.125))
    )
    assert mean_reward(m, PRESETS["paper-kuhn"]) == pytest.approx(sum(rewards(m, PRESETS["paper-kuhn"])) / 3)
    on_log_scale = Preset("mine", PRESETS["paper-kuhn"].weights, "log")
    assert rewards(m, on_log_scale)[0] == pytest.approx(1 - (0.75 + 0.1))


@pytest.mark.parametrize("status", ["failed", "timeout", "out_of_memory", "unavailable"])
def test_a_run_that_went_wrong_costs_as_much_as_the_uniform_policy_and_no_speed(status):
    m = measured(math.nan, math.nan, status, uniform=4.0, unit=2.0)
    assert costs(m) == (1.0, 1.0, 2.0, 1.0)
    assert not costs(m).converged
    assert rewards(m, PRESETS["paper-leduc"])[0] == pytest.approx(1 - (0.6 * 2.0 + 1))


def test_presets_are_the_papers():
    assert PRESETS["paper-leduc"].weights == ((0.6, 1), (0.4, 0.9), (0.2, 0.8))
    assert PRESETS["accuracy"].weights == ((1, 0),) * 3
    assert {name: one.scale for name, one in PRESETS.items()} == {
        name: "log" if name == "accuracy" else "units" for name in PRESETS
    }
    assert str(PRESETS["paper-royal"]) == "paper-royal (e in the game's units)"


@pytest.mark.parametrize("weights", [Weights(0, 0), Weights(-0.1, 1), Weights(1, 1.1), Weights(math.nan, 1)])
def test_senseless_weights_are_refused(weights):
    with pytest.raises(RLCCFRError, match="weights"):
        Preset("mine", (Weights(1, 1), weights, Weights(1, 1)))


def test_an_unknown_scale_is_refused():
    with pytest.raises(RLCCFRError, match="scale must be 'log', 'linear' or 'units', not 'cubic'"):
        Preset("mine", PRESETS["accuracy"].weights, "cubic")


def test_an_unknown_preset_names_those_that_there_are():
    for name, message in (("fast", "known: accuracy, .*paper-leduc"), ("paper-leduk", "did you mean 'paper-leduc'")):
        with pytest.raises(RLCCFRError, match=message):
            preset(name)


def test_two_digits_are_not_a_pair_of_weights():
    with pytest.raises(RLCCFRError, match="three pairs, one per agent, not '11 10 01'"):
        parse_preset("11 10 01")
    assert parse_preset("1,1 1,0 0,1").weights == ((1, 1), (1, 0), (0, 1))


def test_where_the_uniform_policy_is_an_equilibrium():
    assert errors(0.0, uniform=0.0) == (0.0, 0.0, 0.0)
    assert errors(1e-3, uniform=0.0) == (1.0, 1.0, 1e-3)


def test_what_has_not_converged_ranks_below_all_that_have_unless_speed_alone_counts():
    hasty = Preset("hasty", (Weights(0.1, 1),) * 3, "log")
    fast, good = costs(measured(0.4, 1e6)), costs(measured(0.04, 1e3))
    assert hasty.mean_reward(fast) > hasty.mean_reward(good)
    assert hasty.worth([good]) > hasty.worth([fast])
    assert hasty.worth([good]) > hasty.worth([good, fast])  # all runs must have converged
    speed = Preset("speed", (Weights(0, 1),) * 3)
    assert speed.speed_alone
    assert speed.worth([fast]) > speed.worth([good])


def test_costs_of_regressions_are_those_of_runs():
    runs = [costs(measured(exploitability, 3000.0, unit=2.0)) for exploitability in (5.0, 0.5, 1e-3)]
    logs, speeds = (np.array([getattr(run, name) for run in runs]) for name in ("log", "speed"))
    found = costs_on_all_scales(logs, speeds, np.array(UNIFORM / 2.0))
    np.testing.assert_allclose(found, runs)
    for scale in SCALES:
        own = Preset("mine", PRESETS["paper-royal"].weights, scale)
        np.testing.assert_allclose(mean_costs(found, own), [1 - own.mean_reward(run) for run in runs])


@pytest.mark.parametrize("scale", SCALES)
def test_all_rewards_come_from_one_formula_bit_for_bit(scale):
    """The expressions below stood in three places before one function replaced them."""
    rng = np.random.default_rng(7)
    count = 200
    costs_of_runs = rng.uniform(0.0, 2.0, (count, 4))
    presets = [
        Preset("random", tuple(Weights(*pair) for pair in rng.uniform(0.01, 1.0, (3, 2)).tolist()), scale)
        for _ in range(count)
    ]
    by_arrays = agents_rewards(costs_of_runs, np.array([reward_weights_of(weights) for weights in presets]))
    column = SCALES.index(scale)
    for weights, row, rewards_of_row in zip(presets, costs_of_runs, by_arrays, strict=True):
        run = Costs(*row.tolist())
        error = run.error(scale)
        expected = tuple(1.0 - (alpha * error + beta * run.speed) for alpha, beta in weights.weights)
        assert weights.rewards(run) == expected == tuple(rewards_of_row.tolist())
        alpha, beta = np.mean(weights.weights, axis=0)
        by_hand = alpha * costs_of_runs[..., column] + beta * costs_of_runs[..., 3]
        np.testing.assert_array_equal(mean_costs(costs_of_runs, weights), by_hand, strict=True)


def test_convergence_is_the_same_on_the_log_scale():
    for exploitability in (0.0499, 0.0501):
        run = costs(measured(exploitability))
        assert run.converged == (run.log <= CONVERGED_LOG) == measured(exploitability).converged
    assert Costs._fields == (*SCALES, "speed")
