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
# # Reproduce the paper
#
# Keshavarzi, Navidi and Tefagh compare fixed algorithms with the choices of their system, on four games. This notebook
# makes the same comparison from the measurements that the package ships. `rlccfr reproduce` does it in a shell.

# %%
from pathlib import Path

import pandas as pd
from IPython.display import SVG, display

from rlccfr import recommend
from rlccfr.agents import shipped
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.reproduction import ITERATIONS, PANELS, draw, throughputs
from rlccfr.envs import PRESETS, Budget, LiveEvaluator

table, catalog = shipped.results(), shipped.catalog()
pd.Series({name: str(cell) for name, cell in fixed_cells(catalog).items()}, name="the paper's fixed algorithms")

# %% [markdown]
# ## Figures 2 to 5: exploitability against iterations
#
# Each caption names the reward weights. They count speed as well as exploitability, so the pick need not be the lowest
# line. The reward is the paper's: its cost of an error is the exploitability itself.

# %%
budget = Budget("iterations", ITERATIONS[0])
picks = {panel.game: recommend(panel.game, budget, panel.preset, catalog="paper").cell for panel in PANELS}
for panel in PANELS:
    path = Path(f"figure-{panel.number}.svg")
    draw(panel, table, catalog, picks[panel.game], path)
    display(SVG(str(path)))

# %% [markdown]
# These figures differ from the paper's in four ways:
#
# - An iteration updates both players in turn.
# - Averages are weighted as each algorithm's source says.
# - A curve is one run of a judging seed; a deterministic algorithm has only one run.
# - The networks have the small settings `sweep`.

# %% [markdown]
# ## Table 4: iterations per second on Kuhn poker
#
# The table is measured on this machine when the notebook runs. It leaves out the algorithm with networks, which takes
# minutes; `rlccfr reproduce` includes it.

# %%
quick = {name: cell for name, cell in fixed_cells(catalog).items() if name != "DeepCFR"}
throughputs(LiveEvaluator(), quick).round(2)

# %% [markdown]
# Absolute numbers depend on the machine and the implementation. Only the last column, the multiple of plain CFR's
# speed, can be compared.
#
# ## The picks
#
# The algorithms that the shipped teams pick for each figure:

# %%
for panel in PANELS:
    print(f"{panel.game}, {PRESETS[panel.preset]}: {picks[panel.game]}")

# %% [markdown]
# `rlccfr reproduce rlccfr` also shows what teams pick with other scales of the error, and with agents that learn their
# own rewards in place of the mean.
