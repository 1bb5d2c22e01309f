"""A game of your own in one file, in Python for OpenSpiel: ``python examples/own_game.py`` solves it.

One-card poker: both players ante 1 and get one of N cards. The first player bets 1 or passes, and so does the second; a
bet is answered. ``rlccfr --load examples/own_game.py solve "my_one_card(cards=5)"`` solves it from a shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyspiel

import rlccfr

DEFAULTS = {"cards": 3}  # the parameters that the game's name takes, with their defaults
KIND = pyspiel.GameType(
    short_name="my_one_card",
    long_name="My one-card poker",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification=DEFAULTS,
)
ENDS = ("pp", "bp", "bb", "pbp", "pbb")  # all sequences of passes and bets that end the game


class OneCardPoker(pyspiel.Game):
    """The game with a number of cards."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        parameters = dict(parameters or {})
        self.cards = int(parameters.get("cards", DEFAULTS["cards"]))
        if self.cards < 2:
            raise ValueError("cards must be at least 2, one for each player")
        sizes = pyspiel.GameInfo(
            num_distinct_actions=2, max_chance_outcomes=self.cards, num_players=2,
            min_utility=-2.0, max_utility=2.0, utility_sum=0.0, max_game_length=3,
        )  # fmt: skip
        super().__init__(KIND, sizes, parameters)

    def new_initial_state(self) -> OneCardState:
        return OneCardState(self)


class OneCardState(pyspiel.State):
    """The cards that were dealt, and the moves so far, such as ``"pb"``."""

    def __init__(self, game: OneCardPoker) -> None:
        super().__init__(game)
        self.deck = list(range(game.cards))
        self.hands: list[int] = []  # each player's card
        self.moves = ""

    def current_player(self) -> int:
        if len(self.hands) < 2:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else len(self.moves) % 2

    def is_terminal(self) -> bool:
        return self.moves in ENDS

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(card, 1 / len(self.deck)) for card in self.deck]

    def _legal_actions(self, player: int) -> list[int]:
        return [0, 1]  # pass and bet

    def _apply_action(self, action: int) -> None:
        if len(self.hands) < 2:
            self.deck.remove(action)
            self.hands.append(action)
        else:
            self.moves += "pb"[action]

    def _action_to_string(self, player: int, action: int) -> str:
        return f"card {action}" if player == pyspiel.PlayerId.CHANCE else ("pass", "bet")[action]

    def information_state_string(self, player: int) -> str:
        """Return all that a player knows. Histories with the same string are one infoset."""
        return f"{self.hands[player]} {self.moves}"

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0, 0.0]
        if self.moves.endswith("bp"):  # the player who passed folds, and loses the ante
            gain = 1.0 if self.moves == "bp" else -1.0
        else:  # the higher card wins the ante, and the bet if there was one
            stake = 2.0 if "b" in self.moves else 1.0
            gain = stake if self.hands[0] > self.hands[1] else -stake
        return [gain, -gain]

    def __str__(self) -> str:
        return f"{self.hands} {self.moves}"


pyspiel.register_game(KIND, OneCardPoker)


def main() -> None:
    """Solve the game with five cards, and print its value."""
    solver = rlccfr.Solver(rlccfr.load_game("my_one_card(cards=5)"), "pcfr_plus")
    result = solver.run(until=1e-6)
    value, _ = solver.average_policy().values().game  # to the first player
    print(f"my_one_card(cards=5): value {value:.4f}, exploitability {result.exploitability:.1g}")


if __name__ == "__main__":
    main()
