"""Files of each kind, as a version wrote them: ``python -m tests.helpers.released`` writes those of this version.

Before a release, they are written again when a format changes; after it, never.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np

import rlccfr
from rlccfr.agents import Hyperparameters, SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs import Budget, Cell, LiveEvaluator, Request, Store

FOLDER = Path(__file__).parent / "released_files"
POLICIES = ("policy.csv", "policy.json", "policy.npz", "policy.efg")
PUBLIC = "holdem(ranks=3,suits=2,private=1,flop=1)"
CATALOG = Catalog(("cfr", "cfr_plus"), ("external", "none"), ("none",))
BUDGET = Budget("iterations", 20)


def write(folder: Path) -> None:
    """Write a file of each kind, and what reading them must give."""
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", "external", seed=1)
    solver.run(iterations=10)
    solver.save(folder / "run.npz")
    policy = solver.average_policy()
    for name in POLICIES:
        policy.save(folder / name)
    game = rlccfr.load_game(PUBLIC)
    public = rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences))
    public.save(folder / "public.npz")
    store = Store(folder / "store")
    measured = LiveEvaluator(store).measure(Request("kuhn", (Cell("dcfr", "none", "none"),), BUDGET))
    store.compact(folder / "measurements.parquet")
    team = SelectorTeam("kuhn", BUDGET, catalog=CATALOG, hyperparameters=Hyperparameters(hidden=(4,)))
    team.train(evaluations=2)
    team.save(folder)
    expected = {
        "run": solver.run(iterations=10).exploitability,
        "policy": policy.probabilities.tolist(),
        "public": public.exploitability(),
        "measurement": measured.exploitability,
        "pick": list(team.recommend().cells[0]),
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def main() -> None:
    """Write the files of this version, in place of earlier ones."""
    folder = FOLDER / rlccfr.__version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write(folder)
    print(folder, file=sys.stderr)


if __name__ == "__main__":
    main()
