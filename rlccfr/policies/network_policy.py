"""Policies of both players as networks, in games represented by OpenSpiel's states."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rlccfr.archives import has_format, write_archive
from rlccfr.errors import CheckpointError, PolicyError, RLCCFRError
from rlccfr.files import written_atomically
from rlccfr.game import checked_game
from rlccfr.games.walked.generated_form import GENERATED
from rlccfr.games.walked.generated_game import same_games
from rlccfr.networks.learners import prefixed, unprefixed
from rlccfr.networks.row_models import RowModel, new_tensor_model
from rlccfr.networks.row_policies import PlayerPolicies, RowPolicies, compiled_policy
from rlccfr.networks.settings import Approximator
from rlccfr.networks.torch_state import one_thread
from rlccfr.policies.matches import check_same_game
from rlccfr.policies.network_policy_format import FORMAT, SINGLE_FORMAT
from rlccfr.policies.policy_file import damaged, of_another_game, read_policy_archive
from rlccfr.policy import Policy

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.policies.matches import Match
    from rlccfr.policies.trained_responses import TrainedBound


class NetworkPolicy(Policy):
    """A policy of both players as networks, in a game represented by OpenSpiel's states.

    Its action probabilities are given at OpenSpiel's states. If the game is small enough to be compiled, values and
    exploitability are exact; otherwise, they are not known, and policies are compared by matches.

    Args:
        game: the game.
        policies: both players' models. A player may have several, of which it draws one for each game; see
            :class:`rlccfr.networks.row_policies.RowPolicies`.

    Attributes:
        game: the game.
        policies: see above.

    Raises:
        TypeError: ``game`` is not a game.
        PolicyError: the game is not represented by OpenSpiel's states.

    Examples:
        >>> import pyspiel, rlccfr
        >>> game = rlccfr.load_game("phantom_ttt", form="generated")
        >>> policy = rlccfr.NetworkPolicy.uniform(game)
        >>> state = pyspiel.load_game("phantom_ttt").new_initial_state()
        >>> round(policy.action_probabilities(state)[4], 3)
        0.111
    """

    game: Any

    def __init__(self, game: Any, policies: RowPolicies) -> None:
        self.game = checked_game(game)
        self.policies = policies
        if game.form is not GENERATED:
            raise PolicyError(
                f"{game.name!r} is not represented by OpenSpiel's states: load it as 'generated({game.name})'"
            )

    @classmethod
    def are_values_known(cls, game: Any) -> bool:
        """Return whether a game is small enough to be compiled, so that values are exact."""
        return game.tree is not None

    @classmethod
    def uniform(cls, game: Any) -> Self:
        """Return the policy that takes all legal actions with the same probability."""
        return cls(game, RowPolicies())

    @classmethod
    def from_sums(cls, game: Any, sums: Any) -> Self:
        """Return the policy of a run's networks; ``sums`` are their :class:`RowPolicies`."""
        return cls(game, sums)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game.name!r})"

    def action_probabilities(self, state: Any) -> dict[int, float]:
        """Return the policy at a state: the probability of each legal action of the player who acts.

        Args:
            state: a state of OpenSpiel's game. For a game with simultaneous moves, it must be a state of the turn-based
                game, ``game.openspiel_game``.

        Raises:
            PolicyError: ``state`` is not an OpenSpiel state, is a state of another game, or is one where nobody acts.
        """
        if not hasattr(state, "get_game"):
            raise PolicyError(f"action_probabilities needs a state of OpenSpiel's, not {state!r}")
        if not same_games(state.get_game(), self.game.openspiel_game):
            raise PolicyError(
                f"the state belongs to {state.get_game()}, but the policy is for {self.game.name!r}: use states of "
                "policy.game.openspiel_game"
            )
        if state.is_terminal() or state.is_chance_node():
            raise PolicyError("nobody acts at this state: give a state at which a player moves")
        rows = self.game.walks.row_of(state).reshape(1)
        legal = self.game.walks.legal(rows)
        played = self.policies[int(state.current_player())]
        with one_thread():
            weights = self._weights_at(state, played)
            probabilities = sum(
                weight * played.at(number, rows, legal)[0] for number, weight in enumerate(weights) if weight
            )
        probabilities = probabilities / probabilities.sum(dtype=np.float64)  # networks compute in single precision
        return {action: float(probabilities[action]) for action in state.legal_actions()}

    def _weights_at(self, state: Any, played: PlayerPolicies) -> np.ndarray:
        """Return the weights of the policies of the player who acts at a state, (models,).

        A policy's weight is its share, times the probabilities with which it takes the player's moves on the way to the
        state.
        """
        weights = np.array(played.shares)
        if len(weights) == 1:
            return weights
        walks = self.game.walks
        own_rows = []
        own_actions = []
        earlier = self.game.openspiel_game.new_initial_state()
        for action in state.history():
            if earlier.current_player() == state.current_player():
                own_rows.append(walks.row_of(earlier))
                own_actions.append(action)
            earlier.apply_action(action)
        if not own_rows:
            return weights
        rows = np.array(own_rows, walks.row_type)
        legal = walks.legal(rows)
        moves = np.arange(len(rows))
        for number in range(len(weights)):
            weights[number] *= played.at(number, rows, legal)[moves, own_actions].prod()
        # If no policy would have come here, any of them may go on.
        return weights if weights.any() else np.array(played.shares)

    @cached_property
    def tabulated(self) -> Policy:
        """The same policy as a table over the compiled game's infosets.

        Raises:
            PolicyError: the game is not compiled; see :attr:`rlccfr.GeneratedGame.tree`.
        """
        if self.game.tree is None:
            raise PolicyError(
                f"{self.game.name!r} can't be compiled, so exact payoffs and best responses are not known: "
                "play matches (`rlccfr match --pairs 2000`), or train opponents (`rlccfr solve --against`)"
            )
        with one_thread():
            return Policy(self.game.tree, compiled_policy(self.game, self.policies))

    @property
    def probabilities(self) -> np.ndarray:  # type: ignore[override]
        """Action probabilities, (m,), in the compiled game, if it is small enough; see :attr:`tabulated`."""
        return self.tabulated.probabilities

    def _centred_values(self) -> tuple[float, float, float, float]:
        """See :meth:`Policy._centred_values`."""
        return self.tabulated._centred_values()

    def _best_responses(self) -> Policy:
        """See :meth:`Policy._best_responses`."""
        return self.tabulated._best_responses()

    def best_response(self, player: int | None = None) -> Policy:
        """Return a best response to the policy, as a policy of the compiled game; see :meth:`Policy.best_response`."""
        return self.tabulated.best_response(player)

    def against(self, other: Policy) -> Match:
        """Return the exact expected payoffs of this policy against another one, in both seats.

        Args:
            other: a policy of this game, or of the same game compiled.

        Raises:
            PolicyError: the game can't be compiled, or the other policy is for another game.
        """
        return self.tabulated.against(other.tabulated)

    def value_against(self, other: Policy, progress: Callable[[float], None] | None = None) -> float:
        """See :meth:`Policy.value_against`."""
        return self.tabulated.value_against(other.tabulated, progress)

    def seated_with(self, other: NetworkPolicy) -> NetworkPolicy:  # type: ignore[override]
        """Return the policy that plays like this one in player 0's seat, and like ``other`` in player 1's seat.

        Raises:
            PolicyError: the policies are for different games.
        """
        check_same_game(self, other)
        return type(self)(self.game, self.policies.seated_with(other.policies))

    @classmethod
    def from_openspiel(cls, game: Any, policy: Any) -> Self:
        """Raise an error, since a policy of OpenSpiel's is not a network.

        Raises:
            PolicyError: always.
        """
        compiled = "which is too large" if game.tree is None else f"load_game({game.tree.name!r})"
        raise PolicyError(
            f"a policy of OpenSpiel's is not a network: it can be converted only for the compiled game, {compiled}"
        )

    def to_openspiel(self) -> Any:
        """Return an ``open_spiel.python.policy.Policy`` whose ``game`` is the turn-based game."""
        from rlccfr.policies.network_matches import openspiel_policy

        return openspiel_policy(self.game.openspiel_game, self.action_probabilities)

    def trained_bound(
        self,
        steps: int = 40_000,
        opponents: int = 3,
        games: int = 4_000,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> TrainedBound:
        """Estimate a lower bound on the policy's exploitability by opponents that are trained against it.

        For each seat, some opponents are trained by Stable-Baselines3's PPO. The opponent with the highest mean payoff
        then plays further games, and the estimate is computed from these. If the game is small enough to be compiled,
        :meth:`exploitability` is exact.

        Args:
            steps: training steps of each opponent, rounded up to a multiple of 2,048; 40,000 take about ten CPU
                seconds.
            opponents: number of opponents for each seat, with different seeds.
            games: number of games that each trained opponent plays; the best opponent then plays as many again.
            seed: seed of training and games.
            progress: function called with the fraction of the training that is done.

        Raises:
            PolicyError: a number is not a whole number, or is too small.

        Examples:
            >>> import rlccfr
            >>> policy = rlccfr.NetworkPolicy.uniform(rlccfr.load_game("generated(kuhn)"))
            >>> bound = policy.trained_bound(steps=4000, opponents=1)
            >>> 0.3 < bound.value < policy.exploitability() + bound.error  # 0.458
            True
        """
        from rlccfr.policies.trained_responses import trained_bound

        return trained_bound(self, steps, opponents, games, seed, progress)

    def to_frame(self) -> pd.DataFrame:
        """Return the compiled game's table; see :meth:`Policy.to_frame` and :attr:`tabulated`."""
        return self.tabulated.to_frame()

    @classmethod
    def check_path(cls, path: Path, game: Any) -> None:
        """Check that a policy of a game can be written to a path.

        Raises:
            RLCCFRError: the suffix is not .npz.
        """
        if path.suffix != ".npz":
            raise RLCCFRError(f"networks are saved as .npz, not as {path.suffix or repr(path.name)}")

    def save(self, path: str | Path) -> None:
        """Write the networks to a .npz file, whole or not at all.

        Raises:
            RLCCFRError: the suffix is not .npz.
            CheckpointError: the file can't be written.
        """
        path = Path(path)
        self.check_path(path, self.game)
        with written_atomically(path) as file:
            write_archive(file, self._content())

    def _content(self) -> dict[str, np.ndarray]:
        """Return the networks as named arrays, with a header."""
        header = {
            "format": FORMAT,
            "game": self.game.full_name,
            "game_hash": self.game.content_hash,
            "models": [
                [None if model is None else asdict(model.settings) for model in played.models]
                for played in self.policies
            ],
            "shares": [played.shares for played in self.policies],
            "fallbacks": [played.fallback for played in self.policies],
        }
        arrays = {"header": np.array(json.dumps(header))}
        for player, played in enumerate(self.policies):
            for number, model in enumerate(played.models):
                if model is not None:
                    arrays |= prefixed(f"model{player}.{number}", model.parameters())
        return arrays

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._content(), self.game)

    @classmethod
    def load(cls, path: str | Path, game: Any = None) -> Self:
        """Read networks that were saved as .npz.

        Args:
            path: the file.
            game: the game that the policy is for; by default it is loaded by the name in the file.

        Raises:
            TypeError: ``game`` is not a game.
            CheckpointError: the file is missing or damaged, or its policy is for another game or version of the game.
            GameError: the game that the file names can't be loaded.
        """
        from rlccfr.games.names import load_game

        path = Path(path)
        if path.suffix != ".npz":
            raise CheckpointError(f"networks are in files that end with .npz, not in {path}")
        is_single = has_format(path, SINGLE_FORMAT)
        header, arrays = read_policy_archive(path, SINGLE_FORMAT if is_single else FORMAT, "network policy")
        policy_game = load_game(header["game"]) if game is None else checked_game(game)
        if header["game_hash"] != policy_game.content_hash:
            raise of_another_game(path, header["game"], policy_game)
        try:
            return cls(policy_game, _policies_of(policy_game, header, arrays))
        except MemoryError:
            raise
        except Exception as error:  # the errors of damaged files have no common base
            raise damaged(path, error) from error


