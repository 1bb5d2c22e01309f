from __future__ import annotations

import itertools
import logging
import statistics
import time
from dataclasses import replace

import pytest

from rlccfr import Solver
from rlccfr.envs import Budget, Cell, Evaluator, LiveEvaluator, MissingCellError, Request, Store, StoreError
from rlccfr.envs.measuring import identity as cells
from rlccfr.envs.measuring import timing
from rlccfr.envs.measuring.timing import LEAST_SECONDS, ROUNDS, Timed
from rlccfr.errors import RLCCFRError

EXACT = Cell("dcfr", "none", "none")
SAMPLED = Cell("cfr_plus", "external", "none")
PLAIN = Cell("cfr", "none", "none")
BUDGET = Budget("iterations", 60)


def request(*triples, **changes):
    return replace(Request("kuhn", triples, BUDGET, segments=len(triples)), **changes)


@pytest.fixture
def solvers(monkeypatch):
    """List of the solvers that evaluators made."""
    made = []

    class Counted(Solver):
        def __init__(self, *args, **kwargs):
            made.append(self)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr("rlccfr.solver.Solver", Counted)
    return made


def assert_equal(measured, result):
    """Assert that a measurement has a plain run's numbers, bit for bit."""
    assert measured.status == "ok"
    assert measured.exploitability == result.exploitability
    assert measured.nash_conv == result.nash_conv
    assert measured.iterations == result.iterations
    assert measured.nodes_touched == result.nodes_touched


@pytest.mark.parametrize("budget", [BUDGET, Budget("nodes", 5000)])
@pytest.mark.parametrize("cell", [EXACT, SAMPLED, Cell("ecfr", "average_strategy", "cfr_br")])
def test_a_measurement_is_the_plain_solvers(cell, budget):
    evaluator = LiveEvaluator()
    measured = evaluator.measure(request(cell, budget=budget, seed=4))
    solver = Solver(cells.compiled("kuhn"), *cell, seed=4)
    result = solver.run(**{budget.unit: int(budget.amount)})
    assert_equal(measured, result)
    curve = evaluator.result(measured.cell_id)["curve"]
    same = [name for name in curve if name != "cpu_seconds"]
    assert curve[same].equals(result.curve[same])


def test_a_second_call_runs_nothing(solvers):
    evaluator: Evaluator = LiveEvaluator()
    assert not evaluator.known(request(SAMPLED))
    first = evaluator.measure(request(SAMPLED))
    assert evaluator.known(request(SAMPLED))
    assert evaluator.measure(request(SAMPLED)) == first
    assert len(solvers) == 1
    evaluator.measure(request(SAMPLED, seed=1))
    assert len(solvers) == 2


def test_a_deterministic_cell_is_measured_for_one_seed(solvers):
    evaluator = LiveEvaluator()
    first = evaluator.measure(request(EXACT, seed=3))
    assert evaluator.measure(request(EXACT, seed=5)) == first
    assert len(solvers) == 1
    assert evaluator.result(first.cell_id)["seed"] == 0


def test_timing_lasts_and_is_compared_with_plain_cfr():
    evaluator, begin = LiveEvaluator(), time.thread_time()
    plain = evaluator.measure(request(Cell("cfr", "none", "none"), budget=Budget("iterations", 1000)))
    assert time.thread_time() - begin >= 2 * ROUNDS * LEAST_SECONDS
    assert evaluator.result(plain.cell_id)["timed_runs"] >= ROUNDS
    assert 1 / 3 < plain.throughput / plain.reference_throughput < 3  # the run is one of plain CFR itself


