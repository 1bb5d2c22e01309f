"""Limit betting: the public tree of one round."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from rlccfr.games.public.records import CHANCE, FOLD

ROUND_ENDS = CHANCE
"""Kind of the leaves at which the round's betting is over and nobody has folded."""


@dataclass(frozen=True)
class BettingState:
    """Where the betting of a round stands.

    Attributes:
        actor: the player who acts.
        spent: chips that each player has put in.
        raises: number of raises in this round.
        acted: whether the other player has acted in this round.
    """

    actor: int
    spent: tuple[int, int]
    raises: int = 0
    acted: bool = False

    def put(self, amount: int) -> tuple[int, int]:
        """Return the chips that each player has put in after the actor has brought its own total to ``amount``."""
        return (amount, self.spent[1]) if self.actor == 0 else (self.spent[0], amount)


Step = BettingState | tuple[int, int] | int
"""What follows an action: where the betting stands; what players have put in when the round ends; or player 0's utility
after a fold."""


@dataclass
class Round:
    """The public tree of a round of betting; node 0 is its root, and a node's children are neighbours.

    Attributes:
        kinds: the player who acts, FOLD or ROUND_ENDS.
        counts: number of children.
        first_child: index of the first child.
        payoffs: at FOLD, player 0's utility.
        moves: the action that leads to each node: f, c or r, for fold, call or check, raise; nothing at the root.
        depth: edges on the longest path.
        ends: the chips that players have put in at each leaf of ROUND_ENDS, by node.
    """

    kinds: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    payoffs: list[int] = field(default_factory=list)
    moves: list[str] = field(default_factory=lambda: [""])
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    depth: int = 0

    @classmethod
    def of(cls, first: int, spent: tuple[int, int], bet: int, raises: int) -> Round:
        """Build the tree of a round.

        Args:
            first: the player who acts first.
            spent: chips that each player has put in before.
            bet: chips of a bet or raise.
            raises: largest number of raises.
        """
        tree = cls()
        waiting = deque[tuple[Step, int]]([(BettingState(first, spent), 0)])
        num_met = 1
        while waiting:
            step, depth = waiting.popleft()
            tree.depth = max(tree.depth, depth)
            if isinstance(step, BettingState):
                children = followers(step, bet, raises)
                tree._append(step.actor, len(children), num_met)
                waiting.extend((child, depth + 1) for _, child in children)
                tree.moves.extend(move for move, _ in children)
                num_met += len(children)
            elif isinstance(step, tuple):  # the round ends, with these chips put in
                tree.ends[len(tree.kinds)] = step
                tree._append(ROUND_ENDS, 0, 0)
            else:  # a fold, with this utility
                tree._append(FOLD, 0, 0, step)
        return tree

    def _append(self, kind: int, count: int, first_child: int, payoff: int = 0) -> None:
        self.kinds.append(kind)
        self.counts.append(count)
        self.first_child.append(first_child)
        self.payoffs.append(payoff)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.kinds)


def followers(state: BettingState, bet: int, raises: int) -> list[tuple[str, Step]]:
    """Return the actions, in the order fold, call or check, raise, each with what follows it."""
    actor_spent = state.spent[state.actor]
    opponent_spent = state.spent[1 - state.actor]
    most_spent = max(actor_spent, opponent_spent)
    steps: list[tuple[str, Step]] = []
    if opponent_spent > actor_spent:
        steps.append(("f", actor_spent if state.actor == 1 else -actor_spent))
    called = state.put(most_spent)
    steps.append(("c", called if state.acted else BettingState(1 - state.actor, called, state.raises, True)))
    if state.raises < raises:
        raised = state.put(most_spent + bet)
        after_raise = replace(state, actor=1 - state.actor, spent=raised, raises=state.raises + 1, acted=True)
        steps.append(("r", after_raise))
    return steps
