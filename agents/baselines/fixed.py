"""The paper's fixed algorithms."""

from __future__ import annotations

from rlccfr.catalog import Catalog, Cell
from rlccfr.registry import REGISTRIES

FIXED = {
    "CFR": Cell("cfr", "none", "none"),
    "LCFR": Cell("lcfr", "none", "none"),
    "DCFR": Cell("dcfr", "none", "none"),
    "ECFR": Cell("ecfr", "none", "none"),
    "DeepCFR": Cell("deep_cfr", "external", "none"),
    "ES-MCCFR": Cell("cfr", "external", "none"),
}
"""The paper's fixed algorithms by name; ES-MCCFR is external-sampling Monte Carlo CFR."""


def fixed_cells(catalog: Catalog) -> dict[str, Cell]:
    """Return, by name, the algorithms of :data:`FIXED` that a catalog has, with the catalog's hyperparameters.

    If the catalog has a component several times, with different hyperparameters, the first is used.
    """
    # For each axis, the catalog's components with their hyperparameters, by id. Reversed, so that the first is kept.
    specs_by_id = [
        {registry[spec].id: spec for spec in reversed(specs)}
        for registry, specs in zip(REGISTRIES, catalog.axes, strict=True)
    ]
    algorithms = {}
    for name, cell in FIXED.items():
        axes = list(zip(cell, specs_by_id, strict=True))
        if all(id in axis_specs for id, axis_specs in axes):
            algorithms[name] = Cell(*(axis_specs[id] for id, axis_specs in axes))
    return algorithms
