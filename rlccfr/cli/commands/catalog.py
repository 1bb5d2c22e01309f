"""``rlccfr catalog``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.options import Json
from rlccfr.errors import ComponentError

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.registry import Entry, Registry


def catalog(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Describe this component, or the algorithm of these three.", show_default=False),
    ] = None,
    algorithms: Annotated[
        bool, typer.Option("--algorithms", help="List all algorithms of the extended catalog: guarantee, cost, needs.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print all components, as docs/components.md.")] = False,
    json: Json = False,
) -> None:
    """List the components, or describe a component or an algorithm."""
    from rlccfr.catalog import AXES, Catalog, Cell

    ids = ids or []
    if algorithms:
        _print_algorithms(list(Catalog.extended()), json)
    elif len(ids) == 1 and " x " in ids[0]:  # the form that `solve` prints
        _print_algorithms([Cell.from_text(ids[0])], json)
    elif len(ids) == len(AXES):
        _print_algorithms([Cell(*ids).canonical], json)
    elif len(ids) > 1:
        raise ComponentError(f"give one id, or an update rule, a sampler and an abstraction, not {len(ids)} ids")
    else:
        _print_components(ids[0] if ids else None, markdown, json)


def _print_algorithms(algorithms: list[Cell], json: bool) -> None:
    """Print what is known about each algorithm: guarantee, cost, needs."""
    from rlccfr.catalog.facts import facts

    rows = [algorithm._asdict() | facts(algorithm)._asdict() for algorithm in algorithms]
    if json:
        print_json(rows)
    elif len(rows) == 1:
        print_table(("", ""), [(name.replace("_", " "), _value_text(value)) for name, value in rows[0].items()])
    else:
        names = [name for name in rows[0] if name != "reason"]
        print_table(
            [name.replace("_", " ") for name in names], [[_value_text(row[name]) for name in names] for row in rows]
        )
        print("\n`rlccfr catalog UPDATE_RULE SAMPLER ABSTRACTION` gives the reason for a guarantee.")


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _print_components(id: str | None, markdown: bool, json: bool) -> None:
    from rlccfr.catalog import Catalog
    from rlccfr.registry import abstractions, samplers, unknown, update_rules

    # In the catalog's order; components of the user's own come last.
    registries: tuple[Registry[Any], ...] = (update_rules, samplers, abstractions)
    entries = [
        (registry.kind, entry)
        for registry, ids in zip(registries, Catalog.extended().axes, strict=True)
        for entry in sorted(registry, key=lambda entry: ids.index(entry.id) if entry.id in ids else len(ids))
        if id is None or (id in registry and registry[id].id == entry.id)
    ]
    if not entries:
        raise unknown(str(id))
    if markdown:
        print(as_markdown(entries))
    elif json:
        print_json([_facts(kind, entry) for kind, entry in entries])
    elif id is not None:
        print("\n\n".join(as_text(kind, entry) for kind, entry in entries))
        if any(None in entry.hyperparameters.values() for _, entry in entries):
            print("\n" + "\n".join(_settings_of_networks()))
    else:
        rows = [(kind, entry.id, entry.summary) for kind, entry in entries]
        print_table(("axis", "id", "what"), rows)
        catalogs = {"paper": Catalog.paper(), "tabular": Catalog.tabular(), "extended": Catalog.extended()}
        for name, catalog in catalogs.items():
            print(f"\ncatalog {name}: {' x '.join(map(str, catalog.shape))} = {len(catalog)} algorithms", end="")
        print("\n`rlccfr catalog ID` shows formula, source and parameters; `--algorithms` lists all guarantees.")


def as_markdown(entries: list[tuple[str, Entry[Any]]]) -> str:
    """Return a Markdown page of the components by axis and the guarantees of the extended catalog's algorithms."""
    from rlccfr.catalog import Catalog
    from rlccfr.catalog.facts import facts

    lines = ["# All components", "", "Written by `make docs` from the registry; not edited by hand."]
    for kind in dict.fromkeys(kind for kind, _ in entries):
        lines += ["", f"## {kind.capitalize()}s"]
        lines += ["\n" + as_text(kind, entry, "### ") for kind_of_entry, entry in entries if kind_of_entry == kind]
    groups: dict[tuple[str, ...], list[str]] = {}
    algorithms = Catalog.extended()
    for algorithm in algorithms:
        about = facts(algorithm)
        group = (about.guarantee, about.reason, about.cost, ", ".join(about.needs))
        groups.setdefault(group, []).append(str(algorithm))
    lines += ["", "## Networks of the deep rules", "", *_settings_of_networks("```text", "```")]
    lines += ["", f"## Guarantees of the {len(algorithms)} algorithms", ""]
    lines += ["| guarantee | reason | an iteration costs | needs | algorithms |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(key)} | {_shortened(names)} |" for key, names in groups.items()]
    return "\n".join(lines)


def _settings_of_networks(*fence: str) -> list[str]:
    """Return the settings and options of networks as lines, with a table of the settings by preset.

    Args:
        fence: a line to write before each of the two descriptions, and a line to write after it; none by default.
    """
    from rlccfr.catalog.network_settings import NETWORK_SETTINGS, NetworkOptions, NetworkSettings

    lines = []
    for kind in (NetworkSettings, NetworkOptions):
        lines += [*fence[:1], str(inspect.getdoc(kind)), *fence[1:], ""]
    columns = [vars(settings) for settings in NETWORK_SETTINGS.values()]
    lines += [f"| | {' | '.join(NETWORK_SETTINGS)} |", "|---" * (len(columns) + 1) + "|"]
    for name in columns[0]:
        values = " | ".join(str(column[name]) for column in columns)
        lines.append(f"| {name} | {values} |")
    return lines


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
        "aliases": entry.aliases,
        "version": entry.version,
    }


def as_text(kind: str, entry: Entry[Any], mark: str = "") -> str:
    """Return a component's description, source and hyperparameters, under a heading that begins with ``mark``."""
    values = {name: "(by preset)" if value is None else value for name, value in entry.hyperparameters.items()}
    defaults = ", ".join(f"{name}={value}" for name, value in values.items())
    lines = [f"{mark}{entry.id} ({kind})", "", entry.description, ""]
    if entry.aliases:
        lines += [f"Also called {', '.join(entry.aliases)}.", ""]
    lines += [f"Source: {entry.source}", ""]
    lines.append(f"Hyperparameters: {defaults}" if defaults else "No hyperparameters.")
    return "\n".join(lines)
