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
# # Read the table
#
# Each of the paper's 336 algorithms was measured on four games, and the package ships the measurements. This notebook
# solves no game: it reads all figures off these measurements.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rlccfr.agents import measure_all, shipped
from rlccfr.agents.baselines.task import worths_of
from rlccfr.agents.judging.insights import insights
from rlccfr.agents.judging.sweep_table import recommended_table
from rlccfr.catalog import Cell
from rlccfr.envs import Budget
from rlccfr.envs.episode import parse_preset

table, catalog = shipped.results(), shipped.catalog()
print(f"{len(table):,} runs of the paper's {len(catalog)} algorithms and of others, on {', '.join(shipped.GAMES)}")

# %% [markdown]
# ## What to take
#
# The table shows what the teams pick for one second of CPU time. *Regret* is the shortfall of the pick's reward from
# the best algorithm's; it is measured with the judging seeds. A deterministic algorithm has one run: it is chosen by
# one timing of that run and judged by a second. The *tied set* holds the algorithms that can't be told from the best.
# Where it is large, membership says little.

# %%
second = Budget("seconds", 1.0)
teams = {game: shipped.team(game) for game in shipped.GAMES}
recommended = recommended_table(table, catalog, shipped.GAMES, [second], ["accuracy", "paper-speed"], teams=teams)
recommended.picks[
    ["game", "preset", *Cell._fields, "exploitability", "speed", "regret", "in_tied_set", "tied_set_size"]
]

# %% [markdown]
# The picks differ where speed matters: `paper-speed` weighs it more than exploitability. `speed` is throughput as a
# multiple of plain CFR's.

# %% [markdown]
# ## All algorithms
#
# Each heatmap shows the exploitability after a second. Its rows are the update rules and its columns the samplers; each
# square shows the best of the three abstractions.

# %%
figure, axes = plt.subplots(2, 2, figsize=(13, 11), layout="constrained")
for axis, game in zip(axes.flat, shipped.GAMES, strict=True):
    runs = measure_all(table, catalog, game, second)
    found = np.array([np.mean([run.exploitability for run in runs[cell]]) for cell in catalog])
    grid = np.log10(np.maximum(found, 1e-16)).reshape(catalog.shape).min(axis=2)
    image = axis.imshow(grid, cmap="viridis_r", aspect="auto")
    axis.set_xticks(range(len(catalog.samplers)), catalog.samplers, rotation=45, ha="right")
    axis.set_yticks(range(len(catalog.update_rules)), [rule.split("(")[0] for rule in catalog.update_rules])
    axis.set_title(game)
    figure.colorbar(image, label="exploitability, power of ten")
plt.show()

# %% [markdown]
# ## What each component does
#
# A component's effect is the mean reward of the algorithms with it, minus the mean reward of all algorithms.

# %%
effects = pd.concat([insights(table, catalog, game, second).effects.assign(game=game) for game in shipped.GAMES])
effects["component"] = effects["component"].str.split("(").str[0]
effects.pivot_table(index=["axis", "component"], columns="game", values="effect", sort=False).round(3)

# %% [markdown]
# ## Speed and exploitability
#
# No algorithm is both faster and closer to an equilibrium than one on the Pareto front.

# %%
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
for game, marker in zip(shipped.GAMES, "osD^", strict=True):
    front = insights(table, catalog, game, second).front
    axes.loglog(np.maximum(front["exploitability"], 1e-16), front["speed"], f"{marker}-", label=game)
axes.set(xlabel="exploitability after a CPU second", ylabel="speed, times plain CFR")
axes.legend()
plt.show()

# %% [markdown]
# The measurements answer for any reward weights, not only for the named presets. Below, exploitability counts less and
# less compared with speed. Algorithms that have not converged rank below all that have.

# %%
runs = measure_all(table, catalog, "leduc", second)
for alpha, beta in ((1.0, 0.0), (0.5, 1.0), (0.1, 1.0)):
    worths = worths_of(runs, parse_preset([(alpha, beta)] * 3))
    best = max(worths, key=worths.get)
    print(f"alpha {alpha}, beta {beta}: {best}, reward {worths[best].reward:.3f}")
