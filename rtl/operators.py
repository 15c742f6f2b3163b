"""The ports of an operator of one's own, by the name that people's operators import."""

from .parts.operators import OperatorPorts

__all__ = ["OperatorPorts"]
