"""``python -m benchmarks``: compare this engine with its peers, in alternation within one run, on one thread.

Writes benchmarks/results/<date>.json and prints docs/benchmarks.md. The page has rates, CPU seconds to an
exploitability, exact iterations compared with what the machine could do, and the sections of :data:`SECTIONS`. The
exit status is 1 if the lower 95 % bound of a ratio to the fastest peer is below 0.7 of its target.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import rlccfr
from benchmarks import (
    bundles,
    decisions,
    defaults,
    exact,
    flops,
    passes,
    pilot,
    race,
    reduction,
    scaling,
    threads,
    waiting,
    walks,
)
from benchmarks.alternation import ContenderFailedError, Timer, alternate_timers
from benchmarks.compiled import GAMES, tree
from benchmarks.contenders import ROWS, Contender
from benchmarks.peers import environments
from benchmarks.processes import ProcessEndedError
from benchmarks.roofline import measured_machine, work_of
from benchmarks.targets import SHARE, TARGETS, ratio_row
from rlccfr.engine.reduced import quotient_for_passes
from rlccfr.envs.measuring.provenance import processor_model

RESULTS = Path(__file__).parent / "results"
SECTIONS = {
    "Peers as they come": defaults.report,
    "What symmetry gains": reduction.report,
    "What bundles gain": bundles.report,
    "Exact solutions": exact.report,
    "Where an exact iteration's time goes": passes.report,
    "Walks": walks.report,
    "Time as a user feels it": waiting.report,
    "Choosing": decisions.report,
    "Measuring all 336 on four games": pilot.report,
    "As games grow": scaling.report,
    "Threads": threads.report,
    "Published flops": flops.report,
}


def main() -> int:
    """Make the measurements that the command line asks for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--games", nargs="*", default=list(GAMES), choices=list(GAMES))
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--races", nargs="*", default=list(race.GAMES), choices=list(race.GAMES))
    parser.add_argument("--sections", nargs="*", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU seconds per contender and round")
    parser.add_argument("--rounds", type=int, default=7, choices=range(2, 100), metavar="2..99")
    parser.add_argument("--out", type=Path, default=RESULTS / f"{date.today()}.json")
    arguments = parser.parse_args()
    # Before the measurements, so that a broken environment does not cost their results.
    here = [name for name in environments.ENVIRONMENTS if not environments.why_missing(name)]
    peers = {name: environments.versions(name) for name in here}
    newer = environments.newer_releases(here)
    records = []
    for game in arguments.games:
        for row in arguments.rows:
            records.append(measure(row, game, arguments.seconds, arguments.rounds))
            print(line(records[-1]), file=sys.stderr, flush=True)
        records.append(roofline(game))
    for game in arguments.races:
        records += race.race(game)
        print(f"{game}, seconds to an exploitability: {records[-1]['ratio']:.3g}", file=sys.stderr, flush=True)
    command = " ".join(["python -m benchmarks", *sys.argv[1:]])
    report = {
        "command": command,
        "date": str(date.today()),
        "processor": processor_model(),
        "python": platform.python_version(),
        "peers": peers,
        "newer": newer,
        "rows": records,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1))
    print("\n".join(markdown(report)))
    for title in arguments.sections:
        print("\n".join(["", f"## {title}", "", *SECTIONS[title]()]), flush=True)
    return int(any(record.get("missed", False) for record in records))


def measure(row: str, game: str, seconds: float, rounds: int) -> dict[str, Any]:
    """Measure one row of the table on one game."""
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        timers = {}
        for contender in ROWS[row]:
            if game in contender.without:
                continue
            try:
                timers[contender.name] = started(contender, game, stack)
            except ProcessEndedError as error:
                failed[contender.name] = str(error)
        while True:
            try:
                rates = alternate_timers(timers, seconds, rounds)
                break
            except ContenderFailedError as error:  # the others are timed again, without it
                failed[error.name] = str(error)
                del timers[error.name]
    contenders = [contender for contender in ROWS[row] if contender.name in timers]
    record: dict[str, Any] = {"row": row, "game": game, "target": TARGETS[row][game], "failed": failed}
    record["per second"] = {contender.name: rates.mean(contender.name) for contender in contenders}
    record["spread"] = {name: float(found.max() / found.min()) for name, found in rates.per_second.items()}
    record["iteration"] = {contender.name: contender.iteration for contender in contenders}
    if len(contenders) > 1:
        peer = max((contender.name for contender in contenders[1:]), key=rates.mean)
        ratio, low, high = rates.ratio("rlccfr", peer)
        record |= {
            "peer": peer,
            "ratio": ratio,
            "low": low,
            "high": high,
            "missed": not low >= SHARE * TARGETS[row][game],
        }
    return record


