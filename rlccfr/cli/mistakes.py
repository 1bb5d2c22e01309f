"""Messages for wrong command lines: one line that says what is wrong, and what to write instead.

Typer finds the mistakes, but its messages do not say how to write a number that is in a wrong form. Some versions of
Typer raise errors of Click, others of their own copy of it: the classes have the same names, and the messages begin
alike.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rlccfr.cli.command import shown_name, values_of
from rlccfr.errors import brief, nearest

OTHER_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Hyphens, dashes and a minus sign that web pages and word processors put in place of ``-`` or ``--``."""

SEPARATORS = r".,_'\u2019\s"
"""Characters, for a set in a regular expression, that people write between digits; ``\\s`` stands for all spaces."""

POLICY_SUFFIXES = (".csv", ".json", ".npz")
"""Suffixes of policy files, except for ``.efg``: such a file is taken to be a game."""

SUFFIXES_OF_WHOLE_NUMBERS = {"k": 1e3, "m": 1e6}
"""Letters that people write after whole numbers, and the factor that each stands for."""

SUFFIXES_OF_SECONDS = {"s": 1, "sec": 1, "seconds": 1, "ms": 1e-3, "m": 60, "min": 60, "h": 3600}
"""Units of time that people write after numbers, and the seconds of each; these numbers need not be whole."""


def explained(error: Any, words: Sequence[str]) -> str:
    """Return a one-line message for a usage error.

    Args:
        error: a UsageError of Typer.
        words: the words of the command line, without the program's name.
    """
    for explain in (_wrong_number, _missing_argument, _unknown_command, _unknown_option, _extra_argument):
        line = explain(error, words)
        if line is not None:
            return line
    message: str = error.format_message()
    return message


def _wrong_number(error: Any, words: Sequence[str]) -> str | None:
    """Return a message for a value that is not a number; None for other errors."""
    match = re.search(r"valid (integer|number|float)\b", error.format_message())
    parameter = getattr(error, "param", None)
    if match is None or parameter is None:
        return None
    is_whole = match[1] == "integer"
    suffixes = SUFFIXES_OF_WHOLE_NUMBERS if is_whole else SUFFIXES_OF_SECONDS
    line = f"{shown_name(parameter)} takes a {'whole ' if is_whole else ''}number"
    # The error names the option but not the value, so find the wrong value on the command line.
    for text in values_of(parameter.opts, words):
        if _is_number(text, int if is_whole else float):
            continue
        meant = _numbers_meant(text, suffixes, is_whole=is_whole)
        if not meant:
            return f"{line}, such as {'1000' if is_whole else '0.5'}, not {brief(text)}"
        advice = f"write {' or '.join(meant)}"
        if len(meant) > 1:
            advice += ", since its separator may mark decimals or thousands"
        return f"{line}, not {brief(text)}: {advice}"
    return line


