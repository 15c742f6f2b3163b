"""Table of the boards: their devices, pins and tools' options."""

import importlib
from dataclasses import dataclass
from typing import Any

from ..model.base.errors import InvalidInput

BAUD = 115200
"""Bits per second on every board's serial line; all their USB adapters support this rate."""
TIMEOUT_SECONDS = 0.02
"""Longest pause between bytes of a request; a board gives up before twice this time."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Capacity of a device: 4-input LUTs, flip-flops and block RAMs."""

    luts: int
    flip_flops: int
    block_rams: int


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board.

    name, title
        Its name on the command line, and its full name.
    platform
        Module and class in amaranth-boards, which define pins, oscillator and reset.
    device, family
        The FPGA, and the tools' name for its kind: "ice40" or "ecp5".
    device_options
        Options of nextpnr for the device.
    capacity
        Capacity of the device.
    clock
        Frequency in Hz of the oscillator, which clocks the network.
    done_led, error_led
        Resource and number of each LED; the resource includes the colour if there are several.
    loader_options
        Options of openFPGALoader for the board.
    """

    name: str
    title: str
    platform: tuple[str, str]
    device: str
    family: str
    device_options: tuple[str, ...]
    capacity: Capacity
    clock: int
    done_led: tuple[str, int]
    error_led: tuple[str, int]
    loader_options: tuple[str, ...]

    @property
    def divisor(self) -> int:
        """Clock cycles per bit of the serial line."""
        return round(self.clock / BAUD)

    @property
    def timeout(self) -> int:
        """Clock cycles between two bytes after which a request is dropped."""
        return round(self.clock * TIMEOUT_SECONDS)

    def make_platform(self) -> Any:
        """Make an Amaranth platform. Raises :class:`.InvalidInput` without amaranth-boards."""
        module, name = self.platform
        try:
            return getattr(importlib.import_module(f"amaranth_boards.{module}"), name)()
        except ImportError as error:
            installed = "installed (pip install 'eyecast[boards]')"
            raise InvalidInput.of("amaranth-boards", installed, "missing") from error


_HX8K = Board(
    name="ice40-hx8k",
    title="iCE40-HX8K-B-EVN",
    platform=("ice40_hx8k_b_evn", "ICE40HX8KBEVNPlatform"),
    device="iCE40HX8K",
    family="ice40",
    device_options=("--hx8k", "--package", "ct256"),
    capacity=Capacity(luts=7680, flip_flops=7680, block_rams=32),
    clock=12_000_000,
    done_led=("led", 0),
    error_led=("led", 1),
    loader_options=("-b", "ice40_generic"),
)

_ICEBREAKER = Board(
    name="icebreaker",
    title="iCEBreaker",
    platform=("icebreaker", "ICEBreakerPlatform"),
    device="iCE40UP5K",
    family="ice40",
    device_options=("--up5k", "--package", "sg48"),
    capacity=Capacity(luts=5280, flip_flops=5280, block_rams=30),
    clock=12_000_000,
    done_led=("led_g", 0),
    error_led=("led_r", 0),
    loader_options=("-b", "ice40_generic"),
)

_ULX3S = Board(
    name="ulx3s-85f",
    title="ULX3S-85F",
    platform=("ulx3s", "ULX3S_85F_Platform"),
    device="LFE5U-85F",
    family="ecp5",
    device_options=("--85k", "--package", "CABGA381", "--speed", "6"),
    capacity=Capacity(luts=83640, flip_flops=83640, block_rams=208),
    clock=25_000_000,
    done_led=("led", 0),
    error_led=("led", 1),
    loader_options=("-b", "ulx3s"),
)

# The second ECP5 board is the cheap one: open hardware, its own USB serial line, plain LEDs, and an
# oscillator of 50 MHz, so that here Fmax must be more than 25 MHz.
_ICEPI_ZERO = Board(
    name="icepi-zero",
    title="Icepi Zero",
    platform=("icepi_zero", "IcepiZero1_3Platform"),
    device="LFE5U-25F",
    family="ecp5",
    device_options=("--25k", "--package", "CABGA256", "--speed", "6"),
    capacity=Capacity(luts=24288, flip_flops=24288, block_rams=56),
    clock=50_000_000,
    done_led=("led", 0),
    error_led=("led", 1),
    loader_options=("-b", "icepi-zero"),
)

BOARDS = {board.name: board for board in (_ICEBREAKER, _HX8K, _ULX3S, _ICEPI_ZERO)}


def find_board(name: str) -> Board:
    """Return the board of that name. Raises :class:`.InvalidInput`, with all names, for others."""
    try:
        return BOARDS[name]
    except KeyError:
        raise InvalidInput.of("--board", ", ".join(BOARDS), name) from None
