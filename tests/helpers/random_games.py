"""Random small games in Gambit's extensive form, with values and best responses by linear programs.

It shares no code with the library: games are trees of :class:`Node`, written to a file that OpenSpiel reads.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


@dataclass
class Node:
    """A history: its actor (0, 1, "chance", or None at the end), and its children.

    Attributes:
        infoset: number of the infoset among its player's.
        weights: weights of chance's outcomes, whole numbers.
        utility: player 0's utility at the end.
    """

    actor: int | str | None
    children: list[Node] = field(default_factory=list)
    infoset: int = -1
    weights: tuple[int, ...] = ()
    utility: float = 0.0


class RandomGame:
    """A game with perfect recall: histories share an infoset only if their player did and knew the same before.

    Args:
        random: generator of all draws.
        depth: largest number of moves on a path.
        actions: largest number of actions of a move, and of outcomes of chance.
        offset: constant in all utilities.
    """

    def __init__(self, random: Random, depth: int = 4, actions: int = 3, offset: float = 0.0) -> None:
        self.random, self.actions, self.offset = random, actions, offset
        self.infosets: list[dict[tuple, list[int]]] = [defaultdict(list), defaultdict(list)]
        self.sequences: list[list[tuple[int, int, int]]] = [[], []]  # of each infoset: parent sequence, first, count
        self.counts = [1, 1]  # sequences; 0 is the empty one
        self.root = self._node(depth, (0, 0))

    def _node(self, depth: int, last: tuple[int, int]) -> Node:
        random = self.random
        if depth == 0 or random.random() < 0.1:
            return Node(None, utility=self.offset + random.choice((-2.0, -1.0, 0.0, 0.5, 1.0, 3.0)))
        count = random.randint(1, self.actions)
        actor = random.choice((0, 0, 1, 1, "chance"))
        if actor == "chance":
            weights = tuple(random.randint(1, 4) for _ in range(count))
            return Node(actor, [self._node(depth - 1, last) for _ in weights], weights=weights)
        infoset = self._infoset(actor, last[actor], count)
        first = self.sequences[actor][infoset][1]
        children = []
        for action in range(count):
            after = list(last)
            after[actor] = first + action
            children.append(self._node(depth - 1, (after[0], after[1])))
        return Node(actor, children, infoset)

    def _infoset(self, player: int, last: int, count: int) -> int:
        """Return an infoset with the player's same last sequence and number of actions, or a new infoset."""
        alike = self.infosets[player][last, count]
        if alike and self.random.random() < 0.7:
            return self.random.choice(alike)
        self.sequences[player].append((last, self.counts[player], count))
        self.counts[player] += count
        alike.append(len(self.sequences[player]) - 1)
        return alike[-1]

    def write(self, path: Path) -> str:
        """Write the game's file, and return the string by which OpenSpiel loads it."""
        lines = ['EFG 2 R "random" { "0" "1" } ""']
        ends = 0

        def visit(node: Node) -> None:
            nonlocal ends
            if node.actor is None:
                ends += 1
                lines.append(f't "" {ends} "" {{ {node.utility!r} {-node.utility!r} }}')
                return
            names = [f'"{player_action(node, k)}"' for k in range(len(node.children))]
            if node.actor == "chance":
                shares = " ".join(f"{n} {w}/{sum(node.weights)}" for n, w in zip(names, node.weights))
                lines.append(f'c "" {len(lines)} "" {{ {shares} }} 0')
            else:
                lines.append(f'p "" {node.actor + 1} {node.infoset + 1} "" {{ {" ".join(names)} }} 0')
            for child in node.children:
                visit(child)

        visit(self.root)
        path.write_text("\n".join(lines) + "\n")
        return f"efg_game(filename={path})"

    def payoffs(self) -> sp.csr_array:
        """Return player 0's payoffs, weighted by chance, for each pair of the players' sequences."""
        found: dict[tuple[int, int], float] = defaultdict(float)

        def visit(node: Node, weight: float, last: tuple[int, int]) -> None:
            if node.actor is None:
                found[last] += weight * node.utility
            for k, child in enumerate(node.children):
                if node.actor == "chance":
                    visit(child, weight * node.weights[k] / sum(node.weights), last)
                else:
                    after = list(last)
                    after[node.actor] = self.sequences[node.actor][node.infoset][1] + k
                    visit(child, weight, (after[0], after[1]))

        visit(self.root, 1.0, (0, 0))
        rows, columns = zip(*found)
        return sp.csr_array(sp.coo_array((list(found.values()), (rows, columns)), shape=tuple(self.counts)))

    def constraints(self, player: int) -> tuple[sp.csr_array, np.ndarray]:
        """Return E and e such that the player's realisation plans are the x >= 0 with E x = e."""
        entries = [(0, 0, 1.0)]
        for row, (parent, first, count) in enumerate(self.sequences[player], start=1):
            entries += [(row, parent, -1.0), *((row, first + k, 1.0) for k in range(count))]
        rows, columns, values = zip(*entries)
        height = len(self.sequences[player]) + 1
        right = np.zeros(height)
        right[0] = 1.0
        return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(height, self.counts[player]))), right

    def value(self) -> float:
        """Return the game's value to player 0.

        Koller, Megiddo and von Stengel, Efficient computation of equilibria for extensive two-person games, 1996:
        maximise f q over x and q, where E x = e and F' q <= A' x, x >= 0.
        """
        payoffs = self.payoffs()
        (own, start), (other, begin) = self.constraints(0), self.constraints(1)
        height = other.shape[0]
        found = linprog(
            np.concatenate([np.zeros(self.counts[0]), -begin]),
            A_ub=sp.hstack([-payoffs.T, other.T]),
            b_ub=np.zeros(self.counts[1]),
            A_eq=sp.hstack([own, sp.csr_array((own.shape[0], height))]),
            b_eq=start,
            bounds=[(0, None)] * self.counts[0] + [(None, None)] * height,
        )
        assert found.status == 0, found.message
        return -float(found.fun)

    def best_response(self, player: int, plan: np.ndarray) -> float:
        """Return the value of a player's best response to the other's realisation plan."""
        payoffs = self.payoffs()
        gains = payoffs @ plan if player == 0 else -(payoffs.T @ plan)
        own, start = self.constraints(player)
        found = linprog(-gains, A_eq=own, b_eq=start, bounds=(0, None))
        assert found.status == 0, found.message
        return -float(found.fun)


