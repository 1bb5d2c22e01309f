"""Limit hold'em with two players, as a public tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb, factorial

import numpy as np

from rlccfr.games.public.betting import Round
from rlccfr.games.public.claims import check_public
from rlccfr.games.public.deals import Deal, Deck
from rlccfr.games.public.nodes import number_outcomes, tables_of
from rlccfr.games.public.records import DEAL, NODE, SHOWDOWN, PublicView
from rlccfr.games.public.view import PublicGame


@dataclass(frozen=True)
class Holdem:
    """The rules of a limit hold'em game.

    Attributes:
        deck: the cards, and how many of them each player holds.
        board: number of board cards dealt before each round.
        blinds: chips that each player puts in at the start.
        bets: chips of a bet or raise, by round.
        raises: largest number of raises, by round.
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
        for cards, first, bet, raises in zip(self.board, self.first, self.bets, self.raises, strict=True):
            num_boards *= comb(cards_in_deck, cards)
            cards_in_deck -= cards
            # Permutations of suits merge at most so many boards and hands into one row.
            num_rows = num_boards * comb(cards_in_deck, self.deck.private) // factorial(self.deck.suits)
            rounds = [Round.of(first, spent, bet, raises) for spent in spent_at_start]
            num_entries += num_rows * sum(sum(betting.counts) for betting in rounds)
            spent_at_start = [spent for betting in rounds for spent in betting.ends.values()]
        return num_entries

    def build(self, name: str) -> PublicGame:
        """Build the game."""
        return check_public(_Builder(self).game(name))


@dataclass(frozen=True, eq=False)
class _Level:
    """The deals of one round, with the place of each among the deals of the whole game.

    Attributes:
        deals: the round's deals.
        parent: (deals,) for each deal, the index of the deal that it follows, in the round before.
        begin: index of the round's first deal among all deals of the game.
    """

    deals: list[Deal]
    parent: np.ndarray
    begin: int

    @property
    def indices(self) -> np.ndarray:
        """Index of each deal among those of the whole game, (deals,)."""
        return self.begin + np.arange(len(self.deals))


