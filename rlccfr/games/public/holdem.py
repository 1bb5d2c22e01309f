"""Limit hold'em with two players, as a public tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, factorial

import numpy as np

from rlccfr.games.public.betting import BettingState, Round, RoundEnd, limit_moves
from rlccfr.games.public.card_tree import CardTree, Dealt, levels_from
from rlccfr.games.public.claims import check_public
from rlccfr.games.public.deals import Deck
from rlccfr.games.public.records import SHOWDOWN
from rlccfr.games.public.view import PublicGame


@dataclass(frozen=True)
class Holdem:
    """The rules of a limit hold'em game.

    Attributes:
        deck: the cards, and how many of them each player holds.
        board: number of board cards dealt before each round.
        blinds: chips that each player puts in at the start.
        bets: chips that a bet or raise adds, by round.
        raises: largest number of bets and raises, by round.
        first: the player who acts first, by round.
    """

    deck: Deck
    board: tuple[int, ...]
    blinds: tuple[int, int]
    bets: tuple[int, ...]
    raises: tuple[int, ...]
    first: tuple[int, ...]

    def least_entries(self) -> int:
        """Return a lower bound on the number of table entries, without building the game."""
        spent_at_start = [self.blinds]  # chips of both players, for each betting line that reaches the round
        num_boards = 1
        cards_in_deck = self.deck.size
        num_entries = 0
        for number, cards in enumerate(self.board):
            num_boards *= comb(cards_in_deck, cards)
            cards_in_deck -= cards
            # A row stands for at most as many pairs of a board and a hand as there are permutations of suits.
            num_rows = num_boards * comb(cards_in_deck, self.deck.private) // factorial(self.deck.suits)
            rounds = [self.round_of(number, spent) for spent in spent_at_start]
            num_entries += num_rows * sum(sum(betting.counts) for betting in rounds)
            spent_at_start = [(end.spent, end.spent) for betting in rounds for end in betting.ends.values()]
        return num_entries

    def openspiel_name(self) -> str:
        """Return the string by which OpenSpiel loads the game."""
        lists = {
            "raiseSize": self.bets,
            "maxRaises": self.raises,
            "firstPlayer": [player + 1 for player in self.first],
            "numBoardCards": self.board,
        }
        if len(self.board) == 1:  # OpenSpiel takes no list of one number; the second one is not used
            lists = {name: (*numbers, numbers[0]) for name, numbers in lists.items()}
        by_round = ",".join(f"{name}={' '.join(map(str, numbers))}" for name, numbers in lists.items())
        deck = self.deck
        return (
            f"universal_poker(betting=limit,numPlayers=2,numRounds={len(self.board)},"
            f"blind={self.blinds[0]} {self.blinds[1]},{by_round},"
            f"numSuits={deck.suits},numRanks={deck.ranks},numHoleCards={deck.private})"
        )

    def build(self, name: str) -> PublicGame:
        """Build the game."""
        return check_public(_game(self, name))

    def round_of(self, number: int, spent: tuple[int, int]) -> Round:
        """Return the betting of a round.

        Args:
            number: the round's number, from 0.
            spent: chips that each player has put in before the round.
        """
        moves = limit_moves(self.bets[number], self.raises[number])
        return Round.of(BettingState(self.first[number], spent), moves)


def _tree_of(rules: Holdem) -> CardTree:
    """Return the public tree of a game."""
    first = rules.deck.first()

    def following(dealt: Dealt, cards: int) -> Iterator[Dealt]:
        return ((deal, deal) for deal in dealt[0].following(cards))

    def round_of(number: int, start: RoundEnd) -> Round:
        spent = rules.blinds if number == 0 else (start.spent, start.spent)
        return rules.round_of(number, spent)

    levels = levels_from((first, first), rules.board[1:], following)
    return CardTree(levels, round_of, RoundEnd(max(rules.blinds)))


def _game(rules: Holdem, name: str) -> PublicGame:
    """Return the game with these rules."""
    tree = _tree_of(rules)
    first = tree.levels[0].deals[0][0]
    payoffs = tree.nodes["payoff"]
    # At a showdown either player may win, so these payoffs count with both signs.
    most_lost = float(payoffs[tree.nodes["kind"] == SHOWDOWN].max(initial=0.0))
    reach = np.ones(first.rows)
    return PublicGame(
        name=name,
        view=tree.view((reach, reach)),
        pair_probability=1 / rules.deck.num_pairs,
        mass=(first.sizes.astype(float),) * 2,
        utility_range=float(payoffs.max() - min(payoffs.min(), -most_lost)),
        depth=tree.depth,
        moves=tree.moves,
        deals=tree.deals(0),
        big_blind=float(max(rules.blinds)),
    )
