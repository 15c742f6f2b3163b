"""MSCCL XML: its collective is recognized from its moves; a wrong file is refused by line."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.algorithms import (
    algorithm,
    all_to_all_reduce,
    chain_reduce,
    promises,
    read,
    refusal,
    relayed,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    step,
    threadblock,
)
from helpers.every_schedule import every_schedule
from helpers.foreign import said
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.formats.msccl import MSCCL
from eyecast.formats.msccl_writer import MOST_STEPS, write_msccl
from eyecast.formats.registry import format_of
from eyecast.formats.xml_file import LARGEST_XML
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PORT_MODELS, PortModel
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import COLLECTIVES
from eyecast.model.schedule.schedule import Schedule

PAIR = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0"))]
HEARS = [threadblock(0, -1, 0, 0, step(0, "r", "i0", "o0"))]

CIRCLE = [
    threadblock(number, -1, -1, 0, step(0, "nop", "i0", "o0", depid=1 - number, deps=0, hasdep=1))
    for number in range(2)
]


def test_a_ring_is_an_all_gather_in_as_many_steps_as_it_has_links() -> None:
    schedule = read(ring_all_gather(4), torus((4,)))
    assert (schedule.collective, schedule.algorithm, schedule.root) == ("all-gather", "mine", None)
    assert (schedule.steps, schedule.sends, len(schedule.blocks)) == (3, 12, 4)
    assert schedule.blocks.words.tolist() == [3] * 4
    assert schedule.port_model == PortModel.FULL_DUPLEX


def test_unknown_attributes_are_passed_over_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    text = relayed().replace("<tb ", '<tb ld="1" ').replace("<algo ", '<algo maxcount="2" ')
    assert promises(read(text, line(3))) == promises(read(relayed(), line(3)))
    names = "maxcount of <algo>, ld of <tb>"
    assert said(caplog) == [f"a.xml: passed over, as they move nothing: {names}"]


@pytest.mark.parametrize("port_model", PORT_MODELS)
def test_every_port_model_has_steps_of_its_own(port_model: PortModel) -> None:
    assert read(ring_all_gather(6), mesh((3, 2)), ports=port_model).port_model == port_model


def test_ranks_are_the_working_nodes_in_order() -> None:
    schedule = read(ring_all_gather(3), with_faults(mesh((2, 2)), [1], []))
    assert promises(schedule) == [(0, (2, 3)), (2, (0, 3)), (3, (0, 2))]
    assert schedule.collective == "all-gather"


def test_on_a_larger_network_the_collective_is_custom() -> None:
    schedule = read(ring_all_gather(3), mesh((2, 2)))
    assert schedule.collective == "custom"
    assert promises(schedule) == [(0, (1, 2)), (1, (0, 2)), (2, (0, 1))]


def test_scratch_disappears_and_the_order_stays() -> None:
    schedule = read(relayed(), line(3))
    assert schedule.step.tolist() == [1, 2]
    assert promises(schedule) == [(0, (2,))]


def test_a_broadcast_has_the_root_whose_input_all_outputs_are() -> None:
    sends = [threadblock(n, to, -1, 0, step(0, "s", "i0", "o0")) for n, to in enumerate((0, 2))]
    copies = threadblock(2, -1, -1, 0, step(0, "cpy", "i0", "o0"))
    hears = [threadblock(0, -1, 1, 0, step(0, "r", "i0", "o0"))]
    schedule = read(algorithm("broadcast", [hears, [*sends, copies], hears], "1 1 0", 1), line(3))
    assert (schedule.collective, schedule.root, schedule.steps) == ("broadcast", 1, 2)


def test_an_all_to_all_in_two_counts() -> None:
    gpus = [
        [
            threadblock(0, 1 - rank, 1 - rank, 0, *both),
            threadblock(1, -1, -1, 0, step(0, "cpy", f"i{2 * rank}", f"o{2 * rank}", cnt=2)),
        ]
        for rank, both in enumerate(
            [
                step(0, "s", f"i{2 * (1 - rank)}", f"o{2 * rank}", cnt=2),
                step(1, "r", f"i{2 * rank}", f"o{2 * (1 - rank)}", cnt=2),
            ]
            for rank in range(2)
        )
    ]
    schedule = read(algorithm("alltoall", gpus, "4 4 0", 4), line(2))
    assert (schedule.collective, schedule.steps, schedule.sends) == ("all-to-all", 1, 2)
    assert len(schedule.blocks) == 8


REFUSED = {
    "broken": ("<algo", "line 1: must be XML: "),
    "nothing": ("", "line 1: must be XML: "),
    "another": ("<svg/>", "line 1: <svg>: must be an <algo>"),
    "entities": (
        '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "c">]><algo/>',
        "line 2: XML must be without a DOCTYPE",
    ),
    "deep": ("<algo>" * 3000 + "</algo>" * 3000, "line 1: must be XML: Excessive depth"),
    "reducing": (
        algorithm("allreduce", [PAIR, HEARS], "1 1 0", 1),
        "line 1: <algo>: allreduce: o[0] of gpu 0 must end",
    ),
    "reducing step": (
        algorithm("broadcast", [PAIR, [HEARS[0].replace('"r"', '"rrc"')]], "1 1 0", 1),
        "line 9: <step>: type must be one that copies in broadcast, not rrc",
    ),
    "unknown attribute": (
        relayed().replace("nchannels", "colour"),
        "line 1: <algo>: must have nchannels",
    ),
    "unknown word": (
        relayed().replace('proto="', 'redop="prod" proto="'),
        "line 1: <algo>: redop must be sum, min, max or nop, not 'prod'",
    ),
    "not a number": (
        relayed().replace('srcoff="1"', 'srcoff="1e3"', 1),
        "line 4: <step>: srcoff must be 0 to 1, not '1e3'",
    ),
    "out of range": (
        relayed().replace('srcoff="1"', 'srcoff="2"', 1),
        "line 4: <step>: srcoff must be 0 to 1, not '2'",
    ),
    "never owned": (
        relayed().replace('srcbuf="i" srcoff="1"', 'srcbuf="o" srcoff="1"', 1),
        "line 4: <step>: o[1] of gpu 0 must hold a chunk by then, not nothing",
    ),
    "receive without send": (
        algorithm("custom", [[], HEARS], "1 1 0", 1),
        "line 6: <step>: gpu 0 sends nothing more for it on channel 0",
    ),
    "send without receive": (
        algorithm("custom", [PAIR, []], "1 1 0", 1),
        "line 4: <step>: gpu 1 never receives it from gpu 0 on channel 0",
    ),
    "a circle": (
        algorithm("custom", [CIRCLE], "1 1 0", 1),
        "line 4: <step>: must not wait in a circle: for line 7, 4",
    ),
    "a race": (
        relayed().replace('depid="0" deps="0"', 'depid="-1" deps="-1"'),
        "line 12: <step>: must wait for line 9, which writes s[0] of gpu 1",
    ),
    "a race to be last": (
        algorithm(
            "custom",
            [
                [threadblock(0, 2, -1, 0, step(0, "s", "i0", "o0"))],
                [threadblock(0, 2, -1, 0, step(0, "s", "i0", "o0"))],
                [
                    threadblock(0, -1, 0, 0, step(0, "r", "i0", "o0")),
                    threadblock(1, -1, 1, 0, step(0, "r", "i0", "o0")),
                ],
            ],
            "1 1 0",
            1,
        ),
        "line 17: <step>: must wait for line 14, which writes o[0] of gpu 2",
    ),
    "waits for nothing": (
        relayed().replace('deps="0"', 'deps="1"'),
        "line 12: <step>: deps must be a step of tb 0, 0 to 0, not 1",
    ),
    "not awaitable": (
        relayed().replace('hasdep="1"', 'hasdep="0"'),
        "line 9: <step>: hasdep must be 1, as line 12 waits",
    ),
    "counts that differ": (
        algorithm("custom", [PAIR, [HEARS[0].replace('cnt="1"', 'cnt="2"')]], "2 2 0", 2),
        "line 9: <step>: cnt must be 1, as the send that it receives (line 4)",
    ),
    "a promise": (
        ring_all_gather(3).replace('type="cpy"', 'type="nop"', 1),
        "line 1: <algo>: allgather: o[0] of gpu 0 must end as i[0] of gpu 0, not as nothing",
    ),
    "a gpu twice": (
        relayed().replace('<gpu id="1"', '<gpu id="0"'),
        "line 7: <gpu>: id must be that of no other gpu, not 0",
    ),
    "a threadblock twice": (
        algorithm(
            "custom", [[PAIR[0], PAIR[0].replace('chan="0"', 'chan="1"')], HEARS], "1 1 0", 1
        ),
        "line 6: <tb>: id must be that of no other tb of gpu 0",
    ),
    "a circle of connections": (
        algorithm(
            "custom",
            [
                [
                    threadblock(0, other, -1, 0, step(0, "s", "i0", "o0", depid=1, deps=0)),
                    threadblock(1, -1, other, 0, step(0, "r", "i0", "o0", hasdep=1)),
                ]
                for other in (1, 0)
            ],
            "1 1 0",
            1,
        ),
        "line 4: <step>: must not wait in a circle: for line 7, 12, 15, 4",
    ),
    "two on a channel": (
        algorithm("custom", [[PAIR[0], PAIR[0].replace('id="0"', 'id="1"')], HEARS], "1 1 0", 1),
        "line 6: <tb>: must be the only tb of gpu 0 to gpu 1 on channel 0",
    ),
    "too many": (
        relayed().replace('nchunksperloop="2"', 'nchunksperloop="9999999999"'),
        "line 1: <algo>: nchunksperloop must be 1 to 1048576, not '9999999999'",
    ),
    "memory": (
        relayed().replace('i_chunks="2"', 'i_chunks="1048576"'),
        "line 1: <algo>: chunks of all inputs must be at most 1048576, not 3145728",
    ),
    "text": (
        relayed().replace("<tb", "words<tb", 1),
        "line 2: <gpu>: must hold no text, not 'word",
    ),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_with_its_line(text: str, line: str) -> None:
    assert refusal(text, mesh((2, 2))).startswith(f"a.xml, {line}")


def test_more_gpus_than_nodes_are_refused() -> None:
    said = "a.xml: ngpus must be at most 3, the working nodes of the line of 3, not 4"
    assert refusal(ring_all_gather(4), line(3)) == said


def test_what_is_too_long_is_refused_before_it_is_read() -> None:
    begin = time.process_time()
    text = "<algo " + " " * LARGEST_XML
    assert refusal(text, line(2)) == f"bytes of a.xml must be at most {LARGEST_XML}, not " + str(
        len(text)
    )
    assert time.process_time() - begin < 2


def test_files_of_it_are_recognised() -> None:
    assert format_of(InputFile("x", ring_all_gather(2).encode())) is MSCCL
    assert format_of(InputFile("x", b"<?xml version='1.0'?><!-- <b> -->\n<algo >")) is MSCCL


def round_trips(topology: Topology, tmp_path: Path) -> int:
    """Write and read every generated schedule of a network; return the number of schedules."""
    made = 0
    for collective in (each for each in COLLECTIVES if not each.reduces):
        for schedule in every_schedule(topology, collective, words=3):
            write_msccl(schedule, tmp_path / "out.xml")
            back = read((tmp_path / "out.xml").read_text(), topology)
            assert promises(back) == promises(schedule), (collective, schedule.algorithm)
            custom = collective in ("multicast", "scatter", "gather", "neighbor", "halo")
            assert back.collective == ("custom" if custom else collective)
            assert back.root == (None if custom else schedule.root)
            made += 1
    return made


@pytest.mark.parametrize("topology", [mesh((2, 2)), hypercube(3)], ids=["mesh", "cube"])
def test_what_is_written_delivers_the_same_when_it_is_read(
    topology: Topology, tmp_path: Path
) -> None:
    assert round_trips(topology, tmp_path) > 15


def test_a_gpu_copies_its_own_chunks_in_few_steps(tmp_path: Path) -> None:
    """MSCCL's executor allows at most 256 steps in a threadblock, and 71 chunks in a step."""
    schedule = pairs(3000)
    schedule.check()
    write_msccl(schedule, path := tmp_path / "a.xml")
    text = path.read_text()
    assert 'cnt="71"' in text
    assert max(int(found) for found in re.findall(r'<step s="(\d+)"', text)) < MOST_STEPS
    assert read(text, line(2)).collective == "all-to-all"


