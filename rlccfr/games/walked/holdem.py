"""Limit hold'em for walks that move in step; their cards are drawn from the deals of the public tree."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.games.walked.walked_game import TERMINAL

ROW = np.dtype([("hand", np.int32), ("line", np.int16)])
"""What a player knows.

``hand`` is the index of its hand's row, on the board so far, among the rows of ``view.above``. ``line`` is the index of
the *line*, that is, of the betting so far.
"""


class Deals(NamedTuple):
    """The cards of some walks, drawn at their start.

    Attributes:
        deal: (rounds, walks) the deal of the public tree in each round.
        hand: (rounds, players, walks) each player's row of that deal, as an index in ``view.above``.
    """

    deal: np.ndarray
    hand: np.ndarray


class States(NamedTuple):
    """Histories that walks have reached.

    Attributes:
        node: (states,) public node.
        walk: (states,) the walk that has reached it, an index into the arrays of ``deals``.
        deals: the walks' cards.
    """

    node: np.ndarray
    walk: np.ndarray
    deals: Deals


class HoldemWalks:
    """A hold'em game for walks that move in step; see :class:`rlccfr.games.walked.walked_game.WalkedGame`.

    A walk draws a deal of the last round, and then two disjoint hands without cards of its board. A deal of the public
    tree stands for all boards that differ only by a permutation of suits, and is drawn with their total probability.
    Since permutations do not change the game, the effect is the same as that of dealing cards.

    Args:
        game: a hold'em game in which all hands are equally likely.

    Attributes:
        game: the game.
        actions: names of the actions, in the order of columns.
        line: (nodes,) for each decision of the public tree, the index of the line that leads to it, whatever the board;
            -1 at other nodes.
        line_moves: for each line, the actions in each round so far, such as ``("rc", "")``.
    """

    row_type = ROW

    def __init__(self, game: PublicGame) -> None:
        self.game = game
        self.actions = tuple(sorted({move.decode() for move in np.unique(game.moves).tolist()} - {""}))
        self.line, self.line_moves = _lines_of(game)
        # For each line and action, the action's number among the children of a decision; -1 where it is illegal.
        self._place = np.full((len(self.line_moves), self.num_actions), -1)
        decisions, first_of_line = np.unique(self.line, return_index=True)
        for line, node in zip(decisions.tolist(), first_of_line.tolist(), strict=True):
            if line < 0:
                continue
            for place, letter in enumerate(game.letters(node)):
                self._place[line, self.actions.index(letter)] = place

    @property
    def num_actions(self) -> int:
        """Number of different actions."""
        return len(self.actions)

    @cached_property
    def _deal_of_row(self) -> np.ndarray:
        """Deal of each row of the public tree, (rows of all deals,)."""
        return np.repeat(np.arange(len(self.game.view.deals)), self.game.view.deals["rows"][:, 0])

    @cached_property
    def _node_after(self) -> np.ndarray:
        """The decision that a line leads to on a deal, (deals, lines); -1 if there is none."""
        nodes = np.full((len(self.game.view.deals), len(self.line_moves)), -1)
        decisions = self.game.decisions
        nodes[self.game.view.nodes["deal"][decisions], self.line[decisions]] = decisions
        return nodes

    def entries(self, rows: np.ndarray) -> np.ndarray:
        """Return the index in the game's tables of each row's entry for each action, (rows, actions); -1 if illegal.

        Args:
            rows: hands and lines, of type :data:`ROW`.
        """
        view = self.game.view
        deal = self._deal_of_row[rows["hand"]]
        first_entry = view.nodes["table"][self._node_after[deal, rows["line"]]]
        edge = view.deals["edge"][deal, 0]
        num_private_states = view.deals["rows"][deal, 0]
        # A decision's entries are ordered by actions, then by private states.
        places = self._place[rows["line"]]
        first_of_row = first_entry + rows["hand"] - edge
        entries: np.ndarray = np.where(places >= 0, first_of_row[:, None] + places * num_private_states[:, None], -1)
        return entries

    @cached_property
    def _round_of_deal(self) -> np.ndarray:
        """Round of each deal, (deals,)."""
        rounds = np.zeros(len(self.game.view.deals), np.int64)
        for deal, parent in enumerate(self.game.deal_parents.tolist()):
            rounds[deal] = rounds[parent] + 1 if parent >= 0 else 0
        return rounds

    @cached_property
    def _offset(self) -> np.ndarray:
        """Index of each deal among the deals that follow the same deal, (deals,)."""
        parents = self.game.deal_parents
        # A round's deals are ordered by the deals that they follow.
        begins = np.searchsorted(parents, parents)
        offsets: np.ndarray = np.arange(len(parents)) - begins
        return offsets

    @cached_property
    def _cumulative(self) -> tuple[np.ndarray, np.ndarray]:
        """The deals of the last round, (deals,), and their cumulative probabilities, (deals,)."""
        game = self.game
        last = np.flatnonzero(self._round_of_deal == self._round_of_deal.max())
        sums = np.append(0.0, np.cumsum(row_masses(game, 0)))
        edge = game.view.deals["edge"][last, 0]
        mass = sums[edge + game.view.deals["rows"][last, 0]] - sums[edge]
        return last, np.cumsum(mass) / mass.sum()

    @cached_property
    def _row_of_hand(self) -> np.ndarray:
        """Row of each entry of ``view.hands``, as an index in ``view.above``, (hands,)."""
        view = self.game.view
        sizes = np.diff(view.hand_end, prepend=0)
        # Ends of hands are counted from each deal's first hand.
        first_rows = view.deals["edge"][:, 0]
        sizes[first_rows] = view.hand_end[first_rows]
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    @cached_property
    def _num_hands_of_deal(self) -> np.ndarray:
        """Number of hands without a card of each deal's board, (deals,)."""
        view = self.game.view
        counts: np.ndarray = view.hand_end[view.deals["edge"][:, 0] + view.deals["rows"][:, 0] - 1].astype(np.int64)
        return counts

    @cached_property
    def _strength(self) -> np.ndarray:
        """Index of each row's group of equal strength within its deal, (rows of all deals,); larger is stronger."""
        view = self.game.view
        strengths = np.zeros(len(view.above), np.int32)
        for deal in view.deals:
            edge = int(deal["edge"][0])
            group = int(deal["group"][0])
            ends = view.group_end[group : group + int(deal["groups"])]
            strengths[edge : edge + int(deal["rows"][0])] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        return strengths

    @cached_property
    def cards(self) -> np.ndarray:
        """The cards of each row's first hand and of its board, (rows of all deals, cards), as numbers to be embedded.

        A card has one number for each round in which it may be dealt: round x deck size + card. Cards that are not yet
        dealt have the number :attr:`no_card`.
        """
        game = self.game
        view = game.view
        deck = game.deals[0].deck
        board_sizes = np.zeros(self.num_rounds, np.int64)
        np.maximum.at(board_sizes, self._round_of_deal, [len(deal.board) for deal in game.deals])
        rounds_of_board = np.repeat(np.arange(self.num_rounds), np.diff(board_sizes, prepend=0))
        cards = np.full((len(view.above), deck.private + len(rounds_of_board)), self.no_card, np.int16)
        # The public tree stores a single private card c as two numbers, 2c and 2c + 1.
        cards[:, : deck.private] = view.firsts[:, :1] // 2 if deck.private == 1 else view.firsts
        edges = view.deals["edge"][:, 0].tolist()
        counts = view.deals["rows"][:, 0].tolist()
        for deal, edge, count in zip(game.deals, edges, counts, strict=True):
            board = deck.size * rounds_of_board[: len(deal.board)] + deal.board
            cards[edge : edge + count, deck.private : deck.private + len(board)] = board
        return cards

    @property
    def num_rounds(self) -> int:
        """Number of rounds of betting."""
        return int(self._round_of_deal.max()) + 1

    @property
    def no_card(self) -> int:
        """Number in :attr:`cards` of a card that is not yet dealt."""
        return self.num_rounds * self.game.deals[0].deck.size

    @cached_property
    def legal_actions(self) -> np.ndarray:
        """Whether each action is legal after each line, (lines, actions)."""
        legal: np.ndarray = self._place >= 0
        return legal

    @cached_property
    def line_features(self) -> np.ndarray:
        """Features of each line, (lines, columns) float32.

        For the k-th action of each round, one column says whether there was such an action, and the next one whether it
        was a bet or raise.
        """
        most = np.zeros(self.num_rounds, np.int64)
        for moves in self.line_moves:
            most[: len(moves)] = np.maximum(most[: len(moves)], [len(letters) for letters in moves])
        features = np.zeros((len(self.line_moves), int(most.sum()), 2), np.float32)
        begins = np.cumsum(most) - most
        for line, moves in enumerate(self.line_moves):
            for begin, letters in zip(begins.tolist(), moves, strict=False):
                features[line, begin : begin + len(letters), 0] = 1.0
                features[line, begin : begin + len(letters), 1] = [letter == "r" for letter in letters]
        return features.reshape(len(features), -1)

    def begin(self, count: int, rng: np.random.Generator) -> States:
        """Return the states of ``count`` new walks at the root."""
        view = self.game.view
        last_deals, cumulative = self._cumulative
        deal = last_deals[np.minimum(np.searchsorted(cumulative, rng.random(count), "right"), len(last_deals) - 1)]
        hands = self._draw_hands(deal, rng)
        deals = Deals(np.empty((self.num_rounds, count), np.int32), np.empty((self.num_rounds, 2, count), np.int32))
        # From the last round back, since rows and deals know only the ones that they come from.
        for number in reversed(range(self.num_rounds)):
            deals.deal[number] = deal
            deals.hand[number] = hands
            if number:
                deal = self.game.deal_parents[deal]
                hands = view.deals["edge"][deal, 0] + view.above[hands]
        return States(np.zeros(count, np.int32), np.arange(count, dtype=np.int32), deals)

    def _draw_hands(self, deal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw two hands per deal that share no card with each other or the board; return their rows, (2, walks)."""
        view = self.game.view
        first = view.deals["hand"][deal, 0]
        count = self._num_hands_of_deal[deal]
        hands = np.empty((2, len(deal)), np.int64)
        again = np.arange(len(deal))  # the walks whose hands are still to be drawn
        # Drawing both hands again leaves all disjoint pairs equally likely.
        while len(again):
            hands[:, again] = first[again] + (rng.random((2, len(again))) * count[again]).astype(np.int64)
            first_cards = view.hands[hands[0, again]]
            second_cards = view.hands[hands[1, again]]
            share_card = (first_cards[:, :, None] == second_cards[:, None, :]).any((1, 2))
            again = again[share_card]
        rows: np.ndarray = self._row_of_hand[hands]
        return rows

    def actors(self, states: States) -> np.ndarray:
        """Return the player who acts at each state, (states,), or TERMINAL."""
        kinds = self.game.view.nodes["kind"][states.node]
        actors: np.ndarray = np.where(kinds < CHANCE, kinds, TERMINAL)
        return actors

    def legal(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each action is legal at each row, (rows, actions)."""
        is_legal: np.ndarray = self.legal_actions[rows["line"]]
        return is_legal

    def rows(self, states: States, chosen: np.ndarray) -> np.ndarray:
        """Return the hands and lines at some states, (chosen,) of type ROW."""
        nodes = self.game.view.nodes[states.node[chosen]]
        rows = np.empty(len(chosen), ROW)
        number = self._round_of_deal[nodes["deal"]]
        rows["hand"] = states.deals.hand[number, nodes["kind"], states.walk[chosen]]
        rows["line"] = self.line[states.node[chosen]]
        return rows

    def children(self, states: States, chosen: np.ndarray, action: np.ndarray, rng: np.random.Generator) -> States:
        """Return the states after actions, and after the next cards where a round ends; ``rng`` is not used."""
        nodes = self.game.view.nodes
        parent = states.node[chosen]
        walk = states.walk[chosen]
        node = nodes["first_child"][parent] + self._place[self.line[parent], action]
        while len(at_chance := np.flatnonzero(nodes["kind"][node] == CHANCE)):
            number = self._round_of_deal[nodes["deal"][node[at_chance]]] + 1
            deal = states.deals.deal[number, walk[at_chance]]
            node[at_chance] = nodes["first_child"][node[at_chance]] + self._offset[deal]
        return States(node, walk, states.deals)

    def payoffs(self, states: States, chosen: np.ndarray) -> np.ndarray:
        """Return player 0's payoff at some terminal states, (chosen,)."""
        nodes = self.game.view.nodes[states.node[chosen]]
        number = self._round_of_deal[nodes["deal"]]
        walk = states.walk[chosen]
        first_strength = self._strength[states.deals.hand[number, 0, walk]]
        second_strength = self._strength[states.deals.hand[number, 1, walk]]
        # At a fold, the payoff is player 0's; at a showdown, it is the winner's.
        sign = np.where(nodes["kind"] == FOLD, 1, np.sign(first_strength - second_strength))
        payoffs: np.ndarray = nodes["payoff"] * sign
        return payoffs


def _lines_of(game: PublicGame) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return the line that leads to each decision, (nodes,), -1 at other nodes; and each line's actions by round.

    The public tree has a copy of the betting on every board. Decisions with the same actions before them are one line.
    """
    nodes = game.view.nodes
    line = np.full(game.num_nodes, -1, np.int16)
    number_of: dict[tuple[str, ...], int] = {}
    # All nodes of a level that share their history of actions are visited together.
    waiting: list[tuple[tuple[str, ...], np.ndarray]] = [(("",), np.zeros(1, np.int64))]
    while waiting:
        moves, together = waiting.pop()
        kind = int(nodes["kind"][together[0]])
        first = nodes["first_child"][together].astype(np.int64)
        if kind == CHANCE:
            waiting.append(((*moves, ""), ranges(first, nodes["num_children"][together])))
        elif kind < CHANCE:
            line[together] = number_of.setdefault(moves, len(number_of))
            for place, letter in enumerate(game.letters(int(together[0]))):
                waiting.append(((*moves[:-1], moves[-1] + letter), first + place))
    return line, list(number_of)
