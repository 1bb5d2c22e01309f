"""Cases in which all pairs of values meet, where all combinations would be too many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any


def pairwise_cases(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of a value per axis, such that any two values of different axes are together in one.

    Each case is the one that has most of the pairs that are left.
    """
    places = list(product(*(range(len(axis)) for axis in axes)))
    pairs_of = {case: {*combinations(enumerate(case), 2)} for case in places}
    pairs_left = set().union(*pairs_of.values())
    cases = []
    while pairs_left:
        best = max(places, key=lambda case: len(pairs_of[case] & pairs_left))
        pairs_left -= pairs_of[best]
        cases.append(tuple(axis[place] for axis, place in zip(axes, best, strict=True)))
    return cases
