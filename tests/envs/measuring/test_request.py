from __future__ import annotations

import math

import pytest

from rlccfr.envs import Budget, Measurement
from rlccfr.errors import BudgetError


@pytest.mark.parametrize(
    ("unit", "amount"),
    [("hours", 1), ("iterations", 0), ("iterations", 2.5), ("nodes", math.inf), ("seconds", -1.0), ("seconds", True)],
)
def test_a_senseless_budget_is_refused(unit, amount):
    with pytest.raises(BudgetError):
        Budget(unit, amount)


def test_converged_is_a_tenth_of_the_uniform_policys():
    def at(exploitability, status="ok"):
        return Measurement("", status, exploitability, 0.0, 2.0, 1.0, 1.0, 1.0, 1, 1)

    assert at(0.2).converged
    assert not at(0.21).converged
    assert not at(0.0, "failed").converged
