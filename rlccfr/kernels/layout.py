"""Structs that the kernels take, their Numba types, and the columns of a schedule.

A kernel knows no algorithm. It sees tables over sequences (shape (m,), both players in one numbering, see
:mod:`rlccfr.games.flat_tree`), a schedule with one row per iteration, and the components' plain functions, each of a
single infoset.

In all shapes, m is the number of sequences of both players, n the number of infosets, A the number of an infoset's
actions, p the number of a component's parameters. Values and regrets are in the game's units of utility. An array of
shape (m + 2,) has the two empty sequences at its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from rlccfr.components.schedules import MOMENTUM_COLUMNS, SCHEDULE_COLUMNS
from rlccfr.games.flat_tree import GameTree, SequenceForm
from rlccfr.games.records import BLOCK, HISTORY, PAYOFF_LINES, BundleView, SequenceView

# Columns of a schedule; a rule's own parameters start at PARAMETERS.
POSITIVE_DISCOUNT = SCHEDULE_COLUMNS.index("positive_discount")
NEGATIVE_DISCOUNT = SCHEDULE_COLUMNS.index("negative_discount")
FLOOR = SCHEDULE_COLUMNS.index("floor")
AVERAGE_DECAY = SCHEDULE_COLUMNS.index("average_decay")
PREDICTION = SCHEDULE_COLUMNS.index("prediction")
PARAMETERS = len(SCHEDULE_COLUMNS)

# Columns of a rule with momentum, which has no parameters.
MOMENTUM_WEIGHT = PARAMETERS + MOMENTUM_COLUMNS.index("weight")
MOMENTUM_MEMORY = PARAMETERS + MOMENTUM_COLUMNS.index("memory")
MATCHING_POWER = PARAMETERS + MOMENTUM_COLUMNS.index("power")

LEAST_ERROR = 1e-14
"""Least exploitability that can be distinguished from rounding errors, as a share of the range of payoffs."""

# Columns of the running scales of a sampled run, see kernels/walks/sampled_iterations.py.
POSITIVE = 0
NEGATIVE = 1
AVERAGE = 2


class HistoryView(NamedTuple):
    """A compiled game as walks see it; see :class:`rlccfr.games.flat_tree.GameTree`."""

    record: np.ndarray  # (number of histories,) of type HISTORY
    probability: np.ndarray  # (number of histories,): of the chance outcome that leads to each
    utility: np.ndarray  # (2 x number of histories,): the records as doubles, of which every other one is a utility


class Game(NamedTuple):
    """A compiled game's two views; a quotient has no histories."""

    histories: HistoryView
    view: SequenceView

    @classmethod
    def of(cls, form: SequenceForm) -> Game:
        """Return the views of a game, or of a quotient."""
        if isinstance(form, GameTree):
            return cls(HistoryView(form.histories, form.probability, form.histories.view(np.float64)), form.view)
        return cls(HistoryView(np.zeros(0, HISTORY), np.zeros(0), np.zeros(0)), form.view)


class Tables(NamedTuple):
    """Tables that a solver accumulates; (m,) over sequences unless stated otherwise."""

    regret: np.ndarray  # cumulative; multiplied by a running scale in sampled runs
    policy: np.ndarray  # current
    policy_sum: np.ndarray  # multiplied by a running scale likewise
    state: np.ndarray  # (m, k): arrays that the update rule declares


class Scratch(NamedTuple):
    """Working memory, overwritten by every pass."""

    reach: np.ndarray  # (m + 2,): the owner's reach of each sequence
    gradient: np.ndarray  # (m + 2,): counterfactual values, then instantaneous regrets
    mass: np.ndarray  # (n,): opponent and chance reach of each infoset
    response: np.ndarray  # (m,): a best response of each player
    response_reach: np.ndarray  # (m + 2,): the owner's reach of each sequence under the best responses
    line_reach: np.ndarray  # (largest number of lines of a payoff block,): the opponent's reach of each line's sequence
    leaf: np.ndarray  # (largest stride of a payoff block,): each column's payoffs, summed over the lines
    past_regret: np.ndarray  # (m,): see Findings


class Run(NamedTuple):
    """The arrays of a run; see :class:`rlccfr.engine.state.RunState`."""

    tables: Tables
    scale: np.ndarray  # (2, 3): running scale of each player's positive regrets, negative regrets and policy sum
    rng: np.ndarray  # (1,): state of the walks' generator
    counts: np.ndarray  # (2,): iterations done, histories touched
    scratch: Scratch


class RuleFlags(NamedTuple):
    """Differences between a rule and plain regret matching with discounts and a floor."""

    plain: bool  # no flag below is set, except perhaps uses_mass and average_column
    predicts: bool  # plain except for a prediction
    has_momentum: bool  # plain except for a momentum, and perhaps a prediction
    reweights: bool  # the rule has a ``reweight``
    reads_regret: bool  # its ``reweight`` receives the cumulative regrets
    maps_policy: bool  # its ``policy_map`` takes the place of regret matching
    regularises: bool  # its ``regularise`` says what infosets are worth
    uses_mass: bool  # exact passes must compute the masses
    argmax_fallback: bool  # without positive regrets, it plays an action with the largest regret; see match_regrets
    average_column: int  # column of Tables.state that multiplies each action's average increment; -1 for none


class Rule(NamedTuple):
    """An update rule as kernels see it: its flags, its plain functions, and the utility range that these receive."""

    flags: RuleFlags
    reweight: Any  # called if the rule does not read regrets
    reweight_by_regret: Any  # called if the rule reads regrets
    policy_map: Any
    regularise: Any
    utility_range: float  # largest minus smallest terminal utility; 1 if they are equal


