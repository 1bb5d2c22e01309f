"""A session: one game after another, with what the person asks and how the score stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.play.cards import described, in_words, seen_in
from rlccfr.play.tables import Table

HELP = (
    "number or name  make that move; the beginning of a name will do",
    "!               what the policy would have done at your last decision",
    "=               the score",
    "?               this help",
    "quit            leave",
)
FEWEST = 10
"""Least number of games for which an interval is shown."""

QUIT = ("q", "quit", "exit")


class Left(Exception):
    """The person leaves."""


class Decision(NamedTuple):
    """A decision of the person.

    Attributes:
        game: number of the game, from 1.
        state: what the person knew in a game of cards, in one line; empty in other games.
        actions: names of the actions.
        probabilities: what the policy does there.
        taken: number of the action that was taken.
    """

    game: int
    state: str
    actions: Sequence[str]
    probabilities: np.ndarray
    taken: int


def _result(own: float, other: float) -> str:
    """Say what a game ended with, for the person who got ``own``."""
    if own != -other:  # the game is not zero-sum
        return f"You get {own:g}, and the policy gets {other:g}"
    if own == 0:
        return "Nobody wins"
    return f"You {'win' if own > 0 else 'lose'} {abs(own):g}"


class Session:
    """Games of a person against a policy.

    Args:
        deal: function that deals a new game.
        ask: function from a prompt to the person's answer; it raises EOFError at the end of the input.
        tell: function that shows a line.
        game: OpenSpiel's name of the game, or the name of one with a public tree.
        unit: name of what payoffs count, such as "chips".
        rng: source of the policy's moves.
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
        self._deal, self._ask, self._tell = deal, ask, tell
        self._name, self._unit, self._rng = game, unit, rng
        self._last: Decision | None = None
        self.payoffs: list[float] = []

    def play(self, games: int | None, seat: int | None) -> None:
        """Play until so many games are over, or the person leaves.

        Args:
            games: number of games; None for as many as the person likes.
            seat: the person's seat, 0 or 1; None to change it after each game.
        """
        try:
            while games is None or len(self.payoffs) < games:
                self._game(len(self.payoffs) % 2 if seat is None else seat)
        except (Left, EOFError):
            if not self.payoffs or (self._last and self._last.game > len(self.payoffs)):  # else it was just told
                self._tell(f"Score: {self.score()}.")

    def score(self) -> str:
        """Return how the score stands; after ten games, with a 95 % interval of the mean payoff."""
        count = len(self.payoffs)
        if not count:
            return "no game is over yet"
        games = "1 game" if count == 1 else f"{count:,} games"
        told = f"{sum(self.payoffs):+g} {self._unit} after {games}"
        if count < FEWEST:
            return told
        from scipy import stats

        error = float(stats.t.ppf(0.975, count - 1) * np.std(self.payoffs, ddof=1)) / count**0.5
        return f"{told}; {np.mean(self.payoffs):+.3g} ± {error:.2g} per game (95 %)"

    def _game(self, seat: int) -> None:
        table = self._deal()
        self._tell(f"Game {len(self.payoffs) + 1}: you are player {seat}.")
        shown = 0
        while (actor := table.actor) is not None:
            seen = seen_in(self._name, table.known(actor))
            if seen and len(seen.board) > shown:
                self._tell(f"  The board is {' '.join(seen.board)}")
                shown = len(seen.board)
            actions, likely = table.actions(), table.probabilities()
            if actor == seat:
                known = table.known(seat)
                taken = self._answer(known, actions)
                state = in_words(self._name, known) if seen else ""
                self._last = Decision(len(self.payoffs) + 1, state, actions, likely, taken)
            else:
                taken = int(self._rng.choice(len(likely), p=likely / likely.sum()))
                self._tell(f"  Player {actor}: {actions[taken]}")
            table.take(taken)
        payoffs = table.payoffs()
        own = payoffs[seat]
        self.payoffs.append(own)
        if held := table.known(1 - seat):
            self._tell(f"What player {1 - seat} knew:")
            for line in described(self._name, held):
                self._tell(f"  {line}")
        self._tell(f"{_result(own, payoffs[1 - seat])}. Score: {self.score()}.")
        self._tell("")

    def _answer(self, known: str, actions: Sequence[str]) -> int:
        """Ask until the person makes a move, and return its number."""
        for line in described(self._name, known):
            self._tell(f"  {line}")
        while True:
            moves = "   ".join(f"{number}: {name}" for number, name in enumerate(actions, 1))
            text = self._ask(f"  {moves}   (? for help) > ").strip()
            found = self._move(text, actions)
            if found is not None:
                return found
            self._reply(text, actions)

    def _move(self, text: str, actions: Sequence[str]) -> int | None:
        """Return the number of the move that an answer names; None if it names none, or several."""
        if text.isdecimal():
            return int(text) - 1 if len(text) < 6 and 1 <= int(text) <= len(actions) else None
        if not text:
            return None
        whole = [number for number, name in enumerate(actions) if name.lower() == text.lower()]
        begun = [number for number, name in enumerate(actions) if name.lower().startswith(text.lower())]
        found = whole or begun
        return found[0] if len(found) == 1 else None

    def _reply(self, text: str, actions: Sequence[str]) -> None:
        """Answer what is no move.

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
                    f"That is no move here: type a number from 1 to {len(actions)}, the beginning of one name, or ?"
                ]
        for line in lines:
            self._tell(f"  {line}")

    def _advice(self) -> list[str]:
        if self._last is None:
            return ["You have not decided anything yet."]
        last = self._last
        return [
            f"At your last decision, in game {last.game}{f' ({last.state})' if last.state else ''}, the policy has:",
            *(
                f"  {name}: {likely:.1%}{' (your move)' if number == last.taken else ''}"
                for number, (name, likely) in enumerate(zip(last.actions, last.probabilities, strict=True))
            ),
        ]
