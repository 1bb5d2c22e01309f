"""``python -m benchmarks.peers``: make the environments of the peers, with their newest releases."""

from __future__ import annotations

import argparse
import sys

from benchmarks.peers import environments

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--python", help="the Python to use; by default the newest that runs here")
    sys.exit(environments.main(parser.parse_args().python))
