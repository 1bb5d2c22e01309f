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
# # Measure everything, on many machines
#
# A sweep runs every algorithm of a catalog, each run once for each seed that makes a difference. Runs are independent,
# so any executor will do: processes here, or a Dask cluster. What was measured is in files; to go on is to start again.

# %%
import subprocess
import sys

import matplotlib.pyplot as plt

import rlccfr
from rlccfr.agents.judging.insights import insights
from rlccfr.catalog import Catalog
from rlccfr.envs import TableEvaluator

SWEEP = [sys.executable, "-m", "rlccfr", "sweep", "kuhn", "--catalog", "tabular", "--store", "store", "--seeds", "2"]
SHORT = ["--iterations", "100", "--seconds", "0", "--no-pilot"]  # without, a run lasts a CPU second at least

# %% [markdown]
# `--dask local` starts a cluster on this machine; an address in its place, such as `tcp://scheduler:8786`, is that of a
# cluster that runs already.

# %%
done = subprocess.run([*SWEEP, *SHORT, "--dask", "local", "--workers", "2"], capture_output=True, text=True, check=True)
print(done.stdout)

# %% [markdown]
# The same command again has nothing left to do. A run that was lost with its worker is run again, and one that kills
# its worker is found and recorded as failed.

# %%
print(subprocess.run([*SWEEP, *SHORT, "--status"], capture_output=True, text=True, check=True).stdout)

# %% [markdown]
# Runs as a table, curves among them:

# %%
runs = rlccfr.load_results("store")
runs.groupby(["sampler", "abstraction"])["exploitability"].median().unstack()

# %% [markdown]
# Each curve answers every shorter budget. What each component does for the reward, by all these runs:

# %%
found = insights(TableEvaluator("store"), Catalog.tabular(), "kuhn", {"unit": "iterations", "amount": 100})
effects = found.effects
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
colours = {"update_rule": "#0072b2", "sampler": "#e69f00", "abstraction": "#009e73"}
axes.barh(effects["component"] + " (" + effects["axis"] + ")", effects["effect"], color=effects["axis"].map(colours))
axes.invert_yaxis()
axes.set(xlabel="mean reward with it, less the mean of all", title="Kuhn poker, 100 iterations, preset accuracy")
plt.show()

# %% [markdown]
# `rlccfr table --results store`, `report` and `insights` read such a sweep; `--compact runs.parquet` makes one file of
# it, and `--import runs.parquet` goes on elsewhere.
