import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "imports",
    [
        "import rlccfr, gymnasium",
        "import gymnasium, rlccfr",
        "import rlccfr, importlib.util; importlib.util.find_spec('gymnasium'); import gymnasium",
    ],
)
def test_environments_are_registered_in_whatever_order_packages_are_imported(imports):
    code = f"{imports}; print(any(id.startswith('rlccfr/') for id in gymnasium.registry))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"
