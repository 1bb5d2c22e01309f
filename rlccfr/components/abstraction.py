"""Abstractions: what a learner plays against, and what takes the place of a table for each infoset."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rlccfr.components.component import Component
from rlccfr.networks.settings import Approximator


@dataclass(frozen=True, kw_only=True)
class Abstraction(Component):
    """What a learner plays against, which infosets share table entries, and whether a function replaces the regrets.

    The function, if there is one, is fitted to the regrets, and takes the place of the regret table.

    Args:
        best_response: whether the opponent plays an exact best response to the learner's policy, instead of its own
            policy. The opponent then has no buckets: it distinguishes all infosets.
        regressor: settings of a function of infoset and action that is fitted to the regrets, and from which the
            policies follow; None for no such function. Under a rule with networks, a regressor only makes the networks
            have one output per infoset and action; its settings, ``bootstrap`` and ``traversals`` are then unused.
        bootstrap: whether the fitted values also replace the regrets, so that the next regrets are added to them.
        traversals: number of walks per player and iteration if a regressor is fitted; 0 for the solver's number.
        buckets: function of a compiled game, a :class:`rlccfr.GameTree`, that returns the bucket of each infoset as an
            array, (n,). Infosets of one bucket play one policy, and their regrets are added up. They must have the same
            actions, and their player must have been in the same buckets and taken the same actions before. For
            hold'em, a public-tree game, the function returns the bucket of each hand on each board instead, in the
            order of ``game.view.above``. None if every infoset has tables of its own.

    Raises:
        ComponentError: a field's value is not of the field's type.

    Example:
        CFR-BR: each player learns against a best response.

        >>> import rlccfr
        >>> from rlccfr.components import Abstraction
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "cfr", abstraction=Abstraction(best_response=True))
        >>> solver.run(iterations=1000).exploitability < 0.05
        True
    """

    best_response: bool = False
    regressor: Approximator | None = None
    bootstrap: bool = False
    traversals: int = 0
    buckets: Callable[[Any], np.ndarray] | None = None

    @property
    def learns(self) -> bool:
        return self.regressor is not None

    @property
    def responds(self) -> bool:
        """Whether players with buckets play against best responses without buckets."""
        return self.best_response and self.buckets is not None

    def fits_as(self, other: Abstraction) -> bool:
        """Return whether both abstractions fit the same models; see also :attr:`key`."""
        return (self.regressor, self.bootstrap) == (other.regressor, other.bootstrap)

    @property
    def key(self) -> Hashable:
        """Key under which the buckets are kept.

        For a ``functools.partial`` with settings that can be hashed, it is the wrapped function with these settings.
        For any other function of a registered component, it is the component's id and hyperparameters, because the
        component's factory may make a new function each time. Otherwise, it is the function itself.
        """
        buckets = self.buckets
        if isinstance(buckets, partial):
            name = (buckets.func, buckets.args, tuple(sorted(buckets.keywords.items())))
            with suppress(TypeError):  # a setting that can't be hashed
                hash(name)
                return name
        return (self.id, *sorted(self.hyperparameters.items())) if self.id else buckets
