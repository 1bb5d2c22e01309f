"""Draw the pictures of docs/explanation.md: ``python docs/figures.py`` writes them to docs/pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rlccfr
from rlccfr.games.records import SequenceView
from rlccfr.pictures import save

FOLDER = Path(__file__).parent / "pictures"


def payoffs(view: SequenceView) -> np.ndarray:
    """Return the payoff matrix A with rows and columns in the order of its blocks, which then lie on the diagonal."""
    matrix = np.zeros((len(view.leaf_0), len(view.leaf_1)))
    for block in view.blocks_0:
        columns = range(block["opponent"], block["opponent_end"])
        own = slice(block["own"], block["own_end"])
        for line, column in enumerate(columns):
            begin = block["payoff"] + line * block["stride"]
            matrix[own, column] = block["factor"] * view.payoff_0[begin : begin + own.stop - own.start]
    return matrix


def draw_payoffs(game: rlccfr.GameTree, path: Path) -> None:
    """Draw A twice: in the order in which sequences are numbered, and in the order of its blocks."""
    view = game.view
    blocks = payoffs(view)
    rows, columns = np.argsort(view.leaf_0, kind="stable"), np.argsort(view.leaf_1, kind="stable")
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
    for axis, matrix, title in (
        (axes[0], blocks[np.ix_(rows, columns)], "in the order of the sequences' numbers"),
        (axes[1], blocks, "in the order of the blocks"),
    ):
        most = np.abs(matrix).max()
        image = axis.imshow(np.where(matrix == 0, np.nan, matrix), cmap="PuOr", vmin=-most, vmax=most)
        axis.set(title=title, xlabel="sequences of player 1", ylabel="sequences of player 0")
        axis.set_facecolor("white")
    figure.colorbar(image, ax=axes, label="payoff to player 0, times chance", shrink=0.8)
    save(axes[0], path)


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    kuhn = rlccfr.load_game("kuhn")
    solver = rlccfr.Solver(kuhn, "cfr_plus")
    solver.run(iterations=1000)
    save(rlccfr.draw_tree(kuhn, solver.average_policy()), FOLDER / "kuhn.svg")
    draw_payoffs(rlccfr.load_game("kuhn(cards=8)"), FOLDER / "payoffs.png")


if __name__ == "__main__":
    main()
