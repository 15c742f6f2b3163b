"""``eyecast check`` reads the same run from every spelling of a recording.

Waveforms are VCD (IEEE 1364-2005, section 18), tables CSV. Each spelling is a change of one
recording. Simulators, logic analysers and converters write them.
"""

import csv
import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.command import Command, refusal
from helpers.recordings import NETWORK, WIDTHS, samples, table, waveform

from eyecast.model.run.trace import Trace

SCOPE = "bench.chip.noc"
END = "$enddefinitions $end\n"
DUMPED_OFF = "$dumpoff\n{} $end\n#{}\n$dumpon\n{} $end\n"


def values_at(text: str, time: int) -> str:
    """Return the changes of a recording at a time."""
    return text.split(f"#{time}\n")[1].partition("#")[0]


def bit_by_bit(text: str) -> str:
    """Declare each vector, and change it, bit by bit, as Questa does."""
    bits = {code: int(bits) for bits, code in re.findall(r"wire (\d+) (s\d+)", text)}

    def declared(found: re.Match[str]) -> str:
        code, name = found[1], found[2]
        places = reversed(range(bits[code]))
        return "\n".join(f"$var wire 1 {code}_{place} {name} [{place}] $end" for place in places)

    def changed(found: re.Match[str]) -> str:
        digits = found[1].zfill(bits[found[2]])
        return "\n".join(
            f"{digit}{found[2]}_{place}" for place, digit in enumerate(reversed(digits))
        )

    text = re.sub(r"\$var wire (?!1 )\d+ (s\d+) (\S+) \$end", declared, text)
    return re.sub(
        r"^b(\d+) (s\d+)$", lambda m: changed(m) if bits[m[2]] > 1 else m[0], text, flags=re.M
    )


def with_ranges(text: str, blank: str) -> str:
    """Name the bits of each vector behind its name."""
    return re.sub(
        r"\$var wire (\d+) (\S+) (\S+) \$end",
        lambda m: f"$var wire {m[1]} {m[2]} {m[3]}{blank}[{int(m[1]) - 1}:0] $end",
        text,
    )


def paused(text: str, time: int) -> str:
    """Switch the dump off and on again at a time, as ``$dumpoff`` and ``$dumpon`` do."""
    codes = re.findall(r"wire \d+ (\S+)", text)
    off = "".join(f"bx {code}\n" for code in codes)
    after = values_at(text, time)
    return text.replace(f"#{time}\n", f"#{time}\n{DUMPED_OFF.format(off, time, after)}", 1)


def checkpoint(text: str, time: int) -> str:
    """Dump all values once more at a time, as ``$dumpall`` does."""
    values = values_at(text, time)
    return text.replace(f"#{time}\n{values}", f"#{time}\n{values}$dumpall\n{values}$end\n", 1)


def other_kinds(text: str) -> str:
    """Record real numbers, texts, events and a second clock as well."""
    kinds = ("real 64 r", "string 1 t", "event 1 e", "reg 1 clk2")
    more = "".join(
        f"$var {kind.rsplit(' ', 1)[0]} o{kind[-1]} {kind[-1]}x $end\n" for kind in kinds
    )
    changes = "r1.5e3 or\nstext ot\n1oe\n1o2\n0o2\n"
    return re.sub(r"^#\d+\n", lambda m: m[0] + changes, text.replace(END, more + END), flags=re.M)


