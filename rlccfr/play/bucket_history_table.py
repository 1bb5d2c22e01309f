"""Hold'em in buckets, played by a person against a policy with real cards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.public.cards import action_in_words, strengths
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.play.tables import chips_in_pot, known_in_holdem
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy


class BucketHistoryTable:
    """Hold'em in buckets that is being played; see :class:`rlccfr.play.tables.Table`.

    The cards are real. The policy sees its hand and the board only through its bucket history.

    Args:
        policy: the policy that plays and gives advice.
        rng: random generator of the deal.
    """

    def __init__(self, policy: BucketHistoryPolicy, rng: np.random.Generator) -> None:
        self._policy = policy
        self._game = policy.game
        boards = policy.game.bucketing.boards
        deck = boards.deck
        cards = rng.permutation(deck.size)
        self._hands = np.sort(cards[: 2 * deck.private].reshape(2, deck.private))
        self._whole_board = cards[2 * deck.private : 2 * deck.private + boards.sizes[-1]]
        # Both players' histories in all rounds; what a player knows does not depend on later cards.
        self._histories = policy.game.bucketing.histories_of(self._hands, np.stack([self._whole_board] * 2))
        self._round = 0
        self._node = 0
        self._line = 0
        self._moves: list[str] = []

    @property
    def actor(self) -> int | None:
        kind = int(self._record()["kind"])
        return kind if kind < CHANCE else None

    def known(self, player: int) -> str:
        board = self._whole_board[: self._game.bucketing.boards.sizes[self._round]]
        suits = self._game.bucketing.deck.suits
        return known_in_holdem(self._hands[player], board, suits, self._pot(), self._moves)

    def actions(self) -> Sequence[str]:
        letters = self._game.letters(self._round, self._node)
        return [action_in_words(letter, can_fold="f" in letters) for letter in letters]

    def probabilities(self) -> np.ndarray:
        actor = self.actor
        assert actor is not None
        history = int(self._histories[actor, self._round])
        return self._policy.at(self._round, self._node, history)[:, self._line]

    def shows(self, action: int) -> bool:
        return True  # all actions in betting and bidding are public

    def take(self, action: int) -> None:
        self._moves.append(self.actions()[action])
        self._node = int(self._record()["first_child"]) + action
        if self._record()["kind"] == CHANCE and self._round + 1 < len(self._game.rounds):
            self._line += int(self._record()["leaf"]) * self._game.rounds[self._round].num_lines
            self._round += 1
            self._node = 0
            self._moves.append("|")

    def payoffs(self) -> tuple[float, float]:
        payoff = self._payoff()
        return payoff, -payoff

    def _pot(self) -> float | None:
        """Return the chips in the pot; None once the game has ended."""
        if self.actor is None:
            return None
        betting = self._game.rounds[self._round]
        kinds = betting.nodes["kind"]

        def stake(node: int) -> float:
            chips = betting.fold_payoffs if kinds[node] == FOLD else betting.pots
            return abs(float(chips[self._leaf(node)]))

        return chips_in_pot(self._node, kinds, CHANCE, betting.children, stake)

    def _leaf(self, node: int) -> int:
        """Return the index of a leaf of the round's tree, on the present line, among the payoffs of its kind."""
        betting = self._game.rounds[self._round]
        return int(betting.nodes["leaf"][node]) * betting.num_lines + self._line

    def _payoff(self) -> float:
        """Return player 0's payoff."""
        betting = self._game.rounds[self._round]
        leaf = self._leaf(self._node)
        if self._record()["kind"] == FOLD:
            return float(betting.fold_payoffs[leaf])
        deck = self._game.bucketing.deck
        all_cards = np.hstack([self._hands, np.stack([self._whole_board] * 2)])
        first, second = strengths(all_cards, deck.ranks, deck.suits).tolist()
        return float(betting.pots[leaf] * np.sign(first - second))

    def _record(self) -> np.void:
        """Return the record of the node in the round's tree."""
        record: np.void = self._game.rounds[self._round].nodes[self._node]
        return record
