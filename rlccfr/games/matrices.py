"""Matrix games: both players choose once, without seeing the other's choice."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from rlccfr.errors import GameError, brief, first_line
from rlccfr.game import OpponentPayoffs
from rlccfr.games.claims import sum_tolerance
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game

COMPUTED = 16
"""If both players' payoffs add up to a constant of at most this multiple of their rounding error, it counts as 0.

The rounding error is the machine epsilon times the sum of the absolute values of the payoffs. A sum that is exactly
equal in all entries has no rounding error, and is kept.
"""


def matrix_game(
    payoffs: npt.ArrayLike,
    opponent_payoffs: npt.ArrayLike | None = None,
    *misplaced_names: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> GameTree:
    """Return a game in which both players choose once, without seeing the other's choice.

    ``matrix_game(A)`` is the zero-sum game in which player 1 gets ``-A``. ``matrix_game(A, B)`` takes the payoffs of
    both players, as other libraries do; ``A + B`` must be constant. Such a game has the same equilibria as the zero-sum
    game of ``A``, which is solved instead. Values are player 0's; ``game.opponent_payoffs`` turns them into player 1's.

    Args:
        payoffs: (rows, columns) player 0's payoffs.
        opponent_payoffs: (rows, columns) player 1's payoffs; by default the negatives of player 0's.
        misplaced_names: not allowed; the error for them says that names are given by keyword.
        rows: names of player 0's actions; by default their numbers.
        columns: names of player 1's actions; by default their numbers.

    Raises:
        GameError: the payoffs are not matrices of finite numbers, the game is not constant-sum, or the names do not fit
            it or were not given by keyword.

    Examples:
        >>> import rlccfr
        >>> game = rlccfr.matrix_game([[1, -1], [-1, 1]], rows=["heads", "tails"])
        >>> game.num_infosets, game.num_sequences
        (2, 4)
    """
    import pyspiel

    from rlccfr.games.openspiel import keep_opponent_payoffs, kept_object

    if misplaced_names or _holds_texts(opponent_payoffs):
        raise GameError(
            "give names of actions by keyword, as in matrix_game(payoffs, rows=['a', 'b'], columns=['c', 'd']); "
            "the second argument is for player 1's payoffs"
        )
    matrix, unit = _checked_matrix(payoffs, "payoffs")
    constant = 0.0
    if opponent_payoffs is not None:
        opponent_matrix, opponent_unit = _checked_matrix(opponent_payoffs, "player 1's payoffs")
        constant = _constant_sum(matrix, opponent_matrix, max(unit, opponent_unit))
    names = [_checked_names(rows, matrix.shape[0], "rows"), _checked_names(columns, matrix.shape[1], "columns")]
    # Equal matrices with equal names share one OpenSpiel game.
    content = (matrix.tolist(), names, constant) if constant else (matrix.tolist(), names)
    key = f"matrix_{hashlib.sha256(repr(content).encode()).hexdigest()[:12]}"
    spiel_game = kept_object(f"{key}()")
    if spiel_game is None:
        # OpenSpiel gets the zero-sum game of player 0's payoffs; what player 1 is paid is kept beside it.
        spiel_game = pyspiel.create_matrix_game(key, "A matrix game", *names, matrix.tolist(), (-matrix).tolist())
        if constant:
            keep_opponent_payoffs(spiel_game, OpponentPayoffs(constant))
    game: GameTree = load_game(spiel_game)
    return game


def _holds_texts(values: Any) -> bool:
    """Return whether a value is a string or a list with a string in it, as names of actions are."""
    return isinstance(values, str) or (
        isinstance(values, (Sequence, np.ndarray)) and any(isinstance(value, str) for value in values)
    )


def _checked_matrix(payoffs: npt.ArrayLike, what: str) -> tuple[np.ndarray, float]:
    """Return payoffs as a float matrix, (rows, columns), and the machine epsilon of their original type.

    Args:
        what: name of the payoffs in the error's message.

    Raises:
        GameError: they are not a matrix of finite real numbers.
    """
    try:
        entries = np.asarray(payoffs)
    except ValueError as error:  # ragged rows
        raise GameError(f"{what} must be a matrix of numbers, with rows of equal length: {first_line(error)}") from None
    except (TypeError, RuntimeError) as error:  # other libraries' arrays that NumPy can't read
        raise GameError(f"{what} can't be turned into a NumPy array: {first_line(error)}") from error
    if np.ma.is_masked(payoffs):
        raise GameError(f"{what} must have no masked entries")
    if entries.dtype.kind not in "biufO":
        raise GameError(f"{what} must be a matrix of real numbers, not of type {entries.dtype}: {brief(payoffs)}")
    if entries.ndim == 0:
        raise GameError(f"{what} must be a matrix that NumPy can read, such as a list of rows, not {brief(payoffs)}")
    if entries.ndim != 2 or not entries.size:
        raise GameError(f"{what} must be a non-empty matrix, not an array of shape {entries.shape}")
    unit = float(np.finfo(entries.dtype if entries.dtype.kind == "f" else np.float64).eps)
    with np.errstate(over="ignore"):  # numbers too large for doubles become infinite, which raises an error below
        matrix = _as_floats(entries, what) if entries.dtype == object else entries.astype(np.float64)
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise GameError(f"{what} must be finite, but the one in row {row}, column {column} is {matrix[row, column]}")
    return matrix, unit


def _as_floats(entries: np.ndarray, what: str) -> np.ndarray:
    """Return a matrix of Python's numbers, such as fractions and integers of any size, as floats.

    Raises:
        GameError: an entry is not a real number, or is too large.
    """
    matrix = np.empty(entries.shape)
    for (row, column), entry in np.ndenumerate(entries):
        place = f"the one in row {row}, column {column}"
        try:
            if not isinstance(entry, Number):  # float() would also accept strings
                raise TypeError
            matrix[row, column] = float(entry)  # type: ignore[arg-type]
        except OverflowError:
            raise GameError(f"{what} must be below {np.finfo(np.float64).max:.2g}, but {place} is larger") from None
        except (TypeError, ValueError):
            raise GameError(f"{what} must be real numbers, but {place} is {brief(entry)}") from None
    return matrix


def _constant_sum(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """Return the constant that both players' payoffs add up to; 0 if it differs from 0 only by rounding.

    Args:
        first, second: (rows, columns) the payoffs of player 0 and of player 1.
        epsilon: machine epsilon of the payoffs' type.

    Raises:
        GameError: the payoffs do not add up to a constant, the constant is too large, or the matrices differ in shape.
    """
    if first.shape != second.shape:
        raise GameError(f"both players' payoffs must have the same shape, not {first.shape} and {second.shape}")
    largest = max(np.abs(first).max(), np.abs(second).max(), np.finfo(np.float64).tiny)
    scaled = first / largest  # so that no sum overflows
    sums = scaled + second / largest
    sizes = np.abs(scaled) + np.abs(second / largest)
    surest = np.unravel_index(sizes.argmin(), sizes.shape)  # where rounding is least
    constant = sums[surest]
    if (np.abs(sums - constant) <= sum_tolerance(sizes, epsilon)).all():
        rounding = COMPUTED * epsilon * sizes[surest]
        alike = (sums == constant).all()  # rounding errors would not leave the same sum everywhere
        if abs(constant) <= rounding and not alike:
            return 0.0
        total = float(first[surest]) + float(second[surest])  # Python's numbers overflow without a warning
        if not math.isfinite(total):
            raise GameError(f"the players' payoffs add up to more than {np.finfo(np.float64).max:.2g}")
        return total
    least = np.unravel_index(sums.argmin(), sums.shape)
    most = np.unravel_index(sums.argmax(), sums.shape)
    places = [
        f"{float(first[place]) + float(second[place]):.16g} in row {place[0]}, column {place[1]}"
        for place in (least, most)
    ]
    raise GameError(
        f"the game is not constant-sum: the players' payoffs add up to {' and to '.join(places)}; only constant-sum "
        "games are solved (if player 1's payoffs fall linearly as player 0's rise, pass only player 0's: the "
        "equilibria are the same)"
    )


def _checked_names(names: Iterable[str] | None, count: int, what: str) -> list[str]:
    """Return the names of a player's actions; by default their numbers.

    Raises:
        GameError: there is not one name for each action, or two names are equal.
    """
    if names is None:
        return list(map(str, range(count)))
    listed = list(map(str, names)) if isinstance(names, Iterable) else []
    if len(listed) != count or len(set(listed)) != count:
        raise GameError(f"{what} must be {count} different names of actions, not {brief(names)}")
    return listed
