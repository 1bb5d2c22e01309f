"""Measurements that are kept under version control until they are whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import game

from benchmarks import so_far
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.plan import Limits, jobs
from rlccfr.envs.sweeping.worker import measure

MAKEFILE = Path(__file__).parents[2] / "Makefile"


@pytest.mark.parametrize("swept", so_far.KEPT)
def test_runs_saved_count_as_done_elsewhere(tmp_path, monkeypatch, swept):
    name, budgets = so_far.KEPT[swept]
    monkeypatch.setattr(so_far, "KEPT", {tmp_path / place: (name, budgets) for place in ("here", "there")})
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    planned = jobs({game("kuhn").name: range(1)}, catalog, limits=Limits(50, 0.01))
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


def test_a_measurement_begins_with_what_is_kept():
    lines = MAKEFILE.read_text().split("measure: install\n")[1].splitlines()
    assert lines[0] == "\t$(BIN)/python -m benchmarks.so_far load"
