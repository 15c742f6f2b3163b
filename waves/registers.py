"""Registers of network interfaces over time, as recorded from the hardware."""

from collections.abc import Sequence
from typing import NamedTuple


class Register(NamedTuple):
    """A signal of ``node``'s interface: a bit, a number, or an index into ``words``."""

    node: int
    name: str
    is_bit: bool = False
    words: tuple[str, ...] = ()


class Change(NamedTuple):
    """The value of register number ``register`` from ``cycle`` on."""

    cycle: int
    register: int
    value: int


class RegisterChanges(NamedTuple):
    """Registers, and all of their changes in the order of cycles."""

    registers: Sequence[Register]
    changes: Sequence[Change]


NO_REGISTERS = RegisterChanges((), ())
"""No recorded registers."""
