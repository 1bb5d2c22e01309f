"""A picture of a team's Q-values for each algorithm."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.team.exploration import greedy_triple
from rlccfr.catalog import AXES
from rlccfr.pictures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.envs.selector import SelectorFlatEnv


def draw_q_values(team: SelectorTeam, env: SelectorFlatEnv, axes: Axes | None = None) -> Axes:
    """Draw the agents' mean Q-value of each algorithm at an environment's present decision.

    Each agent values an algorithm by the component on its own axis, given that the earlier agents have picked the
    algorithm's other components. Rows are update rules; columns are pairs of sampler and abstraction. The frame marks
    the team's pick.
    """
    shape = team.catalog.shape
    values = np.empty(shape)
    first = team.q_values(env)
    for rule in range(shape[0]):
        second = team.q_values(env, (rule,))
        for sampler in range(shape[1]):
            third = team.q_values(env, (rule, sampler))
            values[rule, sampler] = (first[rule] + second[sampler] + third) / len(AXES)
    values[~team.available] = np.nan
    axes = axes if axes is not None else new_axes(2.5 + 0.3 * shape[1] * shape[2], 2.5 + 0.3 * shape[0])
    image = axes.imshow(values.reshape(shape[0], -1), cmap="viridis", aspect="auto")
    rules, samplers, abstractions = ([id.split("(")[0] for id in ids] for ids in team.catalog.axes)
    axes.set_yticks(range(shape[0]), rules)
    columns = [f"{sampler}, {abstraction}" for sampler in samplers for abstraction in abstractions]
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    rule, sampler, abstraction = greedy_triple(lambda picks: team.q_values(env, picks), team.recommendable(env))
    axes.plot(sampler * shape[2] + abstraction, rule, "s", markersize=13, markerfacecolor="none", markeredgecolor="red",
              markeredgewidth=2)  # fmt: skip
    title = f"{env.game}, {env.budget}, {env.preset.name}: Q-values and the pick"
    axes.set_title("\n".join(textwrap.wrap(title, 45, break_long_words=True)))
    axes.figure.colorbar(image, ax=axes, label="mean Q-value of the three agents")
    return axes
