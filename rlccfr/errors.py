"""Errors of the library; each message is one line that says what is wrong and what to do."""

from __future__ import annotations

import difflib
import errno
import operator
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterable
from textwrap import shorten
from typing import Any

LONGEST = 300
"""Largest number of characters of a value, or of another library's error, that a message quotes.

The strings of all named games are shorter.
"""

LONGEST_LIST = 500
"""Largest number of characters of a list of ids in a message."""

LEAST_LIKENESS = 0.72
"""Least similarity, from 0 to 1 as :mod:`difflib` measures it, of a suggested name to the name that was typed.

One wrong letter of four gives 0.75. Two unrelated names often have 0.6 to 0.7.
"""


class RLCCFRError(Exception):
    """Base class of this library's errors; the message is one line for a person to read."""


class GameError(RLCCFRError, ValueError):
    """A game that can't be loaded, or that can't be solved soundly."""


class ComponentError(RLCCFRError, ValueError):
    """An unknown component, an invalid hyperparameter or setting, or components that can't be combined."""


class BrokenComponentError(ComponentError):
    """A component whose own code fails: a factory, a schedule, or the function ``buckets``."""


class PolicyError(RLCCFRError, ValueError):
    """Numbers that are not a policy of the game."""


class BudgetError(RLCCFRError, ValueError):
    """A budget that is missing, given twice, invalid or without measurements; or an invalid number, such as a seed."""


class OverflowedError(RLCCFRError, ArithmeticError):
    """A run whose numbers have left the range of floating point."""


class FailedRunError(RLCCFRError, RuntimeError):
    """A run that ended with an error in a function of a component."""


class CheckpointError(RLCCFRError):
    """A saved file that is missing, damaged or made for something else, or a file that can't be written."""


class InUseError(RLCCFRError):
    """A directory or a file that another process is writing to.

    Attributes:
        holder: description of that process.
    """

    def __init__(self, path: object, holder: str, kind: str = "directory") -> None:
        self.holder = holder
        super().__init__(f"{path} is in use by {holder}; wait until it ends, or name another {kind}")


REFUSED_MEMORY = ("can't start new thread", "can't allocate memory", "annot allocate memory", "failed to map segment")
"""Phrases by which Python, PyTorch and the system's loader report that they were refused memory."""


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, says that memory was refused.

    Few of these errors are a ``MemoryError``. The system's loader of libraries raises an ``OSError``. Python raises a
    ``RuntimeError`` when it can't start a thread, and a ``SystemError`` while it imports. Errors of this library, and
    their causes, do not count, since the messages of this library already say what to do.

    Examples:
        >>> from rlccfr.errors import is_out_of_memory
        >>> is_out_of_memory(RuntimeError("can't start new thread"))
        True
        >>> is_out_of_memory(RuntimeError("no such layer"))
        False
    """
    seen: set[int] = set()  # an error may be its own cause
    while error is not None and id(error) not in seen and not isinstance(error, RLCCFRError):
        seen.add(id(error))
        if _says_out_of_memory(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _says_out_of_memory(error: BaseException) -> bool:
    """Return whether this error itself, whatever its causes, says that memory was refused."""
    if isinstance(error, SystemError):
        frames = traceback.extract_tb(error.__traceback__)
        is_in_importer = bool(frames) and frames[-1].filename.startswith("<frozen importlib")
        return is_in_importer or "_find_and_load" in str(error)  # the importer's entry, which C code has called
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if isinstance(error, (OSError, RuntimeError)):
        return any(text in str(error) for text in REFUSED_MEMORY)
    return isinstance(error, MemoryError)


def whole_number(value: Any, name: str, least: int, failure: type[RLCCFRError]) -> int:
    """Return ``value`` as an int; NumPy's integers are accepted, too.

    Args:
        value: value to check.
        name: name of the value in the error's message.
        least: least value allowed.
        failure: class of the error that is raised.

    Raises:
        RLCCFRError: the value is not whole, is below ``least`` or exceeds 64 bits; the error's class is ``failure``.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= sys.maxsize:
        wanted = {0: "a non-negative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least}")
        limit = " of at most 64 bits" if number > sys.maxsize else ""
        raise failure(f"{name} must be {wanted}{limit}, not {brief(value)}")
    return number


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, cut off if it is long; the class's name if the message is empty."""
    return _cut(next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__))


def what_failed(error: BaseException, functions: Iterable[Callable[..., Any]] = (), otherwise: str = "") -> str:
    """Return an error's class, the first line of its message, and the place in the functions' files that raised it.

    Args:
        functions: third-party functions, whose files are looked for in the error's traceback.
        otherwise: text instead of the place, used if the traceback has none of these files.
    """
    return raised_in(error, {function.__code__.co_filename for function in functions}, otherwise)


def raised_in(error: BaseException, files: Collection[str], otherwise: str = "") -> str:
    """Return an error's class, the first line of its message, and the place in ``files`` where it was raised.

    The place is the last one of the traceback that lies in one of the files.

    Args:
        otherwise: text instead of the place, used if the traceback has none of the files.
    """
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    where = f" (line {lines[-1].lineno} of {os.path.basename(lines[-1].filename)})" if lines else otherwise
    return f"{type(error).__name__}: {first_line(error)}{where}"


def what_failed_in(function: Any, error: BaseException) -> str:
    """Return an error's class, the first line of its message, and the place in a callable's file that raised it.

    Args:
        function: a third-party function, ``functools.partial``, or object with ``__call__``.
    """
    function = getattr(function, "func", function)  # of a functools.partial
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return raised_in(error, {code.co_filename} if code else ())


def choices(name: str, known: Collection[str]) -> str:
    """Return a hint for an error's message: the most similar known name or, if no name is similar, all known names."""
    near = nearest(name, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(dict.fromkeys(known))}" if known else "there are none"


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it."""
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like a mistyped name; None if no known name is similar.

    Case does not matter.

    Examples:
        >>> nearest("LEDUK", ["kuhn", "leduc"])
        'leduc'
        >>> nearest("my", ["kuhn", "y"])
    """
    by_lower_case = {known_name.lower(): known_name for known_name in known}
    matches = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=LEAST_LIKENESS)
    return by_lower_case[matches[0]] if matches else None


def brief(value: Any) -> str:
    """Return the representation of ``value`` for a message: on one line, and cut off if it is long."""
    try:
        text = repr(value)
    except Exception:  # of another author's class, or of an integer of more digits than Python writes
        return f"a value of type {type(value).__name__}"
    return _cut(" ".join(line.strip() for line in text.splitlines()))


def listed_ids(names: Iterable[str]) -> str:
    """Return component ids for a message; a list of over :data:`LONGEST_LIST` characters is cut off, with a hint."""
    return shorten(", ".join(names), LONGEST_LIST, placeholder=" and others, which `rlccfr catalog` lists")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
