from __future__ import annotations

import numpy as np

from rlccfr.networks.row_learners import AdvantageLearner
from rlccfr.networks.row_reservoir import RowReservoir
from rlccfr.registry import update_rules

ROW = np.dtype([("number", np.int32)])


class Stateless:
    """A model without a state."""

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def restore(self, state) -> None:
        pass


def learner(weight: float) -> AdvantageLearner:
    """Return a learner of two rows with equal weights, whose mean weight has been computed."""
    rule = update_rules.resolve("deep_cfr")
    learner = AdvantageLearner(Stateless(), RowReservoir(ROW, 1, 4), rule, 1.0, (0,))
    learner.observe(np.arange(2).astype(ROW), np.zeros((2, 1)), np.random.default_rng(0), np.full(2, weight))
    learner.whole()
    return learner


def test_a_restored_learner_weighs_the_restored_data():
    used = learner(weight=8.0)
    used.restore(learner(weight=1.0).state())
    _, _, weights = used.whole()
    np.testing.assert_allclose(weights, 1.0)
