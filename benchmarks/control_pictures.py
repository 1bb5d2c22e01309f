"""Pictures of what the shipped controller does: its training, its runs beside fixed rules, and its picks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks.control_games import MOST_TEST
from rlccfr.catalog.scheduled import DATA, controller_named
from rlccfr.components.controller import AGENTS
from rlccfr.controller_file import training_of
from rlccfr.envs.control.run import ControlRun
from rlccfr.pictures import save

HORIZON = 1000
GAMES = {
    "Leduc": "leduc",
    "Leduc, 13 ranks, 1 suit": "leduc(ranks=13,suits=1,raises=2)",
    "Leduc, 13 ranks, 2 suits": "leduc(ranks=13,suits=2,raises=2)",
    "Royal": "royal",
    "Liar's dice, 5 faces": "liars_dice(numdice=1,dice_sides=5)",
    "Liar's dice, 6 faces": "liars_dice(numdice=1,dice_sides=6)",
    "Goofspiel, 5 cards": (
        "goofspiel(num_cards=5,imp_info=True,points_order=ascending,returns_type=point_difference)"
    ),
    "Battleship": "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=3)",
    "random poker, 33 hands": "random_poker(seed=31002,hands=33,boards=2,raises=1)",
    "random poker, 12 hands": "random_poker(seed=31003,hands=12,boards=4,raises=3)",
    "hidden moves, 12 types": "random_moves(seed=31011,types=12,moves=9,actions=2)",
    "hidden moves, 6 types": "random_moves(seed=31014,types=6,moves=7,actions=3)",
}  # fmt: skip
"""The games of the pictures: Leduc, and test games."""

NO_DISCOUNT = 5.0
"""Alpha by which a pick without a discount is coloured; larger than any other."""

RULES = ("dcfr", "pcfr_plus", "sapcfr_plus", "ddcfr_schedule")


def settings_of(name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the iteration and the settings of each decision of a run."""
    run = ControlRun(rlccfr.load_game(name, max_histories=MOST_TEST), controller_named("shipped"), HORIZON)
    picks, found = run.episode().picks, []
    run.restart()
    for mark, pick in zip(run.marks, picks, strict=True):
        run.step(pick)
        found.append((mark, run.settings))
    return found


def discounts(settings: dict[str, Any]) -> str:
    """Return the discounting of a decision as a short string: alpha, - for none; then beta, or | for a floor at 0."""
    alpha = "-" if settings["alpha"] is None else f"{settings['alpha']:g}"
    beta = "-" if settings["beta"] is None else f"{settings['beta']:g}"
    return f"{alpha} |" if settings["floor"] else f"{alpha} {beta}"


def prediction(settings: dict[str, Any]) -> str:
    """Return the prediction of a decision as a short string: optimism, then momentum, memory and power if used."""
    text = f"{settings['optimism']:g}"
    if settings["momentum"]:
        text += f" M{settings['momentum']:g}/{settings['memory']:g}"
    return text if settings["power"] == 1.0 else f"{text} ^{settings['power']:g}"


def draw_picks(path: Path) -> None:
    """Draw a table of picks for each agent: games by decisions."""
    import matplotlib.pyplot as plt

    of_games = {title: settings_of(name) for title, name in GAMES.items()}
    marks = [mark for mark, _ in next(iter(of_games.values()))]
    shown = {
        "discounting: alpha and beta (-: none, |: a floor at 0)": (discounts, lambda one: one["alpha"] or NO_DISCOUNT),
        "averaging: gamma": (lambda one: f"{one['gamma']:g}", lambda one: np.log1p(one["gamma"])),
        "prediction: optimism, momentum (M) with its memory, power (^)": (
            prediction,
            lambda one: one["optimism"] + one["momentum"] + one["power"] - 1.0,
        ),
    }
    assert len(shown) == len(AGENTS)
    figure, axes = plt.subplots(len(shown), 1, figsize=(10, 11), layout="constrained")
    for axis, (title, (text, value)) in zip(axes, shown.items(), strict=True):
        values = np.array([[value(one) for _, one in found] for found in of_games.values()])
        axis.imshow(values, cmap="YlGnBu", aspect="auto", vmax=1.6 * values.max())
        for row, found in enumerate(of_games.values()):
            for column, (_, one) in enumerate(found):
                axis.text(column, row, text(one), ha="center", va="center", fontsize=7)
        axis.set_xticks(range(len(marks)), [f"{mark:,}" for mark in marks])
        axis.set_yticks(range(len(of_games)), list(of_games))
        axis.set_title(title)
    axes[-1].set_xlabel("iterations done")
    save(figure.axes[0], path)


def draw_curves(path: Path) -> None:
    """Draw the exploitability of the steered run and of fixed rules."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 4, figsize=(12, 8), layout="constrained")
    for axis, (title, name) in zip(axes.flat, GAMES.items(), strict=True):
        game = rlccfr.load_game(name, max_histories=MOST_TEST)
        for k, rule in enumerate((None, *RULES)):
            solver = rlccfr.Solver(game, control="schedule") if rule is None else rlccfr.Solver(game, rule)
            points = solver.run(iterations=HORIZON).points
            style = {"color": "k", "linewidth": 2, "zorder": 3} if rule is None else {"color": f"C{k}"}
            found = np.array([(one.iteration, max(one.exploitability, 1e-15)) for one in points])
            axis.loglog(*found[found[:, 0] > 0].T, label=rule or "steered", **style)  # type: ignore[arg-type]
        axis.set_title(title, fontsize=10)
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.supxlabel("iterations")
    figure.supylabel("exploitability")
    save(figure.axes[0], path)


def draw_training(path: Path) -> None:
    """Draw the result on the validation games over the rounds of each member's training."""
    import matplotlib.pyplot as plt

    logs = pd.read_csv(DATA / "training.csv").groupby("member")
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    about = training_of(DATA / "controller.npz")
    since = about["hyperparameters"]["average_from"] * about["rounds"]
    axis.axvspan(since, about["rounds"], color="0.92", label="networks are averaged")
    for k, (name, style) in enumerate((("validation", "k"), ("decades", "C0"))):
        titles = ("validation games, 1,000 iterations, each member alone", "training runs, with random picks")
        for member, log in logs:
            axis.plot(log["number"], log[name], style, linewidth=0.8, label=titles[k] if member == 0 else None)
    axis.set(xlabel="rounds of 20 runs", ylabel="decades by which exploitability falls")
    axis.legend(frameon=False)
    save(figure.axes[0], path)


def draw(folder: Path) -> None:
    """Write all pictures into a folder."""
    import matplotlib

    matplotlib.use("Agg")
    draw_training(folder / "control-training.svg")
    draw_curves(folder / "control.svg")
    draw_picks(folder / "control-picks.svg")
