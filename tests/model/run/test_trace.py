from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.programs import LINE
from helpers.refusals import refusal_of

from eyecast.model.base.files import write_atomically
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import HEAD_MARK, KINDS, TAIL_MARK, Flit, Trace, first_difference

WHOLE = " must be a whole number in its range, not "
HEX = "data must be a hex number of at most 64 bits, not "
HEADER = "cycle,node,port,vc,kind,data\n"
FLITS = [
    Flit(2, 0, 1, 0, 1, 0x2C),
    Flit(2, 1, 0, 1, 3, 0),
    Flit(3, 0, 1, 0, 0, (1 << 64) - 1),
    Flit(3, 0, 2, 7, 2, 0xABC),
]
FILE = (
    HEADER + "2,0,1,0,head,2c\n2,1,0,1,single,0\n3,0,1,0,body,ffffffffffffffff\n3,0,2,7,tail,abc\n"
)


def test_kinds_are_the_two_marks() -> None:
    assert KINDS[0] == "body"
    assert KINDS[HEAD_MARK] == "head"
    assert KINDS[TAIL_MARK] == "tail"
    assert KINDS[HEAD_MARK | TAIL_MARK] == "single"


def test_flits_are_sorted_by_cycle_node_and_port() -> None:
    trace = Trace.from_flits([FLITS[3], FLITS[1], FLITS[2], FLITS[0]])
    assert list(trace) == FLITS
    assert [trace[row] for row in range(4)] == FLITS
    assert [column.dtype for column in trace.columns] == [
        np.int64, np.int32, np.int16, np.int16, np.int8, np.uint64,
    ]  # fmt: skip


@pytest.mark.parametrize("pieces", [1, 2])
def test_traces_one_after_another_leave_an_empty_list(pieces: int) -> None:
    whole = Trace.from_flits(FLITS, pieces)
    for cuts in ((0, 4), (0, 1, 1, 4)):
        parts = [
            Trace(*(column[begin:end] for column in whole.columns)) for begin, end in pairwise(cuts)
        ]
        joined = Trace.join(parts)
        assert (list(joined), parts) == (FLITS, [])
        assert joined.data.shape == whole.data.shape


def test_file_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    Trace.from_flits(FLITS).write_csv(path)
    assert path.read_text() == FILE
    assert list(tmp_path.iterdir()) == [path]
    assert list(Trace.read_csv(path)) == FLITS
    header, *rows = FILE.splitlines(keepends=True)
    path.write_text(header + "".join(reversed(rows)))
    assert list(Trace.read_csv(path)) == FLITS
    Trace.empty().write_csv(path)
    assert path.read_text() == HEADER
    assert len(Trace.read_csv(path)) == 0


def test_random_trace_survives_its_file(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    rows = 5000
    trace = Trace(
        cycle=np.cumsum(random.integers(1, 1 << 40, rows)),
        node=random.integers(0, 1 << 31, rows, dtype=np.int32),
        port=random.integers(0, 64, rows, dtype=np.int16),
        vc=random.integers(0, 8, rows, dtype=np.int16),
        kind=random.integers(0, 4, rows, dtype=np.int8),
        data=random.integers(0, 1 << 64, rows, dtype=np.uint64)
        >> random.integers(0, 64, rows, dtype=np.uint64),
    )
    trace.write_csv(tmp_path / "trace.csv")
    assert first_difference(trace, Trace.read_csv(tmp_path / "trace.csv")) is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "must be cycle,node,port,vc,kind,data, not ''"),
        ("cycle,node,port\n", 1, "must be cycle,node,port,vc,kind,data, not 'cycle,node,port'"),
        (HEADER + "1,0,0,0,head\n", 2, "a row must be 6 fields and a line feed"),
        (HEADER + "1,0,0,0,head,1,1\n", 2, "a row must be 6 fields and a line feed"),
        (HEADER + "1,0,0,0,head,1\n2,0,0,0,tail,1", 3, "a row must be 6 fields and a line feed"),
        (HEADER + "1,0,0,0,head,1\n\n", 3, "a row must be 6 fields and a line feed"),
        (HEADER + "1,0,0,0,Head,1\n", 2, "kind must be head, body, tail or single, not 'Head'"),
        (HEADER + "1,0,0,0,,1\n", 2, "kind must be head, body, tail or single, not ''"),
        (HEADER + "1,0,0,0,head,1\nx,0,0,0,head,1\n", 3, "cycle" + WHOLE + "'x'"),
        (HEADER + "1,-1,0,0,head,1\n", 2, "node" + WHOLE + "'-1'"),
        (HEADER + "1,2147483648,0,0,head,1\n", 2, "node" + WHOLE + "'2147483648'"),
        (HEADER + "1,0,,0,head,1\n", 2, "port" + WHOLE + "''"),
        (HEADER + "1,0,0,1.0,head,1\n", 2, "vc" + WHOLE + "'1.0'"),
        (
            HEADER + "9223372036854775808,0,0,0,head,1\n",
            2,
            "cycle" + WHOLE + "'9223372036854775808'",
        ),
        (HEADER + "1,0,0,0,head,0x1\n", 2, HEX + "'0x1'"),
        (HEADER + "1,0,0,0,head,A\n", 2, HEX + "'A'"),
        (HEADER + "1,0,0,0,head,1\r\n", 2, HEX + r"'1\r'"),
        (HEADER + f"1,0,0,0,head,{1 << 64:x}\n", 2, HEX + "'10000000000000000'"),
    ],
)
def test_bad_file_is_one_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(text.encode())
    told = refusal_of(Trace.read_csv, path)
    before = f"{path}, line {line}"
    assert told in (f"{before}: {problem}", f"{before} {problem}")


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    assert (
        refusal_of(Trace.read_csv, path)
        == f"trace {path} must be readable, not No such file or directory"
    )


