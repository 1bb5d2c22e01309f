"""``rlccfr solve --against``: best responses to a policy or, where they can't be computed, trained opponents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.cli.console import on_one_line, print_json, print_table
from rlccfr.cli.progress import progress
from rlccfr.cli.solve_results import in_blinds, optional_rows
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.game import Game
    from rlccfr.policy import StateGain, Values

MOST_STATES = 10
"""Largest number of states to list: those where best responses gain most."""


def respond(game: Game, name: str, path: Path | None, json: bool) -> None:
    """Find both players' best responses to a policy, write them, and print what they gain.

    Args:
        game: the game.
        name: ``uniform``, or the path of a policy file or a saved run.
        path: the file to write best responses to; None to write none.
        json: whether to print JSON.

    Raises:
        RLCCFRError: best responses are to be written, and there are only trained opponents.
    """
    from rlccfr.cli.policies.named import policy_of

    policy = policy_of(name, game)
    if not policy.has_values:
        if path is not None:
            raise RLCCFRError(
                f"{game.name!r} can't be compiled, so best responses can't be written: leave out --policy"
            )
        _print_bound(game, name, policy, json)
        return
    with progress("finding best responses"):
        values = policy.values()
        states = policy.gains_by_state(MOST_STATES) if game.form.gains else []
        if path is not None:
            policy.best_response().save(path)
    _print_responses(game, name, values, states, json)


def _print_bound(game: Game, name: str, policy: Any, json: bool) -> None:
    """Train opponents against a policy, and print the lower bound that they give on its exploitability."""
    with progress(f"training opponents of {name}") as report:
        bound = policy.trained_bound(progress=report)
    payoffs = game.opponent_payoffs.of_best_responses(bound.seats)
    facts = {
        "game": game.name,
        "method": "trained opponents",
        "against": name,
        "exploitability_at_least": bound.value,
        "error": bound.error,
        "payoffs": payoffs,
        "training_steps": bound.steps,
        "opponents_per_seat": bound.opponents,
        "games": bound.games,
        "mbb": in_blinds(game, bound.value),
    }
    if json:
        print_json(facts)
        return
    training = f"PPO with {bound.steps:,} steps each, the best of {bound.opponents} for each seat"
    rows = [
        ("exploitability at least", bound.value, f"± {bound.error:.2g} (95 %), by opponents trained by {training}"),
        *optional_rows(facts),
        *(
            (f"payoff of the opponent as player {seat}", payoff, f"mean of {bound.games:,} games")
            for seat, payoff in enumerate(payoffs)
        ),
    ]
    print_table(("", "", ""), rows, title=f"{game.name}: trained opponents of {name}")
    print("A best response may win more: this is a lower bound, and longer training may raise it.")


def _print_responses(game: Game, name: str, values: Values, states: Sequence[StateGain], json: bool) -> None:
    """Print what best responses gain against a policy, and where they gain most.

    Args:
        game: the game.
        name: the policy, as the user named it.
        values: its values.
        states: the states where best responses gain most.
        json: whether to print JSON.
    """
    from rlccfr.limits import least_target

    # Player 1's payoffs need not be the negatives of player 0's, only equivalent to them.
    own_units = (1.0, game.opponent_payoffs.slope)  # factors from player 0's unit of payoff to each player's own
    own_values = game.opponent_payoffs.of_both(values.game[0])
    own_responses = game.opponent_payoffs.of_best_responses(values.best_response)
    gains = [response - value for response, value in zip(own_responses, own_values, strict=True)]
    rounding = least_target(game)
    facts: dict[str, Any] = {
        "game": game.name,
        "method": "best responses",
        "against": name,
        "exploitability": values.exploitability,
        "nash_conv": values.nash_conv,
        "mbb": in_blinds(game, values.exploitability),
        "value": own_values,
        "best_response_value": own_responses,
        # Within rounding errors of 0, a gain may come out negative.
        "gain": [gain if abs(gain) > rounding else 0.0 for gain in gains],
        "gains_by_state": [
            {"player": state.player, "state": state.text, "gain": own_units[state.player] * state.gain}
            for state in states
        ],
    }
    if json:
        print_json(facts)
        return
    rows = [("exploitability", values.exploitability, f"NashConv / 2 of {name}"), *optional_rows(facts)]
    for player, (gain, value) in enumerate(zip(facts["gain"], own_responses, strict=True)):
        rows.append((f"gain of player {player}", gain, f"a best response gets {value:.4g} against player {1 - player}"))
    print_table(("", "", ""), rows, title=f"{game.name}: best responses to {name}")
    gained = [state for state in states if state.gain > rounding]
    if gained:
        print_table(
            ("player", "gain", "share", "state"),
            [
                (
                    state.player,
                    own_units[state.player] * state.gain,
                    f"{state.gain / values.gains[state.player]:.1%}",
                    on_one_line(state.words),
                )
                for state in gained
            ],
            title="\nWhere most is gained, and the share of the player's whole gain:",
        )
