"""Deep rules on hold'em without tables over infosets: exact fits, resuming, budgets within a fit, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import learned_rows, walked_advantages

import rlccfr
from rlccfr.archives import archive_of, read_archive
from rlccfr.errors import ComponentError, FailedRunError, RLCCFRError
from rlccfr.game import policy_class
from rlccfr.games.walked.holdem import ROW
from rlccfr.registry import update_rules

SMALL = "holdem(ranks=3,suits=2,private=1,flop=1,raises=2)"
NETWORK = "model='cards', hidden=16, traversals=200, train_steps=40, policy_steps=40, batch_size=512, train_every=1"


def solver(rule: str, name: str = SMALL, **options) -> rlccfr.Solver:
    return rlccfr.Solver(rlccfr.load_game(name), rule, "external", **options)


@pytest.mark.slow
@pytest.mark.parametrize("train_every", [1, 3])
@pytest.mark.parametrize(
    ("rule", "tabular"),
    [
        ("deep_cfr", "cfr"),
        ("deep_lcfr", "lcfr"),
        ("deep_cfr_plus", "cfr_plus"),
        ("deep_dcfr", "dcfr"),
        ("deep_dcfr_plus", "dcfr_plus(alpha=2.0, c=1.0)"),
    ],
)
def test_with_exact_fits_a_deep_rule_is_its_tabular_rule(rule, tabular, train_every):
    """The number of data times V equals the regret of the tabular rule, updated at each fit, from the same walks."""
    run = solver(f"{rule}(model='table', traversals=300, train_every={train_every})", seed=1)
    newest = learned_rows(run)
    expected = Regrets(tabular)
    for t in range(1, 8):
        run.run(iterations=1, curve=False)
        for player in (0, 1):
            expected.add(t, player, *newest(player))
            if t == 1 or t % train_every == 0:
                rows, regrets, masses = expected.fitted(player)
                values = walked_advantages(run, player, rows)
                np.testing.assert_allclose(masses[:, None] * values, regrets, rtol=2e-4, atol=2e-3)


def test_the_bootstrapped_form_adds_the_newest_means_to_its_values():
    """V becomes d V + (number of iterations) x (mean of the newest data) where there are data, and else stays."""
    run = solver("deep_dcfr_plus(mode='bootstrapped', model='table', traversals=40, train_every=2)", seed=1)
    newest = learned_rows(run)
    schedule = update_rules.resolve("dcfr_plus(alpha=2.0, c=1.0)").schedule(1, 10)[:, 0]
    values: dict[tuple[int, bytes], np.ndarray] = {}
    fresh = ({}, {})
    discount, count = [1.0, 1.0], [0, 0]
    for t in range(1, 9):
        run.run(iterations=1, curve=False)
        for player in (0, 1):
            discount[player] *= schedule[t - 1]
            count[player] += 1
            for key in fresh[player]:
                fresh[player][key] = [schedule[t - 1] * number for number in fresh[player][key]]
            rows, gains = newest(player)
            for row, gain in zip(rows, gains, strict=True):
                mass, total = fresh[player].get(row.tobytes(), (0.0, 0.0))
                fresh[player][row.tobytes()] = [mass + 1.0, total + gain]
            if t != 1 and t % 2:
                continue
            for key, (mass, total) in fresh[player].items():
                if mass > 0:
                    old = np.maximum(values.get((player, key), 0.0), 0.0)
                    values[player, key] = discount[player] * old + count[player] * total / mass
            fresh[player].clear()
            discount[player], count[player] = 1.0, 0
            known = [key for owner, key in values if owner == player]
            found = walked_advantages(run, player, np.frombuffer(b"".join(known), rows.dtype))
            np.testing.assert_allclose(found, [values[player, key] for key in known], rtol=2e-4, atol=2e-3)


class Regrets:
    """The regrets of a tabular rule that is updated at each fit with the sum of all data since the last one."""

    def __init__(self, rule: str) -> None:
        self._rule = update_rules.resolve(rule)
        self._old: dict[tuple[int, bytes], tuple[float, np.ndarray]] = {}  # masses and regrets at the last fit
        self._fresh: dict[tuple[int, bytes], tuple[float, np.ndarray]] = {}
        self._factors = np.ones((2, 2))  # of positive and of other regrets since the last fit, by player

    def add(self, iteration: int, player: int, rows: np.ndarray, gains: np.ndarray) -> None:
        positive, negative = self._rule.schedule(iteration, 0)[0, :2]
        self._factors[player] *= positive, negative
        for key, (mass, regret) in self._fresh.items():
            if key[0] == player:
                self._fresh[key] = positive * mass, positive * regret
        for row, gain in zip(rows, gains, strict=True):
            mass, regret = self._fresh.get((player, row.tobytes()), (0.0, np.zeros(len(gain))))
            self._fresh[player, row.tobytes()] = mass + 1.0, regret + gain

    def fitted(self, player: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows with data, their regrets and masses, after a fit."""
        positive, negative = self._factors[player]
        rows = {key[1] for key in (*self._old, *self._fresh) if key[0] == player}
        found = {}
        for row in rows:
            mass, regret = self._old.get((player, row), (0.0, 0.0))
            regret = np.maximum(regret, self._rule.floor)
            fresh_mass, fresh_regret = self._fresh.pop((player, row), (0.0, 0.0))
            self._old[player, row] = (
                positive * mass + fresh_mass,
                np.where(regret > 0, positive, negative) * regret + fresh_regret,
            )
            if self._old[player, row][0] > 0:
                found[row] = self._old[player, row]
        self._factors[player] = 1.0
        masses, regrets = zip(*found.values(), strict=True)
        return np.frombuffer(b"".join(found), ROW), np.array(regrets), np.array(masses)


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


