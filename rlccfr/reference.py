"""Counterfactual regret minimization (CFR) as in the paper, in plain Python. Start reading here.

The paper is Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information",
NIPS 2007; equation numbers below are the paper's. Two players learn by playing against each other, for t = 1, 2, ...
with the policies s^t. An *infoset* I is the set of the histories between which the player to move, i, can't
distinguish. An iteration has three steps:

1. **Counterfactual values.** A walk through the whole game computes what each action a at each infoset is worth
   (equation 5), and how much more that is than the policy's value: the *instantaneous regret*

       r^t(I, a) = sum over the histories h in I of reach(h) (v(h a) - v(h))

   v is the value to player i if both play s^t from there on. reach(h) is the probability with which chance and the
   opponent come to h: as if player i did everything to get there, hence *counterfactual*.
2. **Regret matching.** Regrets are added up (equation 7): R^T(I, a) = r^1(I, a) + ... + r^T(I, a). (The paper divides
   them by T, which changes no policy.) The next policy is proportional to the positive regrets (equation 8):

       s^{T+1}(I, a) = max(R^T(I, a), 0) / sum over b of max(R^T(I, b), 0), or uniform if no regret is positive

3. **Average policy.** The policies are averaged; each is weighted by the probability with which its player's own
   actions reach the infoset (equation 4).

The average policy, not the last one, converges to a Nash equilibrium, at the rate 1 / sqrt(T) or faster (theorems 2 to
4). :func:`exploitability` measures how far it still is from one.

This module differs from the paper in that the players are updated in alternation: player 1 learns against player 0's
new policy. The module is slow and simple, with dictionaries and recursion on OpenSpiel's states. The library does the
same on flat arrays, in compiled loops, and shares no code with it; the tests compare the two.

Kuhn poker has the value -1/18 = -0.0556 for the first player:

    >>> import pyspiel
    >>> from rlccfr.reference import CFR, expected_value, exploitability
    >>> game = pyspiel.load_game("kuhn_poker")
    >>> cfr = CFR(game)
    >>> for t in range(500):
    ...     cfr.iterate()
    >>> policy = cfr.average_policy()
    >>> abs(expected_value(game, policy, player=0) + 1 / 18) < 0.001
    True
    >>> exploitability(game, policy) < 0.005
    True
    >>> [round(probability, 1) for probability in policy["1 2b"]]  # the king, after a bet: never fold
    [0.0, 1.0]

Variants of CFR replace one step. CFR+ (Tammelin 2014) sets negative regrets to 0, and gives later policies more weight:

    >>> class CFRPlus(CFR):
    ...     def update(self, infoset, instantaneous_regrets):
    ...         super().update(infoset, instantaneous_regrets)
    ...         self.regrets[infoset] = [max(regret, 0.0) for regret in self.regrets[infoset]]
    ...     def average_weight(self):
    ...         return self.iteration
    >>> cfr_plus = CFRPlus(game)
    >>> for t in range(100):
    ...     cfr_plus.iterate()
    >>> exploitability(game, cfr_plus.average_policy()) < 0.005
    True
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

State = Any
"""A state of OpenSpiel's: a history of the game."""

Table = dict[str, list[float]]
"""For each infoset, one number for each of its legal actions. A policy is a table of probabilities for both players."""


def infoset_of(state: State) -> str:
    """Return the name of a state's infoset: the player to move, and this player's information state string."""
    return f"{state.current_player()} {state.information_state_string()}"


def regret_matching(regrets: list[float]) -> list[float]:
    """Return the policy proportional to the positive regrets, by equation (8); uniform if none is positive."""
    positive_regrets = [max(regret, 0.0) for regret in regrets]
    total = sum(positive_regrets)
    if total > 0:
        return [regret / total for regret in positive_regrets]
    return [1 / len(regrets)] * len(regrets)


def action_probabilities(
    state: State, policy: Table, infoset_of: Callable[[State], str] = infoset_of
) -> list[tuple[int, float]]:
    """Return the actions in a state with their probabilities: those of chance, or those of a player's policy."""
    if state.is_chance_node():
        return list(state.chance_outcomes())
    return list(zip(state.legal_actions(), policy[infoset_of(state)], strict=True))


