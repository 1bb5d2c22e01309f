"""Flops of no-limit hold'em whose times other programs print: ``python -m benchmarks.flops`` prints the table.

Each flop is solved by one thread in a process of its own until the exploitability is as low as the printed one. Games
of this size have tables in single precision. Printed figures are from other machines, with 6 threads: they tell how
long a user of those programs waits, not which program does more per second.

``python -m benchmarks.flops TITLE SHARE`` solves one flop until its exploitability is a share of the pot, such as
0.001, and prints what that took, with bounds of the expected value out of position.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any, NamedTuple

import rlccfr
from benchmarks.memory import peak_bytes
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.public_files import PublicFile

RULE = "dcfr_plus"

FAST = {  # PioSOLVER's 3betpotFAST, as the test solve_pio_preset_normal of postflop-solver has it
    "board": "QsJh2h", "pot": 180, "stack": 910,
    "bets": {"flop": "52%", "turn": "55%", "river": "70%"}, "raises": "45%",
    "oop": "AA,KK,QQ,JJ,TT,99,88,AK,AQ,AJ,ATs,ATo:0.75,A9s,A8s,A5s:0.5,A4s:0.5,A3s:0.5,A2s:0.5,KQ,KJs,KJo:0.75,KTs,"
    "KTo:0.25,K9s,QJs,QJo:0.5,QTs,Q9s,JTs,JTo:0.25,J9s,J8s,T9s,T8s,T7s:0.45,98s,97s,96s:0.45,87s,86s:0.75,85s:0.45,"
    "76s:0.75,75s:0.75,74s:0.45,65s:0.75,64s:0.5,63s:0.45,54s:0.75,53s:0.5,52s:0.45,43s:0.5,42s:0.45,32s:0.45",
    "ip": "AA:0.25,99,88,77,66,55,44,33,22,AQo,AJ,AT,A9,A8,A7s,A6s,A5s,A4s,A3s,A2s,KQ,KJ,KT,K9,K8s,K7s,K6s,K5s,K4s,K3s,"
    "K2s,QJ,QT,Q9,Q8s,Q7s,Q6s,Q5s,Q4s,Q3s,Q2s,JT,J9,J8s,J7s,J6s,T9,T8s,T7s,T6s,98,97s,96s,95s:0.5,87s,86s,85s:0.5,76s,"
    "75s,74s:0.5,65s,64s,63s:0.5,54s,53s:0.5,43s",
}  # fmt: skip

FAST_VALUE = 105.11
"""Expected value in chips out of position on :data:`FAST`, from PioSOLVER at 0.1 % of the pot; from the same test."""

TEXAS_SOLVER = PublicFile(
    "texassolver-benchmark.txt",
    "https://raw.githubusercontent.com/bupticybee/TexasSolver/d926d24b8c8dbebc5af2cc542017dd037d32b0b2/benchmark/"
    "benchmark_texassolver.txt",
    "391d97e8da72e40cbc7b223e7cd41024da09b475a81ebc641b10e105025d29ef",
)
"""TexasSolver's benchmark file. It is downloaded once, and not included, since its licence is not the library's."""

TARGETS = {"3betpotFAST": 0.005, "TexasSolver's flop": 0.00275}
"""Exploitability to reach, as a share of the pot, for each flop."""


class Printed(NamedTuple):
    """What a program's documentation prints.

    Attributes:
        title: the flop.
        program: the program.
        share: exploitability as a share of the pot.
        machine: threads, and the processor if it is named.
        seconds: wall-clock seconds.
        gigabytes: memory in GB.
    """

    title: str
    program: str
    share: float
    machine: str
    seconds: float
    gigabytes: float


_RYZEN = "6, Ryzen 7 3700X"
PRINTED = (
    Printed("3betpotFAST", "Desktop Postflop", 0.005, _RYZEN, 20.0, 1.27),
    Printed("3betpotFAST", "Desktop Postflop, 16 bits", 0.005, _RYZEN, 19.8, 0.679),
    Printed("3betpotFAST", "PioSOLVER, CFR", 0.005, _RYZEN, 22.9, 1.41),
    Printed("3betpotFAST", "PioSOLVER", 0.005, _RYZEN, 30.3, 0.634),
    Printed("3betpotFAST", "GTO+", 0.005, _RYZEN, 22.0, 0.705),
    Printed("3betpotFAST", "TexasSolver", 0.005, _RYZEN, 103.5, 2.84),
    Printed("TexasSolver's flop", "TexasSolver", 0.00275, "6", 172.0, 1.6),
    Printed("TexasSolver's flop", "PioSOLVER", 0.0029, "6", 242.0, 0.492),
)
"""From the READMEs of WASM Postflop and of TexasSolver."""

COLUMNS = ("flop", "program", "exploitability, of the pot", "threads, processor", "seconds", "memory")


def load(title: str) -> rlccfr.Subgame:
    """Return a flop by its title."""
    if title == "3betpotFAST":
        return rlccfr.subgame(**FAST)  # type: ignore[arg-type]
    TEXAS_SOLVER.read()  # downloads it if it is not there
    return rlccfr.load_game(str(TEXAS_SOLVER.path))


def measure(title: str, share: float | None = None) -> dict[str, Any]:
    """Build and solve a flop in this process; return the costs, and bounds of the value out of position.

    Args:
        title: key of :data:`TARGETS`.
        share: exploitability to reach, as a share of the pot; by default, the one of :data:`TARGETS`.
    """
    target = TARGETS[title] if share is None else share
    begin = time.process_time()
    game = load(title)
    built = time.process_time() - begin
    solver = rlccfr.Solver(game, RULE)
    clock = time.perf_counter()
    result = solver.run(until=f"{100 * target:g}%")
    row = {
        "title": title,
        "share": result.exploitability / game.pot,
        "iterations": result.iterations,
        "built": built,
        "cpu": result.cpu_seconds,
        "clock": time.perf_counter() - clock,
        "bytes": 1e9 * game.sizes()["gigabytes_of_tables"],
        "peak": peak_bytes(),
    }
    # Best responses to the two players' policies bound the game's value from both sides. Other programs add half the
    # pot.
    first, second = solver.average_policy().values().best_response
    return row | {"value_from": game.pot / 2 - second, "value_to": game.pot / 2 + first}


class NotMeasuredError(Exception):
    """A flop could not be measured, for example because its file could not be downloaded; the message says why."""


def alone(title: str) -> dict[str, Any]:
    """Measure a flop in a process of its own, so that the peak memory is the flop's.

    Raises:
        NotMeasuredError: the process failed.
    """
    command = [sys.executable, "-m", "benchmarks.flops", title]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise NotMeasuredError((run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1])
    row: dict[str, Any] = json.loads(run.stdout)
    return row


def report() -> list[str]:
    """Return the table as Markdown; below it, the value of 3betpotFAST beside the printed one, and what failed."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    remarks = []
    for title in TARGETS:
        try:
            row = alone(title)
        except NotMeasuredError as error:
            print(f"{title}: {error}", file=sys.stderr)
            remarks.append(f"{title} was not measured: its run failed, or its file could not be downloaded.")
            continue
        cells = (
            title,
            f"rlccfr, {RULE}, {row['iterations']} iterations",
            f"{100 * row['share']:.3g} %",
            f"1, {processor_model()}",
            f"{row['cpu']:.1f} of CPU, {row['clock']:.1f} by the clock, and {row['built']:.1f} to build",
            f"{1e-9 * row['bytes']:.2f} GB of tables, {1e-9 * row['peak']:.2f} GB at the peak",
        )
        lines.append(f"| {' | '.join(cells)} |")
        for printed in PRINTED:
            if printed.title == title:
                figures = (f"{100 * printed.share:.3g} %", printed.machine, f"{printed.seconds:g}")
                lines.append(f"| {title} | {printed.program} | {' | '.join(figures)} | {printed.gigabytes:g} GB |")
        if title == "3betpotFAST":
            bounds = f"{row['value_from']:.2f} to {row['value_to']:.2f}"
            remarks.append(f"Expected value of {title} out of position: {bounds} chips; PioSOLVER prints {FAST_VALUE}.")
    return [*lines, "", *remarks]


if __name__ == "__main__":
    if sys.argv[1:]:
        title, *shares = sys.argv[1:]
        print(json.dumps(measure(title, *map(float, shares))))
    else:
        print("\n".join(report()))
