from __future__ import annotations

import pytest

from rlccfr.components import UpdateRule
from rlccfr.registry import update_rules


def raising(error, *message):
    def schedule(t):
        raise error(*message)

    return lambda: UpdateRule(positive_discount=schedule)


def missing_extra():
    raise ImportError("this rule needs an extra: pip install 'rlccfr[extra]'")


def unmade():
    return 1 / 0


BROKEN = {
    "test_fails": raising(RuntimeError, "the rule is broken"),
    "test_hungry": raising(MemoryError, "too large"),
    "test_interrupted": raising(KeyboardInterrupt),
    "test_extra": missing_extra,
    "test_unmade": unmade,
    "test_exact_only": lambda: UpdateRule(exact_only=True),
}


@pytest.fixture
def broken_rules():
    """Register update rules that go wrong, and remove them afterwards, so that no other test meets them."""
    for id, factory in BROKEN.items():
        update_rules.register(id, source="this test")(factory)
    yield tuple(BROKEN)
    for id in BROKEN:
        del update_rules._entries[id]