def pairs(blocks: int) -> Schedule:
    """Return an all-to-all of two nodes in one step, with ``blocks`` blocks for each other."""
    both = np.repeat([0, 1], blocks)
    return Schedule(
        topology=line(2),
        collective="all-to-all",
        algorithm="pairs",
        port_model=PortModel.FULL_DUPLEX,
        root=None,
        blocks=Blocks(both, tuple((1 - node,) for node in both.tolist()), np.full(2 * blocks, 2)),
        step=np.array([1, 1]),
        source=np.array([0, 1]),
        target=np.array([1, 0]),
        path_offsets=np.array([0, 2, 4]),
        path_nodes=np.array([0, 1, 1, 0]),
        vcs=np.array([0, 0]),
        block_offsets=np.array([0, blocks, 2 * blocks]),
        block_ids=np.arange(2 * blocks),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "topology",
    [torus((5, 3)), with_faults(mesh((3, 3)), [4], [])],
    ids=lambda topology: topology.label,
)
def test_larger_ones_too(topology: Topology, tmp_path: Path) -> None:
    assert round_trips(topology, tmp_path) > 0


MUTATED = [
    ring_all_gather(3),
    relayed(),
    ring_all_reduce(3),
    ring_reduce_scatter(3),
    all_to_all_reduce(3),
    chain_reduce(3),
]
PIECES = [*("0", "-1", "7", "99999999", '"', "<", "/>"), "<step/>", "rrcs", "&#0;", "\x00", "é"]


