"""Tables: complete at any width, and without control characters."""

import fcntl
import os
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from helpers.command import CORNER_4X4, INSTALLED, Command
from helpers.processes import run_program

from eyecast.cli import console

COLUMNS = ("graph", "words\nsent", "by formula:\nwords", "")
ROWS = [("sbt", 2147483648, 1099511627776, "ok"), ("a long name", None, 4294967296, "DIFFERS")]
NUMBERS = ("2,147,483,648", "1,099,511,627,776", "4,294,967,296")

COSTS = ("paper", "johnsson-ho-1986", "table-4", "--dimension", "16", "--packet", "1")
COSTS += ("--words", "2147483648")
LARGEST = "34359738368"
"""Number of start-ups: 16 for each of 2147483648 one-flit packets."""


@pytest.mark.parametrize("width", [None, *range(21, 100, 7)])
def test_every_number_is_whole_at_any_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int | None
) -> None:
    monkeypatch.setattr(console, "_terminal_width", lambda: width)
    console.print_table("a title", COLUMNS, ROWS)
    output = capsys.readouterr().out
    for number in NUMBERS:
        assert number in output.split()
    if width is not None:
        assert max(map(len, output.splitlines())) <= width
    assert "…" not in output


def test_a_narrow_terminal_has_rows_below_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "_terminal_width", lambda: 34)
    console.print_table("", COLUMNS, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "graph sbt",
        "  words sent         2,147,483,648",
        "  by formula: words",
        "    1,099,511,627,776",
        "                     ok",
        "graph a long name",
        "  by formula: words  4,294,967,296",
        "                     DIFFERS",
    ]


def test_nothing_that_a_terminal_would_obey_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_table("\x1b[2Jtitle", ("", "value"), [("\x1b]0;name\x07", "\u202e\r")])
    console.say_written("a\x1b[31mb\n")
    output = capsys.readouterr().out
    assert all(line.isprintable() for line in output.splitlines())
    assert "\\x1b[2Jtitle" in output
    assert "\\x1b]0;name\\x07" in output
    assert output.endswith("wrote a\\x1b[31mb\\n\n")


def test_a_pipe_gets_the_whole_width() -> None:
    environment = {**os.environ, "COLUMNS": "40"}
    done = subprocess.run([INSTALLED, *COSTS], env=environment, capture_output=True, check=True)
    assert LARGEST in done.stdout.decode().split()


def on_terminal(columns: int, *arguments: str) -> str:
    """Return what a command prints on a terminal of ``columns``."""
    main, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([INSTALLED, *arguments], env=environment, stdout=terminal) as command:
        os.close(terminal)
        output = b""
        while piece := _read(main):
            output += piece
    os.close(main)
    assert command.returncode == 0
    return re.sub(r"\x1b\[\d*m|\r", "", output.decode())


def test_a_narrow_terminal_gets_whole_numbers() -> None:
    assert LARGEST in on_terminal(40, *COSTS).split()


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (("predict", *CORNER_4X4), 30),
        (("compare", *CORNER_4X4), 30),
        (("algorithms", "--collective", "scatter"), 120),
    ],
)
def test_80_columns_keep_rows_and_words(
    eyecast: Command, command: tuple[str, ...], lines: int
) -> None:
    """Cells, headings and prose are wrapped at words: a wide terminal shows the same words."""
    shown = on_terminal(80, *command)
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) <= lines
    piped = eyecast(*command).output
    assert [text.count("━┓") for text in (shown, piped)] == [piped.count("━┓")] * 2
    frames = str.maketrans("│┃", "  ", "━─┏┓┡┩┗┛└┘┳┴╇┻")
    words = [sorted(text.translate(frames).split()) for text in (shown, piped)]
    assert words[0] == words[1]


def test_points_are_aligned_and_thousands_separated(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", 1234, "ok"), ("b", "1234.5", ""), ("c", "0.25", "of 12"), ("d", None, "x")]
    console.print_table("", ("", "value", "text"), rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("│")] == [
        "│ a │ 1,234    │ ok    │",
        "│ b │ 1,234.5  │       │",
        "│ c │     0.25 │ of 12 │",
        "│ d │          │ x     │",
    ]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # The terminal's other end is closed.
        return b""


@pytest.mark.parametrize(
    "line",
    [
        "algorithms --collective broadcast",
        pytest.param("ip --mesh 2x2 --source 0,0 -o package", marks=pytest.mark.slow),
    ],
)
def test_a_terminal_that_is_not_utf_8_gets_tables_and_files(tmp_path: Path, line: str) -> None:
    """A letter that the terminal lacks is a question mark there."""
    variables = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = run_program([INSTALLED, *line.split()], env=variables, cwd=tmp_path)
    assert (done.returncode, done.stdout.isascii()) == (0, True), done.stderr
