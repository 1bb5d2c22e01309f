"""The tables of a run over a public tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.public.draws import drawing_for, draws_of, pending_bytes, places
from rlccfr.errors import CheckpointError, RLCCFRError
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.public.records import DOUBLE
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.layout import POSITIVE_DISCOUNT, PREDICTION
from rlccfr.kernels.public.drawing import NO_DRAWING, Drawing, settle
from rlccfr.kernels.public.memory import PublicTables

PENDING = ("regret_log", "average_log", "clock")
"""Entries of a drawing that the next iteration depends on."""


@dataclass(frozen=True, eq=False)
class PublicState:
    """The arrays of a run over a public tree, which its stepper changes in place.

    Attributes:
        tables: regrets and policy sums in true units over the game's ``unit``, and what rules with a prediction need.
        counts: (2,) iterations done and private states met. Kernels raise them, so they are correct after Ctrl-C.
        rng: (1,) state of the generator of draws.
        drawing: what passes draw, and the discounts that are pending where no pass has been.
    """

    game: PublicGame
    seed: int
    tables: PublicTables
    counts: np.ndarray
    rng: np.ndarray
    drawing: Drawing = NO_DRAWING
    merged: ClassVar[None] = None

    @classmethod
    def at_start(cls, game: PublicGame, seed: int, dtype: str | None) -> PublicState:
        """Return the state before the first iteration: zeros, which stand for the uniform policy.

        Args:
            dtype: type of the tables' numbers; None for single precision if the game is large.

        Raises:
            RLCCFRError: the tables do not fit into memory.
        """
        kind = np.dtype(dtype) if dtype else game.dtype
        require(game, [tables_of(game, 2, kind)])
        tables = PublicTables.read_only(np.zeros(0, kind))._replace(
            **{name: np.zeros(game.num_sequences, kind) for name in ("regret", "policy_sum")}
        )
        return cls(game, seed, tables, np.zeros(2, np.int64), np.random.SeedSequence(seed).generate_state(1, np.uint64))

    @property
    def dtype(self) -> np.dtype:
        """Type of the tables' numbers."""
        return self.tables.regret.dtype

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Number of private states met."""
        return int(self.counts[1])

    def ready_for(self, binding: Binding) -> PublicState:
        """Return this state with the memory that a binding needs; the tables are shared, since they are large.

        Raises:
            RLCCFRError: the memory does not fit.
        """
        tables, drawing, wanted = self.tables, self.drawing, draws_of(binding.sampler)
        size = 0 if binding.rule.is_plain else self.game.num_sequences
        responds, draws = binding.abstraction.best_response, wanted != (drawing.public, drawing.own, drawing.other)
        self._require_rest(binding, size != len(tables.policy), responds != bool(len(tables.response)), draws)
        if size != len(tables.policy):
            tables = tables._replace(policy=np.zeros(size, self.dtype))
        if responds != bool(len(tables.response)):
            self.settle()
            count = self.game.num_infosets if responds else 0
            place = places(self.game, one_by_one=True) if responds else np.zeros(0, np.int64)
            tables = tables._replace(response=np.zeros(count, np.uint8), response_place=place)
        if draws:
            self.settle()
            drawing = drawing_for(self.game, wanted, self.rng)
        return replace(self, tables=tables, drawing=drawing)

    def _require_rest(self, binding: Binding, policies: bool, responses: bool, draws: bool) -> None:
        """Refuse a binding whose memory does not fit beside what is there.

        Args:
            policies, responses, draws: whether the memory of each changes.

        Raises:
            RLCCFRError: it does not fit.
        """
        game, needs = self.game, []
        tables = (policies and not binding.rule.is_plain) + (0 if self.iteration else 2)  # zeros take no memory yet
        if tables:
            needs.append(tables_of(game, tables, self.dtype))
        if responses and binding.abstraction.best_response:
            needs.append(Need(game.num_infosets + 8 * game.num_nodes, "best responses", "take abstraction='none'"))
        if draws and not binding.sampler.exact:
            wanted = draws_of(binding.sampler)
            way = "take sampler='public_chance'" if wanted[1] or wanted[2] else "take sampler='none'"
            needs.append(Need(pending_bytes(game, wanted), "discounts that are pending", way))
        require(game, needs)

    def settle(self) -> None:
        """Apply the discounts that are pending."""
        if self.drawing.public:
            settle(self.game.view, self.tables, self.drawing)

    def refresh(self, binding: Binding) -> None:
        """Change nothing yet: the tables are shared, and the switch may still fail; see :meth:`adopt`."""

    def adopt(self, binding: Binding) -> None:
        """After a switch of rules, raise regrets to the floor and set what the current policy is proportional to."""
        self.settle()
        regret, policy = self.tables.regret, self.tables.policy
        if binding.rule.floor > -np.inf:
            least = binding.rule.floor / self._scale if binding.rule.floor else 0.0
            np.maximum(regret, least, out=regret, casting="same_kind")
        if not len(policy):
            return
        ahead = binding.rows(self.iteration + 1, 0)[0].astype(self.dtype)
        np.maximum(regret, 0, out=policy)
        if ahead[PREDICTION] != 0.0:
            policy *= ahead[POSITIVE_DISCOUNT]

    def true_regret(self) -> np.ndarray:
        """Return the cumulative regrets, (m,), in the game's units."""
        tables, drawing = self.tables, self.drawing
        if drawing.public:
            tables = tables._replace(regret=tables.regret.copy(), policy_sum=tables.policy_sum.copy())
            logs = {name: getattr(drawing, name).copy() for name in ("regret_log", "average_log")}
            settle(self.game.view, tables, drawing._replace(**logs))
        found: np.ndarray = tables.regret * self._scale
        return found

    @property
    def _scale(self) -> np.ndarray:
        """Factor from the tables' regrets to those in the game's units, (m,)."""
        found: np.ndarray = np.repeat(self.game.scale, self.game.rows * self.game.actions)
        return found

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays that the next iteration depends on, by their names in a file."""
        pending = {name: getattr(self.drawing, name) for name in PENDING} if self.drawing.public else {}
        tables = {name: getattr(self.tables, name) for name in ("regret", "policy_sum", "policy")}
        return {"counts": self.counts, "rng": self.rng, **tables, **pending}

    def restored(self, saved: Mapping[str, np.ndarray]) -> PublicState:
        """Overwrite the arrays in place with those that :meth:`saved` returned; return the state.

        Raises:
            CheckpointError: an array has another type or size.
        """
        for name, array in self.saved().items():
            read = saved[name]
            if read.dtype != array.dtype or read.shape != array.shape:
                raise CheckpointError(f"the saved run's {name} has another type or size than this run's; start anew")
            array[...] = read
        return self


class Need(NamedTuple):
    """Memory that a run needs."""

    size: int  # in bytes
    what: str
    way: str  # what to do if it does not fit


def tables_of(game: PublicGame, tables: int, dtype: np.dtype) -> Need:
    """Return the memory of some tables."""
    way = "take a smaller game, or dtype='float32'" if dtype == DOUBLE else "take a smaller game"
    return Need(tables * dtype.itemsize * game.num_sequences, f"{game.num_sequences:,} table entries", way)


def require(game: PublicGame, needs: list[Need]) -> None:
    """Refuse to allocate more bytes than there are.

    Raises:
        RLCCFRError: there are fewer.
    """
    left, size = available_memory(), sum(need.size for need in needs)
    if left is None or size <= left:
        return
    what = " and ".join(need.what for need in needs)
    raise RLCCFRError(
        f"{game.name!r} needs {gigabytes(size)} for {what}, and {gigabytes(left)} are left: {needs[-1].way}"
    )
