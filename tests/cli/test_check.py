"""``eyecast check``: our traces, simulators' and logic analysers' recordings, right and wrong."""

import json
import random
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from helpers.command import Command, printed_result, refusal
from helpers.recordings import CONFIG, CYCLES, NETWORK, VALID, WIDTHS, samples, table, waveform

from eyecast.cli import check
from eyecast.model.base.errors import InvalidInput
from eyecast.model.run.trace import Trace, first_difference
from eyecast.waves import recorded_trace
from eyecast.waves.recorded_trace import RESET, recorded_run, recorded_signals
from eyecast.waves.recording import vcd_samples
from eyecast.waves.wanted import Wanted


@pytest.fixture
def trace(eyecast: Command) -> Trace:
    """Return the predicted trace, and write it to trace.csv."""
    assert eyecast("predict", *NETWORK, "-o", "trace.csv").status == 0
    return Trace.read_csv("trace.csv")


def write_all(trace: Trace) -> list[str]:
    """Write the trace as a file of each kind."""
    trace.write_csv("seen.csv")
    Path("seen.vcd").write_text(waveform(samples(trace)))
    Path("analyser.csv").write_text(table(samples(trace), radix=False))
    Path("radix.csv").write_text(table(samples(trace), radix=True))
    return ["seen.csv", "seen.vcd", "analyser.csv", "radix.csv"]


def test_a_trace_as_predicted(eyecast: Command, trace: Trace) -> None:
    for file in write_all(trace):
        answer = eyecast("check", file, *NETWORK, "-o", "read.csv")
        assert answer.status == 0, answer
        assert "all rules hold" in answer.output
        assert Path("read.csv").read_bytes() == Path("trace.csv").read_bytes()


def test_one_bit_changed(eyecast: Command, trace: Trace) -> None:
    trace.data[3] ^= 1 << 5
    row = trace[3]
    for file in write_all(trace):
        answer = eyecast("check", file, *NETWORK)
        assert answer.status == 1
        assert f">3  4,0,1,0,body,{row.data ^ 1 << 5:x}" in answer.output
        assert str(row) in answer.output


def test_a_trace_with_a_hole(eyecast: Command, trace: Trace) -> None:
    holes = Trace.from_flits([flit for number, flit in enumerate(trace) if number != 4])
    for file in write_all(holes):
        found = printed_result(eyecast("check", file, *NETWORK, "--json").output)
        assert not found["agrees"]
        assert found["rows"] == len(trace) - 1
        assert found["broken_rule"].startswith("rows: ")


def test_a_program_and_its_image(eyecast: Command, trace: Trace) -> None:
    made = eyecast("program", *NETWORK, "-o", "program.json", "--image", "image.csv")
    assert made.status == 0
    trace.write_csv("seen.csv")
    program = ("check", "seen.csv", "--program", "program.json")
    assert eyecast(*program, "--image", "image.csv").status == 0
    # Without the image the words of messages are not known; that they arrive as sent is a rule.
    assert eyecast(*program).status == 0
    trace.data[3] ^= 1
    trace.write_csv("seen.csv")
    assert eyecast(*program, "--image", "image.csv").status == 1
    assert "broken rule: routes" in eyecast(*program).output


def test_without_a_program(eyecast: Command, trace: Trace) -> None:
    trace.write_csv("seen.csv")
    assert eyecast("check", "seen.csv", "--mesh", "2x2", "--no-program").status == 0
    cut = trace.first_rows(len(trace) - 1)
    cut.write_csv("seen.csv")
    answer = eyecast("check", "seen.csv", "--mesh", "2x2", "--no-program")
    assert answer.status == 1
    assert "packets: " in answer.output
    assert "the packet has no tail flit" in answer.output


def test_an_all_port_trace_without_a_program(eyecast: Command, here: Path) -> None:
    """A node has two deliveries in a cycle, and a link one flit."""
    network = ("--mesh", "2x2", "--ports", "all")
    asked = ("--collective", "all-gather", "--algorithm", "hamiltonian", "-o", "seen.csv")
    assert eyecast("predict", *network, *asked).status == 0
    assert eyecast("check", "seen.csv", *network, "--no-program").status == 0
    with Path("seen.csv").open("a") as file:
        file.write(f"{next(flit for flit in Trace.read_csv('seen.csv') if flit.port)}\n")
    answer = eyecast("check", "seen.csv", *network, "--no-program")
    assert "a second flit leaves in this cycle" in answer.output