WAVEFORMS: dict[str, Callable[[str], str]] = {
    "as we write it": lambda text: text,
    "values on the line of their time (PulseView)": lambda text: re.sub(
        r"\n(?!#|\$)", " ", text.replace(END, END + "\n")
    ),
    "bit by bit (Questa)": bit_by_bit,
    "ranges behind a blank": lambda text: with_ranges(text, " "),
    "ranges without a blank": lambda text: with_ranges(text, ""),
    "an escaped name": lambda text: text.replace("module tile_0 ", "module \\tile_0 "),
    "an escaped path": lambda text: re.sub(
        r"\$scope module tile_0 \$end\n(\$var wire 1 s\d+ )(\S+) \$end\n\$upscope \$end",
        r"\1\\tile_0.\2 $end",
        text,
    ),
    "a word on each line": lambda text: "\n".join(text.split()) + "\n",
    "one line": lambda text: " ".join(text.split()) + " ",
    "tabs and line feeds of Windows": lambda text: text.replace(" ", "\t").replace("\n", "\r\n"),
    "capital letters": lambda text: text.replace("\nb", "\nB"),
    "bits as scalars": lambda text: re.sub(r"^b([01]) ", r"\1", text, flags=re.M),
    "zeros in front": lambda text: re.sub(r"^b", "b" + 70 * "0", text, flags=re.M),
    "comments among the values": lambda text: text.replace(
        "#9\n", "#9 $comment #8 1s27 b0 s1 $dumpoff $end "
    ),
    "values in front of the first time": lambda text: text.replace(
        "#0\n", "$dumpvars bX s1 xs2 Zs3 $end #0\n"
    ),
    "all values once more": lambda text: checkpoint(text, 20),
    "a pause in reset": lambda text: paused(text, 1),
    "other kinds of variables": other_kinds,
    "a second run after the first": lambda text: text + text.split(END)[1].replace("#", "#9"),
}


def read(eyecast: Command, file: str, *options: str) -> bytes:
    """Return the trace that the command reads from a recording and finds right."""
    answer = eyecast("check", file, *NETWORK, "-o", "read.csv", *options)
    assert (answer.status, answer.errors) == (0, ""), answer
    return Path("read.csv").read_bytes()


@pytest.fixture
def trace(eyecast: Command) -> Trace:
    assert eyecast("predict", *NETWORK, "-o", "trace.csv").status == 0
    return Trace.read_csv("trace.csv")


@pytest.mark.parametrize("spelling", WAVEFORMS.values(), ids=[*WAVEFORMS])
def test_a_waveform(spelling: Callable[[str], str], eyecast: Command, trace: Trace) -> None:
    plain = waveform(samples(trace), SCOPE)
    text = spelling(plain)
    assert text != plain or spelling is WAVEFORMS["as we write it"]
    Path("plain.vcd").write_bytes(text.encode())
    Path("packed.vcd.gz").write_bytes(gzip.compress(text.encode()))
    for file in ("plain.vcd", "packed.vcd.gz"):
        assert read(eyecast, file) == Path("trace.csv").read_bytes()


def test_a_pause_in_the_run_is_no_fault_of_the_hardware(eyecast: Command, trace: Trace) -> None:
    Path("seen.vcd").write_text(paused(waveform(samples(trace)), 20))
    found = "it ends or pauses after cycle 7, as predicted so far"
    wanted = refusal(f"the recording must have flits up to cycle 16: {found}")
    assert eyecast("check", "seen.vcd", *NETWORK) == wanted


def ila(rows: list[dict[str, int]], radix: str) -> Iterator[list[str]]:
    """Yield the rows of a table as Vivado writes it, with one radix for all signals."""
    yield ["Sample in Buffer", "Sample in Window", "TRIGGER"] + [
        f"top_i/noc/{name.replace('.', '/')}" + f"[{WIDTHS[name] - 1}:0]" * (WIDTHS[name] > 1)
        for name in rows[0]
    ]
    yield ["Radix - UNSIGNED", "UNSIGNED", "UNSIGNED", *[radix] * len(rows[0])]
    form = {"HEX": "x", "BINARY": "b", "OCTAL": "o"}.get(radix, "d")
    for number, row in enumerate(rows):
        signed = {
            name: value - (value >> WIDTHS[name] - 1 << WIDTHS[name]) for name, value in row.items()
        }
        values = signed if radix == "SIGNED" else row
        yield [str(number), str(number), "0", *(f"{value:{form}}" for value in values.values())]


