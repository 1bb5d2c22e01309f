"""Games with a public tree in play."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.public.cards import ACTIONS, codes_of, names_of
from rlccfr.games.public.deals import Deal
from rlccfr.games.public.records import CHANCE, DICE, FOLD
from rlccfr.policies.public_policy import PublicPolicy


class PublicTable:
    """A game with a public tree in play; see :class:`rlccfr.play.tables.Table`.

    The tree has one of all boards that differ by a permutation of suits alone. Cards are dealt from a whole deck, and a
    permutation leads from them to those of the tree.

    Args:
        policy: the policy that plays, and is asked for advice.
        rng: source of chance's moves.

    Raises:
        PolicyError: the private states have no names.
    """

    def __init__(self, policy: PublicPolicy, rng: np.random.Generator) -> None:
        policy.game.require_names()
        self._policy, self._game, self._rng, self._node = policy, policy.game, rng, 0
        self._moves: list[str] = []
        self._board = np.zeros(0, np.int64)
        self._rows = [0, 0]
        if self._game.deals:
            deck = self._game.deals[0].deck
            self._image = np.arange(deck.size)  # the tree's card for each card dealt
            dealt = rng.permutation(deck.size)[: 2 * deck.private]
            self._hands = [np.sort(own) for own in dealt.reshape(2, deck.private)]
            self._find_rows()
        else:
            weights = [mass / mass.sum() for mass in self._game.mass]
            self._rows = [int(rng.choice(len(one), p=one)) for one in weights]

    @property
    def actor(self) -> int | None:
        kind = int(self._game.view.nodes["kind"][self._node])
        return kind if kind < CHANCE else None

    def known(self, player: int) -> str:
        if not self._game.deals:
            own = [f"Dice: {self._game.private_names[player][self._rows[player]]}"]
        else:
            suits = self._game.deals[0].deck.suits
            own = [f"Cards: {names_of(self._hands[player], suits)}"]
            own += [f"Board: {names_of(self._board, suits)}"] if len(self._board) else []
        return "  ".join([*own, f"Moves: {' '.join(self._moves) or 'none yet'}"])

    def actions(self) -> Sequence[str]:
        letters = self._game.letters(self._node)
        if not self._game.deals:
            return letters
        words = ACTIONS if "f" in letters else {**ACTIONS, "c": "check"}  # one may fold where there is a bet to call
        return [words[letter] for letter in letters]

    def probabilities(self) -> np.ndarray:
        actor = self.actor
        assert actor is not None
        found: np.ndarray = self._policy.at(self._node)[:, self._rows[actor]]
        return found

    def take(self, action: int) -> None:
        self._moves.append(self.actions()[action])
        self._node = self._first() + action
        while self._game.view.nodes["kind"][self._node] == CHANCE:
            self._deal()

    def payoffs(self) -> tuple[float, float]:
        own = self._payoff()
        return own, -own

    def _payoff(self) -> float:
        """Return player 0's payoff."""
        node = self._game.view.nodes[self._node]
        if node["kind"] == DICE:
            return self._of_dice(node)
        if node["kind"] == FOLD:
            return float(node["payoff"])
        group = np.searchsorted(self._dealt().group_end, self._rows, side="right")
        return float(node["payoff"] * np.sign(group[0] - group[1]))

    def _of_dice(self, node: np.void) -> float:
        """Return player 0's payoff after a call: the last bid holds if enough dice count for it."""
        matches = self._game.view.matches
        quantity, face = int(node["table"]) // matches.shape[1] + 1, int(node["table"]) % matches.shape[1]
        rows = self._rows[0], len(self._game.mass[0]) + self._rows[1]
        holds = int(matches[rows[0], face]) + int(matches[rows[1], face]) >= quantity
        return float(self._game.view.payoffs[0 if holds == (node["payoff"] > 0) else 1])

    def _deal(self) -> None:
        """Deal the next cards of the board, and go to the node for them."""
        before, nodes = self._dealt(), self._game.view.nodes
        children = range(self._first(), self._first() + int(nodes["num_children"][self._node]))
        deals = [self._game.deals[int(nodes["deal"][child])] for child in children]
        held = np.concatenate([*self._hands, self._board])
        left = np.setdiff1d(np.arange(before.deck.size), held)
        cards = self._rng.choice(left, len(deals[0].board) - len(before.board), replace=False)
        images = before.permutations[:, self._image[cards]]
        codes = codes_of(images, before.deck.size)
        for child, deal in zip(children, deals, strict=True):
            own = codes_of(deal.board[None, len(before.board) :], before.deck.size)[0]
            found = np.flatnonzero(codes == own)
            if len(found):
                self._image = before.permutations[found[0]][self._image]
                self._board = np.append(self._board, cards)
                self._moves.append("|")
                self._node = child
                self._find_rows()
                return
        raise AssertionError("some permutation leads to a board of the tree")

    def _find_rows(self) -> None:
        deal = self._dealt()
        codes = codes_of(deal.deck.hands, deal.deck.size)
        for player, hand in enumerate(self._hands):
            number = np.flatnonzero(codes == codes_of(self._image[hand][None], deal.deck.size)[0])[0]
            self._rows[player] = int(deal.row_of_hand[number])

    def _dealt(self) -> Deal:
        return self._game.deals[int(self._game.view.nodes["deal"][self._node])]

    def _first(self) -> int:
        return int(self._game.view.nodes["first_child"][self._node])
