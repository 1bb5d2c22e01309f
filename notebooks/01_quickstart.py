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
# Solve Leduc poker. Exploitability is what the players lose on average to best responses; at a Nash equilibrium it
# is 0. A linear program that takes less than a tenth of a second comes first, because it is exact; the last line says
# what was predicted.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rlccfr

print(rlccfr.solve("leduc"))

# %% [markdown]
# Most games are too large for a linear program, and you may want to choose the algorithm yourself. Load the game, run
# two algorithms, and compare their exploitability.

# %%
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
axes = plt.subplots()[1]
for name, result in results.items():
    result.plot("nodes", axes, label=name)
plt.show()

# %% [markdown]
# The average policy is the policy that converges. Here it is a table; below it is an OpenSpiel policy.

# %%
policy = solvers["CFR+, exact"].average_policy()
policy.to_frame().head()

# %% [markdown]
# ## Play a hand against it
#
# You are player 0 and call every time. Replace `me` with your own way of playing.

# %%
rng = np.random.default_rng(3)


def me(state):
    return next(action for action in state.legal_actions() if state.action_to_string(action) == "Call")


def deal(state):
    cards, chances = zip(*state.chance_outcomes(), strict=True)
    return int(rng.choice(cards, p=chances))


def opponent(state):
    chances = theirs.action_probabilities(state)
    return int(rng.choice(list(chances), p=list(chances.values())))


theirs = policy.to_openspiel()
state = theirs.game.new_initial_state()
while not state.is_terminal():
    if state.is_chance_node():
        who, action = "the dealer", deal(state)
    else:
        who, choose = [("you", me), ("the policy", opponent)][state.current_player()]
        action = choose(state)
    print(f"{who}: {state.action_to_string(action)}")
    state.apply_action(action)
print(state)
print(f"you win {state.returns()[0]:+g}")

# %% [markdown]
# Components are data. A hyperparameter is a keyword argument. A switch during a run keeps the tables.

# %%
solver = rlccfr.Solver(game, rlccfr.catalog.make("dcfr", gamma=3.0))
solver.run(iterations=200)
solver.switch(update_rule="cfr_plus")
print(solver.run(iterations=800))
