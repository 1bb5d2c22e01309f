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
# # Add a variant of your own
#
# An update rule is a frozen dataclass of schedules in the iteration t. Once it is registered, it solves games, is
# checked and measured like the rules that come with the library, and can be picked by a team.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rlccfr
from rlccfr.agents import SelectorTeam, expand_team
from rlccfr.catalog import Catalog
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule
from rlccfr.testing import check_update_rule


@update_rule("root_cfr", source="my own: linear CFR with weights t^power", bounds={"power": (0.0, 5.0)})
def root_cfr(power: float = 0.5) -> UpdateRule:
    """CFR whose iteration t counts t^power, in regrets and in the average."""

    def fade(t: np.ndarray) -> np.ndarray:
        return ((t - 1) / t) ** power

    return UpdateRule(positive_discount=fade, negative_discount=fade, average_decay=fade)


# %% [markdown]
# `rlccfr.testing` has the checks that every rule must pass: sane schedules, the same numbers when a run is stopped and
# started again, and convergence. A failed check says in one line what is wrong. Here all pass, so nothing is printed.

# %%
check_update_rule("root_cfr")

# %% [markdown]
# Hyperparameters are part of a component's name, so each value makes an algorithm of its own:

# %%
game = rlccfr.load_game("leduc")
figure, axes = plt.subplots(layout="constrained")
for rule in ("cfr", "lcfr", "root_cfr", "root_cfr(power=2)", "dcfr"):
    curve = rlccfr.Solver(game, rule).run(iterations=1000).curve
    axes.loglog(curve["iteration"], curve["exploitability"], label=rule)
axes.set(xlabel="iterations", ylabel="exploitability", title="Leduc poker, exact passes")
axes.legend()
plt.show()

# %% [markdown]
# A team keeps what it has learned when the catalog grows:

# %%
catalog = Catalog(("cfr", "lcfr", "dcfr"), ("external", "none"), ("none",))
team = SelectorTeam("kuhn", budget={"unit": "iterations", "amount": 300}, catalog=catalog)
team.train(evaluations=6)
print(f"before: {team.recommend().cell}")

larger = expand_team(team, catalog.plus(update_rules=["root_cfr", "root_cfr(power=2)"]))
larger.train(evaluations=10)
print(f"after: {larger.recommend().cell}, {larger.evaluations - team.evaluations} more algorithms measured")

# %% [markdown]
# Samplers and abstractions are added in the same way (`CONTRIBUTING.md`). Put them in a file for `rlccfr --load FILE`,
# or in a package of your own that others can install (`examples/rlccfr-example`).
