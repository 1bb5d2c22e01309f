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
# # A river, a turn, a flop: solve, look, lock
#
# A *spot* is no-limit hold'em from a known board on: a pot, stacks, a range for each player, and the bet sizes that may
# be used. This notebook solves three of them on one core, looks at what the players do with their hands, and then fixes
# a player's habit to see what is best against it.

# %%
import time

import matplotlib.pyplot as plt
import pandas as pd

import rlccfr

# %% [markdown]
# ## A river
#
# Player 0 is out of position, and acts first. The target is an exploitability of 0.1 % of the pot: on average, neither
# player would gain more than that by knowing the other's policy.

# %%
RANGES = {"oop": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs", "ip": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+"}
river = rlccfr.subgame(
    "Td9d6hQc2s", pot=200, stack=900, **RANGES, bets={"river": ("60%, a", "33%, 75%, a")}, raises="2.5x, a"
)
solver = rlccfr.Solver(river, "dcfr")
result = solver.run(until="0.1%")
print(f"{river.num_infosets:,} infosets, {result.iterations} iterations, {result.cpu_seconds:.2f} CPU seconds")

# %% [markdown]
# The first decision, hand by hand. Cells of suited hands are above the diagonal.

# %%
policy = solver.average_policy()
policy.plot_range(0)
plt.show()

# %% [markdown]
# After a bet of 120, player 1 calls, raises or folds. A node of the tree is named by the actions that lead to it:
# `c` is a check or a call, `b120` a bet of 120, `r300` a raise to 300, `a` all-in and `f` a fold.

# %%
reply = river.node("b120")
hands = ("QdQs", "AhQh", "JhTh", "Ah5h", "5h5c")
pd.DataFrame({hand: policy.action_probabilities(reply, hand) for hand in hands}).T.round(3)

# %% [markdown]
# Payoffs count from half of the pot, because the game is zero-sum. To compare with programs that count from 0, add half
# of the pot:

# %%
values = policy.values_by_hand(0)
print(f"the pot is worth {policy.values().game[0] + river.pot / 2:.1f} of {river.pot:g} to player 0")
pd.Series({hand: values[hand] + river.pot / 2 for hand in ("QsQd", "AhQh", "KsKd", "KdJd", "6d6c")}).round(1)

# %% [markdown]
# Where is the rest of the exploitability? What a best response would gain, split among the nodes where it gains:

# %%
pd.DataFrame(policy.gains_by_state(5))[["player", "text", "gain"]]

# %% [markdown]
# ## A turn
#
# With a card to come there are 48 rivers, and the tree grows from thousands of infosets to hundreds of thousands. The
# curve has the average policy, which is the one that converges, and the current one, that of the last iteration.

# %%
turn = rlccfr.subgame("Td9d6hQc", pot=200, stack=900, **RANGES, bets="60%", raises="2.5x")
solver = rlccfr.Solver(turn, "dcfr")
result = solver.run(until="0.5%")
print(f"{turn.num_infosets:,} infosets, {result.iterations} iterations, {result.cpu_seconds:.1f} CPU seconds")

# %%
points = pd.DataFrame(result.points).set_index("iteration")
percent = 100 / turn.pot
axes = plt.subplots(figsize=(7, 4), layout="constrained")[1]
axes.loglog(points["exploitability"] * percent, "o-", label="average policy")
axes.loglog(points["exploitability_current"] * percent, "s-", label="current policy")
axes.set(xlabel="iterations", ylabel="exploitability, % of the pot")
axes.legend()
plt.show()

# %% [markdown]
# Player 1's range after a check, and the first decision on one of the rivers:

# %%
policy = solver.average_policy()
policy.plot_range(turn.node("c"))
plt.show()
policy.plot_range(turn.node("cc/Kh/"))
plt.show()

# %% [markdown]
# ## A flop
#
# There are 1,176 pairs of a turn and a river, less those that differ only by a permutation of suits. `rlccfr games
# spot.txt` tells the size of a spot in a file before anything is built. Narrow ranges and one size keep this one small.

# %%
begin = time.process_time()
flop = rlccfr.subgame("QsJh2h", pot=60, stack=270, oop="TT-99,AQs,AJs,KJs,QJs", ip="QQ-TT,AQs,KQs,AJo", bets="50%")
solver = rlccfr.Solver(flop, "dcfr")
print(f"{flop.num_infosets:,} infosets, built in {time.process_time() - begin:.1f} CPU seconds")
result = solver.run(until="1%", curve=False)
print(f"{100 * result.exploitability / flop.pot:.2f} % of the pot after {result.cpu_seconds:.1f} CPU seconds")
policy = solver.average_policy()
policy.plot_range(0)
plt.show()

# %% [markdown]
# ## A lock
#
# Back to the river. Suppose that player 1 calls too often: 90 % of all bets of 120, with every hand, and never raises
# them. A lock fixes that decision, and the rest is solved.

# %%
solver = rlccfr.Solver(river, "dcfr")
solver.run(until="0.1%", curve=False)
equilibrium = solver.average_policy()
against_a_caller = rlccfr.Solver(river, "dcfr", lock={"b120": {"f": 0.1, "c": 0.9}})
against_a_caller.run(until="0.1%", curve=False)
exploiting = against_a_caller.average_policy()

# %% [markdown]
# What player 0 wins against the caller, by the equilibrium and by what is best there; and what the caller would gain by
# leaving its habit:

# %%
rows = {
    "equilibrium policy": equilibrium.seated_with(exploiting).values(),
    "policy against the caller": exploiting.values(),
}
pd.DataFrame(
    {
        name: {"player 0's share of the pot": values.game[0] + river.pot / 2, "player 1 would gain": values.gains[1]}
        for name, values in rows.items()
    }
).T.round(1)

# %% [markdown]
# Against a caller, player 0 bets its good hands and gives up its bluffs:

# %%
exploiting.plot_range(0)
plt.show()

# %% [markdown]
# In a shell, `rlccfr solve spot.txt --lock lock.json` does the same. The guide "Solve a no-limit spot" has the formats
# of files, and a table for users of other programs.
