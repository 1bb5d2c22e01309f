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
# # Solve a game, and see how fast
#
# Load Leduc poker from OpenSpiel, run two algorithms, and compare their exploitability: what the players lose to best
# responses on average. 0 is a Nash equilibrium.

# %%
import matplotlib.pyplot as plt

import rlccfr

game = rlccfr.load_game("leduc")
game

# %%
solvers = {
    "CFR+, exact": rlccfr.Solver(game, "cfr_plus"),
    "CFR, external sampling": rlccfr.Solver(game, "cfr", "external", seed=0),
}
results = {name: solver.run(nodes=20_000_000) for name, solver in solvers.items()}
for name, result in results.items():
    print(f"{name}: {result.exploitability:.2g} after {result.iterations:,} iterations, {result.throughput:,.0f}/s")

# %%
figure, axes = plt.subplots()
for name, result in results.items():
    axes.loglog(result.curve["nodes"], result.curve["exploitability"], label=name)
axes.set_xlabel("histories touched")
axes.set_ylabel("exploitability")
axes.legend()
plt.show()

# %% [markdown]
# The average policy is what converges. As a table, and as OpenSpiel's own policy:

# %%
policy = solvers["CFR+, exact"].average_policy()
policy.to_frame().head()

# %%
policy.to_openspiel()

# %% [markdown]
# Components are data. A hyperparameter is a keyword; switching in mid-run keeps the tables.

# %%
solver = rlccfr.Solver(game, rlccfr.catalog.make("dcfr", gamma=3.0))
solver.run(iterations=200)
solver.switch(update_rule="cfr_plus")
print(solver.run(iterations=800))
