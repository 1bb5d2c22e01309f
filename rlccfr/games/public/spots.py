"""Names of no-limit subgames: full names, and files in the formats of other programs.

A full name is ``subgame`` and a JSON object of all arguments. The formats of files are:

- *TexasSolver's commands*, one per line, such as ``set_board Qs,Jh,2h`` and ``set_bet_sizes oop,flop,bet,50``. Commands
  on how to run, such as ``set_thread_num 8``, are ignored. Bets are rounded to hundredths.
- *PioSOLVER's script lines*: ``#Board#Qs Jh 2h``, ``#FlopConfig.BetSize#50``. A setting that changes the tree and that
  this library does not support is an error unless it is off.
- *The JSON of Noam Brown's river solver*: board, pot, stack, bet sizes as shares of the pot, and each player's hands
  with weights. Bets are rounded to hundredths.
- *This library's own JSON*: an object of arguments of :func:`rlccfr.subgame`.

Only the sizes and thresholds that a file states are used, not the program's defaults. For example, TexasSolver's
defaults are an all-in threshold of 0.67 and at most four raises; here, a file without ``set_allin_threshold`` has no
threshold, and raises are not limited. Trees are built by the rules of :mod:`rlccfr.games.public.bet_sizes`, even where
those of the program differ. For example, TexasSolver leaves out an all-in if the least legal raise is larger. When it
applies the threshold, it adds half of the pot to the stack and to the chips that a player has put in.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rlccfr.errors import GameError, brief, what_failed
from rlccfr.files import refuse_repeated_keys
from rlccfr.games.gambit.files import path_shown, read_text
from rlccfr.games.public.bet_sizes import SIDES, STREETS, parsed_sizes
from rlccfr.games.public.subgame import DEFAULTS, PREFIX, RAKE_ADVICE, REQUIRED, Subgame, SubgameRules

SUFFIXES = (".txt", ".json")
"""Suffixes of files that describe subgames."""

CENT = 0.01
"""Smallest chip in files of programs that compute with fractions of chips."""

_RUN_COMMANDS = {
    "build_tree", "start_solve", "set_thread_num", "set_accuracy", "set_max_iteration", "set_print_interval",
    "set_use_isomorphism", "set_dump_rounds", "dump_result",
}  # fmt: skip
"""TexasSolver's commands on how to run, which say nothing about the game."""

_OFF = {"", "0", "false", "nolimit"}
"""Values that turn PioSOLVER's settings off."""

_TEXAS_FILLER_WEIGHT = 0.005
"""TexasSolver leaves out hands of at most this weight, with which its files fill up ranges."""

_RIVER_KEYS = {"board", "pot", "stack", "bet_sizes", "include_all_in", "max_raises", "players"}
"""Keys of a file of Noam Brown's river solver."""

_MOST_RAISES = 1000
"""Noam Brown's river solver allows this many raises if a file does not set ``max_raises``."""


def is_spot_file(name: Any) -> bool:
    """Return whether a name has the suffix of a file that describes a subgame."""
    return isinstance(name, str) and name.lower().endswith(SUFFIXES)


def read_spot(name: str) -> dict[str, Any]:
    """Return the arguments of :func:`rlccfr.subgame` that a file stands for.

    Args:
        name: the file's path.

    Raises:
        GameError: the file can't be read, is in none of the formats, or has a setting that this library does not
            support. The message names the line or the setting, if one is at fault.
    """
    path = Path(name).expanduser()
    text = read_text(path, "a subgame's file")
    shown = path_shown(path.resolve())
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line]
    if not lines:
        raise GameError(f"{shown} is empty; write a board, ranges, a pot, a stack and bet sizes")
    # Suffixes do not tell the formats apart: the first line does and, between the two of JSON, the keys.
    if lines[0][1].startswith("{"):
        return _from_json(text, shown)
    if lines[0][1].startswith("#"):
        return _from_pio(lines, shown)
    if lines[0][1].startswith(("set_", "build_tree")):
        return _from_texas_solver(lines, shown)
    raise _unfitting(shown, *lines[0])


def _unfitting(shown: str, number: int, line: str) -> GameError:
    """Return the error for a line that is in none of the formats."""
    return GameError(
        f"line {number} of {shown} is {brief(line)}, which is in no known format: lines are like 'set_board Qs,Jh,2h' "
        "(TexasSolver) or '#Board#Qs Jh 2h' (PioSOLVER), and JSON begins with a brace"
    )


