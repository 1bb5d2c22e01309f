"""Components are read from text, or refused with what is wrong."""

from __future__ import annotations

import pytest

from rlccfr.components.text import parse
from rlccfr.errors import ComponentError


def test_a_component_is_read_with_its_hyperparameters():
    assert parse(" dcfr ( alpha = -1.5, gamma=2 ) ".strip()) == {"id": "dcfr", "alpha": -1.5, "gamma": 2}
    assert parse("deep_cfr(preset='sweep')") == {"id": "deep_cfr", "preset": "sweep"}


@pytest.mark.parametrize("value", ["nan", "x", "-inf", "sweep"])
def test_a_word_without_quotation_marks_is_named(value):
    with pytest.raises(ComponentError, match=f"^alpha must be a number, .* not {value}$"):
        parse(f"dcfr(alpha={value})")


@pytest.mark.parametrize("text", ["dcfr(alpha=1)(2)", "dcfr(1)", "dcfr(alpha=)", "dcfr(alpha=1, alpha=2)", "dcfr("])
def test_other_text_is_shown_what_a_component_looks_like(text):
    with pytest.raises(ComponentError, match="a component looks like dcfr"):
        parse(text)
