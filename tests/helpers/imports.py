"""The import graph of the package, with late imports and imports for types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
LAYERS = ("rlccfr", "catalog", "envs", "agents")  # each may import itself and those before it


def modules() -> dict[str, Path]:
    """Return the path of every module and package of the library by its dotted name."""
    found = {}
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            if any(part.is_symlink() for part in path.parents):
                continue
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts if layer == "rlccfr" else ("rlccfr", *parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the library's modules that a file imports: at its top, in a function, or for types alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # A name imported from a package is a module in it, or a name that the package itself defines.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value.partition(":")[0]]  # the name of a module, or an entry point
        else:
            continue
        yield from (name for name in names if name in known)


def graph() -> dict[str, set[str]]:
    """Return for each module the other modules that it imports."""
    known = modules()
    return {name: set(imported(path, known)) - {name} for name, path in known.items()}
