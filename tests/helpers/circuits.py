"""Programs of circuits for tests."""

import numpy as np

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits import CircuitProgram


def example() -> CircuitProgram:
    """The worked example of the page: node 0 of a line of three sends two words to the others."""
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True)
    columns = {
        "first_entry": [0, 1, 3, 5],
        "duration": [2, 1, 2, 2, 2],
        "codes": [[0, 1, 0], [0, 0, 0], [3, 3, 0], [0, 0, 0], [3, 0, 0]],
        "receive": [0, 0, 1, 0, 1],
    }
    others = ("first", "second", "operator", "send_address", "receive_address")
    columns |= dict.fromkeys(others, [0] * 5)
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    return CircuitProgram(config=config, port_model="full-duplex", **arrays)
