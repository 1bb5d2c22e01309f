"""``rlccfr reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import RUNS, print_table, progress
from rlccfr.errors import RLCCFRError


def reproduce(
    paper: Annotated[str, typer.Argument(help="Paper: rlccfr, by Keshavarzi, Navidi and Tefagh.")] = "rlccfr",
    out: Annotated[Path, typer.Option(help="Directory for the figures.")] = RUNS / "reproduction",
    measure: Annotated[bool, typer.Option(help="Measure Table 4 here; the networks take minutes.")] = True,
) -> None:
    """Reproduce a paper's experiments.

    Figures 2 to 5 are drawn from the measurements that come with the package: exploitability against iterations of the
    paper's fixed algorithms, and of what the team picks under the caption's weights. Table 4, iterations per second on
    Kuhn poker, is measured.
    """
    if paper != "rlccfr":
        raise RLCCFRError(f"{paper!r} can't be reproduced, only 'rlccfr'")
    with progress("drawing"):
        from rlccfr.agents import shipped
        from rlccfr.agents.baselines.fixed import fixed_cells
        from rlccfr.agents.judging.reproduction import PANELS, draw, throughputs
        from rlccfr.envs.measuring.live import LiveEvaluator
        from rlccfr.files import write_atomically

        measured, lines = shipped.results(), []
        for panel in PANELS:
            path = out / f"figure-{panel.number}.svg"
            pick = draw(panel, measured, shipped.catalog(), shipped.team(panel.game), path)
            lines.append((f"Figure {panel.number}", panel.game, panel.preset, str(pick), str(path)))
    print_table(("", "game", "weights", "the team's pick", "file"), lines)
    print("Under these weights speed counts beside exploitability, so a pick's line need not be the lowest.")
    if measure:
        with progress("measuring throughputs on Kuhn poker") as report:
            table = throughputs(LiveEvaluator(), fixed_cells(shipped.catalog()), report)
        write_atomically(out / "table-4.csv", table.to_csv(index=False).encode(), RLCCFRError)
        print_table(list(table.columns), table.to_numpy().tolist(), title="Table 4: iterations per CPU second")
