"""Peers in environments of their own: their processes, and the files from which they read games."""

from __future__ import annotations

import io
import json
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support import game

import rlccfr
from benchmarks import contenders
from benchmarks.__main__ import about_peers, started
from benchmarks.compiled import spiel
from benchmarks.contenders import openspiel, peer_process
from benchmarks.peers import environments, game_files
from benchmarks.processes import ProcessEndedError


@pytest.fixture
def peers_here(monkeypatch):
    """Let peers' processes use this environment, which has OpenSpiel."""
    monkeypatch.setattr(environments, "python_of", lambda name: Path(sys.executable))


def test_a_peer_runs_in_a_process_of_its_own(peers_here):
    solver = ["CFRPlusSolver", "evaluate_and_update_policy"]
    with peer_process("openspiel", "openspiel", [str(spiel("kuhn")), *solver]) as ask:
        assert float(ask("cpu 50")) > 0
        assert float(ask("wall 50")) > 0
        theirs = float(ask("exploitability"))
    ours = rlccfr.Solver(game("kuhn"), "cfr_plus").run(iterations=100, curve=False).exploitability
    assert theirs == pytest.approx(ours, rel=0.5)


def test_a_peer_that_fails_is_named_with_its_error(peers_here):
    solver = openspiel("NoSuchSolver", "iterate", "one iteration")
    with ExitStack() as stack, pytest.raises(ProcessEndedError, match="has no attribute 'NoSuchSolver'"):
        started(solver, "kuhn", stack)
    report = {
        "peers": {"openspiel": {"open_spiel": "2.0.2", "Python": "3.13.0"}},
        "newer": ["LiteEFG 9 is out; 1.0.0 was measured."],
        "rows": [{"failed": {"noregret": "no wheel"}}, {"failed": {"noregret": "no wheel"}}],
    }
    assert about_peers(report)[2:] == [
        "- openspiel: open_spiel 2.0.2, Python 3.13.0",
        "",
        "LiteEFG 9 is out; 1.0.0 was measured. noregret failed (no wheel).",
    ]


def test_a_peer_without_an_environment_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    assert environments.why_missing("liteefg") == "not installed; run `python -m benchmarks.peers`"
    (tmp_path / "liteefg").mkdir()
    (tmp_path / "liteefg" / environments.ERROR).write_text("ERROR: no matching distribution\n")
    assert environments.why_missing("liteefg") == "ERROR: no matching distribution"


def test_each_contender_names_an_environment_that_exists():
    named = {one.environment for row in contenders.ROWS.values() for one in row} - {""}
    assert named <= set(environments.ENVIRONMENTS)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_noregrets_file_has_the_game(name):
    """The payoff matrix gives the value of the uniform policy for the sequence form of the file's decisions."""
    data = json.loads(game_files.noregret_json(game(name)))
    payoffs = sparse.load_npz(io.BytesIO(bytes.fromhex(data["payoffs"])))
    plans = []
    for polytope in data["sequence_form_polytopes"]:
        reach = {None: 1.0}
        for infoset, actions in polytope["actions"].items():
            parent = polytope["parent_sequences"][infoset]
            before = reach[parent if parent is None else tuple(parent)]
            reach |= {(infoset, action): before / len(actions) for action in actions}
        plans.append(np.array(list(reach.values())))
    value = plans[0] @ payoffs @ plans[1]
    assert value == pytest.approx(rlccfr.Policy.uniform(game(name)).values().game[0], abs=1e-12)
