"""Public trees of card games as arrays: a round of betting on each board, then chance deals further cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rlccfr.games.public.betting import Round, RoundEnd
from rlccfr.games.public.deals import Deal
from rlccfr.games.public.nodes import number_outcomes, tables_of
from rlccfr.games.public.records import DEAL, NODE, SHOWDOWN, PublicView

Dealt = tuple[Deal, Deal]
"""A board with player 0's hands, and the same board with player 1's; one object twice if both have the same hands."""

RoundOf = Callable[[int, RoundEnd], Round]
"""Function ``(number, end)`` that returns the betting of a round.

Rounds are counted from 0, and ``end`` is how the previous round ended.
"""


@dataclass(frozen=True, eq=False)
class Level:
    """The deals of one round, with the index of each among the deals of the whole game.

    Attributes:
        deals: the round's deals.
        parent: (deals,) for each deal, the index of the deal that it follows, in the list of the round before.
        begin: index of the round's first deal among all deals of the game.
    """

    deals: list[Dealt]
    parent: np.ndarray
    begin: int

    @property
    def indices(self) -> np.ndarray:
        """Index of each deal among the deals of the whole game, (deals,)."""
        return self.begin + np.arange(len(self.deals))


def levels_from(first: Dealt, cards: Iterable[int], following: Callable[[Dealt, int], Iterable[Dealt]]) -> list[Level]:
    """Return the deals of each round.

    Args:
        first: the deal of the first round.
        cards: number of board cards dealt before each round after the first.
        following: function ``(deal, num_cards)`` that returns the deals that follow a deal once ``num_cards`` more
            board cards are dealt.
    """
    levels = [Level(deals=[first], parent=np.zeros(1, np.int64), begin=0)]
    for num_cards in cards:
        previous = levels[-1]
        deals: list[Dealt] = []
        parents: list[int] = []
        for number, deal in enumerate(previous.deals):
            next_deals = list(following(deal, num_cards))
            deals.extend(next_deals)
            parents.extend([number] * len(next_deals))
        begin = previous.begin + len(previous.deals)
        levels.append(Level(deals=deals, parent=np.array(parents), begin=begin))
    return levels


class CardTree:
    """The nodes and deals of a game with several rounds of betting and a showdown.

    Args:
        levels: the deals of each round.
        round_of: function that returns the betting of each round.
        start: argument ``end`` of ``round_of`` for the first round.
        dead: half of the chips that were in the pot before the game; a showdown's winner gets the loser's half, too.
        chip: value of a chip, in the units of payoffs.

    Attributes:
        levels: the deals of each round.
        nodes: (nodes,) of type NODE; their field ``table`` is set by :meth:`view`.
        moves: (nodes,) the action that leads to each node; empty after chance and at the root.
        depth: number of edges on the longest path.
    """

    def __init__(
        self, levels: list[Level], round_of: RoundOf, start: RoundEnd, dead: float = 0.0, chip: float = 1.0
    ) -> None:
        self.levels = levels
        self._round_of = round_of
        self._dead = dead
        self._chip = chip
        self._chunks: list[np.ndarray] = []
        self._move_chunks: list[np.ndarray] = []
        self._size = 0
        self.depth = 0
        self._add_round(0, start, None)
        self.nodes = np.concatenate(self._chunks)
        self.moves = np.concatenate(self._move_chunks)

    def _add(self, nodes: np.ndarray, moves: np.ndarray) -> None:
        """Add nodes, and the actions that lead to them."""
        self._chunks.append(nodes)
        self._move_chunks.append(moves)
        self._size += len(nodes)

    def _add_round(self, number: int, start: RoundEnd, above: np.ndarray | None, depth: int = 0) -> None:
        """Add a round's nodes for all its deals, and the rounds that follow.

        Each deal has a copy of the betting tree. The copies' roots come first, then their other nodes, deal by deal.

        Args:
            number: the round's number, from 0.
            start: the end of the round before.
            above: chance nodes before the round, one for each deal of the round before; their children are set. None
                at the game's start.
            depth: number of edges above the round.
        """
        level = self.levels[number]
        tree = self._round_of(number, start)
        self.depth = max(self.depth, depth + tree.depth)
        begin = self._size
        num_deals = len(level.deals)
        num_below_root = tree.size - 1
        nodes = np.zeros((num_deals, tree.size), NODE)
        nodes["kind"] = tree.kinds
        nodes["num_children"] = tree.counts
        nodes["payoff"] = tree.payoffs
        nodes["deal"] = level.indices[:, None]
        # No child is a root, so children come after all roots.
        begin_of_deal = begin + num_deals + np.arange(num_deals)[:, None] * num_below_root
        nodes["first_child"] = begin_of_deal + np.array(tree.first_child) - 1

        # A round's betting ends with a showdown in the last round, and with a chance node in earlier rounds.
        is_last_round = number + 1 == len(self.levels)
        ends = np.array(sorted(tree.ends))
        if is_last_round:
            nodes["kind"][:, ends] = SHOWDOWN
            nodes["payoff"][:, ends] = [self._chip * (self._dead + tree.ends[end].spent) for end in ends.tolist()]
        moves = np.array(tree.moves, "S")
        roots = nodes[:, 0]
        below_roots = nodes[:, 1:].reshape(-1)
        self._add(roots, np.full(num_deals, b"", moves.dtype))
        self._add(below_roots, np.tile(moves[1:], num_deals))
        if above is not None:
            self._link(above, begin, level)
        if not is_last_round:
            for end in ends.tolist():
                # Views of the arrays that were added, since the children of these nodes are set next.
                chance_nodes = roots if end == 0 else below_roots[end - 1 :: num_below_root]
                self._add_round(number + 1, tree.ends[end], chance_nodes, depth + tree.depth + 1)

    def _link(self, above: np.ndarray, begin: int, level: Level) -> None:
        """Set the children of chance nodes: the roots of the next round's betting on the deals that follow."""
        above["num_children"] = np.bincount(level.parent, minlength=len(above))
        above["first_child"] = begin + np.searchsorted(level.parent, np.arange(len(above)))

    def deals(self, player: int) -> tuple[Deal, ...]:
        """Return each deal with a player's hands, as copies without cached arrays."""
        return tuple(replace(deal[player]) for level in self.levels for deal in level.deals)

    def view(self, reach: tuple[np.ndarray, np.ndarray]) -> PublicView:
        """Return the nodes and deals as arrays.

        Args:
            reach: for each player, (rows,), its reach of the root's rows.
        """
        deals = [deal for level in self.levels for deal in level.deals]
        # One object stands for both players where they have the same hands; one set of arrays then serves both.
        is_shared = deals[0][0] is deals[0][1]
        sides = [_Side(self.levels, player) for player in ((0,) if is_shared else (0, 1))]
        table = np.zeros(len(deals), DEAL)
        table["groups"] = sides[0].num_groups
        table["share"] = [deal.share for deal, _ in deals]
        for player in range(2):
            place = 0 if is_shared else player
            side = sides[place]
            sides_before = sides[:place]
            table["rows"][:, player] = side.rows
            table["edge"][:, player] = _begins(side.rows, (before.rows for before in sides_before))
            table["row"][:, player] = table["edge"][:, player]
            table["hand"][:, player] = _begins(side.hands, (before.hands for before in sides_before))
            table["group"][:, player] = _begins(side.num_groups, (before.num_groups for before in sides_before))
        nodes = self.nodes
        nodes["table"] = tables_of(nodes["kind"], nodes["num_children"], nodes["deal"], table["rows"])
        # This sets ``table`` at chance nodes, which the line above has set to 0.
        outcomes = number_outcomes(nodes)
        arrays = [np.concatenate(parts) for parts in zip(*(side.arrays() for side in sides), strict=True)]
        above, weight, hand_end, hands, firsts, group_end, same = arrays
        return PublicView(
            nodes=nodes,
            deals=table,
            above=above.astype(np.int32),
            weight=weight,
            payoffs=np.zeros(0),
            hand_end=hand_end.astype(np.int32),
            hands=hands,
            firsts=firsts,
            group_end=group_end.astype(np.int32),
            outcomes=outcomes,
            matches=np.zeros((0, 1), np.uint8),
            reach=np.concatenate(reach),
            same=same.astype(np.int32),
        )


