"""The host port of a network (docs/router.md): widths, spaces, addresses, latencies.

Section 6 is for a network that is loaded in reset, section 16 for one with a controller, section 23
for one with circuits. In an all-port network (section 14) each lane has its own tables and status
words.
"""

from enum import IntEnum

from ..network.config import NetworkConfig, bits_for
from ..program.circuits.program import DURATION_BITS, entry_words

ARRIVED = 4
"""The address of the first word of ``arrived`` in the status space."""


class Space(IntEnum):
    """The spaces of the host port."""

    MESSAGE = 0
    TABLE = 1
    EXPECTED = 2
    STATUS = 3


CONTROLLER = Space.EXPECTED
"""The space of the controller's registers; it takes the number of the expectations' space."""


class Register(IntEnum):
    """Addresses in the space of a controller; entry g of its directory begins at ``entry(g)``."""

    IDENTITY = 0
    IMAGE = 1
    COMMAND = 2
    RESULT = 3
    CYCLE = 4
    QUEUED = 5
    ENABLE = 6
    DIRECTORY = 8


ENTRY = ("base", "words", "mode", "limit")
"""The words of an entry of the directory, in the order of their addresses."""


def entry(program: int) -> int:
    """Return the address of the first word of a program's entry in the directory."""
    return Register.DIRECTORY + len(ENTRY) * program


def table_stride(config: NetworkConfig) -> int:
    """Return the words from the start of a sender's table memory to that of the next one."""
    return 1 << bits_for(config.table_words - 1)


def entry_stride(config: NetworkConfig) -> int:
    """Return the addresses from the first word of an entry of a run table to that of the next."""
    return 1 << bits_for(entry_words(config) - 1)


def space_words(config: NetworkConfig) -> dict[Space, int]:
    """Return the number of addresses of each space."""
    if config.circuits:
        table, masks, further_states = config.table_words * entry_stride(config), 0, 0
    else:
        table = (config.lanes - 1) * table_stride(config) + config.table_words
        masks, further_states = config.lanes * config.mask_words, config.lanes - 1
    return {
        Space.MESSAGE: config.message_words << config.piece_bits,
        Space.TABLE: table,
        Space.EXPECTED: entry(config.programs) if config.programs else masks,
        Space.STATUS: ARRIVED + masks + further_states + config.signature_words,
    }


def widths(config: NetworkConfig) -> dict[str, int]:
    """Return the widths and counts of sections 0 or 23 under their names there, and the lanes."""
    return {
        "flit_width": config.flit_width,
        "lanes": config.lanes,
        **(_widths_of_circuits(config) if config.circuits else _widths_of_packets(config)),
        "node_bits": max(1, bits_for(config.topology.nodes - 1)),
        "host_address_bits": bits_for(max(space_words(config).values()) - 1),
    }


def _widths_of_packets(config: NetworkConfig) -> dict[str, int]:
    """Return the widths of headers and of the rows of tables."""
    header = config.header
    further = {"operator_bits": header.operator_bits, "window_bits": header.window_bits}
    return {
        "deliver_code": header.deliver_code,
        "port_bits": header.port_bits,
        "hop_bits": header.hop_bits,
        "vc_bits": header.vc_bits,
        "slot_bits": header.slot_bits,
        "step_bits": config.step_bits,
        "address_bits": config.address_bits,
        **{name: bits for name, bits in further.items() if bits},
        "delivery_bits": header.delivery_bits,
        "length_bits": config.length_bits,
        "control_words": config.table.control_words,
        "mask_words": config.mask_words,
    }


def _widths_of_circuits(config: NetworkConfig) -> dict[str, int]:
    """Return the widths of the entries of run tables."""
    operators = len(config.operators)
    return {
        "duration_bits": DURATION_BITS,
        "port_bits": bits_for(config.topology.ports),
        "address_bits": config.address_bits,
        **({"operator_bits": bits_for(operators)} if operators else {}),
        "receive_bits": bits_for(operators + 1),
        "entry_words": entry_words(config),
    }


def address_map(config: NetworkConfig) -> dict[str, object]:
    """Return the spaces and the addresses in them, as JSON values."""
    words = space_words(config)
    message = {"space": int(Space.MESSAGE), "words": words[Space.MESSAGE]}
    table = {"space": int(Space.TABLE), "words": words[Space.TABLE]}
    status: dict[str, object] = {
        "space": int(Space.STATUS),
        "words": words[Space.STATUS],
        "flags": 0,
    }
    behind = ARRIVED
    if config.circuits:
        table["entry_stride"] = entry_stride(config)
        status |= {"entry": 1, "state": 2}
    else:
        status |= {"step": 1, "sender_state": 2, "stalled_flits": 3, "arrived": ARRIVED}
        behind += config.lanes * config.mask_words
    if config.all_port and not config.circuits:
        table["stride"] = table_stride(config)
        status["further_sender_states"] = behind
    if config.signature:
        status["signature"] = behind
    middle: dict[str, object] = {"space": int(Space.EXPECTED), "words": words[Space.EXPECTED]}
    if config.programs:
        middle.update({each.name.lower(): int(each) for each in Register})
        middle["entry"] = list(ENTRY)
    name = "controller" if config.programs else "expected"
    between = {name: middle} if words[Space.EXPECTED] else {}
    return {"message": message, "table": table, **between, "status": status}


def latencies(config: NetworkConfig) -> dict[str, int]:
    """Return the cycles between events at the ports: reset released, answer, cycle 0, end."""
    registers = config.barrier_registers
    if config.programs:
        # After a start is answered, the state is "starting" for K + 2 cycles; then the end of the
        # reset passes half of the registers on its way to the nodes.
        return {
            "answer_to_cycle_0": registers + 2 + registers // 2,
            "finished_to_done": 1 - (-registers // 2),
            "answer_at_most": 2 * registers + 8,
        }
    return {
        "reset_after_last_write": 1,
        "release_to_cycle_0": 1 + registers // 2,
        "address_to_read_data": 2 + registers,
        "outputs_late": -(-registers // 2),
    }
