from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement

UNIFORM = 0.4583


class SyntheticEvaluator(Evaluator):
    """Evaluator with exploitability from a formula, which counts requests and may interrupt one of its measurements."""

    def __init__(self, exploitability=None, interrupt_at=None):
        self.exploitability = exploitability or separable
        self.interrupt_at = interrupt_at
        self.records = {}

    def measure(self, request):
        if request not in self.records:
            if self.interrupt_at == len(self.records) + 1:
                self.interrupt_at = None
                raise KeyboardInterrupt
            x = self.exploitability(request.game, request.cells[-1])
            name = f"{request.game}-{request.seed}-" + "-".join(map(str, request.cells))
            self.records[request] = Measurement(name, "ok", x, 2 * x, UNIFORM, 1000.0, 1000.0, 0.5, 10, 1000)
        return self.records[request]

    def known(self, request):
        return request in self.records

    def result(self, cell_id):
        return {"cell_id": cell_id}

    def frame(self):
        raise NotImplementedError


RULES = Catalog.paper().update_rules
SAMPLERS = Catalog.paper().samplers


def separable(game, cell):
    """Return exploitability that is least at dcfr x external x none on Kuhn, at lcfr x external x none elsewhere."""
    best = RULES.index("dcfr" if game == "kuhn" else "lcfr")
    decades = 0.4 * abs(RULES.index(cell.update_rule) - best)
    decades += 0.6 * abs(SAMPLERS.index(cell.sampler) - SAMPLERS.index("external"))
    decades += 1.0 * (cell.abstraction == "cfr_br")
    return UNIFORM * 10 ** (decades - 7)


@pytest.fixture
def evaluator():
    return SyntheticEvaluator()


@pytest.fixture
def make_evaluator():
    return SyntheticEvaluator


@pytest.fixture
def small():
    """Catalog of 3 x 3 x 2 of the paper's algorithms, the best on Kuhn among them."""
    return Catalog(("dcfr", "cfr", "lcfr"), ("none", "external", "outcome"), ("cfr_br", "none"))
