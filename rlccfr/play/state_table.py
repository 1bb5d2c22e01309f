"""A game represented by OpenSpiel's states, played by a person against networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.game import OpponentPayoffs
from rlccfr.games.walked.state_walks import drawn_outcome
from rlccfr.games.words import move_in_words
from rlccfr.policies.network_policy import NetworkPolicy


class StateTable:
    """A game that is being played by OpenSpiel's states; see :class:`rlccfr.play.tables.Table`.

    Args:
        policy: the policy that plays and gives advice.
        rng: random generator for chance moves.
    """

    def __init__(self, policy: NetworkPolicy, rng: np.random.Generator) -> None:
        self._policy = policy
        self._rng = rng
        self._state = policy.game.openspiel_game.new_initial_state()
        self._known = ["", ""]
        self._let_chance_move()

    @property
    def actor(self) -> int | None:
        return None if self._state.is_terminal() else int(self._state.current_player())

    def known(self, player: int) -> str:
        return self._known[player]

    def actions(self) -> Sequence[str]:
        player = self._state.current_player()
        names = [self._state.action_to_string(player, action) for action in self._state.legal_actions()]
        return [move_in_words(self._policy.game.openspiel_name, name) for name in names]

    def probabilities(self) -> np.ndarray:
        return np.array(list(self._policy.action_probabilities(self._state).values()))

    def shows(self, action: int) -> bool:
        waiting = 1 - self._state.current_player()
        texts = [self._state.child(legal).information_state_string(waiting) for legal in self._state.legal_actions()]
        return texts.count(texts[action]) == 1

    def take(self, action: int) -> None:
        self._state.apply_action(self._state.legal_actions()[action])
        self._let_chance_move()

    def payoffs(self) -> tuple[float, float]:
        opponent: OpponentPayoffs = self._policy.game.opponent_payoffs
        return opponent.of_both(float(self._state.returns()[0]))

    def _let_chance_move(self) -> None:
        while self._state.is_chance_node():
            self._state.apply_action(drawn_outcome(self._state, self._rng))
        if self.actor is not None:
            self._known[self.actor] = self._state.information_state_string(self.actor)
        elif self._state.is_terminal():
            self._known = [self._state.information_state_string(player) for player in (0, 1)]
