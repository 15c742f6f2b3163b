"""The register map: the SystemRDL file agrees with docs/router.md, and the C header compiles."""

import re
import subprocess
import textwrap
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import needs
from helpers.refusals import refusal_of
from helpers.router_page import cells, section
from helpers.switch_networks import switch_star
from lxml import etree
from peakrdl_ipxact import IPXACTImporter
from systemrdl import RDLCompiler
from systemrdl.node import FieldNode, MemNode

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import identity
from eyecast.model.network.topology import hypercube, mesh
from eyecast.registers.register_map import compiled, register_map, register_map_files

SMALL = NetworkConfig(topology=mesh((3, 2)), programs=2, message_words=20, table_words=40, vcs=2)
ROOT = Path(__file__).parents[2]
NETWORKS = {
    "small": SMALL,
    "64 bits, wide steps": replace(SMALL, flit_width=40, steps=100, message_words=300),
    "192 bits": replace(SMALL, flit_width=192, steps=100),
    "all-port": replace(SMALL, topology=hypercube(2), all_port=True, programs=15),
    "switches": replace(SMALL, topology=switch_star(3), signature=True, parity=True),
}


@pytest.fixture(scope="module", params=NETWORKS)
def mapped(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[NetworkConfig, Any]:
    """Return a network, and the root of its map as SystemRDL's own compiler reads it."""
    config = NETWORKS[request.param]
    path = tmp_path_factory.mktemp("map") / "map.rdl"
    path.write_text(register_map(config))
    return config, compiled(path)


@pytest.fixture(scope="module")
def files(
    mapped: tuple[NetworkConfig, Any], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Return the files made of a network's map, alone in a folder."""
    return register_map_files(mapped[0], tmp_path_factory.mktemp("files"))


def bits(count: int) -> int:
    """Return the page's bits(n)."""
    return count.bit_length()


def piece_bits(config: NetworkConfig) -> int:
    """Return the page's `piece_bits`: the address bits that number the pieces of a word."""
    return bits(-(-config.flit_width // 64) - 1)


def scheme(config: NetworkConfig) -> tuple[int, int, int]:
    """Return the bytes of a word, and the bits of word and node numbers, by the page's formulas."""
    lanes = config.topology.ports - 1 if config.all_port else 1
    masks = -(-(1 << bits(config.steps)) // min(config.flit_width, 64))
    largest = max(
        config.message_words << piece_bits(config),
        lanes << bits(config.table_words - 1),
        8 + 4 * config.programs,
        4 + lanes * masks + lanes - 1 + config.signature,
    )
    nodes = max(1, bits(config.topology.nodes - 1))
    return (4 if config.flit_width == 32 else 8), bits(largest - 1), nodes


def place(config: NetworkConfig, region: int, node: int, word: int) -> int:
    """Return a byte address by the page's formula."""
    size, words, nodes = scheme(config)
    return ((region * 2**nodes + node) * 2**words + word) * size


def test_every_region_lies_where_the_page_says(mapped: tuple[NetworkConfig, Any]) -> None:
    config, top = mapped
    table = {
        int(row[0]): row[1] for row in cells(section("### Byte addresses")) if row[0] in "0123"
    }
    names = ["controller", "status", "message", "table"]
    assert [name in table[region] or table[region] for region, name in enumerate(names)] == [
        True
    ] * 4
    last = config.topology.nodes - 1
    assert top.find_by_path("controller").absolute_address == place(config, 0, 0, 0)
    for region, name in list(enumerate(names))[1:]:
        for node in (0, 1, last):
            found = top.find_by_path(f"{name}[{node}]").absolute_address
            assert found == place(config, region, node, 0)
        assert (
            top.find_by_path(f"{name}[{last}]").parent.get_child_by_name(name).n_elements
            == last + 1
        )


def test_registers_of_the_controller_are_those_of_the_page(
    mapped: tuple[NetworkConfig, Any],
) -> None:
    config, top = mapped
    rows = [row for row in cells(section("### Ports of the controller")) if row[0].isdigit()]
    listed = {row[1]: (int(row[0]), row[2]) for row in rows if row[2] in ("r", "w", "rw")}
    bridge = next(row for row in cells(section("### Byte addresses")) if row[1] == "refused")
    listed[bridge[1]] = (int(bridge[0]), bridge[2])
    size, _, _ = scheme(config)
    controller = top.find_by_path("controller")
    found = {
        register.inst_name: (register.raw_address_offset // size, access(register))
        for register in controller.registers()
    }
    assert found == listed
    assert identity(config) == controller.find_by_path("identity.identity").get_property("reset")
    (said,) = re.findall(
        r"word 0 of region 0, node 1 is `revision`.*?hardware, (\d+)\.",
        section("### Byte addresses"),
        re.DOTALL,
    )
    revision = top.find_by_path("bridge.revision")
    assert revision.absolute_address == place(config, 0, 1, 0)
    assert access(revision) == "r"
    assert fields_of(revision) == {"revision": (0, 31)}
    assert revision.find_by_path("revision").get_property("reset") == int(said)
    entries = controller.find_by_path(f"entry[{config.programs - 1}]")
    assert entries.address_offset == size * (8 + 4 * (config.programs - 1))
    order = ["base", "words", "mode", "limit"]
    assert [each.inst_name for each in entries.registers()] == order
    assert [each.address_offset for each in entries.registers()] == [size * i for i in range(4)]
    assert {access(each) for each in entries.registers()} == {"rw"}


def access(register: Any) -> str:
    """Return software's access to a register; a writable register may have read-only fields."""
    fields = {str(field.get_property("sw").name) for field in register.fields()}
    (found,) = fields - ({"r"} if "rw" in fields else set())
    return found


def fields_of(register: Any) -> dict[str, tuple[int, int]]:
    return {field.inst_name: (field.low, field.high) for field in register.fields()}


def test_fields_of_the_controller_are_those_of_the_page(mapped: tuple[NetworkConfig, Any]) -> None:
    config, top = mapped
    rows = {
        row[1]: row[3] for row in cells(section("### Ports of the controller")) if len(row) == 4
    }
    controller = top.find_by_path("controller")
    # "bits 0–7: flags of the culprit; 8–10: state; …", in the order of the fields.
    for name in ("command", "result", "enable"):
        said = [
            (int(low), int(high or low))
            for low, high in re.findall(r"(?:bits? |; )(\d+)(?:–(\d+))?:", rows[name])
        ]
        assert list(fields_of(controller.find_by_path(name)).values()) == sorted(said)
    commands = re.findall(r"(\d) \*(\w+)\*", rows["command"])
    encoding = controller.find_by_path("command.command").get_property("encode")
    assert {each.name: each.value for each in encoding} == {n: int(v) for v, n in commands}
    states = [row for row in cells(section("### The controller")) if len(row) == 4]
    encoding = controller.find_by_path("result.state").get_property("encode")
    assert [(each.name.replace("_", " "), each.value) for each in encoding] == [
        (row[0].strip("*"), int(row[1])) for row in states[1:]
    ]
    size, words, nodes = scheme(config)
    highest = 2 + nodes + words + bits(size - 1) - 1
    assert fields_of(controller.find_by_path("refused")) == {
        "refusal": (0, 1),
        "address": (2, highest),
    }


def test_words_of_status_are_those_of_the_page(mapped: tuple[NetworkConfig, Any]) -> None:
    config, top = mapped
    size, _, _ = scheme(config)
    status = top.find_by_path("status[0]")
    flags = [row for row in cells(section("### Flags")) if row[0].isdigit()]
    assert fields_of(status.find_by_path("flags")) == {
        row[1].strip("`"): (int(row[0]), int(row[0])) for row in flags
    }
    lanes = config.topology.ports - 1 if config.all_port else 1
    masks = lanes * -(-(1 << bits(config.steps)) // min(config.flit_width, 64))
    words = {"flags": 0, "step": 1, "sender_state": 2, "stalled_flits": 3, "arrived": 4}
    if lanes > 1:
        words["further_sender_state"] = 4 + masks
    if config.signature:
        words["signature"] = 4 + masks
    found = {each.inst_name: each.raw_address_offset // size for each in status.registers()}
    assert found == words
    assert status.get_child_by_name("arrived").n_elements == masks
    assert {access(each) for each in status.registers()} == {"r"}
    states = [row for row in cells(section("### Sender")) if len(row) == 3 and row[1].isdigit()]
    encoding = status.find_by_path("sender_state.state").get_property("encode")
    said = [(row[0].strip("*"), int(row[1])) for row in states]
    assert [(each.name, each.value) for each in encoding] == [*said, ("expect", 6)]


def test_memories_have_their_words(mapped: tuple[NetworkConfig, Any]) -> None:
    config, top = mapped
    message, last = top.find_by_path("message[1].word"), config.lanes - 1
    assert message.get_property("mementries") == config.message_words << piece_bits(config)
    assert message.get_property("memwidth") == min(config.flit_width, 64)
    assert message.get_property("sw").name == "rw"
    table = top.find_by_path(f"table[1].sender[{last}].word")
    assert table.get_property("mementries") == config.table_words
    assert table.get_property("sw").name == "w"
    stride = 1 << bits(config.table_words - 1)
    assert table.absolute_address == place(config, 3, 1, last * stride)
    switches = sorted(config.topology.switches)
    if switches:
        said = f"Switches, which have none: {', '.join(map(str, switches))}."
        assert message.parent.get_property("desc") == said


def parts_of(top: Any) -> dict[tuple[int, int], tuple[Any, ...]]:
    """Return fields by their address and lowest bit, and memories by their address."""
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    for node in top.descendants(unroll=True):
        if isinstance(node, FieldNode):
            sets, encoding = node.get_property("reset"), node.get_property("encode") or ()
            values = [(each.name, each.value) for each in encoding]
            access = node.get_property("sw")
            at = node.parent.absolute_address, node.low
            found[at] = node.parent.inst_name, node.inst_name, node.high, access, sets, values
        elif isinstance(node, MemNode):
            words = node.get_property("mementries")
            found[node.absolute_address, 0] = words, node.size, node.get_property("sw")
    return found


def test_ipxact_has_all_fields_and_memories(
    mapped: tuple[NetworkConfig, Any], files: list[Path]
) -> None:
    _, top = mapped
    component = next(path for path in files if ".xml" in path.name)
    compiler = RDLCompiler()
    IPXACTImporter(compiler).import_file(str(component))
    read = compiler.elaborate().top
    assert parts_of(read) == parts_of(top)
    blocks = sorted((each.absolute_address, each.size) for each in read.children())
    assert all(at + size <= after for (at, size), (after, _) in pairwise(blocks))
    with suppress(ImportError):
        from pyEDAA import IPXACT

        schema = Path(IPXACT.__file__).parent / "Schema" / "ieee-1685-2014" / "index.xsd"
        etree.XMLSchema(file=str(schema)).assertValid(etree.parse(component))


@needs("gcc")
def test_the_header_compiles_and_has_the_same_addresses(
    mapped: tuple[NetworkConfig, Any], files: list[Path], tmp_path: Path
) -> None:
    config, _ = mapped
    source, header, _, page = files
    assert source.read_text() == register_map(config)
    assert page.is_file()
    assert not [path for path in source.parent.iterdir() if path.name.startswith(".")]
    last = config.topology.nodes - 1
    word = "controller.refused", place(config, 0, 0, 7)
    entry = (
        f"controller.entry[{config.programs - 1}].limit",
        place(config, 0, 0, 8 + 4 * config.programs - 1),
    )
    flags = f"status[{last}].sender_state", place(config, 1, last, 2)
    message = f"message[{last}].word.mem[3]", place(config, 2, last, 3)
    table = f"table[{last}].sender[0].word.mem[7]", place(config, 3, last, 7)
    lines = [
        f'_Static_assert(offsetof(eyecast_engine_t, {name}) == {at}, "{name}");'
        for name, at in (word, entry, flags, message, table)
    ]
    bench = tmp_path / "bench.c"
    bench.write_text("\n".join(["#include <stddef.h>", f'#include "{header}"', *lines, ""]))
    subprocess.run(["gcc", "-std=c11", "-Werror", "-fsyntax-only", bench], check=True)


def test_a_map_has_names_of_its_own_and_nothing_for_browsers(tmp_path: Path) -> None:
    source, header, component, page = register_map_files(SMALL, tmp_path, prefix="left")
    names = [each.name for each in (source, header, component)]
    assert names == ["left_engine.rdl", "left_engine.h", "left_engine.xml"]
    assert "eyecast" not in header.read_text()
    assert "eyecast_" not in component.read_text()
    names = [path.name for path in page.parent.rglob("*")]
    assert "user.js" not in names
    assert not [name for name in names if "launcher" in name]


def test_networks_that_cannot_stand_behind_a_bus() -> None:
    assert (
        refusal_of(register_map, replace(SMALL, programs=0))
        == "programs must be at least 1 for a register map, not 0"
    )
    large = replace(SMALL, topology=mesh((128, 128)), message_words=1 << 16)
    assert refusal_of(register_map, large) == (
        "bits of a byte address (regions, nodes, words of a node) must be at most 32, not 34"
    )


@needs("gcc")
def test_the_guide_s_c_runs_a_program(tmp_path: Path) -> None:
    """Run the C code on an array of words as registers; it writes only the command register."""
    _, first, page = (ROOT / "docs" / "guides" / "buses.md").read_text().partition("    #include")
    code = first + page.partition("\n\nThe ")[0]
    # A compiler may write a field of a packed type byte by byte.
    assert "->" not in code
    main = """
    int main(void)
    {
        uint32_t engine[8] = {EYECAST_ENGINE__CONTROLLER_F__IDENTITY__IDENTITY_reset, 0, 0, 3 << 8};
        const int done = run(engine, 1);
        engine[3] = 4 << 8;
        const int failed = run(engine, 1);
        engine[0] ^= 1;
        return done || engine[2] != 0x101 || failed != -1 || run(engine, 0) != -1;
    }
    """
    bench = tmp_path / "run.c"
    bench.write_text(textwrap.dedent(code) + textwrap.dedent(main))
    register_map_files(SMALL, tmp_path)
    ran = tmp_path / "run"
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", bench, "-o", ran], check=True)
    assert subprocess.run([ran], check=False).returncode == 0


def test_a_network_with_circuits_has_run_tables_and_its_own_flags(tmp_path: Path) -> None:
    """An entry of 102 bits is four words; docs/router.md, section 23."""
    config = replace(SMALL, vcs=1, circuits=True, all_port=True, message_words=512, table_words=24)
    path = tmp_path / "map.rdl"
    path.write_text(register_map(config))
    top = compiled(path)
    status, table = (top.get_child_by_name(name) for name in ("status", "table"))
    flags = status.get_child_by_name("flags").fields()
    rows = cells(section("### Finished, flags, host"))[1:]
    page = {int(row[0]): row[1].strip("`") for row in rows if len(row) == 3}
    assert {each.low: each.inst_name for each in flags} == page | {1: "parity"}
    assert status.get_child_by_name("arrived") is None
    # 10 + 4 · 3 + 4 + 8 · 9 + 4 · 1 bits: a duration, codes, ejections, addresses, ``receive``.
    words = -(-(10 + 4 * 3 + 4 + 8 * 9 + 4) // 32)
    assert words == 4
    sender = table.get_child_by_name("sender")
    assert sender.get_child_by_name("word").get_property("mementries") == 24 * words
    assert status.array_stride == 4 * config.message_words
