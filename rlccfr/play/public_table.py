"""Public-tree games, played by a person against a policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.public.cards import codes_of
from rlccfr.games.public.deals import Deal
from rlccfr.games.public.masses import allowed_on, root_reach
from rlccfr.games.public.records import CHANCE, DICE, FOLD, SHOWDOWN
from rlccfr.play.tables import chips_in_pot, known_in_holdem
from rlccfr.policies.public_policy import PublicPolicy


class PublicTable:
    """A public-tree game that is being played; see :class:`rlccfr.play.tables.Table`.

    Of boards that differ only by a permutation of suits, the tree has only one. Cards are dealt from the full deck, and
    a permutation of suits maps them to the tree's cards. In a subgame, each player's hand is drawn from its range.

    Args:
        policy: the policy that plays and gives advice.
        rng: random generator for chance moves.

    Raises:
        PolicyError: the private states have no names.
    """

    def __init__(self, policy: PublicPolicy, rng: np.random.Generator) -> None:
        policy.game.require_names()
        self._policy = policy
        self._game = policy.game
        self._rng = rng
        self._node = 0
        self._moves: list[str] = []
        self._board = np.zeros(0, np.int64)
        self._rows = [0, 0]
        if self._game.deals:
            deck = self._game.deals[0].deck
            self._tree_card = np.arange(deck.size)  # the tree's card for each card of the deck
            self._board = self._game.deals[0].board
            self._hands = self._dealt_hands()
            self._find_rows()
        else:
            probabilities = [mass / mass.sum() for mass in self._game.mass]
            self._rows = [int(rng.choice(len(of_player), p=of_player)) for of_player in probabilities]

    def _dealt_hands(self) -> list[np.ndarray]:
        """Return a hand for each player; in a subgame, a pair's probability is proportional to its hands' weights."""
        game = self._game
        first_deal, second_deal = (game.deal_at(0, player) for player in (0, 1))
        if first_deal is second_deal:
            deck = first_deal.deck
            cards = self._rng.permutation(deck.size)[: 2 * deck.private]
            return [np.sort(hand) for hand in cards.reshape(2, deck.private)]
        # Player 0's hand is drawn by the total weights of the hands' pairs, then player 1's among the compatible hands.
        second_reach = root_reach(game, 1)
        row_weights = root_reach(game, 0) * allowed_on(game, 0, 0, second_reach)
        first = first_deal.deck.hands[self._drawn(first_deal.hands, np.repeat(row_weights, first_deal.sizes))]
        is_blocked = np.isin(second_deal.deck.hands[second_deal.hands], first).any(axis=1)
        weights = np.where(is_blocked, 0.0, np.repeat(second_reach, second_deal.sizes))
        second = second_deal.deck.hands[self._drawn(second_deal.hands, weights)]
        return [np.sort(first), np.sort(second)]

    def _drawn(self, hands: np.ndarray, weights: np.ndarray) -> int:
        """Return one of ``hands``, drawn in proportion to their weights."""
        return int(self._rng.choice(hands, p=weights / weights.sum()))

    @property
    def actor(self) -> int | None:
        kind = int(self._game.view.nodes["kind"][self._node])
        return kind if kind < CHANCE else None

    def known(self, player: int) -> str:
        if self._game.deals:
            suits = self._game.deals[0].deck.suits
            return known_in_holdem(self._hands[player], self._board, suits, self._pot(), self._moves)
        dice = self._game.private_names[player][self._rows[player]]
        return f"Dice: {dice}  Moves: {' '.join(self._moves) or 'none yet'}"

    def actions(self) -> Sequence[str]:
        return self._game.action_words(self._node)

    def probabilities(self) -> np.ndarray:
        actor = self.actor
        assert actor is not None
        probabilities: np.ndarray = self._policy.at(self._node)[:, self._rows[actor]]
        return probabilities

    def shows(self, action: int) -> bool:
        return True  # all actions in betting and bidding are public

    def take(self, action: int) -> None:
        self._moves.append(self.actions()[action])
        self._node = self._first_child() + action
        while self._game.view.nodes["kind"][self._node] == CHANCE:
            self._deal()

    def payoffs(self) -> tuple[float, float]:
        payoff = self._payoff()
        return payoff, -payoff

    def _pot(self) -> float | None:
        """Return the chips in the pot; None once the game has ended."""
        if self.actor is None:
            return None
        nodes = self._game.view.nodes
        return chips_in_pot(
            self._node, nodes["kind"], SHOWDOWN, self._children, lambda node: abs(float(nodes["payoff"][node]))
        )

    def _payoff(self) -> float:
        """Return player 0's payoff."""
        node = self._game.view.nodes[self._node]
        if node["kind"] == DICE:
            return self._payoff_of_dice(node)
        if node["kind"] == FOLD:
            return float(node["payoff"])
        strengths = [self._current_deal(player).row_strengths[self._rows[player]] for player in (0, 1)]
        return float(node["payoff"] * np.sign(strengths[0] - strengths[1]))

    def _payoff_of_dice(self, node: np.void) -> float:
        """Return player 0's payoff after a call: the last bid is true if enough dice match it."""
        matches = self._game.view.matches
        num_faces = matches.shape[1]
        quantity = int(node["table"]) // num_faces + 1
        face = int(node["table"]) % num_faces
        first_row = self._rows[0]
        second_row = len(self._game.mass[0]) + self._rows[1]  # player 1's rolls follow player 0's
        bid_holds = int(matches[first_row, face]) + int(matches[second_row, face]) >= quantity
        player_0_wins = bid_holds == (node["payoff"] > 0)
        return float(self._game.view.payoffs[0 if player_0_wins else 1])

    def _deal(self) -> None:
        """Deal the next board cards, and move to their node in the tree."""
        before = self._current_deal()
        nodes = self._game.view.nodes
        children = range(self._first_child(), self._first_child() + int(nodes["num_children"][self._node]))
        deals = [self._game.deals[int(nodes["deal"][child])] for child in children]
        dealt_cards = np.concatenate([*self._hands, self._board])
        cards_left = np.setdiff1d(np.arange(before.deck.size), dealt_cards)
        cards = self._rng.choice(cards_left, len(deals[0].board) - len(before.board), replace=False)
        # Of the permutations of suits that keep the earlier board, one maps these cards to a board of the tree.
        images = before.permutations[:, self._tree_card[cards]]
        codes = codes_of(images, before.deck.size)
        for child, deal in zip(children, deals, strict=True):
            code_of_child = codes_of(deal.board[None, len(before.board) :], before.deck.size)[0]
            fitting = np.flatnonzero(codes == code_of_child)
            if len(fitting):
                self._tree_card = before.permutations[fitting[0]][self._tree_card]
                self._board = np.append(self._board, cards)
                self._moves.append("|")
                self._node = child
                self._find_rows()
                return
        raise AssertionError("no permutation of suits leads from the dealt cards to a board of the tree")

    def _find_rows(self) -> None:
        """Find the row of each player's hand on the current board."""
        for player, hand in enumerate(self._hands):
            deal = self._current_deal(player)
            codes = codes_of(deal.deck.hands, deal.deck.size)
            code = codes_of(self._tree_card[hand][None], deal.deck.size)[0]
            hand_number = np.flatnonzero(codes == code)[0]
            self._rows[player] = int(deal.row_of_hand[hand_number])

    def _current_deal(self, player: int = 0) -> Deal:
        return self._game.deal_at(self._node, player)

    def _first_child(self) -> int:
        return int(self._game.view.nodes["first_child"][self._node])

    def _children(self, node: int) -> range:
        record = self._game.view.nodes[node]
        return range(int(record["first_child"]), int(record["first_child"]) + int(record["num_children"]))
