"""River subgames as in DDCFR's copy of PokerRL, with the cards that it misreads and its order of updates.

CFR is written here a second time, with matrices over pairs of hands, and shares no code with the engine. If its curve
is the published one, then the game, the measure and the order of updates are those of the publication.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from rlccfr.games.public.betting import Round, RoundEnd
from rlccfr.games.public.card_tree import Level, levels_from
from rlccfr.games.public.cards import FLUSH, HAND, cards_named, strengths, suit_permutations
from rlccfr.games.public.deals import Deal, RangeDeck
from rlccfr.games.public.ranges import HOLDEM_DECK
from rlccfr.games.public.records import FOLD
from rlccfr.games.public.subgame import SubgameRules

MISREAD = {"3h": "2d", "4h": "2s", "4d": "3s", "5h": "2c", "5d": "3c", "5s": "4c"}
"""Cards that are misread when hands are compared, each with the card that it is read as.

PokerRL numbers ranks from the deuce and suits in the order hdsc. The dictionary ``id_2d_to_str_dict`` in DDCFR's copy
has each card twice, once with the key (rank, suit) and once with the key (suit, rank). So a card whose rank is one of
the first four, and has a larger number than its suit, is overwritten by the card with these two numbers swapped.
"""

BIG_BLIND = 100.0
"""Chips of the big blind."""


def _read_as() -> np.ndarray:
    """Return for each card the card that it is read as, (52,)."""
    read_as = np.arange(HOLDEM_DECK.size)
    for card, other in MISREAD.items():
        read_as[cards_named(card)] = cards_named(other)
    return read_as


class MisreadDeal(Deal):
    """A deal with a complete board on which hands are compared as in DDCFR's code, with misread cards.

    Whether two hands share a card is still decided correctly.
    """

    def strengths_of(self, hands: np.ndarray) -> np.ndarray:
        """Return the strengths, (hands,), of hands, (hands, 2), with cards misread as in DDCFR's code.

        A hand may then contain the same card twice. Both copies count, for a pair or any other kind of hand. But a hand
        whose flush contains the same card twice ranks below all other hands. This is inferred from the published
        figures, since the ranking table was not available.
        """
        cards = np.hstack([hands, np.broadcast_to(self.board, (len(hands), len(self.board)))])
        cards = np.sort(_read_as()[cards], axis=1)
        strength = strengths(cards, self.deck.ranks, self.deck.suits)
        has_card_twice = (cards[:, 1:] == cards[:, :-1]).any(axis=1)
        is_flush = strength // self.deck.ranks**HAND == FLUSH
        return np.where(has_card_twice & is_flush, -1, strength)


class MisreadRules(SubgameRules):
    """The rules of a river subgame in which hands are compared as in :class:`MisreadDeal`."""

    @cached_property
    def levels(self) -> list[Level]:
        """One level with one deal, since the board is complete.

        Each hand has a row of its own: only some cards are misread, so suits are not interchangeable.
        """
        ranks = HOLDEM_DECK.ranks
        suits = HOLDEM_DECK.suits
        no_merging = suit_permutations(ranks, suits)[:1]
        first, second = (
            MisreadDeal(
                RangeDeck(ranks, suits, HOLDEM_DECK.private, held=np.flatnonzero(weights)),
                np.array(self.board),
                no_merging,
                orbit=1,
                share=1.0,
            )
            for weights in self.weights
        )
        return levels_from((first, second), (), lambda dealt, cards: ())


class PlainRiver:
    """CFR on a river subgame by matrices, in the order of PokerRL's code.

    The player in position is updated first. A player's policy is added to the player's average before the player is
    updated. The average gives all iterations the same weight.

    Args:
        rules: rules of a subgame that begins on the river, with a row for each hand.

    Attributes:
        betting: the public tree.
        policies: the policy at each decision, (hands, actions), keyed by node.
    """

    def __init__(self, rules: SubgameRules) -> None:
        self.betting: Round = rules.round_of(0, RoundEnd(0))
        ((first, second),) = rules.levels[0].deals
        hands = (first.deck.hands[first.hands], second.deck.hands[second.hands])
        shares_card = (hands[0][:, None, :, None] == hands[1][None, :, None, :]).any(axis=(2, 3))
        difference = first.row_strengths[:, None] - second.row_strengths[None, :]
        self._met = (~shares_card).astype(float)  # (player 0's hands, player 1's hands)
        self._won = self._met * np.sign(difference)
        self._half_pot = rules.betting.pot / 2
        self._chip = rules.betting.in_units(1) / BIG_BLIND
        self._reach = []
        for weights, deal in zip(rules.weights, (first, second), strict=True):
            # Hands are drawn independently, as the published measure has it, so each range is normalised by itself.
            of_hands = weights[deal.deck.hand_numbers[deal.hands]]
            self._reach.append(of_hands / of_hands.sum())
        self.policies: dict[int, np.ndarray] = {}
        for node, kind in enumerate(self.betting.kinds):
            if kind in (0, 1):
                count = self.betting.counts[node]
                self.policies[node] = np.full((len(self._reach[kind]), count), 1.0 / count)
        self._regrets = {node: np.zeros_like(policy) for node, policy in self.policies.items()}
        self._sums = {node: np.zeros_like(policy) for node, policy in self.policies.items()}

    def iterate(self) -> None:
        """Run one iteration."""
        for player in (1, 0):
            values: dict[int, np.ndarray] = {}
            self._values(player, 0, self._reach[1 - player], self.policies, values)
            self._add_to_average(player, 0, self._reach[player])
            for node, of_actions in values.items():
                policy = self.policies[node]
                self._regrets[node] += of_actions - (policy * of_actions).sum(axis=1, keepdims=True)
                self.policies[node] = _proportional(np.maximum(self._regrets[node], 0.0))

    @property
    def exploitability(self) -> float:
        """NashConv / 2 of the average policy in big blinds, if the players' hands are drawn independently.

        A pair of hands that share a card gives 0, and the result is not divided by the probability of the other pairs.
        """
        average = {node: _proportional(sums) for node, sums in self._sums.items()}
        gains = [
            float(self._reach[player] @ self._values(player, 0, self._reach[1 - player], average)) for player in (0, 1)
        ]
        return sum(gains) / 2

    def _values(
        self,
        player: int,
        node: int,
        opponent_reach: np.ndarray,
        policies: Mapping[int, np.ndarray],
        of_actions: dict[int, np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return a node's value to each hand of a player, (hands,), in big blinds.

        Args:
            opponent_reach: the opponent's reach of the node with each of its hands.
            of_actions: dict to which the value of each action, (hands, actions), is added at each of the player's
                decisions; the player then follows its policy. If it is None, the player takes the best action with each
                hand instead.
        """
        kind = self.betting.kinds[node]
        # Payoffs are player 0's, and its hands are the matrices' rows; for player 1, both are turned round.
        sign = -1.0 if player else 1.0
        if kind == FOLD:
            met = self._met.T if player else self._met
            folded: np.ndarray = sign * self.betting.payoffs[node] / BIG_BLIND * (met @ opponent_reach)
            return folded
        if node in self.betting.ends:
            won = self._won.T if player else self._won
            # The winner gets the loser's half of the pot at the start, and what the loser has bet since.
            stake = self._chip * (self._half_pot + self.betting.ends[node].spent)
            shown: np.ndarray = sign * stake * (won @ opponent_reach)
            return shown
        children = range(self.betting.first_child[node], self.betting.first_child[node] + self.betting.counts[node])
        if kind != player:
            # The opponent's policy divides its reach among the actions, so the values below it add up.
            reaches = (policies[node] * opponent_reach[:, None]).T
            parts = [
                self._values(player, child, reach, policies, of_actions)
                for child, reach in zip(children, reaches, strict=True)
            ]
            total: np.ndarray = np.sum(parts, axis=0)
            return total
        values = np.transpose([self._values(player, child, opponent_reach, policies, of_actions) for child in children])
        if of_actions is None:
            best: np.ndarray = values.max(axis=1)
            return best
        of_actions[node] = values
        expected: np.ndarray = (policies[node] * values).sum(axis=1)
        return expected

    def _add_to_average(self, player: int, node: int, reach: np.ndarray) -> None:
        """Add a player's policy at a node and below it to the sums, weighted by its own ``reach``, (hands,)."""
        kind = self.betting.kinds[node]
        first_child = self.betting.first_child[node]
        # The opponent's actions do not change the player's own reach.
        reaches = [reach] * self.betting.counts[node]
        if kind == player:
            weighted = self.policies[node] * reach[:, None]
            self._sums[node] += weighted
            reaches = list(weighted.T)
        for child, child_reach in enumerate(reaches, first_child):
            self._add_to_average(player, child, child_reach)


def _proportional(table: np.ndarray) -> np.ndarray:
    """Return the policy that is proportional to a table, (hands, actions); uniform where a hand has only zeros."""
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, table / np.where(total > 0.0, total, 1.0), 1.0 / table.shape[1])
