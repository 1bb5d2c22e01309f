"""Files that experiments download: once, only the published one, and before anything is measured."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rlccfr.errors import RLCCFRError
from rlccfr.experiments.experiment import Case, Experiment
from rlccfr.experiments.public_files import PublicFile
from rlccfr.experiments.running import measure

TEXT = "-round 4\n-board 4s8hTc9h2s\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def served():
    """Serve a text on this machine, and return its address and the requests for it."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(TEXT.replace("\n", "\r\n").encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/endgame.txt", requests
    server.shutdown()
    thread.join()
    server.server_close()


def file_at(address, text=TEXT):
    return PublicFile("endgame.txt", address, hashlib.sha256(text.encode()).hexdigest())


def refusal(file):
    with pytest.raises(RLCCFRError) as error:
        file.read()
    message = str(error.value)
    assert "\n" not in message
    assert str(file.path) in message
    assert file.address in message
    return message


def test_a_file_is_downloaded_once(served):
    address, requests = served
    file = file_at(address)
    assert [file.read(), file.read()] == [TEXT, TEXT]
    assert requests == ["/endgame.txt"]


def test_without_a_network_the_message_says_what_to_put_where(cache):
    file = file_at("http://127.0.0.1:9/endgame.txt")
    assert "save it as" in refusal(file)
    cache.mkdir()
    file.path.write_bytes(TEXT.replace("\n", "\r\n").encode())  # a copy, with other ends of lines
    assert file.read() == TEXT


def test_another_file_is_refused(served, cache):
    address, _ = served
    file = file_at(address, "-round 3\n")
    assert "is no longer the file" in refusal(file)
    assert not file.path.exists()
    cache.mkdir()
    file.path.write_text(TEXT)
    assert "delete it" in refusal(file)
    file.path.unlink()
    file.path.mkdir()
    with pytest.raises(RLCCFRError, match="can't be read"):
        file.read()


def test_files_are_required_before_anything_is_measured(tmp_path):
    measured = []

    def observe(name):
        measured.append(name)
        return [{"name": name}]

    def cases(quick):
        file = file_at("http://127.0.0.1:9/endgame.txt")
        without = [Case("a", partial(observe, "a"))]
        return without if quick else [*without, Case("b", partial(observe, "b"), (file,))]

    trial = Experiment("trial", "", "", cases, None, None)
    with pytest.raises(RLCCFRError, match="save it as"):
        measure(trial, tmp_path, False)
    assert not measured
    assert measure(trial, tmp_path, True)["name"].tolist() == ["a"]
