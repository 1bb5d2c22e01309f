"""The evaluator and the catalog of the tests of agents."""

from tests.agents.conftest import evaluator, make_evaluator, small

__all__ = ["evaluator", "make_evaluator", "small"]
