"""The tables of a run on hold'em in buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.bucket_histories.draws import pending_for
from rlccfr.engine.public.public_state import Need, overwrite, require
from rlccfr.errors import ComponentError
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.public.records import SHORT
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.bucket_histories.passes import NO_PENDING, Pending
from rlccfr.kernels.layout import MATCHING_POWER, POSITIVE_DISCOUNT, PREDICTION
from rlccfr.kernels.public.workspace import PublicTables

_SAVED_TABLES = ("regret", "policy_sum", "policy", "movement")
_SAVED_PENDING = ("regret_log", "average_log", "clock")


@dataclass(frozen=True, eq=False)
class BucketHistoryTables:
    """The arrays of a run, which its stepper changes in place.

    Attributes:
        game: the game.
        tables: regrets, (m,), in the game's units; policy sums, (m,); and further tables for rules with a prediction or
            momentum.
        counts: (2,) iterations done and bucket histories met.
        rng: (1,) state of the random generator.
        pending: discounts that wait to be applied until a pass next visits their history.
    """

    game: BucketHistoryGame
    tables: PublicTables
    counts: np.ndarray
    rng: np.ndarray
    pending: Pending = NO_PENDING
    merged: ClassVar[None] = None

    @classmethod
    def at_start(cls, game: BucketHistoryGame, seed: int, dtype: str | None) -> BucketHistoryTables:
        """Return the tables before the first iteration: zeros, which stand for the uniform policy.

        Args:
            seed: seed of the draws.
            dtype: type of the tables' numbers; None for single precision if the game is large, and double otherwise.

        Raises:
            RLCCFRError: the tables do not fit into memory.
        """
        table_dtype = np.dtype(dtype) if dtype else game.dtype
        _require(game, 2, table_dtype)
        tables = PublicTables.of_one(np.zeros(0, table_dtype))._replace(
            regret=np.zeros(game.num_sequences, table_dtype), policy_sum=np.zeros(game.num_sequences, table_dtype)
        )
        rng = np.random.SeedSequence(seed).generate_state(1, np.uint64)
        return cls(game, tables, np.zeros(2, np.int64), rng)

    @property
    def dtype(self) -> np.dtype:
        """Type of the tables' numbers."""
        return self.tables.regret.dtype

    @property
    def chosen_dtype(self) -> str:
        """Name of the type of the tables' numbers, which a run may choose."""
        return self.dtype.name

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Number of bucket histories that passes have visited so far."""
        return int(self.counts[1])

    def ready_for(self, binding: Binding) -> BucketHistoryTables:
        """Return the tables with the arrays that a binding needs; regrets and sums are shared, since they are large.

        Raises:
            RLCCFRError: the arrays do not fit into memory.
        """
        tables = self.tables
        sizes = {
            # A plain rule's current policy follows from the regrets; any other has a table of its own.
            "policy": 0 if binding.rule.is_plain else self.game.num_sequences,
            "movement": 0 if binding.rule.momentum is None else self.game.num_sequences,
        }
        changed = {name: size for name, size in sizes.items() if len(getattr(tables, name)) != size}
        num_new = sum(size > 0 for size in changed.values())
        if num_new:
            # Before the first iteration, the two tables of zeros take no memory yet, so they are counted here.
            _require(self.game, num_new if self.iteration else 2 + num_new, self.dtype)
        arrays = {name: np.zeros(size, self.dtype) for name, size in changed.items()}
        pending = self.pending
        # Exact passes reach every history and need no pending discounts; passes over drawn cards do.
        if pending.is_used == binding.sampler.exact:
            self.settle()
            pending = NO_PENDING if binding.sampler.exact else pending_for(self.game)
        return replace(self, tables=tables._replace(**arrays), pending=pending)

    def settle(self, players: Sequence[int] = (0, 1)) -> None:
        """Apply the pending discounts of some players."""
        if not self.pending.is_used:
            return
        num_histories = sum(self.game.num_bucket_histories)
        with uninterrupted():
            for player in players:
                entries = slice(player * num_histories, (player + 1) * num_histories)
                self._settle_regrets(player, self.tables.regret)
                self._settle_average(player)
                self.pending.regret_log[entries] = self.pending.clock[:2]
                self.pending.average_log[entries] = self.pending.clock[2]

    def _settle_regrets(self, player: int, regret: np.ndarray) -> None:
        """Apply a player's pending discounts to a table of regrets, in place."""
        factors = np.exp(self.pending.clock[:2] - self.pending.regret_log)
        for entry, entries in self._entries_of(player):
            positive, negative = factors[entry]
            regrets = regret[entries]
            regrets *= np.where(regrets > 0, positive, negative)

    def _settle_average(self, player: int) -> None:
        """Apply a player's pending discounts to the policy sums."""
        factors = np.exp(self.pending.clock[2] - self.pending.average_log)
        for entry, entries in self._entries_of(player):
            self.tables.policy_sum[entries] *= factors[entry]

    def clear_ended_averages(self) -> None:
        """Set the policy sums to 0 at histories where a decay of 0 is pending.

        Any other pending decay leaves the proportions of a history's sums, and thereby the average policy, as they are.
        """
        if not self.pending.is_used:
            return
        factors = np.exp(self.pending.clock[2] - self.pending.average_log)
        if factors.all():
            return
        with uninterrupted():
            for player in range(2):
                for entry, entries in self._entries_of(player):
                    if factors[entry] == 0:
                        self.tables.policy_sum[entries] = 0
                        self.pending.average_log[entry] = self.pending.clock[2]

    def _entries_of(self, player: int) -> Iterator[tuple[int, slice]]:
        """Yield, for each of a player's histories, its entry of pending discounts and its table entries."""
        entry = player * sum(self.game.num_bucket_histories)
        for number, count in enumerate(self.game.num_bucket_histories):
            columns = self.game.rounds[number].columns[player]
            first = int(self.game.first_entries[number, player])
            for history in range(count):
                begin = first + history * columns
                yield entry, slice(begin, begin + columns)
                entry += 1

    def refresh(self, binding: Binding) -> None:
        """Change nothing yet: the state before the switch has the same tables, and the switch may still fail.

        :meth:`adopt` makes the changes.
        """

    def adopt(self, binding: Binding) -> None:
        """After a switch of rules, raise regrets to the floor and set what the current policy is proportional to."""
        # Pending discounts are the old rule's, so they are applied before anything changes.
        self.settle()
        regret = self.tables.regret
        policy = self.tables.policy
        np.maximum(regret, binding.rule.floor, out=regret)
        if not len(policy):  # without a prediction, the current policy is read off the regrets
            return
        # The policy is proportional to D' R + prediction r (see UpdateRule); after a switch there is no r. D' is the
        # next iteration's discount if its prediction is not 0, and 1 otherwise.
        next_row = binding.rows(self.iteration + 1, 0)[0]
        np.maximum(regret, 0, out=policy)
        if next_row[PREDICTION] != 0.0:
            policy *= self.dtype.type(next_row[POSITIVE_DISCOUNT])
        if len(self.tables.movement) and next_row[MATCHING_POWER] != 1.0:
            self._raise_to_power(policy, float(next_row[MATCHING_POWER]))

    def _raise_to_power(self, policy: np.ndarray, power: float) -> None:
        """Divide non-negative entries by the largest of their infoset, and raise them to a power, in place."""
        for decision in self.game.decisions:
            entries = decision.of(policy)
            largest = entries.max(axis=1, keepdims=True)
            entries /= np.where(largest > 0, largest, 1)
            np.power(entries, power, out=entries)

    def true_regret(self) -> np.ndarray:
        """Return the cumulative regrets, (m,), in the game's units."""
        if not self.pending.is_used:
            return self.tables.regret
        regret = self.tables.regret.copy()  # so that the run is not changed by rounding
        for player in range(2):
            self._settle_regrets(player, regret)
        return regret

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays that the next iteration depends on, by their names in a file."""
        tables = {name: getattr(self.tables, name) for name in _SAVED_TABLES}
        arrays = {"counts": self.counts, "rng": self.rng}
        arrays |= {name: table for name, table in tables.items() if len(table)}
        if self.pending.is_used:
            arrays |= {name: getattr(self.pending, name) for name in _SAVED_PENDING}
        return arrays

    def restored(self, saved: Mapping[str, np.ndarray]) -> BucketHistoryTables:
        """Overwrite the arrays in place with those that :meth:`saved` returned; return the tables.

        Raises:
            CheckpointError: an array has another type or size.
        """
        overwrite(self.saved(), saved)
        return self


def _require(game: BucketHistoryGame, num_tables: int, dtype: np.dtype) -> None:
    """Check that tables fit into memory.

    Raises:
        RLCCFRError: less memory is available.
    """
    size = num_tables * dtype.itemsize * game.num_sequences
    require(game, [Need(size, f"{num_tables} tables of {game.num_sequences:,} entries", "use fewer buckets")])


def check_components(
    game: BucketHistoryGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that components and options run on hold'em in buckets.

    Raises:
        ComponentError: a component or an option does not run there.
    """
    where = f"{game.name!r} is represented {game.form.title}, where"
    # Kernels know schedules, predictions and momentum, but no functions, no networks and no fallback.
    is_known = rule.is_plain or rule.only_predicts or rule.momentum is not None
    has_functions = rule.learns or not is_known
    if rule.controller is not None:
        raise ComponentError(f"{where} no controller steers a run: leave it out, and use dcfr_plus")
    if rule.average_weight or has_functions:
        raise ComponentError(
            f"{where} update rules can have schedules, but neither functions nor networks: use dcfr_plus instead of "
            f"{rule.title}"
        )
    if rule.output == "current" or rule.simultaneous or options.simultaneous or options.pre_averaging:
        raise ComponentError(
            f"{where} players are updated in alternation and the result is the average policy: use dcfr_plus, without "
            "simultaneous=True and averaging='pre'"
        )
    # Passes follow all actions and can draw only cards: whole deals, or boards alone.
    draws_chance_alone = sampler.opponent == "all" and sampler.traverser == "all"
    has_walk_settings = sampler.baseline_rate or sampler.probe or sampler.one_draw
    draws_cards = draws_chance_alone and not has_walk_settings and sampler.chance in ("public", "one")
    if not sampler.exact and not draws_cards:
        raise ComponentError(
            f"{where} samplers can draw only deals or boards: use sampler='public_chance' or 'chance' instead of "
            f"{sampler.title}"
        )
    if options.walks > 1 and not sampler.exact:
        raise ComponentError(f"{where} an iteration has one draw: leave out walks={options.walks}")
    if options.by_hand:
        _check_by_hand(where, rule, sampler)
    if abstraction.learns or abstraction.best_response:
        raise ComponentError(
            f"{where} neither a regressor nor a best response takes part in a run: use abstraction='none' instead of "
            f"{abstraction.title}"
        )
    if options.blend:
        raise ComponentError(f"{where} there are no blends: leave out blend=True")
    if options.dtype == SHORT.name:
        raise ComponentError(f"{where} tables have no 16-bit numbers: use dtype='float32' instead of {SHORT.name!r}")


def _check_by_hand(where: str, rule: UpdateRule, sampler: Sampler) -> None:
    """Check that passes with a row for each hand make the same update as passes with a row for each bucket history.

    Passes over hands need drawn boards. They add the regrets of a bucket history's hands to its entries, one hand after
    another. A floor would be applied after each hand, and a prediction or momentum would use the last hand alone.

    Args:
        where: the beginning of messages.

    Raises:
        ComponentError: they would not make the same update.
    """
    if sampler.exact or sampler.chance != "public":
        raise ComponentError(
            f"{where} passes over hands need drawn boards: use sampler='public_chance' instead of {sampler.title}, or "
            "leave out by_hand=True"
        )
    if not rule.is_plain or rule.floor > -np.inf:
        raise ComponentError(
            f"{where} passes over hands need a rule without a floor, a prediction or momentum: use cfr, lcfr or dcfr "
            f"instead of {rule.title}, or leave out by_hand=True"
        )
