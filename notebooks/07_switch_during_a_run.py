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
# The best algorithm at the beginning of a run need not be the best at its end. With several segments, an episode has
# several decisions. The solver keeps its tables in between, and the agents see how far it has come.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rlccfr
from rlccfr.agents import SelectorTeam
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget, LiveEvaluator, Request

# %% [markdown]
# To switch by hand, call `Solver.switch` at any time. The regrets and the average so far are kept.

# %%
game = rlccfr.load_game("leduc")
solver = rlccfr.Solver(game, "cfr_plus")
solver.run(iterations=250)
solver.switch(update_rule="dcfr")
print(solver.run(iterations=750))

# %% [markdown]
# Every pair of six algorithms, each for a segment of 150 iterations:

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
# A team learns both decisions at once. The value of a first pick is its own reward plus what the best second pick then
# earns. All pairs were measured above, so the team may see them all. It needs to see them, because the three best pairs
# are hard to tell apart: they differ by less than a quarter of a decade.

# %%
team = SelectorTeam("leduc", budget, segments=2, catalog=catalog, evaluator=evaluator)
team.train(evaluations=42)
recommended = team.recommend()
print(recommended)
