"""Bad input of ``eyecast traffic``: one line, exit status 2, and no file."""

import resource
from pathlib import Path

import pytest
from helpers.command import Command, refusal, result, shell

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import mesh
from eyecast.model.traffic.traffic import draw_traffic, read_traffic, write_traffic

HEADER = "cycle,source,target,flits"
MODEL = ("traffic", "--mesh", "4x4", "--on", "model")
NUMBERS = "four numbers, 0 or more"
BAD_ROWS = {
    # Nodes
    "0,16,1,4": "source must be a node, 0 to 15, not 16",
    "0,1,16,4": "target must be a node, 0 to 15, not 16",
    "0,1,99999999999999999,4": "target must be a node, 0 to 15, not 99999999999999999",
    "0,3,3,4": "target must be another node than the source, not 3",
    "0,1,2,0": "flits must be at least 1, not 0",
}
NO_ROWS = {
    "-1,0,1,4": "negative cycle",
    "0,-1,1,4": "negative source",
    "0,0,-1,4": "negative target",
    "0,0,1,-4": "negative flits",
    "+1,0,1,4": "a sign",
    "0,0,1": "a column too few",
    "0,0,1,4,5": "a column too many",
    "0,0,1,4,": "a comma too many",
    "0,,1,4": "nothing in a column",
    "0, ,1,4": "a space in a column",
    "0,0 1,1,4": "two numbers in a column",
    "0;0;1;4": "other commas",
    "0.5,0,1,4": "no integer",
    "1e3,0,1,4": "an exponent",
    "nan,0,1,4": "no number",
    "inf,0,1,4": "no end",
    "0,x,1,4": "a letter",
    "0,0x1,1,4": "hexadecimal",
    "1_0,0,1,4": "an underscore",
    "999999999999999999,0,1,4": "too many digits",
    HEADER: "a second header line",
}


def write(here: Path, *rows: str, header: str = HEADER) -> Path:
    path = here / "t.csv"
    path.write_text("".join(f"{line}\n" for line in (header, *rows)))
    return path


def refused(eyecast: Command, here: Path, line: str, *options: str) -> None:
    before = sorted(here.iterdir())
    assert eyecast(*MODEL, "--traffic-file", "t.csv", "-o", "out", *options) == refusal(line)
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("row", "line"), BAD_ROWS.items(), ids=BAD_ROWS)
def test_rows_with_values_out_of_range(eyecast: Command, here: Path, row: str, line: str) -> None:
    write(here, "5,0,1,4", row, "3,1,2,4")
    refused(eyecast, here, f"t.csv, line 3: {line}")


@pytest.mark.parametrize("row", NO_ROWS, ids=NO_ROWS.values())
def test_rows_that_are_none(eyecast: Command, here: Path, row: str) -> None:
    write(here, "5,0,1,4", row, "3,1,2,4")
    refused(eyecast, here, f"t.csv, line 3 must be {NUMBERS}, not {row!r}")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "nothing"),
        (b"\n", "nothing"),
        (b"0,0,1,4\n", "0,0,1,4"),
        (b"cycle,source,target\n", "cycle,source,target"),
        (b"cycle;source;target;flits\n", "cycle;source;target;flits"),
        (b"\x89PNG\r\n", "\N{REPLACEMENT CHARACTER}PNG"),
        (b"\x00" * 100, "\x00" * 60),
    ],
)
def test_files_without_their_first_line(
    eyecast: Command, here: Path, content: bytes, found: str
) -> None:
    (here / "t.csv").write_bytes(content)
    refused(eyecast, here, f"t.csv, line 1 must be {HEADER}, not {found!r}")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["unmarked", "marked"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["\\n", "\\r\\n"])
def test_files_as_spreadsheets_write_them(here: Path, mark: str, end: str) -> None:
    lines = ("", HEADER, "", "5,0,1,4", "", "", "3,1,2,4", "", "7,3,3,4")
    (here / "t.csv").write_bytes(f"{mark}{end.join(lines[:-1])}{end}".encode())
    traffic = read_traffic("t.csv", mesh((4, 4)))
    assert (traffic.cycle.tolist(), traffic.source.tolist()) == ([3, 5], [1, 0])
    (here / "t.csv").write_bytes(f"{mark}{end.join(lines)}".encode())
    with pytest.raises(InvalidInput, match=r"^t\.csv, line 9: target must be another node"):
        read_traffic("t.csv", mesh((4, 4)))


def test_a_row_that_is_binary(eyecast: Command, here: Path) -> None:
    (here / "t.csv").write_bytes(f"{HEADER}\n0,0,1,\xff\n".encode("latin-1"))
    refused(
        eyecast, here, f"t.csv, line 2 must be {NUMBERS}, not '0,0,1,\N{REPLACEMENT CHARACTER}'"
    )


def test_files_that_are_not_there(eyecast: Command, here: Path) -> None:
    refused(eyecast, here, "t.csv: cannot be read: No such file or directory")
    (here / "t.csv").mkdir()
    refused(eyecast, here, "t.csv: cannot be read: Is a directory")


