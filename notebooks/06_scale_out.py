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
# A sweep runs every algorithm of a catalog, once per seed that makes a difference. Runs are independent, so any
# executor will do: processes on this machine, or a Dask cluster. Every measurement is kept in a file. A sweep that was
# stopped continues when the same command is run again.

# %%
import subprocess
import sys

import matplotlib.pyplot as plt

import rlccfr
from rlccfr.agents.judging.insights import insights
from rlccfr.catalog import Catalog
from rlccfr.envs import TableEvaluator

SWEEP = [sys.executable, "-m", "rlccfr", "sweep", "kuhn", "--catalog", "tabular", "--store", "store", "--seeds", "2"]
SHORT = ["--iterations", "100", "--seconds", "0", "--option", "pilot=no"]  # else a run lasts a CPU second

# %% [markdown]
# `--dask local` starts a cluster on this machine. To use a cluster that is running already, give its address instead,
# such as `tcp://scheduler:8786`.

# %%
done = subprocess.run([*SWEEP, *SHORT, "--dask", "local", "--workers", "2"], capture_output=True, text=True, check=True)
print(done.stdout)

# %% [markdown]
# The same command has nothing left to do now. If a worker is lost, its runs are repeated. A run that kills its worker
# is found and recorded as failed.

# %%
print(subprocess.run([*SWEEP, *SHORT, "--status"], capture_output=True, text=True, check=True).stdout)

# %% [markdown]
# All runs as a table, which also has their curves:

# %%
runs = rlccfr.load_results("store")
runs.groupby(["sampler", "abstraction"])["exploitability"].median().unstack()

# %% [markdown]
# Each run's curve answers for every shorter budget. All runs together show what each component does for the reward:

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
# `rlccfr results table --results store`, `report` and `insights` read the results of a sweep. `--compact runs.parquet`
# writes all runs to one file. On another machine, `--option import=runs.parquet` reads them into a store, and the sweep
# can go on there.
