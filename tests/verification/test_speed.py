"""Iterations per second compared with OpenSpiel's C++ solvers, on one thread, in alternation."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pyspiel
import pytest
from support import game

import rlccfr

ROUNDS = 7


def rate(run, iterations: int) -> float:
    begin = time.process_time()
    run(iterations)
    return iterations / (time.process_time() - begin)


def compare(ours, theirs, iterations: int, their_iterations: int) -> dict:
    """Return median rates and the median of the rounds' ratios; the first round warms up."""
    pairs = np.array([(rate(ours, iterations), rate(theirs, their_iterations)) for _ in range(ROUNDS + 1)])[1:]
    ratios = pairs[:, 0] / pairs[:, 1]
    return {"rlccfr / s": float(np.median(pairs[:, 0])), "OpenSpiel C++ / s": float(np.median(pairs[:, 1])),
            "ratio": float(np.median(ratios)), "lowest": float(ratios.min()), "highest": float(ratios.max())}  # fmt: skip  # noqa: E501


@pytest.mark.verify
@pytest.mark.alone
def test_speed_on_leduc(figures):
    tree, spiel = game("leduc"), pyspiel.load_game("leduc_poker")
    exact, walks = rlccfr.Solver(tree, "cfr_plus"), rlccfr.Solver(tree, "cfr", "external")
    plus, external = pyspiel.CFRPlusSolver(spiel), pyspiel.ExternalSamplingMCCFRSolver(spiel, 1)

    def repeat(step):
        def run(iterations: int) -> None:
            for _ in range(iterations):
                step()

        return run

    rows = [
        {"what": "CFR+, exact"}
        | compare(lambda n: exact.run(iterations=n, curve=False), repeat(plus.evaluate_and_update_policy), 20_000, 40),
        {"what": "CFR, external sampling"}
        | compare(lambda n: walks.run(iterations=n, curve=False), repeat(external.run_iteration), 400_000, 10_000),
    ]
    figures("Speed on Leduc, one thread", rows, "In either library, an iteration updates each player once.")
    assert rows[0]["ratio"] >= 300
    assert rows[1]["ratio"] >= 25


@pytest.mark.verify
@pytest.mark.alone
def test_loading_royal(figures):
    code = (
        "import time; begin = time.perf_counter(); import rlccfr; rlccfr.load_game('royal');"
        "print(time.perf_counter() - begin); print(open('/proc/self/status').read())"
    )
    outs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(3)]
    seconds = [float(out.split()[0]) for out in outs]
    megabytes = max(int(out.split("VmHWM:")[1].split()[0]) / 1024 for out in outs)
    figures("Loading Royal", [{"seconds, median of 3": float(np.median(seconds)), "peak megabytes": megabytes}])
    assert np.median(seconds) < 5
    assert megabytes < 1000
