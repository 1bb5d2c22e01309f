"""Names of games with parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlccfr.errors import GameError, brief


@dataclass(frozen=True)
class Parametrised:
    """Games whose names take parameters, such as ``leduc(ranks=4)``.

    Attributes:
        name: name of the games without parameters.
        parameters: default, least and greatest value of each parameter, by its name.
        of_other_forms: further parameters, each with an example of its value; a name with one of them stands for a
            game in another form.
    """

    name: str
    parameters: Mapping[str, tuple[int, int, int]]
    of_other_forms: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    @property
    def example(self) -> str:
        """Example of a name with all parameters but those of other forms."""
        defaults = {name: bounds[0] for name, bounds in self.parameters.items()} or self.of_other_forms
        values = ",".join(f"{name}={value}" for name, value in defaults.items())
        return f"{self.name}({values})"

    def values(self, arguments: Mapping[str, int]) -> dict[str, int]:
        """Return the value of each parameter; a parameter without an argument has its default.

        Raises:
            GameError: a parameter is unknown, or a value is out of range.
        """
        for parameter, value in arguments.items():
            if parameter not in self.parameters:
                known = [*self.parameters, *self.of_other_forms]
                if len(known) == 1:
                    raise GameError(f"{self.name} has only the parameter {known[0]}: leave out {parameter!r}")
                raise GameError(f"{self.name} has the parameters {', '.join(known)}, not {parameter!r}")
            _, least, most = self.parameters[parameter]
            if not least <= value <= most:
                raise GameError(f"{parameter} of {self.name} must be from {least} to {most}, not {value}")
        return {name: bounds[0] for name, bounds in self.parameters.items()} | dict(arguments)


@dataclass(frozen=True)
class InOpenSpiel(Parametrised):
    """Games of OpenSpiel's with short names that take parameters.

    Attributes:
        template: the OpenSpiel string, with a field for each parameter.
        deck: names of the parameters whose product is the number of cards.
        dealt: number of cards that are dealt; OpenSpiel crashes if the deck has fewer.
    """

    template: str
    deck: tuple[str, ...]
    dealt: int

    def member(self, arguments: Mapping[str, int]) -> str:
        """Return the OpenSpiel string of the game with these arguments.

        Raises:
            GameError: a parameter is unknown, a value is out of range, or the deck is too small.
        """
        values = self.values(arguments)
        if math.prod(values[name] for name in self.deck) < self.dealt:
            raise GameError(
                f"{self.name} deals {self.dealt} cards: {' times '.join(self.deck)} must be at least that many"
            )
        return self.template.format(**values)


def parts_of(name: str, games: Mapping[str, Parametrised]) -> tuple[str, dict[str, int]] | None:
    """Return the parts of a name, as :func:`parsed` does, if it is a name of one of ``games``; else None.

    Raises:
        GameError: a parameter is given twice or is not a whole number, or the closing bracket is missing.
    """
    parts = parsed(name)
    if parts is not None:
        return parts if parts[0] in games else None
    kind, bracket, _ = name.partition("(")
    if not bracket or kind.strip() not in games:
        return None
    if not name.endswith(")"):
        raise GameError(f"{brief(name)} has no closing bracket at its end")
    example = games[kind.strip()].example
    raise GameError(f"the parameters of {brief(name)} must be non-negative whole numbers, as in {example!r}")


def parsed(name: str) -> tuple[str, dict[str, int]] | None:
    """Return the short name and the arguments of a name such as ``leduc(ranks=4)``; None for a name of another form.

    Raises:
        GameError: a parameter is given twice.
    """
    match = re.fullmatch(r"(\w+)(?:\(((?:\s*\w+\s*=\s*\d{1,18}\s*(?:,(?!\s*\))|(?=\))))*)\))?", name)
    if match is None:
        return None
    arguments = re.findall(r"(\w+)\s*=\s*(\d+)", match[2] or "")
    if len(dict(arguments)) < len(arguments):
        raise GameError(f"{name!r} gives a parameter twice")
    return match[1], {parameter: int(value) for parameter, value in arguments}


def name_taken(name: str, what: str) -> GameError:
    """Return the error for a name under which another game was registered than the one that the name stands for.

    Args:
        name: the name.
        what: what the name stands for.
    """
    return GameError(f"{name!r} is {what}, but another game is registered under that name: rename your game")
