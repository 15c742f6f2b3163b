"""ForestColl trees: an all-gather with the file's paths, or with the routes of a network."""

import itertools

import pytest
from helpers.algorithms import promises
from helpers.refusals import refusal_of

from eyecast.formats.forestcoll import FORESTCOLL, read_forestcoll, read_forestcoll_on
from eyecast.formats.format import Setting, Wishes
from eyecast.formats.registry import format_of
from eyecast.model.base.files import InputFile
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.schedule.schedule import Schedule

GPUS = ("(0, 'GPU', 0)", "(0, 'GPU', 1)", "(1, 'GPU', 0)")
SWITCH = "(-1, 'IB', 0)"


def send(source: int, target: int, *through: str) -> str:
    path = ",".join((GPUS[source], *through, GPUS[target]))
    return f'<send src="{GPUS[source]}" dst="{GPUS[target]}" path="{path}"/>'


def tree(root: int, height: int, *sends: str, chunks: int = 1, index: int = 0) -> str:
    begin = f'<tree root="{GPUS[root]}" index="{index}" nchunks="{chunks}" height="{height}">'
    return "\n".join((begin, *sends, "</tree>"))


def forest(*trees: str, each: int = 1) -> str:
    return "\n".join((f'<Algo nchunkspernode="{each}">', *trees, "</Algo>"))


CHAINS = forest(
    tree(0, 2, send(1, 2, SWITCH), send(0, 1)),
    tree(1, 1, send(1, 0), send(1, 2, SWITCH)),
    tree(2, 2, send(2, 1, SWITCH), send(1, 0)),
)
"""Chains; the sends of the first are in the wrong order."""


def alone(text: str, **wishes: object) -> Schedule:
    schedule = read_forestcoll(InputFile("f.xml", text.encode()), Wishes(words=2, **wishes))
    schedule.check()
    return schedule


def test_trees_bring_their_own_network_with_its_switches() -> None:
    schedule = alone(CHAINS)
    assert (schedule.topology.nodes, schedule.topology.switches) == (4, (3,))
    assert schedule.topology.neighbor.tolist() == [
        *[[-1, 1, -1], [-1, 0, 3], [-1, 3, -1], [-1, 1, 2]]
    ]
    assert schedule.collective == "all-gather"
    assert promises(schedule) == [(0, (1, 2)), (1, (0, 2)), (2, (0, 1))]
    hops = sorted(schedule.distances.tolist())
    assert hops == [1, 1, 1, 2, 2, 2]


def test_without_switches_it_is_an_all_gather() -> None:
    schedule = alone(CHAINS.replace(f"{SWITCH},", ""), ports=PortModel.ALL_PORT)
    assert (schedule.collective, schedule.steps) == ("all-gather", 2)


def test_trees_on_another_network() -> None:
    setting = Setting(topology=mesh((3, 1)), words=2)
    schedule = read_forestcoll_on(InputFile("f.xml", CHAINS.encode()), setting)
    schedule.check()
    assert (schedule.collective, schedule.sends) == ("all-gather", 6)
    setting = Setting(topology=hypercube(3), words=2)
    schedule = read_forestcoll_on(InputFile("f.xml", CHAINS.encode()), setting)
    assert (schedule.collective, *schedule.blocks.owed) == ("custom", *[(0, 1, 2)] * 3)


def test_chunks_of_a_root_go_by_its_trees_in_turn() -> None:
    both = [
        tree(root, 1, *(send(root, gpu) for gpu in range(3) if gpu != root), chunks=n, index=n - 1)
        for root in range(3)
        for n in (1, 2)
    ]
    schedule = alone(forest(*both, each=3))
    assert len(schedule.blocks) == 9
    assert sorted(len(range(*pair)) for pair in _pieces(schedule)) == [1] * 6 + [2] * 6


def _pieces(schedule: Schedule) -> list[tuple[int, int]]:
    bounds = schedule.block_offsets.tolist()
    return list(itertools.pairwise(bounds))


def test_files_of_it_are_recognised() -> None:
    assert format_of(InputFile("x", CHAINS.encode())) is FORESTCOLL


REFUSED = {
    "another": ("<algo/>", "line 1: <algo>: must be an <Algo>"),
    "no trees": (forest(), "line 1: <Algo>: must have trees of two roots at least"),
    "unknown name": (
        CHAINS.replace("dst=\"(0, 'GPU', 0)", "dst=\"(9, 'GPU', 0)"),
        "line 7: <send>: dst must be (0, 'GPU', 0), (0, 'GPU', 1) or (1, 'GPU', 0), not ",
    ),
    "twice": (
        forest(tree(0, 1, send(0, 1), send(0, 1)), tree(1, 1, send(1, 0))),
        "line 4: <send>: dst must be reached once in its tree, not (0, 'GPU', 1) again",
    ),
    "not all": (
        forest(tree(0, 1, send(0, 1)), tree(1, 1), tree(2, 1)),
        "line 2: <tree>: must reach every root, and has no send to (1, 'GPU', 0)",
    ),
    "circle": (
        forest(tree(0, 1, send(1, 2), send(2, 1)), tree(1, 1), tree(2, 1)),
        "line 2: <tree>: its sends must begin at its root, not go in a circle",
    ),
    "height": (
        CHAINS.replace('height="2"', 'height="3"', 1),
        "line 2: <tree>: height must be 2 to 2, not '3'",
    ),
    "path": (
        CHAINS.replace(f'path="{GPUS[0]}', f'path="{GPUS[2]}', 1),
        "line 4: <send>: path must be from (0, 'GPU', 0) to (0, 'GPU', 1), to no place twice",
    ),
    "chunks": (
        CHAINS.replace('nchunkspernode="1"', 'nchunkspernode="2"'),
        "line 1: <Algo>: nchunks of all trees of root (0, 'GPU', 0) must be 2, nchunkspernode, not",
    ),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_with_its_line(text: str, line: str) -> None:
    assert refusal_of(alone, text).startswith(f"f.xml, {line}")