def mutated(base: str, places: list[tuple[float, int, str]]) -> str:
    """Replace some characters by another text at each given place."""
    text = base
    for part, length, piece in places:
        at = int(part * len(text))
        text = text[:at] + piece + text[at + length :]
    return text


PLACES = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 12), st.sampled_from(PIECES)),
    min_size=1,
    max_size=3,
)
NUMBERS = st.lists(st.tuples(st.integers(0, 400), st.integers(-2, 5)), min_size=1, max_size=3)


def renumbered(base: str, changes: list[tuple[int, int]]) -> str:
    """Replace the values of some numeric attributes."""
    pieces = base.split('="')
    for place, number in changes:
        at = 1 + place % (len(pieces) - 1)
        value, quote, rest = pieces[at].partition('"')
        if value.lstrip("-").isdigit():
            pieces[at] = f"{number}{quote}{rest}"
    return '="'.join(pieces)


def survives(text: str) -> None:
    """Require a correct schedule, or a refusal of one line."""
    try:
        read(text, line(3))
    except InvalidInput as error:
        assert str(error).startswith(("a.xml", "bytes of", "send ")), error
        assert "\n" not in str(error)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(MUTATED), PLACES)
def test_a_damaged_file_is_one_line(base: str, places: list[tuple[float, int, str]]) -> None:
    survives(mutated(base, places))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(MUTATED), NUMBERS)
def test_a_file_that_lies_is_one_line(base: str, changes: list[tuple[int, int]]) -> None:
    survives(renumbered(base, changes))


@pytest.mark.slow
@settings(max_examples=800, deadline=None)
@given(st.sampled_from(MUTATED), PLACES, NUMBERS)
def test_many_damaged_files_are_one_line(
    base: str, places: list[tuple[float, int, str]], changes: list[tuple[int, int]]
) -> None:
    survives(mutated(renumbered(base, changes), places))
    survives(renumbered(base, changes))
