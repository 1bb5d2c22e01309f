# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Train three agents to pick an algorithm
#
# An algorithm is an update rule, a sampler and an abstraction. Three DQN agents pick one of each, in this order. The
# algorithm runs and is measured. Then each agent gets the reward 1 - (alpha e + beta s). The cost e is low where
# exploitability is low, and the cost s is low where the algorithm is fast. Each agent has its own weights alpha and
# beta. All three learn the mean of their rewards.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rlccfr.agents import SelectorTeam, measure_all
from rlccfr.agents.baselines.task import worths_of
from rlccfr.agents.judging.scores import regret

team = SelectorTeam(
    "kuhn",
    budget={"unit": "iterations", "amount": 1000},
    preset="paper-kuhn",
    catalog="tabular",  # the paper's algorithms that fit no networks
)
print(f"{len(team.catalog)} algorithms: {' x '.join(map(str, team.catalog.shape))}")
print(team.env.preset)
pd.DataFrame(team.env.preset.weights, ["update rule", "sampler", "abstraction"], ["alpha", "beta"])

# %% [markdown]
# An evaluation is one algorithm, measured once. The agents learn from each evaluation as often as it helps, because
# gradient steps are cheap beside runs of a solver.

# %%
team.train(evaluations=24, log_dir="team")
log = pd.read_csv("team/training.csv")
log[["evaluations", "update_rule", "sampler", "abstraction", "mean_reward"]].tail()

# %% [markdown]
# The team recommends what its Q-networks say, not the best algorithm that it happened to measure.

# %%
recommended = team.recommend()
print(recommended)

# %% [markdown]
# Was that good? Every algorithm can be measured here, so the truth is known.

# %%
budget, preset = team.env.budgets[0], team.env.preset
worths = worths_of(measure_all(team.env.evaluator, team.catalog, "kuhn", budget), preset)
best = max(worths, key=worths.get)
print(f"best of all that have converged: {best}")
print(f"regret of the pick: {regret(worths[recommended.cell].reward, worths[best].reward):.3g}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(log["evaluations"], log["mean_reward"], "o", label="measured")
left.plot(log["evaluations"], log["mean_reward"].cummax(), label="best so far")
left.axhline(worths[best].reward, color="black", linestyle=":", label="best of all that converge")
left.set(xlabel="evaluations", ylabel="mean reward of the three agents")
left.legend()
grid = np.array([worth.reward for worth in worths.values()]).reshape(team.catalog.shape).max(axis=2)
image = right.imshow(grid, cmap="viridis", aspect="auto")
rule, sampler, _ = team.catalog.index(recommended.cell)
right.plot(sampler, rule, "s", markersize=18, markerfacecolor="none", markeredgecolor="red", label="the team's pick")
right.set_xticks(range(grid.shape[1]), team.catalog.samplers, rotation=45, ha="right")
right.set_yticks(range(grid.shape[0]), team.catalog.update_rules)
right.legend(loc="lower left")
figure.colorbar(image, label="mean reward, better abstraction")
plt.show()

# %% [markdown]
# The three best choices of each agent by its Q-values, at the beginning of an episode and after the earlier agents'
# picks:

# %%
team.env.reset()
picks = team.greedy(team.env)
for agent, (axis, ids) in enumerate(zip(("update rule", "sampler", "abstraction"), team.catalog.axes, strict=True)):
    values = pd.Series(team.q_values(team.env, picks[:agent]), ids, name=axis)
    print(values.sort_values(ascending=False).head(3).round(3).to_string(), end="\n\n")

# %% [markdown]
# A team is kept in its directory, and its training can go on there: in Python after `SelectorTeam.load("team")`, or in
# a shell by `rlccfr train` with the same settings and `--out team`.

# %%
again = SelectorTeam.load("team", evaluator=team.env.evaluator)
again.train(evaluations=30)
print(again.recommend())
