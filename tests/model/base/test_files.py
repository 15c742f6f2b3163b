"""Reading files: at most a limit of bytes, with an error for every other kind of file."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import INSTALLED
from helpers.generated import generated
from helpers.refusals import refusal_of

from eyecast.model.base import files
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import read_input, require_writable, write_atomically
from eyecast.model.base.folders import new_folder
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.network.topology import mesh
from eyecast.model.network.topology_file import read_network
from eyecast.model.schedule.file import schedule_json, write_schedule

DEVICE = Path("/dev/zero")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_INPUT", 3_000_000)


def refusal(path: Path) -> str:
    return refusal_of(read_input, path)


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    assert read_input(path) == b"x" * 3_000_000
    path.write_bytes(b"x" * 3_000_001)
    assert refusal(path) == f"bytes of {path} must be at most 3000000, not 3000001"


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(path) == f"bytes of {path} must be at most 3000000, not {1 << 40}"


def test_a_folder_for_which_there_is_no_room_is_named_and_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    with pytest.raises(InvalidInput) as caught, new_folder(folder):
        Path("/dev/full").write_text("a file of the package")
    refusal = "must be writable, not refused (No space left on device)"
    assert str(caught.value) == f"output folder {folder} {refusal}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not DEVICE.exists(), reason="a device without an end")
def test_a_device_without_an_end_is_refused() -> None:
    assert refusal(DEVICE) == "bytes of /dev/zero must be at most 3000000, not more"


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    link.symlink_to("folder/target")
    for text in ("not there yet", "there"):
        require_writable(link)
        write_atomically(link, text)
        assert (link.is_symlink(), target.is_symlink()) == (True, False)
        assert target.read_text() == text
    link.unlink()
    link.symlink_to("no/target")
    with pytest.raises(InvalidInput, match=rf"^output folder {tmp_path}/no must be an existing"):
        require_writable(link)


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755, 0o666])
def test_the_mode_of_a_file_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write_atomically(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_a_file_that_nobody_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    for write in (require_writable, lambda path: write_atomically(path, "new")):
        assert refusal_of(write, path) == f"output file {path} must be writable, not read-only"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("old", 0o444)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_to_standard_output_is_alone_on_it(tmp_path: Path) -> None:
    arguments = (INSTALLED, "schedule", "--mesh", "4x4", "--source", "0,0", "-o")
    piped = subprocess.run((*arguments, "/dev/stdout"), capture_output=True, check=True)
    schedule = generated("broadcast", "eye", mesh((4, 4)), words=16, source=0)
    assert piped.stdout.decode() == schedule_json(schedule)
    assert piped.stderr.decode().startswith(
        "Broadcast of 16 words from (0,0) on a 4x4 mesh, algorithm eye\n"
    )
    path = tmp_path / "s.json"
    path.write_text("before\n")
    with path.open("a") as file:
        subprocess.run((*arguments, "/dev/fd/1"), stdout=file, stderr=subprocess.PIPE, check=True)
    assert path.read_text() == "before\n" + schedule_json(schedule)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, b'{"kind": "line", "nodes": 3}')
    os.close(write)
    with os.fdopen(read) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert read_network("-").label == "line of 3"
        with pytest.raises(InvalidInput, match=r"^standard input: Input data was truncated$"):
            read_network("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InvalidInput, match=r"^standard input: cannot be read: it is closed$"):
        read_network("-")


def test_a_schedule_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_schedule(eye_broadcast(mesh((4, 4)), 0, 16), path)
    with path.open() as text:
        arguments = (INSTALLED, "program", "--json", "--schedule", "-")
        done = subprocess.run(arguments, stdin=text, capture_output=True, check=True)
    assert b'"rows": 4' in done.stdout


def test_what_is_read_is_not_searched_for_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage collection among millions of lists would take most of the time to read a graph."""
    path = tmp_path / "graph.json"
    rows = ",".join(f"[-1, {node - 1}, {(node + 1) % 20_000}]" for node in range(1, 20_000))
    path.write_text(f'{{"kind": "graph", "neighbor": [[-1, -1, 0],{rows}]}}')
    runs: list[object] = []
    gc.collect()
    gc.callbacks.append(lambda *_: runs.append(1))
    try:
        with pytest.raises(InvalidInput, match=r"neighbor\[0\]\[2\] must be another node or -1"):
            read_network(path)
    finally:
        gc.callbacks.pop()
    # One collection at the end, when it is enabled again: its start and its end.
    assert len(runs) <= 2
    assert gc.isenabled()
