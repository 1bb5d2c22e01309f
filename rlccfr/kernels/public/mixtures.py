"""Mixtures of policies over a public tree, and what a best response to one gets against each of the policies mixed.

A player's *plan* is its reach of each of its sequences. The plan of a mixture of policies is the sum of their plans,
each times its weight. Against a fixed strategy of the opponent, the player's value is linear in its plan: the sum, over
its sequences, of its reach times what the sequence gets without the player's later decisions. So one pass against a
response tells what this response gets against all policies at once.
"""

from __future__ import annotations

from rlccfr.kernels.jit import kernel


@kernel
def mix_plans(view, player, weights, plans, mixture):
    """Set a player's entries of a table to the sum of plans, each times its weight.

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
def values_of_plans(view, player, mass, payoffs, plans, values):
    """Add to each entry of ``values`` what a player gets by one of its plans at the ends that follow its decisions.

    Args:
        mass: (rows,) weight of each row's value in the game's, in the order of the view's ``above``.
        payoffs: (m,) what each of the player's sequences gets without the player's later decisions, as a pass writes it
            that meets the opponent's strategy; the player's entries are multiplied by the mass.
        plans: (K, m) plans of both players.
        values: (K,) in double precision, changed in place.
    """
    for node in view.nodes:
        if node["kind"] != player:
            continue
        deal = view.deals[node["deal"]]
        rows = deal["rows"][player]
        begin = node["table"]
        end = begin + node["num_children"] * rows
        weights = mass[deal["edge"][player] : deal["edge"][player] + rows]
        for a in range(node["num_children"]):
            action_payoffs = payoffs[begin + a * rows : begin + (a + 1) * rows]
            for r in range(rows):
                action_payoffs[r] *= weights[r]
        node_payoffs = payoffs[begin:end]
        for j in range(len(values)):
            plan = plans[j, begin:end]
            # Two sums, because each addition waits for the one before it.
            even = 0.0
            odd = 0.0
            for k in range(1, len(plan), 2):
                even += node_payoffs[k - 1] * plan[k - 1]
                odd += node_payoffs[k] * plan[k]
            if len(plan) % 2:
                even += node_payoffs[len(plan) - 1] * plan[len(plan) - 1]
            values[j] += even + odd
