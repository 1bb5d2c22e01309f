"""Kernels for buckets of hands over a public tree: strengths of hands, pairs of buckets, and tables over buckets."""

from __future__ import annotations

from rlccfr.games.public.records import CARDS, CHANCE
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.public.terminals import fill_fold, fill_showdown


def workspace_size(rows: int) -> int:
    """Return the length that the kernels' argument ``vectors`` needs for deals of at most ``rows`` rows."""
    return 2 * rows + CARDS


@kernel
def fill_strengths(view, nodes, vectors, strengths):
    """Set each row's hand strength on some deals: P(win) + P(tie) / 2 against a uniformly random compatible hand.

    Args:
        nodes: a node of each deal.
        vectors: (:func:`workspace_size`,) working array in double precision.
        strengths: in the layout of the view's ``above``; the entries of these deals are set.
    """
    for node in nodes:
        deal = view.deals[node["deal"]]
        rows = deal["rows"][0]
        edge = deal["edge"][0]
        # With a reach and a payoff of 1, the value of a fold is the number of the opponent's hands, and the value of a
        # showdown is the number of wins less that of losses.
        vectors[:rows] = 1.0
        fill_fold(view, node, 0, 1.0, vectors, 0, rows, 2 * rows, 0.0)
        for r in range(rows):
            strengths[edge + r] = vectors[rows + r]
        fill_showdown(view, node, 0, 1.0, vectors, 0, rows, 2 * rows, 0.0)
        for r in range(rows):
            num_hands = strengths[edge + r]
            strengths[edge + r] = 0.5 + 0.5 * vectors[rows + r] / num_hands if num_hands > 0.0 else 0.5


@kernel
def add_pairs(view, nodes, bucket, mass, vectors, last_met, pairs, won):
    """Add up, over some deals, the pairs of hands that the players may hold, for each pair of buckets.

    Args:
        nodes: a node of each deal.
        bucket: bucket of each row, in the layout of the view's ``above``.
        mass: weight of each row of player 0, in the same layout.
        vectors: as for :func:`fill_strengths`.
        last_met: (buckets,) -1 at first; set to the index in ``nodes`` of the last deal with each bucket.
        pairs: (buckets, buckets) weighted number of pairs, by player 0's and player 1's bucket; added to in place.
        won: (buckets, buckets) as ``pairs``, but pairs that player 0 wins count 1, those that it loses -1, and ties 0.
    """
    for number in range(len(nodes)):
        node = nodes[number]
        deal = view.deals[node["deal"]]
        rows = deal["rows"][0]
        edge = deal["edge"][0]
        for first in range(rows):
            opponent_bucket = bucket[edge + first]
            if last_met[opponent_bucket] == number:
                continue
            last_met[opponent_bucket] = number
            # Player 1 reaches the deal with just the hands of this bucket, so values of terminals are sums over them.
            for r in range(rows):
                vectors[r] = 1.0 if bucket[edge + r] == opponent_bucket else 0.0
            fill_fold(view, node, 0, 1.0, vectors, 0, rows, 2 * rows, 0.0)
            for r in range(rows):
                pairs[bucket[edge + r], opponent_bucket] += mass[edge + r] * vectors[rows + r]
            fill_showdown(view, node, 0, 1.0, vectors, 0, rows, 2 * rows, 0.0)
            for r in range(rows):
                won[bucket[edge + r], opponent_bucket] += mass[edge + r] * vectors[rows + r]


@kernel
def expand(view, node_start, bucket_start, bucket, bucket_table, row_table):
    """Copy each bucket's entries, one per action, to all rows of the bucket.

    Args:
        node_start: (nodes,) first entry of ``bucket_start`` at each decision.
        bucket_start: for each bucket at each betting line, its first entry in ``bucket_table``.
        bucket: bucket of each row, in the layout of the view's ``above``.
        bucket_table: entries of buckets; those of one bucket, one per action, are adjacent.
        row_table: (m,) overwritten.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] >= CHANCE:
            continue
        deal = view.deals[node["deal"]]
        rows = deal["rows"][node["kind"]]
        edge = deal["edge"][node["kind"]]
        for a in range(node["num_children"]):
            entries = row_table[node["table"] + a * rows : node["table"] + (a + 1) * rows]
            for r in range(rows):
                entries[r] = bucket_table[bucket_start[node_start[index] + bucket[edge + r]] + a]


@kernel
def add_up(view, player, node_start, bucket_start, bucket, mass, row_table, bucket_table):
    """Add the entries of each bucket's rows, times the rows' masses, to those of the bucket.

    Args:
        player: the player whose entries are added up.
        node_start, bucket_start, bucket: as for :func:`expand`.
        mass: weight of each row, in the layout of the view's ``above``.
        row_table: (m,) entries of rows.
        bucket_table: entries of buckets, added to in place.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] != player:
            continue
        deal = view.deals[node["deal"]]
        rows = deal["rows"][player]
        edge = deal["edge"][player]
        for a in range(node["num_children"]):
            entries = row_table[node["table"] + a * rows : node["table"] + (a + 1) * rows]
            for r in range(rows):
                bucket_table[bucket_start[node_start[index] + bucket[edge + r]] + a] += mass[edge + r] * entries[r]
