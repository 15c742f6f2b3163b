"""A fault in a hardware component, put at its ports."""

from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib.wiring import Component, connect, flipped

Alter = Callable[[Module, Any, Any], None]


def put_fault(monkeypatch: pytest.MonkeyPatch, component: type[Component], alter: Alter) -> None:
    """Put a shell around every ``component`` that is made from now on.

    The shell contains the sound component, wired to the shell's ports. ``alter(m, shell, sound)``
    may drive a port of either again: the last assignment counts.
    """
    sound_init, sound_elaborate = component.__init__, component.elaborate

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        self.made_from = args, kwargs
        sound_init(self, *args, **kwargs)

    def elaborate(self: Any, platform: object) -> Module:
        args, kwargs = self.made_from
        m = Module()
        m.submodules.sound = sound = component(*args, **kwargs)
        sound.elaborate = lambda platform: sound_elaborate(sound, platform)
        connect(m, flipped(self), sound)
        alter(m, self, sound)
        return m

    monkeypatch.setattr(component, "__init__", init)
    monkeypatch.setattr(component, "elaborate", elaborate)
