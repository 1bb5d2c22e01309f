"""The benchmark's games in the files that peers read, so that they solve the same games as this engine.

From OpenSpiel, they would read the information states of Royal, which forget the order of public cards.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from scipy import sparse

import rlccfr
from benchmarks.compiled import tree
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.games.symmetry import payoff_matrix


@cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is deleted when this process ends."""
    return tempfile.TemporaryDirectory(prefix="rlccfr-bench-")


def folder() -> Path:
    """Return the folder of the files, in which peers may write, too."""
    return Path(_temporary().name)


@cache
def for_liteefg(game: str) -> Path:
    """Return the path of a file that has the game in LiteEFG's format."""
    path = folder() / f"{game}.game"
    with path.open("w") as file:
        write_for_liteefg(tree(game), file)
    return path


def write_for_liteefg(game: rlccfr.GameTree, file: TextIO) -> None:
    """Write histories depth first, then infosets, as LiteEFG writes OpenSpiel's games."""
    histories_of_infoset = defaultdict(list)
    utility = game.utility
    print("# Opt {", "#     openspiel,", "#     players: 2,", "# }", "#", sep="\n", file=file)
    stack = [0]
    while stack:
        node = stack.pop()
        here = game.histories[node]
        children = range(here["first_child"], here["first_child"] + here["num_children"])
        stack.extend(children)
        if here["actor"] == TERMINAL:
            print(f"node n{node} leaf payoffs 1={utility[node]:.17g} 2={-utility[node]:.17g}", file=file)
        elif here["actor"] == CHANCE:
            chances = (f"n{child}={game.probability[child]:.17g}" for child in children)
            print(f"node n{node} chance actions", *chances, file=file)
        else:
            names = (f"n{child}" for child in children)
            print(f"node n{node} player {here['actor'] + 1} actions", *names, file=file)
            histories_of_infoset[int(here["infoset"])].append(node)
    second = int(game.view.infoset_begin[1])
    for infoset, nodes in histories_of_infoset.items():
        names = (f"n{node}" for node in nodes)
        print(f"infoset pl{1 + (infoset >= second)}_{infoset}__ nodes", *names, file=file)


@cache
def for_noregret(game: str) -> Path:
    """Return the path of a file that has the game in noregret's format."""
    path = folder() / f"{game}.json"
    path.write_text(noregret_json(tree(game)))
    return path


def noregret_json(game: rlccfr.GameTree) -> str:
    """Return a game's payoff matrix and both players' decisions, as JSON that noregret reads."""
    payoffs = payoff_matrix(game.view)
    num_first = game.sequences_of(0).stop
    num_sequences = game.num_sequences
    # noregret counts each player's empty sequence first; in the game's matrix, both come last.
    rows = [num_sequences, *range(num_first)]
    columns = [num_sequences + 1, *range(num_first, num_sequences)]
    archive = io.BytesIO()
    sparse.save_npz(archive, sparse.csr_array(payoffs[rows][:, columns]))
    polytopes = [_polytope(game, player) for player in (0, 1)]
    return json.dumps({"payoffs": archive.getvalue().hex(), "sequence_form_polytopes": polytopes})


def _polytope(game: rlccfr.GameTree, player: int) -> dict[str, Any]:
    """Return a player's actions at each infoset, and the sequence before it, (infoset, action); None for the empty one.

    Infosets and actions are named by their numbers in the game.
    """
    infosets = game.infosets_of(player)
    infoset_of: dict[int, str] = {}
    actions = {}
    parents = {}
    for infoset in range(infosets.start, infosets.stop):
        sequences = game.infoset_sequences(infoset)
        numbers = range(sequences.start, sequences.stop)
        actions[str(infoset)] = [str(number) for number in numbers]
        infoset_of |= dict.fromkeys(numbers, str(infoset))
        parent = int(game.view.parent[infoset])
        parents[str(infoset)] = [infoset_of[parent], str(parent)] if parent in infoset_of else None
    return {"actions": actions, "parent_sequences": parents}
