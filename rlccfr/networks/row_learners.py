"""Models of rows together with the data that they are fitted to: one player's advantages, or its average policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.components import UpdateRule
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.row_models import Data, HandModel, RowModel, TensorModel, keys_of, merged_data
from rlccfr.networks.row_reservoir import RowReservoir
from rlccfr.networks.settings import Approximator

SEARCHED_BATCHES = 4
"""Number of batches that the first search for equal rows covers.

If the distinct rows found there do not fit into one batch, the other rows of the data are not searched.
"""


class RowLearner:
    """A model and its data. A fit may be carried out in parts, and the learner can be saved between them.

    Args:
        model: the model.
        reservoir: its data.
        settings: how the model is fitted.
        unit: factor that turns the model's outputs into predictions; targets are divided by it.
        seed: seed of the fits.

    Attributes:
        fits: number of completed fits.
    """

    def __init__(
        self, model: RowModel, reservoir: RowReservoir, settings: Approximator, unit: float, seed: Sequence[int]
    ) -> None:
        self._model = model
        self._reservoir = reservoir
        self._settings = settings
        self._unit = unit
        self._seed = seed
        self._mean_weight: float | None = None  # of the data; None if they have changed since it was computed
        self._merged: Data | None = None  # the present fit's data, if few rows are distinct; see _merged_if_few
        self._is_prepared = False  # whether _merged has been computed for the present fit
        self.fits = 0

    def discount(self, factor: float) -> None:
        """Multiply the weight of all data so far by ``factor``."""
        self._reservoir.discount(factor)
        self._mean_weight = None

    def observe(
        self, rows: np.ndarray, target: np.ndarray, rng: np.random.Generator, weights: np.ndarray | None = None
    ) -> None:
        """Add data; see :meth:`RowReservoir.add`."""
        self._reservoir.add(rows, target / self._unit, rng, weights)
        self._mean_weight = None

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the model's predictions, (rows, actions)."""
        return self._model.predict(rows) * np.float32(self._unit)

    def frozen_model(self) -> RowModel | None:
        """Return a copy of the model, which later training does not change; None before the first fit."""
        return self._model.frozen() if self.fits else None

    def snapshot(self) -> np.ndarray:
        """Return a one-dimensional array from which :meth:`model_at` reproduces the present network."""
        assert isinstance(self._model, (HandModel, TensorModel))
        return self._model.snapshot()

    def model_at(self, snapshot: np.ndarray) -> RowModel:
        """Return the model when a snapshot was taken; its outputs are those of :meth:`predict`, divided by the unit."""
        assert isinstance(self._model, (HandModel, TensorModel))
        return self._model.at_snapshot(snapshot)

    def begin_fit(self) -> None:
        """Begin a fit."""
        self._is_prepared = False
        if self._settings.from_scratch:
            self._model.begin([*self._seed, self.fits])

    @property
    def steps(self) -> int:
        """Number of training steps of a fit."""
        return self._settings.steps_of_fit(1)

    @property
    def batch_size(self) -> int:
        """Number of rows of a training step."""
        return self._settings.batch_size

    @property
    def most_bytes(self) -> int:
        """Number of bytes that the data take once the reservoir is full."""
        return self._reservoir.most_bytes

    def train(self, first: int, end: int) -> None:
        """Take the training steps with numbers ``first`` to ``end - 1`` of a fit; do nothing if no data have weight."""
        if not (len(self._reservoir) and self._scale_of_weights() > 0):
            return
        if not self._is_prepared:
            self._merged = self._merged_if_few()
            self._is_prepared = True
        self._model.train(self, first, end, [*self._seed, self.fits])

    def end_fit(self) -> None:
        """End a fit."""
        self.fits += 1
        self._merged = None
        self._reservoir.mark_old()

    def drawn(self, size: int, rng: np.random.Generator) -> Data:
        """Return ``size`` rows, drawn uniformly with replacement; or all distinct rows, if they fit into a batch.

        See :class:`rlccfr.networks.row_models.Source`.
        """
        if self._merged is not None:
            return self._merged
        return self._labelled(rng.integers(len(self._reservoir), size=size))

    def whole(self) -> Data:
        """Return all rows."""
        return self._labelled(np.arange(len(self._reservoir)))

    def _merged_if_few(self) -> Data | None:
        """Return the distinct rows with their mean targets and total weights; None if they do not fit into a batch.

        A step on such data has the gradient of the loss over all data, without the noise of a drawn batch.
        """
        most = self.batch_size
        first_rows = self._reservoir.at(slice(0, min(len(self._reservoir), SEARCHED_BATCHES * most)))[0]
        if len(np.unique(keys_of(first_rows))) > most:  # all rows have at least as many distinct ones
            return None
        rows, targets, weights = merged_data(*self.whole())
        if len(rows) > most:
            return None
        return rows, targets, (weights / weights.mean()).astype(np.float32)

    def _scale_of_weights(self) -> np.float32:
        """Return the mean of the stored weights; 0 if strong discounts have left only weights of 0."""
        if self._mean_weight is None:
            self._mean_weight = self._reservoir.mean_weight()
        return np.float32(self._mean_weight)

    def _labelled(self, places: np.ndarray) -> Data:
        """Return rows with the targets of the present fit, and weights whose mean over all rows is 1."""
        scale = self._scale_of_weights()
        rows, target, weight, is_old = self._reservoir.at(places)
        return rows, self._targets(rows, target, is_old), weight / scale

    def _targets(self, rows: np.ndarray, target: np.ndarray, is_old: np.ndarray) -> np.ndarray:
        """Return the targets of the present fit, (rows, actions), in the model's units."""
        return target

    def is_finite(self) -> bool:
        """Return whether the model's weights are finite."""
        arrays = self._model.state().values()
        return all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")

    def state(self) -> State:
        arrays = {"fits": np.array([self.fits])}
        return arrays | prefixed("memory", self._reservoir.state()) | prefixed("model", self._model.state())

    def restore(self, state: State) -> None:
        self.fits = int(state["fits"][0])
        self._is_prepared = False
        self._mean_weight = None
        self._reservoir.restore(unprefixed("memory", state))
        self._model.restore(unprefixed("model", state))