def test_a_short_run_has_the_throughput_of_its_median_round_and_the_mean_time_of_all(monkeypatch):
    rounds = [(4, Timed(4000, 0.04)), (2, Timed(2000, 0.04)), (3, Timed(3000, 0.05))]
    slices = [Timed(500, 0.02), Timed(500, 0.02), Timed(800, 0.02), Timed(600, 0.02)]  # before and after each round
    monkeypatch.setattr(timing, "time_again", lambda *_: rounds.pop(0))
    for name in ("slice", "alike"):
        monkeypatch.setattr(timing.ReferenceClock, name, lambda *_: slices.pop(0))
    evaluator = LiveEvaluator()
    measured = evaluator.measure(request(PLAIN, budget=Budget("iterations", 1000)))
    # Thousands of iterations per second: rounds make 100, 50 and 60, plain CFR 25, 40 and 30; ratio 2 is the median.
    assert measured.throughput == pytest.approx(60_000)
    assert measured.reference_throughput == pytest.approx(30_000)
    assert measured.cpu_seconds == pytest.approx(0.13 / 9)
    assert evaluator.result(measured.cell_id)["timed_runs"] == 9


def test_a_budget_of_seconds_is_run_once_and_just_so_long():
    evaluator = LiveEvaluator()
    measured = evaluator.measure(request(SAMPLED, budget=Budget("seconds", 0.03)))
    assert 0.03 <= measured.cpu_seconds < 0.06


@pytest.mark.slow
def test_speed_means_the_same_under_every_unit_of_budget():
    """Plain CFR has speed 1, also in a short run, which often stops for its curve."""
    evaluator, budgets = LiveEvaluator(reference_seconds=0.1), (Budget("seconds", 0.02), Budget("iterations", 20_000))
    ratios = []
    for game, budget in itertools.product(("kuhn", "leduc"), budgets):
        measured = evaluator.measure(Request(game, (PLAIN,), budget))
        ratios.append(measured.throughput / measured.reference_throughput)
    assert 0.6 < statistics.median(ratios) < 1.6


@pytest.mark.slow
def test_segments_equal_switching_by_hand(solvers):
    triples = (SAMPLED, Cell("dcfr", "external", "none"), Cell("dcfr", "none", "cfr_br"))
    solver = Solver(cells.compiled("kuhn"), *triples[0], seed=2)
    evaluator = LiveEvaluator()
    for count in (1, 2, 3):
        if count == 2:
            solver.switch(update_rule="dcfr")
        if count == 3:
            solver.switch(sampler="none", abstraction="cfr_br")
        result = solver.run(20)
        assert_equal(evaluator.measure(request(*triples[:count], segments=3, seed=2)), result)
    assert len(solvers) == 1  # the live solver continued
    assert_equal(LiveEvaluator().measure(request(*triples, segments=3, seed=2)), result)  # from the beginning
    assert len(solvers) == 2


def test_a_constant_triple_in_segments_equals_one_run():
    solver = Solver(cells.compiled("kuhn"), *SAMPLED, seed=2)
    evaluator = LiveEvaluator()
    for count in (1, 2, 3):
        measured = evaluator.measure(request(*[SAMPLED] * count, segments=3, seed=2))
    assert_equal(measured, solver.run(60))


@pytest.mark.slow
def test_a_branch_does_not_disturb_another(solvers):
    evaluator = LiveEvaluator()
    for second in (EXACT, SAMPLED):
        evaluator.measure(request(SAMPLED, segments=2))
        measured = evaluator.measure(request(SAMPLED, second, segments=2))
        assert_equal(measured, _by_hand(SAMPLED, second))
    assert len(solvers) == 2  # the second branch started again, because the first had used the live solver


@pytest.mark.slow
def test_a_sampled_segment_after_a_deterministic_one_has_its_own_seed():
    evaluator = LiveEvaluator()
    for seed in (1, 2):
        evaluator.measure(request(EXACT, segments=2, seed=seed))
        assert_equal(evaluator.measure(request(EXACT, SAMPLED, segments=2, seed=seed)), _by_hand(EXACT, SAMPLED, seed))


def _by_hand(first, second, seed=0):
    solver = Solver(cells.compiled("kuhn"), *first, seed=seed)
    solver.run(30)
    axes = zip(first._fields, first, second, strict=True)
    if changed := {axis: new for axis, old, new in axes if new != old}:
        solver.switch(**changed)
    return solver.run(30)


