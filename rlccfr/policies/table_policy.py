"""Policies that are stored as the entries of a run's tables, for games that are not stored as a tree of histories."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rlccfr.errors import PolicyError
from rlccfr.game import checked_game
from rlccfr.games.public.records import DOUBLE, SHORT, SINGLE, SMALLEST
from rlccfr.policy import Policy


class TablePolicy(Policy):
    """Base class of policies that are proportional to the positive parts of a table's entries.

    Args:
        game: the game.
        table: (game.num_sequences,) entries, which are copied; action probabilities are proportional to their positive
            parts. If none of an infoset's entries is positive, its policy is uniform. The type float32 is kept, int16
            is converted to float32, and all others to float64.

    Attributes:
        game: the game.
        table: (m,) the entries, float32 or float64.

    Raises:
        TypeError: ``game`` is not a game.
        PolicyError: the shape is wrong, or an entry is not finite.
    """

    game: Any
    table: np.ndarray

    def __init__(self, game: Any, table: npt.ArrayLike) -> None:
        table = np.asarray(table)
        dtype = SINGLE if table.dtype in (SINGLE, SHORT) else DOUBLE
        table = np.array(table, dtype, order="C")
        self.game = checked_game(game)
        self.table = table
        if table.shape != (game.num_sequences,):
            raise PolicyError(
                f"a policy of {game.name!r} must have the shape ({game.num_sequences},), not {table.shape}"
            )
        if not np.isfinite(table.sum()):
            raise PolicyError("a policy's entries must be finite")

    @classmethod
    def uniform(cls, game: Any) -> Self:
        """Return the policy that takes all legal actions with the same probability."""
        return cls(game, np.broadcast_to(np.zeros((), game.dtype), game.num_sequences))

    @classmethod
    def from_sums(cls, game: Any, sums: np.ndarray) -> Self:
        """Return the policy proportional to ``sums``, shape (m,)."""
        return cls(game, sums)

    def _centred_values(self) -> tuple[float, float, float, float]:
        """See :meth:`Policy._centred_values`."""
        return 0.0, *self._values

    @cached_property
    def _values(self) -> tuple[float, float, float]:
        """The values of the policy and of best responses, which take seconds to compute in large games."""
        return self._computed_values()

    @abstractmethod
    def _computed_values(self) -> tuple[float, float, float]:
        """Return player 0's value of the policy, and each player's value of a best response to it."""

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, whole or not at all: .npz, or for small games .csv, which can't be loaded again.

        A policy of a locked game is written as a policy of the game without the lock.

        Raises:
            RLCCFRError: the suffix does not name a format, or the game is too large for the format.
            CheckpointError: the file can't be written.
        """
        from rlccfr.policies.table_policy_file import save_table_policy

        unlocked: TablePolicy = self.unlocked()  # type: ignore[assignment]
        save_table_policy(unlocked, Path(path))

    @classmethod
    def check_path(cls, path: Path, game: Any) -> None:
        """Check that a policy of a game can be written to a path.

        Raises:
            RLCCFRError: the suffix does not name a format, or the game is too large for the format.
        """
        from rlccfr.policies.table_policy_file import checked_table_path

        checked_table_path(path, game)

    @classmethod
    def load(cls, path: str | Path, game: Any = None) -> Self:
        """Read a policy that was saved as .npz; the result has the class of its game's policies.

        Args:
            path: the file.
            game: the game that the policy is for; by default it is loaded by the name in the file.

        Raises:
            TypeError: ``game`` is not a game.
            CheckpointError: the file is missing or damaged, or its policy is for another game or version of the game.
            GameError: the game that the file names can't be built.
        """
        from rlccfr.policies.table_policy_file import load_table_policy

        policy: Self = load_table_policy(Path(path), game)
        return policy

    @classmethod
    def from_openspiel(cls, game: Any, policy: Any) -> Self:
        """Raise an error, since OpenSpiel can't represent the game.

        Raises:
            PolicyError: always.
        """
        raise PolicyError(
            f"{game.name!r} is represented {game.form.title}, for which OpenSpiel has no policies: choose another game"
        )

    def to_openspiel(self) -> Any:
        """Raise an error, since OpenSpiel can't represent the game.

        Raises:
            PolicyError: always.
        """
        raise PolicyError(
            f"{self.game.name!r} is represented {self.game.form.title}, for which OpenSpiel has no policies: save "
            "the policy as .npz instead"
        )


def shares_of(entries: np.ndarray) -> np.ndarray:
    """Return action probabilities proportional to the positive parts of entries, (decisions, actions, rows)."""
    positive = np.maximum(entries, 0)
    total = positive.sum(axis=1, keepdims=True)
    has_total = total > SMALLEST  # otherwise, the policy is uniform
    shares: np.ndarray = np.where(has_total, positive / np.where(has_total, total, 1), 1 / entries.shape[1])
    return shares
