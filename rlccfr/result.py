"""Results of a run, and the iterations at which its curve has points."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

POINTS_PER_DECADE = 10
"""Number of points of a curve per decade of iterations, and per decade of nodes."""

SPARSE_POINTS = 5
"""Number of points per decade of iterations on a sparse curve."""


class CurvePoint(NamedTuple):
    """One point of a convergence curve.

    Attributes:
        iteration: number of iterations done.
        nodes: number of histories touched; see :class:`RunResult`.
        cpu_seconds: CPU seconds inside the engine.
        exploitability: NashConv / 2 of the average policy, in the game's units.
        exploitability_current: NashConv / 2 of the current policy, in the game's units; NaN where it was not measured.
    """

    iteration: int
    nodes: int
    cpu_seconds: float
    exploitability: float
    exploitability_current: float


@dataclass(frozen=True)
class RunResult:
    """Totals since the solver's start, with the convergence curve.

    Attributes:
        exploitability: NashConv / 2 of the average policy, in the game's units; NaN in a game represented by
            OpenSpiel's states that is too large to be compiled.
        nash_conv: sum of both players' gains from best responses to the average policy, in the game's units.
        iterations: number of iterations; one iteration updates each player once.
        nodes_touched: number of histories visited; an exact or best-response pass visits all of them, for each player.
            In a public-tree game, private states at public nodes are counted instead. With buckets, the histories of
            the abstract game are counted, unless players learn against best responses in the game itself.
        cpu_seconds: CPU seconds inside the engine, excluding loading, compiling and the measurement of exploitability.
        points: the curve's points: iteration, nodes, cpu_seconds, exploitability (of the average policy) and
            exploitability_current (of the current policy).
        curve: the same points as a pandas data frame.
        exploitability_abstract: ``exploitability`` inside the abstraction, where best responses, too, have one policy
            per bucket; None for an abstraction without buckets.
        target: exploitability that the run was to reach, in the game's units; None if there was no target.
        game: name of the game, used as the title of pictures; empty if unknown.
        unfinished: whether the run stopped within an iteration of many walks or training steps. The next call of
            :meth:`rlccfr.Solver.run` resumes that iteration. The average policy may include a part of it, and
            ``iterations`` does not count it.
    """

    exploitability: float
    nash_conv: float
    iterations: int
    nodes_touched: int
    cpu_seconds: float
    points: tuple[CurvePoint, ...] = field(repr=False)
    exploitability_abstract: float | None = None
    target: float | None = None
    game: str = field(default="", repr=False)
    unfinished: bool = False

    @property
    def exploitability_current(self) -> float:
        """NashConv / 2 of the current policy at the curve's last point; NaN where it was not measured."""
        return self.points[-1].exploitability_current

    @property
    def reached(self) -> bool:
        """Whether the exploitability is at most the target; True without a target."""
        return self.target is None or self.exploitability <= self.target

    @cached_property
    def curve(self) -> pd.DataFrame:
        """The curve as a table with one row per point; the columns are the fields of :class:`CurvePoint`."""
        import pandas as pd

        return pd.DataFrame(self.points, columns=list(CurvePoint._fields))

    @property
    def throughput(self) -> float:
        """Iterations per engine CPU second; in a short run, stops at the curve's points take most of the CPU time."""
        return self.iterations / self.cpu_seconds if self.cpu_seconds > 0 else math.inf

    def plot(
        self, x: str = "iteration", axes: Axes | None = None, label: str | None = None, *, current: bool = False
    ) -> Axes:
        """Draw the convergence curve; see :func:`rlccfr.pictures.draw_curve`."""
        from rlccfr.pictures import draw_curve

        return draw_curve(self.curve, x, axes, label, self.game, current=current)


def steps_to_next_point(iteration: int, nodes: int, sparse: bool) -> tuple[int, int]:
    """Return the numbers of further iterations and nodes after which a curve has its next point, whichever comes first.

    Args:
        iteration: number of iterations done.
        nodes: number of nodes touched.
        sparse: whether the curve has few points, placed by the number of iterations only.
    """
    if sparse:
        return next_grid_point(iteration, SPARSE_POINTS) - iteration, sys.maxsize
    return next_grid_point(iteration) - iteration, next_grid_point(nodes) - nodes


def next_grid_point(after: int, points: int = POINTS_PER_DECADE) -> int:
    """Return the first integer above ``after`` on a logarithmic grid with ``points`` points per decade.

    With ten points per decade, the grid begins with 1, 2, 3, 4, 5, 6, 8.
    """
    step = math.floor(points * math.log10(after) + 1e-9) if after > 0 else -1
    while (point := round(10 ** (step / points))) <= after:
        step += 1
    return point
