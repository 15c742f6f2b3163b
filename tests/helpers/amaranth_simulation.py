"""A run of a design in Amaranth's own simulator."""

from collections.abc import Awaitable, Callable
from typing import Any

from amaranth.hdl import Fragment
from amaranth.sim import Simulator

from eyecast.rtl.parts.assertions import ASSERTING

PERIOD = 1e-6

Testbench = Callable[[Any], Awaitable[None]]


def simulate(
    design: Any, testbench: Testbench, *background: Testbench, asserting: bool = True
) -> None:
    """Clock ``design`` until ``testbench`` ends; background processes need not end.

    With ``asserting`` the assertions of all components are checked in every cycle.
    """
    simulator = Simulator(Fragment.get(design, ASSERTING if asserting else None))
    simulator.add_clock(PERIOD)
    simulator.add_testbench(testbench)
    for endless in background:
        simulator.add_testbench(endless, background=True)
    simulator.run()
