"""Drivers of a controller and of tile ports, and the interface's monitor, on exported Verilog."""

from pathlib import Path

import pytest
from helpers.cocotb_runs import failures, verilog_of, write_run
from helpers.processes import needs

from eyecast.api import mesh, schedule

pytestmark = [pytest.mark.slow, needs("iverilog")]

HOST, REFUSED = "test_a_host_loads_starts_and_reads", "test_a_host_is_refused"
TILES = "test_tiles_write_and_read_at_the_same_time"
HELD = "test_a_tile_holds_its_node_and_hears_of_the_packet"
FAULTS: dict[str, tuple[dict[str, str], set[str]]] = {
    "none": ({}, set()),
    "a refusal that nobody is told": (
        {"host__refusal <= refusal_2;": "host__refusal <= 2'h0;"},
        {REFUSED},
    ),
    "a tile's write that is lost": (
        {"host_writes ? 1'h1 : tile_write__enable": "host_writes ? 1'h1 : 1'h0"},
        {TILES, HELD},
    ),
    "a hold that holds nothing": ({"steps__held <= tile__hold;": "steps__held <= 1'h0;"}, {HELD}),
}
"""Replacements in the Verilog, and the tests that they break."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_drivers(tmp_path: Path, fault: str) -> None:
    parameters = {"programs": 1, "tile_ports": True, "message_words": 8}
    write_run(tmp_path, schedule(mesh((2,)), "tree", source=0, words=3), **parameters)
    text = verilog_of(tmp_path)
    replaced, broken = FAULTS[fault]
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    said = failures(tmp_path, "icarus", verilog=text, module="helpers.driver_tests")
    assert {name.partition("/")[0] for name, failure in said.items() if failure} == broken, said
    assert len(said) == 7


@pytest.mark.parametrize("circuits", [False, True])
def test_the_monitor_of_an_interface(tmp_path: Path, circuits: bool) -> None:
    algorithm = "light-tree" if circuits else "tree"
    write_run(tmp_path, schedule(mesh((2, 2)), algorithm, source=0, words=3), circuits=circuits)
    said = failures(tmp_path, "icarus", module="helpers.interface_monitor_tests")
    assert [*said.values()] == [None], said
