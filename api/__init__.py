"""The Python interface of Eyecast: the names that ``import eyecast`` provides.

::

    import eyecast

    network = eyecast.mesh((8, 8))
    schedule = eyecast.schedule(network, "eye", source=(2, 2), flits=16)
    print(eyecast.measures(schedule))                       # steps, TCD, and their lower bounds
    print(eyecast.predict(schedule).cycles)                 # the cycle model
    print(eyecast.verify(schedule).agrees)                  # the simulated hardware
    eyecast.draw(schedule, "eye.svg")

A node is a number or its coordinates. Bad input raises :class:`.InvalidInput`: one line that names
the parameter, the allowed values and the given value.
"""

from ..model.base.errors import InvalidInput
from ..model.network import neighbor_table, topology, topology_file
from ..model.network.config import NetworkConfig
from ..model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from ..model.network.operators import Operator
from ..model.network.topology import Topology, hypercube, line, ring
from ..model.program import file as program_file
from ..model.program.program import Program
from ..model.schedule import file as schedule_file
from ..model.schedule.rules import ScheduleError
from ..model.schedule.schedule import Schedule
from .arguments import checked
from .carry_out import compare, compile, predict, verify, write_report
from .schedules import (
    algorithms,
    draw,
    measures,
    schedule,
    schedule_of_sends,
    transmit,
    transmit_schedule,
    with_faults,
    with_random_faults,
)
from .sweeps import sweep
from .traffic import TrafficRun, traffic

graph = checked(neighbor_table.graph)
mesh = checked(topology.mesh)
read_network = checked(topology_file.read_topology)
read_program = checked(program_file.read_program)
read_schedule = checked(schedule_file.read_schedule)
torus = checked(topology.torus)
write_program = checked(program_file.write_program)
write_schedule = checked(schedule_file.write_schedule)

__all__ = [
    "InvalidInput",
    "NetworkConfig",
    "Operator",
    "Program",
    "Schedule",
    "ScheduleError",
    "Topology",
    "TrafficRun",
    "algorithms",
    "binary_tree",
    "compare",
    "compile",
    "de_bruijn",
    "diagonal_mesh",
    "draw",
    "graph",
    "hypercube",
    "line",
    "measures",
    "mesh",
    "predict",
    "read_network",
    "read_program",
    "read_schedule",
    "ring",
    "schedule",
    "schedule_of_sends",
    "star_tree",
    "sweep",
    "torus",
    "traffic",
    "transmit",
    "transmit_schedule",
    "verify",
    "with_faults",
    "with_random_faults",
    "write_program",
    "write_report",
    "write_schedule",
]
