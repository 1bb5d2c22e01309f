"""The components that algorithms are made of, and the ordered sets of them that selectors choose from."""

from rlccfr.catalog import (  # noqa: F401  (registers them)
    abstractions,
    deep,
    extended,
    merging,
    names,
    one_path,
    public_chance,
    samplers,
    scheduled,
    update_rules,
)
from rlccfr.catalog.catalog import AXES, Catalog, Cell
from rlccfr.registry import make

__all__ = ["AXES", "Catalog", "Cell", "make"]
