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
# # Solve flop hold'em on a laptop
#
# Flop hold'em is limit hold'em that ends after the flop. RLCCFR solves it by its public tree, on one core. This
# notebook solves it, shows what the policy does with each hand, and compares exact passes with public chance sampling.

# %%
import resource
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import rlccfr

game = rlccfr.load_game("flop_holdem")
print(f"{game.num_infosets:,} infosets, {game.num_nodes:,} public nodes, {len(game.deals) - 1:,} different flops")

# %% [markdown]
# ## Solve it, with a break
#
# Deep CFR and NFSP reached these exploitabilities on this game, in thousandths of a big blind per game (Brown, Lerer,
# Gross and Sandholm, *Deep counterfactual regret minimization*, ICML 2019):

# %%
PUBLISHED = {"Deep CFR": 37, "NFSP": 47}


def mbb(points):
    """Return a curve's exploitability in thousandths of a big blind, by engine CPU seconds."""
    frame = pd.DataFrame(points)
    return pd.Series(1000 * frame["exploitability"].values / game.big_blind, frame["cpu_seconds"].values)


solver = rlccfr.Solver(game, "dcfr_plus")
result = solver.run(until=f"{PUBLISHED['Deep CFR']}mbb")
print(f"{mbb(result.points).iloc[-1]:.1f} mbb/g after {result.iterations} iterations")
print(f"{result.cpu_seconds:.0f} CPU seconds, without those for evaluating")

# %% [markdown]
# A saved run can go on later, or in another process. The game is passed to save the time of building it again. In a
# shell, `rlccfr solve flop_holdem --checkpoint run.npz` does the same, and writes the file every minute.

# %%
path = Path("run.npz")
solver.save(path)
print(f"the file has {path.stat().st_size / 2**30:.2f} GiB")
del solver

solver = rlccfr.Solver.load(path, game=game)
path.unlink()
exact = mbb(solver.run(until="20mbb").points)
print(f"{exact.iloc[-1]:.1f} mbb/g after {exact.index[-1]:.0f} CPU seconds")

# %% [markdown]
# Nothing is lost by the break: on a smaller relative, a run in two parts equals a run in one piece, bit for bit.

# %%
small = rlccfr.load_game("holdem(ranks=5,suits=2,private=2,flop=2)")
whole, part = (rlccfr.Solver(small, "dcfr_plus") for _ in range(2))
part.run(iterations=40)
part.save("small.npz")
print((whole.run(iterations=100).exploitability, rlccfr.Solver.load("small.npz").run(iterations=60).exploitability))

# %% [markdown]
# ## What the policy does
#
# The average policy is a copy of a table, so the solver is dropped to free its memory. A node of the public tree is
# named by its path: f, c and r for fold, call or check, and raise, then the board. Of flops that differ only by a
# permutation of suits, one stands for all. Cells of suited hands are above the diagonal.

# %%
policy = solver.average_policy()
del solver
policy.plot_range()
plt.show()

# %% [markdown]
# The big blind's reply to a raise:

# %%
policy.plot_range(game.node("r"))
plt.show()

# %% [markdown]
# The first decision on a flop, after a raise and a call. A cell is the mean over the hands that the board allows; a
# hand that has a suit of the board may be played in another way.

# %%
flop = game.node("rc/Kh8d3c/")
policy.plot_range(flop)
plt.show()

# %% [markdown]
# For one hand, `action_probabilities` gives the probability of each action. Hands that differ only by a permutation of
# suits share a row of the table.

# %%
HANDS = ("AsAh", "KsQs", "7h6h", "7s2d")
rows = {
    (game.path(node) or "first", hand): policy.action_probabilities(node, hand)
    for node in (0, game.node("r"), flop)
    for hand in HANDS
}
pd.DataFrame(rows).T.round(3)

# %% [markdown]
# ## Public chance sampling, for as many CPU seconds
#
# Exact passes meet all flops in each iteration. With `sampler="public_chance"`, an iteration draws one flop for each
# line of betting, so it is far cheaper and noisier. Both are evaluated at the same CPU seconds here, and the sampled
# run also at two earlier times.

# %%
del policy
drawn_solver = rlccfr.Solver(game, "dcfr_plus", sampler="public_chance", seed=0)
for seconds in (exact.index[0] / 16, exact.index[0] / 4, *exact.index):
    last = drawn_solver.run(seconds=seconds - drawn_solver.cpu_seconds, curve=False)
drawn = mbb(drawn_solver.points)
print(f"{last.iterations:,} sampled iterations, {last.throughput:,.0f} per CPU second")

# %%
axes = plt.subplots(figsize=(7, 4.5), layout="constrained")[1]
axes.loglog(exact.index, exact, "o-", label="exact passes")
axes.loglog(drawn.index, drawn, "s-", label="public chance sampling")
for (name, level), style in zip(PUBLISHED.items(), ("--", ":"), strict=True):
    axes.axhline(level, color="0.4", linestyle=style, label=f"{name}, published: {level} mbb/g")
axes.set(xlabel="engine CPU seconds", ylabel="exploitability, mbb/g")
axes.legend()
plt.show()

# %% [markdown]
# The published levels come without times, so they are drawn as lines. The results:

# %%
both = pd.DataFrame({"exact passes": exact.values, "sampled": drawn.values[-len(exact) :]}, exact.index.round(1))
both["lower"] = both.idxmin(axis=1)
for name, level in PUBLISHED.items():
    print(f"exact passes are below {name}'s {level} mbb/g after {exact.index[exact < level][0]:.0f} CPU seconds")
sooner = exact.index[exact <= drawn.iloc[-1]]
if len(sooner):
    print(f"what sampling has after {drawn.index[-1]:.0f} CPU seconds, exact passes have after {sooner[0]:.0f}")
both.round(1)

# %% [markdown]
# ## Memory
#
# The largest memory of this notebook, the saved run and the policy's copy included, and the tables of some other runs:

# %%
print(f"this notebook: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")
smaller = rlccfr.load_game("holdem")
for title, one, tables, size in (
    ("flop_holdem, dcfr_plus", game, 2, 4),
    ("flop_holdem, pcfr_plus", game, 3, 4),
    ("flop_holdem, dcfr_plus, double precision", game, 2, 8),
    ("holdem, with one raise per round, dcfr_plus", smaller, 2, 4),
):
    print(f"tables of {title}: {one.num_sequences * tables * size / 2**30:.2f} GiB")

# %% [markdown]
# If memory is short:
#
# - Take a rule without a prediction, such as `dcfr_plus`; rules with one keep a third table.
# - Leave `dtype` alone: large games use single precision.
# - Drop the solver before the next large object is made, as above.
# - Take a smaller relative, such as `holdem`, or one with fewer ranks: `holdem(ranks=10)`.
#
# A run whose tables do not fit is refused before it starts. `threads=2` shares the flops between two cores, and the
# results are the same bit for bit.
