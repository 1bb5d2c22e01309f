from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import game

import rlccfr
from rlccfr.errors import ComponentError
from rlccfr.kernels.learning.adam import EPSILON
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.models import Mlp, make_model
from rlccfr.networks.perceptron import BETAS, LARGEST_GRADIENT, Perceptron
from rlccfr.networks.settings import Approximator

LEDUC = game("leduc")
SETTINGS = Approximator(hidden=16, layers=2, train_steps=20, batch_size=10_000, learning_rate=1e-2)


def problem(seed: int = 0, *, per_sequence: bool = False):
    """Return a player's inputs with random targets and weights, about a third of the weights 0."""
    inputs = inputs_of(LEDUC, 1, per_sequence=per_sequence)
    rng = np.random.default_rng(seed)
    weight = rng.random(468) * (rng.random(468) > 0.3)
    return inputs, rng.normal(size=len(inputs.position)), weight


def twin(model: Mlp) -> torch.nn.Sequential:
    """Return the same network, built by PyTorch."""
    parts: list[torch.nn.Module] = []
    for weight, bias in model._network._layers:
        linear = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(weight.t())
            linear.bias.copy_(bias)
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


@pytest.mark.parametrize("per_sequence", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0])  # the larger scale has clipped gradients
@pytest.mark.parametrize("final_rate", [1.0, 0.1])
def test_training_is_pytorchs_by_automatic_differentiation_and_its_adam(per_sequence, scale, final_rate):
    inputs, target, weight = problem(per_sequence=per_sequence)
    target = target * scale
    model = Mlp(inputs, replace(SETTINGS, final_rate=final_rate), [1])
    theirs = twin(model)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=SETTINGS.learning_rate, betas=BETAS, eps=EPSILON)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, final_rate, total_iters=SETTINGS.train_steps)
    matrix = torch.from_numpy(inputs.matrix)
    goal = torch.from_numpy(target.astype(np.float32))
    share = torch.from_numpy((weight[inputs.infoset] / weight[inputs.infoset].sum()).astype(np.float32))
    rows = torch.from_numpy(inputs.position // inputs.num_outputs)
    norms = []
    for _ in range(SETTINGS.train_steps):
        optimizer.zero_grad()
        values = theirs(matrix).reshape(-1)[torch.from_numpy(inputs.position)]
        (0.5 * share[rows] * (values - goal) ** 2).sum().backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(theirs.parameters(), LARGEST_GRADIENT)))
        optimizer.step()
        schedule.step()
    assert (max(norms) > LARGEST_GRADIENT) == (scale > 1)
    model.fit(target, weight, [2])
    with torch.inference_mode():
        expected = theirs(matrix).numpy().reshape(-1)[inputs.position]
    assert model.predict() == pytest.approx(expected, abs=2e-4 * scale)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("leduc", "mlp"),
        ("leduc", "cards"),
        ("holdem(ranks=4,suits=2,private=1,flop=1)", "cards"),
        ("generated(kuhn)", "mlp"),
    ],
)
def test_the_rate_falls_in_each_fit_of_every_model(monkeypatch, name, model):
    rates = []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda adam: rates.append(adam.param_groups[0]["lr"]))
    monkeypatch.setattr(Perceptron, "_descend", lambda network, rate: rates.append(rate))
    sizes = "hidden=4,traversals=20,train_steps=4,policy_steps=2,learning_rate=0.1,final_rate=0.5"
    rule = f"deep_lcfr(model='{model}',{sizes})"
    rlccfr.Solver(rlccfr.load_game(name), rule, "external").run(iterations=1, curve=False)
    advantages = [0.1, 0.0875, 0.075, 0.0625]
    average = [0.1, 0.075]
    assert sorted(rates) == pytest.approx(sorted(2 * advantages + 2 * average))


@pytest.mark.slow
def test_small_batches_are_drawn_by_weight():
    """If only a few infosets have weight, a fit by batches depends on these alone, and its error on them shrinks."""
    inputs, target, weight = problem()
    weight[20:] = 0.0
    target /= 10
    settings = Approximator(hidden=64, layers=2, train_steps=1500, batch_size=8, learning_rate=3e-3)
    model = Mlp(inputs, settings, [0])
    model.fit(target, weight, [0])
    seen = weight[inputs.position // inputs.num_outputs] > 0
    before = np.square(target[seen]).mean()
    assert np.square(model.predict() - target)[seen].mean() < 0.1 * before
    elsewhere = np.where(seen, target, 1e6)
    again = Mlp(inputs, settings, [0])
    again.fit(elsewhere, weight, [0])
    assert np.array_equal(again.predict(), model.predict())


@pytest.mark.parametrize("per_sequence", [False, True])
@pytest.mark.parametrize("kind", ["mlp", "table"])
def test_models_repeat_and_resume(kind, per_sequence):
    inputs, target, weight = problem(per_sequence=per_sequence)
    settings = Approximator(kind=kind, train_steps=5, batch_size=32)
    whole, first, second = (make_model(inputs, settings, [3]) for _ in range(3))
    for t in range(4):
        whole.fit(target * t, weight, [3, t])
    for t in range(2):
        first.fit(target * t, weight, [3, t])
    second.restore(first.state())
    for t in range(2, 4):
        second.fit(target * t, weight, [3, t])
    assert np.array_equal(whole.predict(), second.predict())
    assert np.array_equal(whole.predict(whole.weights()), whole.predict())
    assert np.array_equal(first.predict(second.weights()), second.predict())


def test_a_table_is_exact_where_there_is_weight_and_stays_elsewhere():
    inputs, target, weight = problem()
    table = make_model(inputs, Approximator(kind="table"), [0])
    table.fit(np.ones_like(target), np.ones_like(weight), [0])
    table.fit(target, weight, [0])
    known = weight[inputs.position // inputs.num_outputs] > 0
    assert np.array_equal(table.predict(), np.where(known, target, 1.0))


def test_from_scratch_forgets():
    inputs, target, weight = problem()
    runs = []
    for first in (target, -target):
        model = Mlp(inputs, Approximator(train_steps=5, from_scratch=True), [0])
        model.fit(first, weight, [1])
        model.fit(target, weight, [2])
        runs.append(model.predict())
    assert np.array_equal(*runs)


def test_nothing_to_learn_changes_nothing():
    inputs, target, weight = problem()
    model = Mlp(inputs, SETTINGS, [0])
    before = model.predict()
    model.fit(target, 0 * weight, [1])
    assert np.array_equal(model.predict(), before)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_a_missing_device_is_named():
    inputs, _, _ = problem()
    with pytest.raises(ComponentError, match="needs a CUDA device"):
        Mlp(inputs, Approximator(device="cuda"), [0])
    assert Mlp(inputs, Approximator(device="auto"), [0])._network.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA")
def test_cuda_learns_what_the_cpu_learns():
    inputs, target, weight = problem()
    runs = []
    for device in ("cpu", "cuda"):
        model = Mlp(inputs, Approximator(train_steps=20, device=device), [0])
        model.fit(target, weight, [1])
        runs.append(model.predict())
    assert runs[0] == pytest.approx(runs[1], abs=1e-3)
