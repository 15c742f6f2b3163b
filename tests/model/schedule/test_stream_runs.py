"""Runs of blocks that stream: nodes whose blocks are adjacent, and cases where they cannot be."""

from helpers.generated import generated

from eyecast.model.collectives.streaming.rings import stream_ring, stream_ring_reduce_scatter
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.stream_runs import stream_runs


def test_every_node_has_the_run_of_its_place_on_the_ring() -> None:
    runs, disordered = stream_runs(stream_ring_reduce_scatter(ring(5), 3, "add"))
    assert disordered == set()
    for node in range(5):
        run = [5 * node + (node - back) % 5 for back in (1, 2, 3, 4, 5)]
        assert [runs[number] for number in run] == [run] * 5


def test_rings_of_two_axes_have_none_but_where_lines_begin() -> None:
    _, disordered = stream_runs(stream_ring(mesh((4, 4)), 4))
    assert disordered == {node for node in range(16) if node % 4}


def test_rings_in_windows_that_turn_both_ways_have_none() -> None:
    """Node 0 sends 1 2 .. 7 before its own block one way, its own before 1 2 .. 6 the other."""
    _, disordered = stream_runs(generated("all-reduce", "stream-ring", ring(8), words=32))
    assert disordered == {*range(8)}


def test_runs_are_kept_in_memories_of_any_size() -> None:
    made = stream_ring(ring(5), 3)
    for words in (16, 1 << 10):
        (compiled,) = fit(NetworkConfig(topology=ring(5), message_words=words), [made])[1]
        layout = compiled.layout
        assert layout.size == 15
        for node in range(5):
            order = sorted(range(5), key=lambda block, node=node: layout.address(node, block))
            ahead = [(node - back) % 5 for back in (1, 2, 3, 4)]
            assert [block for block in order if block != node] == ahead
