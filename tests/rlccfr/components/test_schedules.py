import numpy as np
import pytest

from rlccfr.components import Sampler, UpdateRule
from rlccfr.components.schedules import schedule_rows
from rlccfr.errors import ComponentError


def changing(t):
    t += 1  # changes its argument, as only its own copy may be
    return (t - 1) / t


def test_a_schedule_may_change_its_argument():
    columns = {"a discount": changing, "another discount": changing}
    expected = np.arange(5, 9) / np.arange(6, 10)
    assert np.array_equal(schedule_rows("mine", columns, 5, 3), np.stack([expected, expected], axis=1))
    parameters = Sampler(parameters=(changing, changing)).schedule(5, 4)
    assert np.array_equal(parameters, np.stack([expected, expected], axis=1))


def misspelt(t):
    return t**powr  # noqa: F821


@pytest.mark.parametrize("component", [UpdateRule(average_decay=misspelt), Sampler(parameters=(misspelt,))])
def test_an_error_in_a_schedule_is_one_line_with_its_place(component):
    message = (
        r"^(average_decay of .*|parameters\[0\] of this Sampler) fails: NameError: .*'powr'.* \(line \d+ of test_sched"
    )
    with pytest.raises(ComponentError, match=message) as caught:
        component.schedule(1, 3)
    assert "\n" not in str(caught.value)


def test_a_samplers_parameters_are_finite():
    with pytest.raises(
        ComponentError, match=r"parameters\[0\] of this Sampler is inf at iteration 1, not a finite number"
    ):
        Sampler(parameters=(lambda t: 1 / (t - 1),)).schedule(1, 3)


def test_complex_numbers_are_refused():
    with pytest.raises(ComponentError, match="it returns complex numbers"):
        UpdateRule(positive_discount=lambda t: t * 1j).schedule(1, 3)
