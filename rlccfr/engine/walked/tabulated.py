"""The policies of networks as a table over a public tree, for exact evaluation and for policy files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rlccfr.games.public.records import CHANCE
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.games.walked.holdem import ROW, HoldemWalks

Outputs = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function ``(player, rows, legal)`` that returns numbers for a player's actions at some decisions, (rows, actions).

The numbers are, for example, a policy's probabilities. A row is what the player knows at a decision; ``legal``, (rows,
actions), says which actions are legal there.
"""

MOST_ROWS = 2**15
"""Approximate number of rows of a batch of decisions."""


def tabulated(walks: HoldemWalks, outputs: Outputs, players: Sequence[int] = (0, 1)) -> np.ndarray:
    """Return the outputs at all decisions, (m,), in the order and in the type of the game's table entries.

    Args:
        walks: the game.
        outputs: function whose outputs are written into the table.
        players: the players at whose decisions outputs are written; entries of the other player are 0.
    """
    game = walks.game
    table = np.zeros(game.num_sequences, game.dtype)
    kinds = game.view.nodes["kind"][game.decisions]
    for player in players:
        for places in _batches(np.flatnonzero(kinds == player), game.rows):
            _fill(walks, outputs, player, places, table)
    return table


def _batches(places: np.ndarray, sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield decisions in batches of about :data:`MOST_ROWS` rows.

    Args:
        places: indices of decisions.
        sizes: number of rows of each decision of the game.
    """
    number = np.cumsum(sizes[places]) // MOST_ROWS
    yield from np.split(places, np.flatnonzero(np.diff(number)) + 1)


def _fill(walks: HoldemWalks, outputs: Outputs, player: int, places: np.ndarray, table: np.ndarray) -> None:
    """Write a player's entries at some decisions, given by their indices in ``game.decisions``, into a table."""
    game = walks.game
    decisions = game.decisions[places]
    counts = game.rows[places]
    first_hands = game.view.deals["edge"][game.view.nodes["deal"][decisions], player]
    rows = np.empty(int(counts.sum()), ROW)
    rows["hand"] = ranges(first_hands, counts)
    rows["line"] = np.repeat(walks.line[decisions], counts)
    legal = walks.legal(rows)
    table[walks.entries(rows)[legal]] = outputs(player, rows, legal)[legal]


def weigh_by_reach(game: PublicGame, player: int, table: np.ndarray) -> None:
    """Multiply a player's action probabilities, in a table (m,), by the player's own reach of their rows, in place.

    Sums of such tables are proportional to the mixture of the policies.
    """
    view = game.view
    waiting = [(0, np.ones(int(view.deals["rows"][0, player]), table.dtype))]  # nodes, with the reach of their rows
    while waiting:
        number, reach = waiting.pop()
        node = view.nodes[number]
        kind = int(node["kind"])
        children = range(int(node["first_child"]), int(node["first_child"]) + int(node["num_children"]))
        if kind == player:
            first_entry = int(node["table"])
            entries = table[first_entry : first_entry + len(children) * len(reach)].reshape(len(children), len(reach))
            entries *= reach
            waiting.extend(zip(children, entries, strict=True))
        elif kind < CHANCE:
            waiting.extend((child, reach) for child in children)
        elif kind == CHANCE:
            for child in children:
                deal = view.deals[view.nodes["deal"][child]]
                edge = int(deal["edge"][player])
                waiting.append((child, reach[view.above[edge : edge + int(deal["rows"][player])]]))
