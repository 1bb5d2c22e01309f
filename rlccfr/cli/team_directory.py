"""Paths of the default directories of teams that users train; `rlccfr train` checks what the directories hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlccfr.cli.console import RUNS, called, quoted
from rlccfr.cli.options import SeveralBudgets

LONGEST = 100
"""Largest number of characters of each part of a directory's name: the games, the budgets and the weights."""


def new_directory(
    games: Sequence[str], budgets: Sequence[Mapping[str, Any]], presets: Sequence[str], scale: str | None = None
) -> Path:
    """Return the directory to train a team in, such as ``runs/kuhn`` or ``runs/kuhn-1-second-paper-kuhn``.

    The name contains the budgets and the reward weights unless they are the defaults. It contains the scale of the
    error cost e if that differs from the weights' own scale. Characters unfit for file names become underscores.

    Args:
        games: names of the games.
        budgets: the budgets, each as the keyword arguments of a :class:`~rlccfr.envs.measuring.request.Budget`.
        presets: names of the reward weights.
        scale: the scale of e; None for the weights' own.

    Raises:
        RLCCFRError: a budget, preset or scale that no team can be trained on.
    """
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.measuring.request import Budget

    names = ["+".join(games)]
    if list(budgets) != SeveralBudgets().amounts():
        names.append("+".join(str(Budget(**amount)).replace(" ", "-") for amount in budgets))
    weights = [parse_preset(preset) for preset in presets]
    if list(presets) != ["accuracy"]:
        names.append("+".join(preset.name for preset in weights))
    weights_with_scale = [parse_preset(preset, scale) for preset in weights]
    if scale is not None and weights_with_scale != weights:
        names.append(scale)
    return RUNS / "-".join(_as_file_name(name) for name in names)


def trained_directory(
    game: str, limit: Mapping[str, Any] | None, preset: str | None, scale: str | None = None
) -> Path | None:
    """Return the directory in ``runs`` of a user's team that knows a game; None if there is none.

    A team knows the games, budgets and weights that it was trained on. If several teams know the game, a team that
    knows the budget is preferred, then a team that knows the weights, then the team that was saved last. Files that
    can't be read do not count.

    Args:
        game: name of the game.
        limit: the budget that the team should know; None for any.
        preset: the weights that it should know; None for any.
        scale: the scale of the error cost e under these weights; None for the weights' own scale.

    Raises:
        RLCCFRError: a budget, preset or scale that no team can be trained on.
    """
    from rlccfr.agents.team.team_file import FILE_NAME, learned_on
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.games.names import short_name

    budget_wanted = Budget(**limit) if limit else None
    weights_wanted = parse_preset(preset, scale) if preset else None
    candidates = []
    for file in RUNS.glob(f"*/{FILE_NAME}"):
        episodes = learned_on(file)
        if episodes is None or short_name(game) not in map(short_name, episodes.games):
            continue
        knows_budget = budget_wanted in (None, *episodes.budgets)
        knows_weights = weights_wanted in (None, *episodes.presets)
        candidates.append((knows_budget, knows_weights, file.stat().st_mtime, file.parent))
    # The tuples order the teams: by the budget, then the weights, then the time of saving.
    return max(candidates)[-1] if candidates else None


def team_command(game: str, directory: Path) -> str:
    """Return the command that asks the team in a directory which algorithm to use for a game."""
    return " ".join([*called(), "recommend", quoted(game), "--team", quoted(str(directory))])


def _as_file_name(name: str) -> str:
    return re.sub(r"[^\w+.=-]+", "_", name).strip("_")[:LONGEST]
