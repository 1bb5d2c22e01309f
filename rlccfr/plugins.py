"""Components from other packages, found through entry points."""

from __future__ import annotations

import logging
import runpy
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from rlccfr.errors import ComponentError, RLCCFRError, first_line


@dataclass
class Loaded:
    """What a process has loaded, for the workers that it starts to load as well."""

    plugins: bool = False
    files: list[str] = field(default_factory=list)

    def again(self) -> None:
        """Load the same in another process.

        Raises:
            ComponentError: a file is not there, or fails.
        """
        if self.plugins:
            load_plugins()
        for path in tuple(self.files):  # loading one may add to them
            load_file(path)


loaded = Loaded()
log = logging.getLogger(__name__)

GROUP = "rlccfr.plugins"


def load_plugins() -> dict[str, str | None]:
    """Import the modules that installed packages name under the entry point group ``rlccfr.plugins``.

    Importing one registers what it decorates. One that fails is reported in a line and skipped: a broken plugin
    must not keep others from working.

    Returns:
        For each plugin's name None, or what went wrong.
    """
    found: dict[str, str | None] = {}
    loaded.plugins = True
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            entry.load()
            found[entry.name] = None
        except Exception as error:  # whatever a stranger's module raises
            found[entry.name] = f"{type(error).__name__}: {first_line(error)}"
            log.warning("the plugin %r is skipped: %s", entry.name, found[entry.name])
    return found


def load_file(path: str | Path) -> None:
    """Run a Python file, which registers the components that it decorates.

    Raises:
        ComponentError: there is no such file, or it fails.
    """
    try:
        runpy.run_path(str(path))
    except RLCCFRError:
        raise
    except Exception as error:  # whatever a stranger's file raises
        raise ComponentError(f"{path} can't be loaded: {type(error).__name__}: {first_line(error)}") from None
    loaded.files.append(str(Path(path).resolve()))
