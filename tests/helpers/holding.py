"""Another process that holds a directory, as a second training or sweep would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CODE = """
import sys
from pathlib import Path
from rlccfr.files import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_process_holding(directory: Path) -> Iterator[subprocess.Popen]:
    """Hold a directory until the block ends."""
    command = [sys.executable, "-c", CODE, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.stdin.close()
            process.wait(60)
