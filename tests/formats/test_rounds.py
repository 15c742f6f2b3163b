"""Rounds in a CSV file: what the reader makes of it, and each refusal."""

import pytest
from helpers.refusals import refusal_of

import eyecast
from eyecast.formats.format import Setting
from eyecast.formats.rounds import read_rounds
from eyecast.model.base.files import InputFile
from eyecast.model.schedule.file import schedule_json

HEADER = "round,source,target,blocks,combine\n"
HALVING = f"""collective,all-reduce
pieces,4
{HEADER}
1,0,1,1 3,1
1,1,0,0 2,1
1,2,3,1 3,1
1,3,2,0 2,1
2,0,2,2,1
2,2,0,0,1
2,1,3,3,1
2,3,1,1,1
"""
BACK = "".join(
    f"{3},{a},{b},{own},\n" for a, b, own in ((0, 2, 0), (2, 0, 2), (1, 3, 1), (3, 1, 3))
)
LAST = "".join(f"4,{a},{b},{own},\n" for a, b, own in ((0, 1, "0 2"), (1, 0, "1 3")))
REST = "".join(f"4,{a},{b},{own},\n" for a, b, own in ((2, 3, "0 2"), (3, 2, "1 3")))


def read(text: str) -> eyecast.Schedule:
    setting = Setting(topology=eyecast.mesh((2, 2)), words=8)
    return read_rounds(InputFile("halving.csv", text.encode()), setting)


def test_a_file_is_what_python_makes() -> None:
    lines = (HALVING + BACK + LAST + REST).splitlines()[4:]
    rounds: list[list[tuple[int, int, list[int], bool]]] = [[], [], [], []]
    for line in lines:
        number, source, target, blocks, combine = line.split(",")
        send = int(source), int(target), [*map(int, blocks.split())], combine == "1"
        rounds[int(number) - 1].append(send)
    made = eyecast.schedule_of_rounds(
        *(eyecast.mesh((2, 2)), rounds),
        **{"collective": "all-reduce", "pieces": 4, "words": 8, "name": "halving"},
    )
    found = read(HALVING + BACK + LAST + REST)
    found.check()
    assert schedule_json(found) == schedule_json(made)
    # Blocks 0 and 2, and 1 and 3, are adjacent: each round is a step of one row a send.
    assert (found.steps, eyecast.predict(found).cycles) == (4, 35)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HEADER, ": rounds must be one send or more, not none"),
        (f"{HEADER}1,0,1,0,\n", ": collective must be given in the first lines"),
        ("collective,sum\n" + HEADER + "1,0,1,0,\n", ": collective must be broadcast"),
        ("colour,red\n", ", line 1: must be round,source,target,blocks,combine, or a name"),
        (HALVING + "1,0,4,0,\n", ", line 13: target must be 0 to 3, not 4"),
        (HALVING + "1,0,0,0,\n", ", line 13: target must be another node than the source, not 0"),
        (HALVING + "1,0,1,x,\n", ", line 13: blocks must be numbers or ranges such as 4-7"),
        (HALVING + "1,0,1,2-1,\n", ", line 13: blocks must be numbers or ranges such as 4-7"),
        (HALVING + "1,0,1,0,2\n", ", line 13: combine must be 0 to 1, not 2"),
        (HALVING + "1,0 1,1,0,\n", ", line 13: source must be a number, not '0 1'"),
        (HALVING + "1,0,1,0\n", ", line 13: must have 5 columns, not 4"),
        (HALVING + "1,0,1,4,1\n", ": blocks of send 4 of round 0 must be 0 to 3, not 4"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(text: str, complaint: str) -> None:
    def checked() -> None:
        read(text).check()

    assert refusal_of(checked).startswith(f"halving.csv{complaint}")
