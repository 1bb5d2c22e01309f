"""The tables of a run over a public tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.public.draws import drawing_for, draws_of, first_entries, pending_bytes
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError
from rlccfr.game import Game
from rlccfr.games.memory import available_memory, gigabytes, return_freed_memory
from rlccfr.games.public.records import SHORT, SINGLE
from rlccfr.games.public.view import PublicGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import MATCHING_POWER, POSITIVE_DISCOUNT, PREDICTION
from rlccfr.kernels.public.drawing import NO_DRAWING, Drawing, clear_ended_averages, settle
from rlccfr.kernels.public.steps import LARGEST, SIZE, STEP_COLUMNS
from rlccfr.kernels.public.vectors import match_power
from rlccfr.kernels.public.workspace import PublicTables, arithmetic_type

_SAVED_TABLES = ("regret", "policy_sum", "policy")
_SAVED_STEPS = ("regret_steps", "policy_sum_steps")
_SAVED_DRAWING = ("regret_log", "average_log", "clock")


@dataclass(frozen=True, eq=False)
class PublicState:
    """The arrays of a run over a public tree, which its stepper changes in place.

    Attributes:
        game: the solver's game.
        seed: seed of the draws.
        tables: regrets, (m,), in the game's units divided by ``game.scale``; policy sums, (m,); and further tables for
            rules with a prediction or a momentum, and for best responses. Tables of 16-bit numbers count in steps; see
            :mod:`rlccfr.kernels.public.steps`.
        counts: (2,) iterations done and private states met. Kernels count them, so they are correct after Ctrl-C.
        rng: (1,) state of the random generator.
        drawing: what passes draw, and the pending discounts of entries that recent passes have not reached.
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
            dtype: type of the tables' numbers; None for the game's default.

        Raises:
            RLCCFRError: the tables do not fit into memory.
        """
        table_dtype = np.dtype(dtype) if dtype else game.dtype
        # What building the game has freed would otherwise count as taken.
        if game.is_large:
            return_freed_memory()
        require(game, [tables_of(game, 2, table_dtype)])
        # Numbers of 16 bits count in steps, whose sizes are kept for each node.
        num_steps = game.num_nodes if table_dtype == SHORT else 0
        return cls(
            game=game,
            seed=seed,
            tables=PublicTables.of_one(np.zeros(0, table_dtype))._replace(
                regret=np.zeros(game.num_sequences, table_dtype),
                policy_sum=np.zeros(game.num_sequences, table_dtype),
                regret_steps=np.zeros((num_steps, STEP_COLUMNS), SINGLE),
                policy_sum_steps=np.zeros((num_steps, STEP_COLUMNS), SINGLE),
            ),
            counts=np.zeros(2, np.int64),
            rng=np.random.SeedSequence(seed).generate_state(1, np.uint64),
        )

    @property
    def dtype(self) -> np.dtype:
        """Type in which passes compute."""
        return arithmetic_type(self.table_dtype)

    @property
    def table_dtype(self) -> np.dtype:
        """Type of the tables' numbers."""
        return self.tables.regret.dtype

    @property
    def chosen_dtype(self) -> str:
        """Name of the type of the tables' numbers."""
        return self.table_dtype.name

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Number of private states that passes have visited so far, summed over public nodes."""
        return int(self.counts[1])

    def ready_for(self, binding: Binding) -> PublicState | WalkedTables:
        """Return this state with the arrays that a binding needs; the tables are shared, since they are large.

        A rule with networks needs no tables, so it gets a state without them.

        Raises:
            ComponentError: networks would have to take over from tables.
            RLCCFRError: the arrays do not fit into memory.
        """
        if binding.rule.learns:
            if self.iteration:
                raise ComponentError(
                    f"networks can't take over from the tables of {self.game.name!r}: start a new run with "
                    f"{binding.rule.title}"
                )
            return WalkedTables.at_start(self.game, self.seed)
        tables = self.tables
        drawing = self.drawing
        # A plain rule's current policy follows from the regrets; any other has a table of its own.
        policy_size = 0 if binding.rule.is_plain else self.game.num_sequences
        changes_policy = policy_size != len(tables.policy)
        movement_size = 0 if binding.rule.momentum is None else self.game.num_sequences
        changes_movement = movement_size != len(tables.movement)
        responds = binding.abstraction.best_response
        changes_responses = responds != bool(len(tables.response))
        drawn = draws_of(binding.sampler)
        changes_drawing = drawn != (drawing.draws_public, drawing.draws_own, drawing.draws_opponent)
        new_tables = (policy_size if changes_policy else 0) + (movement_size if changes_movement else 0)
        self._require_changes(binding, new_tables // self.game.num_sequences, changes_responses, changes_drawing)
        if changes_policy:
            tables = tables._replace(policy=np.zeros(policy_size, self.table_dtype))
        if changes_movement:  # on a switch to a rule with momentum, M is 0
            tables = tables._replace(movement=np.zeros(movement_size, self.table_dtype))
        if changes_responses:
            self.settle()  # passes against best responses leave no discounts of averages pending
            num_responses = self.game.num_infosets if responds else 0
            response_start = first_entries(self.game, per_private_state=True) if responds else np.zeros(0, np.int64)
            tables = tables._replace(response=np.zeros(num_responses, np.uint8), response_start=response_start)
        if changes_drawing:
            self.settle()
            drawing = drawing_for(self.game, drawn, self.rng)
        return replace(self, tables=tables, drawing=drawing)

    def _require_changes(self, binding: Binding, new_tables: int, responses: bool, drawing: bool) -> None:
        """Check that a binding's new arrays fit into memory beside those of this state.

        Args:
            new_tables: number of tables over all sequences that are added.
            responses, drawing: whether the arrays for responses and for draws are replaced.

        Raises:
            RLCCFRError: the arrays do not fit.
        """
        game = self.game
        needs = []
        num_tables = 0 if self.iteration else 2  # zeros take no memory before they are written
        num_tables += new_tables
        if num_tables:
            needs.append(tables_of(game, num_tables, self.table_dtype, is_new=False))
        if responses and binding.abstraction.best_response:
            needs.append(Need(game.num_infosets + 8 * game.num_nodes, "best responses", "use abstraction='none'"))
        if drawing and not binding.sampler.exact:
            drawn = draws_of(binding.sampler)
            remedy = "use sampler='public_chance'" if drawn.own or drawn.opponent else "use sampler='none'"
            needs.append(Need(pending_bytes(game, drawn), "pending discounts", remedy))
        require(game, needs)

    def settle(self, first_player: int = 0, end_player: int = 2) -> None:
        """Apply the pending discounts at the decisions of players ``first_player`` to ``end_player - 1``."""
        if self.drawing.draws_public:
            settle(self.game.view, self.tables, self.drawing, first_player, end_player)

    def clear_ended_averages(self) -> None:
        """Set the policy sums to 0 at rows where a decay of 0 is pending; the average policy is then uniform there."""
        if self.drawing.draws_public:
            with uninterrupted():
                clear_ended_averages(self.game.view, self.tables.policy_sum, self.drawing)

    def refresh(self, binding: Binding) -> None:
        """Change nothing yet: the state before the switch has the same tables, and the switch may still fail.

        :meth:`adopt` makes the changes.
        """

    def adopt(self, binding: Binding) -> None:
        """After a switch of rules, raise regrets to the floor, and set the table that gives the current policy."""
        # Pending discounts are the old rule's, so they are applied before anything changes.
        self.settle()
        regret = self.tables.regret
        policy = self.tables.policy
        if binding.rule.floor > -np.inf:
            np.maximum(regret, self._floor_in_tables(binding.rule.floor), out=regret, casting="same_kind")
        if not len(policy):  # without a prediction, the current policy is read off the regrets
            return
        # The policy is proportional to D' R + prediction W r (see UpdateRule); after a switch there is no r. D' is the
        # next iteration's discount if its prediction is not 0, and 1 otherwise.
        next_row = binding.rows(self.iteration + 1, 0)[0].astype(self.dtype)
        np.maximum(regret, 0, out=policy)
        if next_row[PREDICTION] != 0.0:
            policy *= next_row[POSITIVE_DISCOUNT]
        if len(self.tables.movement):
            largest = np.zeros(int(self.game.view.deals["rows"].max()), self.dtype)
            match_power(self.game.view, policy, largest, next_row[MATCHING_POWER])

    def _floor_in_tables(self, floor: float) -> Any:
        """Return a floor in the units of the tables' regrets, (m,); 0 if the floor is 0."""
        if not floor:  # the floor of most rules; 0 is the same in all units
            return 0
        if self.table_dtype != SHORT:
            return floor / self._regret_scale
        with np.errstate(divide="ignore"):  # where all regrets are 0, a step is 0, too
            floors = floor / self._regret_scale
        return np.clip(np.ceil(floors), -LARGEST, LARGEST).astype(SHORT)

    def true_regret(self) -> np.ndarray:
        """Return the cumulative regrets, (m,), in the game's units."""
        tables = self.tables
        drawing = self.drawing
        if drawing.draws_public:  # settle the discounts on copies, so that the run is not changed by rounding
            tables = tables._replace(regret=tables.regret.copy(), policy_sum=tables.policy_sum.copy())
            drawing = drawing._replace(regret_log=drawing.regret_log.copy(), average_log=drawing.average_log.copy())
            settle(self.game.view, tables, drawing, 0, 2)
        true_regret: np.ndarray = tables.regret * self._regret_scale
        return true_regret

    @property
    def _regret_scale(self) -> np.ndarray:
        """Factor from the tables' regrets, which may be counted in steps, to regrets in the game's units, (m,)."""
        scale = self.game.scale
        if self.table_dtype == SHORT:
            scale = scale * self.tables.regret_steps[self.game.decisions, SIZE]
        scales: np.ndarray = np.repeat(scale, self.game.rows * self.game.actions)
        return scales

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays on which the next iteration depends, by their names in a file."""
        arrays = {"counts": self.counts, "rng": self.rng}
        arrays |= {name: getattr(self.tables, name) for name in _SAVED_TABLES}
        if len(self.tables.movement):
            arrays["movement"] = self.tables.movement
        if self.table_dtype == SHORT:
            arrays |= {name: getattr(self.tables, name) for name in _SAVED_STEPS}
        if self.drawing.draws_public:
            arrays |= {name: getattr(self.drawing, name) for name in _SAVED_DRAWING}
        return arrays

    def restored(self, saved: Mapping[str, np.ndarray]) -> PublicState:
        """Overwrite the arrays in place with those that :meth:`saved` returned; return the state.

        Raises:
            CheckpointError: a saved array has another type or shape than this run's.
        """
        overwrite(self.saved(), saved)
        return self


def overwrite(arrays: Mapping[str, np.ndarray], saved: Mapping[str, np.ndarray]) -> None:
    """Overwrite a run's arrays in place with saved ones, by name.

    Raises:
        CheckpointError: an array has another type or size.
    """
    for name, array in arrays.items():
        saved_array = saved[name]
        if saved_array.dtype != array.dtype or saved_array.shape != array.shape:
            raise CheckpointError(f"the saved run's {name} has another type or size than this run's: start a new run")
        array[...] = saved_array


class Need(NamedTuple):
    """Memory that a run needs, and what the user can do if that is too much."""

    size: int  # in bytes
    purpose: str
    remedy: str


def tables_of(game: PublicGame, num_tables: int, dtype: np.dtype, *, is_new: bool = True) -> Need:
    """Return the memory that ``num_tables`` tables over a game's sequences need.

    Args:
        is_new: whether the run is new, so that the user can still choose another type for its tables.
    """
    available = available_memory() or 0
    remedy = "use a smaller game"
    for smaller in (SINGLE, SHORT):  # the first one that fits
        size = bytes_of(game, num_tables, smaller)
        if is_new and smaller.itemsize < dtype.itemsize and size <= available:
            only = " (for exact passes by rules such as dcfr, without blends)" if smaller == SHORT else ""
            remedy = f"use dtype={smaller.name!r}{only}, which needs {gigabytes(size)}, or a smaller game"
            break
    return Need(bytes_of(game, num_tables, dtype), f"{game.num_sequences:,} table entries", remedy)


def bytes_of(game: PublicGame, num_tables: int, dtype: np.dtype) -> int:
    """Return how many bytes tables of a type need, including the steps of 16-bit numbers."""
    bytes_of_steps = STEP_COLUMNS * SINGLE.itemsize * game.num_nodes if dtype == SHORT else 0
    return num_tables * (dtype.itemsize * game.num_sequences + bytes_of_steps)


def require(game: Game, needs: list[Need]) -> None:
    """Check that there is memory for all of ``needs``.

    Raises:
        RLCCFRError: less memory is available.
    """
    available = available_memory()
    size = sum(need.size for need in needs)
    if available is None or size <= available:
        return
    purposes = " and ".join(need.purpose for need in needs)
    raise RLCCFRError(
        f"{game.name!r} needs {gigabytes(size)} for {purposes}, but only {gigabytes(available)} are available: "
        f"{needs[-1].remedy}"
    )