SAVED = [
    f"deep_dcfr({NETWORK}, final_rate=0)",
    f"deep_lcfr({NETWORK}, average='value_networks', kept_networks=1)",
    *(
        pytest.param(spec, marks=pytest.mark.slow)
        for spec in (
            f"deep_cfr_plus({NETWORK}, mode='bootstrapped')",
            f"deep_dcfr({NETWORK}, retrain_from_scratch=True, full_memory='window', memory=3000, retrain='linear')",
            "deep_dcfr_plus(model='table', traversals=5000, train_every=2)",
        )
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SAVED)
def test_a_run_that_is_saved_within_a_fit_continues_as_if_it_had_not_been(tmp_path, spec):
    whole = solver(spec, seed=3)
    whole.run(iterations=2)
    parted = solver(spec, seed=3)
    stops = 0
    while parted.result().iterations < 2:
        parted.run(seconds=1e-6, curve=False)
        stops += 1
        if stops % 3 == 0:
            parted.save(tmp_path / "run.npz")
            parted = rlccfr.Solver.load(tmp_path / "run.npz", game=parted.game)
    assert stops > 6
    np.testing.assert_array_equal(parted.average_policy().table, whole.average_policy().table)
    np.testing.assert_array_equal(parted.current_policy().table, whole.current_policy().table)


def test_a_run_of_an_earlier_version_keeps_its_constant_rate(tmp_path):
    """Its file does not have the hyperparameter, whose value in the preset was 1."""
    sizes = "hidden=4, traversals=20, train_steps=2, policy_steps=1, batch_size=16, memory=100"
    solver(f"deep_lcfr(preset='holdem', {sizes})").save(tmp_path / "run.npz")
    assert rlccfr.Solver.load(tmp_path / "run.npz").update_rule.networks.value.final_rate == 0
    arrays = read_archive(tmp_path / "run.npz")
    header = json.loads(str(arrays["header"]))
    del header["components"]["update_rule"]["final_rate"]
    (tmp_path / "old.npz").write_bytes(archive_of(arrays | {"header": np.array(json.dumps(header))}))
    assert rlccfr.Solver.load(tmp_path / "old.npz").update_rule.networks.value.final_rate == 1


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


@pytest.mark.slow
def test_a_full_memory_takes_no_more_rows(tmp_path):
    run = solver(f"deep_lcfr({NETWORK}, memory=500)")
    run.run(iterations=3)
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as saved:
        rows = [saved[name] for name in saved.files if name.endswith("memory.rows")]
    assert [len(of_model) for of_model in rows] == [500] * 4


def test_values_are_those_of_the_policy_at_every_stop_within_an_iteration():
    run = solver(f"deep_lcfr({NETWORK})")
    stops = 0
    while run.result().iterations < 2:
        run.run(seconds=1e-6, curve=False)
        assert run.values().exploitability == pytest.approx(run.average_policy().exploitability(), abs=1e-9)
        stops += 1
    assert stops > 8


def test_a_run_that_failed_within_a_part_does_not_continue(monkeypatch, tmp_path):
    run = solver(f"deep_lcfr({NETWORK})")
    run.run(iterations=1)
    with monkeypatch.context() as patched:
        patched.setattr("rlccfr.engine.walked.stepper.sampled_walks", fail)
        with pytest.raises(MemoryError):
            run.run(iterations=1)
    with pytest.raises(FailedRunError, match="earlier checkpoint"):
        run.run(iterations=1)
    with pytest.raises(FailedRunError, match="earlier checkpoint"):
        run.save(tmp_path / "run.npz")


def fail(*arguments):
    raise MemoryError


def test_components_may_change_before_the_first_iteration():
    run = solver(f"deep_lcfr({NETWORK})")
    run.switch(update_rule="dcfr_plus", sampler="none")
    assert run.run(iterations=10).exploitability > 0
    run = rlccfr.Solver(rlccfr.load_game(SMALL), "dcfr_plus")
    run.switch(update_rule=f"deep_lcfr({NETWORK})", sampler="external")
    assert run.run(iterations=1).iterations == 1


def test_no_policy_is_drawn_before_an_iteration():
    run = solver(f"deep_lcfr({NETWORK}, average='value_networks')")
    with pytest.raises(ComponentError, match="after an iteration"):
        run.draw_policy()


@pytest.mark.parametrize(
    ("arguments", "name", "advice"),
    [
        (("deep_lcfr", "none"), SMALL, "use sampler='external'"),
        (("deep_lcfr", "outcome"), SMALL, "use sampler='external'"),
        (("deep_ecfr", "external"), SMALL, "use deep_lcfr"),
        (("deep_lcfr(average='table')", "external"), SMALL, "average='table': leave it out"),
        (("deep_lcfr(model='table', average='value_networks')", "external"), SMALL, "with model='table': leave it out"),
        (("deep_lcfr(device='cuda')", "external"), SMALL, "device='cuda': leave it out"),
        (("deep_lcfr", "external"), "bluff", "use dcfr_plus"),
        (("deep_lcfr(layers=0)", "external"), SMALL, "use layers=1 or more, not layers=0"),
        (("deep_lcfr(model='cards', hidden=1)", "external"), SMALL, "hidden must be at least 2 with model='cards'"),
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
