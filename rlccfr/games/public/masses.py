"""Masses of the rows of a public tree: the hands, boards and probabilities that each row stands for."""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.view import PublicGame


def rows_above(game: PublicGame, player: int) -> list[np.ndarray]:
    """Return, for each deal, the index in ``above`` of the row that each of a player's rows comes from.

    The array is empty for the first deal.
    """
    view = game.view
    edges = view.deals["edge"][:, player].tolist()
    counts = view.deals["rows"][:, player].tolist()
    rows: list[np.ndarray] = []
    for parent, edge, count in zip(game.deal_parents.tolist(), edges, counts, strict=True):
        rows.append(np.zeros(0, np.int64) if parent < 0 else edges[parent] + view.above[edge : edge + count])
    return rows


def row_masses(game: PublicGame, player: int) -> np.ndarray:
    """Return the mass of each of a player's rows, in the order of the view's ``above``; 0 for the other player's rows.

    A row stands for pairs of a private state and the public outcomes so far. Its mass is the number of these pairs,
    times the probability of one pair's outcomes given private states that allow them. A row's value times its mass and
    the game's ``unit`` is the row's part of the game's value.
    """
    view = game.view
    edges = view.deals["edge"][:, player].tolist()
    counts = view.deals["rows"][:, player].tolist()
    mass = np.zeros(len(view.above))
    # A deal comes after its parent.
    for above, edge, count in zip(rows_above(game, player), edges, counts, strict=True):
        rows = slice(edge, edge + count)
        mass[rows] = mass[above] * view.weight[rows] if len(above) else game.mass[player]
    return mass
