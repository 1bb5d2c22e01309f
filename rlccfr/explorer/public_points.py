"""What a page shows at each point of a game with a public tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rlccfr.engine.public.evaluation import public_action_values
from rlccfr.explorer.points import ENDS, MOST_STATES, Content, PlayerState, Point
from rlccfr.games.public.cards import PLACES, RANKS, action_in_words, places_of_actions
from rlccfr.games.public.masses import allowed_on, root_reach
from rlccfr.games.public.records import CHANCE
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.policies.public_policy import PublicPolicy


def public_page(policy: PublicPolicy, start: str, most: int) -> Content:
    """Return what a page shows of a policy of a game with a public tree; see :func:`public_points`.

    Raises:
        GameError: no node has the path ``start``.
        PolicyError: the private states have no names.
    """
    deals = policy.game.deals
    points = public_points(policy, start, most)
    if not deals:  # Bluff
        bids = dict.fromkeys([*policy.game.letters(0), *policy.game.letters(1)])  # all bids, and the call of a bid
        return Content(points, {bid: place for place, bid in enumerate(bids)})
    has_two_cards = deals[0].deck.private == 2
    ranks = RANKS[: deals[0].deck.ranks][::-1] if has_two_cards else ""
    return Content(points, _places_of_actions(policy.game), ranks)


def _places_of_actions(game: PublicGame) -> dict[str, int]:
    """Return the index of each action's name among all actions, which determines its colour on the page.

    Folds, checks and calls come first. In limit games, raises follow; in no-limit games, all-ins and then the sizes of
    bets and raises in the order of their amounts.
    """
    has_limits = game.pot is None
    unused = "a" if has_limits else "r"
    places = places_of_actions(move.decode() for move in np.unique(game.moves).tolist())
    words = {action_in_words(move, can_fold=True): place for move, place in places.items() if move != unused}
    return words | {"check": PLACES["c"]}


def public_points(policy: PublicPolicy, start: str = "", most: int = MOST_STATES) -> Iterator[Point]:
    """Yield a point of a public tree and the points below it, breadth first.

    A state is what a player knows at a point. All points together have at most ``most`` states of both players, but the
    first point always has its states. Once the next point's states would exceed this limit, that point and all points
    that are already queued are yielded without states, and the points below them are left out: a page could not hold
    them.

    Args:
        policy: the policy.
        start: path of the first point, such as ``rc/KhQd2c/``; by default the game's first decision.
        most: largest number of states.

    Raises:
        GameError: no node has that path.
        PolicyError: the private states have no names.
    """
    policy.game.require_names()
    return iter(_PublicPoints(policy, policy.game.node(start), most))


def num_states_below(game: PublicGame, start: str) -> int:
    """Return the number of players' states at a node and at all nodes below it.

    Args:
        game: the game.
        start: path of the node.

    Raises:
        GameError: no node has that path.
    """
    nodes = game.view.nodes
    level = np.array([game.node(start)])
    num_states = 0
    while len(level):
        deals = nodes["deal"][level[nodes["kind"][level] < CHANCE]]
        num_states += int(game.view.deals["rows"][deals].sum())
        level = ranges(nodes["first_child"][level], nodes["num_children"][level])
    return num_states


class _Reach(NamedTuple):
    """The factors of the probability that play leads to a node.

    Attributes:
        of_player: for each player, (rows,): probability that the player's own moves lead there with each private state;
            in a subgame, times the weight of the hand.
        chance_factor: probability of one pair of private states and one board, times the number of boards that differ
            from this one only in suits, itself included.
    """

    of_player: tuple[np.ndarray, np.ndarray]
    chance_factor: float


class _NodeFigures(NamedTuple):
    """Figures of a policy at a node.

    Attributes:
        row_mass: for each player, (rows,): probability that play leads to the node with a private state of the row,
            divided by the reach's chance factor.
        mass: sum of ``row_mass`` over the rows, which is equal for both players.
        probabilities: (actions, rows) policy of the player who acts; empty if no player acts.
        action_values: (actions, rows) that player's expected payoff after each action; NaN where the opponent's moves
            never lead to the node.
    """

    row_mass: list[np.ndarray]
    mass: float
    probabilities: np.ndarray
    action_values: np.ndarray


class _PendingPoint(NamedTuple):
    """A point that is still to be yielded.

    Attributes:
        node: index of the public node.
        parent: index of the point above; -1 for the first one.
        reach: the node's reach.
        share: probability of the move to the node, given the point above.
        value: player 0's expected payoff there; NaN if it is unknown.
    """

    node: int
    parent: int
    reach: _Reach
    share: float
    value: float


class _PublicPoints:
    """The points of a node and of all nodes below it, as an iterable."""

    def __init__(self, policy: PublicPolicy, start: int, most: int) -> None:
        self.policy = policy
        self.game = policy.game
        self.start = start
        self.most = most
        self.counterfactual_values = public_action_values(policy.game, policy.table)
        self.nodes = policy.game.view.nodes

    def __iter__(self) -> Iterator[Point]:
        reach = self._reach_from_root(self.start)
        first = _PendingPoint(node=self.start, parent=-1, reach=reach, share=1.0, value=float("nan"))
        queue = deque([first])
        number = 0
        states_left = self.most
        is_full = False
        while queue:
            pending = queue.popleft()
            figures = self._figures(pending.node, pending.reach)
            # A chance node may have thousands of children, which are queued already. If the page can't hold their
            # states, they are shown without states, with only their moves and probabilities.
            num_states = 0 if int(self.nodes["kind"][pending.node]) >= CHANCE else sum(map(len, figures.row_mass))
            is_full = is_full or (num_states > states_left and number > 0)
            states_left -= num_states
            yield self._point(pending, figures, with_states=not is_full)
            if not is_full:
                queue.extend(self._children_of(pending, number, figures))
            number += 1

    def _figures(self, node: int, reach: _Reach) -> _NodeFigures:
        """Return the figures at a node."""
        kind = int(self.nodes["kind"][node])
        deal = int(self.nodes["deal"][node])
        opponent_reach = [allowed_on(self.game, deal, player, reach.of_player[1 - player]) for player in (0, 1)]
        row_mass = [
            size * player_reach * compatible
            for size, player_reach, compatible in zip(
                self._row_sizes(node), reach.of_player, opponent_reach, strict=True
            )
        ]
        mass = float(row_mass[0].sum())
        if kind >= CHANCE:
            return _NodeFigures(row_mass, mass, np.zeros((0, 0)), np.zeros((0, 0)))
        probabilities = self.policy.at(node)
        first_entry = int(self.nodes["table"][node])
        counterfactual_values = self.counterfactual_values[first_entry : first_entry + probabilities.size]
        # A counterfactual value is weighted by the opponent's reach; without that weight, it is an expected payoff.
        with np.errstate(invalid="ignore", divide="ignore"):
            action_values = counterfactual_values.reshape(probabilities.shape) / opponent_reach[kind]
        return _NodeFigures(row_mass, mass, probabilities, action_values)

    def _children_of(self, pending: _PendingPoint, number: int, figures: _NodeFigures) -> Iterator[_PendingPoint]:
        """Yield the points below a point, each with the probability of the move to it and player 0's value after it.

        Args:
            pending: the point above.
            number: its index on the page.
            figures: its figures.
        """
        kind = int(self.nodes["kind"][pending.node])
        for action, child in enumerate(self._child_nodes(pending.node)):
            reach = self._child_reach(pending.node, child, pending.reach)
            value = float("nan")
            if kind < CHANCE:
                # The mean over the player's private states, weighted by their probabilities at this node.
                action_mass = figures.row_mass[kind] * figures.probabilities[action]
                share = float(action_mass.sum() / figures.mass) if figures.mass > 0 else 0.0
                if share > 0:
                    sign = 1 if kind == 0 else -1
                    value = float(np.nansum(action_mass * figures.action_values[action]) / action_mass.sum()) * sign
            else:
                mass_before = figures.mass * pending.reach.chance_factor
                mass_after = self._figures(child, reach).mass * reach.chance_factor
                share = mass_after / mass_before if mass_before > 0 else 0.0
            yield _PendingPoint(child, number, reach, share, value)

    def _point(self, pending: _PendingPoint, figures: _NodeFigures, *, with_states: bool) -> Point:
        """Return what the page shows at a node, with or without the players' states there."""
        node = pending.node
        kind = int(self.nodes["kind"][node])
        move = self.game.step_in_words(node) if pending.parent >= 0 else self.game.path(node)
        if kind >= CHANCE:
            actor = CHANCE if kind == CHANCE else ENDS
            return Point(pending.parent, move, actor, pending.share, pending.value, (), ())
        # Play never leads to a node whose mass is 0; its shares are then 0 / 0.
        with np.errstate(invalid="ignore"):
            shares = [row_mass / figures.mass for row_mass in figures.row_mass]
        row_values = (figures.probabilities * figures.action_values).sum(axis=0)
        # Rows without a value (NaN) have no share either.
        mean_value = float(np.nansum(shares[kind] * row_values)) if figures.mass > 0 else float("nan")
        point = Point(
            pending.parent,
            move,
            kind,
            pending.share,
            mean_value if kind == 0 else -mean_value,
            states=(),
            opponent_states=(),
        )
        if not with_states:
            return point
        opponent_names = self.game.row_names(node, 1 - kind)
        opponent_shares = np.nan_to_num(shares[1 - kind])
        return point._replace(
            states=self._states_of_actor(node, kind, shares[kind], row_values, figures),
            opponent_states=[
                PlayerState(name, float(share)) for name, share in zip(opponent_names, opponent_shares, strict=True)
            ],
        )

    def _states_of_actor(
        self, node: int, player: int, shares: np.ndarray, row_values: np.ndarray, figures: _NodeFigures
    ) -> list[PlayerState]:
        """Return the states of the player who acts.

        Args:
            node: index of the public node.
            player: the player who acts there.
            shares: (rows,) probability of each private state, given the node.
            row_values: (rows,) the player's expected payoff with each private state.
            figures: figures at the node.
        """
        moves = self.game.action_words(node)
        gains = figures.action_values - row_values
        states = []
        for row, (name, share) in enumerate(zip(self.game.row_names(node, player), np.nan_to_num(shares), strict=True)):
            actions = zip(moves, figures.probabilities[:, row].tolist(), gains[:, row].tolist(), strict=True)
            states.append(PlayerState(name, float(share), float(row_values[row]), tuple(actions)))
        return states

    def _child_nodes(self, node: int) -> range:
        first_child = int(self.nodes["first_child"][node])
        return range(first_child, first_child + int(self.nodes["num_children"][node]))

    def _reach_from_root(self, node: int) -> _Reach:
        """Return the reach of any node, by following the path from the root to it."""
        path = [node]
        while (parent := int(self.game.parents[path[-1]])) >= 0:
            path.append(parent)
        path.reverse()
        reach = _Reach((root_reach(self.game, 0), root_reach(self.game, 1)), self.game.pair_probability)
        for parent, child in pairwise(path):
            reach = self._child_reach(parent, child, reach)
        return reach

    def _child_reach(self, node: int, child: int, reach: _Reach) -> _Reach:
        """Return the reach of a child, from the reach of its parent ``node``."""
        kind = int(self.nodes["kind"][node])
        player_reach = list(reach.of_player)
        if kind < CHANCE:
            action = child - int(self.nodes["first_child"][node])
            player_reach[kind] = player_reach[kind] * self.policy.at(node)[action]
            return _Reach((player_reach[0], player_reach[1]), reach.chance_factor)
        # Board cards are dealt. Each row after them descends from one row before them, and inherits its reach.
        view = self.game.view
        deal_index = int(self.nodes["deal"][child])
        deal_before = self.game.deals[int(self.nodes["deal"][node])]
        deal_after = self.game.deals[deal_index]
        for player in (0, 1):
            first_edge = int(view.deals["edge"][deal_index, player])
            num_rows = int(view.deals["rows"][deal_index, player])
            player_reach[player] = player_reach[player][view.above[first_edge : first_edge + num_rows]]
        # This board stands for `orbit` boards that differ only in suits, each of them dealt with probability `share`.
        chance_factor = reach.chance_factor * deal_after.orbit * deal_after.share / deal_before.share
        return _Reach((player_reach[0], player_reach[1]), chance_factor)

    def _row_sizes(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return for each player the number of private states in each row, (rows,)."""
        if not self.game.deals:
            return self.game.mass
        first_deal, second_deal = (self.game.deal_at(node, player) for player in (0, 1))
        return first_deal.sizes.astype(float), second_deal.sizes.astype(float)