def _amount(text: str, place: str) -> float:
    """Return a number in a file.

    Raises:
        GameError: ``text`` is not a finite number.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GameError(f"{place} has {brief(text)} instead of a number")
    return int(number) if number == int(number) else number


class _Sizes:
    """Lists of sizes, filled while a file is read: by kind, then by street, then for each player."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, tuple[list[str], list[str]]]] = {
            kind: {street: ([], []) for street in STREETS} for kind in ("bets", "raises", "donk")
        }

    def add(self, kind: str, street: str, player: int, sizes: list[str]) -> None:
        """Add sizes to a list."""
        self.lists[kind][street][player].extend(sizes)

    def replace(self, kind: str, street: str, player: int, sizes: list[str]) -> None:
        """Replace the sizes of a list."""
        self.lists[kind][street][player][:] = sizes

    def arguments(self) -> dict[str, Any]:
        """Return the arguments ``bets``, ``raises`` and ``donk``."""
        arguments: dict[str, Any] = {
            kind: {street: (",".join(first), ",".join(second)) for street, (first, second) in self.lists[kind].items()}
            for kind in ("bets", "raises")
        }
        arguments["donk"] = {street: ",".join(players[0]) for street, players in self.lists["donk"].items()}
        return arguments


def _from_texas_solver(lines: list[tuple[int, str]], shown: str) -> dict[str, Any]:
    """Return the arguments that TexasSolver's commands stand for."""
    arguments: dict[str, Any] = {"chip": CENT}
    sizes = _Sizes()
    all_ins: set[tuple[int, str]] = set()
    for number, line in lines:
        command, _, value = line.partition(" ")
        value = value.strip()
        place = f"line {number} of {shown}"
        if command == "set_board":
            arguments["board"] = value
        elif command in ("set_range_oop", "set_range_ip"):
            arguments[command.removeprefix("set_range_")] = _without_fillers(value)
        elif command in ("set_pot", "set_effective_stack"):
            arguments["pot" if command == "set_pot" else "stack"] = _amount(value, place)
        elif command == "set_allin_threshold":
            arguments["commit"] = _amount(value, place)
        elif command == "set_bet_sizes":
            _read_texas_sizes(sizes, all_ins, value, place)
        elif command.startswith("set_") and command not in _RUN_COMMANDS:
            raise GameError(f"{place} has the command {command}{_advice_on(command)}")
        elif command not in _RUN_COMMANDS:
            raise _unfitting(shown, number, line)
    # All-ins come last, since a line of sizes replaces the sizes before it.
    for player, street in sorted(all_ins):
        for kind in ("bets", "raises", "donk"):
            sizes.add(kind, street, player, ["a"])
    return {**arguments, **sizes.arguments()}


def _without_fillers(text: str) -> str:
    """Return a range without the hands that TexasSolver leaves out of it."""

    def is_kept(item: str) -> bool:
        _, colon, weight = item.partition(":")
        try:
            return not colon or float(weight) > _TEXAS_FILLER_WEIGHT
        except ValueError:  # an error in the range, which is reported once the range is read
            return True

    return ",".join(item for item in text.split(",") if is_kept(item))


def _advice_on(command: str) -> str:
    """Return what to do about a command of TexasSolver's that is not read."""
    if "rake" in command:
        return f": {RAKE_ADVICE}"
    known = [*_TEXAS_COMMANDS.values(), *_RUN_COMMANDS, "set_bet_sizes", "set_allin_threshold"]
    meant = get_close_matches(command, known, 1)
    return f": did you mean {meant[0]}?" if meant else ", which this library does not support: leave it out"


def _read_texas_sizes(sizes: _Sizes, all_ins: set[tuple[int, str]], value: str, place: str) -> None:
    """Read a line such as ``set_bet_sizes oop,flop,bet,50``; of lines with the same beginning, the last one counts.

    A plain number is in per cent of the pot, as in TexasSolver; other sizes are in this library's grammar.

    Args:
        sizes: lists of sizes, one of which the line replaces.
        all_ins: pairs of a player and a street that have an all-in; a line such as ``set_bet_sizes ip,river,allin``
            adds one.
        value: what follows the command.
        place: where the line is, for errors.

    Raises:
        GameError: the line is not of this form.
    """
    side, street, kind, *numbers = [*(part.strip() for part in value.split(",")), "", ""]
    amounts = [f"{number}%" if number.replace(".", "", 1).isdecimal() else number for number in numbers if number]
    is_known = side in SIDES and street in STREETS and kind in ("bet", "raise", "donk", "allin")
    if not is_known or bool(amounts) == (kind == "allin"):
        raise GameError(f"{place} has the sizes {value!r}; they are like 'oop,flop,bet,50' or 'ip,river,allin'")
    player = SIDES.index(side)
    if kind == "allin":
        all_ins.add((player, street))
    else:
        parsed_sizes(",".join(amounts), place, raises=kind == "raise")  # so that an error names the line
        sizes.replace({"bet": "bets", "raise": "raises", "donk": "donk"}[kind], street, player, amounts)


