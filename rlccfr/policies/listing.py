"""A policy as a list of states: what a player knows there, the actions, and how likely each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.view import PublicGame
from rlccfr.play.cards import in_words
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.policy import Policy


class State(NamedTuple):
    """A policy at one infoset.

    Attributes:
        player: 0 or 1.
        text: what the player knows: OpenSpiel's information state string, or in a public-tree game the path of public
            actions and cards and the private hand or roll.
        words: the same for people, in games whose cards have names; in others the text itself.
        actions: names of the actions.
        probabilities: probability of each.
        reach: probability that the infoset is reached if both players follow the policy; NaN in a public-tree game.
    """

    player: int
    text: str
    words: str
    actions: Sequence[str]
    probabilities: Sequence[float]
    reach: float


def states(policy: Policy, containing: Sequence[str] = (), player: int | None = None) -> Iterator[State]:
    """Yield the states of a policy in the game's order.

    Args:
        containing: texts that must all occur in the state's text or its words; upper and lower case are alike.
        player: player to whom the states belong; by default both.
    """
    wanted = [one.casefold() for one in containing]
    found = _public(policy, wanted) if isinstance(policy, PublicPolicy) else _listed(policy, wanted)
    return (state for state in found if player in (None, state.player))


def _listed(policy: Policy, wanted: Sequence[str]) -> Iterator[State]:
    from rlccfr.games.openspiel_policies import sequence_names
    from rlccfr.policies.analysis import analysed, followed

    tree: GameTree = policy.game
    words = [in_words(tree.openspiel_name, key) for key in tree.infoset_keys]
    told = [f"{key}\n{own}".casefold() for key, own in zip(tree.infoset_keys, words, strict=True)]
    numbers = [k for k, text in enumerate(told) if all(one in text for one in wanted)]
    names, reach = sequence_names(tree), analysed(tree, followed(tree, policy.probabilities)).reach
    for number in numbers:
        rows = tree.infoset_sequences(number)
        owner = int(number >= tree.view.infoset_begin[1])
        likely = policy.probabilities[rows].tolist()
        yield State(owner, tree.infoset_keys[number], words[number], names[rows], likely, reach[number])


def _public(policy: PublicPolicy, wanted: Sequence[str]) -> Iterator[State]:
    game: PublicGame = policy.game
    for node in game.decisions.tolist():
        path, owner = game.path(node), int(game.view.nodes["kind"][node])
        left = [one for one in wanted if one not in path.casefold()]
        names = game.row_names(node)
        rows = [k for k, name in enumerate(names) if all(one in f"{path} {name}".casefold() for one in left)]
        if not rows:
            continue
        actions, found = game.letters(node), policy.at(node)
        for row in rows:
            text = f"{path} {names[row]}".strip()
            yield State(owner, text, text, actions, found[:, row].tolist(), float(np.nan))
