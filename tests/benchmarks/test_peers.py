"""Peers in environments of their own: their processes, and the files from which they read games."""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support import game

import rlccfr
from benchmarks import contenders, defaults, race
from benchmarks.__main__ import about_peers, measure, started
from benchmarks.compiled import spiel
from benchmarks.contenders import Contender, in_this_process, openspiel, peer_process
from benchmarks.peers import environments, game_files, server
from benchmarks.processes import ProcessEndedError, answering


@pytest.fixture
def peers_here(monkeypatch):
    """Let peers' processes use this environment, which has OpenSpiel."""
    monkeypatch.setattr(environments, "python_of", lambda name: Path(sys.executable))
    monkeypatch.setattr(environments, "why_missing", lambda name: None)


def test_a_peer_runs_in_a_process_of_its_own(peers_here):
    solver = ["CFRPlusSolver", "evaluate_and_update_policy"]
    with peer_process("openspiel", "openspiel", [str(spiel("kuhn")), *solver]) as ask:
        assert float(ask("cpu 50")) > 0
        assert float(ask("wall 50")) > 0
        theirs = float(ask("exploitability"))
    ours = rlccfr.Solver(game("kuhn"), "cfr_plus", averaging="pre").run(iterations=100, curve=False)
    assert theirs == pytest.approx(ours.exploitability, rel=1e-9)


def program(text: str) -> list[str]:
    """Return the command for a Python program."""
    return [sys.executable, "-c", text]


def test_much_standard_error_does_not_stop_a_process(tmp_path):
    flood = "import sys\nfor line in sys.stdin: print('x' * 100_000, file=sys.stderr); print(line.strip(), flush=True)"
    with answering(program(flood), tmp_path) as ask:
        assert [ask("one"), ask("two")] == ["one", "two"]


def test_a_process_that_has_ended_gives_its_last_error_and_status(tmp_path):
    for text, answers in (("import sys; sys.exit('out of luck')", 0), ("print(input()); raise SystemExit(3)", 1)):
        with answering(program(text), tmp_path) as ask:
            for _ in range(answers):
                assert ask("1") == "1"
            time.sleep(0.5)  # so that the process has ended before it is asked
            with pytest.raises(ProcessEndedError, match=r"(luck; exit status 1|message; exit status 3)$"):
                ask("2")


def test_a_peer_that_fails_while_it_is_timed_is_left_out(monkeypatch):
    """The others of its row are timed again."""

    @contextmanager
    def dying(game):
        calls = iter(range(3))

        def timer(count):
            if next(calls, None) is None:
                raise ProcessEndedError("killed; exit status -9")
            return 0.2 * count

        yield timer

    row = [in_this_process("rlccfr", "a sum", lambda game: sum_up), Contender("peer", "a sum", dying)]
    monkeypatch.setitem(contenders.ROWS, "CFR+, exact", row)
    record = measure("CFR+, exact", "kuhn", 0.01, 2)
    assert record["failed"] == {"peer": "killed; exit status -9"}
    assert list(record["per second"]) == ["rlccfr"]


def sum_up(count: int) -> None:
    """Do some work ``count`` times."""
    for _ in range(count):
        sum(range(100))


def test_a_peer_that_fails_is_named_with_its_error(peers_here):
    solver = openspiel("NoSuchSolver", "iterate", "one iteration")
    with ExitStack() as stack, pytest.raises(ProcessEndedError, match="has no attribute 'NoSuchSolver'; exit status 1"):
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
    (tmp_path / "liteefg").mkdir()
    assert environments.why_missing("liteefg") == "not installed; run `python -m benchmarks.peers`"
    (tmp_path / "liteefg" / environments.COMPLETE).touch()
    assert environments.why_missing("liteefg") is None
    (tmp_path / "liteefg" / environments.ERROR).write_text("ERROR: no matching distribution\n")
    assert environments.why_missing("liteefg") == "ERROR: no matching distribution"


def test_each_contender_names_an_environment_and_a_job_that_exist(monkeypatch):
    asked = []

    @contextmanager
    def noted(environment, job, arguments):
        asked.append((environment, job))
        yield lambda line: "1"

    for module in (contenders, race, defaults):
        monkeypatch.setattr(module, "peer_process", noted)
    monkeypatch.setattr(environments, "why_missing", lambda name: None)
    for row in contenders.ROWS.values():
        for contender in row:
            if contender.environment:
                with contender.timer("kuhn") as timer:
                    timer(1)
    with race.peers("kuhn"):
        pass
    for way, (environment, *_) in defaults.WAYS.items():
        if environment:
            defaults.measured(way, "leduc")
    assert {environment for environment, _ in asked} == set(environments.ENVIRONMENTS)
    assert {job for _, job in asked} == set(server.JOBS)


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