class CFR:
    """CFR with players that are updated in alternation.

    Args:
        game: a game of OpenSpiel's: zero-sum, with perfect recall, and with two players who move in turn.
        infoset_of: function that names the infoset of a state.

    Attributes:
        iteration: number t of the last iteration; 0 at first.
        regrets: cumulative regrets.
        policy: current policy; uniform at first.
        policy_sums: sums of the policies so far, to which the average policy is proportional.
    """

    def __init__(self, game: Any, infoset_of: Callable[[State], str] = infoset_of) -> None:
        self.game = game
        self.infoset_of = infoset_of
        self.iteration = 0
        self.regrets: Table = {}
        self.policy: Table = {}
        self.policy_sums: Table = {}
        self._add_infosets(game.new_initial_state())

    def _add_infosets(self, state: State) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            infoset = self.infoset_of(state)
            num_actions = len(state.legal_actions())
            self.regrets[infoset] = [0.0] * num_actions
            self.policy[infoset] = [1 / num_actions] * num_actions
            self.policy_sums[infoset] = [0.0] * num_actions
        for action in state.legal_actions():
            self._add_infosets(state.child(action))

    def iterate(self) -> None:
        """Make one iteration: update both players, one after the other."""
        self.iteration += 1
        for player in (0, 1):
            # The policy that this player now learns against enters the opponent's average.
            self.add_to_average(1 - player)
            self.learn(player, self.policy)

    def learn(self, player: int, opponent_policy: Table) -> None:
        """Update the regrets and the policy of one player, who learns against a policy of the opponent."""
        instantaneous_regrets: Table = {}
        self._walk(self.game.new_initial_state(), player, opponent_policy, 1.0, instantaneous_regrets)
        for infoset, regrets in instantaneous_regrets.items():
            self.update(infoset, regrets)

    def update(self, infoset: str, instantaneous_regrets: list[float]) -> None:
        """Add this iteration's regrets, by equation (7), and do regret matching, by equation (8).

        Variants of CFR override this.
        """
        pairs = zip(self.regrets[infoset], instantaneous_regrets, strict=True)
        self.regrets[infoset] = [regret + instantaneous_regret for regret, instantaneous_regret in pairs]
        self.policy[infoset] = regret_matching(self.regrets[infoset])

    def average_weight(self) -> float:
        """Return the weight of this iteration's policies in the average; variants of CFR override this."""
        return 1.0

    def infoset_weight(self, infoset: str) -> float:
        """Return the factor on :meth:`average_weight` at an infoset; variants of CFR override this."""
        return 1.0

    def average_policy(self) -> Table:
        """Return the average policy, by equation (4); uniform where the player's own actions never reach an infoset."""
        return {infoset: regret_matching(sums) for infoset, sums in self.policy_sums.items()}

    def _walk(
        self, state: State, player: int, opponent_policy: Table, reach: float, instantaneous_regrets: Table
    ) -> float:
        """Return the value of a state to a player, and add up the player's regrets at this state and below it.

        Args:
            reach: probability with which chance and the opponent come to this state.
            instantaneous_regrets: table to which the regrets are added.
        """
        if state.is_terminal():
            return float(state.player_return(player))
        if state.is_chance_node() or state.current_player() != player:
            # Chance or the opponent moves: its probabilities count in the reach.
            value = 0.0
            for action, probability in action_probabilities(state, opponent_policy, self.infoset_of):
                child_reach = reach * probability
                value += probability * self._walk(
                    state.child(action), player, opponent_policy, child_reach, instantaneous_regrets
                )
            return value
        # The player moves: the reach is unchanged, as if the player took each action with probability 1 (equation 5).
        infoset = self.infoset_of(state)
        action_values = [
            self._walk(state.child(action), player, opponent_policy, reach, instantaneous_regrets)
            for action in state.legal_actions()
        ]
        value = sum(p * v for p, v in zip(self.policy[infoset], action_values, strict=True))
        # The infoset's regrets are sums over its histories, of which this state is one.
        regrets = instantaneous_regrets.setdefault(infoset, [0.0] * len(action_values))
        for k, action_value in enumerate(action_values):
            regrets[k] += reach * (action_value - value)
        return value

    def add_to_average(self, player: int) -> None:
        """Add a player's current policy to its sums, weighted by the player's own reach, by equation (4)."""
        self._add_to_sums(self.game.new_initial_state(), player, self.average_weight())

    def _add_to_sums(self, state: State, player: int, weight: float) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            # Chance's probabilities add up to a constant factor at each infoset, which changes no average.
            for action, probability in state.chance_outcomes():
                self._add_to_sums(state.child(action), player, weight * probability)
            return
        infoset = self.infoset_of(state)
        infoset_weight = self.infoset_weight(infoset)
        for k, action in enumerate(state.legal_actions()):
            if state.current_player() == player:
                child_weight = weight * self.policy[infoset][k]
                self.policy_sums[infoset][k] += infoset_weight * child_weight
                self._add_to_sums(state.child(action), player, child_weight)
            else:
                # The opponent's actions do not change the weight: only the player's own reach counts (equation 4).
                self._add_to_sums(state.child(action), player, weight)


