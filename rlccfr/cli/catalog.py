"""``rlccfr catalog``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import Json, print_json, print_table
from rlccfr.errors import ComponentError

if TYPE_CHECKING:
    from rlccfr.registry import Entry


def catalog(
    id: Annotated[str | None, typer.Argument(help="Describe this component.")] = None, json: Json = False
) -> None:
    """List the components, or describe one."""
    from rlccfr.catalog import Catalog
    from rlccfr.registry import abstractions, choices, samplers, update_rules

    registries = (update_rules, samplers, abstractions)
    entries = [(registry.kind, entry) for registry in registries for entry in registry if id in (None, entry.id)]
    if not entries:
        known = [entry.id for registry in registries for entry in registry]
        raise ComponentError(f"unknown component {id!r}; {choices(str(id), known)}")
    if json:
        print_json([_facts(kind, entry) for kind, entry in entries])
    elif id is not None:
        print("\n\n".join(_text(kind, entry) for kind, entry in entries))
    else:
        rows = [(kind, entry.id, entry.summary) for kind, entry in entries]
        print_table(("axis", "id", "what"), rows)
        sizes = " x ".join(map(str, Catalog.paper().shape))
        print(f"\n{len(Catalog.paper())} algorithms: {sizes}. `rlccfr catalog ID` has formula, source and parameters.")


def _facts(kind: str, entry: Entry[Any]) -> dict[str, Any]:
    return {
        "axis": kind.replace(" ", "_"),
        "id": entry.id,
        "summary": entry.summary,
        "description": entry.description,
        "source": entry.source,
        "hyperparameters": entry.hyperparameters,
        "version": entry.version,
    }


def _text(kind: str, entry: Entry[Any]) -> str:
    defaults = ", ".join(f"{name}={value}" for name, value in entry.hyperparameters.items())
    lines = [f"{entry.id} ({kind})", "", entry.description, "", f"Source: {entry.source}"]
    lines.append(f"Hyperparameters: {defaults}" if defaults else "No hyperparameters.")
    return "\n".join(lines)
