"""``rlccfr match``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import Json, Seed, load, print_json, print_table, progress
from rlccfr.errors import CheckpointError

if TYPE_CHECKING:
    from rlccfr.policies.matches import Draws, Match
    from rlccfr.policy import Policy

UNIFORM = "uniform"


def match(
    game: Annotated[str, typer.Argument(help="A game's name or OpenSpiel string.")],
    first: Annotated[
        str,
        typer.Argument(help="'uniform', a policy that `rlccfr solve --policy` wrote, or a run that --checkpoint kept."),
    ],
    second: Annotated[str, typer.Argument(help="The opponent, likewise.")],
    pairs: Annotated[int, typer.Option(help="Play out so many pairs of games. [none: payoffs are exact]")] = 0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Let two policies play against each other.

    Without --pairs, expected payoffs are computed exactly. With it, games are played out, and the means have a 95 %
    interval. Each deal is played twice, with changed seats. A run whose update rule has average='value_networks' draws
    a network for each pair.
    """
    tree = load(game)
    with progress("playing" if pairs else "computing the payoffs"):
        from rlccfr.policies.matches import exact_match, played_match

        if pairs:
            found = played_match(_player(first, tree), _player(second, tree), tree, pairs, seed)
        else:
            found = exact_match(_policy(first, tree), _policy(second, tree))
    if json:
        print_json({"game": game, "first": first, "second": second, "seed": seed, **found._asdict()})
    else:
        _print(found, first, tree.big_blind)


def _policy(name: str, tree: Any) -> Policy:
    """Return the policy that a name or a file stands for; of a run it is the average policy."""
    from rlccfr.policies.public_policy import policy_kind

    kind = policy_kind(tree)
    if name == UNIFORM:
        return kind.uniform(tree)
    try:
        return kind.load(name, tree)
    except CheckpointError:
        run = _run(name, tree)
        if run is None:
            raise
        average: Policy = run.average_policy()
        return average


def _player(name: str, tree: Any) -> Policy | Draws:
    """Return the same, or for a run that keeps its networks the function that draws one of them."""
    run = _run(name, tree)
    if run is not None and run.update_rule.networks and run.update_rule.networks.average == "value_networks":
        draws: Draws = run.draw_policy
        return draws
    return _policy(name, tree)


def _run(name: str, tree: Any) -> Any:
    """Return the run in a file, or None if there is none."""
    from rlccfr.solver import Solver

    try:
        return Solver.load(Path(name), game=tree)
    except CheckpointError:
        return None


def _print(found: Match, first: str, big_blind: float | None) -> None:
    """Print a match's payoffs as a table."""
    meaning = "exact" if not found.pairs else f"± {found.error:.3g} (95 %), {found.pairs:,} pairs of games"
    rows = [
        ("payoff per game", found.value, f"of {first}, over both seats; {meaning}"),
        ("as player 0", found.seats[0], ""),
        ("as player 1", found.seats[1], ""),
    ]
    if big_blind is not None:
        rows.insert(1, ("in mbb/g", 1000 * found.value / big_blind, "thousandths of a big blind per game"))
    print_table(("", "", ""), rows)
