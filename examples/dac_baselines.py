"""Policies of dynamic algorithm configuration on this library's benchmark for DACBench: ``python dac_baselines.py``.

Each policy steers one run on each of the 34 validation games, and is judged by its return: the decades by which the
exploitability falls. It needs ``pip install 'rlccfr[dac]'``.
"""

import numpy as np

from rlccfr.agents.control.dac_benchmark import ControlBenchmark, controller_policy  # also imports DACBench
from rlccfr.catalog.scheduled import controller_named
from rlccfr.envs import ControlEnv

from dacbench.agents import GenericAgent, RandomAgent, StaticAgent  # isort: skip

ITERATIONS = 1000


def returns(env, agent) -> list[float]:
    """Return the sum of rewards of an agent's run on each instance."""
    sums = []
    for instance in env.instance_set:
        state, _ = env.reset(options={"instance_id": instance})
        terminated = False
        reward = 0.0
        total = 0.0
        while not terminated:
            state, reward, terminated, _, _ = env.step(agent.act(state, reward))
            total += reward
        sums.append(total)
    return sums


benchmark = ControlBenchmark(config={"instance_set_path": "validation", "test_set_path": "validation"})
benchmark.set_horizon(ITERATIONS)
env = benchmark.get_environment()
env.action_space.seed(0)
shipped = controller_named("shipped")

# One schedule: what the controller picks on a small game, repeated on all games.
small = ControlEnv("kuhn", ITERATIONS)
state, _ = small.reset()
terminated = False
while not terminated:
    state, _, terminated, _, _ = small.step(controller_policy(shipped)(small, state))

agents = {
    "random": RandomAgent(env),
    "static, CFR+": StaticAgent(env, [0, 1, 0]),
    "static, DCFR": StaticAgent(env, [5, 2, 0]),
    "static, PCFR+": StaticAgent(env, [0, 2, 6]),
    "schedule of a run on Kuhn": GenericAgent(env, controller_policy(small.schedule())),
    "shipped controller": GenericAgent(env, controller_policy(shipped)),
}
print(f"mean return on {len(env.instance_set)} games, {ITERATIONS} iterations, in decades of exploitability:")
for name, agent in agents.items():
    print(f"  {name}: {np.mean(returns(env, agent)):.2f}")
