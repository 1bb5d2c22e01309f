"""What each player gains by a best response, state by state.

The gain of a player is u(b, o) - u(p, o), where o is the opponent's policy, p the player's own, and b a best response
to o. It is split among the player's decisions. Start with the policy b, and replace b by p infoset by infoset, from the
root to the leaves. When it is replaced at an infoset I, which p reaches with probability x(I), the payoff falls by

    gain(I) = x(I) (max over a of q(I, a) - sum over a of p(a | I) q(I, a)).

q(I, a) is the counterfactual value of action a if the player follows b after it; it is weighted by the opponent's reach
and chance's reach. At the end, the player follows p everywhere, so the falls add up to u(b, o) - u(p, o) exactly. This
is the performance difference lemma (Kakade and Langford, "Approximately optimal approximate reinforcement learning",
ICML 2002), with the advantages of the best response. No gain is negative. A gain of 0 means that the policy is optimal
at the infoset, given b below it, or that p never reaches the infoset.

In a public-tree game, gains are summed over the private states at a public node; in hold'em in buckets, over the bucket
histories at a path of actions (:mod:`rlccfr.policies.bucket_history_figures`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rlccfr.errors import PolicyError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE
from rlccfr.games.public.view import PublicGame
from rlccfr.games.words import in_words
from rlccfr.policies.analysis import counterfactual_values, figures_of_histories
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.policy import Policy, StateGain


class LocalGains(NamedTuple):
    """What each player gains by a best response, at each of k states.

    Attributes:
        player: (k,) the player who acts there.
        gain: (k,) gain at each state, in units of player 0's payoffs; a player's gains sum to its entry of
            ``Values.gains``.
        named: function that is given the index of a state, and returns its text and its words (see
            :class:`rlccfr.policy.StateGain`); a call may take a while.
    """

    player: np.ndarray
    gain: np.ndarray
    named: Callable[[int], tuple[str, str]]

    def largest(self, most: int | None) -> list[StateGain]:
        """Return the states with the largest gains, the largest first; states with equal gains are in the game's order.

        Args:
            most: largest number of states; None for all.
        """
        places = np.argsort(-self.gain, kind="stable")[:most]
        return [
            StateGain(int(self.player[place]), *self.named(place), float(self.gain[place])) for place in places.tolist()
        ]


def gains_of_infosets(policy: Policy) -> LocalGains:
    """Return the gains at the infosets of a compiled game."""
    tree: GameTree = policy.game
    actor = tree.histories["actor"]
    decisions = np.flatnonzero(actor < CHANCE)
    histories = figures_of_histories(tree, policy.probabilities)
    own_reach = np.zeros(tree.num_infosets)  # the same at all histories of an infoset, by perfect recall
    own_reach[tree.histories["infoset"][decisions]] = histories.reach[actor[decisions], decisions]
    first_sequences = tree.view.first_sequence[:-1].astype(np.int64)
    gain = np.zeros(tree.num_infosets)
    responses = policy.best_response()
    for player in (0, 1):
        infosets = tree.infosets_of(player)
        responding = seated(player, responses, policy)
        values = counterfactual_values(tree, figures_of_histories(tree, responding.probabilities))
        best = np.maximum.reduceat(values, first_sequences)
        shortfall = best - tree.row_sums(policy.probabilities * values)
        gain[infosets] = own_reach[infosets] * np.maximum(shortfall[infosets], 0.0)  # rounding may leave less than 0

    def named(infoset: int) -> tuple[str, str]:
        key = tree.infoset_keys[infoset]
        return key, in_words(tree.openspiel_name, key)

    player_of_infoset = (np.arange(tree.num_infosets) >= tree.view.infoset_begin[1]).astype(int)
    return LocalGains(player_of_infoset, gain, named)


def gains_of_public_nodes(policy: PublicPolicy) -> LocalGains:
    """Return the gains at the decisions of a public-tree game.

    Raises:
        PolicyError: the game's private states have no names, or the game has a lock.
    """
    game: PublicGame = policy.game
    game.require_names()
    if game.lock is not None:  # players can't gain in locked rows, but the values of actions do not show that
        raise PolicyError(
            f"{game.name!r} has a lock: call policy.unlocked().gains_by_state() for the gains in the unlocked game"
        )
    gain = gains_at_decisions(policy)

    def named(place: int) -> tuple[str, str]:
        node = int(game.decisions[place])
        return game.path(node), game.path_in_words(node)

    return LocalGains(game.view.nodes["kind"][game.decisions].astype(int), gain, named)


def gains_at_decisions(policy: PublicPolicy) -> np.ndarray:
    """Return what the player who acts gains at each decision, (decisions,), in the order of the game's tables."""
    from rlccfr.engine.public.evaluation import public_action_values

    game = policy.game
    nodes = game.view.nodes
    gain_of_node = np.zeros(game.num_nodes)
    responses = policy.best_response()
    for player in (0, 1):
        # q(I, a) of the module's docstring: the player follows its best response b after the action.
        values = public_action_values(game, seated(player, responses, policy).table, (player,))
        mass = row_masses(game, player)
        for node, own_reach in _reach_of_decisions(policy, player):
            probabilities = policy.at(node)
            first_entry = int(nodes["table"][node])
            action_values = values[first_entry : first_entry + probabilities.size].reshape(probabilities.shape)
            shortfall = action_values.max(axis=0) - (probabilities * action_values).sum(axis=0)
            edge = int(game.view.deals["edge"][nodes["deal"][node], player])
            # A row may hold several private states, which its mass counts.
            row_weight = mass[edge : edge + len(own_reach)] * own_reach
            gain_of_node[node] = game.pair_probability * float(row_weight @ np.maximum(shortfall, 0.0))
    gains: np.ndarray = gain_of_node[game.decisions]
    return gains


def seated(player: int, first: Policy, second: Policy) -> Any:
    """Return the policy that plays like ``first`` as ``player``, and like ``second`` as the other player."""
    return first.seated_with(second) if player == 0 else second.seated_with(first)


def _reach_of_decisions(policy: PublicPolicy, player: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield a player's decisions, depth first, each with the player's own reach of it by private state, (rows,)."""
    game = policy.game
    view = game.view
    pending = [(0, np.ones(int(view.deals["rows"][0, player])))]
    while pending:
        node, reach = pending.pop()
        kind = int(view.nodes["kind"][node])
        first_child = int(view.nodes["first_child"][node])
        children = range(first_child, first_child + int(view.nodes["num_children"][node]))
        if kind == player:
            yield node, reach
            pending += zip(children, policy.at(node) * reach, strict=True)
        elif kind == CHANCE:
            for child in children:  # each row after the new cards comes from one row before them
                deal = view.deals[view.nodes["deal"][child]]
                edge = int(deal["edge"][player])
                pending.append((child, reach[view.above[edge : edge + int(deal["rows"][player])]]))
        elif kind < CHANCE:
            pending += [(child, reach) for child in children]
