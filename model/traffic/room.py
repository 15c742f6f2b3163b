"""Networks for traffic: message memories for its longest packet, tables for its rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..network.topology import Topology
from .program import message_words_for
from .traffic import Traffic

TABLE_SIZES = (1 << 12, 1 << 14, 1 << 16)
"""Table memories of networks for traffic, in words: few sizes, so that few networks are built."""


def traffic_config(
    topology: Topology, traffic: Traffic, parameters: dict[str, Any]
) -> NetworkConfig:
    """Make a network with these fields of :class:`.NetworkConfig` and memories large enough.

    Raises :class:`.InvalidInput` for a parameter outside its limits, and for a given memory that is
    too small.
    """
    if parameters.get("circuits"):
        raise InvalidInput.must_be("circuits", "left out", "with traffic, which routers arbitrate")
    longest = int(traffic.flits.max(initial=1))
    # The given parameters are checked before the memories are enlarged.
    config = NetworkConfig(topology=topology, steps=1, timed_rows=True, **parameters)
    most_rows = int(np.bincount(traffic.source, minlength=1).max())
    # A row takes its control words and its header flits, usually four words at most.
    enough = [size for size in TABLE_SIZES if size > 4 * most_rows]
    least = {
        "message_words": message_words_for(topology, longest),
        "table_words": enough[0] if enough else TABLE_SIZES[-1],
    }
    for name, words in least.items():
        if parameters.get(name, words) < words:
            raise InvalidInput.of(name, f"at least {words} for this traffic", parameters[name])
    return replace(
        config, **{name: max(getattr(config, name), words) for name, words in least.items()}
    )
