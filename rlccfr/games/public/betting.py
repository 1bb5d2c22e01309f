"""Betting, with limits or without: the public tree of one round."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rlccfr.errors import GameError
from rlccfr.games.public.bet_sizes import BetRules, BetSize, Facing, StreetSizes, amounts_of
from rlccfr.games.public.records import CHANCE, FOLD

ROUND_ENDS = CHANCE
"""Kind of the leaves at which the round's betting is over and nobody has folded."""

MOST_NODES = 1_000_000
"""Largest number of nodes of one round's tree; a larger tree would not fit into memory even for a single board."""


class RoundEnd(NamedTuple):
    """The end of a round of betting without a fold.

    Attributes:
        spent: chips that each player has put in since the game's start; equal for both players.
        bettor: the player who bet or raised last in this round; -1 if nobody did.
    """

    spent: int
    bettor: int = -1


class Fold(NamedTuple):
    """The end of a game by a fold; ``payoff`` is player 0's utility."""

    payoff: float


@dataclass(frozen=True)
class BettingState:
    """The state of the betting during a round.

    Attributes:
        actor: the player who acts.
        spent: chips that each player has put in since the game's start.
        raises: number of bets and raises in this round; counted only in limit betting.
        acted: whether the other player has acted in this round.
    """

    actor: int
    spent: tuple[int, int]
    raises: int = 0
    acted: bool = False

    def put(self, amount: int) -> tuple[int, int]:
        """Return the chips that each player has put in once the actor's total is ``amount``."""
        return (amount, self.spent[1]) if self.actor == 0 else (self.spent[0], amount)


Step = BettingState | RoundEnd | Fold
"""What follows an action: a further state of the betting, the end of the round, or a fold."""

Moves = Callable[[BettingState], list[tuple[str, Step]]]
"""Function ``(state)`` that returns the actions at a betting state, in order, each with what follows it."""


@dataclass
class Round:
    """The public tree of a round of betting; node 0 is its root, and a node's children have consecutive indices.

    Attributes:
        kinds: for each node, the player who acts, FOLD or ROUND_ENDS.
        counts: number of children of each node.
        first_child: index of each node's first child.
        payoffs: player 0's utility at nodes of kind FOLD; 0 at other nodes.
        moves: the action that leads to each node; empty at the root.
        ends: from each node of kind ROUND_ENDS to the end of the round there.
        depth: number of edges on the longest path.
    """

    kinds: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    payoffs: list[float] = field(default_factory=list)
    moves: list[str] = field(default_factory=lambda: [""])
    ends: dict[int, RoundEnd] = field(default_factory=dict)
    depth: int = 0

    @classmethod
    def of(cls, start: Step, moves: Moves) -> Round:
        """Build the tree of a round.

        Args:
            start: state of the betting at the root; a :class:`RoundEnd` if nobody can bet.
            moves: function that returns the actions at each state.

        Raises:
            GameError: the tree has more than :data:`MOST_NODES` nodes.
        """
        tree = cls()
        # Breadth first, so that a node's children get consecutive numbers.
        waiting = deque[tuple[Step, int]]([(start, 0)])
        num_met = 1
        while waiting:
            step, depth = waiting.popleft()
            tree.depth = max(tree.depth, depth)
            if isinstance(step, BettingState):
                children = moves(step)
                tree._append(step.actor, len(children), num_met)
                waiting.extend((child, depth + 1) for _, child in children)
                tree.moves.extend(move for move, _ in children)
                num_met += len(children)
                if num_met > MOST_NODES:
                    raise GameError(
                        f"one round of betting has more than {MOST_NODES:,} nodes: use fewer bet sizes, or larger ones"
                    )
            elif isinstance(step, RoundEnd):
                tree.ends[len(tree.kinds)] = step
                tree._append(ROUND_ENDS, 0, 0)
            else:
                tree._append(FOLD, 0, 0, step.payoff)
        return tree

    def _append(self, kind: int, count: int, first_child: int, payoff: float = 0.0) -> None:
        self.kinds.append(kind)
        self.counts.append(count)
        self.first_child.append(first_child)
        self.payoffs.append(payoff)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.kinds)


