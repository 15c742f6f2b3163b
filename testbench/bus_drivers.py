"""Drivers of an engine's controller through its bus (docs/router.md, section 21).

They need the bus models of cocotbext-axi and cocotbext-wishbone: ``pip install 'eyecast[ip]'``.
"""

import logging
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from cocotb.triggers import ClockCycles, select

from ..model.image.host_port import Space
from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig
from ..registers.register_map import byte_address
from .controller_driver import CONTROLLER_SPACE, LONGEST_ANSWER, ControllerDriver, Refused

REFUSED = 7
"""Address of the word *refused* in the controller's space."""

_REFUSAL = 3
"""Bits of *refused* with the kind of the last refusal."""

_READ, _WRITE = "read through a bus", "write through a bus"
_REFUSED_ACCESS = "access that a bus refuses"
"""Points of :class:`.Coverage`."""

_WISHBONE = {
    **{"cyc": "cyc_i", "stb": "stb_i", "we": "we_i", "adr": "adr_i", "sel": "sel_i"},
    **{"datwr": "dat_i", "datrd": "dat_o", "ack": "ack_o", "err": "err_o"},
}
"""Wishbone signals: name in cocotbext-wishbone, and name of our port without ``wb_``."""

_ACKNOWLEDGED = 1
"""Value of cocotbext-wishbone for the answer ``ack``."""


class BusDriver(ControllerDriver):
    """Host of an engine: the methods of :class:`ControllerDriver`, carried out by a bus.

    Call ``reset`` first. ``accesses`` counts the accesses that the bus has answered, for
    :meth:`.Coverage.accesses`.

    Parameters
    ----------
    engine
        Handle of ``eyecast_engine``.
    config
        Configuration of its network.
    idles
        Yields, before each access, True if the host pauses for a cycle; no pauses by default.

    """

    def __init__(
        self, engine: Any, config: NetworkConfig, *, idles: Iterator[bool] | None = None
    ) -> None:
        super().__init__(engine, idles=idles)
        self.accesses: Counter[str] = Counter()
        self._config = config
        self._clock = engine.clk
        self._bytes = bus_data_bits(config) // 8

    @abstractmethod
    async def _access(self, address: int, word: int | None) -> int | None:
        """Write a word, or read one if ``word`` is None; return None if the bus refuses it."""

    def _ask_nothing(self) -> None:
        """Do nothing: the model of the bus shows no access by itself."""

    async def _answer(self, node: int, space: int, address: int, word: int | None) -> int:
        answer = await self._carry_out(node, space, address, word)
        if answer is not None:
            return answer
        refused = await self._carry_out(0, CONTROLLER_SPACE, REFUSED, None)
        raise Refused(f"node {node}, space {space}, address {address}", (refused or 0) & _REFUSAL)

    async def _carry_out(self, node: int, space: int, address: int, word: int | None) -> int | None:
        """Carry out an access. Raises ``RuntimeError`` if the bus does not answer."""
        place = byte_address(self._config, node, Space(space), address)
        patience = ClockCycles(self._clock, LONGEST_ANSWER)
        answer: int | None
        first, answer = await select(self._access(place, word), patience)
        if first != 0:
            raise RuntimeError(f"no answer of the bus within {LONGEST_ANSWER} cycles")
        self.accesses[_READ if word is None else _WRITE] += 1
        self.accesses[_REFUSED_ACCESS] += answer is None
        return answer


class AxiLiteDriver(BusDriver):
    """Host of an engine behind AXI4-Lite."""

    def __init__(self, engine: Any, config: NetworkConfig, **options: Any) -> None:
        from cocotbext.axi import AxiLiteBus, AxiLiteMaster  # noqa: PLC0415 - optional

        super().__init__(engine, config, **options)
        logging.getLogger(f"cocotb.{engine._name}.s_axi").setLevel(logging.WARNING)
        self._master = AxiLiteMaster(AxiLiteBus.from_prefix(engine, "s_axi"), self._clock)

    async def _access(self, address: int, word: int | None) -> int | None:
        if word is None:
            read = await self._master.read(address, self._bytes)
            return None if read.resp else int.from_bytes(read.data, "little")
        written = await self._master.write(address, word.to_bytes(self._bytes, "little"))
        return None if written.resp else 0


class WishboneDriver(BusDriver):
    """Host of an engine behind Wishbone, with classic cycles."""

    def __init__(self, engine: Any, config: NetworkConfig, **options: Any) -> None:
        from cocotbext.wishbone.driver import WBOp, WishboneMaster  # noqa: PLC0415 - optional

        super().__init__(engine, config, **options)
        self._operation = WBOp
        self._connect = partial(WishboneMaster, engine, "wb", self._clock, signals_dict=_WISHBONE)
        self._master: Any = None

    def _ask_nothing(self) -> None:
        # Not at time 0: Icarus would then never compute signals that depend on the driven ones.
        if self._master is None:
            self._master = self._connect()

    async def _access(self, address: int, word: int | None) -> int | None:
        every_byte = (1 << self._bytes) - 1
        operation = self._operation(address, word, sel=every_byte)
        (result,) = await self._master.send_cycle([operation])
        if result.ack != _ACKNOWLEDGED:
            return None
        return 0 if word is not None else int(result.datrd)