def written(rows: Iterator[list[str]], separator: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue()


Rows = list[dict[str, int]]
TABLES: dict[str, Callable[[Rows], str]] = {
    **{
        f"Vivado, {radix}": lambda rows, radix=radix: written(ila(rows, radix))
        for radix in ("HEX", "BINARY", "OCTAL", "UNSIGNED", "SIGNED")
    },
    "indices of ChipScope": lambda rows: re.sub(
        r"\[(\d+):(\d+)\]", r"<\1:\2>", written(ila(rows, "HEX"))
    ),
    "a byte order mark": lambda rows: "\ufeff" + table(rows, radix=True),
    "semicolons": lambda rows: written(ila(rows, "HEX"), ";"),
    "tabs": lambda rows: written(ila(rows, "HEX"), "\t"),
    "comments above and empty lines": lambda rows: (
        "; CSV generated by an analyser\n# 27 channels\n\n"
        + table(rows, radix=True).replace("\n", "\n\n")
    ),
    "quotes": lambda rows: re.sub("[^,\r\n]+", r'"\g<0>"', table(rows, radix=True)),
    "prefixes": lambda rows: re.sub(r"(?<=,)(?=[0-9a-f]+\b)", "0x", table(rows, radix=False)),
    "no module": lambda rows: table(rows, radix=True).replace("chip.noc.", ""),
}


@pytest.mark.parametrize("spelling", TABLES.values(), ids=[*TABLES])
def test_a_table(spelling: Callable[[Rows], str], eyecast: Command, trace: Trace) -> None:
    Path("seen.csv").write_text(spelling(samples(trace)))
    assert read(eyecast, "seen.csv") == Path("trace.csv").read_bytes()


def test_two_networks_in_a_table(eyecast: Command, trace: Trace) -> None:
    """A module is named for each kind of recording; a wrong run in the named one is found."""
    right, wrong = samples(trace), samples(trace)
    wrong[2 + trace[3].cycle]["tile_0.outputs__0__flit"] ^= 1
    Path("two.csv").write_text(
        "\n".join(
            f"{one},{other.replace('chip.', 'other.')}"
            for one, other in zip(
                table(right, radix=False).splitlines(),
                table(wrong, radix=False).splitlines(),
                strict=True,
            )
        )
    )
    assert eyecast("check", "two.csv", *NETWORK) == refusal(
        "--scope must say which network it is: one of chip.noc, other.noc"
    )
    assert read(eyecast, "two.csv", "--scope", "chip/noc") == Path("trace.csv").read_bytes()
    assert eyecast("check", "two.csv", *NETWORK, "--scope", "other.noc").status == 1


FLIT = "chip.noc.tile_0.outputs__0__flit"


def test_what_a_table_must_have(eyecast: Command, trace: Trace) -> None:
    rows = samples(trace)
    rows[3]["tile_0.outputs__0__flit"] = 1 << 34
    Path("wide.csv").write_text(table(rows, radix=False))
    text = table(samples(trace), radix=True)
    Path("radix.csv").write_text(text.replace("BINARY", "ASCII", 1))
    Path("larger.csv").write_text(text.replace("chip.noc.done", "chip.noc.tile_4.rst,&", 1))
    Path("names.json").write_text('{"tile_9.rst": "top.rst"}')
    for line, refused in (
        (
            "wide.csv",
            f"the recording, line 5: {FLIT} must have 34 bits (radix HEX), not '400000000'",
        ),
        ("radix.csv", f"column chip.noc.{[*WIDTHS][1]} must have radix HEX, BINARY, UNSIGNED"),
        ("larger.csv", "the recording must be of this network, it has chip.noc.tile_4, which this"),
        (
            "wide.csv --clock clk",
            "--clock must be left out with wide.csv: a table has a row for each",
        ),
        ("trace.csv --scope x", "--scope must be left out with trace.csv: a trace has no signals"),
        (
            "wide.csv --names names.json",
            "names in names.json must be those of signals, such as tile",
        ),
    ):
        answer = eyecast("check", *line.split(), *NETWORK)
        assert (answer.status, answer.output) == (2, "")
        assert answer.errors.startswith(refusal(refused).errors[:-1]), answer
