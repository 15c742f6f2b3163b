"""Registers of network interfaces over time, as whoever looks into the hardware has seen them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Register(NamedTuple):
    """A signal of the interface of ``node``: a bit, a number, or one of ``words`` by its number."""

    node: int
    name: str
    is_bit: bool = False
    words: tuple[str, ...] = ()


class Change(NamedTuple):
    """The value that register number ``register`` has from ``cycle`` on."""

    cycle: int
    register: int
    value: int


class Registers(NamedTuple):
    """Registers, and all of their changes in the order of cycles."""

    registers: Sequence[Register]
    changes: Sequence[Change]


NO_REGISTERS = Registers((), ())
"""Nobody has looked in."""
