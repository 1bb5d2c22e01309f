"""``rlccfr match``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import load, print_json, print_table
from rlccfr.cli.options import Json, Seed
from rlccfr.cli.policies.named import UNIFORM, game_of_opponent, is_best, is_run, policy_of, run_of
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.policies.matches import Draws, Match
    from rlccfr.policy import Policy


def match(
    game: Annotated[str, typer.Argument(help="A game's name or OpenSpiel string.")],
    first: Annotated[
        str,
        typer.Argument(help="'uniform', a policy that `rlccfr solve --policy` wrote, or a run that --checkpoint kept."),
    ],
    second: Annotated[str, typer.Argument(help="The opponent, likewise; or 'best', best responses to the first.")],
    pairs: Annotated[int, typer.Option(help="Number of pairs of games to play out; 0 computes exact payoffs.")] = 0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Let two policies play against each other.

    Without --pairs, expected payoffs are computed exactly. With it, games are played out, and the means have a 95 %
    interval. Each deal is played twice, with seats exchanged; in games represented by OpenSpiel's states, chance
    draws each game separately. A run whose update rule has average='value_networks' draws a network for each pair of
    games; in games represented by OpenSpiel's states, for each game. In hold'em in buckets, the opponent's policy may
    be for another number of buckets.
    """
    if pairs < 0 or pairs == 1:
        raise RLCCFRError(f"--pairs must be 0, for exact payoffs, or at least 2, not {pairs}")
    if is_best(first):
        raise RLCCFRError(f"{first!r} responds to the first policy, so it must come second: exchange the two")
    tree = load(game)
    with progress("playing" if pairs else "computing the payoffs") as report:
        from rlccfr.policies.matches import exact_match, played_match

        response = policy_of(first, tree).best_response() if is_best(second) else None
        if pairs:
            opponent = response or _policy_or_draws(second, game_of_opponent(second, tree))
            result = played_match(_policy_or_draws(first, tree), opponent, tree, pairs, seed, report)
        else:
            opponent = response or policy_of(second, game_of_opponent(second, tree))
            result = exact_match(policy_of(first, tree), opponent, report)
    if json:
        print_json({"game": game, "first": first, "second": second, "seed": seed, **result._asdict()})
    else:
        _print_match(result, first, tree.big_blind)


def _policy_or_draws(name: str, tree: Any) -> Policy | Draws:
    """Return the policy that a name stands for; for a run that keeps its networks, the function that draws one."""
    if name != UNIFORM and is_run(name):
        run = run_of(name, tree)
        networks = run.update_rule.networks
        # In games represented by OpenSpiel's states, the policy itself draws for each game; on public trees, matches
        # are exact.
        if networks is not None and networks.average == "value_networks" and tree.form.has_histories:
            draws: Draws = run.draw_policy
            return draws
    return policy_of(name, tree)


def _print_match(result: Match, first: str, big_blind: float | None) -> None:
    """Print a match's payoffs as a table."""
    precision = f"± {result.error:.3g} (95 %), {result.pairs:,} pairs of games" if result.pairs else "exact"
    rows = [
        ("payoff per game", result.value, f"of {first}, over both seats; {precision}"),
        ("as player 0", result.seats[0], ""),
        ("as player 1", result.seats[1], ""),
    ]
    if big_blind is not None:
        rows.insert(1, ("in mbb/g", 1000 * result.value / big_blind, "thousandths of a big blind per game"))
    print_table(("", "", ""), rows)
