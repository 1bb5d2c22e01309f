"""Numbering of public nodes' outcomes and table entries, for builders of games."""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.records import CHANCE
from rlccfr.games.public.view import ranges


def number_outcomes(nodes: np.ndarray) -> np.ndarray:
    """Set ``table`` of the first chance on each path to the index of its first outcome.

    Args:
        nodes: (nodes,) of NODE; changed in place.

    Returns:
        The outcomes, (outcomes, 2): the node of chance, and the child's number.
    """
    level, found = np.zeros(1, np.int64), []
    while len(level):
        chance = nodes["kind"][level] == CHANCE
        found.append(level[chance])
        acts = nodes[level[nodes["kind"][level] < CHANCE]]
        level = ranges(acts["first_child"], acts["num_children"])
    chances = np.sort(np.concatenate(found))
    counts = nodes["num_children"][chances].astype(np.int64)
    nodes["table"][chances] = np.cumsum(counts) - counts
    return np.stack([np.repeat(chances, counts), ranges(np.zeros(len(counts), np.int64), counts)], axis=1)


def tables_of(kinds: np.ndarray, counts: np.ndarray, deals: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the first entry of each decision's tables, and 0 for other nodes.

    Args:
        kinds, counts, deals: (nodes,) the nodes' kinds, numbers of children and deals.
        rows: (deals, 2) numbers of private states.
    """
    own = np.minimum(kinds, 1)
    sizes = np.where(kinds < CHANCE, counts.astype(np.int64) * rows[deals, own], 0)
    return np.where(kinds < CHANCE, np.cumsum(sizes) - sizes, 0)
