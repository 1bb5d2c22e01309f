"""What is proved of components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is published about the convergence of algorithms that have a component.

    An algorithm has a guarantee where each of its three components has one for its kind of iteration.

    Attributes:
        exact: the theorem for exact passes; empty if there is none.
        sampled: the theorem for unbiased, bounded estimates; empty if there is none.
        exact_open, sampled_open: why there is none.
        exact_fit: of a deep rule, the id of the tabular rule that it is with an exact fit.
        fitted: of a deep rule, theorems of its own for samplers, by their ids.
    """

    exact: str = ""
    sampled: str = ""
    exact_open: str = ""
    sampled_open: str = ""
    exact_fit: str = ""
    fitted: Mapping[str, str] = field(default_factory=dict)
