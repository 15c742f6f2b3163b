"""Unequal blocks and collectives of groups on the simulated hardware, flit for flit."""

import pytest
from helpers.verified import require_agreement

import eyecast
from eyecast.model.network.topology import Topology

WORDS = [3, 0, 9, 1, 0, 0, 30, 4, 2, 2, 0, 7, 0, 5, 1, 8]
ROW_AND_COLUMNS = [
    {"nodes": [0, 1, 2, 3], "collective": "broadcast", "root": 1, "words": 40},
    {"nodes": [4, 8, 12], "collective": "all-gather", "block_words": [7, 0, 2]},
    {"nodes": [5, 9, 13], "collective": "reduce", "root": 9, "algorithm": "tree"},
    {"nodes": [6, 10, 14], "collective": "scatter", "root": 14, "block_words": [5, 1, 0]},
    {
        "nodes": [7, 11, 15],
        "collective": "all-to-all",
        "block_words": [[0, 2, 1], [3, 4, 0], [0, 9, 0]],
    },
]
"""A broadcast in the first row, and a separate collective in each column below it."""


def require_bounded(made: eyecast.Schedule) -> None:
    result = eyecast.verify(made)
    require_agreement(result)
    bound = eyecast.measures(made)["least"]["cycles"]
    assert result.measured.cycles >= bound > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "ports"), [(eyecast.torus((4, 4)), "one"), (eyecast.mesh((4, 4)), "all")], ids=str
)
def test_unequal_blocks(network: Topology, ports: str) -> None:
    made = eyecast.schedule(
        network, "best", collective="all-gather", ports=ports, block_words=WORDS
    )
    require_bounded(made)


@pytest.mark.slow
def test_a_row_and_columns_at_once() -> None:
    made = eyecast.schedule(eyecast.mesh((4, 4)), "best", groups=ROW_AND_COLUMNS)
    assert len(made.groups) == 5
    require_bounded(made)


@pytest.mark.slow
@pytest.mark.parametrize("collective", ["all-to-all", "reduce-scatter"])
def test_unequal_blocks_of_other_collectives(collective: str) -> None:
    pairs = [[(source * target) % 4 for target in range(16)] for source in range(16)]
    made = eyecast.schedule(
        eyecast.mesh((4, 4)),
        "recursive-doubling",
        collective=collective,
        block_words=pairs if collective == "all-to-all" else WORDS,
    )
    require_bounded(made)


@pytest.mark.slow
@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize("ports", ["one", "all"])
def test_every_node_is_in_a_row_and_a_column(ports: str, circuits: bool) -> None:
    """The measured memories have both sums, as NumPy adds the words that the nodes began with."""
    made = eyecast.schedule(
        eyecast.mesh((3, 2)),
        "best",
        collective="all-reduce",
        groups="rows+columns",
        words=8,
        ports=ports,
        circuits=circuits,
    )
    result = eyecast.verify(made, circuits=circuits)
    require_agreement(result)
    assert {*made.groups} == {(0, 1, 2), (3, 4, 5), (0, 3), (1, 4), (2, 5)}
    payload, compared = result.case.payload, 0
    for block, group in enumerate(made.blocks.group.tolist()):
        sums = payload.contributions[block].sum(axis=0) % (
            1 << result.case.program.config.flit_width
        )
        assert len(payload.contributions[block]) == len(made.groups[group])
        for node in made.groups[group]:
            address = payload.layout.address(node, block)
            assert (result.measured.memory[node, address : address + len(sums)] == sums).all()
            compared += len(sums)
    assert compared == 6 * 2 * 8


@pytest.mark.slow
@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize(
    ("collective", "ports"), [("all-reduce", "one"), ("all-to-all", "all"), ("broadcast", "all")]
)
def test_given_levels(collective: str, ports: str, circuits: bool) -> None:
    made = eyecast.schedule(
        eyecast.mesh((3, 2)),
        "hierarchy",
        collective=collective,
        source=(1, 1) if collective == "broadcast" else None,
        order="columns",
        ports=ports,
        words=12,
    )
    require_agreement(eyecast.verify(made, circuits=circuits))
