"""The port models: what a node may do in one step."""

from __future__ import annotations

from enum import StrEnum

from ..base.errors import InvalidInput


class PortModel(StrEnum):
    """Rule on the sends and receives of a node in one step, the strictest first.

    :func:`.check_ports` says what each allows.
    """

    HALF_DUPLEX = "half-duplex"
    EXCHANGE = "exchange"
    FULL_DUPLEX = "full-duplex"
    ALL_PORT = "all-port"

    @classmethod
    def named(cls, text: str, parameter: str = "port model") -> PortModel:
        """Find the port model with this name; refused, naming ``parameter``, if there is none."""
        for model in cls:
            if model == text:
                return model
        raise InvalidInput.of(parameter, ", ".join(cls), text)


PORT_MODELS = tuple(PortModel)
"""All of them, in their order."""
