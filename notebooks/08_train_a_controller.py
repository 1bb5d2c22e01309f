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
# # Train a controller that steers runs
#
# Each time the number of iterations doubles, a controller picks how the run discounts regrets, averages policies and
# predicts. Three DQN agents learn this from live runs. Here they learn on eight small games, in a few minutes, and are
# tried on games that they have not seen.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rlccfr
from rlccfr.agents import train_controller
from rlccfr.envs.control.run import ControlRun

HORIZON = 300


def poker(seed):
    return f"random_poker(seed={seed},hands=5,boards=2,raises=1)"


TRAINING, UNSEEN = [poker(seed) for seed in range(1, 9)], [poker(seed) for seed in range(101, 113)]

# %% [markdown]
# A round is twenty runs and six gradient steps. The first runs have random picks. The same arguments give the same
# controller. If the second argument names a folder, the controller and a log are kept there, and a second call goes on
# from there. Without a folder, `rlccfr.controller_file.save_controller(controller, "mine.npz")` keeps the controller in
# a file that `control=` takes.

# %%
controller = train_controller(TRAINING, members=1, rounds=1000, horizons={HORIZON: 1.0}, workers=1)

# %% [markdown]
# Now the controller steers games that it has not seen. Fixed update rules make as many iterations on the same games.
# The controller that comes with the package learned on hundreds of games, up to four times as large.

# %%
RULES = ("cfr_plus", "dcfr", "pcfr_plus", "sapcfr_plus", "ddcfr_schedule")


def exploitability(name, **components):
    solver = rlccfr.Solver(rlccfr.load_game(name), **components)
    return solver.run(iterations=HORIZON, curve=False).exploitability


found = {rule: [exploitability(name, update_rule=rule) for name in UNSEEN] for rule in RULES}
found["trained here"] = [exploitability(name, control=controller) for name in UNSEEN]
found["shipped"] = [exploitability(name, control="shipped") for name in UNSEEN]
means = {title: float(np.exp(np.mean(np.log(values)))) for title, values in found.items()}
for title, mean in sorted(means.items(), key=lambda item: item[1]):
    print(f"{title:15} {mean:.2e}")

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
best = np.min([found[rule] for rule in RULES], axis=0)
for title in ("trained here", "shipped"):
    axes.plot(np.sort(np.log10(best / np.array(found[title]))), "o-", label=title)
axes.axhline(0, color="0.6")
axes.set(xlabel="unseen games, sorted by gain", ylabel="decades below the best rule of each game")
axes.legend()
plt.show()

# %% [markdown]
# What it picks: each picture shows one agent's picks, and each line is an unseen game.

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for name in UNSEEN:
    run = ControlRun(rlccfr.load_game(name), controller, HORIZON)
    picks = run.episode().picks
    for axis, agent, own in zip(axes, ("discounting", "averaging", "prediction"), picks.T, strict=True):
        axis.plot(range(len(own)), own, "o-", alpha=0.4)
        axis.set(title=agent, xlabel="iterations done", ylabel="choice")
        axis.set_xticks(range(len(own)), [str(mark) for mark in run.marks])
plt.show()
