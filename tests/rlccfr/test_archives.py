"""Archives are read only if their arrays can be as large as they say, and are of plain numbers and text."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rlccfr.archives
from rlccfr.archives import check_format, has_format, opened_archive, read_archive, write_archive
from rlccfr.errors import CheckpointError

ROOT = Path(rlccfr.archives.__file__).parent.parent


def npy(shape: tuple[int, ...], dtype: str = "<f8", data: bytes = b"") -> bytes:
    """Return an array's file whose header says a shape that its data need not have."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue() + data


def archive(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("table.npy", content)
    return path


@pytest.mark.parametrize("compress", [False, True])
def test_arrays_come_back(tmp_path, compress):
    arrays = {
        "table": np.arange(6.0).reshape(2, 3),
        "none": np.zeros(0),
        "header": np.array(json.dumps({"format": "x"})),
    }
    with (tmp_path / "a.npz").open("wb") as file:
        write_archive(file, arrays, compress=compress)
    found = read_archive(tmp_path / "a.npz")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert has_format(tmp_path / "a.npz", "x")
    assert not has_format(tmp_path / "a.npz", "y")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("rlccfr-team-5", "a.npz is not a solver file, since its format is .*: name another file$"),
        ("rlccfr-policy-1", r"name another file, or read this one by rlccfr\.Policy\.load$"),
        ("rlccfr-solver-0", "this version reads"),
    ],
)
def test_a_file_of_another_kind_is_told_from_one_of_another_version(found, message):
    check_format("rlccfr-solver-1", "rlccfr-solver-1", "a.npz", "solver")
    with pytest.raises(CheckpointError, match=message):
        check_format(found, "rlccfr-solver-1", "a.npz", "solver")


def test_a_part_that_a_damaged_directory_hides_is_missed():
    arrays = {name: np.arange(3) for name in "abc"}
    file = io.BytesIO()
    write_archive(file, arrays)
    data, entry = bytearray(file.getvalue()), b"PK\1\2"
    first = data.index(entry)
    second = data.index(entry, first + 1)
    third = data.index(entry, second + 1)
    data[first + 32 : first + 34] = (third - second).to_bytes(2, "little")  # hidden in a comment
    with pytest.raises(ValueError, match="does not have as many parts as it says"):
        read_archive(io.BytesIO(bytes(data)))


@pytest.mark.slow
def test_a_table_of_zeros_is_read_although_it_is_much_larger_than_its_file(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", table=np.zeros(10**7))
    assert (tmp_path / "a.npz").stat().st_size < 10**5
    assert read_archive(tmp_path / "a.npz")["table"].shape == (10**7,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy((10**13,)), "is not as large as its header says"),
        (npy((2,), data=bytes(8)), "is not as large as its header says"),
        (npy((1,), "|O", bytes(8)), "Python objects"),
        (npy((10**12,), "<U0"), "or nothing"),
        (b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + bytes(10**5), "EOF|header"),
    ],
    ids=["larger than memory", "cut", "objects", "of nothing", "long header"],
)
def test_a_hostile_array_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_archive(archive(tmp_path / "a.npz", content))


def with_size(path: Path, content: bytes) -> Path:
    """Write an archive that says that its part has almost 4 GiB."""
    data = archive(path, content).read_bytes()
    path.write_bytes(data.replace(len(content).to_bytes(4, "little"), (2**32 - 2).to_bytes(4, "little")))
    return path


def test_a_size_that_is_not_the_headers_is_refused(tmp_path):
    content = npy((10**6,), data=np.random.default_rng(0).bytes(8 * 10**6))
    with pytest.raises(ValueError, match="is not as large as its header says"):
        read_archive(with_size(tmp_path / "a.npz", content))


def test_a_size_that_no_compression_reaches_is_refused(tmp_path):
    with pytest.raises(ValueError, match="can't be as large as it says"):
        read_archive(with_size(tmp_path / "a.npz", npy((10**12,))))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_expands_all_at_once_is_refused(tmp_path, method):
    with pytest.raises(ValueError, match="is compressed, but not by deflate"):
        read_archive(archive(tmp_path / "a.npz", npy((10,), data=bytes(80)), method))


def test_parts_that_overlap_are_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "a.npz", npy((10,), data=bytes(80)))
    parts = zipfile.ZipFile.infolist
    monkeypatch.setattr(zipfile.ZipFile, "infolist", lambda self: parts(self) * 100)
    with pytest.raises(ValueError, match="its parts overlap"):
        read_archive(path)


def test_bytes_in_memory_are_read_as_a_file_is():
    buffer = io.BytesIO()
    np.savez(buffer, table=np.arange(3))
    assert read_archive(buffer)["table"].tolist() == [0, 1, 2]


def test_an_array_beyond_the_memory_that_is_left_is_refused_before_it_is_read(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", table=np.zeros(1000))
    monkeypatch.setattr(rlccfr.archives, "available_memory", lambda: 1000)
    with (
        pytest.raises(CheckpointError, match=r"a\.npz needs 8.13e-06 GB of memory, but only 1e-06 GB are available"),
        opened_archive(tmp_path / "a.npz"),
    ):
        pass


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(npy((10**13,)))
    with pytest.raises(zipfile.BadZipFile):
        read_archive(tmp_path / "a.npz")


MODULES = ("pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "np", "numpy", "torch")
READERS = {f"{module}.{name}" for module in MODULES for name in ("load", "loads", "Unpickler", "open")}
READERS |= {"pd.read_pickle", "pandas.read_pickle"}
COMPILED = ROOT / "rlccfr" / "kernels" / "cache.py"
"""Numba's own form of compiled code, which is as trusted as the code in it; only a private folder is read."""


def names_in(path: Path) -> set[str]:
    """Return what a module names as ``module.name``, or imports from a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return found


@pytest.mark.slow
def test_nothing_reads_pickles():
    """NumPy's reader is called in one place, which refuses objects; compiled kernels are in Numba's form."""
    rooms = ("rlccfr", "catalog", "envs", "agents")
    found = {path for room in rooms for path in (ROOT / room).rglob("*.py") if names_in(path) & READERS}
    assert found == {COMPILED, ROOT / "rlccfr" / "archives.py"}
