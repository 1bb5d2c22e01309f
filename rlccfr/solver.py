"""Solver of one game, with one algorithm or with several algorithms in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rlccfr.components import Abstraction, Controller, Sampler, UpdateRule
from rlccfr.engine.engine import Engine, RunOptions
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.errors import ComponentError, OverflowedError, whole_number
from rlccfr.game import Game, policy_class
from rlccfr.garbage import collector_paused
from rlccfr.limits import Limit
from rlccfr.locks import locked
from rlccfr.policy import Policy, Values
from rlccfr.registry import abstractions, resolve_update_rule, samplers, update_rules
from rlccfr.result import CurvePoint, RunResult, steps_to_next_point

SLICE = 0.05
"""CPU seconds that a kernel call takes at most, roughly, so that Ctrl-C, progress and time budgets take effect."""


class Pace:
    """The speed of a run so far, which determines the number of iterations of a kernel call.

    Args:
        stepper: the run's stepper.
    """

    def __init__(self, stepper: Stepper[Any]) -> None:
        # Iterations per SLICE: a cautious guess until some iterations have been timed.
        self._iterations_per_slice = 1.0 if stepper.learns else max(1.0, 2e6 / stepper.nodes_per_iteration)

    def most(self, iterations: int, seconds: float) -> int:
        """Return how many iterations to run in the next call, at least 1.

        Args:
            iterations: number of iterations that are left in the budget.
            seconds: CPU seconds that are left in the budget.
        """
        iterations_in_time = int(self._iterations_per_slice * min(1.0, seconds / SLICE))
        return max(1, min(iterations, CHUNK, iterations_in_time))

    def note(self, done: int, seconds: float) -> None:
        """Record the number of iterations that a call ran, and its CPU seconds."""
        if seconds < SLICE:  # at most double the number, because a short time is measured inaccurately
            iterations = min(2.0 * self._iterations_per_slice, done * SLICE / max(seconds, 1e-9))
        else:  # the call was too long, so the next one is half as long
            iterations = done / 2
        self._iterations_per_slice = max(iterations, 1.0)


class Solver:
    """A configurable CFR solver of one game: update rule x sampler x abstraction.

    Args:
        game: game, from :func:`rlccfr.load_game`.
        update_rule, sampler, abstraction: an id, ``"dcfr(gamma=3)"``, ``{"id": "dcfr", "gamma": 3}``, or a component,
            for example from :func:`rlccfr.catalog.make`.
        seed: seed of the walks and models; on a CPU, the same seed gives bitwise the same iterations.
        averaging: ``"matching"`` adds a player's policy to the average when the other player is updated against it, so
            that the regrets bound NashConv. ``"pre"`` adds both players' policies before either player's update, as
            OpenSpiel does; it needs exact passes or simultaneous updates.
        simultaneous: whether both players are updated against the same policies, rather than in alternation.
        walks: number of walks per player and iteration. Exact passes ignore it; most models set their own number.
        reduce: whether exact passes may run over the game's quotient, which merges infosets that must have equal
            values, if that is predicted to save time. Numbers are then added in another order, and rounded differently:
            where regrets tie at 0, the iterates diverge, and exploitability may differ by tens of per cent.
        threads: number of threads for exact passes over large games, each on its own core. They change no bit, but
            for controllers that observe the run, which see numbers that are rounded differently.
        control: controller that chooses the rule's settings: ``"shipped"``, ``"schedule"``, a file or a Controller.
        blend: whether each player ends a run of exact passes with its least exploitable mixture of average policies;
            on the way to a target, such mixtures are tried where they are likely to reach the target. If they do not
            fit into memory for a public-tree game, a warning says so, and the run makes none.
        dtype: type of the tables' numbers, for public-tree games; by default ``"float32"`` for large games. ``"int16"``
            takes half the memory, and needs exact passes; in tests on poker spots, exploitability was at most 1.1 times
            as high, plus 0.02 % of the pot.
        by_hand: whether ``public_chance`` on hold'em in buckets computes values for each hand on a board, as its source
            does, rather than for each bucket history. Updates are the same up to rounding, but take longer.
        current: whether measurements include the current policy as well as the average policy. By default, those at a
            curve's points do, except where measuring takes long, as on public trees of 2 million sequences or more.
        lock: policies that are fixed at some decisions, in any form that :mod:`rlccfr.locks` lists. Values and targets
            are those of the locked game, the attribute ``game``; policies returned are of the game itself.

    Raises:
        ComponentError: an unknown component, an invalid value, or components that can't be combined.
        PolicyError: the lock does not fit the game.
        TypeError: ``game`` does not come from :func:`rlccfr.load_game`.

    Examples:
        >>> import rlccfr
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr")
        >>> solver.run(iterations=1000).iterations
        1000
        >>> round(solver.average_policy().values().game[0], 3)  # in equilibrium, -1/18
        -0.056
    """

    def __init__(
        self,
        game: Game,
        update_rule: str | Mapping[str, Any] | UpdateRule = "cfr_plus",
        sampler: str | Mapping[str, Any] | Sampler = "none",
        abstraction: str | Mapping[str, Any] | Abstraction = "none",
        seed: int = 0,
        *,
        averaging: Literal["matching", "pre"] = "matching",
        simultaneous: bool = False,
        walks: int = 1,
        reduce: bool = True,
        threads: int = 1,
        control: str | Path | Controller | None = None,
        blend: bool = False,
        dtype: Literal["int16", "float32", "float64"] | None = None,
        by_hand: bool = False,
        current: bool | None = None,
        lock: Any = None,
    ) -> None:
        flags = {"simultaneous": simultaneous, "reduce": reduce, "blend": blend, "by_hand": by_hand}
        if not (current is None or isinstance(current, bool)):
            raise ComponentError(f"current must be True, False or None, not {current!r}")
        options = RunOptions.checked(averaging, flags, walks=walks, threads=threads, dtype=dtype)
        self.game: Any = locked(game, lock)
        self.seed = seed = whole_number(seed, "seed", 0, ComponentError)
        self.averaging = averaging
        self.simultaneous = simultaneous
        self.reduce = reduce
        self.blend = blend
        self.walks = options.walks
        self.threads = options.threads
        self.dtype = options.dtype
        self.by_hand = by_hand
        self.current = current
        self.update_rule = resolve_update_rule(update_rule, control)
        self.sampler = samplers.resolve(sampler)
        self.abstraction = abstractions.resolve(abstraction)
        self._engine = Engine(self.game, seed, options)
        self._engine.bind(self.update_rule, self.sampler, self.abstraction)
        self._pace = Pace(self._engine.stepper)
        self._cpu_seconds = 0.0
        self._blending_seconds = 0.0
        self._curve: list[CurvePoint] = []
        self._measured: tuple[tuple[Any, ...], Values] | None = None  # at the last measurement: progress, values

    def run(
        self,
        iterations: int | None = None,
        *,
        seconds: float | None = None,
        nodes: int | None = None,
        until: float | str | None = None,
        horizon: int | None = None,
        curve: bool = True,
        progress: Callable[[float], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> RunResult:
        """Continue the run for one budget, to a target, or to whichever comes first.

        A budget is in iterations, engine CPU seconds, or histories touched. A target is an exploitability, which is
        checked at each point of the curve; ``RunResult.reached`` tells whether it was reached. A run without a budget
        also ends if it has stalled: if ten times as much work has hardly lowered the exploitability.

        Args:
            iterations: number of iterations.
            seconds, nodes: CPU seconds of the engine, or number of histories touched.
            until: target in the game's units, or a string: ``"1e-6x"``, a share of the uniform policy's exploitability,
                or ``"10mbb"``, thousandths of a big blind.
            horizon: number of iterations that the target is expected to need in all; ``blend`` and ``control`` use it.
            curve: whether to measure at ten points per decade of iterations and of nodes; ``cpu_seconds`` excludes it.
                If False, only the end is measured, and points where the average policy may have reached the target.
            progress: function called repeatedly with the share done, of the budget or of the decades to the target.
            stop: function called as often as ``progress``; once it returns True, the run ends without new blends.

        Returns:
            Totals since the solver's start, not only of this call.

        Raises:
            BudgetError: there is neither a budget nor a target, there are several budgets, or a number is invalid.
            ComponentError: a schedule of the update rule fails at a later iteration.
            OverflowedError: the tables hold numbers that are not finite.
        """
        limit = Limit.of(self._engine, {"iterations": iterations, "seconds": seconds, "nodes": nodes}, until, horizon)
        if limit.target is not None and self._curve:
            self._measure(current=curve)  # the last point may be from before a switch of components, or an interrupt
        used_before = self._used(limit.unit)
        begin = max(len(self._curve) - 1, 0)  # the curve's last point before this call
        while True:
            spent = self._used(limit.unit) - used_before
            # The budget is spent, the target is reached, or the run has stalled.
            if spent >= limit.amount or limit.ends(self._curve, begin):
                break
            self._plan_ahead(limit, spent)
            to_look = None if limit.target is None else self._iterations_to_look(limit, curve=curve)
            self._advance(*limit.left(spent, SLICE), curve=curve, to_look=to_look)
            self._finish_near(limit.target, curve=curve)
            if progress:
                progress(limit.share(self._used(limit.unit) - used_before, self._curve))
            if stop is not None and not limit.is_reached(self._curve) and stop():
                return replace(self.result(), target=limit.target)
        if not limit.is_reached(self._curve):
            self._finish(self._engine.stepper.finish)
        return replace(self.result(), target=limit.target)

    def _plan_ahead(self, limit: Limit, spent: float) -> None:
        """Tell the stepper, for its controller or blends, how many iterations the run is expected to have."""
        costs = self._engine.stepper.costs
        if costs is not None:
            self._engine.stepper.set_horizon(limit.horizon(self._engine.iteration, spent, costs))

    def _iterations_to_look(self, limit: Limit, *, curve: bool) -> int | None:
        """Return the number of iterations to a look, a measurement beside the curve's points; None if none is due."""
        if curve:
            return limit.iterations_to_end(self._engine.iteration)
        iterations = limit.iterations_to_look(self._engine.iteration, self._curve)
        to_next_point, _ = steps_to_next_point(self._engine.iteration, self._engine.nodes, self._engine.stepper.sparse)
        if self._engine.stepper.sparse:  # curves have few points, so the target may be reached well before the next one
            return min(iterations, to_next_point)
        if not self.blends or limit.iterations_to_end(self._engine.iteration):  # the end is measured anyway
            return iterations
        from rlccfr.engine.blending import FIRST_TRY

        # The last measurement decides whether blends are tried, so it must be recent.
        return min(iterations, max(to_next_point, FIRST_TRY - self._engine.iteration))

    def _used(self, unit: str) -> float:
        """Return the amount of a budget in ``unit`` that has been used since the solver's start."""
        if unit == "iterations":
            return self._engine.iteration
        return self._cpu_seconds if unit == "seconds" else self._engine.nodes

    def _finish_near(self, target: float | None, *, curve: bool) -> None:
        """Make the blends if they are likely to reach a target; measure if the average policy may have changed."""
        if target is not None and self._curve:
            exploitability = self._curve[-1].exploitability
            if self._finish(lambda: self._engine.stepper.finish_near(exploitability, target)):
                self._measure(current=curve)

    def _finish(self, finish: Callable[[], bool]) -> bool:
        """Make the blends, if the run blends; return whether the average policy may have changed.

        If it has changed, and the curve's last point was measured at this iteration, that point is out of date. It is
        removed, unless it has the current policy's exploitability, which blends do not change. Then it stays, and only
        the average policy is measured again.
        """
        with collector_paused():
            begin = time.thread_time()
            measured = self._measured
            self._measured = None  # also if Ctrl-C interrupts the search
            has_changed = finish()
            if not has_changed:
                self._measured = measured
            elapsed = time.thread_time() - begin
            self._cpu_seconds += elapsed
            if self.blends:
                self._blending_seconds += elapsed
            if has_changed and self._curve and self._curve[-1].iteration == self._engine.iteration:
                point = self._curve.pop()
                if not math.isnan(point.exploitability_current):
                    self._curve.append(point._replace(cpu_seconds=self._cpu_seconds))
        return has_changed

    def _advance(self, iterations: int, nodes: int, seconds: float, *, curve: bool, to_look: int | None) -> None:
        """Call the engine once, for a short time, and at most up to the next point of the curve.

        Args:
            iterations: largest number of iterations.
            nodes: largest number of histories to touch; the iteration that exceeds it is the last.
            seconds: CPU seconds that are left.
            curve: whether to stop at the next point of the curve, and to measure there.
            to_look: number of iterations after which to stop and measure in any case; None for no such measurement.
        """
        nodes_before = self._engine.nodes
        if curve:
            iterations_to_point, nodes_to_point = steps_to_next_point(
                self._engine.iteration, nodes_before, self._engine.stepper.sparse
            )
            iterations = min(iterations, iterations_to_point)
            nodes = min(nodes, nodes_to_point)
        if to_look is not None:
            iterations = min(iterations, to_look)
        with collector_paused():
            begin = time.thread_time()
            try:
                done = self._engine.advance(self._pace.most(iterations, seconds), nodes)
            finally:  # Ctrl-C takes effect when the kernel has returned: its work counts
                elapsed = time.thread_time() - begin
                self._cpu_seconds += elapsed
        self._pace.note(done, elapsed)
        if (curve or to_look is not None) and (done >= iterations or self._engine.nodes - nodes_before >= nodes):
            self._measure(current=curve)

    def _measure(self, *, current: bool = True) -> Values:
        """Measure the average policy, and add a point to the curve unless there is one for this iteration.

        Args:
            current: whether to measure the current policy, too; ignored if the attribute ``current`` is not None.
        """
        if not self._engine.stepper.is_finite():
            raise OverflowedError(
                f"{self!r} has overflowed, or a function returned NaN: its tables hold numbers that are not finite; "
                "use milder hyperparameters, or check the functions of your own components"
            )
        average_values = self.values()
        # The nodes count, too: an unfinished iteration moves the average policy.
        position = (self._engine.iteration, self._engine.nodes)
        is_wanted = False
        if not self._curve or self._curve[-1][:2] != position:
            self._curve.append(CurvePoint(*position, self._cpu_seconds, average_values.exploitability, math.nan))
            is_wanted = current and not self._engine.stepper.sparse
        point = self._curve[-1]._replace(exploitability=average_values.exploitability)  # blends may have lowered it
        self._curve[-1] = point
        if self.current is not None:
            is_wanted = self.current and math.isnan(point.exploitability_current)
        if is_wanted:
            self._curve[-1] = point._replace(exploitability_current=self.exploitability(current=True))
        return average_values

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of the engine's work so far, excluding the measurement of exploitability."""
        return self._cpu_seconds

    @property
    def blends(self) -> bool:
        """Whether the run makes blends: with ``blend=True``, and if they fit into memory."""
        return self._engine.stepper.blends

    @property
    def blending_seconds(self) -> float:
        """The part of ``cpu_seconds`` that the search for blends took; 0 without blends."""
        return self._blending_seconds

    @property
    def notice(self) -> str:
        """One line for the user to read before the run; empty if there is nothing to say.

        It tells how much memory the blends of a public-tree game take, or that they do not fit into memory.
        """
        return self._engine.stepper.notice

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The convergence curve measured so far; another thread may read it during the run."""
        return tuple(self._curve)

    def result(self) -> RunResult:
        """Measure the average policy, add a point to the curve unless this iteration has one, and return the totals.

        Raises:
            OverflowedError: the tables hold numbers that are not finite.
        """
        values = self._measure()
        abstract_values = self.abstract_values()
        return RunResult(
            values.exploitability,
            values.nash_conv,
            self._engine.iteration,
            self._engine.nodes,
            self._cpu_seconds,
            self.points,
            exploitability_abstract=None if abstract_values is None else abstract_values.exploitability,
            game=self.game.name,
            unfinished=self._engine.stepper.unfinished,
        )

    def switch(
        self,
        *,
        update_rule: str | Mapping[str, Any] | UpdateRule | None = None,
        sampler: str | Mapping[str, Any] | Sampler | None = None,
        abstraction: str | Mapping[str, Any] | Abstraction | None = None,
    ) -> None:
        """Continue with other components; tables, iteration count and random stream are kept.

        New models are fitted to the tables; the fit counts as engine time. A switch away from models continues from the
        tables, which are updated beside the models.

        Raises:
            ComponentError: as on construction, or buckets would change during the run; the old components are kept.
        """
        new_rule = update_rules.resolve(update_rule) if update_rule is not None else self.update_rule
        new_sampler = samplers.resolve(sampler) if sampler is not None else self.sampler
        new_abstraction = abstractions.resolve(abstraction) if abstraction is not None else self.abstraction
        if (
            new_rule.same_as(self.update_rule)
            and new_sampler.same_as(self.sampler)
            and new_abstraction.same_as(self.abstraction)
        ):
            return
        self._cpu_seconds += self._engine.bind(new_rule, new_sampler, new_abstraction)
        self._measured = None
        self.update_rule = new_rule
        self.sampler = new_sampler
        self.abstraction = new_abstraction
        self._pace = Pace(self._engine.stepper)

    @property
    def specs(self) -> dict[str, dict[str, Any]]:
        """Descriptions of the components, ready for JSON: ``update_rule``, ``sampler`` and ``abstraction``."""
        return {kind: getattr(self, kind).spec for kind in ("update_rule", "sampler", "abstraction")}

    def average_policy(self) -> Policy:
        """Return the run's result: the average policy or, if the update rule's ``output`` says so, the current policy.

        If the run makes blends or keeps its best policies, each player's blend or best policy takes the place of the
        player's average policy, unless the average policy is less exploitable.
        """
        average: Policy = policy_class(self.game).from_sums(self.game, self._engine.stepper.average_sums())
        return average.unlocked()

    def draw_policy(self, seed: int = 0) -> Policy:
        """Draw a policy to play one episode with, if the update rule keeps its value networks.

        One network is drawn per player, by its weight in the average. Over many episodes the play is that of the
        average policy (Steinberger, Single deep counterfactual regret minimization, 2019: trajectory sampling).

        Raises:
            ComponentError: the rule lacks ``average="value_networks"``, no iteration was run, or the seed is invalid.
        """
        rng = np.random.default_rng(whole_number(seed, "seed", 0, ComponentError))
        drawn: Policy = policy_class(self.game)(self.game, self._engine.stepper.draw_policy(rng))
        return drawn.unlocked()

    def current_policy(self) -> Policy:
        """Return the current policy, the result of the last update."""
        current: Policy = policy_class(self.game)(self.game, self._engine.stepper.current_sums())
        return current.unlocked()

    def values(self, *, current: bool = False) -> Values:
        """Return the values of the average policy, or of the current one, and of best responses to it.

        With a lock, they are values in the locked game; without one, those of the average policy are
        ``average_policy().values()`` up to rounding. Where exact passes run over the game's quotient, the policy is
        evaluated over it, too, which is faster. Values of the average policy are cached until it changes.
        """
        if current:
            return Values.of(*self._engine.current_value(), self._engine.stepper.centre)
        stepper = self._engine.stepper
        state = (self._engine.iteration, self._engine.nodes, stepper.progress)
        if self._measured is None or self._measured[0] != state:
            self._measured = state, Values.of(*stepper.average_value(), stepper.centre)
        return self._measured[1]

    def abstract_values(self) -> Values | None:
        """Return :meth:`values` with best responses that play one policy per bucket; None if there are no buckets."""
        stepper = self._engine.stepper
        return None if self.abstraction.buckets is None else Values.of(*stepper.abstract_value(), stepper.centre)

    def exploitability(self, *, current: bool = False) -> float:
        """Return NashConv / 2 of the average policy, or of the current one."""
        return self.values(current=current).exploitability

    def nash_conv(self, *, current: bool = False) -> float:
        """Return the sum of both players' gains from best responses to the average policy, or to the current one."""
        return self.values(current=current).nash_conv

    def save(self, path: str | Path) -> None:
        """Write the solver to one file, whole or not at all.

        Raises:
            CheckpointError: the file can't be written, or a component has no id by which it could be made again.
            InUseError: another process keeps writing to the file, as ``rlccfr solve --checkpoint`` does.
        """
        from rlccfr.checkpoint import save_solver

        save_solver(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1, game: Any = None) -> Solver:
        """Read a saved solver; with as many threads as before, its run continues bitwise as if it had never stopped.

        Args:
            threads: number of threads for exact passes.
            game: the run's game, to save the time of making it again.

        Raises:
            CheckpointError: the file is missing, damaged or of another kind, or its game, lock or components differ.
        """
        from rlccfr.checkpoint import load_solver

        return load_solver(Path(path), cls, threads, game)

    def __reduce__(self) -> tuple[Any, ...]:
        from rlccfr.checkpoint import reduced

        return reduced(self)

    def __repr__(self) -> str:
        ids = " x ".join(part.id or "custom" for part in (self.update_rule, self.sampler, self.abstraction))
        return f"Solver({self.game.name!r}, {ids}, iteration={self._engine.iteration:,})"
