"""Hands and their buckets over a public tree: strengths, pairs, and tables with an entry per bucket."""

from __future__ import annotations

from rlccfr.games.public.records import CARDS
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.public.terminals import fill_fold, fill_showdown


@kernel
def fill_strengths(view, nodes, vectors, found):
    """Set the hand strength of each row of some deals: P(win) + P(tie) / 2 against any other hand.

    Args:
        nodes: a node of each deal.
        vectors: working memory in double precision, twice as long as a deal's rows, and an entry per card.
        found: placed like the view's ``above``; the entries of these deals are set.
    """
    for node in nodes:
        deal = view.deals[node["deal"]]
        rows, edge = deal["rows"][0], deal["edge"][0]
        vectors[:rows] = 1.0
        fill_fold(view, node, 1.0, vectors, 0, rows, 2 * rows, 0.0)
        for r in range(rows):
            found[edge + r] = vectors[rows + r]
        fill_showdown(view, node, 1.0, vectors, 0, rows, 2 * rows, 0.0)
        for r in range(rows):
            found[edge + r] = 0.5 + 0.5 * vectors[rows + r] / found[edge + r] if found[edge + r] > 0.0 else 0.5


@kernel
def add_pairs(view, nodes, bucket, mass, vectors, met, pairs, won):
    """Add up, for each pair of buckets, the pairs of hands that players may hold, over some deals.

    Args:
        nodes: a node of each deal.
        bucket: bucket of each row, placed like the view's ``above``.
        mass: weight of each row of player 0, placed likewise.
        vectors: as for :func:`fill_strengths`.
        met: (buckets,) working memory; -1.
        pairs: (buckets, buckets) weighted number of pairs; raised in place.
        won: (buckets, buckets) the same, where pairs that player 0 wins count 1, and those that it loses -1.
    """
    for number in range(len(nodes)):
        node = nodes[number]
        deal = view.deals[node["deal"]]
        rows, edge = deal["rows"][0], deal["edge"][0]
        for first in range(rows):
            other = bucket[edge + first]
            if met[other] == number:
                continue
            met[other] = number
            for r in range(rows):
                vectors[r] = 1.0 if bucket[edge + r] == other else 0.0
            fill_fold(view, node, 1.0, vectors, 0, rows, 2 * rows, 0.0)
            for r in range(rows):
                pairs[bucket[edge + r], other] += mass[edge + r] * vectors[rows + r]
            fill_showdown(view, node, 1.0, vectors, 0, rows, 2 * rows, 0.0)
            for r in range(rows):
                won[bucket[edge + r], other] += mass[edge + r] * vectors[rows + r]


def working_memory(rows: int) -> int:
    """Return the length of ``vectors`` for deals of at most so many rows."""
    return 2 * rows + CARDS


@kernel
def expand(view, place, first, bucket, table, found):
    """Copy a table with an entry per bucket and action to each row of the bucket.

    Args:
        place: (nodes,) first entry of ``first`` at each decision.
        first: for each bucket at each betting line, its first entry in ``table``.
        bucket: bucket of each row, placed like the view's ``above``.
        table: entries of buckets, action after action.
        found: (m,) overwritten.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] > 1:
            continue
        deal = view.deals[node["deal"]]
        rows, edge = deal["rows"][node["kind"]], deal["edge"][node["kind"]]
        for a in range(node["num_children"]):
            entries = found[node["table"] + a * rows : node["table"] + (a + 1) * rows]
            for r in range(rows):
                entries[r] = table[first[place[index] + bucket[edge + r]] + a]


@kernel
def add_up(view, player, place, first, bucket, mass, table, found):
    """Add the entries of each bucket's rows to those of the bucket.

    Args:
        player: whose entries are added up.
        place, first, bucket: as for :func:`expand`.
        mass: weight of each row, placed like the view's ``above``.
        table: (m,) entries of rows.
        found: entries of buckets; raised in place.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] != player:
            continue
        deal = view.deals[node["deal"]]
        rows, edge = deal["rows"][player], deal["edge"][player]
        for a in range(node["num_children"]):
            entries = table[node["table"] + a * rows : node["table"] + (a + 1) * rows]
            for r in range(rows):
                found[first[place[index] + bucket[edge + r]] + a] += mass[edge + r] * entries[r]
