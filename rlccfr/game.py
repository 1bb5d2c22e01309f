"""What a form of a game must offer.

The same game can be represented in several *forms*, and each form has passes of its own. The two main forms are:

- a *compiled* game (:class:`rlccfr.GameTree`) has a record for each history;
- a *public-tree* game (:class:`rlccfr.PublicGame`) has arrays over private states at each public node.

The rest of the library uses only the protocols :class:`Game` of a game and :class:`RunTables` of a run's tables,
whatever the game's form. The parts of the library that differ between forms (policies, tables, steppers, pages) are
named in a :class:`Form`, to which each game refers. To add a form, write these parts and a line in
:data:`rlccfr.games.names.FORMS`; docs/architecture.md has a worked sketch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

from rlccfr.errors import GameError, brief


class OpponentPayoffs(NamedTuple):
    """Player 1's payoffs, in a game that is solved as the zero-sum game of player 0's payoffs.

    At each terminal history, player 1 gets ``constant - slope * payoff`` where player 0 gets ``payoff``. Both players
    then have the same preferences as in the zero-sum game, so the equilibria are the same.

    Attributes:
        constant: player 1's payoff where player 0's is 0; if the slope is 1, the sum of both players' payoffs.
        slope: positive number; 1 in a zero-sum or constant-sum game.

    Examples:
        >>> import rlccfr
        >>> rlccfr.matrix_game([[1, 0], [0, 1]], [[0, 1], [1, 0]]).opponent_payoffs.at(0.25)
        0.75
    """

    constant: float = 0.0
    slope: float = 1.0

    def at(self, payoff: float) -> float:
        """Return player 1's expected payoff where player 0's is ``payoff``."""
        return self.constant - self.slope * payoff

    def of_both(self, payoff: float) -> tuple[float, float]:
        """Return both players' own expected payoffs where player 0's is ``payoff``."""
        return payoff, self.at(payoff)

    def of_best_responses(self, values: tuple[float, float]) -> tuple[float, float]:
        """Return each player's own payoff from a best response, given both players' values in the zero-sum game."""
        return values[0], self.at(-values[1])


ZERO_SUM = OpponentPayoffs()

PURPOSES = {
    "merge": "abstractions by buckets",
    "lock": "locks",
    "features": "observations of games",
    "states": "lists of states",
    "gains": "gains by state",
    "page": "the explorer",
    "states_below": "explorer pages that begin at a later point",
    "table": "play against a person",
    "played_pairs": "matches that are played out",
}
"""What each optional part of a :class:`Form` is for, in the words of messages, keyed by the attribute's name."""


def in_repr(lock: Any) -> str:
    """Return the part of a game's ``repr`` that describes its lock; an empty string without a lock."""
    return "" if lock is None else f", locked={lock.num_infosets:,}"


class TargetRun(NamedTuple):
    """A run to a target, and the games and targets for which it is used.

    Attributes:
        arguments: arguments of :class:`rlccfr.Solver`.
        law: coefficients (a, b, c) that predict the number n of iterations: log10 n = a + b d + c log10(size), where d
            is the number of decades from the uniform policy's exploitability to the target, and the size is that of
            :meth:`Form.size_of`. A run under a controller is planned for n iterations. None without a prediction.
        least_decades, most_decades: smallest and largest d for which the run is used.
        least_size: smallest size of a game for which the run is used.
        chance: True if the run is used only for games with chance, False if only for games without chance; None for
            both.
        num_tables: number of tables over all sequences that the run needs, on forms whose tables may not fit into
            memory; see :attr:`Form.tables_fit`. 0 on other forms.
    """

    arguments: Mapping[str, Any]
    law: tuple[float, float, float] | None = None
    least_decades: float = 0.0
    most_decades: float = math.inf
    least_size: int = 0
    chance: bool | None = None
    num_tables: int = 0

    def serves(self, decades: float, size: int, has_chance: bool) -> bool:
        """Return whether the run is used for a target in a game with these properties.

        Args:
            decades: number of powers of ten by which the target is below the uniform policy's exploitability.
            size: the game's size; see :meth:`Form.size_of`.
            has_chance: whether chance draws anything in the game.
        """
        is_in_range = self.least_decades <= decades <= self.most_decades
        return is_in_range and size >= self.least_size and self.chance in (None, has_chance)

    def iterations(self, decades: float, size: int) -> float:
        """Return the number of iterations that :attr:`law` predicts; NaN if there is no law.

        Args:
            decades, size: see :meth:`serves`.
        """
        if self.law is None:
            return math.nan
        constant, per_decade, per_size = self.law
        return math.pow(10, constant + per_decade * decades + per_size * math.log10(max(size, 1)))