def _is_number(text: str, kind: Callable[[str], float]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _numbers_meant(text: str, suffixes: dict[str, float], *, is_whole: bool) -> list[str]:
    """Return the numbers that a string such as ``1,000``, ``1e3`` or ``5s`` may stand for, in the right form.

    There are two if the separator may mark decimals or thousands: for ``10.000`` if the number must be whole, and for
    ``1,500`` if it need not be. A comma in a whole number separates thousands. If the string does not stand for a
    number, the list is empty.
    """
    match = re.fullmatch(rf"([+-]?[\d{SEPARATORS}]*\d(?:e\+?\d{{1,2}})?)\s*([a-z]*)", text.strip().lower())
    if match is None or (match[2] and match[2] not in suffixes):
        return []
    grouped = _without_groups(match[1])
    if is_whole and grouped is None and re.search(r"[.,]\d{3}(?!\d)", match[1]):  # 1000,000 has no clear meaning
        return []
    plain = match[1].replace(",", ".")
    forms = [plain]
    if grouped is not None:
        has_plain_form = ("," if is_whole else ".") not in match[1]
        forms = [plain, grouped] if has_plain_form else [grouped]
    values = [float(form) * suffixes.get(match[2], 1) for form in forms if _is_number(form, float)]
    if is_whole:
        return [f"{value:.0f}" for value in values if value.is_integer() and value <= sys.maxsize]
    return [f"{value:.12g}" for value in values]


def _without_groups(digits: str) -> str | None:
    """Return a number whose digits are in groups of three, such as ``1,500.5``, without the separators of the groups.

    Return None if a group has another length, or if the separators differ.
    """
    match = re.fullmatch(rf"([+-]?[1-9]\d{{0,2}})([{SEPARATORS}])(\d{{3}}(?:\2\d{{3}})*)(?:[.,](\d+))?", digits)
    if match is None:
        return None
    first, sign, others, decimals = match.groups()
    if decimals is not None and sign == digits[-len(decimals) - 1]:
        return None
    return first + others.replace(sign, "") + ("" if decimals is None else f".{decimals}")


def _missing_argument(error: Any, words: Sequence[str]) -> str | None:
    """Return a message for a missing argument, with all arguments of the command; None for other errors."""
    parameter = getattr(error, "param", None)
    if type(error).__name__ != "MissingParameter" or parameter is None or parameter.param_type_name != "argument":
        return None
    context = error.ctx
    names = [_argument_name(argument) for argument in _arguments(context)]
    line = f"{_argument_name(parameter)} is missing: write {context.command_path} {' '.join(names)}"
    # The usual mistake is a policy where the game comes first.
    policies = [word for word in words if Path(word).suffix in POLICY_SUFFIXES]
    if names[0] == "GAME" and len(names) > 1 and policies:
        line += ", the game first"
    return f"{line}; {_help_of(context)}"


def _unknown_command(error: Any, words: Sequence[str]) -> str | None:
    """Return a message for an unknown command; None for other errors."""
    match = re.match(r"No such command ['\"](.*?)['\"]", error.format_message())
    if match is None:
        return None
    word = match[1]
    context = error.ctx
    path = context.command_path
    line = f"there is no command {brief(word)}"
    # People also type a game that they want to solve, or a policy that they want to see.
    if context.parent is None and _is_game(word):
        return f"{line}; to solve the game: {path} solve {shlex.quote(word)}"
    if context.parent is None and Path(word).suffix in POLICY_SUFFIXES:
        return f"{line}; to show a policy: {path} show {shlex.quote(word)}"
    paths = _shown_commands(context, context.command)
    near = nearest(word, paths)
    if near is not None:
        return f"{line}; did you mean `{path} {paths[near]}`?"
    return f"{line}; `{path} --help` lists the commands"


def _shown_commands(context: Any, group: Any) -> dict[str, str]:
    """Return how to call each command that a group's help shows, by the command's name.

    Commands of subgroups are included: ``{"solve": "solve", "table": "results table"}``.
    """
    paths: dict[str, str] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        paths[name] = name
        if hasattr(command, "list_commands"):
            inner = _shown_commands(context, command)
            # If a group and its subgroup have commands of one name, the group's own is meant.
            paths = {**{inner_name: f"{name} {path}" for inner_name, path in inner.items()}, **paths}
    return paths


def _is_game(word: str) -> bool:
    """Return whether a word is a game's name, apart from its case and its parameters."""
    import pyspiel

    from rlccfr.games.names import NAMED_GAMES, PARAMETRISED
    from rlccfr.games.public.names import PUBLIC

    name = word.partition("(")[0].strip().lower()
    return name.endswith(".efg") or name in {*NAMED_GAMES, *PARAMETRISED, *PUBLIC, *pyspiel.registered_names()}


def _unknown_option(error: Any, words: Sequence[str]) -> str | None:
    """Return a message for an unknown option; None for other errors."""
    given_name = getattr(error, "option_name", None)
    if given_name is None or type(error).__name__ != "NoSuchOption":
        return None
    context = error.ctx
    options = _options(context)
    # After a single dash, Click reads each letter as an option, and names only the first.
    for word in words:
        name = word.partition("=")[0]
        if not word.startswith("--") and word.startswith(given_name) and f"-{name}" in options:
            return f"there is no option {brief(name)}; write -{name}, with two dashes"
    line = f"`{context.command_path}` has no option {given_name}"
    for parameter in context.find_root().command.params:
        if given_name in parameter.opts:
            value = "" if parameter.is_flag else " FILE"
            return f"{line}; write {given_name}{value} before the command"
    near = nearest(given_name.replace("_", "-"), options)
    return f"{line}; {f'did you mean {near}? ' if near else ''}{_help_of(context)}"


def _extra_argument(error: Any, words: Sequence[str]) -> str | None:
    """Return a message for more arguments than the command takes; None for other errors."""
    match = re.search(r"unexpected extra arguments?(?:\(s\))? \((.*)\)$", error.format_message(), re.DOTALL)
    if match is None:
        return None
    context = error.ctx
    extra = match[1]
    word = extra.partition(" ")[0]
    arguments = _arguments(context)
    options = _options(context)
    name = word.lstrip(OTHER_DASHES).partition("=")[0]
    # A dash that was pasted from a web page makes an argument out of an option.
    if word[:1] and word[0] in OTHER_DASHES:
        near = nearest(f"--{name}", options)
        return f"{brief(word)} begins with a dash of another kind: write {near or f'--{name}'}"
    names = " ".join(map(_argument_name, arguments)) or "no arguments"
    line = f"`{context.command_path}` takes {names}, not also {brief(extra)}"
    # The word may be an option without its dashes.
    for parameter in context.command.params:
        if f"--{name}" in parameter.opts:
            return f"{line}: write {shown_name(parameter)}"
    # A number alone is most likely meant as a budget.
    if "--iterations" in options and extra in words and (meant := _numbers_meant(extra, {}, is_whole=True)):
        budgets = [f"--iterations {number}" for number in meant]
        return f"{line}: write {', or '.join(budgets if len(meant) > 1 else [*budgets, f'--seconds {meant[0]}'])}"
    if "--game" in options and _is_game(word):
        return f"{line}: write --game {shlex.quote(word)}"
    if _is_game(word) and [argument.name for argument in arguments] == ["game"]:
        return f"{line}: run it once for each game"
    return f"{line}; {_help_of(context)}"


def _arguments(context: Any) -> list[Any]:
    """Return a command's arguments."""
    return [parameter for parameter in context.command.params if parameter.param_type_name == "argument"]


def _options(context: Any) -> list[str]:
    """Return the long names of a command's options, including those for ``--option``."""
    return [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]


def _argument_name(argument: Any) -> str:
    """Return an argument's name as the help shows it: GAME."""
    name: str = argument.name.upper()
    return f"[{name}]" if not argument.required else name


def _help_of(context: Any) -> str:
    """Return advice to read the command's help."""
    return f"see `{context.command_path} --help`"
