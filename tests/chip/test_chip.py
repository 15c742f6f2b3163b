"""C on a simulated chip: applications beside Python, and programs that do not end well."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from helpers.command import Answer, Command, printed_result
from ml_dtypes import bfloat16

APPLICATIONS = Path(__file__).parents[2] / "examples" / "risc_v"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "chip.md"
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


RUNS, TILES = 10, 16
CENTRES = np.array([[200 + 150 * c, 200 + 100 * c] for c in range(4)])


def drawn(rank: int, run: int) -> Iterator[int]:
    """Yield the numbers that a tile draws, as in `drawn.h`."""
    state = 1 + rank + 100 * run
    while True:
        state = (state * 1664525 + 1013904223) % (1 << 32)
        yield state >> 16


def draw(run: int, count: int) -> np.ndarray:
    """Return the first ``count`` numbers of each tile."""
    return np.array([[*islice(drawn(rank, run), count)] for rank in range(TILES)])


def digest(words: np.ndarray) -> str:
    """Return the digest of words, as in `drawn.h`."""
    total = 0
    for word in words.ravel().tolist():
        total = (31 * total + word) % (1 << 32)
    return f"digest {total:x}"


def by_k_means(run: int) -> list[str]:
    """Return what `k_means.c` prints at each tile."""
    cluster, *places = draw(run, 72).reshape(-1, 3).T
    points = np.stack([cluster % 4 % 2 * 600, cluster % 4 // 2 * 600], axis=1)
    points += np.stack(places, axis=1) % 300
    centres, steps, moved = CENTRES, 0, True
    while moved:
        steps += 1
        nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        groups = [points[nearest == c] for c in range(4)]
        pairs = zip(groups, centres, strict=True)
        means = np.array([of.sum(axis=0) // len(of) if len(of) else c for of, c in pairs])
        moved, centres = bool((means != centres).any()), means
    return [f"{steps} steps:" + "".join(f" ({x}, {y})" for x, y in centres.tolist())] * TILES


def by_matrix_vector(run: int) -> list[str]:
    """Return what `matrix_vector.c` prints at each tile."""
    numbers = draw(run, 96) % 1000 - 500
    vector, rows = numbers[0, :32].copy(), numbers[:, :64].copy()
    rows[0] = numbers[0, 32:]
    product = rows.reshape(32, 32) @ vector
    return [f"{product[0]} ... {product[-1]}, {digest(product)}"] * TILES


def by_bitonic_sort(run: int) -> list[str]:
    """Return what `bitonic_sort.c` prints at each tile."""
    parts = np.sort(draw(run, 16), axis=None).reshape(16, 16)
    return [f"{part[0]} ... {part[-1]}, {digest(part)}" for part in parts]


def by_jacobi(run: int) -> list[str]:
    """Return what `jacobi.c` prints at each tile."""
    plate = np.zeros((18, 18), np.float32)
    plate[0, 1:-1] = 100
    blocks = draw(run, 16).reshape(4, 4, 4, 4) % 100
    plate[1:-1, 1:-1] = blocks.swapaxes(1, 2).reshape(16, 16)
    steps, change = 0, LIMIT + 1.0
    while change > LIMIT:
        around = plate[:-2, 1:-1] + plate[2:, 1:-1]
        after = (around + plate[1:-1, :-2] + plate[1:-1, 2:]) / np.float32(4)
        steps, change = steps + 1, ((after - plate[1:-1, 1:-1]) ** 2).sum()
        plate[1:-1, 1:-1] = after
    tiles = after.reshape(4, 4, 4, 4).swapaxes(1, 2).reshape(16, 16)
    shown = np.floor(tiles[:, 0].astype(float) * 1e6 + 0.5) / 1e6
    digests = [digest(of.view(np.uint32)) for of in tiles]
    return [f"{steps} steps, {x:.6f} degrees, {d}" for x, d in zip(shown, digests, strict=True)]


LIMIT = 25000
"""The change of all points after which `jacobi.c` ends."""
EXPECTED = {
    "jacobi": by_jacobi,
    "k_means": by_k_means,
    "matrix_vector": by_matrix_vector,
    "bitonic_sort": by_bitonic_sort,
}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("jacobi", "circuits"),
        ("k_means", "circuits"),
        ("matrix_vector", "packets"),
        ("bitonic_sort", "packets"),
    ],
)
def test_applications(eyecast: Command, here: Path, name: str, network: str) -> None:
    """On ten drawn inputs, the applications print what NumPy finds."""
    source = (APPLICATIONS / f"{name}.c").as_posix()
    (here / "app.c").write_text(f'#define RUNS {RUNS}\n#include "{source}"\n')
    circuits = ("--circuits",) if network == "circuits" else ()
    answer = eyecast("chip", "app.c", "--mesh", "4x4", "--check", *circuits)
    assert answer.status == 0, answer.errors
    expected = zip(*(EXPECTED[name](run) for run in range(RUNS)), strict=True)
    assert console(answer) == {rank: [*lines] for rank, lines in enumerate(expected)}
    assert re.search(r"as predicted: \d+ collectives, to the cycle", answer.output)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", EXPECTED)
def test_the_table_of_the_guide(eyecast: Command, name: str) -> None:
    """With collectives in software, the applications print the same, later."""
    taken = []
    for circuits in ((), ("--circuits",)):
        for version in ("", "_naive"):
            source = APPLICATIONS / f"{name}{version}.c"
            answer = eyecast("chip", source, "--mesh", "4x4", "--json", *circuits)
            result: Any = printed_result(answer.output)
            lines = {each["tile"]: each["line"] for each in result["console"]}
            assert lines == dict(enumerate(EXPECTED[name](0)))
            taken.append(result["cycles"])
    (row,) = re.findall(rf"^\| `{name}\.c` \|(.*)\|$", GUIDE.read_text(), re.M)
    assert [int(cell.replace(",", "")) for cell in row.split("|")] == taken


@pytest.mark.slow
@needs_compiler
def test_calls_without_copies_cost_few_cycles(eyecast: Command, here: Path) -> None:
    """From one ``ey_wtime`` to the next, calls take few cycles more than their programs."""
    (here / "app.c").write_text("""
        #include <ey.h>
        int main(void) {
            int *sums = (int *)EY_WORDS(allreduce, 16, EY_INT, EY_SUM);
            for (int i = 0; i < 16; i++) sums[i] = i;
            ey_barrier();
            ey_barrier();
            unsigned begin = ey_wtime();
            ey_barrier();
            unsigned middle = ey_wtime();
            ey_barrier();
            unsigned last = ey_wtime();
            ey_allreduce(EY_IN_PLACE, sums, 16, EY_INT, EY_SUM);
            unsigned end = ey_wtime();
            if (ey_rank() == 0) ey_print("%d %d %d\\n", middle - begin, end - last, sums[15]);
            return 0;
        }
    """)
    answer = eyecast("chip", "app.c", "--mesh", "4x4", "--circuits", "--json")
    result: Any = printed_result(answer.output)
    (line,) = (each["line"] for each in result["console"])
    *_, barrier, all_reduce = (each["cycles"] for each in result["collectives"])
    taken = [int(each) for each in line.split()]
    assert (taken[0] - barrier, taken[1] - all_reduce, taken[2]) == (38, 56, 16 * 15)


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
    for tile in result["tiles"]:
        assert tile["waits"] + tile["collectives"]["allreduce 4 int sum"] == tile["exposed"]
        assert tile["computes"] + tile["exposed"] == tile["end"]
    begins = (("t.svg", "<?xml"), ("t.perfetto.json", '{"traceEvents"'))
    for name, begin in begins:
        assert run(eyecast, here, body, "-o", name, "--report", "t.html").status == 0
        assert (here / name).read_text().startswith(begin)
        assert "<title>app.c on the 2x2 mesh" in (here / "t.html").read_text()


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("circuits", [(), ("--circuits",)], ids=["packets", "circuits"])
def test_vectors_are_summed_as_numpy_sums_them(
    eyecast: Command, here: Path, circuits: tuple[str, ...]
) -> None:
    """An all-reduce of vectors of bfloat16 numbers, and one of bytes that overflow."""
    draw = np.random.default_rng(4)
    floats, small = draw.integers(-9, 9, (4, 8)).astype(bfloat16) / 4, draw.bytes(4 * 8)
    numbers = np.frombuffer(small, np.uint8).reshape(4, 8)
    tables = [", ".join(map(str, each.view(np.uint32).ravel())) for each in (floats, numbers)]
    body = f"""
        static const unsigned floats[] = {{{tables[0]}}}, numbers[] = {{{tables[1]}}};
        int main(void) {{
            unsigned sums[4], bytes[2];
            ey_allreduce(floats + 4 * ey_rank(), sums, 4, EY_BFLOAT16X2, EY_SUM);
            ey_allreduce(numbers + 2 * ey_rank(), bytes, 2, EY_UINT8X4, EY_SUM);
            ey_print("%x %x %x %x\\n", sums[0], sums[1], sums[2], sums[3]);
            ey_print("%x %x\\n", bytes[0], bytes[1]);
            return 0;
        }}
    """
    answer = run(eyecast, here, body, "--check", *circuits)
    assert answer.status == 0, answer.errors
    sums = (each.sum(axis=0, dtype=each.dtype).view(np.uint32) for each in (floats, numbers))
    lines = [" ".join(f"{word:x}" for word in words.tolist()) for words in sums]
    assert console(answer) == dict.fromkeys(range(4), lines)


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
        "waiting for ever: tiles 0, 2, 3 in barrier 1; tile 1 ended without it"
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
        (here / "app.c").write_text("int main(void) { return 0; }")
        faulty = eyecast("chip", "app.c", "--mesh", "2x2", "--faulty-node", "3")
        assert "no switch and no faulty node, not without tile 3" in faulty.errors
        assert "2 or more, not 1" in eyecast("chip", "app.c", "--mesh", "1x1").errors
    picture = eyecast("chip", "app.c", "--mesh", "2x2", "-o", "t.pdf")
    assert picture.status == 2
