"""Games that are being played: what has happened, what each player knows, and what the policy would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rlccfr.games.public.cards import names_of
from rlccfr.games.public.records import FOLD
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.games.words import knowledge_in, move_in_words
from rlccfr.policy import Policy


class Table(Protocol):
    """A game that is being played. Chance moves are made at once, so a player is to move, or the game has ended."""

    @property
    def actor(self) -> int | None:
        """The player to move, 0 or 1; None once the game has ended."""

    def known(self, player: int) -> str:
        """Return what a player knows at its current or last decision; at the end of a card game, all that it knows."""

    def actions(self) -> Sequence[str]:
        """Return the names of the actor's actions."""

    def probabilities(self) -> np.ndarray:
        """Return the policy's probabilities of the actor's actions, (actions,)."""

    def shows(self, action: int) -> bool:
        """Return whether the other player learns of the actor's action before making its own next decision.

        An implementation that examines only the next state returns False for an action that is revealed later.
        """

    def take(self, action: int) -> None:
        """Make the actor's move, given by its index in :meth:`actions`, and the chance moves that follow."""

    def payoffs(self) -> tuple[float, float]:
        """Return both players' payoffs; the game must have ended."""


def known_in_holdem(hand: np.ndarray, board: np.ndarray, suits: int, pot: float | None, moves: Sequence[str]) -> str:
    """Return what a player knows in hold'em: its hand, the board, the pot and the moves so far.

    Args:
        hand, board: numbers of the cards.
        suits: number of suits in the deck.
        pot: chips in the pot; None once the game has ended.
        moves: the moves in words, with a bar where a board is dealt.
    """
    fields = [f"Cards: {names_of(hand, suits)}"]
    if len(board):
        fields.append(f"Board: {names_of(board, suits)}")
    if pot is not None:
        fields.append(f"Pot: {pot:g}")
    return "  ".join([*fields, f"Moves: {' '.join(moves) or 'none yet'}"])


def chips_in_pot(
    node: int, kinds: np.ndarray, end: int, children: Callable[[int], range], stake: Callable[[int], float]
) -> float:
    """Return the chips in the pot at a decision of hold'em.

    Args:
        node: the decision.
        kinds: (nodes,) kind of each node of the betting.
        end: kind of the nodes at which the betting has ended without a fold.
        children: function that returns a node's children.
        stake: function that returns what a player has put in: at a fold the one that folds, at an end both.
    """
    # After a call, and checks to the end, each player has put in what the opponent has put in now.
    at_end = node
    while kinds[at_end] != end:
        at_end = next(child for child in children(at_end) if kinds[child] != FOLD)
    from_opponent = stake(at_end)
    # A player who may fold has put in what it would lose; one who may not has put in as much as the opponent.
    folds = [child for child in children(node) if kinds[child] == FOLD]
    return from_opponent + (stake(folds[0]) if folds else from_opponent)


class CompiledTable:
    """A compiled game that is being played; see :class:`Table`.

    Args:
        policy: the policy that plays and gives advice.
        rng: random generator for chance moves.
    """

    def __init__(self, policy: Policy, rng: np.random.Generator) -> None:
        from rlccfr.games.openspiel import openspiel_game

        self._policy = policy
        self._tree = policy.game
        self._rng = rng
        self._state: Any = openspiel_game(self._tree).new_initial_state()
        self._history = 0
        self._known = ["", ""]
        self._let_chance_move()

    @property
    def actor(self) -> int | None:
        actor = int(self._tree.histories["actor"][self._history])
        return None if actor == TERMINAL else actor

    def known(self, player: int) -> str:
        return self._known[player]

    def actions(self) -> Sequence[str]:
        player = self._state.current_player()
        names = [self._state.action_to_string(player, int(self._tree.edge_action[child])) for child in self._children()]
        return [move_in_words(self._tree.openspiel_name, name) for name in names]

    def probabilities(self) -> np.ndarray:
        return self._policy.probabilities[self._tree.infoset_sequences(self._infoset())]

    def shows(self, action: int) -> bool:
        waiting = 1 - self._state.current_player()
        children = self._children()
        after_this = self._next_infosets(children[action], waiting)
        others = [child for child in children if child != children[action]]
        return all(after_this.isdisjoint(self._next_infosets(child, waiting)) for child in others)

    def _next_infosets(self, history: int, player: int) -> set[int]:
        """Return the infosets at which a player may decide next after a history."""
        infosets = set()
        pending = [history]
        while pending:
            record = self._tree.histories[pending.pop()]
            if record["actor"] == player:
                infosets.add(int(record["infoset"]))
            else:
                first_child = int(record["first_child"])
                pending.extend(range(first_child, first_child + int(record["num_children"])))
        return infosets

    def take(self, action: int) -> None:
        self._go(self._children()[action])
        self._let_chance_move()

    def payoffs(self) -> tuple[float, float]:
        return self._tree.opponent_payoffs.of_both(float(self._tree.utility[self._history]))

    def _let_chance_move(self) -> None:
        while self._tree.histories["actor"][self._history] == CHANCE:
            children = self._children()
            probabilities = self._tree.probability[children.start : children.stop]
            outcome = int(self._rng.choice(len(children), p=probabilities / probabilities.sum()))
            self._go(children[outcome])
        if self.actor is not None:
            self._known[self.actor] = self._tree.infoset_keys[self._infoset()]
        elif knowledge_in(self._tree.openspiel_name, self._known[0]):  # other games may return other strings at the end
            self._known = [self._state.information_state_string(player) for player in (0, 1)]

    def _infoset(self) -> int:
        return int(self._tree.histories["infoset"][self._history])

    def _children(self) -> range:
        record = self._tree.histories[self._history]
        first_child = int(record["first_child"])
        return range(first_child, first_child + int(record["num_children"]))

    def _go(self, child: int) -> None:
        """Move to a child of the current history, in the tree and in OpenSpiel's game."""
        self._state.apply_action(int(self._tree.edge_action[child]))
        self._history = child
