from .best import single_best, virtual_best
from .fixed import FIXED, fixed_cells
from .halving import Halving, successive_halving
from .random_cells import median_search, random_search
from .task import SearchResult, Task, measure_all, rewards_of

__all__ = [
    "FIXED",
    "Halving",
    "SearchResult",
    "Task",
    "fixed_cells",
    "measure_all",
    "median_search",
    "random_search",
    "rewards_of",
    "single_best",
    "successive_halving",
    "virtual_best",
]
