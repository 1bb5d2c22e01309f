from __future__ import annotations

import json
import math

import numpy as np
import pytest

from rlccfr.envs import Budget, Measurement
from rlccfr.envs.episode import parse_budget
from rlccfr.errors import BudgetError


@pytest.mark.parametrize(
    ("unit", "amount"),
    [
        ("hours", 1), (["seconds"], 1), (np.arange(2), 1), ("iterations", 0), ("iterations", 2.5), ("nodes", math.inf),
        ("nodes", 10**400), ("seconds", -1.0), ("seconds", True), ("seconds", "1"), ("seconds", None),
        ("seconds", 10**400), ("seconds", math.nan), ("seconds", [1]), ("seconds", np.ones(2)),
    ],
)  # fmt: skip
def test_a_senseless_budget_is_refused(unit, amount):
    with pytest.raises(BudgetError) as error:
        Budget(unit, amount)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("unit", "amount", "plain"),
    [("iterations", np.int64(5), 5), ("nodes", np.float32(8), 8.0), ("seconds", np.float32(0.5), 0.5)],
)
def test_an_amount_of_numpy_becomes_a_plain_number(unit, amount, plain):
    budget = Budget(unit, amount)
    assert type(budget.amount) is type(plain)
    assert json.loads(json.dumps(budget.amount)) == plain
    assert parse_budget({"unit": unit, "amount": amount}) == Budget(unit, plain)


def test_converged_is_a_tenth_of_the_uniform_policys():
    def at(exploitability, status="ok"):
        return Measurement("", status, exploitability, 0.0, 2.0, 1.0, 1.0, 1.0, 1, 1)

    assert at(0.2).converged
    assert not at(0.21).converged
    assert not at(0.0, "failed").converged