@pytest.mark.parametrize(
    ("rule", "status", "text"),
    [
        ("test_fails", "failed", "RuntimeError: the rule is broken"),
        ("test_hungry", "out_of_memory", "MemoryError: too large"),
        ("test_unmade", "failed", "ZeroDivisionError"),
        ("test_extra", "unavailable", "pip install"),
    ],
)
def test_what_goes_wrong_is_a_status(broken_rules, rule, status, text, tmp_path):
    evaluator = LiveEvaluator(tmp_path)
    measured = evaluator.measure(request(Cell(rule, "none", "none")))
    assert measured.status == status
    record = evaluator.result(measured.cell_id)
    assert text in record["error"]
    assert "Traceback" in record["traceback"]
    assert len(record["curve"]) == 0
    kept = Store(tmp_path).get(measured.cell_id)
    assert (kept is None) == (status == "unavailable")  # it may be available tomorrow
    assert LiveEvaluator(tmp_path).measure(request(SAMPLED)).ok


def test_a_number_that_is_none_is_a_failure(monkeypatch, tmp_path):
    class Lost(Solver):
        def run(self, *args, **kwargs):
            return replace(super().run(*args, **kwargs), exploitability=float("nan"))

    monkeypatch.setattr("rlccfr.solver.Solver", Lost)
    evaluator = LiveEvaluator(tmp_path)
    measured = evaluator.measure(request(SAMPLED))
    assert measured.status == "failed"
    assert "exploitability is nan" in evaluator.result(measured.cell_id)["error"]


def test_an_unsound_combination_is_unavailable(broken_rules):
    assert LiveEvaluator().measure(request(Cell("test_exact_only", "external", "none"))).status == "unavailable"
    assert LiveEvaluator().measure(request(Cell("test_exact_only", "none", "none"))).ok


def test_a_failed_segment_fails_the_rest_without_a_run(broken_rules, solvers):
    evaluator = LiveEvaluator()
    bad = Cell("test_fails", "none", "none")
    evaluator.measure(request(bad, segments=2))
    measured = evaluator.measure(request(bad, EXACT, segments=2))
    assert measured.status == "failed"
    assert "segment 1" in evaluator.result(measured.cell_id)["error"]
    assert len(solvers) == 1


def test_failed_cells_are_retried_only_on_request(broken_rules, tmp_path, solvers):
    bad = request(Cell("test_fails", "none", "none"))
    for retry_failed, runs in ((False, 1), (False, 1), (True, 2)):
        assert LiveEvaluator(tmp_path, retry_failed=retry_failed).measure(bad).status == "failed"
        assert len(solvers) == runs


def test_an_interrupt_passes_and_what_was_measured_stays(broken_rules, tmp_path):
    evaluator = LiveEvaluator(tmp_path)
    done = evaluator.measure(request(SAMPLED, segments=2))
    with pytest.raises(KeyboardInterrupt):
        evaluator.measure(request(SAMPLED, Cell("test_interrupted", "external", "none"), segments=2))
    assert Store(tmp_path).ids() == [done.cell_id]
    assert_equal(evaluator.measure(request(SAMPLED, EXACT, segments=2)), _by_hand(SAMPLED, EXACT))


