"""Numbering of public nodes' outcomes and table entries, for builders of games."""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.records import CHANCE
from rlccfr.games.public.view import ranges


def number_outcomes(nodes: np.ndarray) -> np.ndarray:
    """Number the outcomes of the first chance node on each path; set its ``table`` to the index of its first outcome.

    Args:
        nodes: (nodes,) of type NODE; changed in place.

    Returns:
        For each outcome, the chance node and the index of the child among its children, (outcomes, 2).
    """
    # The walk down the tree stops at the first chance node on each path.
    level = np.zeros(1, np.int64)
    first_chances = []
    while len(level):
        kinds = nodes["kind"][level]
        first_chances.append(level[kinds == CHANCE])
        decisions = nodes[level[kinds < CHANCE]]
        level = ranges(decisions["first_child"], decisions["num_children"])
    chances = np.sort(np.concatenate(first_chances))
    counts = nodes["num_children"][chances].astype(np.int64)
    nodes["table"][chances] = np.cumsum(counts) - counts
    child_index = ranges(np.zeros(len(counts), np.int64), counts)
    return np.stack([np.repeat(chances, counts), child_index], axis=1)


def tables_of(kinds: np.ndarray, counts: np.ndarray, deals: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the index of each decision's first table entry, (nodes,); 0 for other nodes.

    Args:
        kinds, counts, deals: (nodes,) the nodes' kinds, numbers of children and deals.
        rows: (deals, 2) number of each player's rows.
    """
    is_decision = kinds < CHANCE
    actor = np.minimum(kinds, 1)  # an arbitrary player at other nodes, which are masked
    sizes = np.where(is_decision, counts.astype(np.int64) * rows[deals, actor], 0)
    return np.where(is_decision, np.cumsum(sizes) - sizes, 0)
