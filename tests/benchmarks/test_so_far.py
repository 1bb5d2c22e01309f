"""Measurements that are kept under version control until they are whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import game

from benchmarks import so_far
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping import plan
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.worker import measure

CATALOG = Catalog(("cfr", "dcfr"), ("none",), ("none",))
MAKEFILE = Path(__file__).parents[2] / "Makefile"


def runs_of(name: str) -> list[Job]:
    return jobs({game(name).name: range(1)}, CATALOG, limits=Limits(50, 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("swept", so_far.KEPT)
def test_runs_saved_count_as_done_elsewhere(tmp_path, monkeypatch, swept):
    name, budgets, _ = so_far.KEPT[swept]
    planned = runs_of("kuhn")
    kept = (name, budgets, lambda store: planned)
    monkeypatch.setattr(so_far, "KEPT", {tmp_path / place: kept for place in ("here", "there")})
    here, there = (Store(tmp_path / place) for place in ("here", "there"))
    for job in planned:
        here.put(measure(job))
    so_far.save(tmp_path / "here", tmp_path)
    so_far.load(tmp_path / "there", tmp_path)
    assert set(there.ids()) == {job.id for job in planned}
    for job in planned:
        first, again = here.get(job.id), there.get(job.id)
        assert again["exploitability"] == first["exploitability"]
        assert len(again["curve"]["iteration"]) <= len(first["curve"]["iteration"])
    once = (tmp_path / name).read_bytes()
    so_far.save(tmp_path / "there", tmp_path)
    assert (tmp_path / name).read_bytes() == once


@pytest.mark.slow
def test_one_processor_measures_all_of_a_game(tmp_path, monkeypatch):
    name, budgets, _ = so_far.KEPT[so_far.SWEPT]
    whole, partial = runs_of("kuhn"), runs_of("goofspiel")
    monkeypatch.setattr(so_far, "KEPT", {tmp_path / "there": (name, budgets, lambda store: [*whole, *partial])})
    here, there = (Store(tmp_path / place) for place in ("here", "there"))
    elsewhere = [replace(job, processor="another") for job in (*whole, partial[0])]
    for job in elsewhere:
        here.put({**measure(job), "processor": "another"})
    here.compact(tmp_path / name, small=True)
    so_far.load(tmp_path / "there", tmp_path)
    assert {there.get(job.id)["processor"] for job in whole} == {"another"}
    assert all(there.get(job.id) is None for job in partial)
    assert set(there.ids()) == {*(job.id for job in whole), elsewhere[-1].id}  # what is in part there stays
    before = {job.id: there.get(job.id) for job in whole}
    so_far.load(tmp_path / "there", tmp_path)
    assert {job.id: there.get(job.id) for job in whole} == before


def test_runs_are_handed_on_from_processor_to_processor(tmp_path, monkeypatch):
    """The second processor's file has the first one's ids, and so the third finds them."""
    name, budgets, _ = so_far.KEPT[so_far.SWEPT]
    places = {place: tmp_path / place for place in ("first", "second", "third")}
    for place in places:
        with monkeypatch.context() as patch:
            patch.setattr(plan, "processor_model", lambda place=place: place)
            patch.setattr(so_far, "processor_model", lambda place=place: place)
            planned = [replace(job, processor=place) for job in runs_of("kuhn")]
            patch.setattr(so_far, "KEPT", {places[place]: (name, budgets, lambda store, planned=planned: planned)})
            if place == "first":
                for job in planned:
                    Store(places[place]).put({**measure(job), "processor": place})
            so_far.load(places[place], tmp_path)
            assert {Store(places[place]).get(job.id)["processor"] for job in planned} == {"first"}
            so_far.save(places[place], tmp_path)


@pytest.mark.slow
def test_a_part_measured_here_gives_way_to_a_whole_measured_elsewhere(tmp_path, monkeypatch):
    name, budgets, _ = so_far.KEPT[so_far.SWEPT]
    planned = runs_of("kuhn")
    monkeypatch.setattr(so_far, "KEPT", {tmp_path / "here": (name, budgets, lambda store: planned)})
    here, elsewhere = Store(tmp_path / "here"), Store(tmp_path / "elsewhere")
    for job in (replace(job, processor="another") for job in planned):
        elsewhere.put({**measure(job), "processor": "another"})
    elsewhere.compact(tmp_path / name, small=True)
    here.put(measure(planned[0]))
    so_far.load(tmp_path / "here", tmp_path)
    assert {here.get(job.id)["processor"] for job in planned} == {"another"}


@pytest.mark.slow
def test_what_was_measured_here_in_whole_stays(tmp_path, monkeypatch):
    name, budgets, _ = so_far.KEPT[so_far.SWEPT]
    planned = runs_of("kuhn")
    monkeypatch.setattr(so_far, "KEPT", {tmp_path / "here": (name, budgets, lambda store: planned)})
    here, both = Store(tmp_path / "here"), Store(tmp_path / "both")
    for job in planned:
        here.put(measure(job))
    for job in (replace(job, processor="another") for job in planned):
        both.put({**measure(job), "processor": "another"})
    both.compact(tmp_path / name, small=True)
    so_far.load(tmp_path / "here", tmp_path)
    assert "another" not in {here.get(job.id)["processor"] for job in planned}


def test_a_measurement_begins_with_what_is_kept():
    lines = MAKEFILE.read_text().split("measure: install\n")[1].splitlines()
    assert lines[0] == "\t$(BIN)/python -m benchmarks.so_far load"
