"""Packages for chips: the written bench passes, and fails with each planted fault."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import networkx as nx
import pytest
from helpers.command import Command
from helpers.command import refusal as refuse
from helpers.packages import patched, run_driver, run_icarus, sees_fault, write_crossing
from helpers.planted_faults import IN_BOTH, OF_AXI, OF_CIRCUITS, OF_WISHBONE, Fault
from helpers.processes import needs, run_program

from eyecast import api
from eyecast.asic.library import OSU018, PACKAGE_OF_OSU018
from eyecast.asic.synthesis import macros_of, run_yosys
from eyecast.asic.timing import PACKAGE, PROGRAM, has_opensta
from eyecast.ip.circuit_stimulus import circuit_stimuli
from eyecast.ip.stimulus import beyond_reach, stimuli
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import line
from eyecast.sim.toolchain import environment

pytest.importorskip("peakrdl_cheader", reason="PeakRDL must be installed: pip install '.[ip]'")

needs_icarus = needs("iverilog")

HERE = Path(__file__).parent

WIDE = ("--collective", "all-reduce", "--operator", "add:32", "--words", "4", "--parity")
JOINING = ("--collective", "all-reduce", "--algorithm", "joining-tree")

SMALL = ("--message-words", "16", "--table-words", "32")
"""Sizes of memories with which a bench takes a fifth of the time."""

LINE = ("--line", "2", "--source", "0", "--algorithm", "tree")

NETWORKS = {"mesh": 1, "torus": 2}
"""Kinds of 3x2 grids, and their VCs."""


STAR = graph([[-1, 1, 2, 3], *([-1, 0, -1, -1] for _ in range(3))], switches=[0])
FAT = graph([[-1, 1, 2, 3], [-1, 0, 4, -1], [-1, 0, 4, -1], [-1, 0, -1, -1], [-1, 1, 2, -1]], [0])


@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize("topology", [STAR, FAT, with_faults(line(2), [1])])
def test_the_runs_of_a_bench_cover_networks_with_switches_and_of_one_node(topology, circuits):
    config = NetworkConfig(
        topology=topology, circuits=circuits, message_words=16, table_words=64, programs=1
    )
    made, left = circuit_stimuli(config) if circuits else stimuli(config)
    assert not left
    assert made or topology not in (STAR, FAT)
    assert all(len(line) <= 80 for line in beyond_reach(config))


def test_a_network_without_arbitration_has_no_run_in_which_a_flit_waits():
    config = NetworkConfig(topology=FAT, contention_free=True, depth=4, steps=3, programs=1)
    made, left = stimuli(config)
    assert not left
    assert not any(each.predicted.stalled_flits.any() for each in made)


def drawn_config(seed: int) -> NetworkConfig:
    """Draw a network of any kind and size that a package can have."""
    draw = random.Random(seed)
    kind, *sizes = draw.choice(
        [
            ("mesh", (draw.randint(1, 3), draw.randint(1, 3))),
            ("torus", (draw.randint(2, 3), draw.randint(2, 3))),
            ("line", draw.randint(2, 5)),
            ("ring", draw.randint(3, 5)),
            ("hypercube", draw.randint(1, 3)),
            ("binary_tree", draw.choice([3, 7])),
            ("star_tree", draw.randint(2, 3), draw.randint(1, 2)),
            ("diagonal_mesh", 2),
            ("de_bruijn", 2, draw.choice([2, 3])),
            ("graph", FAT.neighbor.tolist(), [draw.randint(0, 1)]),
            ("graph", nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)])),
        ]
    )
    topology = getattr(api, kind)(*sizes)
    if draw.random() < 0.3 and kind != "graph" and topology.nodes > 1:
        faulty = draw.sample(range(topology.nodes), draw.randint(1, max(1, topology.nodes // 3)))
        topology = with_faults(topology, faulty)
    circuits = draw.random() < 0.3 and not topology.links_differ
    packets = {
        "vcs": draw.choice([1, 1, 2, 3]),
        "depth": draw.choice([1, 2, 4, 8]),
        "steps": draw.choice([1, 2, 3, 15, 31]),
        "streams": draw.random() < 0.4,
    }
    return NetworkConfig(
        topology=topology,
        circuits=circuits,
        programs=draw.choice([1, 2]),
        all_port=draw.random() < 0.4,
        flit_width=draw.choice([32, 40, 64]),
        message_words=draw.choice([2, 4, 7, 16, 64, 256, 4096]),
        table_words=draw.choice([16, 32, 64, 256]),
        link_registers=draw.choice([0, 0, 1, 3]),
        barrier_registers=draw.choice([0, 0, 1, 6]),
        operators=draw.choice([(), ("add",), ("max", "xor"), ("add", "min", "or")]),
        **({} if circuits else packets),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(24), 151, 182])
def test_the_runs_of_a_bench_cover_drawn_networks(seed: int) -> None:
    """Cover networks; in the last two, packets on drawn routes block each other."""
    config = drawn_config(seed)
    _, left = (circuit_stimuli if config.circuits else stimuli)(config)
    assert not left


def in_line(text: str, place: int, bit: int) -> str:
    """Return a line of a vector file with a bit of its last ``place`` digits flipped."""
    digit = len(text) - 1 - bit // 4
    assert len(text) - digit <= place
    return f"{text[:digit]}{int(text[digit], 16) ^ 1 << bit % 4:x}{text[digit + 1 :]}"


def first_load(package: Path) -> list[str]:
    """Return the writes of the first run; those of every run begin with the identity."""
    lines = (package / "sim" / "writes.hex").read_text().splitlines()
    return lines[: next(at for at, line in enumerate(lines[1:], 1) if line == lines[0])]


def change_write(package: Path, space: int, number: int, change: Callable[[str], str]) -> None:
    """Change one of the first run's writes to a space, and all equal writes of other runs."""
    path = package / "sim" / "writes.hex"
    line = [each for each in first_load(package) if int(each[8:10], 16) == space][number]
    changed = change(line)
    assert changed != line
    path.write_text(path.read_text().replace(line, changed))


