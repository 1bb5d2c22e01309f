"""Q-learning of a team, on problems whose solution is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlccfr.agents import SelectorTeam, expand_team
from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.learning import QLearning, Replay, value_of_best_answer
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.observation import FEATURE_NAMES, OBSERVATION_SIZE
from rlccfr.envs.reward import PRESETS, Costs, Preset
from rlccfr.errors import RLCCFRError

CATALOG = Catalog(("cfr", "dcfr", "lcfr"), ("none", "external"), ("cfr_br", "none"))
BUDGET = Budget("iterations", 10)
SETTINGS = Hyperparameters(hidden=(32, 32), batch_size=64, tau=0.05, gamma=0.5)
HASTY = ((1, 0), (1, 0), (0, 0.1))
"""Reward weights under which agent C by itself counts speed alone; in the mean, exploitability counts twenty times
as much."""


def team_of(costs: dict[Cell, tuple[float, float]], **options) -> SelectorTeam:
    """Return a team that has measured these costs of whole runs."""
    team = SelectorTeam("kuhn", BUDGET, catalog=CATALOG, hyperparameters=SETTINGS, **options)
    for cell, paid in costs.items():
        add(team, Situation("kuhn", 0, BUDGET), cell, paid)
    return team


def add(team: SelectorTeam, situation: Situation, cell: Cell, paid: tuple[float, float], done: bool = True) -> None:
    """Add an outcome; what agents see tells situations apart."""
    mark = (1 + CATALOG.index(situation.cells[0])[0]) / 3 if situation.cells else 0.0
    seen = np.stack([team.env.observe(cell[:agent]) for agent in range(3)])
    seen[:, 0] = mark
    error, speed = paid
    costs = Costs(error, 0.0, error, speed)  # all have converged
    team.experience.add(situation, cell, Outcome(seen, costs, done, f"{situation}{cell}", 1.0))


def learned(team: SelectorTeam, steps: int = 2000) -> SelectorTeam:
    QLearning(Replay(team)).learn_round(1.0, steps)
    return team


def values(team: SelectorTeam, *picks: str) -> np.ndarray:
    """Return the Q-values of the agent that follows the picks."""
    return team.selectors[len(picks)].q_values(team.env.observe(list(picks)))


@pytest.mark.slow
def test_values_are_those_of_the_best_answers_that_were_measured():
    """One decision: C's values are rewards, B's are maxima over C's picks, and A's are maxima over both."""
    rng = np.random.default_rng(1)
    measured = [cell for cell in CATALOG if cell != Cell("lcfr", "external", "none")]
    costs = {cell: (float(rng.uniform()), 0.0) for cell in measured}
    team = learned(team_of(costs))
    best = {}
    for cell, (error, _) in costs.items():
        for key in ((cell.update_rule,), cell[:2], tuple(cell)):
            best[key] = max(best.get(key, -1.0), 1 - error)
    for key, expected in best.items():
        found = values(team, *key[:-1])[CATALOG.axes[len(key) - 1].index(key[-1])]
        assert found == pytest.approx(expected, abs=0.03), key
    assert team.pick() == min(costs, key=lambda cell: costs[cell])


@pytest.mark.slow
def test_agents_do_what_is_best_for_all():
    costs = {cell: (0.2 if cell.abstraction == "none" else 0.6, 1.0 if cell.abstraction == "none" else 0.0)
             for cell in CATALOG}  # fmt: skip
    assert learned(team_of(costs, preset=HASTY), 300).pick().abstraction == "none"


@pytest.mark.verify
def test_agents_make_a_sacrifice_now_for_what_follows():
    """Of two decisions, the first costs most under the only pick that the best second one can follow."""
    team = team_of({}, segments=2)
    start, second = Situation("kuhn", 0, BUDGET), {"cfr": 1.0, "dcfr": 0.1, "lcfr": 1.0}
    for cell in CATALOG:
        add(team, start, cell, (0.7 if cell.update_rule == "dcfr" else 0.5, 0.0), done=False)
        for following in CATALOG:
            add(team, start.after(cell), following, (second[cell.update_rule], 0.0))
    learned(team, 8000)  # the two situations differ in one number among many, and each bootstraps from the next
    seen = team.env.observe()
    seen[0] = 0.0  # the first decision's mark; the values are 0.5 + 0.5 * 0 after two rules, and 0.3 + 0.5 * 0.9
    np.testing.assert_allclose(team.selectors[0].q_values(seen), [0.5, 0.75, 0.5], atol=0.04)


def test_target_networks_follow_slowly_and_are_saved(tmp_path):
    team = team_of(dict.fromkeys(CATALOG, (0.5, 0.5)))
    before = team.selectors[0].state()
    learned(team, 1)
    target = team.selectors[0].learning()
    for name, array in team.selectors[0].state().items():
        expected = 0.95 * before[name] + 0.05 * array
        np.testing.assert_allclose(target[f"target/{name}"], expected, atol=1e-6)
    team.save(tmp_path)
    other = SelectorTeam.load(tmp_path)
    for one in (team, other):
        learned(one, 3)
    for mine, restored in zip(team.selectors, other.selectors, strict=True):
        for name, array in mine.state().items():
            np.testing.assert_array_equal(restored.state()[name], array)


def test_a_team_without_training_state_has_target_networks_like_its_networks(tmp_path):
    team = learned(team_of(dict.fromkeys(CATALOG, (0.5, 0.5))), 3)
    team.save(tmp_path, experience=False)
    larger = expand_team(team, Catalog((*CATALOG.update_rules, "lcfr_plus"), *CATALOG.axes[1:]))
    for selector in (*SelectorTeam.load(tmp_path).selectors, *larger.selectors):
        policy = selector.policy
        for name, tensor in policy.q_net.state_dict().items():
            assert torch.equal(tensor, policy.q_net_target.state_dict()[name])


def test_the_best_answer_is_the_target_networks_value_of_what_the_network_prefers():
    """The network prefers the second answer, which is closed in the second row; the target would take the first."""
    policy = team_of({}).selectors[2].policy
    for network, values in ((policy.q_net, (0.5, 0.7)), (policy.q_net_target, (0.9, 0.2))):
        for parameter in network.parameters():
            parameter.data.zero_()
        list(network.parameters())[-1].data[:] = torch.tensor(values)
    seen = torch.zeros(2, OBSERVATION_SIZE)
    open_ = torch.tensor([[True, True], [True, False]])
    assert value_of_best_answer(policy, seen, open_).tolist() == pytest.approx([0.2, 0.9])
    assert value_of_best_answer(policy, seen).tolist() == pytest.approx([0.2, 0.2])


def test_weights_are_drawn_anew_for_each_replayed_pick():
    costs = dict.fromkeys(CATALOG, (1.0, 0.0))
    team = team_of(costs, preset=[((1, 0), (1, 0), (1, 0)), ((0.5, 0), (0.5, 0), (0.5, 0))])
    _, targets = QLearning(Replay(team))._picks_and_targets()
    assert set(targets[-1].tolist()) == {0.0, 0.5}


def test_rewards_on_several_scales_are_told_apart():
    """A team with one preset per scale draws both scales, and each target is that of the drawn scale."""
    weights = PRESETS["accuracy"].weights
    team = team_of({}, preset=[Preset("log", weights, "log"), Preset("units", weights, "units")])
    for cell in CATALOG:
        seen = np.stack([team.env.observe(cell[:agent]) for agent in range(3)])
        costs = Costs(0.25, 0.05, 3.0, 0.5)
        team.experience.add(Situation("kuhn", 0, BUDGET), cell, Outcome(seen, costs, True, str(cell), 1.0))
    picks, targets = QLearning(Replay(team))._picks_and_targets()
    in_units = picks.inputs[2][:, FEATURE_NAMES.index("weights.scale.units")] == 1
    assert set(targets[-1][in_units].tolist()) == {-2.0}
    assert set(targets[-1][~in_units].tolist()) == {0.75}


@pytest.mark.slow
def test_with_own_rewards_each_agent_does_its_best_given_what_the_later_ones_do():
    """C counts speed alone, so it takes the fast abstraction; A and B then take what is best with that one."""
    errors = {("cfr", "cfr_br"): 0.2, ("cfr", "none"): 0.9, ("dcfr", "cfr_br"): 0.8, ("dcfr", "none"): 0.0}
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("cfr_br", "none"))
    hasty, picked = ((1, 0), (1, 0), (0, 1)), {}
    for rewards in ("mean", "own"):
        settings = Hyperparameters(hidden=(32, 32), batch_size=64, tau=0.05, rewards=rewards)
        team = SelectorTeam("kuhn", BUDGET, catalog=catalog, preset=hasty, hyperparameters=settings)
        for (rule, abstraction), error in errors.items():
            cell = Cell(rule, "none", abstraction)
            seen = np.stack([team.env.observe(cell[:agent]) for agent in range(3)])
            costs = Costs(error, 0.0, error, 0.1 if abstraction == "cfr_br" else 0.5)
            team.experience.add(Situation("kuhn", 0, BUDGET), cell, Outcome(seen, costs, True, str(cell), 1.0))
        picked[rewards] = learned(team, 1000).pick()
    assert picked == {"mean": Cell("dcfr", "none", "none"), "own": Cell("cfr", "none", "cfr_br")}


def test_what_has_not_converged_is_no_answer():
    """B's and A's values are those of converged answers, unless the weights ask for speed alone or there is none."""
    team = team_of({})
    for cell in CATALOG:
        seen = np.stack([team.env.observe(cell[:agent]) for agent in range(3)])
        converged = cell.abstraction == "none" and cell.sampler == "none"
        costs = Costs(0.5, 0.05 if converged else 0.5, 0.5, 0.5)
        team.experience.add(Situation("kuhn", 0, BUDGET), cell, Outcome(seen, costs, True, str(cell), 1.0))
    replay = Replay(team)
    here = np.zeros(1, np.intp)
    both, first = np.array([[True, True]]), np.array([[True, False]])
    at = {id: np.array([index]) for axis in CATALOG.axes for index, id in enumerate(axis)}
    for speed_alone, samplers, abstractions in ((False, first, first[:, ::-1]), (True, both, both)):
        flag = np.array([speed_alone])
        np.testing.assert_array_equal(replay.legal(1, (here, at["cfr"]), flag), samplers)
        np.testing.assert_array_equal(replay.legal(2, (here, at["cfr"], np.array([0])), flag), abstractions)
    np.testing.assert_array_equal(replay.legal(2, (here, at["cfr"], np.array([1])), np.array([False])), both)


def test_the_rewards_to_learn_are_named():
    with pytest.raises(RLCCFRError, match="rewards must be 'mean' or 'own', not 'all'"):
        Hyperparameters(rewards="all")