class _Side:
    """One player's hands on all deals, or both players' if these are the same.

    Attributes:
        rows, hands, num_groups: for each deal, the number of rows, of hands and of groups of equal strength.
    """

    def __init__(self, levels: list[Level], player: int) -> None:
        self._levels = levels
        self._player = player
        pairs = [deal for level in levels for deal in level.deals]
        self._deals = [deal[player] for deal in pairs]
        self._opponents = [deal[1 - player] for deal in pairs]
        self._group_ends = [
            _joint_groups(deal, opponent) for deal, opponent in zip(self._deals, self._opponents, strict=True)
        ]
        self.rows = [deal.rows for deal in self._deals]
        self.hands = [len(deal.hands) for deal in self._deals]
        self.num_groups = [len(ends) for ends in self._group_ends]

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the arrays ``above``, ``weight``, ``hand_end``, ``hands``, ``firsts``, ``group_end`` and ``same``."""
        edges = list(self._edges())
        pairs = zip(self._deals, self._opponents, strict=True)
        return (
            np.concatenate([above for above, _ in edges]),
            np.concatenate([weight for _, weight in edges]),
            np.concatenate([deal.hand_end for deal in self._deals]),
            self._cards(np.concatenate([deal.hands for deal in self._deals])),
            self._cards(np.concatenate([deal.firsts for deal in self._deals])),
            np.concatenate(self._group_ends),
            np.concatenate([_same_rows(deal, opponent) for deal, opponent in pairs]),
        )

    def _edges(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield for each deal what :meth:`Deal.edge_from` returns; a row of the first deal comes from itself."""
        first_deal = self._levels[0].deals[0][self._player]
        yield np.arange(first_deal.rows), np.ones(first_deal.rows)
        for previous, level in pairwise(self._levels):
            for deal, before in zip(level.deals, level.parent.tolist(), strict=True):
                yield deal[self._player].edge_from(previous.deals[before][self._player])

    def _cards(self, hands: np.ndarray) -> np.ndarray:
        """Return two cards for each hand, (hands, 2); for a hand of one card, two numbers that no other hand has."""
        deck = self._deals[0].deck
        cards = deck.hands[hands] if deck.private == 2 else 2 * deck.hands[hands] + np.arange(2)
        card_pairs: np.ndarray = cards.astype(np.uint8)
        return card_pairs