@dataclass(frozen=True)
class Form:
    """The parts of the library that serve one form of games.

    All strings but ``title``, ``visited`` and ``chosen_by`` are import paths, ``"module:name"``. They are imported when
    they are first needed, so that a game loads fast and does not depend on the modules that serve it. :meth:`part`
    returns the object that a path names. Runs need ``policy``, ``run_tables``, ``steppers`` and ``check_components``.
    Each of the other paths may be empty; the library then raises an error where the part is needed.

    Attributes:
        title: words that complete "the game is represented ..." in messages: "as a matrix".
        visited: name, for titles, of what is counted as the work of exact passes and walks: "histories touched".
        has_histories: whether the games are stored as a tree of histories, by the class :class:`rlccfr.GameTree`.
            Sampled walks, linear programs, conversions to OpenSpiel and drawings of the tree need this.
        catalogs: names of the catalogs whose algorithms run on these games; the first is the default. Empty if there is
            no such catalog.

        policy: class of the games' policies, a subclass of :class:`rlccfr.Policy`.
        run_tables: class of the tables of a run, a :class:`RunTables`.
        steppers: tuple of the kinds of iteration, each a :class:`rlccfr.engine.stepper.StepperKind`.
        check_components: function ``(game, rule, sampler, abstraction, options)`` that raises
            :class:`rlccfr.ComponentError` if the components or options do not run on the game.
        merge: function ``(game, buckets)`` that merges infosets into buckets; see :mod:`rlccfr.games.merging.cache`.
        lock: class that reads locks and makes locked games, a :class:`rlccfr.locks.LockReader`.
        features: function ``(game)`` that returns :class:`rlccfr.envs.game_features.GameFeatures`.
        sizes_before_loading: function ``(name)`` that returns what :meth:`Game.sizes` would, as far as it is known, for
            games that take minutes to load; None for other games.
        iteration_cost: function ``(game)`` that predicts the nanoseconds of an exact iteration, in the unit of the laws
            of time; needed if the best run blends, or if there is a short run.
        best_run: arguments of :class:`rlccfr.Solver` (``update_rule`` or ``control``, and ``blend``) for the run that,
            in measurements, reached the least exploitability within budgets. It is the default if the user names no
            algorithm.
        best_run_function: function ``(game, dtype)`` that returns such arguments, in place of ``best_run``, if they
            depend on the game, or on the type that the user has chosen for the tables' numbers.
        least_blended: smallest budget, in iterations, for which blends (the argument ``blend`` of
            :class:`rlccfr.Solver`) gain more than they cost.
        short_run: arguments of the run that is best within budgets of CPU seconds that allow fewer than
            ``least_passes`` exact iterations; empty if ``best_run`` is the best there, too.
        least_passes: see ``short_run``.
        target_runs: the runs that reached targets soonest in measurements; the first one whose :meth:`TargetRun.serves`
            is true for a game and its target, and whose tables fit into memory, is used.
        tables_fit: function ``(game, num_tables, dtype)`` that returns whether a run can have this number of tables
            over all sequences in the available memory; needed if a run to targets names its number of tables.
        chosen_by: words that say why these runs were chosen. Recommendations quote them where no catalog was measured
            on games of this form.
        states: function ``(policy, needles)`` that yields, for each state whose description contains all ``needles``
            (lower-case strings), what players know there and the probabilities of the actions; see
            :class:`rlccfr.policies.listing.State`.
        gains: function ``(policy)`` that returns what players gain by best responses at each state, a
            :class:`rlccfr.policies.gains.LocalGains`.
        page: function ``(policy, start, most)`` that returns the content of the explorer's page.
        states_below: function ``(game, start)`` that returns the number of states, of both players, at the path
            ``start`` and below it; needed if pages can begin anywhere.
        table: class of the tables at which a person plays against a policy; its arguments are the policy and a random
            generator.
        played_pairs: function ``(first, second, game, pairs, seed)`` that plays pairs of games between two policies,
            and yields player 0's payoffs in both games of each pair; see
            :func:`rlccfr.policies.matches.played_match`.
        instead: for messages, what users should do where the form lacks a part, keyed by the part's attribute.
    """

    title: str
    visited: str
    has_histories: bool
    catalogs: tuple[str, ...]

    policy: str
    run_tables: str
    steppers: str
    check_components: str
    merge: str = ""
    lock: str = ""
    features: str = ""
    sizes_before_loading: str = ""
    iteration_cost: str = ""
    states: str = ""
    gains: str = ""
    page: str = ""
    states_below: str = ""
    table: str = ""
    played_pairs: str = ""
    best_run_function: str = ""
    best_run: Mapping[str, Any] = field(default_factory=dict, hash=False)
    least_blended: int = 350
    short_run: Mapping[str, Any] = field(default_factory=dict, hash=False)
    least_passes: int = 0
    target_runs: tuple[TargetRun, ...] = ()
    tables_fit: str = ""
    chosen_by: str = ""
    instead: Mapping[str, str] = field(default_factory=dict, hash=False)

    def best_run_of(self, game: Game, dtype: str | None = None) -> dict[str, Any]:
        """Return the arguments of the best run on a game.

        Args:
            game: the game.
            dtype: type of the tables' numbers, if the user has chosen one; else None. The best run may depend on it,
                since not all runs support each type, or fit into memory with it.
        """
        return dict(self.part("best_run_function")(game, dtype) if self.best_run_function else self.best_run)

    def size_of(self, game: Any) -> int:
        """Return a game's number of histories; on forms without histories, its number of sequences."""
        return int(game.num_histories if self.has_histories else game.num_sequences)

    def run_to(self, game: Game, decades: float, dtype: str | None = None) -> TargetRun | None:
        """Return the run for a target that lies ``decades`` decades below the uniform policy's exploitability.

        None is returned if none of the form's runs serves such a target. For ``dtype``, see :meth:`best_run_of`.
        """
        size = self.size_of(game)
        for run in self.target_runs:
            if not run.serves(decades, size, game.draws_chance):
                continue
            if run.num_tables == 0 or self.part("tables_fit")(game, run.num_tables, dtype):
                return run
        return None

    def passes_within(self, game: Game, seconds: float) -> float:
        """Return how many exact iterations are predicted to fit into a number of CPU seconds; infinite if not known."""
        if not (self.iteration_cost and math.isfinite(seconds)):
            return math.inf
        nanoseconds: float = self.part("iteration_cost")(game)
        return 1e9 * seconds / nanoseconds

    def default_run(
        self, game: Game, seconds: float = math.inf, iterations: float | None = None, dtype: str | None = None
    ) -> dict[str, Any]:
        """Return the arguments of the default run on a game, within CPU seconds or, if given, within iterations.

        For ``dtype``, see :meth:`best_run_of`.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=3)")
            >>> game.form.default_run(game, seconds=60)
            {'update_rule': 'dcfr'}
        """
        passes = self.passes_within(game, seconds) if iterations is None else iterations
        if iterations is None and passes < self.least_passes:
            return dict(self.short_run)
        arguments = self.best_run_of(game, dtype)
        if passes < self.least_blended:
            arguments.pop("blend", None)
        return arguments

    def part(self, name: str) -> Any:
        """Return the object whose import path is the value of an attribute of the form.

        Args:
            name: the attribute's name.

        Raises:
            GameError: the form has no such part.

        Examples:
            >>> import rlccfr
            >>> rlccfr.load_game("kuhn").form.part("policy")
            <class 'rlccfr.policy.Policy'>
        """
        path = getattr(self, name)
        if not path:
            purpose = PURPOSES.get(name, name)
            remedy = self.instead.get(name, "choose another game")
            raise GameError(f"a game represented {self.title} does not support {purpose}: {remedy}")
        return resolve_name(path)