_PIO_NUMBERS = {"Pot": "pot", "EffectiveStacks": "stack", "MinimumBetsize": "min_bet"}
_PIO_TEXTS = {"Board": "board", "Range0": "oop", "Range1": "ip"}
_PIO_LISTS = {"BetSize": "bets", "RaiseSize": "raises", "DonkBetSize": "donk"}
_PIO_STREET = re.compile(r"(Flop|Turn|River)Config(IP)?\.(\w+)")
_PIO_IGNORED = {"TreeBuilding", "Rake.Cap", "Cap", "CapMode", "ICM.Stacks", "ICM.Payouts"}
"""Settings that are ignored, since by themselves they change nothing."""


def _from_pio(lines: list[tuple[int, str]], shown: str) -> dict[str, Any]:
    """Return the arguments that PioSOLVER's script lines stand for."""
    arguments: dict[str, Any] = {}
    sizes = _Sizes()
    adds_all_in: list[tuple[str, int]] = []
    most_of_pot = math.inf
    rake_place = ""
    has_rake = True  # unless a line turns it off
    for number, line in lines:
        match = re.fullmatch(r"#([\w.]+)#(.*)", line)
        if match is None:
            raise _unfitting(shown, number, line)
        key, value = match[1], match[2].strip()
        place = f"line {number} of {shown}"
        if key in _PIO_TEXTS:
            arguments[_PIO_TEXTS[key]] = value
        elif key in _PIO_NUMBERS:
            arguments[_PIO_NUMBERS[key]] = _amount(value, place)
        elif key == "Rake.Fraction":
            rake_place = place if _amount(value or "0", place) else ""
        elif key == "Rake.Enabled" and value.lower() in _OFF:
            has_rake = False
        elif key == "AllinThreshold":
            arguments["commit"] = _amount(value, place) / 100
        elif key == "AddAllinOnlyIfLessThanThisTimesThePot":
            most_of_pot = _amount(value, place)
        elif street := _PIO_STREET.fullmatch(key):
            name, player = street[1].lower(), int(street[2] is not None)
            if street[3] in _PIO_LISTS:
                sizes.add(_PIO_LISTS[street[3]], name, player, [size for size in re.split(r"[,\s]+", value) if size])
            elif street[3] == "AddAllin" and value.lower() == "true":
                adds_all_in.append((name, player))
            elif value.lower() not in _OFF:
                raise GameError(f"{place} sets {key} to {value!r}, which this library does not support: turn it off")
        elif key not in _PIO_IGNORED and value.lower() not in _OFF:
            raise GameError(f"{place} sets {key} to {value!r}, which this library does not support: turn it off")
    if rake_place and has_rake:
        raise GameError(f"{rake_place} sets a rake, but a game with rake is not zero-sum: add #Rake.Enabled#False")
    # All-ins come last, since only then is it known where there are other sizes.
    for name, player in adds_all_in:
        for kind in ("bets", "raises", "donk"):
            if sizes.lists[kind][name][player]:  # an all-in is added only where there are other sizes
                sizes.add(kind, name, player, [f"a{most_of_pot:g}%" if most_of_pot < 1e5 else "a"])
    # A smallest bet of 0 means that none is set.
    if not arguments.get("min_bet"):
        arguments.pop("min_bet", None)
    return {**arguments, **sizes.arguments()}


def _from_json(text: str, shown: str) -> dict[str, Any]:
    """Return the arguments that a JSON object stands for, in this library's form or in Noam Brown's river solver's."""
    try:
        spec = json.loads(text, object_pairs_hook=refuse_repeated_keys)
    except json.JSONDecodeError as error:
        raise GameError(f"line {error.lineno} of {shown} is not JSON ({error.msg})") from None
    except ValueError as error:
        raise GameError(f"in {shown}, {error}: leave one out") from None
    if "players" not in spec:
        return dict(spec)
    try:
        return _from_river_json(spec, shown)
    except GameError:
        raise
    except Exception as error:  # the errors from a spec of another form have no common base class
        raise GameError(f"{shown} is not a spot of Noam Brown's river solver ({what_failed(error)})") from error


