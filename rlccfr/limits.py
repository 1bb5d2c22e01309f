"""Limits of a run: budgets, targets, and predictions of the time that a run still needs to reach a target."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.errors import BudgetError, brief, whole_number
from rlccfr.game import Game, policy_class
from rlccfr.games.payoff_sizes import usual_size
from rlccfr.policy import EXACT
from rlccfr.result import POINTS_PER_DECADE, CurvePoint

if TYPE_CHECKING:
    from rlccfr.engine.engine import Engine
    from rlccfr.solver import Solver

DEFAULT_TARGET = 1e-6
"""Target where neither a target nor a budget is given, as a multiple of the uniform policy's exploitability."""

DEFAULT_SECONDS = 60.0
"""Budget in CPU seconds where neither a target nor a budget is given."""

UNIFORM_UNIT = "x"
"""Unit of targets: the uniform policy's exploitability."""

BLIND_UNIT = "mbb"
"""Unit of targets: thousandths of a big blind per game."""

POT_UNIT = "%"
"""Unit of targets: per cent of the pot at the start."""

STALLED = 0.9
"""A run has stalled if exploitability stays above this share of its earlier minimum while the work grows tenfold."""

FIRST_CHECK = 0.01
"""A run's time to its target is first predicted after at least this many CPU seconds of the run."""

CLEAR_MARGIN = 2.0
"""A run gives way to a linear program only if its time left is predicted to exceed the program's by this factor."""

LOOK = 4.0
"""Cost of a measurement of the average policy (a "look"), as a number of exact iterations."""

USUAL_SLOPE = 2.5
"""Exponent s that is assumed while a run has too few points to compute it: exploitability falls as t^-s.

Here, t is the number of iterations.
"""

SLOPES = (0.5, 4.0)
"""Least and largest value of the exponent s of :data:`USUAL_SLOPE` where s is computed from a run's points."""

LITTLE = 0.03
"""Share of a run's time up to which measurements of the average policy ("looks") count as cheap."""

LONGEST_STEP = 2.5
"""Largest factor by which the iterations may grow from one look to the next."""

USUAL_STEP = 10 ** (1 / POINTS_PER_DECADE)
"""Largest factor by which the iterations may grow between cheap looks: that between two points of a curve."""

NEAR = 10.0
"""An exploitability counts as near a target if it is at most this multiple of the target.

Curves are not smooth, so they may dip to the target from there.
"""

LONGEST_HORIZON = 2**52
"""Largest horizon, in iterations; a longer run counts as having no horizon. Doubles hold all integers up to this."""

ITERATIONS_BEFORE_STALL = 1000
"""A run can count as stalled only after it has touched as many histories as this number of exact iterations do."""


