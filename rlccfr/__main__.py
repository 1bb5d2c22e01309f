"""The command line, for ``python -m rlccfr`` and the script ``rlccfr``."""

import gc
import os
import sys

LEAST_BYTES = 600_000_000
"""Bytes of address space that the libraries and a small game need on any machine."""

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""Environment variable with the number of threads of NumPy's and SciPy's linear algebra, OpenBLAS.

It is set to 1 unless the user has set it. The engine divides its work among threads of its own, which each call
OpenBLAS. Further threads below them would only slow it down, and starting them takes CPU time at every start.
"""

BYTES_PER_THREAD = 90_000_000
"""Further bytes that each thread of OpenBLAS needs. If memory falls short, OpenBLAS loops forever, or LLVM aborts."""

OBJECTS_OF_LIBRARIES = 300_000
"""Number of objects above which Python begins to search for cyclic garbage.

Loading the libraries makes somewhat fewer objects, and none is garbage. Searching among them would take a tenth of a
short command's time.
"""


def main() -> None:
    """Run the command line; Ctrl-C and a lack of memory print one line, even during the import."""
    # This must come before the imports: they make the objects that Python would search for garbage.
    _postpone_garbage_collection()
    os.environ.setdefault(BLAS_THREADS, "1")
    # With too little memory, OpenBLAS and LLVM loop or abort, and raise no error that could be caught below.
    if low := low_limit():
        print(f"error: {low}", file=sys.stderr)
        sys.exit(1)
    try:
        from rlccfr.cli import main as run
    except BaseException as error:
        from rlccfr.errors import is_out_of_memory
        from rlccfr.interrupts import is_interrupt, settle_interrupt

        if is_out_of_memory(error):
            print("error: out of memory while the libraries were loaded; free some memory", file=sys.stderr)
            sys.exit(1)
        if not is_interrupt(error):
            raise
        print("error: interrupted", file=sys.stderr)
        settle_interrupt()
        sys.exit(130)
    run()


def _postpone_garbage_collection() -> None:
    """Put off Python's first search for cyclic garbage; it begins above :data:`OBJECTS_OF_LIBRARIES` objects."""
    usual = gc.get_threshold()

    def collect_as_usual(phase: str, details: dict[str, int]) -> None:
        gc.callbacks.remove(collect_as_usual)
        gc.set_threshold(*usual)

    gc.callbacks.append(collect_as_usual)
    gc.set_threshold(OBJECTS_OF_LIBRARIES, *usual[1:])


def low_limit() -> str | None:
    """Return a message if ``ulimit -v`` or ``-d`` allows too little memory for the libraries to load; else None."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    cores = os.cpu_count() or 1
    wanted = os.environ.get(BLAS_THREADS, "")
    threads = min(int(wanted), cores) if wanted.isdecimal() and int(wanted) > 0 else cores
    least = LEAST_BYTES + BYTES_PER_THREAD * threads
    for option, limit in (("v", resource.RLIMIT_AS), ("d", resource.RLIMIT_DATA)):
        allowed = resource.getrlimit(limit)[0]
        if 0 <= allowed < least:
            return (
                f"ulimit -{option} allows {allowed / 1e9:.2g} GB of memory, but the libraries need {least / 1e9:.2g} "
                f"GB: raise it, for example by `ulimit -{option} unlimited`"
            )
    return None


if __name__ == "__main__":
    main()
