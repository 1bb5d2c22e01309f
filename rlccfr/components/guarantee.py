"""Convergence guarantees of components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Published theorems about the convergence of algorithms with a component.

    An algorithm has a guarantee if each of its three components has one for the algorithm's kind of iteration.

    Attributes:
        exact: the theorem for exact passes; empty if there is none.
        sampled: the theorem for unbiased, bounded estimates; empty if there is none.
        exact_open, sampled_open: reason why there is no such theorem.
        exact_fit: id of the tabular rule that a deep rule equals if its networks fit exactly.
        fitted: theorems about a deep rule with particular samplers, by the samplers' ids.
    """

    exact: str = ""
    sampled: str = ""
    exact_open: str = ""
    sampled_open: str = ""
    exact_fit: str = ""
    fitted: Mapping[str, str] = field(default_factory=dict)
