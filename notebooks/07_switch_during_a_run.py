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
# # Switch the algorithm during a run
#
# What is best at the beginning of a run need not be best at its end. With several segments an episode has several
# decisions: the solver keeps its tables, and the agents see how far it has come.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rlccfr
from rlccfr.agents import SelectorTeam
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget, LiveEvaluator, Request

# %% [markdown]
# By hand: `Solver.switch`, at any time. Regrets and the average so far stay.

# %%
game = rlccfr.load_game("leduc")
solver = rlccfr.Solver(game, "cfr_plus")
solver.run(iterations=250)
solver.switch(update_rule="dcfr")
print(solver.run(iterations=750))

# %% [markdown]
# All that two segments of 150 iterations can be, of six algorithms:

# %%
catalog = Catalog(("cfr", "cfr_plus", "dcfr", "pcfr_plus", "hs_dcfr", "hedge"), ("none",), ("none",))
budget, evaluator = Budget("iterations", 300), LiveEvaluator()


def exploitability(*rules):
    cells = tuple(Cell(rule, "none", "none") for rule in rules)
    return evaluator.measure(Request("leduc", cells, budget, segments=2)).exploitability


rules = catalog.update_rules
grid = np.array([[exploitability(first, second) for second in rules] for first in rules])
alone, switched = grid.diagonal().min(), grid.min()
first, second = (rules[index] for index in np.unravel_index(grid.argmin(), grid.shape))
print(f"best without a switch {alone:.2e}, with one {switched:.2e}: {first}, then {second}")

# %%
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
image = axes.imshow(np.log10(grid), cmap="viridis_r")
axes.set_xticks(range(len(rules)), rules, rotation=45, ha="right")
axes.set_yticks(range(len(rules)), rules)
axes.set(xlabel="second half", ylabel="first half", title="Leduc poker, 2 x 150 iterations")
figure.colorbar(image, label="exploitability, power of ten")
plt.show()

# %% [markdown]
# A team learns both decisions at once; a first pick is worth its own reward and what the best second one then earns.
# All pairs were measured above, so it may see them all; a quarter of a decade is little to tell them apart by.

# %%
team = SelectorTeam("leduc", budget, segments=2, catalog=catalog, evaluator=evaluator)
team.train(evaluations=42)
recommended = team.recommend()
print(recommended)
