"""LiteEFG on the compiled games. It reads files that are written from them, so that it solves the same games.

From OpenSpiel, it would read the information states of Royal, which forget the order of public cards.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import rlccfr
from benchmarks.compiled import tree
from rlccfr.games.records import CHANCE, TERMINAL


def is_installed() -> bool:
    """Return whether LiteEFG is installed."""
    return importlib.util.find_spec("LiteEFG") is not None


def environment(game: str, baseline: str, traverse: str) -> tuple[Any, Any]:
    """Return an environment and one of LiteEFG's graphs, and suppress what both print."""
    with contextlib.redirect_stdout(io.StringIO()):
        import LiteEFG

        LiteEFG.set_threads(1)
        graph = importlib.import_module(f"LiteEFG.baselines.{baseline}").graph()
        env = LiteEFG.FileEnv(str(file_of(game)), traverse_type=traverse)
        env.set_graph(graph)
    return env, graph


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is deleted when this process ends."""
    return tempfile.TemporaryDirectory(prefix="rlccfr-bench-")


@cache
def file_of(game: str) -> Path:
    """Return the path of a file that has the game in LiteEFG's format."""
    path = Path(_folder().name) / f"{game}.game"
    with path.open("w") as file:
        write(tree(game), file)
    return path


def write(game: rlccfr.GameTree, file: TextIO) -> None:
    """Write histories depth first, then infosets, as LiteEFG writes OpenSpiel's games."""
    infosets, utility = defaultdict(list), game.utility
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
            infosets[int(here["infoset"])].append(node)
    second = int(game.view.infoset_begin[1])
    for infoset, nodes in infosets.items():
        names = (f"n{node}" for node in nodes)
        print(f"infoset pl{1 + (infoset >= second)}_{infoset}__ nodes", *names, file=file)