@pytest.mark.parametrize("column", range(6))
def test_difference_in_any_column_is_found(column: int) -> None:
    changed = list(FLITS)
    values = list(changed[2])
    values[column] ^= 1
    changed[2] = Flit(*values)
    one, other = Trace.empty(4), Trace.empty(4)
    for trace, flits in ((one, FLITS), (other, changed)):
        for place, values_of_column in enumerate(zip(*flits, strict=True)):
            trace.columns[place][:] = np.array(values_of_column, trace.columns[place].dtype)
    difference = first_difference(one, other)
    assert difference is not None
    assert (difference.index, difference.first, difference.second) == (2, FLITS[2], changed[2])


def test_ends_and_large_data_are_compared_exactly() -> None:
    assert first_difference(Trace.from_flits(FLITS), Trace.from_flits(FLITS)) is None
    assert first_difference(Trace.empty(), Trace.empty()) is None
    large = ([Flit(0, 0, 0, 0, 0, (1 << 63) + more)] for more in (1, 0))
    assert first_difference(*map(Trace.from_flits, large)) is not None
    difference = first_difference(Trace.from_flits(FLITS[:3]), Trace.from_flits(FLITS))
    assert difference is not None
    assert (difference.index, difference.first, difference.second) == (3, None, FLITS[3])


def test_difference_is_described_with_its_surroundings() -> None:
    changed = [FLITS[0], FLITS[1]._replace(data=5), FLITS[2], FLITS[3]]
    difference = first_difference(Trace.from_flits(FLITS[:2]), Trace.from_flits(changed))
    assert difference is not None
    assert difference.describe(around=1).splitlines() == [
        "row  model             hardware",
        "  0  2,0,1,0,head,2c   2,0,1,0,head,2c",
        " >1  2,1,0,1,single,0  2,1,0,1,single,5",
        "  2  -                 3,0,1,0,body,ffffffffffffffff",
    ]