class Procedure(NamedTuple):
    """How an iteration proceeds, whatever the update rule and the sampler."""

    best_response: bool  # the opponent plays a best response, not its current policy
    simultaneous: bool  # both players are updated against the same policies; else player 1 sees player 0's update
    pre_averaging: bool  # both players' policies are averaged before their updates; else player 0's after its update
    walks: int  # number of walks per player and iteration
    pause: int  # number of histories after which a call returns, if need be between two walks of an iteration


class Step(NamedTuple):
    """The numbers of one iteration that an update of regrets needs.

    Each factor is a pair: one for positive regrets, and one for all others. Where regrets are stored without a running
    scale, ``load`` is the iteration's discounts, and ``store`` is (1, 1).
    """

    now: np.ndarray  # (5 + p,): the iteration's row of the schedule
    ahead: np.ndarray  # (5 + p,): the next iteration's row
    floor: float  # now[FLOOR]
    load: tuple[float, float]  # factor from stored regrets to discounted true ones
    store: tuple[float, float]  # factor from true regrets to stored ones


UNSCALED = (1.0, 1.0)
"""Factors of regrets that are stored without a running scale; see :class:`Step`."""


class Findings(NamedTuple):
    """Values that an iteration has computed or estimated at a player's infosets."""

    gain: np.ndarray  # (m,) or longer: instantaneous regrets, or counterfactual values; updates overwrite them
    mass: np.ndarray  # (n,): opponent and chance reach with which ``gain`` is weighted
    past_regret: np.ndarray  # (m,): true cumulative regrets before the iteration's discounts, if the rule reads them


# Numba's types of the structs and their arrays; S is an array of one axis, M a matrix.
F8 = types.float64
F8S = types.float64[::1]
F8M = types.float64[:, ::1]
COUNTS = types.int64[::1]
RNG = types.uint64[::1]
U4S = types.uint32[::1]  # unsigned, which saves a test for negative indices at every access
HANDLE = types.int64[::1]

# Signatures of the plain functions of one infoset, see rlccfr.components.
# Those of a rule change their first argument in place:
# reweight(instant_regret, mass, state, parameters, utility_range),
REWEIGHT = types.void(F8S, F8, F8M, F8S, F8)
# or reweight(instant_regret, mass, state, parameters, utility_range, regret),
REWEIGHT_BY_REGRET = types.void(F8S, F8, F8M, F8S, F8, F8S)
# and policy_map(row, state, parameters, utility_range).
POLICY_MAP = types.void(F8S, F8M, F8S, F8)
# regularise(values, policy, reach, state, parameters, utility_range) also returns the infoset's value.
REGULARISE = types.float64(F8S, F8S, F8S, F8M, F8S, F8)
# Those of a sampler: inclusion(policy, count, parameters, probability) fills ``probability``,
INCLUSION = types.void(F8S, F8S, F8S, F8S)
# and mixture(policy, count, visits, parameters) returns the probability of walking all actions of the traverser.
MIXTURE = types.float64(F8S, F8S, F8, F8S)

BLOCKS = from_dtype(BLOCK)[::1]
HISTORIES = types.NamedTuple((from_dtype(HISTORY)[::1], F8S, F8S), HistoryView)
VIEW = types.NamedTuple((U4S, U4S, U4S, F8S, U4S, U4S, F8S, U4S, U4S, BLOCKS, BLOCKS, F8S, F8S, F8S, U4S), SequenceView)
GAME = types.NamedTuple((HISTORIES, VIEW), Game)
BUNDLES = types.NamedTuple((U4S,) * 9 + (F8S, U4S, from_dtype(PAYOFF_LINES)[::1], U4S, F8S), BundleView)
TABLES = types.NamedTuple((F8S, F8S, F8S, F8M), Tables)
SCRATCH = types.NamedUniTuple(F8S, 8, Scratch)
RUN = types.NamedTuple((TABLES, F8M, RNG, COUNTS, SCRATCH), Run)
FLAGS = types.NamedTuple((types.boolean,) * 9 + (types.int64,), RuleFlags)
RULE = types.NamedTuple((FLAGS, HANDLE, HANDLE, HANDLE, HANDLE, F8), Rule)
"""Type of a rule with handles in place of functions, as Python passes it; see kernels/handles.py."""
PROCEDURE = types.NamedTuple((types.boolean,) * 3 + (types.int64,) * 2, Procedure)


def scratch_for(game: SequenceForm) -> Scratch:
    """Return working memory for one game."""
    num_sequences = game.num_sequences
    most_lines, widest_stride = block_sizes(game)
    return Scratch(
        reach=np.zeros(num_sequences + 2),
        gradient=np.zeros(num_sequences + 2),
        mass=np.zeros(game.num_infosets),
        response=np.zeros(num_sequences),
        response_reach=np.zeros(num_sequences + 2),
        line_reach=np.zeros(most_lines),
        leaf=np.zeros(widest_stride),
        past_regret=np.zeros(num_sequences),
    )


def block_sizes(form: SequenceForm) -> tuple[int, int]:
    """Return the largest number of lines of a block of payoffs, and the largest stride."""
    blocks = np.concatenate([form.view.blocks_0, form.view.blocks_1])
    most_lines = int((blocks["opponent_end"] - blocks["opponent"]).max(initial=0))
    return most_lines, int(blocks["stride"].max(initial=0))