@dataclass(frozen=True)
class Limit:
    """What ends a run.

    Attributes:
        unit: iterations, seconds or nodes.
        amount: budget in this unit; infinite if there is only a target.
        target: exploitability in the game's units, or None.
        start: the uniform policy's exploitability, from which progress towards a target counts; 0 without a target.
        nodes_per_iteration: number of histories, or of private states, that an iteration by exact passes touches.
        expected: number of iterations, since the solver's start, that the caller expects the target to need (the
            argument ``horizon`` of :meth:`rlccfr.Solver.run`); 0 if the caller gave no such number.
    """

    unit: str
    amount: float
    target: float | None
    start: float
    nodes_per_iteration: int
    expected: int = 0

    @classmethod
    def of(
        cls, engine: Engine, budget: dict[str, Any], until: float | str | None, expected: int | None = None
    ) -> Limit:
        """Check a run's budget and target, and return them as a limit.

        Args:
            engine: engine of the run.
            budget: amount for each unit, or None for a unit without a budget.
            until: the target; see :func:`target_of`.
            expected: number of iterations, since the solver's start, that the caller expects the target to need; None
                if the caller gave no such number.

        Raises:
            BudgetError: see :meth:`rlccfr.Solver.run`.
        """
        amounts = {unit: amount for unit, amount in budget.items() if amount is not None}
        if len(amounts) > 1:
            raise BudgetError("give exactly one budget: iterations=, seconds= or nodes=")
        if not amounts and until is None:
            raise BudgetError("give one budget (iterations=, seconds= or nodes=), a target (until=), or both")
        if amounts:
            ((unit, amount),) = amounts.items()
            amount = checked_seconds(amount) if unit == "seconds" else whole_number(amount, unit, 1, BudgetError)
        else:
            unit = "iterations"
            amount = math.inf
        if expected is not None:
            expected = whole_number(expected, "horizon", 1, BudgetError)
        if until is None:
            if expected is not None:
                raise BudgetError("horizon= is only for a run to a target: give until=, or leave out horizon=")
            return cls(unit, amount, None, 0.0, engine.stepper.nodes_per_iteration)
        start = uniform_exploitability(engine.game)
        target = target_of(engine.game, until)
        return cls(unit, amount, target, start, engine.stepper.nodes_per_iteration, expected or 0)

    def left(self, spent: float, slice_seconds: float) -> tuple[int, int, float]:
        """Return how many iterations, histories and CPU seconds a call of the engine may take.

        Args:
            spent: the part of the budget that has been spent.
            slice_seconds: CPU seconds of a call of the engine, if the budget is in another unit.
        """
        amount_left = min(self.amount - spent, sys.maxsize)
        return (
            math.ceil(amount_left) if self.unit == "iterations" else sys.maxsize,
            math.ceil(amount_left) if self.unit == "nodes" else sys.maxsize,
            amount_left if self.unit == "seconds" else slice_seconds,
        )

    def ends(self, points: Sequence[CurvePoint], begin: int) -> bool:
        """Return whether the curve has reached the target, or has stalled in a run without a budget.

        Args:
            points: the curve.
            begin: index of the last point before this call of :meth:`rlccfr.Solver.run`.
        """
        if self.target is None or not points:
            return False
        if self.is_reached(points):
            return True
        return self.amount == math.inf and has_stalled(
            points[begin:], ITERATIONS_BEFORE_STALL * self.nodes_per_iteration
        )

    def is_reached(self, points: Sequence[CurvePoint]) -> bool:
        """Return whether there is a target, and the curve's last point has reached it."""
        return self.target is not None and len(points) > 0 and points[-1].exploitability <= self.target

    def horizon(self, iterations: int, spent: float, costs: Mapping[str, float]) -> int:
        """Return the run's horizon: the number of iterations that it is expected to have in all; 0 if not fixed.

        The horizon of a run to a target is not fixed unless ``expected`` was given. If the run misses its target at the
        expected iteration, the horizon is not fixed from then on.

        Args:
            iterations: number of iterations done.
            spent: amount of the budget used.
            costs: amount of each budget that an iteration is expected to use, by the budget's unit.
        """
        if self.target is not None:
            return self.expected if self.iterations_to_end(iterations) else 0
        iterations_left = max(self.amount - spent, 0.0) / costs[self.unit]
        if iterations + iterations_left > LONGEST_HORIZON:
            return 0
        return iterations + math.ceil(iterations_left)

    def iterations_to_end(self, iterations: int) -> int | None:
        """Return how many iterations are left until ``expected``; None if it is 0, already reached, or too large."""
        return self.expected - iterations if iterations < self.expected <= LONGEST_HORIZON else None

    def iterations_to_look(self, iterations: int, points: Sequence[CurvePoint]) -> int:
        """Return the number of further iterations after which to measure the average policy, on the way to the target.

        The exploitability falls roughly as a power of the iterations. The last two measurements ("looks") give the
        power, and so the iteration at which the target is likely to be reached. The next look is at that iteration,
        unless it is too far ahead to rely on. The distance between looks balances two costs: looks should take about
        as much time as the iterations that are wasted between reaching the target and the look that notices it. The
        distance is counted from the last look, since a call of the engine may end before the next look.

        If the run has an expected number of iterations, one look is made after exactly that number.

        Args:
            iterations: number of iterations done.
            points: the curve.
        """
        assert self.target is not None
        last_look = points[-1].iteration if points else 0
        look = LOOK
        if points and points[-1].nodes > 0:  # walks touch fewer histories in an iteration than a look does
            look *= max(self.nodes_per_iteration * last_look / points[-1].nodes, 1.0)
        # At this distance, looks take the share LITTLE of the time of iterations.
        cheap_step = look / LITTLE
        far_step = (LONGEST_STEP - 1) * last_look if points else math.inf
        # Looks at distance d cost look * n / d until iteration n, and waste up to d iterations; the root balances both.
        shortest_step = min(math.sqrt(look * max(last_look, 1)), cheap_step, far_step)
        # Near the target, look more often, since a curve may dip to the target at any time.
        if points and points[-1].exploitability <= NEAR * self.target:
            longest_step = min(2 * shortest_step, cheap_step)
        else:
            longest_step = min(far_step, max((USUAL_STEP - 1) * last_look, cheap_step)) if points else math.inf
        step = max(min(self._expected_iteration(points) - last_look, longest_step), shortest_step)
        iterations_left = max(math.ceil(last_look + step) - iterations, 1)
        return min(iterations_left, self.iterations_to_end(iterations) or iterations_left)

    def _expected_iteration(self, points: Sequence[CurvePoint]) -> float:
        """Return the iteration at which a curve is likely to reach the target."""
        assert self.target is not None
        # Without a usable look, assume the usual slope from the uniform policy at iteration 1.
        if not points or points[-1].exploitability <= 0 or self.start <= 0:
            return math.pow(max(self.start / self.target, 1.0), 1 / USUAL_SLOPE)
        last = points[-1]
        # If there has been one look only, the uniform policy at iteration 1 stands for the one before.
        earlier_error = points[-2].exploitability if len(points) > 1 else self.start
        earlier_iteration = points[-2].iteration if len(points) > 1 else 1
        slope = USUAL_SLOPE
        if last.iteration > earlier_iteration > 0:
            fall = math.log(earlier_error / last.exploitability) if earlier_error > 0 else 0.0
            # Two looks give only a rough slope, so it is kept within the usual bounds.
            slope = min(max(fall / math.log(last.iteration / earlier_iteration), SLOPES[0]), SLOPES[1])
        return last.iteration * math.pow(last.exploitability / self.target, 1 / slope)

    def share(self, spent: float, points: Sequence[CurvePoint]) -> float:
        """Return the share of a run that is done: of the budget or, without one, of the decades to the target."""
        if self.amount < math.inf:
            return min(1.0, spent / self.amount)
        assert self.target is not None
        least = min((point.exploitability for point in points), default=self.start)
        if not self.target < least < self.start:
            return float(least <= self.target)
        return math.log(self.start / least) / math.log(self.start / self.target)


