"""Flops beside the figures that other programs print."""

from __future__ import annotations

import hashlib

import pytest
from subgames import RIVER

import rlccfr
from benchmarks import flops
from rlccfr.experiments.public_files import PublicFile


def test_a_flop_is_measured_beside_printed_figures(monkeypatch):
    """With a river in the flop's place."""
    monkeypatch.setattr(flops, "FAST", RIVER)
    row = flops.measure("3betpotFAST")
    assert row["share"] <= flops.TARGETS["3betpotFAST"]
    assert 0.0 < row["bytes"] < row["peak"]
    assert row["value_to"] - row["value_from"] == pytest.approx(2 * row["share"] * RIVER["pot"], rel=1e-6)
    finer = flops.measure("3betpotFAST", 1e-4)
    assert finer["share"] <= 1e-4
    assert row["value_from"] <= finer["value_to"]
    assert finer["value_from"] <= row["value_to"]
    monkeypatch.setattr(flops, "alone", lambda title: {**row, "title": title})
    lines = flops.report()
    (here,) = [line for line in lines if line.startswith("| 3betpotFAST | rlccfr")]
    assert here.count("|") == lines[0].count("|")
    assert lines[-1].endswith("chips; PioSOLVER prints 105.11.")
    (printed,) = [line for line in lines if line.startswith("| 3betpotFAST | TexasSolver")]
    assert printed.split(" | ")[2:] == ["0.5 %", "6, Ryzen 7 3700X", "103.5", "2.84 GB |"]


def test_texas_solvers_spot_is_read_from_its_own_file(monkeypatch, tmp_path):
    text = "set_pot 10\nset_effective_stack 20\nset_board Qs,Jh,2h,3c,4d\nset_range_oop AA\nset_range_ip KK\n"
    text += "set_bet_sizes oop,river,bet,50\nset_thread_num 6\n"
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    file = PublicFile("spot.txt", "http://127.0.0.1:9/spot.txt", hashlib.sha256(text.encode()).hexdigest())
    monkeypatch.setattr(flops, "TEXAS_SOLVER", file)
    with pytest.raises(rlccfr.RLCCFRError, match="save it as"):
        flops.measure("TexasSolver's flop")
    file.path.write_text(text)
    assert flops.measure("TexasSolver's flop")["share"] <= flops.TARGETS["TexasSolver's flop"]