def test_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old and longer")
    write_atomically(path, "new\n")
    assert path.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (PermissionError(13, "Permission denied"), "folder {0} must be writable, not read-only"),
        (OSError(30, "Read-only file system"), "folder {0} must be writable, not read-only"),
        (OSError(28, "Full"), "file {0}/out.txt must be writable, not refused (Full)"),
    ],
)
def test_refused_write_is_one_line_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, problem: str
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def refuse(self: Path, target: Path) -> None:
        raise error

    monkeypatch.setattr(Path, "replace", refuse)
    assert refusal_of(write_atomically, path, "new") == "output " + problem.format(tmp_path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_output_place_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, problem in [
        (tmp_path, f"file {tmp_path} must be a file, not a folder"),
        (tmp_path / "no" / "x", f"folder {tmp_path}/no must be an existing folder, not missing"),
        (tmp_path / "file" / "x", f"folder {tmp_path}/file must be an existing folder, not a file"),
    ]:
        assert refusal_of(write_atomically, path, "") == f"output {problem}"


# ---- Signatures ----------------------------------------------------------------------------------


WIDTHS = (16, 24, 32, 40, 64)
POLYNOMIAL_BITS = (0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 16, 22, 23, 26)
"""Bits of 0x04C11DB7, which is x^26 + x^23 + x^22 + x^16 + x^12 + … + 1 without its x^32."""


def bits_of(value: int, width: int) -> list[int]:
    return [value >> place & 1 for place in range(width)]


def flit_bits(flit: Flit, config: NetworkConfig) -> list[int]:
    """Return the page's f(p): 32 bits, bit 0 first."""
    bits = bits_of(flit.data, config.flit_width)
    bits.append(int(KINDS[flit.kind] in ("head", "single")))
    bits.append(int(KINDS[flit.kind] in ("tail", "single")))
    bits += [int(vc == flit.vc) for vc in range(config.vcs)]
    folded = [0] * 32
    for place, bit in enumerate(bits):
        folded[place % 32] ^= bit
    rotated = [0] * 32
    for place, bit in enumerate(folded):
        rotated[(place + 3 * flit.port) % 32] = bit
    return rotated


def signatures_read_slowly(trace: Trace, config: NetworkConfig) -> list[int]:
    registers = [[0] * 32 for _ in range(config.topology.nodes)]
    leaving: dict[tuple[int, int], list[Flit]] = {}
    for flit in trace:
        leaving.setdefault((flit.cycle, flit.node), []).append(flit)
    for (cycle, node), flits in sorted(leaving.items()):
        top = registers[node][31]
        after = [0, *registers[node][:31]]
        for place in POLYNOMIAL_BITS:
            after[place] ^= top
        for word in (bits_of(cycle, 32), *(flit_bits(flit, config) for flit in flits)):
            after = [one ^ other for one, other in zip(after, word, strict=True)]
        registers[node] = after
    return [sum(bit << place for place, bit in enumerate(register)) for register in registers]


def star(ports: int) -> Topology:
    """Return a hub with a leaf at each of its ports, so that port numbers may be large."""
    neighbor = np.full((ports, ports), -1, dtype=np.int32)
    peer = neighbor.copy()
    leaves = np.arange(1, ports)
    neighbor[0, 1:], peer[0, 1:] = leaves, 1
    neighbor[1:, 1], peer[1:, 1] = 0, leaves
    return Topology("star", (ports,), neighbor, peer)


def random_trace(config: NetworkConfig, rows: int, seed: int = 1) -> Trace:
    """Draw a trace with at most one flit per cycle and output, and cycles beyond 2^32."""
    random = np.random.default_rng(seed)
    nodes, ports = config.topology.neighbor.shape
    cycles = (1 << 32) - rows // 8
    places = random.choice(rows // 4 * nodes * ports, size=rows, replace=False)
    trace = Trace(
        cycle=cycles + places // (nodes * ports),
        node=(places // ports % nodes).astype(np.int32),
        port=(places % ports).astype(np.int16),
        vc=random.integers(config.vcs, size=rows, dtype=np.int16),
        kind=random.integers(4, size=rows, dtype=np.int8),
        data=random.integers(1 << 64, size=rows, dtype=np.uint64)
        >> np.uint64(64 - config.flit_width),
    )
    return trace.sort()


@pytest.mark.parametrize("flit_width", WIDTHS)
@pytest.mark.parametrize(("topology", "vcs"), [(mesh((3, 2)), 8), (star(40), 1)])
def test_random_traces(flit_width: int, topology: Topology, vcs: int) -> None:
    limits = {"flit_width": flit_width, "vcs": vcs, "message_words": 16, "steps": 1}
    config = NetworkConfig(topology=topology, **limits)
    trace = random_trace(config, 800)
    found = signatures(trace, config)
    assert (found.dtype, found.shape) == (np.uint32, (topology.nodes,))
    assert found.tolist() == signatures_read_slowly(trace, config)


@pytest.mark.parametrize("flit_width", WIDTHS)
def test_any_change_of_a_flit_shows(flit_width: int) -> None:
    config = NetworkConfig(topology=mesh((3, 2)), flit_width=flit_width, vcs=2, message_words=16)
    flits = list(random_trace(config, 60))
    before = signatures(Trace.from_flits(flits), config)
    place = 25
    flit = flits[place]
    alone = {(f.cycle, f.node) for f in flits if f is not flit}
    later = next(
        cycle for cycle in range(flit.cycle + 1, 1 << 33) if (cycle, flit.node) not in alone
    )
    changed = [flit._replace(data=flit.data ^ 1 << bit) for bit in range(flit_width)]
    changed += [flit._replace(kind=flit.kind ^ 1), flit._replace(kind=flit.kind ^ 2)]
    changed += [flit._replace(vc=1 - flit.vc), flit._replace(cycle=later)]
    for other in changed:
        after = signatures(Trace.from_flits([*flits[:place], other, *flits[place + 1 :]]), config)
        # One flit of one node differs, and later flits do not hide it.
        assert np.flatnonzero(after != before).tolist() == [flit.node]


def test_swapped_ports_show() -> None:
    config = NetworkConfig(topology=mesh((3, 2)), vcs=2)
    first, second = Flit(5, 2, 1, 0, 1, 77), Flit(5, 2, 3, 1, 2, 99)
    swapped = [first._replace(port=3), second._replace(port=1)]
    before = signatures(Trace.from_flits([first, second]), config)
    assert signatures(Trace.from_flits(swapped), config)[2] != before[2]


def test_a_node_that_is_not_there_is_refused() -> None:
    config = NetworkConfig(topology=LINE)
    assert signatures(Trace.empty(), config).tolist() == [0] * 4
    for node in (-1, 4):
        assert (
            refusal_of(signatures, Trace.from_flits([Flit(5, node, 1, 0, 1, 77)]), config)
            == f"nodes in the trace must be 0 to 3, not {node}"
        )