@pytest.mark.parametrize(
    ("row", "options", "line"),
    [
        (
            "7,0,15,1",
            "--flit-width 20",
            "flits of the packet 0 -> 15 in cycle 7 must be 2 (its header) to 258 (the memory), "
            "not 1",
        ),
        (
            "65535,0,15,4",
            "--flit-width 16 --depth 2",
            "cycle of the packet 0 -> 15 in cycle 65535 must be 0 to 65534, not 65535",
        ),
        (
            "4294967295,0,15,4",
            "",
            "cycle of the packet 0 -> 15 in cycle 4294967295 must be 0 to 4294967294, "
            "not 4294967295",
        ),
        (
            "0,0,15,65521",
            "",
            "flits of the longest packet must be 0 to 65520, not 65521",
        ),
    ],
)
def test_packets_that_the_network_cannot_carry(
    eyecast: Command, here: Path, row: str, options: str, line: str
) -> None:
    write(here, "5,1,2,4", row)
    refused(eyecast, here, line, *options.split())


RATES = "--rate must be 0 to 1 flits per node and cycle"
BAD_OPTIONS = {
    "--rate 1.01": f"{RATES}, not 1.01",
    "--rate -0.1": f"{RATES}, not -0.1",
    "--rate nan": "--rate must be a number, not 'nan'",
    "--rate inf": "--rate must be a number, not 'inf'",
    "--packet-flits 0": "packet flits must be 1 to 65536, not 0",
    "--packet-flits -4": "packet flits must be 1 to 65536, not -4",
    "--packet-flits 1.5": "--packet-flits must be an integer, not '1.5'",
    "--packet-flits 65521 --rate 1 --cycles 200000 --seed 3": (
        "flits of the longest packet must be 0 to 65520, not 65521"
    ),
    "--cycles 0": "cycles must be 1 to 1000000, not 0",
    "--cycles -1": "cycles must be 1 to 1000000, not -1",
    "--cycles 100000000": "cycles must be 1 to 1000000, not 100000000",
    "--cycles 1000000 --packet-flits 1 --rate 0.5": (
        "packets (nodes x cycles x rate / flits) must be at most 4000000, not 8000000"
    ),
    "--back-pressure 1": "back-pressure must be from 0 to below 1, not 1.0",
    "--back-pressure -0.1": "back-pressure must be from 0 to below 1, not -0.1",
    "--seed -1": "--seed must be at least 0, not -1",
    "--pattern storm": (
        "--pattern must be uniform, transpose, complement, hotspot, neighbor, tornado, shuffle, "
        "bit-complement, bit-reverse or bit-transpose, not storm"
    ),
    "--on moon": "--on must be model, hardware or both, not moon",
}


@pytest.mark.parametrize(("options", "line"), BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_bad_options(eyecast: Command, here: Path, options: str, line: str) -> None:
    assert eyecast(*MODEL, "-o", "out", *options.split()) == refusal(line)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("pattern", ["uniform", "hotspot"])
def test_a_network_without_working_nodes(eyecast: Command, here: Path, pattern: str) -> None:
    options = ("--mesh", "2x1", "--faulty-node", "0,0", "--faulty-node", "1,0", "--on", "model")
    line = "faulty nodes must be fewer than the 2 nodes, not 2"
    assert eyecast("traffic", *options, "--pattern", pattern, "-o", "out") == refusal(line)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("place", ["both", "hardware"])
def test_more_than_a_table_holds_is_for_the_model_alone(
    eyecast: Command, here: Path, place: str
) -> None:
    # A row takes four words here: three of control and one of header.
    rows = [f"{3 * number},0,3,4" for number in range(17_000)]
    write(here, *rows)
    network = ("--mesh", "2x2", "--flit-width", "20", "--traffic-file", "t.csv")
    assert eyecast("traffic", *network, "--on", place, "-o", "out") == refusal(
        "table of node 0 must be at most 65536 words long (but on the model alone), not 68001"
    )
    assert [path.name for path in here.iterdir()] == ["t.csv"]
    answer = result(eyecast("traffic", *network, "--on", "model", "--json"))
    assert answer["measures"]["packets_delivered"] == 17_000


def test_rows_in_any_order_with_spaces_and_other_line_ends(eyecast: Command, here: Path) -> None:
    rows = ["9,0,1,4", "3,1,2,4", "3,2,1,5", "0,15,0,6"]
    write(here, *sorted(rows, key=lambda row: int(row.split(",")[0])))
    options = (*MODEL, "--traffic-file", "t.csv", "--json")
    expected = result(eyecast(*options))
    assert expected["measures"]["packets_delivered"] == 4
    for text in (
        "\n".join([HEADER, *rows]),
        "\r\n".join([HEADER, *rows, ""]),
        "\n".join([HEADER, *(f" {row} ".replace(",", " , ") for row in rows), ""]),
    ):
        (here / "t.csv").write_bytes(text.encode())
        assert result(eyecast(*options)) == expected


def test_a_file_without_packets_is_traffic_too(eyecast: Command, here: Path) -> None:
    write(here)
    answer = result(eyecast(*MODEL, "--traffic-file", "t.csv", "--json"))
    assert answer["measures"]["packets_delivered"] == 0


@pytest.mark.slow
def test_a_million_packets_take_four_gigabytes_at_most(here: Path) -> None:
    traffic = draw_traffic(mesh((8, 8)), "uniform", rate=0.2, flits=4, cycles=320_000, seed=1)
    assert len(traffic) > 1_000_000
    write_traffic(traffic, here / "t.csv")
    options = ("--mesh", "8x8", "--depth", "4", "--on", "model", "--traffic-file", "t.csv")
    answer = result(shell("traffic", *options, "--json"))
    assert answer["measures"]["packets_delivered"] == len(traffic)
    # The peak memory, in kilobytes, of the largest child process so far.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4_000_000