def _joint_groups(deal: Deal, opponent: Deal) -> np.ndarray:
    """Return the ends of a player's groups of rows of equal strength, (groups,).

    There is a group for each strength that a row of either player has; it may be empty.
    """
    if deal is opponent:
        return deal.group_end
    strengths = np.union1d(deal.row_strengths, opponent.row_strengths)
    ends: np.ndarray = np.searchsorted(deal.row_strengths, strengths, side="right")
    return ends


def _same_rows(deal: Deal, opponent: Deal) -> np.ndarray:
    """Return for each row of a player the opponent's row to which its first hand belongs, (rows,); -1 if none does."""
    if deal is opponent:
        return np.arange(deal.rows)
    row_of_number = np.full(deal.deck.num_hands, -1)
    row_of_number[opponent.deck.hand_numbers] = opponent.row_of_hand
    rows: np.ndarray = row_of_number[deal.deck.hand_numbers[deal.firsts]]
    return rows


def _begins(sizes: Iterable[int], sizes_before: Iterable[Iterable[int]]) -> np.ndarray:
    """Return the first index of each of several ranges of indices, which lie one after another.

    Args:
        sizes: number of indices in each range.
        sizes_before: numbers of indices in other ranges, all of which lie before these.
    """
    ends = np.cumsum([sum(map(sum, sizes_before)), *sizes])
    return ends[:-1]
