from . import agents, catalog, envs
from .agents.shipped.advice import recommend
from .catalog.citations import cite
from .engine.linear_program import ExactSolution, solve_exactly
from .engine.public.equities import Equity, equity
from .envs.measuring.rows import load_results
from .errors import (
    BrokenComponentError,
    BudgetError,
    CheckpointError,
    ComponentError,
    FailedRunError,
    GameError,
    InUseError,
    OverflowedError,
    PolicyError,
    RLCCFRError,
)
from .games.bucket_histories.game import BucketHistoryGame
from .games.flat_tree import GameTree
from .games.matrices import matrix_game
from .games.names import load_game, random_game
from .games.public.subgame import Subgame, subgame
from .games.public.view import PublicGame
from .games.walked.generated_game import GeneratedGame
from .pictures import draw_tree
from .plugins import load_plugins
from .policies.bucket_history_policy import BucketHistoryPolicy
from .policies.network_policy import NetworkPolicy
from .policies.public_policy import PublicPolicy
from .policy import Policy, StateGain, Values
from .result import RunResult
from .solution import Solution
from .solver import Solver
from .solving import solve

__version__: str

__all__ = [
    "BrokenComponentError",
    "BucketHistoryGame",
    "BucketHistoryPolicy",
    "BudgetError",
    "CheckpointError",
    "ComponentError",
    "Equity",
    "ExactSolution",
    "FailedRunError",
    "GameError",
    "GameTree",
    "GeneratedGame",
    "InUseError",
    "NetworkPolicy",
    "OverflowedError",
    "Policy",
    "PolicyError",
    "PublicGame",
    "PublicPolicy",
    "RLCCFRError",
    "RunResult",
    "Solution",
    "Solver",
    "StateGain",
    "Subgame",
    "Values",
    "__version__",
    "agents",
    "catalog",
    "cite",
    "draw_tree",
    "envs",
    "equity",
    "load_game",
    "load_plugins",
    "load_results",
    "matrix_game",
    "random_game",
    "recommend",
    "solve",
    "solve_exactly",
    "subgame",
]
