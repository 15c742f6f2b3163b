"""The cache: damage, full disks, leftovers, names that make cannot read; ``eyecast cache``."""

import errno
import json
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.command import CORNER_4X4, Command, result
from helpers.refusals import refusal_of

from eyecast.model.base import processes
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.sim import cache, cache_entry, run_worker, toolchain
from eyecast.sim.build import build_simulator, built_meanwhile, runtime_objects
from eyecast.sim.build_worker import build
from eyecast.sim.cache import CacheError, cached_folder, digest, network_words
from eyecast.sim.simulator import SimulatorError, ended_early, simulate

KEY, OTHER = digest("one"), digest("another")
CONTENT = "0123456789"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an empty cache for one test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(folder))
    return folder


def fill(folder: Path) -> None:
    (folder / "inner").mkdir()
    for name in ("a", "inner/b"):
        (folder / name).write_text(CONTENT)


def keep(key: str = KEY) -> Path:
    return cached_folder(key, "two files", fill)


def write_later(path: Path, content: str) -> None:
    """Change a file, with a new time even if the file system's clock is coarse."""
    path.write_text(content)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def write_unnoticed(path: Path, content: str) -> None:
    """Change a file, and give it its old time."""
    before = path.stat()
    path.write_text(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def link_to(path: Path, other: Path) -> None:
    other.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(other)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty": lambda entry: (entry / "a").write_text(""),
    "cut": lambda entry: (entry / "inner/b").write_text(CONTENT[:-1]),
    "flipped": lambda entry: write_later(entry / "a", CONTENT.replace("3", "2")),
    "flipped, with its old time": lambda entry: write_unnoticed(entry / "a", CONTENT[::-1]),
    "a link": lambda entry: link_to(entry / "a", entry.parent.parent / "elsewhere"),
    "a folder that others write": lambda entry: entry.chmod(0o777),
    "an inner folder that others write": lambda entry: (entry / "inner").chmod(0o702),
    "a file that others write": lambda entry: (entry / "inner/b").chmod(0o620),
    "a list that others write": lambda entry: (entry / cache_entry.LIST).chmod(0o622),
    "missing": lambda entry: (entry / "inner/b").unlink(),
    "without a list": lambda entry: (entry / cache_entry.LIST).unlink(),
    "with half a list": lambda entry: (entry / cache_entry.LIST).write_text('{"what": "'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_is_made_anew_and_said(
    home: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    entry = keep()
    DAMAGE[damage](entry)
    assert keep() == entry
    assert {(entry / name).read_text() for name in ("a", "inner/b")} == {CONTENT}
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    wrong = "is damaged or open to other users, and made anew"
    assert said == [f"two files in the cache {wrong}: {entry}"]
    assert {path.name for path in home.iterdir()} == {KEY, f"{KEY}.lock"}


def test_all_is_made_for_its_owner_alone(home: Path) -> None:
    """Whatever the umask is, and also in a folder that was there before."""
    before = os.umask(0)
    try:
        entry = keep()
        home.chmod(0o755)
        other = keep(OTHER)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (entry, *entry.rglob("*"))}
    expected = {entry.name: 0o700, "inner": 0o700, "a": 0o600, "b": 0o600, "entry.json": 0o600}
    assert modes == expected
    assert other.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_refused(home: Path, mode: int) -> None:
    keep()
    home.chmod(mode)
    for key in (KEY, OTHER):
        assert refusal_of(keep, key) == (
            f"cache folder {home} must be writable by its owner alone (remove it, or name another "
            f"in EYECAST_CACHE), not of mode {mode:o}"
        )
    home.chmod(0o755)
    keep()


@pytest.mark.parametrize(
    ("owner", "user", "trusted"),
    [(1000, 1000, True), (0, 1000, True), (1001, 1000, False), (1000, 0, False)],
)
def test_a_folder_of_another_user_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, owner: int, user: int, trusted: bool
) -> None:
    keep()
    found = list(home.stat())
    found[stat.ST_UID] = owner
    monkeypatch.setattr(cache.os, "geteuid", lambda: user)
    monkeypatch.setattr(type(home), "stat", lambda *_, **__: os.stat_result(found))
    if trusted:
        cache.require_own(home)
        return
    assert refusal_of(cache.require_own, home) == (
        f"cache folder {home} must be your own (name another in EYECAST_CACHE), not of user {owner}"
    )


def test_a_full_disk_is_one_line_and_leaves_nothing(home: Path) -> None:
    def write(folder: Path) -> None:
        fill(folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(CacheError) as error:
        cached_folder(KEY, "two files", write)
    assert str(error.value) == (
        f"two files could not be built: {home}: No space left on device (eyecast cache --clear "
        "makes room, EYECAST_CACHE names another folder)"
    )
    assert {path.name for path in home.iterdir()} == {f"{KEY}.lock"}


def test_a_program_that_found_no_room_is_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.write_text("x.cpp: fatal error: cannot write: No space left on device\n")
    with pytest.raises(OSError, match="No space left") as error:
        processes.require_room(log)
    assert error.value.errno == errno.ENOSPC
    log.write_text("x.cpp: fatal error: no such file\n")
    processes.require_room(log)
    # On a full disk the log is empty too.
    log.write_text("")
    monkeypatch.setattr(processes, "FULL", 1 << 80)
    with pytest.raises(OSError, match="No space left"):
        processes.require_room(log)


def test_a_full_temporary_folder_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    full = f"temporary folder {tmp_path}: No space left on device (TMPDIR names another folder)"

    def save(_: Path) -> None:
        Path("/dev/full").write_text(CONTENT)

    job = SimpleNamespace(save=save)
    with pytest.raises(SimulatorError) as error:
        list(simulate(tmp_path, [job]))  # type: ignore[list-item]
    assert str(error.value) == full
    log = tmp_path / run_worker.LOG
    log.write_text("OSError: [Errno 28] No space left on device\n")
    with pytest.raises(SimulatorError) as error:
        ended_early(tmp_path)
    assert str(error.value) == full
    log.write_text("first\nlast\n")
    message, _, kept = str(ended_early(tmp_path)).rpartition(" ")
    assert message == "the simulator ended early; see"
    assert Path(kept).read_text() == "first\nlast\n"
    assert Path(kept).parent == home / cache.LOGS


def test_leftovers_go_by_themselves_but_not_what_is_being_made(home: Path) -> None:
    home.mkdir(mode=0o700)
    mine, others, unfinished = (
        home / f"{key}.{number}{cache_entry.PARTIAL}"
        for number, key in enumerate((KEY, OTHER, digest("being made")))
    )
    foreign = home / f"my{cache_entry.PARTIAL}"
    for folder in (mine, others, unfinished, foreign):
        fill_new(folder)
    logs = home / cache.LOGS
    logs.mkdir()
    for name, days in (("old.log", cache.LOG_DAYS + 1), ("new.log", cache.LOG_DAYS - 1)):
        (logs / name).touch()
        os.utime(logs / name, (time.time() - days * 86_400,) * 2)
    with cache._locked(home, unfinished.name.partition(".")[0]):
        keep()
    assert not mine.exists()
    assert not others.exists()
    assert unfinished.exists()
    assert foreign.exists()
    assert [path.name for path in logs.iterdir()] == ["new.log"]


def fill_new(folder: Path) -> None:
    folder.mkdir()
    fill(folder)


def test_each_try_has_a_folder_of_its_own(home: Path) -> None:
    tried = set()

    def fail(folder: Path) -> None:
        tried.add(folder)
        raise RuntimeError

    for _ in range(2):
        with pytest.raises(RuntimeError):
            cached_folder(KEY, "nothing", fail)
    assert len(tried) == 2
    assert not any(folder.exists() for folder in tried)


def test_the_command_lists_and_clears(home: Path, eyecast: Command) -> None:
    assert eyecast("cache").output == f"nothing is kept in {home}\n"
    keep()
    keep(OTHER)
    long_ago = time.time() - 10 * 86_400
    os.utime(home / OTHER, (long_ago, long_ago))
    (home / "mine").mkdir()
    listed = result(eyecast("cache", "--json"))
    assert [entry["key"] for entry in listed["entries"]] == [KEY, OTHER]
    assert listed["entries"][1]["used"] == pytest.approx(long_ago)
    sizes = [path.stat().st_size for path in (home / KEY).rglob("*") if path.is_file()]
    assert listed["entries"][0]["size"] == sum(sizes)
    assert "two files" in eyecast("cache").output
    removed = eyecast("cache", "--clear-unused", "9").output
    assert removed == f"removed from {home}: 1 entry, 0.0 MB\n"
    assert [entry["key"] for entry in result(eyecast("cache", "--json"))["entries"]] == [KEY]
    cleared = result(eyecast("cache", "--clear", "--json"))
    assert [entry["key"] for entry in cleared["removed"]] == [KEY]
    assert [path.name for path in home.iterdir()] == ["mine"]


def test_what_is_used_is_not_cleared_as_unused(home: Path, eyecast: Command) -> None:
    entry = keep()
    os.utime(entry, (0, 0))
    keep()
    assert eyecast("cache", "--clear-unused", "1").output.endswith(": 0 entries, 0.0 MB\n")


def test_what_the_command_refuses(eyecast: Command) -> None:
    assert eyecast("cache", "--clear", "--clear-unused", "1").errors == (
        "eyecast: --clear must be without --clear-unused\n"
    )
    assert eyecast("cache", "--clear-unused", "1_0").errors == (
        "eyecast: --clear-unused must be an integer, not '1_0'\n"
    )
    assert eyecast("cache", "--clear-unused", "-1").errors == (
        "eyecast: --clear-unused must be 0 to 100000, not -1\n"
    )


def test_a_network_in_words() -> None:
    config = NetworkConfig(topology=mesh((4, 2)), vcs=2, message_words=64, timed_rows=True)
    assert network_words(config) == "4x2 mesh, vcs 2, message words 64, timed rows"


def test_make_is_shown_no_name_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a b"
    for made in (folder / "build", folder / "verilator" / "bin"):
        made.mkdir(parents=True)
    source, program = folder / "network.v", folder / "verilator" / "bin" / "verilator_bin"
    for file in (source, program, folder / "build" / "kept.o"):
        file.write_text(file.name)
    monkeypatch.setenv("PATH", toolchain.environment()["PATH"])
    monkeypatch.setenv("VERILATOR_ROOT", str(folder / "verilator"))
    words: list[str] = []

    def call(command: list[str], cwd: Path, env: dict[str, str]) -> int:
        # Verilator resolves links to its sources and to its own folder.
        words.extend([*command, str(cwd.resolve()), env["VERILATOR_ROOT"]])
        words.append((cwd / "whole.mk").read_text())
        assert (cwd / "kept.o").exists()
        assert (cwd.parent / source.name).resolve().read_text() == source.name
        (cwd / "top").write_text("compiled")
        return 0

    monkeypatch.setattr("eyecast.sim.build_worker.call", call)
    build("top", [str(source)], folder / "build", ["--hierarchical"])
    assert (folder / "build" / "top").read_text() == "compiled"
    assert words
    assert not [word for word in words if str(folder) in word]


def test_a_temporary_folder_with_a_space_is_refused_where_links_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaced = str(tmp_path / "a b")
    monkeypatch.setattr(toolchain.tempfile, "gettempdir", lambda: spaced)
    monkeypatch.setenv(cache.CACHE_VARIABLE, spaced)
    assert refusal_of(toolchain._require_place_for_links, {}) == (
        "temporary folder (TMPDIR) must be a path without spaces and the like where another path "
        f"that is used has one, not {spaced}"
    )


def test_a_refusal_leaves_no_empty_folder(
    eyecast: Command, here: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    toolchain.environment.cache_clear()
    refused = eyecast("verify", *CORNER_4X4, "-o", "a/b")
    toolchain.environment.cache_clear()
    assert refused.errors == "eyecast: make must be on PATH, found none: install make\n"
    assert not (here / "a").exists()


def test_the_list_of_an_entry_can_be_read_by_others(home: Path) -> None:
    listed = json.loads((keep() / cache_entry.LIST).read_text())
    assert listed["what"] == "two files"
    assert set(listed["files"]) == {"a", "inner/b"}


def test_a_simulator_is_built_while_the_model_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new cache has only Verilator's library, if that is kept."""
    home = tmp_path / "cache"
    home.mkdir(mode=0o700)
    for listed in cache.cache_folder().glob("*/entry.json"):
        if "Verilator's library" in listed.read_text():
            shutil.copytree(listed.parent, home / listed.parent.name)
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(home))
    config = NetworkConfig(topology=mesh((2, 1)))
    monkeypatch.setattr("eyecast.model.base.compiled.is_kept", lambda _function: False)
    with built_meanwhile(config):
        for _ in range(1200):
            if not list(home.glob("*.lock")):
                time.sleep(0.1)
        build_simulator(config, on_build=lambda: pytest.fail("built here"))


def test_builds_with_waveforms_and_without_share_verilators_library(
    home: Path, tmp_path: Path
) -> None:
    """The shared objects include the one that only waveforms need."""
    assert home.parent == tmp_path

    def found(name: str, *, waves: bool, compiled: tuple[str, ...] = ()) -> set[str]:
        folder = tmp_path / name
        folder.mkdir()
        with runtime_objects(folder, waves=waves):
            before = {path.name for path in folder.iterdir()}
            for each in compiled:
                (folder / each).touch()
        return before

    shared, recording = "verilated.o", "verilated_vcd_c.o"
    assert found("first", waves=False, compiled=(shared,)) == set()
    assert found("waves", waves=True, compiled=(recording,)) == {shared}
    assert found("waves again", waves=True) == {shared, recording}
    assert found("last", waves=False) == {shared}