def player_action(node: Node, k: int) -> str:
    """Return an action's name, which is the same in all histories of an infoset and occurs in no other infoset."""
    return f"{node.actor} {node.infoset} {k}"


class PlantedGame(RandomGame):
    """A random game with a planted symmetry: chance chooses one of several copies with equal probability.

    In each copy, each infoset's actions have an order of their own. A player either knows the copy or does not. One
    who does not has the same infosets, with the same order, in all copies. If both players know the copy, the
    classes of the whole game are those of the random game.

    Args:
        copies: number of copies.
        hidden: players who do not know the copy.
    """

    def __init__(self, random: Random, copies: int = 3, hidden: tuple[int, ...] = (), **limits: Any) -> None:
        super().__init__(random, **limits)
        orders: dict[tuple[int, int, int], list[int]] = {}
        numbers: tuple[dict, dict] = ({}, {})

        def copied(node: Node, copy: int) -> Node:
            if node.actor not in (0, 1):
                return Node(node.actor, [copied(c, copy) for c in node.children], -1, node.weights, node.utility)
            which = 0 if node.actor in hidden else copy
            place = (node.actor, node.infoset, which)
            order = orders.setdefault(place, random.sample(range(len(node.children)), len(node.children)))
            children = [copied(node.children[k], copy) for k in order]
            return Node(node.actor, children, numbers[node.actor].setdefault(place, len(numbers[node.actor])))

        self.root = Node("chance", [copied(self.root, copy) for copy in range(copies)], weights=(1,) * copies)
