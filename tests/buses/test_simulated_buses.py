"""Engines behind buses on Verilator, driven by published bus models."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import bus_simulator
from helpers.engine_host import program_words
from helpers.generated import generated
from helpers.programs import simulated
from helpers.switch_networks import switch_star
from systemrdl.node import MemNode, RegNode

from eyecast.model.network.buses import HostBus, TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import identity
from eyecast.model.program.compiler import fit
from eyecast.registers.register_map import compiled, register_map

LIMITS: dict[str, Any] = {"message_words": 20, "table_words": 40, "steps": 7}
BASES = (3, 20)
"""First addresses of the two loaded programs, which are equal."""


def told(flit_width: int, **more: Any) -> tuple[NetworkConfig, dict[str, Any]]:
    """Return a network whose node 0 is a switch, and the parameters of a bench for it."""
    plain = NetworkConfig(topology=switch_star(2), flit_width=flit_width, **LIMITS)
    schedule = generated("broadcast", "tree", plain.topology, source=1, words=4)
    plain, (compiled,) = fit(plain, [schedule])
    config = replace(plain, programs=2, tile_ports=True)
    program = compiled.program
    predicted = simulated(program, "barrier")
    (row,) = program.rows[1]
    tables = list(program_words(program))
    mask_words, pieces = -(-8 // flit_width), -(-flit_width // 64)
    spaces = {
        "identity": identity(config),
        "nodes": 3,
        "switches": [0],
        "word_bits": min(flit_width, 64),
        "message_words": 20 * pieces,
        "table_words": 40,
        "status_words": 4 + mask_words,
        "programs": 2,
        "node_bits": 2,
        "address_bits": 6,
        "pieces": pieces,
    }
    return config, {
        "spaces": spaces,
        "tables": tables,
        "bases": BASES,
        "length": max(map(len, tables)),
        "copies": (
            *(1, row.source_address * pieces),
            *(2, row.target_address * pieces, row.length * pieces),
        ),
        "cycles": predicted.cycles + mask_words,
        "hold": "tile_1__hold",
        **more,
    }


def listed_words(config: NetworkConfig, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every word in the SystemRDL file: its address, its permitted accesses, its bits."""
    path = folder / "map.rdl"
    path.write_text(register_map(config))
    for node in compiled(path).descendants(unroll=True):
        if isinstance(node, RegNode):
            fields = list(node.fields())
            resets = [(each, each.get_property("reset")) for each in fields]
            yield {
                "address": node.absolute_address,
                "sw": fields[0].get_property("sw").name,
                "mask": sum(mask_of(each) for each in fields),
                "kept": sum(
                    mask_of(each) for each in fields if each.get_property("sw").name == "rw"
                ),
                "reset": sum(reset << each.low for each, reset in resets if reset is not None),
                "reset_mask": sum(mask_of(each) for each, reset in resets if reset is not None),
            }
        elif isinstance(node, MemNode):
            words, width = node.get_property("mementries"), node.get_property("memwidth")
            entry, owner = node.size // words, node.parent
            while not owner.get_property("desc"):
                owner = owner.parent
            # "Switches, which have none: 0, 4."
            none = re.match(r"Switches, which have none: (.*?)\.", owner.get_property("desc"))
            if none and str(owner.current_idx[0]) in none[1].split(", "):
                continue
            for word in range(words):
                yield {
                    "address": node.absolute_address + entry * word,
                    "sw": node.get_property("sw").name,
                    "mask": (1 << width) - 1,
                    "kept": (1 << width) - 1,
                    "reset": 0,
                    "reset_mask": 0,
                }


def mask_of(field: Any) -> int:
    return ((1 << field.width) - 1) << field.low


BUSES = {
    HostBus.AXI4_LITE: ("cocotbext.axi", "helpers.axi_lite_bench", 32),
    HostBus.WISHBONE: ("cocotbext.wishbone", "helpers.wishbone_bench", 40),
}
"""Bus model's package, bench and flit width; one width differs from the bus's data width."""


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("bus", BUSES)
def test_a_bus_in_front_of_the_host_port(
    bus: HostBus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, wide: bool
) -> None:
    """Words of 128 bits are written and read in pieces, in any order."""
    package, bench, flit_width = BUSES[bus]
    pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[checks]'")
    config, given = told(128 if wide else flit_width, seed=1, accesses=3_000)
    given["registers"] = list(listed_words(config, tmp_path))
    simulator = bus_simulator.build(config, bus, TileBus.AXI_STREAM)
    bus_simulator.run(simulator, bench, tmp_path, given, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("flit_width", [32, 128])
def test_streams_in_front_of_the_tile_ports(
    flit_width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cocotbext.axi", reason="it is not installed: pip install '.[checks]'")
    config, given = told(flit_width, seed=5, messages=2_000)
    simulator = bus_simulator.build(config, HostBus.AXI4_LITE, TileBus.AXI_STREAM)
    bus_simulator.run(simulator, "helpers.axi_stream_bench", tmp_path, given, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("periods", [(14, 6), (6, 22)], ids=["fast engine", "slow engine"])
@pytest.mark.parametrize("bus", [*BUSES, "streams"])
def test_buses_on_a_clock_of_their_own(
    bus: str, periods: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds for buses on the engine's clock holds through asynchronous FIFOs."""
    of_streams = ("cocotbext.axi", "helpers.axi_stream_bench", 32)
    host = HostBus.AXI4_LITE if bus == "streams" else HostBus(bus)
    package, bench, flit_width = BUSES[host] if bus != "streams" else of_streams
    pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[checks]'")
    config, given = told(flit_width, seed=7, accesses=1_000, messages=500, periods=periods)
    given["registers"] = list(listed_words(config, tmp_path))
    simulator = bus_simulator.build(config, host, TileBus.AXI_STREAM, crossing=True)
    bus_simulator.run(simulator, bench, tmp_path, given, monkeypatch)
