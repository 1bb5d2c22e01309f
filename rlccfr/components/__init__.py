"""The components of an algorithm: an update rule, a sampler and an abstraction. All three are data.

The engine reads their fields and knows no algorithm by name; the algorithms themselves are in :mod:`rlccfr.catalog`.
Components of all three kinds may use fitted models in place of tables: see :mod:`rlccfr.networks.settings`.

Words and shapes used below:

- An *infoset* (information set) holds the histories that a player can't distinguish. It has A actions.
- Its *instantaneous regrets*, (A,), belong to one iteration. They tell how much more each action is worth than the
  current policy, weighted by the *mass*: the reach of the opponent and chance. Its *regrets*, (A,), are the sums of
  the instantaneous regrets over the iterations.
- Its *policy sum*, (A,), is the sum of the policies played, each weighted by its player's own reach of the infoset.
  The average policy is proportional to the policy sum.
- A *walk* goes through the tree for one player, the *traverser*, and estimates that player's instantaneous regrets.
  An *exact pass* computes these regrets without drawing anything.
- A *schedule* gives a number for each iteration. Iterations are counted from 1.
- A *plain function* works on the arrays of one infoset; the engine compiles the function with Numba. The function
  writes its result into one of these arrays; only ``mixture`` and ``regularise`` return a number.
"""

from rlccfr.components.abstraction import Abstraction as Abstraction
from rlccfr.components.component import Component as Component
from rlccfr.components.component import Guarantee as Guarantee
from rlccfr.components.controller import Controller as Controller
from rlccfr.components.sampler import SHARED_CHANCE as SHARED_CHANCE
from rlccfr.components.sampler import Sampler as Sampler
from rlccfr.components.schedules import SCHEDULE_COLUMNS as SCHEDULE_COLUMNS
from rlccfr.components.schedules import UNIT as UNIT
from rlccfr.components.schedules import ZERO as ZERO
from rlccfr.components.schedules import Schedule as Schedule
from rlccfr.components.schedules import always as always
from rlccfr.components.update_rule import Momentum as Momentum
from rlccfr.components.update_rule import UpdateRule as UpdateRule
