"""Top module of a board's FPGA: the network, its serial host, two LEDs."""

from dataclasses import dataclass
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Elaboratable, Module, ResetSignal
from amaranth.lib import io

from ...model.network.config import NetworkConfig
from ...rtl.tiles import TILE_MODULE, make_tile, tile_modules
from ..registry import Board
from ..serial.hosted_network import HostedNetwork, Surroundings
from .technology import synthesis, synthesis_files, tile_technology

TOP = "top"
TILE_FILE, SWITCH_FILE = "tile.il", "switch.il"


class BoardTop(Elaboratable):
    """A :class:`.HostedNetwork` on the pins of a board."""

    def __init__(
        self, board: Board, config: NetworkConfig, around: Surroundings | None = None
    ) -> None:
        self._board = board
        self._config = config
        self._around = around

    def elaborate(self, platform: Any) -> Module:
        """Build the core with the platform's clock and reset, and a buffer for every pin."""
        m = Module()
        board = self._board
        m.submodules.core = core = HostedNetwork(
            self._config,
            divisor=board.divisor,
            timeout=board.timeout,
            tile_by_name=True,
            around=self._around,
        )
        uart = platform.request("uart", 0, dir="-")
        m.submodules.rx = rx = io.Buffer("i", uart.rx)
        m.submodules.tx = tx = io.Buffer("o", uart.tx)
        m.d.comb += [
            core.clk.eq(ClockSignal()),
            core.rst.eq(ResetSignal(allow_reset_less=True)),
            core.rx.eq(rx.i),
            tx.o.eq(core.tx),
        ]
        for bit, (resource, number) in enumerate((board.done_led, board.error_led)):
            led = io.Buffer("o", platform.request(resource, number, dir="-"))
            m.submodules[f"led_{bit}"] = led
            m.d.comb += led.o.eq(core.led[bit])
        return m


@dataclass(frozen=True)
class PinNames:
    """Names of the ports of a board's top, in netlists and constraints.

    ``done_inverted`` and ``error_inverted`` tell whether a 0 lights the LED.
    """

    clk: str
    rx: str
    tx: str
    done: str
    error: str
    done_inverted: bool
    error_inverted: bool


def pin_names(board: Board) -> PinNames:
    """Return the names that Amaranth gives to the ports of a :class:`BoardTop`."""
    platform = board.make_platform()
    (done, done_number), (error, error_number) = board.done_led, board.error_led
    return PinNames(
        clk=f"{platform.default_clk}_0__io",
        rx="uart_0__rx__io",
        tx="uart_0__tx__io",
        done=f"{done}_{done_number}__io",
        error=f"{error}_{error_number}__io",
        done_inverted=platform.lookup(done, done_number).ios[0].invert,
        error_inverted=platform.lookup(error, error_number).ios[0].invert,
    )


def tile_rtlil(board: Board, config: NetworkConfig, module: str = TILE_MODULE) -> str:
    """Return a tile of the network, or another of its modules, as RTLIL."""
    technology = tile_technology(board, config)
    tile = make_tile(config, switch=tile_modules(config)[module], technology=technology)
    text: str = rtlil.convert(tile, name=module, emit_src=False)
    return text


def synthesis_inputs(
    board: Board, config: NetworkConfig, statistics: str, around: Surroundings | None = None
) -> dict[str, str]:
    """Return the files that yosys and nextpnr read, by name: RTLIL, script, constraints.

    The script writes the cell counts to the file ``statistics``.
    """
    platform = board.make_platform()
    modules = zip((TILE_FILE, SWITCH_FILE), tile_modules(config), strict=False)
    tile_files = {name: tile_rtlil(board, config, module) for name, module in modules}
    for name, text in tile_files.items():
        platform.add_file(name, text)
    steps = synthesis(board.family, TOP)
    plan = platform.prepare(
        BoardTop(board, config, around),
        TOP,
        emit_src=False,
        script_after_read=steps.before,
        synth_opts=steps.options,
        script_after_synth=f"{steps.after}; tee -q -o {statistics} stat -json",
    )
    wanted = (*tile_files, *(f"{TOP}.{ending}" for ending in ("il", "ys", "pcf", "lpf")))
    made = {name: _text(plan.files[name]) for name in wanted if name in plan.files}
    return {**made, **synthesis_files(board.family)}


def _text(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode()
