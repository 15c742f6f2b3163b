"""Damaged words for the soak: message memories that damage one word whenever it is written.

A memory inverts the parity bit of that word (docs/router.md, section 18). So a word is damaged
exactly if it has this value, in hardware as in the cycle model.
"""

import re
from dataclasses import replace

from hypothesis import strategies as st

from eyecast.model.network.config import NetworkConfig
from eyecast.sim.verilog import network_verilog

_MEMORY = re.compile(r"module eyecast_message_memory .*?endmodule", re.DOTALL)
_WRITE = re.compile(r"<= (write_data\w*);")


@st.composite
def damaged_words(draw: st.DrawFn, config: NetworkConfig) -> tuple[NetworkConfig, int | None]:
    """Draw a word of 32 bits for half of the networks with parity; None for all others.

    A network with such a word is returned without operators, because the cycle model combines no
    damaged words.
    """
    if not config.parity or draw(st.booleans()):
        return config, None
    return replace(config, operators=()), draw(st.integers(0, (1 << 32) - 1))


def damaging_verilog(config: NetworkConfig, *, word: int, trace: bool) -> str:
    """Return the Verilog of a network with parity whose message memories damage ``word``."""
    bits = config.flit_width
    wrong = rf"<= \1 ^ {{\1[{bits - 1}:0] == {bits}'h{word:x}, {bits}'h0}};"
    text = network_verilog(config, trace=trace)
    return _MEMORY.sub(lambda memory: _WRITE.sub(wrong, memory[0]), text)
