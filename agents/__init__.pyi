from .baselines.best import single_best, virtual_best
from .baselines.halving import Halving, successive_halving
from .baselines.random_cells import random_search
from .baselines.task import SearchResult, Task, measure_all
from .control.from_sb3 import controller_from_sb3
from .control.hyperparameters import ControlHyperparameters
from .control.train import train_controller
from .judging.bench import TeamPlan, build_table
from .judging.recommendation_table import RecommendationTable
from .team.expansion import expand_team
from .team.hyperparameters import Hyperparameters
from .team.informed import choose, informed_team
from .team.recommendation import Recommendation
from .team.team import SelectorTeam

__all__ = [
    "ControlHyperparameters",
    "Halving",
    "Hyperparameters",
    "Recommendation",
    "RecommendationTable",
    "SearchResult",
    "SelectorTeam",
    "Task",
    "TeamPlan",
    "build_table",
    "choose",
    "controller_from_sb3",
    "expand_team",
    "informed_team",
    "measure_all",
    "random_search",
    "single_best",
    "successive_halving",
    "train_controller",
    "virtual_best",
]
