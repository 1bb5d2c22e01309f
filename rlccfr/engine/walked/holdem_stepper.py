"""Deep rules on hold'em's public tree without tables over infosets."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.public.evaluation import public_values
from rlccfr.engine.stepper import Stepper
from rlccfr.engine.walked.stepper import PLAYERS, WalkedStepper
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.engine.walked.tabulated import Outputs, tabulated, weigh_by_reach
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.networks.hand_networks import HandInputs
from rlccfr.networks.row_models import HandModel, RowModel, RowTable
from rlccfr.networks.row_policies import uniform_policies
from rlccfr.networks.settings import Approximator
from rlccfr.networks.torch_state import one_thread


class HoldemStepper(WalkedStepper):
    """Stepper of deep rules on hold'em, whose policies are evaluated exactly over the public tree."""

    _walks: HoldemWalks

    def __init__(self, state: WalkedTables, binding: Binding, previous: Stepper[WalkedTables] | None = None) -> None:
        super().__init__(state, binding, previous)
        self.sparse = state.game.is_large

    def _new_walks(self) -> HoldemWalks:
        return HoldemWalks(self.state.game)

    def _new_model(self, walks: HoldemWalks, settings: Approximator, seed: list[int]) -> RowModel:
        if settings.kind == "table":
            return RowTable(walks.num_actions, settings)
        return HandModel(hand_inputs(walks), settings, walks.legal, seed)

    def _played_policies(self, player: int, number: int) -> Outputs:
        """Return the policies of one of the models that a player has played; number 0 is the uniform policy."""
        model = self._played_model(player, number)
        if model is None:
            return lambda _, rows, legal: uniform_policies(legal)
        return lambda _, rows, legal: self._matched(model.predict(rows), legal)

    def average_sums(self) -> np.ndarray:
        with one_thread():
            return tabulated(self._walks, self._average_outputs) if self._averages else self._mixture()

    def _mixture(self) -> np.ndarray:
        """Return sums, (m,), of the policies that were played, each weighted by its share and its player's reach."""
        game = self.state.game
        sums = np.zeros(game.num_sequences, game.dtype)
        for player, played in zip(PLAYERS, self._played, strict=True):
            for number, share in enumerate(played.shares().tolist()):
                if share:
                    table = tabulated(self._walks, self._played_policies(player, number), [player])
                    weigh_by_reach(game, player, table)
                    table *= share
                    sums += table
        return sums

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        if not self._played or not self.state.nodes:
            return super().draw_policy(rng)  # raises an error
        game = self.state.game
        policy = np.zeros(game.num_sequences, game.dtype)
        with one_thread():
            for player, played in zip(PLAYERS, self._played, strict=True):
                policy += tabulated(self._walks, self._played_policies(player, played.draw(rng)), [player])
        return policy

    def current_sums(self) -> np.ndarray:
        with one_thread():
            return tabulated(self._walks, self._policies)

    def _value_of_average(self) -> tuple[float, float, float]:
        return public_values(self.state.game, self.average_sums())

    def current_value(self) -> tuple[float, float, float]:
        return public_values(self.state.game, self.current_sums())


def hand_inputs(walks: HoldemWalks) -> HandInputs:
    """Return the inputs of the networks for a game."""
    deck = walks.game.deals[0].deck
    return HandInputs(
        cards=walks.cards,
        lines=walks.line_features,
        ranks=deck.ranks,
        suits=deck.suits,
        num_rounds=walks.num_rounds,
        num_actions=walks.num_actions,
    )
