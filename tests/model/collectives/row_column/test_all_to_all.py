"""All-to-all by rows and columns: proved, carried out word for word, and counted steps."""

import pytest
from helpers.carried_out import cycles_of
from helpers.refusals import refusal_of

from eyecast.model.collectives.row_column.all_to_all import row_column_all_to_all
from eyecast.model.collectives.row_column.messages import Message, passage_of, way_of
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, mesh, torus


@pytest.mark.parametrize("all_port", [False, True])
@pytest.mark.parametrize(
    "topology",
    [mesh((4, 4)), mesh((5, 3)), mesh((2, 4)), torus((4, 4)), torus((5, 3)), torus((2, 6))],
    ids=lambda topology: topology.label,
)
def test_all_get_all(topology: Topology, all_port: bool) -> None:
    made = row_column_all_to_all(topology, 2, all_port=all_port)
    assert made.port_model == (PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX)
    cycles_of(made)


@pytest.mark.parametrize(
    ("topology", "steps"),
    [(mesh((8, 8)), 32), (mesh((12, 12)), 72), (torus((8, 8)), 16), (mesh((4, 4)), 8)],
    ids=lambda value: value.label if isinstance(value, Topology) else None,
)
def test_all_ports_take_as_few_steps_as_the_middle_needs(topology: Topology, steps: int) -> None:
    # Half of all blocks cross the middle; in a step each link there carries side / 2 of them.
    side = topology.dims[0]
    links = 2 * side if topology.wrapped else side
    assert steps == (topology.nodes // 2) ** 2 / links / (side // 2)
    assert row_column_all_to_all(topology, 1, all_port=True).steps == steps


@pytest.mark.parametrize("topology", [mesh((4, 4)), torus((4, 4))], ids=lambda made: made.label)
def test_all_ports_are_near_the_bound(topology: Topology) -> None:
    made = row_column_all_to_all(topology, 64, all_port=True)
    assert cycles_of(made) <= 1.07 * schedule_bound(made).value


@pytest.mark.parametrize(
    ("source", "target", "way", "begin"),
    [
        ((1, 0), (3, 0), [(1, 0), (2, 0), (3, 0)], 1),
        ((3, 2), (1, 2), [(3, 2), (2, 2), (1, 2)], 4),
    ],
)
def test_the_way_of_a_line(
    source: tuple[int, int], target: tuple[int, int], way: list[tuple[int, int]], begin: int
) -> None:
    # Downwards, coordinates are counted from the other end: 3 of 0 to 7 becomes 4.
    message = Message(source, target, [], [])
    passage = passage_of(message, (8, 8), ())
    assert way_of(message, passage) == way
    assert (passage.begin, passage.hops) == (begin, 2)


def test_the_shorter_way_round_a_ring() -> None:
    def way(*ends: tuple[int, int]) -> list[tuple[int, int]]:
        message = Message(*ends, [], [])
        return way_of(message, passage_of(message, (4, 8), (0, 1)))

    assert way((0, 0), (0, 6)) == [(0, 0), (0, 7), (0, 6)]
    assert way((3, 1), (0, 1)) == [(3, 1), (0, 1)]
    # Both directions are equally long: up from an even coordinate, down from an odd one.
    assert way((2, 0), (0, 0)) == [(2, 0), (3, 0), (0, 0)]
    assert way((3, 0), (1, 0)) == [(3, 0), (2, 0), (1, 0)]


@pytest.mark.parametrize(
    ("topology", "given"),
    [
        (mesh((4, 4, 2)), "a 4x4x2 mesh"),
        (with_faults(mesh((3, 3)), [4]), "a 3x3 mesh with 1 faulty node"),
    ],
)
def test_what_is_refused(topology: Topology, given: str) -> None:
    allowed = "network for row-column must be a mesh or torus of two axes without faults"
    assert refusal_of(row_column_all_to_all, topology, 4) == f"{allowed}, not {given}"
