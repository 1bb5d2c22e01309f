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
    """Return, by name, the algorithms of :data:`FIXED` that a catalog has, with any hyperparameters.

    If the catalog has a component several times, with different hyperparameters, the first counts.
    """
    by_id = [
        {registry[spec].id: spec for spec in reversed(specs)}
        for registry, specs in zip(REGISTRIES, catalog.axes, strict=True)
    ]
    return {
        name: Cell(*(specs[id] for id, specs in zip(cell, by_id, strict=True)))
        for name, cell in FIXED.items()
        if all(id in specs for id, specs in zip(cell, by_id, strict=True))
    }
