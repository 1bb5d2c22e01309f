"""One agent: its network gives equal outputs in NumPy and in torch, and torch is loaded only for learning."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
import torch

from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.learning import Picks, learn_from
from rlccfr.agents.team.selector import Selector
from rlccfr.errors import RLCCFRError

SETTINGS = Hyperparameters(hidden=(16, 8), batch_size=4)


def selector(seed=0):
    return Selector(5, 3, SETTINGS, seed)


def taught(one, steps=50):
    rng = np.random.default_rng(7)
    inputs = torch.as_tensor(rng.normal(size=(32, 5)), dtype=torch.float32)
    actions = torch.as_tensor(rng.integers(3, size=(32, 1)))
    values = torch.as_tensor(rng.normal(size=32), dtype=torch.float32)
    for _ in range(steps):
        rows = one.generator.integers(32, size=SETTINGS.batch_size)
        learn_from([one.policy], Picks([inputs[rows]], [None], actions[rows]), [values[rows]], 2e-3, 0.02)
    return one


def test_the_network_answers_as_torch_has_it():
    one, seen = taught(selector()), np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
    with torch.no_grad():
        expected = one.policy.q_net(torch.as_tensor(seen)).numpy()
    for observation, values in zip(seen, expected, strict=True):
        np.testing.assert_allclose(one.q_values(observation), values, rtol=1e-5, atol=1e-6)


def test_learning_changes_the_answers_at_once():
    one, seen = selector(), np.ones(5, np.float32)
    before, other = one.q_values(seen), copy.deepcopy(one)
    assert not np.allclose(taught(one).q_values(seen), before)
    np.testing.assert_array_equal(other.q_values(seen), before)
    np.testing.assert_array_equal(taught(other).q_values(seen), one.q_values(seen))


@pytest.mark.parametrize("when", ["before it has a policy", "after"])
def test_restored_weights_are_those_of_the_policy(when):
    source, other, seen = taught(selector()), selector(1), np.ones(5, np.float32)
    if when == "after":
        taught(other)
    other.restore(source.state())
    np.testing.assert_array_equal(other.q_values(seen), source.q_values(seen))
    with torch.no_grad():
        found = other.policy.q_net(torch.as_tensor(seen[None])).numpy()[0]
    np.testing.assert_allclose(found, source.q_values(seen), rtol=1e-5)
    taught(other)
    assert not np.allclose(other.q_values(seen), source.q_values(seen))


def test_learning_goes_on_from_what_was_saved_as_if_never_stopped():
    one, other = taught(selector()), selector(1)
    other.restore(one.state(), one.learning())
    assert other.learning().keys() == one.learning().keys()  # also before there is a policy
    for each in (one, other):
        taught(each)
    for name, array in one.state().items():
        np.testing.assert_array_equal(other.state()[name], array)
    assert selector().learning() == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda saved: saved.pop("draws"),
        lambda saved: saved.pop("2/exp_avg"),
        lambda saved: saved.update({"9/exp_avg": np.zeros(3, np.float32)}),
        lambda saved: saved.update({"1/exp_avg_sq": np.zeros(2, np.float32)}),
        lambda saved: saved.update({"1/step": np.array("one")}),
    ],
)
def test_what_learning_cannot_go_on_from_is_refused(damage):
    one = taught(selector())
    saved = one.learning()
    damage(saved)
    with pytest.raises(RLCCFRError, match=r"do not fit: (draws|\d/\w+) is missing or wrong"):
        selector().restore(one.state(), saved)


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("q_net.0.bias"),
        lambda state: state.clear(),
        lambda state: state.update({"q_net.6.bias": np.zeros(3, np.float32)}),
        lambda state: state.update({"q_net.4.bias": np.zeros(2, np.float32)}),
        lambda state: state.update({"q_net.4.bias": np.zeros(3)}),
    ],
)
def test_weights_of_another_network_are_refused(damage):
    state = selector().state()
    damage(state)
    with pytest.raises(RLCCFRError, match=r"do not fit: q_net\.\d\.bias is missing or wrong"):
        selector().restore(state)


def test_weights_for_other_observations_are_refused_with_both_sizes():
    with pytest.raises(RLCCFRError, match="their observations have 5 numbers, and those here 6; train a new team"):
        Selector(6, 3, SETTINGS, 0).restore(selector().state())


@pytest.mark.slow
def test_a_shipped_team_is_loaded_and_picks_without_torch():
    code = (
        "import sys; from rlccfr.agents.shipped.advice import recommend; print(recommend('leduc').cell); "
        "assert not {'torch', 'stable_baselines3'} & set(sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert " x " in found.stdout
