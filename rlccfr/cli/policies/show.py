"""``rlccfr show``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rlccfr.cli.checks import at_least
from rlccfr.cli.console import load, number, on_one_line, print_json
from rlccfr.cli.options import GameOfFile, Json
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.policies.listing import State

ON_TERMINAL = 40
"""Number of states that a terminal shows unless ``--limit`` says otherwise."""

RARE = 0.005
"""Probability below which an action is drawn faintly."""

SURE = 0.995
"""Least probability of an action that is drawn boldly."""


def show(
    policy: Annotated[str, typer.Argument(help="A policy that `rlccfr solve --policy` wrote, or a run that it saved.")],
    find: Annotated[
        list[str] | None,
        typer.Option(help="Show only states whose text, raw or in words, contains this; if repeated, all must occur."),
    ] = None,
    player: Annotated[int | None, typer.Option(callback=at_least(0, 1), help="Show this player's states.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            callback=at_least(0), help="Largest number of states to show; 0 for all. [40 on a terminal, else all]"
        ),
    ] = None,
    game: GameOfFile = None,
    json: Json = False,
) -> None:
    """Show what a policy does in each state.

    Each line has the player, the probability that the state is reached (not computed in Bluff, nor in hold'em without
    buckets), what the player knows there, and the probability of each action. In hold'em in buckets, a state is a path
    of actions with a bucket history; --find "cc/7h5d2c/r AsKs" finds the state of a hand on a board. On a terminal, the
    cards and moves of some games are in words. A pipe gets OpenSpiel's text, and tabs between the fields, as `cut` and
    spreadsheets expect.
    """
    is_terminal = sys.stdout.isatty() and not json
    most = limit
    if most is None:
        most = ON_TERMINAL if is_terminal else 0  # 0 stands for all
    tree = None if game is None else load(game)
    with progress(f"reading {policy}"):
        states = _states(policy, tree, find or (), player)
    first_states = islice(states, most) if most else states  # what is left in ``states`` is not shown
    if json:
        print_json([_as_json(state) for state in first_states])
    elif is_terminal:
        _print_table(first_states, states, most)
    else:
        _print_fields(first_states)


def _states(policy: str, tree: Any, texts: Sequence[str], player: int | None) -> Iterator[State]:
    """Return the states of a policy that contain all of ``texts``; at least one state does.

    Raises:
        RLCCFRError: no state does.
    """
    from rlccfr.cli.policies.named import policy_of
    from rlccfr.policies.listing import states

    matching_states = states(policy_of(policy, tree), texts, player)
    first = next(matching_states, None)
    if first is not None:
        return chain([first], matching_states)
    whose = "" if player is None else f" of player {player}"
    if texts:
        wanted = " and ".join(map(repr, texts))
        raise RLCCFRError(f"no state{whose} contains {wanted}; case does not matter: try fewer or shorter strings")
    raise RLCCFRError(f"there is no state{whose} in this game")


def _print_table(first_states: Iterable[State], states: Iterator[State], most: int) -> None:
    """Print a table of the first ``most`` states, and what it leaves out."""
    first_states = list(first_states)
    Console(highlight=False).print(_table(first_states))
    if next(states, None) is not None:
        print(f"These are the first {most} states: --find narrows them, --limit 0 shows all.")
    if first_states and isnan(first_states[0].reach):
        print("Reach is not computed in hold'em and Bluff; `rlccfr explore` shows how likely a state is at its point.")


def _print_fields(states: Iterable[State]) -> None:
    """Print a line for each state, with tabs between its fields."""
    for state in states:
        print("\t".join([str(state.player), number(state.reach), on_one_line(state.text), *_actions(state)]))


def _as_json(state: State) -> dict[str, object]:
    from rlccfr.files import none_for_nan

    actions = dict(zip(state.actions, state.probabilities, strict=True))
    return {"player": state.player, "state": state.text, "reach": none_for_nan(state.reach), "actions": actions}


def _table(states: Iterable[State]) -> Table:
    """Return the states as a table that folds long strings to the terminal's width."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("player", justify="right")
    table.add_column("reach", justify="right")
    table.add_column("state", overflow="fold", ratio=1)
    table.add_column("actions", overflow="fold", ratio=1)
    for state in states:
        actions = Text("  ").join(
            Text(text, _style(probability))
            for text, probability in zip(_actions(state), state.probabilities, strict=True)
        )
        table.add_row(str(state.player), number(state.reach), Text(on_one_line(state.words)), actions)
    return table


def _style(probability: float) -> str:
    """Return the style of an action: from grey to green with its probability. A terminal may ignore the style."""
    if probability < RARE:
        return "dim"
    return f"{'bold ' if probability >= SURE else ''}rgb({round(170 * (1 - probability))},170,90)"


def _actions(state: State) -> list[str]:
    return [f"{on_one_line(name)} {value:.3f}" for name, value in zip(state.actions, state.probabilities, strict=True)]