def with_word(word: int) -> Callable[[str], str]:
    """Return a function that replaces the word of a write."""
    return lambda line: f"{line[:18]}{word:016x}"


def rows_of(package: Path, node: int) -> tuple[int, int]:
    """Return the index of a node's first write among all writes to tables, and their number."""
    lines = first_load(package)
    tables = [int(line[:8], 16) for line in lines if int(line[8:10], 16) == 1]
    return tables.index(node), tables.count(node)


def a_flit_late(package: Path) -> None:
    """Delay the flits that arrive at one port of node 4 by a cycle."""
    network = package / "rtl" / "eyecast_network.v"
    for name in ("valid", "flit"):
        found = re.search(
            rf"eyecast_tile tile_4 \(.*?\.inputs__1__{name}\((\w+)\)",
            network.read_text(),
            re.DOTALL,
        )
        assert found
        delay(network, found[1], found.end())


def delay(module: Path, wire: str, before: int) -> None:
    """Delay the last use of a wire before the text position ``before`` by a cycle."""
    text = module.read_text()
    width = re.search(rf"wire (\[\d+:0\] )?{wire};", text)
    assert width
    at = text.rindex(f"({wire})", 0, before)
    text = f"{text[:at]}(late_{wire}){text[at + len(wire) + 2 :]}"
    late = f"  reg {width[1] or ''}late_{wire};\n  always @(posedge clk) late_{wire} <= {wire};\n"
    at = text.index(");\n") + 3
    module.write_text(text[:at] + late + text[at:])


def a_bit_of_a_message(package: Path) -> None:
    change_write(package, 0, 0, lambda line: in_line(line, 16, 5))


