"""Deep rules on hold'em without tables over infosets: exact fits, resuming, budgets within a fit, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from support import learned_rows, walked_advantages

import rlccfr
from rlccfr.errors import ComponentError, RLCCFRError
from rlccfr.game import policy_class

SMALL = "holdem(ranks=3,suits=2,private=1,flop=1,raises=2)"
TABLE = "model='table', traversals=300, train_every=1"
NETWORK = "model='cards', hidden=16, traversals=200, train_steps=40, policy_steps=40, batch_size=512, train_every=1"


def solver(rule: str, name: str = SMALL, **options) -> rlccfr.Solver:
    return rlccfr.Solver(rlccfr.load_game(name), rule, "external", **options)


@pytest.mark.parametrize(
    ("rule", "positive", "negative", "floor"),
    [
        ("deep_cfr", lambda t: 1.0, lambda t: 1.0, -np.inf),
        ("deep_lcfr", lambda t: (t - 1) / t, lambda t: (t - 1) / t, -np.inf),
        ("deep_cfr_plus", lambda t: 1.0, lambda t: 1.0, 0.0),
        ("deep_dcfr", lambda t: d(t - 1, 1.5), lambda t: d(t - 1, 0.0), -np.inf),
        ("deep_dcfr_plus", lambda t: d(t - 1, 2.0), lambda t: d(t - 1, 2.0), 0.0),
    ],
)
def test_with_exact_fits_a_deep_rule_is_its_tabular_rule(rule, positive, negative, floor):
    """The number of data times V equals the regret of the tabular rule, from the same walks."""
    run = solver(f"{rule}({TABLE})", seed=1)
    data = learned_rows(run)
    regret: dict[tuple[int, bytes], np.ndarray] = {}
    mass: dict[tuple[int, bytes], float] = {}
    for t in range(1, 8):
        run.run(iterations=1, curve=False)
        for player in (0, 1):
            for key in [key for key in regret if key[0] == player]:
                old = np.maximum(regret[key], floor)
                regret[key] = np.where(old > 0, positive(t), negative(t)) * old
                mass[key] *= positive(t)
            rows, gains = data(player)
            for row, gain in zip(rows, gains, strict=True):
                key = player, row.tobytes()
                regret[key] = regret.get(key, 0.0) + gain
                mass[key] = mass.get(key, 0.0) + 1.0
            known = [key for key in regret if key[0] == player]
            values = walked_advantages(run, player, np.concatenate([np.frombuffer(k[1], rows.dtype) for k in known]))
            for key, value in zip(known, values, strict=True):
                if mass[key] > 0:
                    np.testing.assert_allclose(mass[key] * value, regret[key], rtol=2e-4, atol=2e-3)


def d(t: float, alpha: float) -> float:
    """Return the discount of DCFR and of DCFR+, t^alpha / (t^alpha + 1)."""
    return t**alpha / (t**alpha + 1)


@pytest.mark.slow
def test_a_table_converges():
    run = solver("deep_lcfr(model='table', traversals=2000, train_every=1, memory=3000000)")
    uniform = policy_class(run.game).uniform(run.game).exploitability()
    assert run.run(iterations=20).exploitability < 0.2 * uniform


@pytest.mark.slow
@pytest.mark.parametrize("model", ["cards", "mlp"])
def test_networks_converge(model):
    settings = NETWORK.replace("'cards'", f"'{model}'").replace("hidden=16", "hidden=32")
    run = solver(f"deep_lcfr({settings}, learning_rate=0.005)")
    uniform = policy_class(run.game).uniform(run.game).exploitability()
    assert run.run(iterations=10).exploitability < 0.5 * uniform


@pytest.mark.parametrize(
    "spec",
    [
        f"deep_lcfr({NETWORK})",
        f"deep_dcfr({NETWORK})",
        f"deep_cfr_plus({NETWORK}, mode='bootstrapped')",
        f"deep_lcfr({NETWORK}, average='value_networks', kept_networks=1)",
    ],
)
def test_a_run_that_is_saved_within_a_fit_continues_as_if_it_had_not_been(tmp_path, spec):
    whole = solver(spec, seed=3)
    whole.run(iterations=2)
    parted = solver(spec, seed=3)
    saved = 0
    while parted.result().iterations < 2:
        parted.run(seconds=1e-6)
        if parted.result().unfinished:
            parted.save(tmp_path / "run.npz")
            parted = rlccfr.Solver.load(tmp_path / "run.npz")
            saved += 1
    assert saved > 4
    np.testing.assert_array_equal(parted.average_policy().table, whole.average_policy().table)
    np.testing.assert_array_equal(parted.current_policy().table, whole.current_policy().table)


def test_the_average_of_value_networks_is_the_mixture_of_what_was_played():
    """Its payoff against any policy is the mean of the payoffs of the policies that iterations played."""
    run = solver(f"deep_lcfr({NETWORK}, average='value_networks')", seed=2)
    game = run.game
    opponent = policy_class(game).from_sums(game, np.random.default_rng(5).random(game.num_sequences))
    payoffs = []
    for _ in range(4):  # the policy of player 1 in each iteration, before its own fit
        payoffs.append(opponent.value_against(run.current_policy()))
        run.run(iterations=1, curve=False)
    expected = np.average(payoffs, weights=[1, 2, 3, 4])
    assert opponent.value_against(run.average_policy()) == pytest.approx(expected, rel=1e-4)


def test_a_policy_is_drawn_from_the_mixture():
    run = solver(f"deep_lcfr({NETWORK}, average='value_networks')", seed=2)
    drawn = []
    for _ in range(3):
        drawn.append(run.current_policy().probabilities)
        run.run(iterations=1, curve=False)
    second = run.game.view.nodes["kind"][run.game.decisions]
    of_second = np.repeat(second == 1, run.game.rows * run.game.actions)
    policies = [run.draw_policy(seed).probabilities for seed in range(20)]
    met = {min(range(3), key=lambda number: np.abs(policy - drawn[number])[of_second].max()) for policy in policies}
    assert met == {0, 1, 2}
    for policy in policies:
        assert min(np.abs(policy - other)[of_second].max() for other in drawn) < 1e-6


def test_a_full_memory_keeps_a_sample():
    run = solver(f"deep_lcfr({NETWORK}, memory=500)")
    run.run(iterations=3)
    assert np.isfinite(run.result().exploitability)


@pytest.mark.parametrize(
    ("arguments", "name", "advice"),
    [
        (("deep_lcfr", "none"), SMALL, "use sampler='external'"),
        (("deep_lcfr", "outcome"), SMALL, "use sampler='external'"),
        (("deep_ecfr", "external"), SMALL, "use deep_lcfr"),
        (("deep_lcfr(average='table')", "external"), SMALL, "leave out average='table'"),
        (("deep_lcfr(model='table', average='value_networks')", "external"), SMALL, "leave out model='table'"),
        (("deep_lcfr(device='cuda')", "external"), SMALL, "leave out device='cuda'"),
        (("deep_lcfr", "external"), "bluff", "use dcfr_plus"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, name, advice):
    with pytest.raises(ComponentError, match=advice):
        rlccfr.Solver(rlccfr.load_game(name), *arguments)


def test_networks_and_tables_do_not_take_turns():
    run = solver(f"deep_lcfr({NETWORK})")
    run.run(iterations=1)
    with pytest.raises(ComponentError, match="start a new run"):
        run.switch(update_rule="cfr_plus", sampler="none")
    with pytest.raises(ComponentError, match="start a new run"):
        run.switch(update_rule=f"deep_cfr({NETWORK})")
    tables = rlccfr.Solver(rlccfr.load_game(SMALL), "cfr_plus")
    tables.run(iterations=2)
    with pytest.raises(ComponentError, match="start a new run"):
        tables.switch(update_rule=f"deep_lcfr({NETWORK})", sampler="external")
    assert run.result().iterations == 1
    assert tables.result().iterations == 2


def test_a_memory_that_does_not_fit_is_refused():
    with pytest.raises(RLCCFRError, match="use a smaller memory="):
        solver(f"deep_lcfr({NETWORK.replace('model', 'memory=1000000000, model')})")
