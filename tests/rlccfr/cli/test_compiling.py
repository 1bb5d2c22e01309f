"""Compilation of all kernels ahead of time; jobs are fakes, except where a test is slow."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from graphlib import TopologicalSorter

import pytest

from rlccfr.cli import compiling
from rlccfr.cli.compiling import Job, all_jobs, jobs_for, run_jobs
from rlccfr.errors import RLCCFRError
from rlccfr.kernels.jit import UNJITTED

RUNS = """
from rlccfr import Policy, Solver, load_game
from rlccfr.games.public import view
from rlccfr.kernels.counting import compiled_kernels
from rlccfr.policies.matches import played_match
tiny = "holdem(ranks=4,suits=2,private=2,flop=2)"
with compiled_kernels() as names:
    kuhn = load_game("kuhn")
    for rule, sampler, abstraction in (
        ("hedge", "none", "none"),
        ("ecfr", "average_strategy", "cfr_br"),
        ("deep_dcfr(preset='sweep')", "none", "rcfr"),
        ("pdcfr_plus", "probing", "none"),
        ("controlled", "none", "none"),
    ):
        Solver(kuhn, rule, sampler, abstraction).run(iterations=5)
    Solver(load_game("leduc"), "dcfr", threads=2, blend=True).run(iterations=100)
    played_match(Policy.uniform(kuhn), Policy.uniform(kuhn), kuhn, pairs=10)
    for view.LARGE in (1, view.LARGE):
        for settings in (
            {"threads": 2},
            {"sampler": "chance"},
            {"abstraction": "equity(buckets=2)"},
            {"blend": True},
        ):
            solver = Solver(load_game(tiny), "pdcfr_plus", **settings)
            solver.run(iterations=5)
            solver.average_policy().values()
print(names)
"""
"""Runs of all kinds, other than those with which kernels are compiled ahead of time."""


def test_every_kernel_with_a_signature_has_a_job_and_no_job_waits_for_itself():
    jobs = all_jobs()
    assert set(compiling.SECONDS) <= set(jobs)
    assert {"rlccfr.kernels.learning.adam", "algorithms", "draws, large"} <= set(jobs)
    order = tuple(TopologicalSorter({name: job.after for name, job in jobs.items()}).static_order())
    assert set(order) == set(jobs)
    assert jobs_for(compiling.KINDS) == jobs
    assert {job.kind for job in jobs_for(["trees"]).values()} == {"trees"}
    assert {job.kind for job in jobs_for(["large"]).values()} == {"trees", "large"}
    assert order.index("rlccfr.kernels.passes.exact_iterations") < order.index("algorithms")


def test_jobs_run_side_by_side_each_after_those_that_it_needs():
    begun, together, shares = [], threading.Barrier(2, timeout=60), []

    def begin(name, waits=False):
        begun.append(name)
        if waits:
            together.wait()

    jobs = {
        "short": Job("trees", begin, ("short",), 1),
        "long": Job("trees", begin, ("long", True), 9),
        "middle": Job("trees", begin, ("middle", True), 5),
        "last": Job("trees", begin, ("last",), 20, frozenset({"short", "long"})),
    }
    with ThreadPoolExecutor(2) as executor:
        assert run_jobs(jobs, executor, 2, shares.append) == 0  # they have compiled nothing
    assert set(begun[:2]) == {"long", "middle"}
    assert begun[2:] == ["short", "last"]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_a_job_that_fails_is_named():
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(RLCCFRError, match=r"the kernels of broken can't be compiled: ZeroDivisionError: division by"),
    ):
        run_jobs({"broken": Job("trees", lambda: 1 / 0, (), 1)}, executor, 1, lambda share: None)


@pytest.mark.slow
@pytest.mark.skipif(UNJITTED, reason="nothing is compiled")
def test_after_it_no_run_compiles_a_kernel_of_the_library(run):
    assert run("doctor", "--compile")[0] == 0
    line = next(line for line in run("doctor", "--compile")[1].splitlines() if line.startswith("compilation"))
    assert "nothing to do" in line
    ended = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
