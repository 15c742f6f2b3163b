"""The port models: what a node may do in one step."""

from __future__ import annotations

from enum import StrEnum

from ..base.errors import InvalidInput


class PortModel(StrEnum):
    """Rules on the sends and receives of a node in one step, the strictest first.

    :func:`.check_ports` says what each rule allows.
    """

    HALF_DUPLEX = "half-duplex"
    EXCHANGE = "exchange"
    FULL_DUPLEX = "full-duplex"
    ALL_PORT = "all-port"

    @classmethod
    def named(cls, text: str, parameter: str = "port model") -> PortModel:
        """Return the port model with this name; refuse any other name, naming ``parameter``."""
        for model in cls:
            if model == text:
                return model
        raise InvalidInput.of(parameter, ", ".join(cls), text)


PORT_MODELS = tuple(PortModel)
"""All port models, the strictest first."""
