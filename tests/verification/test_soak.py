"""Work that lasts needs no more memory in its second half than in its first."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from commands import rlccfr

from rlccfr import Solver
from rlccfr.agents import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs import LiveEvaluator
from rlccfr.errors import RLCCFRError
from rlccfr.games.names import load_game

MINUTES = {False: 3, True: 60}
"""Duration of each test, and at scale."""

RANDOM_MINUTES = 15

GROWTH = 1.1
"""Largest ratio of the halves' peaks: without a leak either may be the higher, and allocators keep some memory."""


def resident(process: psutil.Process) -> float:
    """Return the MiB of memory that a process and its children hold now."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def peaks(work: Iterator[None], minutes: float) -> tuple[int, float, float]:
    """Let work go on for some minutes; return its number of steps, and its peak of memory in each half.

    The first tenth does not count: kernels are compiled, and caches filled.
    """
    begin, steps, halves, process = time.monotonic(), 0, [0.0, 0.0], psutil.Process()
    for _ in work:
        passed = (time.monotonic() - begin) / (60 * minutes)
        if passed > 1:
            break
        steps += 1
        if passed > 0.1:
            half = int(passed > 0.55)
            halves[half] = max(halves[half], resident(process))
    else:
        pytest.fail(f"the work ended after {steps} steps")
    return steps, *halves


def training() -> Iterator[None]:
    """Train teams by live measurements."""
    evaluator, seed = LiveEvaluator(), 0
    while True:
        seed += 1
        team = SelectorTeam(
            "kuhn", {"unit": "iterations", "amount": 300}, catalog="tabular", evaluator=evaluator, seed=seed
        )
        for evaluations in range(5, 61, 5):
            team.train(evaluations)
            yield


def large_game(folder) -> Callable[[], Iterator[None]]:
    """Solve flop hold'em of seven ranks, and keep the run now and then."""

    def work() -> Iterator[None]:
        solver = Solver(load_game("holdem(ranks=7)"), "pdcfr_plus")
        while True:
            solver.run(iterations=20)
            solver.save(folder / "run.npz")
            yield

    return work


def sweeps(folder) -> Callable[[], Iterator[None]]:
    """Sweep over new seeds in processes that stay, as long as there is work."""

    def work() -> Iterator[None]:
        sweep = ("sweep", "kuhn", "goofspiel", "--catalog", "tabular", "--seeds", "100000", "--iterations", "1000",
                 "--seconds", "0", "--no-pilot", "--workers", "1", "--store", "store")  # fmt: skip
        process = rlccfr(folder, *sweep, stderr=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                time.sleep(1)
                yield
        finally:
            process.terminate()
            process.wait()

    return work


@pytest.mark.verify
@pytest.mark.parametrize("name", ["live training", "large game", "sweep"])
def test_a_soak_stays_within_its_memory(tmp_path, figures, at_scale, name):
    work = {"live training": training, "large game": large_game(tmp_path), "sweep": sweeps(tmp_path)}[name]
    steps, first, second = peaks(work(), MINUTES[at_scale])
    row = {"minutes": MINUTES[at_scale], "steps": steps, "MiB, first half at most": first, "second half": second}
    figures(f"A soak test: {name}", [row])
    assert 0 < second <= GROWTH * first


@pytest.mark.verify
def test_a_soak_of_random_algorithms_stays_within_its_memory(figures):
    """Random algorithms run on small games; the second half needs no more memory than the first."""
    cells, draws, failed = list(Catalog.extended().with_networks("sweep")), random.Random(0), []
    names = ("kuhn", "leduc", "goofspiel", "liars_dice(numdice=1,dice_sides=4)", "kuhn(cards=7)")
    games = [load_game(name) for name in names]

    def work() -> Iterator[None]:
        while True:
            solver = Solver(draws.choice(games), *draws.choice(cells), seed=draws.randrange(2**32))
            try:
                result = solver.run(seconds=draws.uniform(0.01, 1.0))
                assert 0 <= result.exploitability + 1e-9 <= solver.game.utility_range + 2e-9
            except RLCCFRError as error:
                failed.append(error)
            yield

    runs, first, second = peaks(work(), RANDOM_MINUTES)
    row = {"minutes": RANDOM_MINUTES, "runs": runs, "failed": len(failed)}
    figures("A soak test of random algorithms", [{**row, "MiB, first half at most": first, "second half": second}])
    assert not failed
    assert 0 < second <= GROWTH * first
