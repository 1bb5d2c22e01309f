"""A component's fields take values of their types only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.errors import ComponentError
from rlccfr.registry import update_rules


@pytest.mark.parametrize(
    ("kind", "field", "value", "message"),
    [
        (UpdateRule, "floor", lambda t: 0.0, "a number, not a function"),
        (UpdateRule, "floor", "0", "a number, not '0'"),
        (UpdateRule, "fallback", "random", "one of uniform, argmax, not 'random'"),
        (UpdateRule, "arrays", "abc", "a tuple in which each value is a string, not 'abc'"),
        (UpdateRule, "parameters", [3], "a tuple in which each value is a schedule (a function of t), not [3]"),
        (UpdateRule, "symmetric", "yes", "True or False, not 'yes'"),
        (UpdateRule, "prediction", "1", "a schedule (a function of t), not '1'"),
        (UpdateRule, "policy_map", "softmax", "a function or None, not 'softmax'"),
        (Sampler, "chance", "some", "one of all, one, public, opponent, own, not 'some'"),
        (Sampler, "exploration", True, "a number, not True"),
        (Sampler, "subset_size", 1.5, "an integer, not 1.5"),
        (Abstraction, "regressor", "mlp", "of type Approximator or None, not 'mlp'"),
    ],
)
def test_a_wrong_value_is_refused_with_the_field_s_name(kind, field, value, message):
    with pytest.raises(ComponentError, match=re.escape(f"{field} must be {message}")):
        kind(**{field: value})


@pytest.mark.parametrize("field", ["internal_share", "exploration", "baseline_rate"])
@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), float("inf")])
def test_a_share_of_a_sampler_out_of_range_is_refused(field, value):
    with pytest.raises(ComponentError, match=re.escape(f"{field} must lie in [0, 1], not {value}")):
        Sampler(traverser="one", **{field: value})


def test_numbers_of_numpy_and_numbers_in_place_of_schedules_are_taken():
    rule = UpdateRule(floor=np.float32(0), positive_discount=0.5, parameters=(1,), symmetric=np.bool_(True))
    assert rule.schedule(1, 0)[0, [0, 2, 5]].tolist() == [0.5, 0.0, 1.0]


def test_a_class_of_ones_own_may_have_fields_of_any_type():
    @dataclass(frozen=True, kw_only=True)
    class Noted(Sampler):
        note: Any = None
        mode: Literal[1, 2] = 1
        pair: tuple[str, int] = ("a", 1)

    assert Noted(note=print).pair == ("a", 1)
    with pytest.raises(ComponentError, match="exploration must be a number"):
        Noted(exploration="0.5")


def test_a_registered_component_is_named(own_components):
    update_rules.register("test_floored", source="a test")(lambda: UpdateRule(floor="0"))
    with pytest.raises(ComponentError, match="'test_floored': floor must be a number"):
        update_rules["test_floored"].make()
