"""A session: a series of games, during which the person can ask for the score and for the policy's advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.games.words import described, in_words, knowledge_in
from rlccfr.play.tables import Table

HELP = (
    "number or name  make that move; the beginning of a name will do",
    "!               what the policy would have done at your last decision",
    "=               the score",
    "?               this help",
    "quit            leave",
)
FEWEST_FOR_INTERVAL = 10
"""Smallest number of games for which a confidence interval is shown."""

QUIT = ("q", "quit", "exit")


class Left(Exception):
    """Raised when the person asks to leave."""


class Decision(NamedTuple):
    """A decision of the person.

    Attributes:
        game: number of the game, from 1.
        state: what the person knew in a card game, in one line; empty in other games.
        actions: names of the actions.
        probabilities: (actions,) the policy's probabilities there.
        action: index of the action that the person took.
    """

    game: int
    state: str
    actions: Sequence[str]
    probabilities: np.ndarray
    action: int


def _result(payoff: float, policy_payoff: float) -> str:
    """Return in words how a game ended for the person, who gets ``payoff``."""
    if payoff != -policy_payoff:  # the game is not zero-sum
        return f"You get {payoff:g}, and the policy gets {policy_payoff:g}"
    if payoff == 0:
        return "Nobody wins"
    return f"You {'win' if payoff > 0 else 'lose'} {abs(payoff):g}"


class Session:
    """Games of a person against a policy.

    Args:
        deal: function that deals a new game.
        ask: function from a prompt to the person's answer; it raises EOFError at the end of the input.
        tell: function that shows a line.
        game: OpenSpiel's name of the game, or the name of a public-tree game.
        unit: name of the unit of payoffs, such as "chips".
        rng: random generator for the policy's moves.

    Attributes:
        payoffs: the person's payoff in each game that is over.
    """

    def __init__(
        self,
        deal: Callable[[], Table],
        ask: Callable[[str], str],
        tell: Callable[[str], None],
        game: str,
        unit: str,
        rng: np.random.Generator,
    ) -> None:
        self._deal = deal
        self._ask = ask
        self._tell = tell
        self._name = game
        self._unit = unit
        self._rng = rng
        self._last_decision: Decision | None = None
        self.payoffs: list[float] = []

    def play(self, games: int | None, seat: int | None) -> None:
        """Play a number of games, or fewer if the person leaves.

        Args:
            games: number of games; None to play until the person leaves.
            seat: the person's seat, 0 or 1; None to change it after each game.
        """
        try:
            while games is None or len(self.payoffs) < games:
                self._game(len(self.payoffs) % 2 if seat is None else seat)
        except (Left, EOFError):
            is_in_game = self._last_decision and self._last_decision.game > len(self.payoffs)
            if not self.payoffs or is_in_game:  # otherwise, the score has just been shown
                self._tell(f"Score: {self.score()}.")

    def score(self) -> str:
        """Return the score in words; from ten games on, with a 95 % confidence interval for the mean payoff."""
        count = len(self.payoffs)
        if not count:
            return "no game is over yet"
        games = "1 game" if count == 1 else f"{count:,} games"
        score = f"{sum(self.payoffs):+g} {self._unit} after {games}"
        if count < FEWEST_FOR_INTERVAL:
            return score
        from scipy import stats

        error = float(stats.t.ppf(0.975, count - 1) * np.std(self.payoffs, ddof=1)) / count**0.5
        return f"{score}; {np.mean(self.payoffs):+.3g} ± {error:.2g} per game (95 %)"

    def _game(self, seat: int) -> None:
        """Play one game with the person as player ``seat``."""
        table = self._deal()
        self._tell(f"Game {len(self.payoffs) + 1}: you are player {seat}.")
        cards_on_board = 0
        was_hidden = False  # whether the last line reports a move that the person does not see
        while (actor := table.actor) is not None:
            knowledge = knowledge_in(self._name, table.known(actor))
            if knowledge and len(knowledge.board) > cards_on_board:
                self._tell(f"  The board is {' '.join(knowledge.board)}")
                cards_on_board = len(knowledge.board)
            actions = table.actions()
            probabilities = table.probabilities()
            if actor == seat:
                text = table.known(seat)
                action = self._answer(text, actions)
                was_hidden = False
                state = in_words(self._name, text) if knowledge else ""
                self._last_decision = Decision(len(self.payoffs) + 1, state, actions, probabilities, action)
            else:
                action = int(self._rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
                if table.shows(action):
                    self._tell(f"  Player {actor}: {actions[action]}")
                elif not was_hidden:  # how many such moves there are may be hidden, too
                    self._tell(f"  Player {actor} moves, and you do not see how")
                was_hidden = not table.shows(action)
            table.take(action)
        payoffs = table.payoffs()
        self.payoffs.append(payoffs[seat])
        if opponent_text := table.known(1 - seat):
            self._tell(f"What player {1 - seat} knew:")
            for line in described(self._name, opponent_text):
                self._tell(f"  {line}")
        self._tell(f"{_result(payoffs[seat], payoffs[1 - seat])}. Score: {self.score()}.")
        self._tell("")

    def _answer(self, text: str, actions: Sequence[str]) -> int:
        """Ask until the person makes a move, and return its index."""
        for line in described(self._name, text):
            self._tell(f"  {line}")
        while True:
            moves = "   ".join(f"{number}: {name}" for number, name in enumerate(actions, 1))
            answer = self._ask(f"  {moves}   (? for help) > ").strip()
            action = self._action_named(answer, actions)
            if action is not None:
                return action
            self._reply(answer, actions)

    def _action_named(self, answer: str, actions: Sequence[str]) -> int | None:
        """Return the index of the move that an answer names; None unless it names exactly one."""
        if answer.isdecimal():
            is_number_of_move = len(answer) < 6 and 1 <= int(answer) <= len(actions)
            return int(answer) - 1 if is_number_of_move else None
        if not answer:
            return None
        same_name = [action for action, name in enumerate(actions) if name.lower() == answer.lower()]
        same_beginning = [action for action, name in enumerate(actions) if name.lower().startswith(answer.lower())]
        candidates = same_name or same_beginning
        return candidates[0] if len(candidates) == 1 else None

    def _reply(self, text: str, actions: Sequence[str]) -> None:
        """Respond to an input that is not a move.

        Raises:
            Left: the person wants to leave.
        """
        match text.lower():
            case word if word in QUIT:
                raise Left
            case "?" | "help":
                lines: Sequence[str] = HELP
            case "=":
                lines = [f"Score: {self.score()}."]
            case "!":
                lines = self._advice()
            case _:
                lines = [
                    f"That is not a move here: type a number from 1 to {len(actions)}, the beginning of one move's "
                    "name, or ?"
                ]
        for line in lines:
            self._tell(f"  {line}")

    def _advice(self) -> list[str]:
        """Return lines that show the policy's probabilities at the person's last decision."""
        last = self._last_decision
        if last is None:
            return ["You have not made a decision yet."]
        state = f" ({last.state})" if last.state else ""
        lines = [f"At your last decision, in game {last.game}{state}, the policy's probabilities are:"]
        for action, (name, probability) in enumerate(zip(last.actions, last.probabilities, strict=True)):
            remark = " (your move)" if action == last.action else ""
            lines.append(f"  {name}: {probability:.1%}{remark}")
        return lines