_uniform_exploitabilities: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""Results of :func:`uniform_exploitability`, by game."""


def uniform_exploitability(game: Game) -> float:
    """Return the uniform policy's exploitability, in the game's units; it is measured once for each game.

    Raises:
        BudgetError: exploitability can't be computed in the game.
    """
    if game not in _uniform_exploitabilities:
        if not policy_class(game).are_values_known(game):
            raise BudgetError(
                f"a target is an exploitability, which can't be computed in {game.name!r}, since the game is too large "
                "to be compiled: leave out the target, and give a budget"
            )
        _uniform_exploitabilities[game] = policy_class(game).uniform(game).exploitability()
    return _uniform_exploitabilities[game]


def default_target(game: Any) -> float | None:
    """Return the target for a game where neither a target nor a budget is given, in the game's units.

    The target is :data:`DEFAULT_TARGET` times the uniform policy's exploitability, or a larger number if rounding
    errors demand it. Penalties that forbid moves do not count in it. It is None where exploitability can't be computed;
    the budget alone then ends the run.
    """
    if not policy_class(game).are_values_known(game):
        return None
    scale = uniform_exploitability(game)
    if game.form.has_histories:
        # Without penalties, no policy is more exploitable than twice the largest payoff.
        scale = min(scale, 2 * usual_size(game.utility))
    return max(DEFAULT_TARGET * scale, least_target(game))


def least_target(game: Game) -> float:
    """Return the least exploitability that can be distinguished from rounding errors, in the game's units.

    It is a share of the range of payoffs, whatever their unit. If all payoffs are equal, it only has to be positive.
    """
    return EXACT * (game.utility_range or 1.0)


def checked_seconds(amount: Any) -> float:
    """Return a number of seconds as a float.

    Raises:
        BudgetError: it is not a positive, finite number.
    """
    if not 0 < (number := _real(amount)) < math.inf:
        raise BudgetError(f"seconds must be a positive, finite number, not {brief(amount)}")
    return number


def _real(value: Any) -> float:
    """Return a real number as a float, infinite if it is too large; NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_target(target: Any) -> float:
    """Return the number in a target.

    Raises:
        BudgetError: it is neither a positive number nor a string such as ``"1e-6"`` or ``"1e-6x"``.
    """
    if isinstance(target, str):
        try:
            number = float(target.strip().removesuffix(_unit_of(target)))
        except ValueError:
            number = math.nan
    else:
        number = _real(target)
    if not 0 < number < math.inf:
        raise BudgetError(
            'a target must be a positive exploitability such as "1e-3", "1e-6x" (a multiple of the uniform policy\'s) '
            'or, in poker, "10mbb" (thousandths of a big blind) or "0.5%" (per cent of the pot), '
            f"not {brief(target)}"
        )
    return number


def _unit_of(target: Any) -> str:
    """Return the unit at the end of a target, or an empty string if it has none."""
    if isinstance(target, str):
        for unit in (UNIFORM_UNIT, BLIND_UNIT, POT_UNIT):
            if target.strip().endswith(unit):
                return unit
    return ""


