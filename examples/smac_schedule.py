"""SMAC3 configures the update rule ``scheduled`` on some games, and is judged on others: ``python smac_schedule.py``.

The cost of a configuration on a game is log10 of the exploitability that is left of the uniform policy's. It needs
``pip install rlccfr smac``. SMAC3 repeats a search only with the same ``PYTHONHASHSEED``.
"""

import logging
import math

from ConfigSpace import Categorical, ConfigurationSpace, EqualsCondition, Float
from smac import AlgorithmConfigurationFacade, Scenario

import rlccfr
from rlccfr.agents.control.games import control_games

ITERATIONS = 1000
TRIALS = 100

space = ConfigurationSpace(seed=0)
floor = Categorical("floor", [True, False])
beta = Float("beta", (-2.0, 1.0))
space.add(Float("alpha", (0.5, 5.0)), Float("gamma", (0.0, 20.0)), Float("optimism", (0.0, 1.0)), floor, beta)
space.add(EqualsCondition(beta, floor, False))  # with a floor at 0, no regret is negative


def cost(game: str, *rule: object, **options: object) -> float:
    """Return log10 of the exploitability after a run, as a share of the uniform policy's."""
    tree = rlccfr.load_game(game)
    left = rlccfr.Solver(tree, *rule, **options).run(iterations=ITERATIONS).exploitability
    return math.log10(max(left, 1e-15) / rlccfr.Policy.uniform(tree).exploitability())


def trial(config: dict, instance: str, seed: int = 0) -> float:
    """Return the cost of a configuration on a training game."""
    return cost(instance, {"id": "scheduled", **config})


logging.disable(logging.INFO)
training = control_games("train")[::60]
numbers = {game: [float(number)] for number, game in enumerate(training)}  # SMAC tells games apart by features
scenario = Scenario(
    space, deterministic=True, n_trials=TRIALS, instances=list(training), instance_features=numbers, seed=0,
    output_directory="runs/smac",
)  # fmt: skip
best = dict(AlgorithmConfigurationFacade(scenario, trial, overwrite=True).optimize())
print(f"SMAC3, after {TRIALS} runs on {len(training)} training games: {best}")
validation = control_games("validation")
print(f"mean log10 of what is left after {ITERATIONS} iterations on the {len(validation)} validation games:")
ways = {name: ((name,), {}) for name in ("cfr_plus", "dcfr", "pcfr_plus")}
ways["SMAC3's scheduled"] = (({"id": "scheduled", **best},), {})
ways["shipped controller"] = ((), {"control": "shipped"})
for name, (rule, options) in ways.items():
    costs = [cost(game, *rule, **options) for game in validation]
    print(f"  {name}: {sum(costs) / len(costs):.2f}")