def a_bit_of_a_route(package: Path) -> None:
    """Flip bit 3 of node 3's first header flit, which follows its mask and control words."""
    first, _ = rows_of(package, 3)
    change_write(package, 1, first + 2, lambda line: in_line(line, 16, 3))


def a_row_missing(package: Path) -> None:
    first, _ = rows_of(package, 1)
    change_write(package, 1, first + 1, with_word(0))


def an_end_row_missing(package: Path) -> None:
    first, count = rows_of(package, 1)
    change_write(package, 1, first + count - 1, with_word(0x00011011))


def a_wrong_credit(package: Path) -> None:
    """Reset the credit counters to one credit too few."""
    counter = package / "rtl" / "eyecast_credit_counter.v"
    text = counter.read_text()
    at = text.index("if (rst)")
    full = re.compile(r"<= 2'h([0-9a-f])").search(text, at)
    assert full, text
    less = int(full[1], 16) >> 1 or 1
    counter.write_text(f"{text[: full.start()]}<= 2'h{less:x}{text[full.end() :]}")


def an_arbiter_that_favours(package: Path) -> None:
    """Keep the turns of all arbiters as they are."""
    for arbiter in (package / "rtl").glob("eyecast_arbiter*.v"):
        patched(arbiter, r"from_turn_(\d+) <= ", r"from_turn_\1 <= 1'b1 ? from_turn_\1 : ", count=9)


def a_turn_that_outlives_a_reset(package: Path) -> None:
    """Leave out the reset of the turn of VCs, or with one VC that of the turn of inputs."""
    for arbiter in (package / "rtl").glob("eyecast_arbiter*.v"):
        patched(arbiter, r"(if \(rst\) begin\n) +from_\w+ <= \d+'h\w+;\n", r"\1")


def a_dropped_write(package: Path) -> None:
    """Let the message memory drop words whose lowest bit is 0."""
    memory = package / "rtl" / "eyecast_message_memory.v"
    patched(memory, r"if \(write_enable\)", "if (write_enable && write_data[0])")


def a_wrong_limit(package: Path) -> None:
    """Set the run's limit to 20 cycles: its word is the second to last of the program's entry."""
    change_write(package, 2, -2, with_word(20))


def a_swapped_port(package: Path) -> None:
    network = package / "rtl" / "eyecast_network.v"
    tile = r"(eyecast_tile tile_4 \(.*?)"
    patched(
        network,
        rf"{tile}\.inputs__0__flit\((\w+)\)(.*?)\.inputs__1__flit\((\w+)\)",
        r"\1.inputs__0__flit(\4)\3.inputs__1__flit(\2)",
    )


def done_a_cycle_late(package: Path) -> None:
    network = package / "rtl" / "eyecast_network.v"
    found = re.search(r"\.nodes__finished\((\w+)\)", network.read_text())
    assert found
    delay(network, found[1], found.end())


FAULTS = [
    a_flit_late,
    a_bit_of_a_message,
    a_bit_of_a_route,
    a_row_missing,
    an_end_row_missing,
    a_wrong_credit,
    an_arbiter_that_favours,
    a_turn_that_outlives_a_reset,
    a_dropped_write,
    a_wrong_limit,
    a_swapped_port,
    done_a_cycle_late,
]
FAULTS_OF_VCS = [a_wrong_credit, an_arbiter_that_favours, a_turn_that_outlives_a_reset]


def make_package(eyecast: Command, kind: str, folder: str) -> Path:
    write_crossing(Path("crossing.json"), kind, NETWORKS[kind])
    options = ("--schedule", "crossing.json", "--timing", "self-timed", "--message-words", "128")
    done = eyecast("ip", *options, "-o", folder)
    assert done.status == 0, done.errors
    return Path(folder)


