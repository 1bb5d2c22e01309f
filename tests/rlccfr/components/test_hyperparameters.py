import math

import numpy as np
import pytest

from rlccfr.components.hyperparameters import check_hyperparameters
from rlccfr.errors import ComponentError


@pytest.mark.parametrize(
    ("factory", "bounds", "message"),
    [
        (lambda power: None, {}, "the hyperparameter 'power' needs a default"),
        (lambda power={}: None, {}, "the default of 'power' must be a number, True, False, None or text, not {}"),
        (lambda power=np.ones(2): None, {}, r"None or text, not array\(\[1., 1.\]\)"),  # noqa: B008
        (lambda power=1.0: None, {"power": (5, 1)}, r"the bounds of 'power' must be \(least, largest\), not \(5, 1\)"),
        (
            lambda power=1.0: None,
            {"power": (2, 5)},
            r"the default of 'power' is 1.0, but must be finite and lie in \[2, 5\]",
        ),
        (lambda power=1.0: None, {"power": (0, None)}, r"must be \(least, largest\), not \(0, None\)"),
        (lambda power=1.0: None, {"power": 3}, r"must be \(least, largest\), not 3"),
        (lambda power=math.inf: None, {}, "the default of 'power' is inf, but must be finite"),
        (lambda power=None: None, {}, "annotate 'power', whose default is None"),
        (lambda power=-1: None, {}, r"the default of 'power' is -1, but must be finite and lie in \[0, inf\]"),
        (lambda power=1.0: None, {"pwer": (0, 1)}, "bounds= names 'pwer', which is not a hyperparameter"),
    ],
)
def test_hyperparameters_are_checked_when_a_factory_is_registered(factory, bounds, message):
    with pytest.raises(ComponentError, match=f"^my rule: .*{message}"):
        check_hyperparameters("my rule", factory, bounds, ())


def test_numbers_texts_and_choices_that_are_open_are_hyperparameters():
    def factory(a=1, b=0.5, c=True, d="x", e: float | None = None):
        return None

    check_hyperparameters("my rule", factory, {"b": (0.5, 1)}, ("e",))
