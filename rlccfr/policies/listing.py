"""A policy as a list of states: what a player knows at each, the actions, and their probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.cards import swapped
from rlccfr.games.public.view import PublicGame
from rlccfr.games.words import in_words
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.policy import Policy


class State(NamedTuple):
    """A policy at one infoset.

    Attributes:
        player: 0 or 1.
        text: what the player knows: OpenSpiel's information state string; in a public-tree game, the path of public
            actions and cards, followed by the private hand or roll.
        words: the text in words that are easy to read, if the game's cards have names; otherwise ``text`` itself.
        actions: names of the actions.
        probabilities: probability of each action.
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
        policy: the policy.
        containing: strings that must all occur in the state's text or its words; case does not matter.
        player: the player whose states to yield; by default both players' states.
    """
    needles = [text.casefold() for text in containing]
    matching: Iterator[State] = policy.game.form.part("states")(policy, needles)
    return (state for state in matching if player in (None, state.player))


def compiled_states(policy: Policy, needles: Sequence[str]) -> Iterator[State]:
    """Yield the states of a compiled game whose texts or words contain all of ``needles``, given in lower case."""
    from rlccfr.games.openspiel_policies import sequence_names
    from rlccfr.policies.analysis import figures_of_histories, figures_of_infosets

    tree: GameTree = policy.game
    words = [in_words(tree.openspiel_name, key) for key in tree.infoset_keys]
    # The line break keeps a needle from matching the end of one text and the beginning of the other.
    searchable = [f"{key}\n{text}".casefold() for key, text in zip(tree.infoset_keys, words, strict=True)]
    infosets = [infoset for infoset, text in enumerate(searchable) if all(needle in text for needle in needles)]
    names = sequence_names(tree)
    reach = figures_of_infosets(tree, figures_of_histories(tree, policy.probabilities)).reach
    for infoset in infosets:
        rows = tree.infoset_sequences(infoset)
        owner = int(infoset >= tree.view.infoset_begin[1])
        probabilities = policy.probabilities[rows].tolist()
        yield State(owner, tree.infoset_keys[infoset], words[infoset], names[rows], probabilities, reach[infoset])


def states_of_public_tree(policy: PublicPolicy, needles: Sequence[str]) -> Iterator[State]:
    """Yield the states of a public-tree game whose texts contain all of ``needles``, given in lower case."""
    game: PublicGame = policy.game
    for node in game.decisions.tolist():
        path = game.path(node)
        owner = int(game.view.nodes["kind"][node])
        # Needles that the path contains need not be searched for again with each private state.
        not_in_path = [needle for needle in needles if needle not in path.casefold()]
        names = game.row_names(node)
        rows = [
            row
            for row, name in enumerate(names)
            if all(
                needle in f"{path} {name}".casefold() or swapped(needle) == name.casefold()  # QdQs finds QsQd
                for needle in not_in_path
            )
        ]
        if not rows:
            continue
        actions = game.letters(node)
        probabilities = policy.at(node)
        for row in rows:
            text = f"{path} {names[row]}".strip()
            yield State(owner, text, text, actions, probabilities[:, row].tolist(), float(np.nan))