def expected_value(game: Any, policy: Table, player: int, infoset_of: Callable[[State], str] = infoset_of) -> float:
    """Return the expected payoff to a player if both players follow a policy."""

    def value(state: State) -> float:
        if state.is_terminal():
            return float(state.player_return(player))
        outcomes = action_probabilities(state, policy, infoset_of)
        return sum(probability * value(state.child(action)) for action, probability in outcomes if probability > 0)

    return value(game.new_initial_state())


def best_response(game: Any, policy: Table, player: int, infoset_of: Callable[[State], str] = infoset_of) -> Table:
    """Return a pure best response of a player to the opponent's policy: probabilities at the player's infosets.

    Of equally good actions, the response takes the first.
    """
    # The histories of each of the player's infosets, with the probability that chance and the opponent come there.
    histories: dict[str, list[tuple[State, float]]] = defaultdict(list)
    # Filled on demand, because the best action at an infoset depends on those at later infosets.
    best_actions: dict[str, int] = {}

    def collect(state: State, reach: float) -> None:
        if state.is_terminal():
            return
        if is_players(state):
            histories[infoset_of(state)].append((state, reach))
            # The player's own actions leave the reach unchanged, as in a walk of CFR.
            for action in state.legal_actions():
                collect(state.child(action), reach)
        else:
            for action, probability in action_probabilities(state, policy, infoset_of):
                collect(state.child(action), reach * probability)

    def value(state: State) -> float:
        """Return the value of a state to the player, who takes best actions from there on."""
        if state.is_terminal():
            return float(state.player_return(player))
        if is_players(state):
            # The player can't tell the histories of an infoset apart, so it takes the same action at all of them.
            return value(state.child(state.legal_actions()[best_action(infoset_of(state))]))
        outcomes = action_probabilities(state, policy, infoset_of)
        return sum(probability * value(state.child(action)) for action, probability in outcomes)

    def is_players(state: State) -> bool:
        return not state.is_chance_node() and state.current_player() == player

    def best_action(infoset: str) -> int:
        """Return the index of the action that is worth most over all histories of an infoset.

        The best actions further down do not depend on the choice here, since the player remembers its own actions.
        """
        if infoset not in best_actions:
            action_values = [
                sum(reach * value(state.child(state.legal_actions()[k])) for state, reach in histories[infoset])
                for k in range(num_actions(infoset))
            ]
            best_actions[infoset] = action_values.index(max(action_values))
        return best_actions[infoset]

    def num_actions(infoset: str) -> int:
        first_history, _ = histories[infoset][0]
        return len(first_history.legal_actions())

    # All histories of an infoset must be known before its best action can be found.
    collect(game.new_initial_state(), 1.0)
    return {infoset: [float(k == best_action(infoset)) for k in range(num_actions(infoset))] for infoset in histories}


def exploitability(game: Any, policy: Table, infoset_of: Callable[[State], str] = infoset_of) -> float:
    """Return half the sum of what both players could gain by best responses; it is 0 in a Nash equilibrium.

    In a zero-sum game the values of the policies themselves cancel.
    """
    gains = 0.0
    for player in (0, 1):
        response = best_response(game, policy, player, infoset_of)
        gains += expected_value(game, {**policy, **response}, player, infoset_of)
    return gains / 2
