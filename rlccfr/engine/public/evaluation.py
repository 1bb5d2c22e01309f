"""Values of policies over a public tree."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.public.draws import first_entries
from rlccfr.engine.public.public_crew import PublicCrew
from rlccfr.games.public.masses import allowed_on, root_reach
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.layout import PARAMETERS
from rlccfr.kernels.public.public_iterations import action_values, public_value, responses_to
from rlccfr.kernels.public.sweep import BEST, MEAN, WRITE_PAYOFFS
from rlccfr.kernels.public.workspace import Outcomes, PublicTables, PublicWorkspace, arithmetic_type

NODE_TIME = 60.0
"""Nanoseconds that a pass for one player takes per public node."""

STATE_TIME = 3.0
"""Nanoseconds that a pass for one player takes per private state that it meets."""

_workspaces: WeakKeyDictionary[PublicGame, dict[np.dtype, tuple[PublicWorkspace, Outcomes]]] = WeakKeyDictionary()


def workspace_of(game: PublicGame, dtype: np.dtype) -> tuple[PublicWorkspace, Outcomes]:
    """Return a game's working arrays in a precision; all runs and evaluations without a crew share them.

    Kernels hold the GIL, so only one thread at a time uses these arrays.

    Args:
        dtype: type of the tables' numbers.
    """
    workspaces = _workspaces.setdefault(game, {})
    dtype = arithmetic_type(dtype)
    if dtype not in workspaces:
        workspaces[dtype] = PublicWorkspace.of(game, dtype), Outcomes.of(game, dtype)
    return workspaces[dtype]


def pass_cost(game: PublicGame) -> float:
    """Predict the nanoseconds of a pass for one player."""
    return NODE_TIME * game.num_nodes + STATE_TIME * game.pass_size


def iteration_cost(game: PublicGame) -> float:
    """Predict the nanoseconds of an exact iteration, which has a pass for each player."""
    return 2.0 * pass_cost(game)


def public_values(game: PublicGame, table: np.ndarray, crew: PublicCrew | None = None) -> tuple[float, float, float]:
    """Return player 0's value of a policy, and each player's value of a best response to it, in the game's units.

    Args:
        table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
        crew: threads that share the work.
    """
    tables = PublicTables.of_one(table)
    return (
        root_value(game, 0, table, tables, MEAN, crew),
        root_value(game, 0, table, tables, BEST, crew),
        root_value(game, 1, table, tables, BEST, crew),
    )


def payoffs_against(
    game: PublicGame, player: int, table: np.ndarray, payoffs: np.ndarray, crew: PublicCrew | None = None
) -> float:
    """Write the payoffs of a player's actions against a policy, from plays that end before the player's next decision.

    Args:
        table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
        payoffs: (m,) the player's entries are overwritten. They leave out ``game.pair_probability`` and the
            deal's ``share``, as tables do; see :class:`rlccfr.PublicGame`.
        crew: threads that share the work.

    Returns:
        What the player earns in plays in which it has no decision, in the game's units.
    """
    return root_value(game, player, table, PublicTables.of_one(payoffs), WRITE_PAYOFFS, crew)


def public_responses_to(game: PublicGame, table: np.ndarray) -> np.ndarray:
    """Return both players' best responses to a policy, (m,): 1 for the action taken at a row, 0 for the others.

    Args:
        table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
    """
    scratch = np.zeros_like(table)  # the pass also adds policies to this table, which is not used
    tables = PublicTables.of_one(table)._replace(
        policy_sum=scratch,
        response=np.zeros(game.num_infosets, np.uint8),
        response_start=first_entries(game, per_private_state=True),
    )
    workspace, outcomes = workspace_of(game, table.dtype)
    no_discounts = np.zeros((2, PARAMETERS), table.dtype)
    responses_to(game.view, table, tables, workspace, outcomes, no_discounts)
    scratch.fill(0.0)
    first_sequences = game.view.nodes["table"][game.decisions]
    counts = zip(first_sequences.tolist(), game.actions.tolist(), game.rows.tolist(), strict=True)
    done = 0
    for first, actions, rows in counts:
        # A decision's entries are ordered by actions, then by private states.
        one_hot = scratch[first : first + actions * rows].reshape(actions, rows)
        one_hot[tables.response[done : done + rows], np.arange(rows)] = 1.0
        done += rows
    return scratch


def root_value(
    game: PublicGame,
    player: int,
    policy_source: np.ndarray,
    tables: PublicTables,
    mode: int,
    crew: PublicCrew | None,
) -> float:
    """Return a player's value at the root, computed by a pass without updates, in the game's units.

    Args:
        policy_source, tables, mode: see :func:`rlccfr.kernels.public.public_iterations.public_value`.
        crew: threads that share the work.
    """
    if crew is not None:
        return crew.value(player, policy_source, tables, mode) * game.pair_probability
    workspace, outcomes = workspace_of(game, policy_source.dtype)
    value = public_value(game.view, player, policy_source, tables, workspace, outcomes, game.mass[player], mode)
    return float(value * game.pair_probability)


def public_action_values(game: PublicGame, table: np.ndarray, players: Sequence[int] = (0, 1)) -> np.ndarray:
    """Return the counterfactual value of each action to its player, (m,), if both players follow a policy.

    The values leave out ``game.pair_probability`` and the deal's ``share``, as tables do; see
    :class:`rlccfr.PublicGame`.

    Args:
        table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
        players: the players whose actions are valued; the values of other actions are 0.
    """
    values = np.zeros_like(table)
    workspace, outcomes = workspace_of(game, table.dtype)
    for player in players:
        action_values(game.view, player, table, PublicTables.of_one(values), workspace, outcomes)
    return values


def root_row_values(game: PublicGame, player: int, table: np.ndarray) -> np.ndarray:
    """Return a player's expected payoff with each row at the root, (rows,), if both players follow a policy.

    Args:
        table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
    """
    root_value(game, player, table, PublicTables.of_one(table), MEAN, None)
    workspace, _ = workspace_of(game, table.dtype)
    num_rows = len(game.mass[player])
    # The pass has left each row's value in the vectors, weighted by the opponent's reach.
    opponent_reach = allowed_on(game, 0, player, root_reach(game, 1 - player))
    values: np.ndarray = workspace.vectors[:num_rows] / opponent_reach
    return values