def _from_river_json(spec: Mapping[str, Any], shown: str) -> dict[str, Any]:
    """Return the arguments that the JSON object of Noam Brown's river solver stands for.

    Raises:
        GameError: the object has a setting that this library does not support, or its limit of raises could matter.
    """
    for key, value in spec.items():
        if key not in _RIVER_KEYS and value:
            advice = RAKE_ADVICE if "rake" in key else "this library does not support it: leave it out"
            raise GameError(f"{shown} sets {key}, but {advice}")
    shares = spec["bet_sizes"]
    if not (spec["pot"] > 0 and all(share > 0 for share in shares)):
        raise GameError(f"{shown}: the pot and all bet_sizes must be positive")
    # A raise of a share s multiplies the pot after a call by at least 1 + 2s, until all chips are in it.
    most_raises = min(spec.get("max_raises", _MOST_RAISES), _MOST_RAISES)
    most_growth = most_raises * math.log1p(2 * min(shares, default=math.inf))
    if most_growth < math.log1p(2 * spec["stack"] / spec["pot"]):
        raise GameError(f"{shown} limits max_raises, which this library does not support: leave it out")
    sizes = ",".join([*(f"{100 * share:.12g}%" for share in shares), *["a"] * bool(spec.get("include_all_in", True))])
    first, second = spec["players"]
    board = spec["board"]
    return {
        "board": board if isinstance(board, str) else "".join(board),
        "pot": spec["pot"],
        "stack": spec["stack"],
        "oop": _range_of(first),
        "ip": _range_of(second),
        "bets": sizes,
        "raises": sizes,
        "chip": CENT,
    }


def _range_of(player: Mapping[str, Any]) -> str:
    """Return a player's hands and weights as a range; the largest weight is scaled to 1.

    The weights of a hand that is listed several times add up.
    """
    hands = player["hands"]
    names: dict[frozenset[str], str] = {}
    weights: dict[str, float] = {}
    for hand, weight in zip(hands, player.get("weights") or [1.0] * len(hands), strict=True):
        name = names.setdefault(frozenset((hand[:2], hand[2:])), hand)
        weights[name] = weights.get(name, 0.0) + weight
    largest = max(weights.values())
    return ",".join(f"{hand}:{weight / largest!r}" for hand, weight in weights.items())


def is_subgame(name: Any) -> bool:
    """Return whether a name stands for a subgame: its full name, or a file that describes one."""
    return isinstance(name, str) and (name.startswith(PREFIX + "{") or is_spot_file(name))


_TEXAS_COMMANDS = {
    "board": "set_board", "pot": "set_pot", "stack": "set_effective_stack", "oop": "set_range_oop",
    "ip": "set_range_ip",
}  # fmt: skip
_PIO_KEYS = {argument: key for key, argument in (*_PIO_NUMBERS.items(), *_PIO_TEXTS.items())}


def _command_for(name: str, argument: str) -> str:
    """Return the end of an error message about an argument that a TexasSolver or PioSOLVER file lacks.

    It says which line to add to the file. It is empty if ``name`` is a subgame's full name or a JSON file.
    """
    if not is_spot_file(name) or name.lower().endswith(".json"):
        return ""
    return f": add a line with `{_TEXAS_COMMANDS[argument]}` (TexasSolver) or `#{_PIO_KEYS[argument]}#` (PioSOLVER)"


def rules_named(name: str) -> SubgameRules:
    """Return the rules that a subgame's full name or file stands for.

    Raises:
        GameError: an argument is invalid, or the file can't be read.
    """
    if is_spot_file(name):
        arguments = read_spot(name)
    else:
        try:
            arguments = json.loads(name.removeprefix(PREFIX))
        except json.JSONDecodeError:
            raise GameError(f"{brief(name)} is not the whole name of a subgame: call rlccfr.subgame(...)") from None
    missing = [argument for argument in REQUIRED if argument not in arguments]
    if missing:
        raise GameError(f"{brief(name)} has no {missing[0]}{_command_for(name, missing[0])}")
    # A file may say that there is no rake.
    if arguments.pop("rake", 0) != 0:
        raise GameError(f"{brief(name)} has a rake; {RAKE_ADVICE}")
    unknown = [argument for argument in arguments if argument not in DEFAULTS]
    if unknown:
        raise GameError(f"{brief(name)} has an unknown argument {unknown[0]!r}; arguments are {', '.join(DEFAULTS)}")
    return SubgameRules.of({**DEFAULTS, **arguments})


def subgame_named(name: str, progress: Callable[[float], None] | None = None) -> Subgame:
    """Build the subgame of a full name or of a file; see :func:`rules_named`.

    Args:
        name: the name or the file's path.
        progress: not called.
    """
    rules = rules_named(name)
    return rules.build(None if name.startswith(PREFIX + "{") else name)


def identity_of_subgame(name: str) -> str:
    """Return the full name of the subgame that a full name or a file stands for; see :func:`rules_named`."""
    return rules_named(name).full_name