def _restored(kind: type[NetworkPolicy], content: dict[str, np.ndarray], game: Any) -> NetworkPolicy:
    """Return the policy whose content :meth:`NetworkPolicy._content` returned, for ``pickle`` and ``copy``."""
    return kind(game, _policies_of(game, json.loads(str(content["header"])), content))


def _of_several(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file in :data:`SINGLE_FORMAT` as they are in the present format."""
    header = header | {"models": [[settings] for settings in header["models"]], "shares": [[1.0], [1.0]]}
    several: dict[str, np.ndarray] = {}
    for player in (0, 1):
        several |= prefixed(f"model{player}.0", unprefixed(f"model{player}", arrays))
    return header, several


def _policies_of(game: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> RowPolicies:
    """Return both players' models from a header and arrays.

    Raises:
        ValueError: the shares of a player's models do not belong to them.
    """
    if header["format"] == SINGLE_FORMAT:
        header, arrays = _of_several(header, arrays)
    policies = []
    for player, (settings_of_models, shares, fallback) in enumerate(
        zip(header["models"], header["shares"], header["fallbacks"], strict=True)
    ):
        if len(shares) != len(settings_of_models) or min(shares) < 0 or not math.isclose(sum(shares), 1.0):
            raise ValueError(f"player {player} has {len(settings_of_models)} models with the shares {shares}")
        models = tuple(
            _model_of(game, settings, unprefixed(f"model{player}.{number}", arrays))
            for number, settings in enumerate(settings_of_models)
        )
        policies.append(PlayerPolicies(models, tuple(shares), fallback))
    return RowPolicies(*policies)


def _model_of(game: Any, settings: dict[str, Any] | None, saved: dict[str, np.ndarray]) -> RowModel | None:
    """Return a model of a game's rows from its settings and arrays; None for the uniform policy."""
    if settings is None:
        return None
    model = new_tensor_model(game.walks, Approximator(**settings), [0])
    model.restore_parameters(saved)
    return model