class Game(Protocol):
    """A game ready to be solved, in any form; it is made by :func:`rlccfr.load_game` and never changes.

    Tables of a run have an entry per *sequence*: a pair of an infoset and one of its actions.
    """

    @property
    def form(self) -> Form:
        """The parts of the library that serve this game."""

    @property
    def name(self) -> str:
        """Name by which the game was loaded, for display."""

    @property
    def full_name(self) -> str:
        """Name with all parameters, under which measurements are stored; :func:`rlccfr.load_game` accepts it."""

    @property
    def source(self) -> Mapping[str, Any]:
        """Data that a file needs to load the game again: ``name`` and, for a compiled game, how it was compiled."""

    @property
    def content_hash(self) -> str:
        """Hash of everything that a run reads: games with equal hashes give equal runs."""

    @property
    def num_infosets(self) -> int:
        """Number of infosets of both players."""

    @property
    def num_sequences(self) -> int:
        """Number of sequences of both players, which is the number of entries of each of a run's tables."""

    @property
    def pass_size(self) -> int:
        """Number of histories, or of private states at public nodes, that an exact pass for one player touches."""

    @property
    def utility_range(self) -> float:
        """Largest minus smallest payoff of player 0, in the game's units."""

    @property
    def big_blind(self) -> float | None:
        """Chips in the big blind; poker's exploitability is reported in thousandths of it. None for other games."""

    @property
    def pot(self) -> float | None:
        """Chips in the pot at the start; a target may be given in per cent of the pot. None for most games."""

    @property
    def opponent_payoffs(self) -> OpponentPayoffs:
        """How player 1's payoffs follow from player 0's; :data:`ZERO_SUM` in a zero-sum game."""

    @property
    def draws_chance(self) -> bool:
        """Whether the game has a chance node with more than one outcome."""

    @property
    def lock(self) -> Any:
        """The policies that are fixed, a :class:`rlccfr.locks.Lock`; None in a game without a lock."""

    def __hash__(self) -> int:
        """Games are equal only to themselves."""

    def sizes(self) -> dict[str, Any]:
        """Return the game's name and sizes, for ``rlccfr games GAME``."""


