"""Drivers, monitors, a scoreboard and coverage for testbenches in cocotb.

They work on the Verilog that ``eyecast verilog`` writes, in any simulator that cocotb knows, alone
or deep in somebody's chip::

    HostDriver ──► eyecast_network ──► NetworkMonitor ──► Scoreboard(program, memory)
                                              │
                                              └─────────► Coverage

A bench of one test::

    import cocotb
    from cocotb.clock import Clock
    from eyecast import read_program
    from eyecast.model.image.image_file import read_image
    from eyecast.testbench import HostDriver, NetworkMonitor, Scoreboard

    @cocotb.test()
    async def test_every_node_is_delivered(dut):
        Clock(dut.clk, 2, unit="ns").start()
        program, image = read_program("program.json"), read_image("image.csv")
        host = HostDriver(dut)
        await host.load(image.writes)
        scoreboard = Scoreboard(program, image.memory)
        scoreboard.watch(NetworkMonitor(dut, program.config))
        await host.start(barrier=True)
        assert await host.wait(2000, "ns")
        scoreboard.check_done(int(dut.cycle.value))

The names are loaded when they are first asked for, because a bench that only loads and runs
programs needs neither NumPy nor the cycle model.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "AxiLiteDriver": "bus_drivers",
    "ControllerDriver": "controller_driver",
    "Coverage": "coverage",
    "HostDriver": "host_driver",
    "InterfaceMonitor": "monitor",
    "LinkMonitor": "monitor",
    "NetworkMonitor": "monitor",
    "Packet": "monitor",
    "Scoreboard": "scoreboard",
    "ScoreboardError": "scoreboard",
    "TileDriver": "tile_driver",
    "coverage_table": "coverage",
    "WishboneDriver": "bus_drivers",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a name of this package from the module that has it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