def started(contender: Contender, game: str, stack: ExitStack) -> Timer:
    """Start a contender on a game until ``stack`` is closed; return its timer after a first iteration.

    Raises:
        ProcessEndedError: it is a peer whose environment could not be made, or whose process failed.
    """
    if contender.environment and (reason := environments.why_missing(contender.environment)):
        raise ProcessEndedError(reason)
    timer = stack.enter_context(contender.timer(game))
    timer(1)
    return timer


def roofline(game: str) -> dict[str, Any]:
    """Compare an exact iteration with what the machine could do."""
    work = work_of(quotient_for_passes(tree(game)) or tree(game))
    machine = measured_machine(work.bytes)
    solver = rlccfr.Solver(tree(game), "cfr_plus")
    race.engine_seconds(solver, 1)
    count = max(1, int(0.3 / race.engine_seconds(solver, 1)))
    seconds = min(race.engine_seconds(solver, count) for _ in range(5)) / count
    return {
        "row": "roofline", "game": game, "bytes": work.bytes, "operations": work.operations,
        "GB/s": machine.bytes_per_second / 1e9, "Gflop/s": machine.operations_per_second / 1e9,
        "seconds": seconds, "share": machine.seconds(work) / seconds,
    }  # fmt: skip


def line(record: dict[str, Any]) -> str:
    """Return a record as one line of text."""
    if "ratio" not in record:
        return f"{record['game']}, {record['row']}: {record['per second']}"
    return (
        f"{record['game']}, {record['row']}: {record['ratio']:.3g} times {record['peer']} "
        f"({record['low']:.3g} to {record['high']:.3g}; target {record['target']:g})"
    )


def about_peers(report: dict[str, Any]) -> list[str]:
    """Return the peers' versions, and what failed, as lines of Markdown."""
    lines = ["Each peer runs in an environment of its own (`python -m benchmarks.peers`):", ""]
    for name, held in report["peers"].items():
        lines.append(f"- {name}: {', '.join(f'{package} {version}' for package, version in held.items())}")
    failures = {
        f"{name} failed ({error})" for record in report["rows"] for name, error in record.get("failed", {}).items()
    }
    return [*lines, "", " ".join([*report["newer"], *(f"{failure}." for failure in sorted(failures))])]


def markdown(report: dict[str, Any]) -> list[str]:
    """Return the page up to its sections, as lines of Markdown."""
    lines = [
        "# Benchmarks",
        "",
        f"Written by `{report['command']}`; not edited by hand. "
        f"Measured on {report['date']}, on {report['processor']}, with Python {report['python']} and one thread unless "
        "stated, this engine and its peers in alternation. Rates are geometric means over the rounds. A target is "
        "missed if the lower end of the interval is below 0.7 of it; machines differ by as much. On Royal, OpenSpiel's "
        "solvers play another game, which forgets the order of public cards and has half the infosets. LiteEFG and "
        "noregret read the same game as this engine, whose passes run over its quotient where that saves time. "
        "OpenSpiel's solver in JAX is left out on Royal, where it prepares for minutes.",
        "",
        *about_peers(report),
        "",
        "## Rates",
        "",
        "| | game | rlccfr / s | fastest peer / s | ratio | 95 % interval | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in report["rows"]:
        if "peer" in record:
            lines.append(ratio_row(record))
    lines += [
        "",
        "## Compared with what the machine could do",
        "",
        "An exact iteration of CFR+ is compared with the least time that one core needs: the time to move the bytes "
        "that must be moved, or the time to do the operations, whichever is longer. Both are those of the quotient "
        "where passes run over it.",
        "",
        "| game | MB moved | GB/s | Gflop/s | us per iteration | share of the roofline |",
        "|---|---|---|---|---|---|",
    ]
    for record in report["rows"]:
        if record["row"] == "roofline":
            lines.append(
                f"| {record['game']} | {record['bytes'] / 1e6:.3g} | {record['GB/s']:.3g} | {record['Gflop/s']:.3g} | "
                f"{record['seconds'] * 1e6:.4g} | {record['share']:.2f} |"
            )
    return [*lines, *race.markdown(report["rows"])]


if __name__ == "__main__":
    sys.exit(main())