class RunTables(Protocol):
    """The tables of one run, which a stepper changes in place; a switch of components keeps them."""

    @classmethod
    def at_start(cls, game: Any, seed: int, dtype: str | None) -> RunTables:
        """Return the tables before the first iteration.

        Args:
            game: a game of this form.
            seed: seed of all draws of the run.
            dtype: type of the tables' numbers, ``"int16"``, ``"float32"`` or ``"float64"``; None for the form's
                default.
        """

    @property
    def game(self) -> Any:
        """The game that the tables belong to: the solver's, or the abstract game, whose infosets are buckets."""

    @property
    def merged(self) -> Any:
        """The solver's game and the map from its infosets to buckets; None without buckets."""

    @property
    def chosen_dtype(self) -> str | None:
        """Type of the tables' numbers, if runs of this form can choose it; else None."""

    @property
    def iteration(self) -> int:
        """Number of iterations done."""

    @property
    def nodes(self) -> int:
        """Number of histories touched so far, or of what :attr:`Form.visited` names instead."""

    def ready_for(self, binding: Any) -> RunTables:
        """Return tables with the arrays that other components need; the present tables stay valid.

        Args:
            binding: the other components, a :class:`rlccfr.engine.binding.Binding`.
        """

    def refresh(self, binding: Any) -> None:
        """Bring all entries up to date after a switch of update rules, including entries that no walk has visited."""

    def true_regret(self) -> Any:
        """Return the cumulative regrets, (m,), in the game's units; the newest iteration's regrets have weight 1."""

    def saved(self) -> dict[str, Any]:
        """Return the arrays that the next iteration depends on, by their names in a file."""

    def restored(self, saved: Mapping[str, Any]) -> RunTables:
        """Overwrite the arrays with those that :meth:`saved` returned, in place, since steppers refer to them.

        Returns:
            The tables to use from now on: these, or a copy if some parts can't be changed in place.
        """


def checked_game(game: Any) -> Game:
    """Return the argument, which must be a game.

    Raises:
        TypeError: it is not a game but, for example, a game's name.
    """
    if not isinstance(getattr(game, "form", None), Form):
        is_matrix = isinstance(game, (list, tuple)) or hasattr(game, "__array__")
        source = "rlccfr.matrix_game(...)" if is_matrix else "rlccfr.load_game(...)"
        raise TypeError(f"game must come from {source}, not {brief(game)}")
    checked: Game = game
    return checked


def without_lock(game: Any) -> Any:
    """Return the game from which a locked game was made; any other game as it is."""
    return game if game.lock is None else game.lock.game


def policy_class(game: Game) -> Any:
    """Return the class of a game's policies, a subclass of :class:`rlccfr.Policy`."""
    return game.form.part("policy")