def test_what_is_refused(eyecast: Command, trace: Trace) -> None:
    write_all(trace)
    missing = "tile_2.network_interface.ejections__0__valid"
    rows = [{name: row[name] for name in row if name != missing} for row in samples(trace)]
    Path("missing.vcd").write_text(waveform(rows))
    both = waveform(samples(trace)).replace("$enddefinitions", waveform(rows, "other"), 1)
    Path("both.vcd").write_text(both)
    Path("names.json").write_text("[]")
    assert eyecast("predict", *NETWORK, "--waves", "-o", "w.csv").status == 0
    for arguments, line in (
        (
            ["waves.vcd"],
            "the recording must have the hardware's signals, as signals.vcd of verify --signals",
        ),
        (["nothing.csv"], "trace nothing.csv must be readable, not No such file or directory"),
        (
            ["missing.vcd"],
            f"the recording must have a signal bench.chip.noc.{missing}, it has none",
        ),
        (
            ["both.vcd"],
            "--scope must say which network it is: one of bench.chip.noc, other",
        ),
        (["seen.vcd", "--clock", "clock"], "the recording must have a signal bench.chip.noc.clock"),
        (["seen.vcd", "--names", "names.json"], "names.json must be a JSON object of names"),
        (["seen.csv", "--image", "image.csv"], "--image needs --program FILE"),
    ):
        answer = eyecast("check", *arguments, *NETWORK)
        assert answer.status == 2
        assert answer.errors.startswith(refusal(line).errors[:-1])
    named = eyecast("check", "both.vcd", *NETWORK, "--scope", "bench.chip.noc")
    assert named.status == 0


def test_recordings_of_another_network_or_program(eyecast: Command, trace: Trace) -> None:
    rows = samples(trace)
    Path("wide.vcd").write_text(waveform(rows, widths={**WIDTHS, VALID: 2}))
    larger = waveform([{**row, "tile_4.rst": 0} for row in rows])
    Path("larger.vcd").write_text(larger)
    Path("still.vcd").write_text(waveform([{**row, RESET: 0} for row in rows]))
    for column, number in (("node", 4), ("vc", 1), ("data", 1 << 32)):
        wrong = Trace(*(each.copy() for each in trace.columns))
        getattr(wrong, column)[-1] = number
        wrong.write_csv(f"{column}.csv")
    last = trace[-1]
    for file, refused in (
        ("wide.vcd", f"signal noc.{VALID} of the recording must have 1 bits in this network"),
        ("larger.vcd", "the recording must be of this network, it has noc.tile_4, which this"),
        ("still.vcd", "the recording must have a run: cycles of reset, and then others"),
        (
            "node.csv",
            f"node.csv: the flit {last._replace(node=4)} must have an output port of this",
        ),
        ("vc.csv", f"vc.csv: the flit {last._replace(vc=1)} must have a VC from 0 to 0, not 1"),
        ("data.csv", f"data.csv: the flit {last._replace(data=1 << 32)} must have data of 32 bits"),
    ):
        answer = eyecast("check", file, *NETWORK)
        assert answer.errors.replace("bench.chip.", "").startswith(refusal(refused).errors[:-1])
        assert answer.status == 2
        assert answer.output == ""
        assert answer.errors.count("\n") == 1


def test_an_image_says_the_timing_and_must_load_the_program(eyecast: Command, here: Path) -> None:
    for source in ("0,0", "1,1"):
        asked = ("--mesh", "2x2", "--source", source, "--timing", "self-timed")
        files = ("-o", f"{source}.json", "--image", f"image-{source}.csv")
        assert eyecast("program", *asked, *files).status == 0
    assert eyecast("predict", *asked, "-o", "trace.csv").status == 0
    program = ("check", "trace.csv", "--program", "1,1.json")
    assert eyecast(*program, "--image", "image-1,1.csv").status == 0
    assert eyecast(*program, "--image", "image-1,1.csv", "--timing", "barrier") == refusal(
        "--timing must be left out with --image: the image has it already"
    )
    assert eyecast(*program, "--image", "image-0,0.csv") == refusal(
        "image-0,0.csv must load the program of 1,1.json, it loads another one"
    )


def test_a_recording_that_ends_within_the_run(eyecast: Command, trace: Trace) -> None:
    """A recording that matches as far as it goes is cut short; otherwise its fault is reported."""
    rows = samples(trace)[: 2 + 9]
    Path("cut.vcd").write_text(waveform(rows))
    found = "it ends or pauses after cycle 7, as predicted so far"
    last = f"the recording must have flits up to cycle 16: {found}"
    assert eyecast("check", "cut.vcd", *NETWORK) == refusal(last)
    whole = waveform(samples(trace))
    middle = whole.index(f"#{2 * len(rows)}\n") + 8
    Path("half.vcd").write_text(whole[:middle])
    assert eyecast("check", "half.vcd", *NETWORK) == refusal(last)
    assert eyecast("check", "cut.vcd", "--mesh", "2x2", "--no-program").status == 0
    trace.data[3] ^= 1
    Path("cut.vcd").write_text(waveform(samples(trace)[: 2 + 9]))
    answer = eyecast("check", "cut.vcd", *NETWORK)
    assert answer.status == 1
    assert "routes: " in answer.output
    assert f">3  4,0,1,0,body,{trace.data[3] ^ 1:x}" in answer.output
    Path("cut.csv").write_text(Path("trace.csv").read_text()[:-3])
    cut = f"cut.csv, line {len(trace) + 1}: a row must be 6 fields and a line feed"
    assert eyecast("check", "cut.csv", *NETWORK) == refusal(cut)