@needs_icarus
def test_the_bench_of_a_package_passes(eyecast: Command) -> None:
    done = eyecast("ip", *LINE, "-o", "package")
    assert done.status == 0, done.errors
    status, said = run_icarus(Path("package"), Path("run"))
    assert status == 0
    assert "\nPASS: " in said
    play_registers(Path("package"))
    constrain_all_inputs(Path("package"))
    # The bench detects a flit that leaves a cycle later than in the vectors.
    flits = Path("run") / "flits.hex"
    first, *others = flits.read_text().splitlines()
    flits.write_text("\n".join([f"{int(first[:8], 16) + 1:08x}{first[8:]}", *others, ""]))
    status, said = run_icarus(Path("package"), Path("run"))
    assert status != 0
    assert "FAIL" in said
    # It also detects a bus without a response to writes.
    OF_AXI["no response to a write"].plant(Path("package"))
    status, said = run_icarus(Path("package"), Path("broken"))
    assert status != 0
    assert "FAIL: an access is not answered" in said


def play_registers(package: Path) -> None:
    """Compile the driver with all warnings, and run it on registers that a program simulates."""
    strict = ["-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic"]
    driver = package / "driver"
    subprocess.run(["gcc", *strict, "-c", driver / "eyecast.c", "-o", "driver.o"], check=True)
    Path("plain.cpp").write_text('#include "eyecast.h"\nint main() { return 0; }\n')
    plain = ["g++", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{driver}", "-c", "plain.cpp"]
    subprocess.run(plain, check=True)
    places = [f"-I{driver}", f"-I{HERE}", "-include", HERE / "registers.h"]
    sources = [driver / "eyecast.c", HERE / "driver_on_registers.c"]
    subprocess.run(["gcc", *strict, *places, *sources, "-o", "driven"], check=True)
    ran = run_program(["./driven"])
    assert (ran.returncode, ran.stdout) == (0, "PASS\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "target", ["x86_64-linux-musl", "riscv32-freestanding-none", "riscv64-freestanding-none"]
)
def test_the_driver_is_compiled_for_other_processors(eyecast: Command, target: str) -> None:
    pytest.importorskip("ziglang", reason="ziglang must be installed: pip install '.[chip]'")
    assert eyecast("ip", *LINE, "--words", "2", "-o", "package").status == 0
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-std=c99", "-pedantic"]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
    driver = Path("package", "driver", "eyecast.c")
    run_program([*compiler, *warnings, "-c", driver, "-o", "driver.o"], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ("--tile-ports", "--tile", "axi-stream"),
        ("--circuits", "--algorithm", "light-tree", "--bus", "wishbone"),
    ],
)
def test_other_tools_read_the_assertions(
    eyecast: Command, here: Path, more: tuple[str, ...]
) -> None:
    pyslang = pytest.importorskip("pyslang", reason="pyslang must be installed: '.[checks]'")
    options = (*LINE, "--words", "2", "--assertions", *more)
    assert eyecast("ip", *options, "-o", "package").status == 0
    files = sorted(Path("package", "rtl").glob("*.sv"))
    compilation = pyslang.ast.Compilation()
    for file in files:
        compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(str(file)))
    assert not [str(each.code) for each in compilation.getAllDiagnostics()]
    names = " ".join(str(file) for file in files)
    run_yosys([f"read_verilog -sv -formal {names}", "hierarchy -check -top eyecast_engine"], here)


def constrain_all_inputs(package: Path) -> None:
    """Require an input delay in plain SDC for each input of the engine except the clock."""
    sdc = (package / "constraints" / "eyecast.sdc").read_text()
    commands = {"create_clock", "get_ports", "set_input_delay", "set_output_delay", "all_outputs"}
    plain = "".join(line for line in sdc.splitlines(keepends=True) if line[:1] != "#")
    assert {*re.findall(r"(?:^|\[)([a-z_]+)", plain, re.MULTILINE)} == commands
    inputs = re.search(r"set_input_delay 2.0 -clock clk \[get_ports \{([^}]*)\}", plain)
    engine = (package / "rtl" / "eyecast_engine.v").read_text()
    ports = re.findall(r"^    input wire (?:\[\d+:0\] )?(\w+)", engine, re.MULTILINE)
    assert inputs
    assert sorted([*inputs[1].split(), "clk"]) == sorted(ports)


