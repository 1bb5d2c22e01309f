"""Mixtures of policies over a public tree, and the players' trees of sequences, in which best responses are found."""

from __future__ import annotations

from rlccfr.kernels.jit import kernel


@kernel
def mix_plans(view, player, weights, plans, mixture):
    """Set a player's entries of a table to a weighted sum of plans.

    The *plan* of a policy holds each player's own reach of its sequences. The plan of a mixture of policies is the
    weighted sum of their plans.

    Args:
        weights: (K,) in the tables' type.
        plans: (K, m) plans of both players.
        mixture: (m,) the player's entries are overwritten.
    """
    for node in view.nodes:
        if node["kind"] != player:
            continue
        begin = node["table"]
        end = begin + node["num_children"] * view.deals[node["deal"]]["rows"][player]
        total = mixture[begin:end]
        for j in range(len(weights)):
            weight = weights[j]
            plan = plans[j, begin:end]
            if j == 0:
                for k in range(len(total)):
                    total[k] = weight * plan[k]
            elif weight != 0.0:
                for k in range(len(total)):
                    total[k] += weight * plan[k]


@kernel
def fill_sequences(view, decisions, parents, deal_parents, mass, pair_probability, first_infoset, sequence, form):
    """Set a player's part of the game's sequence form: its infosets, parents first, and their parent sequences.

    Each row of a decision is an infoset. Values go up from a row to the row that it comes from, times the ratio of the
    rows' masses.

    Args:
        decisions: the player's decision nodes, ascending; a node comes after its parent.
        parents: (nodes,) parent of each node; -1 at the root.
        deal_parents: (deals,) the deal before each deal; -1 for the first.
        mass: mass of each of the player's rows, in the layout of the view's ``above``; see
            :func:`rlccfr.games.public.masses.row_masses`.
        pair_probability: the game's probability of a pair of private states, a factor of values at the root.
        first_infoset: (nodes,) index of the infoset of each decision's first row.
        sequence: (m,) index of each table entry's sequence; set at these decisions.
        form: a :class:`rlccfr.games.records.SequenceView`, whose ``first_sequence`` is complete; ``parent`` and
            ``multiplicity`` of the player's infosets are set.
    """
    player = view.nodes[decisions[0]]["kind"] if len(decisions) else 0
    for number in decisions:
        node = view.nodes[number]
        rows = view.deals[node["deal"]]["rows"][player]
        # Find the player's decision above this one, and the child below it on the path to this one.
        below = number
        above = parents[number]
        while above >= 0 and view.nodes[above]["kind"] != player:
            below = above
            above = parents[above]
        for r in range(rows):
            infoset = first_infoset[number] + r
            first = form.first_sequence[infoset]
            for a in range(node["num_children"]):
                sequence[node["table"] + a * rows + r] = first + a
            own_mass = mass[view.deals[node["deal"]]["edge"][player] + r]
            if above < 0:
                form.parent[infoset] = len(sequence) + player
                form.multiplicity[infoset] = own_mass * pair_probability
                continue
            # Find the row of that decision from which this row comes.
            row = r
            deal = node["deal"]
            while deal != view.nodes[above]["deal"]:
                row = view.above[view.deals[deal]["edge"][player] + row]
                deal = deal_parents[deal]
            action = below - view.nodes[above]["first_child"]
            form.parent[infoset] = form.first_sequence[first_infoset[above] + row] + action
            form.multiplicity[infoset] = own_mass / mass[view.deals[deal]["edge"][player] + row]


@kernel
def scatter(table, sequence, payoffs):
    """Write a table, (m,), into ``payoffs``, (m + 2,), in the order of sequences.

    Args:
        sequence: (m,) index of each table entry's sequence.
    """
    for k in range(len(sequence)):
        payoffs[sequence[k]] = table[k]
