"""The fuzzer (bench/fuzz.py): it notices broken promises, and finds none in some hundred cases."""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import click
import pytest

from eyecast.cli.main import COMMANDS, cli
from eyecast.cli.options.values import complete_files
from eyecast.formats.registry import FORMATS, format_of
from eyecast.model.base.files import InputFile

BENCH = Path(__file__).parents[2] / "bench/fuzz.py"
REFUSED = ["schedule", "--mesh", "8x8"]


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


def raises():
    raise KeyError("no such thing")


def writes_a_file_and_refuses():
    Path("half.json").write_text("{")
    sys.stderr.write("eyecast: side must be 1, not 0\n")
    sys.exit(2)


def refuses_in_two_lines():
    sys.stderr.write("eyecast: side must be 1, not 0\neyecast: source must be given\n")
    sys.exit(2)


def ends_with_status_3():
    sys.exit(3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises, "status 70: KeyError"),
        (writes_a_file_and_refuses, "a new file half.json"),
        (refuses_in_two_lines, "status 2 with"),
        (ends_with_status_3, "status 3"),
    ],
)
def test_a_broken_promise_is_noticed(fuzz, monkeypatch, tmp_path, answer, said):
    monkeypatch.setattr(fuzz, "eyecast", answer)
    assert said in fuzz.fault(fuzz.Case(REFUSED, {}), tmp_path)


def test_a_wrong_schedule_that_is_accepted_is_noticed(fuzz, monkeypatch, tmp_path):
    def accepts():
        sys.exit(0)

    monkeypatch.setattr(fuzz, "eyecast", accepts)
    monkeypatch.setattr(fuzz.judge, "problems", lambda _schedule: {"twice"})
    monkeypatch.setattr(fuzz, "read_schedule", lambda path: path)
    case = fuzz.Case(["convert", "a.xml", "out.json"], {"out.json": b'{"sends": []}'})
    assert fuzz.fault(case, tmp_path) == "accepted, but wrong: twice"


def test_cases_that_share_a_process_are_answered_one_by_one(fuzz, monkeypatch):
    """Case 2 ends the shared process, so it and all later ones run again, alone."""

    def answers():
        number = int(sys.argv[1])
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if number % 4 == 1:
            writes_a_file_and_refuses()
        sys.exit(0)

    monkeypatch.setattr(fuzz, "eyecast", answers)
    monkeypatch.setattr(fuzz, "draw_case", lambda number, _: fuzz.Case([str(number)], {}))
    file = "status 2 and a new file half.json"
    assert fuzz.faults(range(6), {}) == {1: file, 2: "ended by signal 9", 5: file}


def test_a_case_that_fails_only_in_company_is_answered_as_promised(fuzz, monkeypatch):
    def fails_the_second_time():
        os.environ["SEEN"] = str(int(os.environ.get("SEEN", "0")) + 1)
        sys.exit(3 * (os.environ["SEEN"] != "1"))

    monkeypatch.delenv("SEEN", raising=False)
    monkeypatch.setattr(fuzz, "eyecast", fails_the_second_time)
    monkeypatch.setattr(fuzz, "draw_case", lambda *_: fuzz.Case(REFUSED, {}))
    assert fuzz.faults(range(3), {}) == {}


def test_a_case_is_drawn_from_its_number(fuzz):
    corpus = {"eye.json": b'{"sends": [1, 2, 3]}', "traffic-list.txt": b"0 5\n-1\n"}
    cases = [fuzz.draw_case(number, corpus) for number in range(50)]
    assert cases == [fuzz.draw_case(number, corpus) for number in range(50)]
    assert len({tuple(case.arguments) for case in cases}) > 10


WRITTEN = {"-o", "--output", "--report", "--picture", "--certificate"}
"""Options for files that commands write; "program --image" is another."""


def test_every_command_and_every_reader_is_drawn(fuzz):
    assert {line.split()[0] for line in fuzz.known_lines()} == COMMANDS.keys()
    lines = [line.split() for lines in fuzz.READING.values() for line in lines]
    for name in COMMANDS:
        for parameter in cli.get_command(click.Context(cli), name).params:
            words = {*parameter.opts} - WRITTEN
            if parameter._custom_shell_complete is complete_files and words:
                word = name if isinstance(parameter, click.Argument) else parameter.opts[-1]
                assert any(word in line for line in lines), (name, word)
    made = {word for line in fuzz.MAKING.values() for word in line.split() if "." in word}
    corpus = {*made, *fuzz.WRITTEN}
    read = {kind for file in corpus for kind in fuzz.kinds_of(file)}
    assert read == fuzz.READING.keys()


@pytest.mark.slow
def test_damaged_commands_and_files_are_answered_as_promised(fuzz, tmp_path):
    corpus = fuzz.make_corpus(tmp_path / "files")
    assert fuzz.MAKING.keys() | fuzz.WRITTEN.keys() < corpus.keys()
    recognised = [format_of(InputFile(name, content)) for name, content in corpus.items()]
    assert [each.name for each in FORMATS.values() if each.reads and each not in recognised] == []
    # As in ``make fuzz``, one process has all cases; a fork for each would take ten times as long.
    assert fuzz.faults(range(250), corpus) == {}
