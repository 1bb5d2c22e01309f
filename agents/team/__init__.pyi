from .hyperparameters import Hyperparameters
from .recommendation import Recommendation
from .team import SelectorTeam

__all__ = ["Hyperparameters", "Recommendation", "SelectorTeam"]