class _Builder:
    """The nodes and deals of a game so far."""

    def __init__(self, rules: Holdem) -> None:
        self.rules = rules
        self.levels = self._levels()
        self._chunks: list[np.ndarray] = []
        self._moves: list[np.ndarray] = []
        self._size = 0
        self._depth = 0
        self._add_round(0, rules.blinds, None)

    def _levels(self) -> list[_Level]:
        """Return the deals of each round."""
        levels = [_Level(deals=[self.rules.deck.first()], parent=np.zeros(1, np.int64), begin=0)]
        for cards in self.rules.board[1:]:
            previous = levels[-1]
            deals: list[Deal] = []
            parents: list[int] = []
            for number, deal in enumerate(previous.deals):
                following = list(deal.following(cards))
                deals.extend(following)
                parents.extend([number] * len(following))
            begin = previous.begin + len(previous.deals)
            levels.append(_Level(deals=deals, parent=np.array(parents), begin=begin))
        return levels

    def _add(self, nodes: np.ndarray, moves: np.ndarray) -> None:
        """Add nodes, and the actions that lead to them."""
        self._chunks.append(nodes)
        self._moves.append(moves)
        self._size += len(nodes)

    def _add_round(self, number: int, spent: tuple[int, int], above: np.ndarray | None, depth: int = 0) -> None:
        """Add a round's nodes for all its deals, and the rounds that follow.

        The nodes of a round are the betting tree once per deal: first its roots, then the other nodes, deal by deal.

        Args:
            number: the round's number, from 0.
            spent: chips that each player has put in before.
            above: nodes of chance before the round, (deals of the round before,), whose children are set; None at the
                game's start.
            depth: edges above the round.
        """
        rules = self.rules
        level = self.levels[number]
        tree = Round.of(rules.first[number], spent, rules.bets[number], rules.raises[number])
        self._depth = max(self._depth, depth + tree.depth)
        begin = self._size
        num_deals = len(level.deals)
        num_below_root = tree.size - 1
        nodes = np.zeros((num_deals, tree.size), NODE)
        nodes["kind"] = tree.kinds
        nodes["num_children"] = tree.counts
        nodes["payoff"] = tree.payoffs
        nodes["deal"] = level.indices[:, None]
        # A child is not the root, so it comes after all roots.
        begin_of_deal = begin + num_deals + np.arange(num_deals)[:, None] * num_below_root
        nodes["first_child"] = begin_of_deal + np.array(tree.first_child) - 1

        # Where betting is over, hands are shown down, or chance deals the next round.
        is_last_round = number + 1 == len(rules.board)
        ends = np.array(sorted(tree.ends))
        if is_last_round:
            nodes["kind"][:, ends] = SHOWDOWN
            nodes["payoff"][:, ends] = [tree.ends[end][0] for end in ends.tolist()]
        moves = np.array(tree.moves, "S1")
        self._add(nodes[:, 0], np.full(num_deals, b""))
        below_roots = nodes[:, 1:].reshape(-1)
        self._add(below_roots, np.tile(moves[1:], num_deals))
        if above is not None:
            self._link(above, begin, level)
        if not is_last_round:
            for end in ends.tolist():
                chance_nodes = below_roots[end - 1 :: num_below_root]
                self._add_round(number + 1, tree.ends[end], chance_nodes, depth + tree.depth + 1)

    def _link(self, above: np.ndarray, begin: int, level: _Level) -> None:
        """Set the children of nodes of chance: the first nodes of the deals that follow each."""
        above["num_children"] = np.bincount(level.parent, minlength=len(above))
        above["first_child"] = begin + np.searchsorted(level.parent, np.arange(len(above)))

    def game(self, name: str) -> PublicGame:
        """Return the game with all nodes."""
        view = self._view()
        payoffs = view.nodes["payoff"]
        first_deal = self.levels[0].deals[0]
        return PublicGame(
            name=name,
            view=view,
            unit=1 / self.rules.deck.num_pairs,
            mass=(first_deal.sizes.astype(float),) * 2,
            utility_range=float(payoffs.max() - min(payoffs.min(), -self._most_lost())),
            depth=self._depth,
            moves=np.concatenate(self._moves),
            deals=tuple(replace(deal) for level in self.levels for deal in level.deals),  # copies, without caches
            big_blind=float(max(self.rules.blinds)),
        )

    def _most_lost(self) -> float:
        """Return the most chips that a player loses at a showdown."""
        nodes = np.concatenate(self._chunks)
        return float(nodes["payoff"][nodes["kind"] == SHOWDOWN].max(initial=0.0))

    def _view(self) -> PublicView:
        """Return the nodes and deals as arrays."""
        nodes = np.concatenate(self._chunks)
        deals = [deal for level in self.levels for deal in level.deals]
        table = np.zeros(len(deals), DEAL)
        table["rows"] = np.array([deal.rows for deal in deals])[:, None]
        table["row"] = _begins(deal.rows for deal in deals)
        table["share"] = [deal.share for deal in deals]
        table["edge"] = table["row"][:, None]
        table["hand"] = _begins(len(deal.hands) for deal in deals)
        table["groups"] = [len(deal.group_end) for deal in deals]
        table["group"] = _begins(table["groups"].tolist())
        nodes["table"] = tables_of(nodes["kind"], nodes["num_children"], nodes["deal"], table["rows"])
        edges = list(self._edges())
        outcomes = number_outcomes(nodes)
        return PublicView(
            nodes=nodes,
            deals=table,
            above=np.concatenate([above for above, _ in edges]).astype(np.int32),
            weight=np.concatenate([weight for _, weight in edges]),
            payoffs=np.zeros(0),
            hand_end=np.concatenate([deal.hand_end for deal in deals]).astype(np.int32),
            hands=self._cards(np.concatenate([deal.hands for deal in deals])),
            firsts=self._cards(np.concatenate([deal.firsts for deal in deals])),
            group_end=np.concatenate([deal.group_end for deal in deals]).astype(np.int32),
            outcomes=outcomes,
            matches=np.zeros((0, 1), np.uint8),
        )

    def _edges(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield for each deal what :meth:`Deal.edge_from` returns; each row of the first deal comes from itself."""
        first_deal = self.levels[0].deals[0]
        yield np.arange(first_deal.rows), np.ones(first_deal.rows)
        for previous, level in pairwise(self.levels):
            for deal, before in zip(level.deals, level.parent.tolist(), strict=True):
                yield deal.edge_from(previous.deals[before])

    def _cards(self, hands: np.ndarray) -> np.ndarray:
        """Return two cards for each hand, (hands, 2); a hand of one card gets two numbers that no other hand has."""
        deck = self.rules.deck
        cards = deck.hands[hands] if deck.private == 2 else 2 * deck.hands[hands] + np.arange(2)
        card_pairs: np.ndarray = cards.astype(np.uint8)
        return card_pairs


def _begins(sizes: Iterable[int]) -> np.ndarray:
    """Return the first index of each of several adjacent ranges."""
    ends = np.cumsum([0, *sizes])
    return ends[:-1]
