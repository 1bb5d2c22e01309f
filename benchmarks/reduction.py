"""The gain of exact passes from a game's quotient, and the law by which the engine chooses the game or its quotient.

``python -m benchmarks.reduction --fit`` prints the constants of the law in rlccfr/engine/reduced.py.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

import rlccfr
from benchmarks.alternation import Rates, Step, alternate
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.reduced import RunCopy, cost_terms, pass_cost
from rlccfr.engine.state import RunState
from rlccfr.games.quotient import quotient_of
from rlccfr.kernels.passes.exact_iterations import exact_iterations
from rlccfr.registry import abstractions, samplers, update_rules

GAMES = (
    "goofspiel",
    "leduc",
    "dark_hex(board_size=2)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)",
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1,stack=20 20)",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "liars_dice(numdice=1,dice_sides=4)",
    "royal",
)


class Form(NamedTuple):
    """A game or its quotient: the terms of its cost, and the nanoseconds of an iteration of CFR+."""

    game: str
    terms: tuple[int, ...]
    predicted: float
    nanoseconds: float


def steps(game: rlccfr.GameTree) -> dict[str, Step]:
    """Return functions that run iterations of CFR+ over a game and, if it has one, over its quotient."""
    components = update_rules["cfr_plus"].make(), samplers["none"].make(), abstractions["none"].make()
    binding = Binding.of(game, *components, RunOptions(), 0)
    quotient, found = quotient_of(game), {}
    for name in ("game", "quotient"):
        if name == "quotient" and quotient is None:
            continue
        state = RunState.at_start(game, 0)
        over = state if name == "game" else RunCopy(state, quotient)
        found[name] = _step(over, binding)
    return found


def _step(over: RunState | RunCopy, binding: Binding) -> Step:
    def run(count: int) -> None:
        while count:
            now = min(count, 1000)
            rows = binding.rows(1, now)
            exact_iterations(over.game_handle, over.run_handle, binding.rule_handle, binding.procedure, rows, 1)
            count -= now

    return run


def measure(name: str, seconds: float = 0.1, rounds: int = 7) -> tuple[rlccfr.GameTree, Rates]:
    """Measure the rates of iterations over a game and its quotient."""
    game = rlccfr.load_game(name)
    return game, alternate(steps(game), seconds, rounds)


def forms() -> list[Form]:
    """Measure all games and quotients."""
    found = []
    for name in GAMES:
        game, rates = measure(name)
        quotient = quotient_of(game)
        for kind in rates.per_second:
            view = game.view if kind == "game" or quotient is None else quotient.view
            found.append(Form(game.name, cost_terms(view), pass_cost(view), 1e9 / rates.mean(kind)))
    return found


def fit(measured: list[Form]) -> np.ndarray:
    """Return the nanoseconds per unit of each term: least squares of relative errors."""
    times = np.array([form.nanoseconds for form in measured])
    terms = np.array([form.terms for form in measured])
    return nnls(terms / times[:, None], np.ones(len(times)))[0]


def report() -> list[str]:
    """Return the table of gains as Markdown."""
    measured = forms()
    lines = [
        "| game | infosets | of the quotient | gain of an iteration | predicted |",
        "|---|---|---|---|---|",
    ]
    for one in measured:
        pair = [form for form in measured if form.game == one.game]
        if one is not pair[0] or len(pair) == 1:
            continue
        game = rlccfr.load_game(one.game)
        quotient = quotient_of(game)
        assert quotient is not None
        gains = [getattr(pair[0], field) / getattr(pair[1], field) for field in ("nanoseconds", "predicted")]
        sizes = f"{game.num_infosets:,} | {quotient.num_infosets:,}"
        lines.append(f"| {game.name} | {sizes} | {gains[0]:.2f} | {gains[1]:.2f} |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reduction", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the constants of the law, and the fit's errors")
    if parser.parse_args().fit:
        measured = forms()
        constants = fit(measured)
        print(*(f"{constant:.3g}" for constant in constants))
        for form in measured:
            print(f"{form.game[:30]:30} {form.nanoseconds:12.0f} {form.terms @ constants / form.nanoseconds:6.2f}")
    else:
        print("\n".join(report()))
