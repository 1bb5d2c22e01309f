from .best import single_best, virtual_best
from .fixed import FIXED, fixed_cells
from .halving import Halving, successive_halving
from .joint import joint_dqn
from .no_network import search_without_networks
from .random_cells import median_search, random_search
from .task import SearchResult, Task, measure_all, rewards_of
from .tpe import tpe_search

__all__ = [
    "FIXED",
    "Halving",
    "SearchResult",
    "Task",
    "fixed_cells",
    "joint_dqn",
    "measure_all",
    "median_search",
    "random_search",
    "rewards_of",
    "search_without_networks",
    "single_best",
    "successive_halving",
    "tpe_search",
    "virtual_best",
]
