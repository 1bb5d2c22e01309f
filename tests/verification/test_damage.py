"""A damaged file gives an error of one line or its old content: never other numbers, a hang or a crash."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support import engine_state

from rlccfr import Solver, load_game
from rlccfr.agents import Hyperparameters, SelectorTeam
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.record import fingerprint
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.errors import RLCCFRError

CHANGES = 1500
"""Number of damaged versions per kind of file."""


def changed(data: bytes, draws: random.Random) -> tuple[str, bytes]:
    """Damage a file as a disk or a person might: flip a bit, cut the end off, overwrite a piece or leave it out."""
    at, kind = draws.randrange(len(data)), draws.choice(("bit", "bit", "cut", "overwritten", "left out"))
    if kind == "bit":
        return kind, data[:at] + bytes([data[at] ^ (1 << draws.randrange(8))]) + data[at + 1 :]
    if kind == "cut":
        return kind, data[:at]
    length = draws.randint(1, 64)
    new = draws.randbytes(length) if kind == "overwritten" else b""
    return kind, data[:at] + new + data[at + length :]


def solver(update_rule):
    def make(folder):
        made = Solver(load_game("kuhn"), update_rule, "external")
        made.run(iterations=5)
        made.save(folder / "solver.npz")
        return folder / "solver.npz"

    return make


def solver_says(path):
    loaded = Solver.load(path)
    return {**engine_state(loaded), "points": np.array(loaded.points), "seconds": np.array(loaded.cpu_seconds)}


def team(folder):
    made = SelectorTeam(
        "kuhn", {"unit": "iterations", "amount": 5}, catalog="tabular",
        hyperparameters=Hyperparameters(hidden=(4,), batch_size=4, settling=1),
    )  # fmt: skip
    made.train(3)
    return made.save(folder)


def team_says(path):
    loaded = SelectorTeam.load(path)
    for selector in loaded.selectors:
        _ = selector.model  # makes the model, from which learning continues
    found = {f"{number}/{name}": array for number, selector in enumerate(loaded.selectors)
             for name, array in (selector.state() | selector.learning()).items()}  # fmt: skip
    return found | loaded.experience.to_arrays()


def table(folder):
    for rule in ("cfr", "dcfr"):
        request = Request("kuhn", (Cell(rule, "none", "none"),), Budget("iterations", 5))
        LiveEvaluator(folder / "store").measure(request)
    return Store(folder / "store").compact(folder / "table.parquet")


def table_says(path):
    TableEvaluator(path)
    return {"all": np.array(fingerprint(load_results(path)))}


def record(folder):
    table(folder)
    return min((folder / "store").glob("*.json"))


def record_says(path):
    found = Store(path.parent).get(path.stem)
    if found is None:  # the file was set aside, and a sweep measures the run again
        path.with_name(path.name + ".corrupt").unlink()
        raise RLCCFRError("set aside")
    return {"all": np.array(repr(found))}


KINDS = {
    "checkpoint of a solver": (solver("ecfr"), solver_says),
    "checkpoint with networks": (solver("deep_cfr(preset='sweep')"), solver_says),
    "team": (team, team_says),
    "record of a store": (record, record_says),
    "table": (table, table_says),
}


@pytest.mark.verify
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_an_error_or_what_it_was(tmp_path, figures, kind):
    make, says = KINDS[kind]
    path = make(tmp_path)
    data, expected, draws = path.read_bytes(), says(path), random.Random(kind)
    counts = {"errors of one line": 0, "as it was": 0}
    for _ in range(CHANGES):
        how, other = changed(data, draws)
        path.write_bytes(other)
        try:
            found = says(path)
        except RLCCFRError as error:
            assert "\n" not in str(error), how  # noqa: PT017
            counts["errors of one line"] += 1
            continue
        assert found.keys() == expected.keys(), how
        assert all(np.array_equal(found[name], expected[name], equal_nan=found[name].dtype.kind == "f")
                   for name in expected), how  # fmt: skip
        counts["as it was"] += 1
    figures(f"Damaged file: {kind}", [{"bytes": len(data), "changed": CHANGES, **counts, "other numbers": 0}])
    assert counts["errors of one line"] > CHANGES / 2