@pytest.mark.slow
@pytest.mark.skipif(
    not (has_opensta() and OSU018.is_file()),
    reason=f"Debian's {PACKAGE} and {PACKAGE_OF_OSU018} must be installed",
)
@pytest.mark.parametrize(
    ("top", "more"),
    [
        ("constraints/eyecast_engine", ()),
        ("constraints/eyecast_engine", ("--circuits", "--algorithm", "light-tree")),
        ("crossing/eyecast_crossing", ("--tile-ports", "--tile", "axi-stream")),
    ],
)
def test_opensta_reads_the_constraints(
    eyecast: Command, here: Path, top: str, more: tuple[str, ...]
) -> None:
    """Every line of the constraints applies to a mapped netlist, without a warning."""
    assert eyecast("ip", *LINE, *more, "--bus", "wishbone", "-o", "package").status == 0
    constraints = Path("package", top.replace("eyecast_engine", "eyecast")).with_suffix(".sdc")
    top = Path(top).name
    modules = {path.stem: path.read_text() for path in Path("package").glob("[rc]*/*.v")}
    Path("engine.v").write_text("\n".join(modules.values()))
    crosses = top == "eyecast_crossing"
    macros = ["eyecast_engine"] if crosses else macros_of(modules)
    run_yosys(
        [
            "read_verilog -DSYNTHESIS engine.v",
            f"hierarchy -check -top {top}",
            *(f"blackbox {each}" for each in macros),
            f"synth -noabc -top {top}",
            f"dfflibmap -liberty {OSU018}",
            f"abc -liberty {OSU018}",
            "setundef -zero",
            *(["flatten"] if crosses else []),
            "splitnets",
            "write_verilog -noattr -noexpr -nohex netlist.v",
        ],
        here,
    )
    Path("sta.tcl").write_text(
        f"read_liberty {OSU018}\nread_verilog netlist.v\nlink_design {top}\nputs SDC\n"
        f"read_sdc {constraints}\nreport_worst_slack\nexit\n"
    )
    said = run_program([PROGRAM, "-no_splash", "-exit", "sta.tcl"]).stdout.split("SDC\n")[1]
    assert re.fullmatch(r"worst slack -?[\d.]+\s*", said)


BUSES = {
    "axi4-lite": (("--bus", "axi4-lite", "--tile", "axi-stream", "--parity"), IN_BOTH | OF_AXI),
    "wishbone": (("--bus", "wishbone"), OF_WISHBONE),
    "circuits": (("--bus", "wishbone", "--circuits", "--parity", "--words", "40"), OF_CIRCUITS),
}
"""Further options of a package, and the faults that its bench must detect."""
ROUTERS = re.compile("credit_counter|arbiter|arrival|circuit_router")
"""Modules whose faults show where packets from several sides wait for each other."""
MESH, SHORT = ("--mesh", "3x2", "--source", "0,0"), ("--line", "3", "--source", "0")


@pytest.mark.slow
@needs_icarus
@pytest.mark.parametrize(
    ("bus", "network"),
    [(bus, SHORT) for bus in BUSES] + [("axi4-lite", MESH), ("circuits", MESH)],
    ids=lambda value: value if isinstance(value, str) else value[0].strip("-"),
)
def test_each_fault_of_an_engine_is_seen(
    eyecast: Command, bus: str, network: tuple[str, ...]
) -> None:
    """Faults of routers are planted in a mesh, all others in a line, whose bench is short."""
    more, faults = BUSES[bus]
    options = (*network, "--algorithm", "tree", "--tile-ports", "--words", "6", *more)
    done = eyecast("ip", *options, "-o", "package")
    assert done.status == 0, done.errors
    status, said = run_icarus(Path("package"), Path("sound"))
    assert status == 0, said
    for name, fault in faults.items():
        if bool(ROUTERS.match(fault.module)) == (network is MESH):
            sees_fault(Path("package"), fault.plant, name)


