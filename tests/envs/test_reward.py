from __future__ import annotations

import math

import pytest

from rlccfr.envs import PRESETS, Measurement, Preset, Weights
from rlccfr.envs.reward import costs, error_cost, mean_reward, preset, rewards, speed_cost
from rlccfr.errors import RLCCFRError


def measured(exploitability, throughput, status="ok"):
    return Measurement("", status, exploitability, 2 * exploitability, 0.5, throughput, 1000.0, 1.0, 1, 1)


def test_error_cost_by_hand():
    assert error_cost(0.5, 0.5) == 1.0  # the uniform policy
    assert error_cost(0.5e-2, 0.5) == pytest.approx(1 - 2 / 8)  # two of eight decades
    assert error_cost(0.5e-8, 0.5) == pytest.approx(0.0)
    assert error_cost(0.0, 0.5) == 0.0
    assert error_cost(2.0, 0.5) == 1.0  # worse than uniform
    assert error_cost(0.1, 0.5, "linear") == pytest.approx(0.2)


def test_speed_cost_by_hand():
    assert speed_cost(1000.0, 1000.0) == 0.5
    assert speed_cost(99_000.0, 1000.0) == pytest.approx(0.01)
    assert speed_cost(0.0, 1000.0) == 1.0


def test_reward_by_hand():
    # e = 0.75, s = 1 / (1 + 3) = 0.25
    m = measured(0.5e-2, 3000.0)
    assert costs(m) == (pytest.approx(0.75), pytest.approx(0.25))
    assert rewards(m, PRESETS["paper-kuhn"])[0] == pytest.approx(1 - (0.75 + 0.1))
    assert mean_reward(m, PRESETS["paper-kuhn"]) == pytest.approx(
        (1 - (0.75 + 0.1) + 1 - (0.6 + 0.15) + 1 - (0.675 + 0.125)) / 3
    )


@pytest.mark.parametrize("status", ["failed", "timeout", "out_of_memory", "unavailable"])
def test_a_run_that_went_wrong_costs_everything(status):
    m = measured(math.nan, math.nan, status)
    assert costs(m) == (1.0, 1.0)
    assert rewards(m, PRESETS["paper-leduc"])[0] == pytest.approx(-0.6)


def test_presets_are_the_papers():
    assert PRESETS["paper-leduc"].weights == ((0.6, 1), (0.4, 0.9), (0.2, 0.8))
    assert PRESETS["accuracy"].weights == ((1, 0),) * 3


@pytest.mark.parametrize("weights", [Weights(0, 0), Weights(-0.1, 1), Weights(1, 1.1), Weights(math.nan, 1)])
def test_senseless_weights_are_refused(weights):
    with pytest.raises(RLCCFRError, match="weights"):
        Preset("mine", (Weights(1, 1), weights, Weights(1, 1)))


def test_an_unknown_preset_names_those_that_there_are():
    for name, message in (("fast", "known: accuracy, .*paper-leduc"), ("paper-leduk", "did you mean 'paper-leduc'")):
        with pytest.raises(RLCCFRError, match=message):
            preset(name)


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_where_the_uniform_policy_is_an_equilibrium(scale):
    assert error_cost(0.0, 0.0, scale) == 0.0
    assert error_cost(1e-3, 0.0, scale) == 1.0
