"""Deep rules on games represented by OpenSpiel's states, which are never compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlccfr.components import Sampler
from rlccfr.engine.binding import Binding
from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.stepper import Stepper
from rlccfr.engine.walked.stepper import PLAYERS, WalkedStepper
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.errors import ComponentError
from rlccfr.games.centring import centred_game
from rlccfr.games.walked.playouts import Playouts
from rlccfr.games.walked.state_walks import StateWalks
from rlccfr.networks.row_learners import RowLearner
from rlccfr.networks.row_models import RowModel, new_tensor_model
from rlccfr.networks.row_policies import Fallback, PlayerPolicies, RowPolicies, compiled_policy
from rlccfr.networks.settings import Approximator
from rlccfr.networks.torch_state import one_thread

HISTORIES_TOGETHER = 10_000
"""Approximate number of histories met between pauses, in some tenths of a second; a single walk may meet more."""


class StateStepper(WalkedStepper):
    """Stepper of deep rules on a game represented by OpenSpiel's states.

    Policies are evaluated exactly if the game is small enough to be compiled; otherwise, their values are NaN.
    """

    _walks: StateWalks
    sparse = True

    def __init__(self, state: WalkedTables, binding: Binding, previous: Stepper[WalkedTables] | None = None) -> None:
        super().__init__(state, binding, previous)
        if previous is not None:
            self._check_switch(previous.binding.sampler)
        playouts = state.game.playouts
        self._together = max(1, int(HISTORIES_TOGETHER / playouts.histories_per_walk(binding.sampler.most_taken)))
        self.notice = _notice_of(playouts)

    def _check_switch(self, earlier: Sampler) -> None:
        """Check that the run can continue with its sampler after a switch from an earlier one.

        An infoset's data count as often as walks meet the infoset. With subsets of actions, or without weights of
        regrets, that depends on the sampler, so data of different samplers can't be mixed.

        Raises:
            ComponentError: it can't.
        """
        sampler = self.binding.sampler
        if self.unfinished and not sampler.same_as(earlier):
            raise ComponentError(
                f"the run on {self.state.game.name!r} is in the middle of an iteration: finish the iteration before "
                "you change the sampler"
            )
        if self.state.iteration and _frequency(sampler) != _frequency(earlier):
            raise ComponentError(
                f"walks by {sampler.title} and by {earlier.title} meet infosets with different frequencies, so their "
                "data can't be mixed: start a new run"
            )

    def _new_walks(self) -> StateWalks:
        walks: StateWalks = self.state.game.walks
        return walks

    def _new_model(self, walks: StateWalks, settings: Approximator, seed: list[int]) -> RowModel:
        return new_tensor_model(walks, settings, seed)

    @property
    def _walks_together(self) -> int:
        return self._together

    @property
    def nodes_per_iteration(self) -> int:
        """Number of walks of an iteration, a lower bound on the number of histories that it meets."""
        return 2 * self._networks.traversals

    def average_sums(self) -> Any:
        if self._averages:
            return self._present(self._averages, "uniform")
        return RowPolicies(*(self._policies_in_average(player) for player in PLAYERS))

    def current_sums(self) -> Any:
        return self._present(self._advantages, self.binding.rule.fallback)

    def _present(self, learners: Sequence[RowLearner], fallback: Fallback) -> RowPolicies:
        """Return the policies of the present models; later training does not change them."""
        return RowPolicies(*(PlayerPolicies((learner.frozen_model(),), fallback=fallback) for learner in learners))

    def _policies_in_average(self, player: int) -> PlayerPolicies:
        """Return the policies that a player has played and that have a share in its average policy."""
        played = self._played[player]
        shares = played.shares()
        numbers = np.flatnonzero(shares)
        models = tuple(self._played_model(player, number) for number in numbers.tolist())
        return PlayerPolicies(models, tuple(shares[numbers].tolist()), self.binding.rule.fallback)

    def draw_policy(self, rng: np.random.Generator) -> Any:
        if not self._played or not self.state.nodes:
            return super().draw_policy(rng)
        return RowPolicies(
            *(
                PlayerPolicies((self._played_model(player, played.draw(rng)),), fallback=self.binding.rule.fallback)
                for player, played in zip(PLAYERS, self._played, strict=True)
            )
        )

    def _value_of_average(self) -> tuple[float, float, float]:
        return self._value_of(self.average_sums())

    def current_value(self) -> tuple[float, float, float]:
        return self._value_of(self.current_sums())

    def _value_of(self, policies: RowPolicies) -> tuple[float, float, float]:
        """Return what :meth:`average_value` returns, for some policies."""
        game = self.state.game
        if game.tree is None:
            return np.nan, np.nan, np.nan
        with one_thread():
            return evaluated(centred_game(game.tree), compiled_policy(game, policies))

    @property
    def centre(self) -> float:
        tree = self.state.game.tree
        return 0.0 if tree is None else centred_game(tree).centre


def _notice_of(playouts: Playouts) -> str:
    """Return one line on what networks can't know of a game; empty if playouts have found nothing."""
    facts = []
    if playouts.num_merged:
        facts.append(f"{playouts.num_merged:,} share their tensors with others, so networks can't distinguish them")
    if playouts.num_forgetful:
        facts.append(f"at {playouts.num_forgetful:,} a player has forgotten something, so CFR's guarantees do not hold")
    return f"of {playouts.num_infosets:,} infosets that random playouts met, {'; '.join(facts)}" if facts else ""


def _frequency(sampler: Sampler) -> tuple[int, float]:
    """Return a key that is equal for samplers under which each infoset's data have the same expected total weight.

    These are the data of regrets and of the average policy. Without weights, those of regrets depend on the draws of
    the traverser, and so on the exploration.
    """
    if sampler.traverser == "one":
        return (0, 1.0) if sampler.weighted else (1, sampler.exploration)
    return sampler.subset_size, 1.0
