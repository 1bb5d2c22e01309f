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
# # The paper's experiments again
#
# Keshavarzi, Navidi and Tefagh compare fixed algorithms with what their system chooses, on four games. The same from
# the measurements that come with the package; `rlccfr reproduce` does it in a shell.

# %%
from pathlib import Path

import pandas as pd
from IPython.display import SVG, display

from rlccfr.agents import shipped
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.reproduction import ITERATIONS, PANELS, draw, throughputs
from rlccfr.envs import Budget, LiveEvaluator

table, catalog = shipped.results(), shipped.catalog()
pd.Series({name: str(cell) for name, cell in fixed_cells(catalog).items()}, name="the paper's fixed algorithms")

# %% [markdown]
# ## Figures 2 to 5: exploitability against iterations
#
# Under the weights of each caption, which want speed as well as exactness: so the pick need not be the lowest line.

# %%
for panel in PANELS:
    path = Path(f"figure-{panel.number}.svg")
    draw(panel, table, catalog, shipped.team(panel.game), path)
    display(SVG(str(path)))

# %% [markdown]
# Where these differ from the paper: iterations here are alternating updates of both players; averages are weighted as
# each algorithm's source says; a curve is one run that was not chosen by (a deterministic algorithm has only one), and
# networks are the small ones of the preset `sweep`.

# %% [markdown]
# ## Table 4: iterations per second on Kuhn poker
#
# Measured now, on this machine, without networks, which take minutes (`rlccfr reproduce` has them).

# %%
quick = {name: cell for name, cell in fixed_cells(catalog).items() if name != "DeepCFR"}
throughputs(LiveEvaluator(), quick).round(2)

# %% [markdown]
# Absolute numbers depend on machine and implementation; the last column, times plain CFR, can be compared.

# %%
for panel in PANELS:
    pick = shipped.team(panel.game).pick(panel.game, Budget("iterations", ITERATIONS[0]), panel.preset)
    print(f"{panel.game}, {panel.preset}: {pick}")
