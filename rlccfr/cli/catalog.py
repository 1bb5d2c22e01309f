"""``rlccfr catalog``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import Json, print_json, print_table
from rlccfr.errors import ComponentError

if TYPE_CHECKING:
    from rlccfr.registry import Entry, Registry


def catalog(
    id: Annotated[str | None, typer.Argument(help="Describe this component.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print every component as docs/components.md.")] = False,
    json: Json = False,
) -> None:
    """List the components, or describe one."""
    from rlccfr.catalog import Catalog
    from rlccfr.registry import abstractions, choices, samplers, update_rules

    registries: tuple[Registry[Any], ...] = (update_rules, samplers, abstractions)
    entries = [
        (registry.kind, entry)
        for registry, ids in zip(registries, Catalog.extended().axes, strict=True)
        for entry in sorted(registry, key=lambda entry: ids.index(entry.id) if entry.id in ids else len(ids))
        if id in (None, entry.id)
    ]
    if not entries:
        known = [entry.id for registry in registries for entry in registry]
        raise ComponentError(f"unknown component {id!r}; {choices(str(id), known)}")
    if markdown:
        print(as_markdown(entries))
    elif json:
        print_json([_facts(kind, entry) for kind, entry in entries])
    elif id is not None:
        print("\n\n".join(_text(kind, entry) for kind, entry in entries))
    else:
        rows = [(kind, entry.id, entry.summary) for kind, entry in entries]
        print_table(("axis", "id", "what"), rows)
        for name, whole in (
            ("paper", Catalog.paper()),
            ("tabular", Catalog.tabular()),
            ("extended", Catalog.extended()),
        ):
            print(f"\ncatalog {name}: {' x '.join(map(str, whole.shape))} = {len(whole)} algorithms", end="")
        print("\n`rlccfr catalog ID` has formula, source and parameters.")


def as_markdown(entries: list[tuple[str, Entry[Any]]]) -> str:
    """Components by axis, and the guarantees of the extended catalog's algorithms."""
    from rlccfr.catalog import Catalog
    from rlccfr.catalog.facts import facts

    lines = ["# Components", "", "Written by `make docs` from the registry; not edited by hand."]
    for kind in dict.fromkeys(kind for kind, _ in entries):
        lines += ["", f"## {kind.capitalize()}s"]
        lines += ["\n" + _text(kind, entry, "### ") for of, entry in entries if of == kind]
    groups: dict[tuple[str, ...], list[str]] = {}
    cells = Catalog.extended()
    for cell in cells:
        known = facts(cell)
        groups.setdefault((known.guarantee, known.reason, known.cost, ", ".join(known.needs)), []).append(str(cell))
    lines += ["", "## Presets of the deep rules", "", *_presets()]
    lines += ["", f"## Guarantees of the {len(cells)} algorithms", ""]
    lines += ["| guarantee | reason | an iteration costs | needs | algorithms |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(key)} | {_shortened(names)} |" for key, names in groups.items()]
    return "\n".join(lines)


def _presets() -> list[str]:
    """What hyperparameters are that follow the preset."""
    from rlccfr.catalog.deep import PRESETS

    lines = [f"| | {' | '.join(PRESETS)} |", "|---" * (len(PRESETS) + 1) + "|"]
    names = next(iter(PRESETS.values()))
    return [*lines, *(f"| {name} | {' | '.join(str(of[name]) for of in PRESETS.values())} |" for name in names)]


def _shortened(names: list[str]) -> str:
    return "; ".join(names) if len(names) <= 4 else f"{'; '.join(names[:3])}; and {len(names) - 3} more"


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


def _text(kind: str, entry: Entry[Any], mark: str = "") -> str:
    shown = {name: "(by preset)" if value is None else value for name, value in entry.hyperparameters.items()}
    defaults = ", ".join(f"{name}={value}" for name, value in shown.items())
    lines = [f"{mark}{entry.id} ({kind})", "", entry.description, "", f"Source: {entry.source}"]
    lines.append(f"Hyperparameters: {defaults}" if defaults else "No hyperparameters.")
    return "\n".join(lines)