def test_an_interrupt_that_a_library_tells_as_its_own_error_is_no_result(monkeypatch, tmp_path):
    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr("rlccfr.envs.measuring.live.measured_solver", interrupted)
    evaluator = LiveEvaluator(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        evaluator.measure(request(SAMPLED))
    assert len(evaluator.frame()) == len(Store(tmp_path)) == 0


def test_the_store_answers_another_process(tmp_path, solvers):
    first = LiveEvaluator(tmp_path).measure(request(SAMPLED))
    again = LiveEvaluator(str(tmp_path))
    assert again.known(request(SAMPLED))
    assert again.measure(request(SAMPLED)) == first
    assert len(solvers) == 1
    assert again.frame()["cell_id"].tolist() == [first.cell_id]


def test_a_damaged_cell_is_measured_again(tmp_path, caplog, solvers):
    requests = [request(SAMPLED), request(EXACT)]
    ids = [LiveEvaluator(tmp_path).measure(each).cell_id for each in requests]
    (tmp_path / f"{ids[0]}.json").write_text("{half")
    evaluator = LiveEvaluator(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert [evaluator.measure(each).cell_id for each in requests] == ids
    assert len(caplog.records) == 1
    assert len(solvers) == 3
    assert evaluator.store.missing(ids) == []


def test_wrong_requests_are_one_line(tmp_path):
    evaluator = LiveEvaluator()
    for wrong in (
        request(SAMPLED, game="kuhm"),
        request(Cell("cfr_pluss", "none", "none")),
        request(SAMPLED, segments=61),
        request(),
    ):
        with pytest.raises(RLCCFRError) as error:
            evaluator.measure(wrong)
        assert "\n" not in str(error.value)
    with pytest.raises(MissingCellError, match="no measurement has the id 'xyz'"):
        evaluator.result("xyz")


def test_segments_together_spend_the_budget_and_no_more():
    budget, passes = Budget("nodes", 1000), 2 * cells.compiled("kuhn").num_histories
    touched = [
        LiveEvaluator().measure(Request("kuhn", (PLAIN,) * segments, budget, segments)).nodes_touched
        for segments in (1, 4)
    ]
    assert all(1000 <= nodes < 1000 + passes for nodes in touched)


def test_what_could_not_be_written_is_written_later(tmp_path, monkeypatch):
    evaluator = LiveEvaluator(tmp_path)

    def full(*arguments):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(evaluator.store, "put", full)
        with pytest.raises(StoreError):
            evaluator.measure(request(PLAIN))
    assert not len(evaluator.store)
    measured = evaluator.measure(request(PLAIN))
    assert evaluator.store.get(measured.cell_id)["throughput"] == measured.throughput


def test_of_two_processes_the_first_to_write_counts(tmp_path, monkeypatch):
    slow, fast = LiveEvaluator(tmp_path), LiveEvaluator(tmp_path)
    attempt = slow._attempt

    def overtaken(*arguments):
        fast.measure(request(PLAIN))
        return attempt(*arguments)

    monkeypatch.setattr(slow, "_attempt", overtaken)
    assert slow.measure(request(PLAIN)) == fast.measure(request(PLAIN))


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_reference_takes_some_time(seconds):
    with pytest.raises(RLCCFRError, match="reference_seconds must be positive"):
        LiveEvaluator(reference_seconds=seconds)


def test_a_run_goes_on_under_a_larger_budget_if_it_is_kept():
    evaluator, forgetful = LiveEvaluator(keep_runs=1), LiveEvaluator()
    cell = Cell("lcfr", "external", "none")
    requests = [Request("kuhn", (cell,), Budget("iterations", amount), seed=3) for amount in (50, 200)]
    found = [evaluator.measure(request) for request in requests]
    expected = [forgetful.measure(request) for request in requests]
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.iterations, ours.exploitability) == (theirs.iterations, theirs.exploitability)
    (run,) = evaluator._kept_runs.values()
    assert run.result.iterations == 200
    other = evaluator.measure(replace(requests[0], seed=4))  # a smaller budget, and another seed
    assert other.iterations == 50
    assert evaluator.measure(replace(requests[1], seed=4)).iterations == 200


@pytest.mark.parametrize("keep_runs", [0, 1])
def test_the_next_segment_continues_the_run(solvers, keep_runs):
    evaluator = LiveEvaluator(keep_runs=keep_runs)
    for count in (1, 2, 3):
        measured = evaluator.measure(request(*[SAMPLED] * count, segments=3, seed=2))
    assert (measured.status, measured.iterations) == ("ok", 60)
    assert len(solvers) == 1
    assert not evaluator._live