OTHER_NETWORKS = {
    "40 bits": ("--line", "3", "--algorithm", "tree", "--source", "0", "--flit-width", "40"),
    "all-port": (
        *("--hypercube", "2", "--collective", "all-gather"),
        *("--ports", "all", "--words", "4"),
    ),
    "operators": ("--mesh", "2x2", "--collective", "all-reduce", "--words", "8", "--parity"),
    "192 bits": ("--mesh", "2x2", *WIDE, "--flit-width", "192", *SMALL),
    "128 bits, circuits": ("--mesh", "2x2", *WIDE, "--flit-width", "128", "--circuits", *SMALL),
    "registers": (
        *("--ring", "4", "--vcs", "2", "--collective", "all-gather", "--algorithm", "ring"),
        *("--link-registers", "1", "--barrier-registers", "3", "--programs", "3"),
    ),
    "circuits": ("--mesh", "3x2", "--circuits", *JOINING, "--words", "3", "--parity", *SMALL),
    "circuits, all ports": (
        *("--mesh", "2x2", "--circuits", "--ports", "all", "--algorithm", "light-tree"),
        *("--source", "0,0", "--link-registers", "1", "--barrier-registers", "3"),
    ),
}
PORTS = {
    "wishbone": ("--bus", "wishbone"),
    "ports": ("--tile-ports",),
    "streams": ("--tile-ports", "--tile", "axi-stream"),
}


@pytest.mark.slow
@needs_icarus
@pytest.mark.parametrize(
    ("network", "ports"),
    # Each network with one or two kinds of ports, and each kind with four networks.
    [
        pytest.param(OTHER_NETWORKS[name], PORTS[kind], id=f"{kind}-{name}")
        for (number, name), (turn, kind) in product(enumerate(OTHER_NETWORKS), enumerate(PORTS))
        if (number + turn) % 2 == 0
    ],
)
def test_benches_of_other_networks_pass(
    eyecast: Command, network: tuple[str, ...], ports: tuple[str, ...]
) -> None:
    """Run the bench with all registers unknown before the reset cycle.

    With one kind of ports run it with their initial values too, and the driver.
    """
    done = eyecast("ip", *network, *ports, "-o", "package")
    assert done.status == 0, done.errors
    known = None
    if ports == ("--bus", "wishbone"):
        known = run_icarus(Path("package"), Path("run"))
        play_registers(Path("package"))
    for module in Path("package", "rtl").glob("*.v"):
        text = module.read_text()
        if "words [" not in text:
            module.write_text(re.sub(r"^  initial \w+ = [^;]*;\n", "", text, flags=re.MULTILINE))
    status, said = run_icarus(Path("package"), Path("unknown"))
    assert status == 0, said
    assert "\nPASS: " in said
    assert known in (None, (status, said))


@pytest.mark.slow
@needs_icarus
def test_two_engines_are_compiled_together(eyecast: Command) -> None:
    """Two packages with different prefixes share no module name; each bench finds its engine."""
    for prefix, length in (("left", "2"), ("right_2", "3")):
        options = ("--line", length, "--source", "0", "--algorithm", "tree", "--prefix", prefix)
        assert eyecast("ip", *options, "-o", prefix).status == 0
    sources = [*Path("left", "rtl").glob("*.v"), *Path("right_2", "rtl").glob("*.v")]
    assert len({path.name for path in sources}) == len(sources)
    tops = ["-s", "left_engine", "-s", "right_2_engine"]
    compiler = ["iverilog", "-g2012", "-Wall", *tops, "-o", "both", *sources]
    compiled = run_program(compiler, check=True)
    assert not compiled.stderr
    status, said = run_icarus(Path("left"), Path("run"), "right_2")
    assert status == 0, said
    cores = [next(Path(each).glob("*.core")).read_text() for each in ("left", "right_2")]
    names = [re.search(r"^name: (.*)$", core, re.MULTILINE) for core in cores]
    assert [name and name[1] for name in names] == [
        "eyecast:ip:left_engine:1.0",
        "eyecast:ip:right_2_engine:1.0",
    ]
    # Their C functions and macros differ too, so one program can drive both.
    includes = [f"-I{each}/driver" for each in ("left", "right_2")]
    Path("both.c").write_text('#include "left.h"\n#include "right_2.h"\n')
    subprocess.run(["gcc", "-Wall", "-Werror", *includes, "-c", "both.c"], check=True)


