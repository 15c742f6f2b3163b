"""C on a simulated chip: applications beside Python, and programs that do not end well."""

import re
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from helpers.command import Answer, Command, printed_result

APPLICATIONS = Path(__file__).parents[2] / "examples" / "risc_v"
needs_compiler = pytest.mark.skipif(
    find_spec("ziglang") is None, reason="pip install 'eyecast[chip]'"
)


def run(eyecast: Command, here: Path, body: str, *options: str) -> Answer:
    """Run a C program on a chip of 2x2 tiles, whose simulator all tests share."""
    (here / "app.c").write_text(f"#include <ey.h>\n{dedent(body)}")
    return eyecast("chip", "app.c", "--mesh", "2x2", *options)


def console(answer: Answer) -> dict[int, list[str]]:
    """Return the lines of each tile."""
    found: dict[int, list[str]] = {}
    for tile, line in re.findall(r"^tile (\d+): (.*)$", answer.output, re.M):
        found.setdefault(int(tile), []).append(line)
    return found


def by_k_means() -> str:
    """Return what `k_means.c` prints."""
    points = []
    for rank in range(16):
        state = rank + 1
        for _ in range(24):
            drawn = []
            for _ in range(3):
                state = (state * 1664525 + 1013904223) % (1 << 32)
                drawn.append(state >> 16)
            cluster = drawn[0] % 4
            points.append([cluster % 2 * 600 + drawn[1] % 300, cluster // 2 * 600 + drawn[2] % 300])
    centres = np.array([[200 + 150 * c, 200 + 100 * c] for c in range(4)])
    step, moved = 0, True
    while moved:
        step += 1
        nearest = ((np.array(points)[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        means = np.array(
            [np.array(points)[nearest == c].sum(axis=0) // (nearest == c).sum() for c in range(4)]
        )
        moved, centres = bool((means != centres).any()), means
    return f"{step} steps:" + "".join(f" ({x}, {y})" for x, y in centres.tolist())


def by_matrix_vector() -> str:
    """Return what `matrix_vector.c` prints."""
    row, column = np.mgrid[:64, :64]
    product = ((7 * row + column) % 11) @ (3 * np.arange(64) - 50)
    total = 0
    for each in product.tolist():
        total = (31 * total + each) % (1 << 32)
    return f"y[0] = {product[0]}, y[63] = {product[63]}, all: {total:x}"


def by_jacobi() -> str:
    """Return the degrees that `jacobi.c` prints at tile 0, after the same steps."""
    plate = np.zeros((18, 18), np.float32)
    plate[0, 1:-1] = 100
    four = np.float32(4)
    for _ in range(25):
        around = plate[:-2, 1:-1] + plate[2:, 1:-1]
        plate[1:-1, 1:-1] = (around + plate[1:-1, :-2] + plate[1:-1, 2:]) / four
    return f"25 steps, {plate[2, 2]:.6f} degrees in the middle"


def by_sort() -> dict[int, str]:
    """Return what `bitonic_sort.c` prints at each tile."""
    numbers = []
    for rank in range(16):
        state = 12345 + 977 * rank
        for _ in range(16):
            state = (state * 1664525 + 1013904223) % (1 << 32)
            numbers.append(state >> 20)
    parts = np.sort(numbers).reshape(16, 16)
    return {rank: f"{part[0]} ... {part[-1]}" for rank, part in enumerate(parts.tolist())}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("circuits", [(), ("--circuits",)], ids=["packets", "circuits"])
@pytest.mark.parametrize("name", ["jacobi", "k_means", "matrix_vector", "bitonic_sort"])
def test_applications(eyecast: Command, name: str, circuits: tuple[str, ...]) -> None:
    answer = eyecast("chip", APPLICATIONS / f"{name}.c", "--mesh", "4x4", "--check", *circuits)
    assert answer.status == 0, answer.errors
    found = console(answer)
    assert found.keys() == {*range(16)}
    if name == "jacobi":
        assert found[0] == [by_jacobi()]
    elif name == "bitonic_sort":
        assert found == {rank: [line] for rank, line in by_sort().items()}
    else:
        line = by_k_means() if name == "k_means" else by_matrix_vector()
        assert {each for lines in found.values() for each in lines} == {line}
    assert re.search(r"as predicted: \d+ collectives, to the cycle", answer.output)


@pytest.mark.slow
@needs_compiler
def test_json_and_timelines(eyecast: Command, here: Path) -> None:
    body = """
        int main(void) {
            int words[4] = {ey_rank(), 2, 3, 4};
            ey_allreduce(EY_IN_PLACE, words, 4, EY_INT, EY_SUM);
            ey_print("%d %u %x %c %s %f %%\\n", -words[0], words[1], words[2], 'c', "text", -1.5);
            return 0;
        }
    """
    result: Any = printed_result(run(eyecast, here, body, "--check", "--json").output)
    assert {each["line"] for each in result["console"]} == {"-6 8 c c text -1.500000 %"}
    assert [each["collective"] for each in result["collectives"]] == ["allreduce 4 int sum"]
    assert result["checked"]["collectives"] == 1
    for name, begin in (("t.svg", "<?xml"), ("t.perfetto.json", '{"traceEvents"')):
        assert run(eyecast, here, body, "-o", name).status == 0
        assert (here / name).read_text().startswith(begin)


FAILURES = {
    "int main(void) { ey_barrier(); if (ey_rank() == 2) __builtin_trap(); return 0; }": (
        r"tile 2 has trapped in main\+\d+"
    ),
    "int main(void) { ey_barrier(); *(volatile int *)0x30000000 = 1; return 0; }": (
        "tile . has asked for the address 0x30000000, where nothing is"
    ),
    "int main(void) { ey_barrier(); return ey_rank() == 3 ? 5 : 0; }": (
        "tile 3 has ended with status 5"
    ),
    "int main(void) { if (ey_rank() != 1) ey_barrier(); return 0; }": (
        "waiting for ever: tile 0 for barrier 1, .*tile 3 for barrier 1; ended: tiles 1"
    ),
    """int main(void) {
        int words[2];
        if (ey_rank() == 1) ey_bcast(words, 2, EY_INT, 0);
        else ey_barrier();
        return 0;
    }""": r"tile 1 calls another collective than tile 0, which runs barrier 1 "
    r"\(tile 1 is in bcast 2 0\)",
}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("body", FAILURES)
def test_programs_that_do_not_end_well(eyecast: Command, here: Path, body: str) -> None:
    answer = run(eyecast, here, body)
    assert answer.status == 1
    assert re.search(FAILURES[body], answer.errors), answer.errors


REFUSED = {
    "int main(void) { return 0 }": "error: expected ';' after return statement",
    "int main(void) { return 0; }": "collectives of the C program must be 1 to 15",
    "int large[20000]; int main(void) { ey_barrier(); return large[ey_rank()]; }": (
        "the C program must be at most 61440 bytes, with 4096 for the stack, not "
    ),
    "int main(void) { float w[2]; ey_reduce(w, w, 2, EY_FLOAT, EY_MAX, 0); return 0; }": (
        "operator of ey_reduce in the C program must be sum of float"
    ),
    "int main(void) { return *(int *)EY_WORDS(alltoall, 4); }": "undefined symbol: ey__alltoall__4",
}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("body", REFUSED)
def test_programs_that_are_refused(eyecast: Command, here: Path, body: str) -> None:
    answer = run(eyecast, here, body)
    assert (answer.status, answer.output) == (2, "")
    assert REFUSED[body] in answer.errors


def test_what_is_refused_before_the_compiler(eyecast: Command, here: Path) -> None:
    (here / "app.txt").write_text("")
    refused = eyecast("chip", "app.txt", "--mesh", "2x2")
    missing = eyecast("chip", "app.c", "--mesh", "2x2")
    assert (refused.status, missing.status) == (2, 2)
    if find_spec("ziglang") is not None:
        assert "the program must be a file that ends in .c, not app.txt" in refused.errors
        assert "app.c" in missing.errors
    picture = eyecast("chip", "app.c", "--mesh", "2x2", "-o", "t.pdf")
    assert picture.status == 2