def target_of(game: Game, target: float | str) -> float:
    """Return a target in the game's units of utility.

    Args:
        game: the game.
        target: a number in the game's units, or a string: ``"1e-6"`` is in the game's units, ``"1e-6x"`` is a multiple
            of the uniform policy's exploitability. ``"10mbb"`` is in thousandths of a big blind, and ``"0.5%"`` in per
            cent of the pot at the start, if the game has one.

    Raises:
        BudgetError: ``target`` is not positive, is in a unit that the game lacks, or is too small to be distinguished
            from rounding errors.
    """
    exploitability = check_target(target)
    least = least_target(game)
    if _unit_of(target) == UNIFORM_UNIT:
        uniform = uniform_exploitability(game)
        if uniform <= least:  # the uniform policy is an equilibrium, as where all payoffs are equal
            return least
        exploitability *= uniform
    if _unit_of(target) == BLIND_UNIT:
        if game.big_blind is None:
            raise BudgetError(f"{game.name!r} has no big blind: give the target in the game's units")
        exploitability *= game.big_blind / 1000
    if _unit_of(target) == POT_UNIT:
        if game.pot is None:
            raise BudgetError(f"{game.name!r} has no pot at its start: give the target in the game's units")
        exploitability *= game.pot / 100
    if exploitability < least:
        raise BudgetError(
            f"an exploitability of {exploitability:.3g} is below rounding errors in {game.name!r}: give a target "
            f"of at least {least:.3g} in the game's units"
        )
    return exploitability


def has_stalled(points: Sequence[CurvePoint], least: float) -> bool:
    """Return whether the last tenfold increase of the histories touched hardly lowered the least exploitability.

    Args:
        points: the part of a curve that is examined.
        least: number of histories that the run must have touched before it can count as stalled.
    """
    if not points or points[-1].nodes < least:
        return False
    early = [point.exploitability for point in points if point.nodes <= points[-1].nodes / 10]
    if not early:
        return False
    return min(point.exploitability for point in points) > STALLED * min(early)


def seconds_left(points: Sequence[CurvePoint], target: float) -> float | None:
    """Predict the CPU seconds that a run still needs to reach a target.

    A power law is fitted to the last part of the curve, in which the CPU seconds grew by a factor of ten.

    Returns:
        The CPU seconds; None if this part has fewer than three points, which are too few to tell; infinity if the
        exploitability does not fall; 0 if the target is reached.
    """
    now = points[-1].cpu_seconds if points else 0.0
    recent = {
        point.cpu_seconds: point.exploitability
        for point in points
        if point.cpu_seconds > 0 and point.cpu_seconds >= now / 10 and point.exploitability > 0
    }
    if len(recent) < 3:
        return None
    log_exploitability = np.log(list(recent.values()))
    log_seconds = np.log(list(recent))
    slope = np.polyfit(log_seconds, log_exploitability, 1)[0]
    if slope > -0.01:
        return math.inf
    # The line is drawn through the last point: log(seconds at the target / seconds now) is the height over the slope.
    log_factor = (math.log(target) - log_exploitability[-1]) / slope
    return now * max(0.0, math.expm1(min(log_factor, 700.0)))  # exp(700) is still a double


class ProgramWatch:
    """A check during a run to a target: whether a linear program is predicted to reach the target sooner.

    The check is repeated each time the run's CPU seconds have doubled. Pass the object as ``stop`` to
    :meth:`rlccfr.Solver.run`.

    Args:
        solver: the solver that runs.
        target: exploitability in the game's units; with None, the answer is always no.
        program_seconds: CPU seconds that the linear program is predicted to take.
        run_seconds: CPU seconds that the run was predicted to take; 0 without a prediction. The first check comes only
            after this time: a prediction from many runs is more reliable than one from the beginning of this run.

    Attributes:
        says_sooner: the answer of the last check.
        seconds_left: further CPU seconds that the run was last predicted to need; infinite without a prediction.
    """

    def __init__(self, solver: Solver, target: float | None, program_seconds: float, run_seconds: float = 0.0) -> None:
        self._solver = solver
        self._target = target
        self._program_seconds = program_seconds
        self._next_check = max(FIRST_CHECK, program_seconds / 10, run_seconds)
        self.says_sooner = False
        self.seconds_left = math.inf

    def __call__(self) -> bool:
        """Return whether a check is due, and predicts that a linear program reaches the target sooner than the run."""
        if self._target is None or self._solver.cpu_seconds < self._next_check:
            return False
        self._next_check = 2 * self._solver.cpu_seconds
        left = seconds_left(self._solver.points, self._target)
        if left is not None:
            self.seconds_left = left
            self.says_sooner = CLEAR_MARGIN * self._program_seconds < left
        return self.says_sooner
