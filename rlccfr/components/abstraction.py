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
    """What a learner plays against, which infosets share table entries, and whether regrets are fitted by a function.

    If there is such a function, the policies are computed from its values instead of from the regret table.

    Args:
        best_response: whether the opponent plays an exact best response to the learner's policy, instead of its own
            policy. The opponent then has no buckets: it distinguishes all infosets.
        regressor: settings of a function of infoset and action that is fitted to the regrets and determines the
            policies; None for no such function. Under a rule with networks, a regressor only gives the networks one
            output per infoset and action; the regressor's settings, ``bootstrap`` and ``traversals`` are then unused.
        bootstrap: whether the fitted values also replace the regrets in the table, so that new regrets are added to
            fitted values.
        traversals: number of walks per player and iteration if a regressor is fitted; 0 for the solver's ``walks``.
        buckets: function of a compiled game, a :class:`rlccfr.GameTree`, that returns the bucket of each infoset as an
            array of integers, (infosets,). Infosets of one bucket play one policy, and their regrets are added up. The
            infosets of a bucket must have the same actions, and their player must have been in the same buckets and
            taken the same actions before. In hold'em as a public-tree game, the function instead returns the bucket of
            each hand on each board, in the order of ``game.view.above``. None if every infoset has tables of its own.

    Raises:
        ComponentError: a field's value is not of the field's type.

    Examples:
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
        """Return whether both abstractions fit the same models; buckets are compared by :attr:`key`."""
        return (self.regressor, self.bootstrap) == (other.regressor, other.bootstrap)

    @property
    def key(self) -> Hashable:
        """Key under which the merged game of these buckets is cached.

        For a ``functools.partial`` with settings that can be hashed, the key is the wrapped function with these
        settings. For any other function of a registered component, the key is the component's id, registration and
        hyperparameters, because the component's factory may make a new function each time. Otherwise, the key is the
        function itself.
        """
        buckets = self.buckets
        if isinstance(buckets, partial):
            name = (buckets.func, buckets.args, tuple(sorted(buckets.keywords.items())))
            with suppress(TypeError):  # a setting that can't be hashed
                hash(name)
                return name
        if not self.id:
            return buckets
        return (self.id, self.registration, *sorted(self.hyperparameters.items()))
