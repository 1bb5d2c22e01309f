"""Earlier names of some functions of :mod:`rlccfr.kernels.regret_updates`, for the kernels of walks."""

from rlccfr.kernels.regret_updates import copy_true_regrets as keep_regret
from rlccfr.kernels.regret_updates import update_regrets as fold
from rlccfr.kernels.regret_updates import update_regrets_simple as fold_simple

__all__ = ["fold", "fold_simple", "keep_regret"]