UNUSED = {
    "a leg ends two hops too early": Fault(
        "arrival*", r"\(link__flit__data\[4:3\] == 2'h0\)", "(link__flit__data[3] == 1'h0)"
    ),
}
"""Faults in hardware that the program of a package does not use."""


@needs_icarus
@pytest.mark.slow
@pytest.mark.parametrize("fault", UNUSED)
def test_a_fault_beside_the_program_is_seen(eyecast: Command, fault: str) -> None:
    """The program's packets cross one or two links at a time."""
    assert eyecast("ip", "--mesh", "4x1", *LINE[2:], "--words", "2", "-o", "package").status == 0
    UNUSED[fault].plant(Path("package"))
    status, said = run_icarus(Path("package"), Path("run"), warnings=True)
    assert status != 0
    # The first difference stands before any count, and below the name of its run.
    told = [re.sub(r"\W.*", "", line) for line in said.splitlines()]
    assert "Each" in told[: told.index("cycle")]
    assert "faults" not in said[: said.index("cycle ")]


@needs_icarus
def test_a_package_of_circuits_passes_and_has_only_its_registers(eyecast: Command) -> None:
    options = ("--line", "2", "--circuits", "--source", "0", "--algorithm", "light-tree")
    done = eyecast("ip", *options, "--words", "2", "--tile-ports", "-o", "package")
    assert done.status == 0, done.errors
    status, said = run_icarus(Path("package"), Path("run"))
    assert status == 0, said
    assert "\nPASS: 38 runs" in said
    header = Path("package", "driver", "eyecast_engine.h").read_text()
    assert "SENDER_STATE" in header
    for word in ("STALLED_FLITS", "BARRIER", "ARRIVED"):
        assert word not in header


@pytest.mark.slow
@needs_icarus
@pytest.mark.parametrize(("kind", "faults"), [("mesh", FAULTS), ("torus", FAULTS_OF_VCS)])
def test_each_planted_fault_is_seen(
    eyecast: Command, kind: str, faults: list[Callable[[Path], None]]
) -> None:
    package = make_package(eyecast, kind, "package")
    status, said = run_icarus(package, Path("sound"))
    assert status == 0, said
    for fault in faults:
        sees_fault(package, fault, fault.__name__)


@pytest.mark.slow
def test_verilator_passes_alone(eyecast: Command, tmp_path: Path) -> None:
    """Run in an empty folder, with only Verilator and its own needs on PATH.

    Optimization would cost more time than the run.
    """
    options = ("--vcs", "2", "--parity", "--tile-ports", "--tile", "axi-stream")
    assert eyecast("ip", *LINE, *options, "-o", "package").status == 0
    alone = Path(shutil.move("package", tmp_path / "alone"))
    variables = dict(environment()) | {"PYTHONPATH": "", "MAKEFLAGS": "OPT_FAST=-O0 OPT_SLOW=-O0"}
    made = run_program(["make", "verilator"], cwd=alone / "sim", env=variables)
    assert "PASS: " in made.stdout, made.stdout[-2000:] + made.stderr[-2000:]
    assert "FAIL" not in made.stdout
    assert made.returncode == 0