def test_two_flits_of_one_output_in_a_cycle(eyecast: Command, here: Path) -> None:
    asked = (*NETWORK, "--vcs", "2")
    assert eyecast("predict", *asked, "-o", "trace.csv").status == 0
    trace = Trace.read_csv("trace.csv")
    config = replace(CONFIG, vcs=2)
    rows = samples(trace)
    rows[2 + trace[0].cycle][VALID] = 3
    Path("two.vcd").write_text(waveform(rows, widths=recorded_signals(config)))
    lines = Path("trace.csv").read_text().splitlines(keepends=True)
    # Rows of a trace may stand in any order.
    Path("two.csv").write_text("".join([*lines, str(trace[0]._replace(vc=1)), "\n"]))
    for file in ("two.vcd", "two.csv"):
        answer = eyecast("check", file, *asked)
        assert answer.status == 1
        assert "broken rule: outputs: cycle 2, node 0, port 1" in answer.output
        assert "a second flit leaves in this cycle" in answer.output


def test_signals_of_other_names(eyecast: Command, trace: Trace) -> None:
    names = {name: f"wire_{number}" for number, name in enumerate(recorded_signals(CONFIG))}
    rows = [{names[name]: value for name, value in row.items()} for row in samples(trace)]
    widths = {names[name]: bits for name, bits in WIDTHS.items()}
    Path("other.vcd").write_text(waveform(rows, "top", widths))
    paths = {name: f"top.{wire}" for name, wire in names.items()}
    Path("names.json").write_text(json.dumps({**paths, "clk": "top.clk"}))
    assert eyecast("check", "other.vcd", *NETWORK, "--names", "names.json").status == 0


def test_long_recordings_take_no_more_memory(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles without flits cost nothing, and flits are stored in pieces."""
    rows = samples(trace)
    monkeypatch.setattr(recorded_trace, "_ROWS_PER_PIECE", 3)
    for cycles in (0, 3000):
        text = waveform(rows[:2] + rows[2:3] * cycles + rows[2:]).encode()
        lines = BytesIO(text)
        tracemalloc.start()
        run = recorded_run(CONFIG, vcd_samples(lines, Wanted({**WIDTHS, "clk": 1})))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100_000, cycles
        assert run.whole
        shifted = replace(trace, cycle=trace.cycle + cycles)
        assert first_difference(run.trace, shifted) is None


def test_reading_shows_its_progress_in_megabytes(
    eyecast: Command, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals, steps = list[int](), list[str]()

    @contextmanager
    def progress(text: str, total: int, *, shown: bool) -> Iterator[tuple[None, object]]:
        totals.extend([total] * shown)
        yield None, lambda: steps.append(text)

    monkeypatch.setattr(check, "progress", progress)
    monkeypatch.setattr(check, "_MEGABYTE", 1000)
    text = waveform(samples(trace))
    Path("seen.vcd").write_text(text)
    assert eyecast("check", "seen.vcd", *NETWORK).status == 0
    assert totals == [len(text) // 1000]
    # Two cycles of reset, then the run; its last cycle is known when the next one begins.
    read = text.index(f"#{2 * (2 + CYCLES)}\n") // 1000
    assert steps == ["reading seen.vcd (MB)"] * read


def test_a_waveform_that_is_cut_or_damaged_is_read_or_refused(trace: Trace) -> None:
    lines = waveform(samples(trace)).splitlines(keepends=True)
    draw = random.Random(1)
    for _ in range(100):
        damaged = lines.copy()
        for _ in range(3):
            place = draw.randrange(len(damaged))
            line = draw.choice(["$upscope $end\n", "b1\n", "#\n", "\n", "bxz s1\n"])
            damaged[place : place + draw.randrange(3)] = [line]
        text = "".join(damaged[: draw.randrange(len(damaged))])
        with suppress(InvalidInput):
            file = BytesIO(text.encode())
            recorded_run(CONFIG, vcd_samples(file, Wanted({**WIDTHS, "clk": 1})))