class AdvantageLearner(RowLearner):
    """One player's advantages V under a rule with networks; the policy is proportional to their positive parts.

    Data older than the last fit are relabelled if the rule says so: their targets become the last fit's values under
    the rule's floor and discounts. In the bootstrapped form, only the newest data are kept, and V, a sum of advantages,
    is fitted to the last fit's V plus the newest advantages. See :class:`rlccfr.networks.settings.Networks`.
    """

    def __init__(
        self, model: RowModel, reservoir: RowReservoir, rule: UpdateRule, unit: float, seed: Sequence[int]
    ) -> None:
        assert rule.networks is not None
        super().__init__(model, reservoir, rule.networks.value, unit, seed)
        self._networks = rule.networks
        self._floor = rule.floor
        self._negative_ratio = 1.0  # discount of negative regret over that of positive, since the last fit
        self._positive = 1.0  # discount of positive regrets since then
        self._observed = 0  # iterations since then
        self._previous: RowModel | None = None  # the last fit's model, during a fit that needs it

    def note_iteration(self, positive: float, negative: float) -> None:
        """Apply one iteration's discounts of positive and of negative regrets to the data so far."""
        # Where the discount is 0, all earlier data are dropped, so the ratio does not change.
        self._negative_ratio *= negative / positive if positive > 0 else 1.0
        self._positive *= positive
        self._observed += 1
        self.discount(positive)

    @property
    def _needs_previous(self) -> bool:
        return (self._networks.relabel or self._networks.bootstrapped) and self.fits > 0

    def begin_fit(self) -> None:
        if self._needs_previous:
            self._previous = self._model.frozen()
        super().begin_fit()

    def end_fit(self) -> None:
        super().end_fit()
        self._previous = None
        if self._networks.bootstrapped:
            self._reservoir.clear()
        self._negative_ratio = 1.0
        self._positive = 1.0
        self._observed = 0

    def _targets(self, rows: np.ndarray, target: np.ndarray, is_old: np.ndarray) -> np.ndarray:
        if self._networks.bootstrapped:
            return np.float32(self._positive) * self._old_values(rows) + np.float32(self._observed) * target
        if self._networks.relabel and is_old.any():
            target[is_old] = self._old_values(rows[is_old])
        return target

    def _old_values(self, rows: np.ndarray) -> np.ndarray:
        """Return the last fit's values under the rule's floor and discounts, (rows, actions), in the model's units.

        The reservoir's discount treats all values as positive, so negative ones need only the ratio of the discounts.
        """
        if self._previous is None:
            return np.zeros((len(rows), self._reservoir.num_targets), np.float32)
        values = np.maximum(self._previous.predict(rows), np.float32(self._floor / self._unit))
        old_values: np.ndarray = np.where(values > 0, values, np.float32(self._negative_ratio) * values)
        return old_values

    def state(self) -> State:
        numbers = np.array([self._negative_ratio, self._positive, self._observed])
        state = super().state() | {"since_fit": numbers}
        if self._previous is not None:
            state |= prefixed("previous", self._previous.state())
        return state

    def restore(self, state: State) -> None:
        super().restore(state)
        self._negative_ratio, self._positive, observed = state["since_fit"].tolist()
        self._observed = int(observed)
        previous = unprefixed("previous", state)
        self._previous = None
        if previous:
            self._previous = self._model.frozen()
            self._previous.restore(previous)


class ValueLearner(RowLearner):
    """A model of player 0's values of actions at histories, and its data.

    A row of data tells which action was taken; only this action has a target.

    Each fit has only the data since the last one, because values change with the players' policies.

    Args:
        model, reservoir, settings, unit, seed: see :class:`RowLearner`.
        bounds: the lowest and the highest payoff, to which values are clipped.
    """

    def __init__(
        self,
        model: RowModel,
        reservoir: RowReservoir,
        settings: Approximator,
        unit: float,
        seed: Sequence[int],
        bounds: tuple[float, float],
    ) -> None:
        super().__init__(model, reservoir, settings, unit, seed)
        self._bounds = bounds

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return player 0's values of all actions, (rows, actions), within the bounds of payoffs."""
        values: np.ndarray = np.clip(super().predict(rows), *self._bounds)
        return values

    def end_fit(self) -> None:
        super().end_fit()
        self._reservoir.clear()