@pytest.mark.slow
def test_verilator_counts_what_the_bench_reaches(eyecast: Command) -> None:
    """The bench reaches all lines of a package of circuits, and its own lines do not count."""
    options = ("--line", "2", "--circuits", "--source", "0", "--algorithm", "light-tree")
    assert eyecast("ip", *options, "--words", "2", *SMALL, "-o", "package").status == 0
    made = run_program(["make", "coverage"], cwd=Path("package", "sim"), env=environment())
    assert made.returncode == 0, made.stdout + made.stderr
    assert re.search(r"^line: (\d+) of \1 reached$", made.stdout, re.MULTILINE)
    unreached = Path("package", "sim", "build", "coverage", "unreached").read_text()
    assert "toggle ../rtl/eyecast_" in unreached
    assert "bench.v" not in unreached


CUT = {
    (): (0, 3),
    ("--circuits", "--algorithm", "light-tree"): (1, 2),
}
"""By further options: a node, and the rows that are left if its last one is cut off."""


@pytest.mark.slow
@pytest.mark.parametrize("more", CUT)
def test_a_processor_runs_the_engine_by_the_driver(eyecast: Command, more: tuple[str, ...]) -> None:
    """A PicoRV32 loads, runs, waits, reads and is refused, with pauses and resets.

    All assertions hold meanwhile; one that is broken stops the simulation.
    """
    node, rows = CUT[more]
    options = (*LINE, *more, "--tile-ports", "--assertions")
    assert eyecast("ip", *options, "-o", "package").status == 0
    run = HERE / "driver_on_engine.c", f"-DCUT_NODE={node}", f"-DLAST_ROW={rows}"
    assert run_driver(*run).splitlines()[0] == "PASS"
    bridge = Path("package", "rtl", "eyecast_axi4_lite.sv")
    patched(bridge, r"else if \(bus__bready\)", "else if (1'h1)")
    assert "ensures_b_stays" in run_driver(*run)


@pytest.mark.slow
def test_a_processor_loads_each_word_with_one_write(eyecast: Command) -> None:
    network = ("--circuits", "--mesh", "4x4", "--collective", "all-reduce", "--tile-ports")
    assert eyecast("ip", *network, "-o", "package").status == 0
    image = Path("package", "driver", "eyecast_image.h").read_text()
    (writes,) = re.findall(r"WRITES (\d+)", image)
    said = run_driver(HERE / "loading_on_engine.c")
    assert said.splitlines()[0] == f"writes {writes}"


@pytest.mark.slow
@needs_icarus
def test_fusesoc_runs_the_bench(eyecast: Command) -> None:
    pytest.importorskip("fusesoc", reason="fusesoc must be installed: pip install '.[checks]'")
    assert eyecast("ip", *LINE, "-o", "package").status == 0
    fusesoc = [sys.executable, "-m", "fusesoc.main", "--cores-root", "."]
    run = run_program(
        [*fusesoc, "run", "--target=sim", "eyecast:ip:engine"], cwd="package", env=dict(os.environ)
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "PASS: " in run.stdout


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (("-o", "full"), "output folder full must be empty or not there, not files in it"),
        (("-o", "full/file"), "output folder full/file must be a folder, not a file"),
        (
            ("-o", "none/here"),
            "output folder none/here must be in a folder that is there, not none",
        ),
        (("-o", "out", "--programs", "0"), "--programs must be 1 to 15 in a package, not 0"),
        (
            ("-o", "out", "--prefix", "2nd"),
            "--prefix must be letters, digits and single _ between them, with a letter first, "
            "not 2nd",
        ),
        (
            ("-o", "out", "--tile", "axi-stream"),
            "--tile-ports must be given for axi-stream, not left out",
        ),
    ],
)
def test_what_cannot_be_packed_is_refused(
    eyecast: Command, options: tuple[str, ...], refusal: str
) -> None:
    Path("full").mkdir()
    (Path("full") / "file").write_text("")
    done = eyecast("ip", *LINE, *options)
    assert done == refuse(refusal)
    assert not Path("out").exists()
