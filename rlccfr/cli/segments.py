"""Runs of several algorithms, one after another, as ``rlccfr solve --then`` makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.catalog import AXES
from rlccfr.errors import ComponentError, RLCCFRError

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver


def parsed(text: str) -> Cell:
    """Return the algorithm that a string names, in the form that ``recommend`` prints.

    Raises:
        RLCCFRError: the string has another form, or names no component.
    """
    from rlccfr.catalog import Cell

    parts = [part.strip() for part in text.split(" x ")]
    if len(parts) != len(AXES) or not all(parts):
        raise RLCCFRError(f'--then takes "UPDATE_RULE x SAMPLER x ABSTRACTION", not {text!r}')
    return Cell(*parts).canonical


def check_segments(cells: list[Cell], limit: dict[str, Any], checkpoint: Path | None) -> None:
    """Refuse algorithms that can't run one after another, before the first one runs."""
    if len(cells) == 1:
        return
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.identity import why_unavailable
    from rlccfr.envs.measuring.request import check_segments as check_number

    if checkpoint is not None:
        raise RLCCFRError("a checkpoint holds a run of one algorithm: leave out --checkpoint or --then")
    check_number(parse_budget(limit), len(cells))
    for cell in cells:
        if reason := why_unavailable(cell):
            raise ComponentError(f"{cell} can't run: {reason}")


def run_segments(
    solver: Solver, cells: list[Cell], limit: dict[str, Any], report: Callable[[float], None]
) -> RunResult:
    """Spend the budget; several algorithms get equal shares, like the segments of an environment."""
    if len(cells) == 1:
        return solver.run(**{limit["unit"]: limit["amount"]}, progress=report)
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.request import changes, segment_budget

    whole, result, done = parse_budget(limit), None, 0

    def report_segment(share: float) -> None:
        report((done + share) / len(cells))

    for done, cell in enumerate(cells):
        if result is not None:
            solver.switch(**changes(cells[done - 1], cell))
        result = solver.run(**segment_budget(whole, len(cells), done, result), progress=report_segment)
    assert result is not None
    return result
