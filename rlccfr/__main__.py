"""``python -m rlccfr`` is the command line."""

from rlccfr.cli import main

main()
