"""Abstractions: they choose the opponent, and what takes the place of a table for each infoset."""

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
    """Choice of the opponent, of infosets that share tables, and of a function in place of the regret table.

    Args:
        best_response: whether the opponent plays an exact best response to the learner's policy, not its own policy. It
            then has no buckets, and tells all infosets apart.
        regressor: settings of a function of infoset and action that is fitted to the regrets, and from which the
            policies follow; None for no such function. Under a rule with networks, it only gives the networks one
            output per infoset and action. These settings, ``bootstrap`` and ``traversals`` are then unused.
        bootstrap: whether the fitted values also replace the regrets, so that the next regrets are added to them.
        traversals: number of walks per player and iteration if a regressor is fitted; 0 for the solver's number.
        buckets: function of a compiled game, a :class:`rlccfr.GameTree`, that returns the bucket of each infoset as an
            array, (n,). Infosets of one bucket play one policy, and their regrets are added up. They must have the same
            actions, and their player must have been in the same buckets and done the same before. For hold'em, a
            public-tree game, it returns the bucket of each hand on each board instead, in the order of
            ``game.view.above``.
            None if every infoset has tables of its own.

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
        """Whether players with buckets meet best responses that have none."""
        return self.best_response and self.buckets is not None

    def fits_as(self, other: Abstraction) -> bool:
        """Return whether both abstractions fit the same models; see also :attr:`key`."""
        return (self.regressor, self.bootstrap) == (other.regressor, other.bootstrap)

    @property
    def key(self) -> Hashable:
        """Name under which the buckets are kept.

        It is the function, with its settings if it is a ``functools.partial`` of settings that can be hashed. Another
        function of a registered component is named by the component, whose factory may make it anew each time.
        """
        buckets = self.buckets
        if isinstance(buckets, partial):
            name = (buckets.func, buckets.args, tuple(sorted(buckets.keywords.items())))
            with suppress(TypeError):  # a setting that can't be hashed
                hash(name)
                return name
        return (self.id, *sorted(self.hyperparameters.items())) if self.id else buckets