def limit_moves(bet: int, raises: int) -> Moves:
    """Return the function that lists the moves of limit betting: fold, call or check, and raise, named f, c and r.

    Args:
        bet: chips that a bet or raise adds.
        raises: largest number of bets and raises in the round.
    """

    def moves(state: BettingState) -> list[tuple[str, Step]]:
        actor_spent = state.spent[state.actor]
        opponent_spent = state.spent[1 - state.actor]
        most_spent = max(actor_spent, opponent_spent)
        steps: list[tuple[str, Step]] = []
        # A player with nothing to call could only lose by folding.
        if opponent_spent > actor_spent:
            steps.append(("f", Fold(actor_spent if state.actor == 1 else -actor_spent)))
        # A call ends the round unless the other player has yet to act, as after the small blind's first call.
        called = state.put(most_spent)
        after_call = RoundEnd(most_spent) if state.acted else BettingState(1 - state.actor, called, state.raises, True)
        steps.append(("c", after_call))
        if state.raises < raises:
            raised = state.put(most_spent + bet)
            after_raise = replace(state, actor=1 - state.actor, spent=raised, raises=state.raises + 1, acted=True)
            steps.append(("r", after_raise))
        return steps

    return moves


def no_limit_moves(rules: BetRules, street: int, start: RoundEnd) -> Moves:
    """Return the function that lists the moves of no-limit betting.

    These are fold, call or check, then bets or raises, the smallest first. Their names are ``f``, ``c``, ``b``
    with the amount of a bet, ``r`` with the amount of a raise, and ``a`` for an all-in. An amount is what the player
    has then put in on this street, in the units in which the user gave the pot.

    Args:
        rules: the subgame's rules.
        street: 0 for the flop, 1 for the turn, 2 for the river.
        start: the end of the street before; at the subgame's start, an end without a bettor.
    """
    sizes = rules.sizes[street]

    def moves(state: BettingState) -> list[tuple[str, Step]]:
        steps = _moves_without_bets(rules, state)
        opponent_spent = state.spent[1 - state.actor]
        to_call = opponent_spent - state.spent[state.actor]
        if opponent_spent == rules.stack:  # the opponent is all-in and could not call a raise
            return steps
        facing = Facing(
            pot=rules.pot + 2 * opponent_spent,
            bet=opponent_spent - start.spent,
            # With two players, what there is to call is what the last bet or raise added.
            increase=to_call,
            most=rules.stack - start.spent,
            streets=len(rules.sizes) - street,
        )
        for amount in amounts_of(rules, _sizes_for(sizes, state, bool(to_call), start), facing):
            name = "a" if amount == facing.most else f"{'r' if to_call else 'b'}{rules.in_units(amount):.12g}"
            spent = state.put(start.spent + amount)
            steps.append((name, BettingState(1 - state.actor, spent, acted=True)))
        return steps

    return moves


def _moves_without_bets(rules: BetRules, state: BettingState) -> list[tuple[str, Step]]:
    """Return the actions of no-limit betting that put in no more than a call: fold, call or check."""
    actor_spent = state.spent[state.actor]
    opponent_spent = state.spent[1 - state.actor]
    if opponent_spent > actor_spent:
        # Half of the pot at the start counts as each player's, so that payoffs sum to 0.
        lost = rules.in_units(1) * (rules.pot / 2 + actor_spent)
        fold = Fold(lost if state.actor == 1 else -lost)
        return [("f", fold), ("c", RoundEnd(opponent_spent, 1 - state.actor))]
    if state.acted:
        return [("c", RoundEnd(opponent_spent))]
    return [("c", replace(state, actor=1 - state.actor, acted=True))]


def _sizes_for(sizes: StreetSizes, state: BettingState, faces_bet: bool, start: RoundEnd) -> tuple[BetSize, ...]:
    """Return the sizes of bets or raises that apply to the player who acts."""
    if faces_bet:
        return sizes.raises[state.actor]
    is_donk = state.actor == 0 and start.bettor == 1
    if is_donk and sizes.donk is not None:
        return sizes.donk
    return sizes.bets[state.actor]


def no_limit_round(rules: BetRules, street: int, start: RoundEnd) -> Round:
    """Return the tree of a street of no-limit betting, in which the player out of position, 0, acts first.

    If both players are all-in, nobody can bet, and the tree is a single node.

    Args:
        rules, street, start: see :func:`no_limit_moves`.

    Raises:
        GameError: the tree has too many nodes.
    """
    if start.spent == rules.stack:
        return Round.of(RoundEnd(start.spent), no_limit_moves(rules, street, start))
    return Round.of(BettingState(0, (start.spent, start.spent)), no_limit_moves(rules, street, start))
