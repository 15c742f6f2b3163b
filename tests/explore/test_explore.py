"""``eyecast explore``: a state makes the run of its command and Python; strangers are refused."""

import json
import shlex
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from threading import Thread
from typing import Any

import pytest
from helpers.command import Command, envelope

from eyecast.explore import server as serving
from eyecast.explore.server import HEADERS, MOST_BYTES, Server
from eyecast.explore.state import SIZES, TRAFFIC, State, answer
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.kinds import KINDS

SMALL = {"size": "4x4", "words": 4}
STATES: list[dict[str, Any]] = [
    {**SMALL, "collective": "all-reduce", "algorithm": "ring"},
    {**SMALL, "collective": "barrier", "algorithm": ""},
    {**SMALL, "circuits": True, "algorithm": "light-tree", "source": "1,2"},
    {**SMALL, "algorithm": "packed-trees", "ports": "all"},
    {**SMALL, "algorithm": "tree", "faults": "3,3 1,0:2,0", "timing": "self-timed", "vcs": 3},
    {"collective": TRAFFIC, "size": "4x4", "pattern": "uniform", "rate": 0.5, "cycles": 50},
    *({"network": name, "size": SIZES[name], "algorithm": "", "source": "0"} for name in KINDS),
]


@pytest.mark.parametrize("given", STATES, ids=str)
def test_command_and_python_make_the_run_that_is_shown(
    eyecast: Command, capsys: pytest.CaptureFixture[str], given: dict[str, Any]
) -> None:
    found, _ = answer(State(**given))
    shown = int(dict(found.facts)["cycles"].replace(",", ""))
    exec(found.python, {})
    assert int(capsys.readouterr().out) == shown
    lines = eyecast(*shlex.split(found.command)[1:]).output.splitlines()
    assert [line for line in lines if line in found.waiting] == found.waiting
    typed = eyecast(*shlex.split(found.command)[1:], "--json")
    assert typed.status == 0, typed.errors
    if given.get("collective") == TRAFFIC:
        assert len(found.waiting) > 1
    else:
        assert envelope(typed)["result"]["cycles"] == shown


REFUSED = {
    "size must be sides such as 8x8, not 'x'": {"size": "x"},
    "nodes of the 99x99 mesh must be at most 256 to explore, not 9801": {"size": "99x99"},
    "words must be 1 to 1024, not 9999": {"words": 9999},
    "words times links must be at most 1,048,576, not 1,376,256": {
        **{"collective": "all-to-all", "algorithm": "direct", "words": 64}
    },
    "faults must be a node of the 8x8 mesh": {"faults": "9,9"},
    "collective must be": {"collective": "x"},
    "algorithm for broadcast must be": {"algorithm": "x"},
    "network must be": {"network": "graph"},
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_state_out_of_bounds_is_one_line(line: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answer(State(**REFUSED[line]))
    assert str(refused.value).startswith(line) and "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    thread = Thread(target=started.run)
    thread.start()
    yield started
    started.stop()
    thread.join()


def ask(server: Server, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
    """Return status and content of an answer; ``path`` is below the token."""
    token = server.address.removeprefix(f"http://{server.host}")
    answered = send(server, token + path, body, headers)
    with closing(answered):
        assert answered.status in (413, 421, 403, 404, 405) or all(
            answered.getheader(name) == value for name, value in HEADERS.items()
        )
        return answered.status, answered.read()


def send(server: Server, path: str, body: object, headers: dict[str, str]) -> HTTPResponse:
    text = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection = HTTPConnection(server.host)
    connection.request("GET" if text is None else "POST", path, text, headers)
    return connection.getresponse()


def test_a_run_is_answered_with_its_page(server: Server) -> None:
    status, text = ask(server, "run", {"size": "4x4"}, Origin=f"http://{server.host}")
    found = json.loads(text)
    assert status == 200 and dict(found["answer"]["facts"])["cycles"] == "86"
    assert b"on a 4x4 mesh, algorithm eye" in ask(server, found["page"])[1]
    assert json.loads(ask(server, "run", {"words": 0})[1]) == {
        "error": "words must be 1 to 1024, not 0"
    }
    assert ask(server, "run", {"output": "file"})[0] == ask(server, "run", b"{")[0] == 400


def test_strangers_are_refused(server: Server) -> None:
    assert server.host.startswith("127.0.0.1:")
    others = {421: {"Host": "example.com"}, 403: {"Origin": "https://example.com"}}
    for status, headers in others.items():
        assert ask(server, "", None, **headers)[0] == status
        assert ask(server, "run", {}, **headers)[0] == status
    assert ask(server, "run", {}, Origin="null")[0] == 403
    assert ask(server, "run", b" " * (MOST_BYTES + 1))[0] == 413
    assert ask(server, "run")[0] == 405
    for path in ("/", "/run", "/wrong/", f"/{'x' * 32}/choices"):
        assert send(server, path, None, {}).status == 404


def test_the_server_ends_with_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "GRACE", 0.01)
    server = Server()
    thread = Thread(target=server.run)
    thread.start()
    token = server.address.removeprefix(f"http://{server.host}")
    first, second = (send(server, f"{token}open", None, {}) for _ in range(2))
    assert first.fp.read(1) == second.fp.read(1) == b"3"
    first.close()
    assert ask(server, "choices")[0] == 200
    second.close()
    thread.join(20)
    assert not thread.is_alive()


def test_the_command_needs_a_link(eyecast: Command) -> None:
    typed = eyecast("explore", "mesh")
    line = "eyecast: LINK must be a link of a page of explore, with a #, not 'mesh'\n"
    assert (typed.status, typed.errors) == (2, line)
