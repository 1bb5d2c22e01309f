"""Python's garbage collector does not run while the engine is timed, and runs again afterwards."""

from __future__ import annotations

import gc
import threading
import time

import pytest
from support import game

import rlccfr
from rlccfr.engine.engine import Engine
from rlccfr.garbage import collector_paused


@pytest.fixture
def collecting(monkeypatch):
    """Return a list that gets, with each reading of the clock, whether the collector may run."""
    readings = []
    clock = time.thread_time
    monkeypatch.setattr(time, "thread_time", lambda: readings.append(gc.isenabled()) or clock())
    return readings


def test_no_garbage_is_collected_while_a_run_is_timed(collecting):
    rlccfr.Solver(game("kuhn"), "cfr", blend=True).run(iterations=100)  # passes and blends
    solver = rlccfr.Solver(game("kuhn"), "cfr", "external")
    solver.run(iterations=10)
    solver.switch(abstraction="rcfr")  # a fit to the tables
    assert len(collecting) > 8
    assert not any(collecting)
    assert gc.isenabled()


def test_garbage_is_collected_again_after_ctrl_c(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    solver = rlccfr.Solver(game("kuhn"), "cfr")
    monkeypatch.setattr(Engine, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solver.run(iterations=10)
    assert gc.isenabled()


def test_blocks_may_be_nested_and_leave_a_disabled_collector_disabled():
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_blocks_of_two_threads_that_overlap_leave_the_collector_on():
    begun, ended = threading.Event(), threading.Event()

    def other():
        with collector_paused():
            begun.set()
            ended.wait()

    thread = threading.Thread(target=other)
    with collector_paused():
        thread.start()
        begun.wait()
    assert gc.isenabled()
    ended.set()
    thread.join()
    assert gc.isenabled()
