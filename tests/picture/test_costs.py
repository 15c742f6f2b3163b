"""Pictures of costs on hypercubes: every point against the printed formulas."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.johnsson_ho_tables import table_4_time, table_11
from matplotlib.figure import Figure

from eyecast.model.base.errors import InvalidInput
from eyecast.picture.costs import (
    BYTE,
    DIMENSIONS,
    EACH,
    MESSAGE,
    PACKET,
    START_UP,
    draw_speed_up,
    draw_times,
    speed_up,
)
from eyecast.picture.file import save_picture


def points(figure: Figure, name: str) -> list[tuple[float, float]]:
    lines = [line for axes in figure.axes for line in axes.lines if line.get_gid() == name]
    assert len(lines) == 1
    return [(float(x), float(y)) for x, y in lines[0].get_xydata()]


def broadcast(graph: str, n: int, words: int, packet: int) -> float:
    """Return T in seconds by Table 4, with the times of section 8.1: 8 ms, 8 bits at 10 Mbit/s."""
    start_ups, moved = table_4_time(n, words, packet, 0, 0)[graph]
    return start_ups * 0.008 + moved * 8 / 10e6


def test_times_of_the_ipsc() -> None:
    assert pytest.approx((0.008, 8 / 10e6)) == (START_UP, BYTE)


def test_figure_15_is_table_4() -> None:
    times = draw_times("broadcast")
    for number, n in enumerate((2, 3, 4, 5, 6)):
        found = points(times, f"line-1-{number}")
        assert [x for x, _ in found] == [32, 64, 128, 256, 512, 1024]
        assert [y for _, y in found] == pytest.approx(
            [n * (MESSAGE // b * 0.008 + MESSAGE * 8 / 10e6) for b in (32, 64, 128, 256, 512, 1024)]
        )


def test_figure_16_is_table_4() -> None:
    times = draw_times("broadcast")
    for number, graph in enumerate(("sbt", "nesbt")):
        for n, y in points(times, f"line-0-{number}")[1:]:
            assert y == pytest.approx(broadcast(graph, int(n), MESSAGE, PACKET))


def test_figure_18_is_table_7() -> None:
    """SBT takes N - 1 messages of one packet each; SBnT takes longer, as in section 5.2."""
    times = draw_times("scatter")
    for n, y in points(times, "line-0-0"):
        assert y == pytest.approx((2**n - 1) * (0.008 + EACH * 8 / 10e6))
    sbt, sbnt = (np.array(points(times, f"line-0-{number}"))[:, 1] for number in (0, 1))
    assert (sbnt >= sbt).all()
    assert (sbnt[1:] > sbt[1:]).all()


def test_figure_19_is_table_11() -> None:
    """All graphs are equal to first order (section 8.4): SBnT has at most n more start-ups."""
    times = draw_times("all-gather")
    for number, graph in enumerate(("brg", "sbt")):
        for n, y in points(times, f"line-0-{number}")[1:]:
            start_ups, words = table_11(int(n), EACH, PACKET, 0, 0)[graph]
            assert y == pytest.approx(start_ups * 0.008 + words * 8 / 10e6)
    sbt, sbnt = (np.array(points(times, f"line-0-{number}")) for number in (1, 2))
    more = (sbnt - sbt)[:, 1]
    assert (more >= 0).all()
    assert (more <= sbt[:, 0] * START_UP + 1e-12).all()


def test_figure_17_rises_to_n() -> None:
    """By section 8.2 the ratio is about n; for a single packet it is n / (n + 1) (Table 6)."""
    figure = draw_speed_up()
    for number, words in enumerate((1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18)):
        for n, y in points(figure, f"line-0-{number}"):
            if n > 2:
                sbt, nesbt = (broadcast(g, int(n), words, PACKET) for g in ("sbt", "nesbt"))
                assert y == pytest.approx(sbt / nesbt)
    assert [x for x, _ in points(figure, "line-0-0")] == [*DIMENSIONS]
    assert [y for _, y in points(figure, "line-0-0")] == pytest.approx(
        [n / (n + 1) for n in DIMENSIONS]
    )
    assert speed_up(6, 1 << 24, PACKET, START_UP, BYTE) == pytest.approx(6, rel=1e-2)


def test_a_short_message_is_one_short_packet() -> None:
    assert speed_up(4, 10, 1024, 1, 1) == speed_up(4, 10, 10, 1, 1)


def test_other_cubes_and_times(tmp_path) -> None:
    figure = draw_times("scatter", (3, 7), tau=1, tc=0)
    assert points(figure, "line-0-0") == [(3, 7), (7, 127)]
    figure = draw_times("all-to-all", (3, 7), tau=0, tc=2)
    assert points(figure, "line-0-0") == [(3, 2 * 3 * 4 * EACH), (7, 2 * 7 * 64 * EACH)]
    figure = draw_speed_up((3, 7), (5, 6, 7), packet=1, tau=1, tc=0)
    assert points(figure, "line-0-2") == [(3, 21 / 10), (7, 49 / 14)]
    save_picture(figure, tmp_path / "a.svg")
    assert 'id="line-0-2"' in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_a_cube_of_two_nodes_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^dimension for nesbt, one-port must be at least 2"):
        draw_speed_up((1, 2))
