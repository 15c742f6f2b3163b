"""The series of values that plots show."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
from helpers.sweeps import BROADCAST, sweep_of
from matplotlib.colors import to_hex

import eyecast as face
from eyecast.picture.style import STEPS
from eyecast.picture.sweep import draw_cycles, draw_latency, draw_pareto
from eyecast.sim.cache import PACKAGE
from eyecast.sweeps.series import Cost, costs, cycles_panels, latency_series, pareto_front
from eyecast.sweeps.table import COLUMNS


def row(**values: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"status": "done"} | values


LOADS = [
    row(kind="traffic", network="mesh 2x2", vcs=1, rate=rate, seed=seed, mean_latency=latency)
    for rate, seed, latency in ((0.2, 1, 9.0), (0.1, 1, 5.0), (0.1, 2, 7.0))
]


def test_latency_is_the_mean_over_seeds_in_order_of_load() -> None:
    series, saturation = latency_series(LOADS)
    assert series == {"": [(0.1, 6.0, None), (0.2, 9.0, None)]}
    assert saturation == {}


def test_series_are_named_by_what_differs() -> None:
    curve = {"kind": "saturation", "network": "mesh 2x2", "vcs": 2}
    found = row(**curve, part="saturation", saturation_rate=0.4, saturation_half_width=0.01)
    load = row(**curve, part="load", rate=0.3, mean_latency=8.0, latency_half_width=0.5)
    series, saturation = latency_series([*LOADS, found, load])
    assert list(series) == ["vcs 1", "vcs 2"]
    assert series["vcs 2"] == [(0.3, 8.0, 0.5)]
    assert saturation == {"vcs 2": (0.4, 0.01)}
    axes = draw_latency(series, saturation).axes[0]
    named = axes.get_legend_handles_labels()[1]
    assert sorted(named) == ["saturation 0.400 ± 0.010", "vcs 1", "vcs 2"]
    assert axes.get_yscale() == "log"


def test_cycles_over_words() -> None:
    rows = face.sweep(sweep_of(BROADCAST | {"words": [4, 1], "source": ["0,0", "1,1"]}))
    ((title, (series, bound)),) = cycles_panels(rows).items()
    (points,) = series.values()
    assert title == "mesh 2x2, broadcast" and [words for words, _ in bound] == [1, 4]
    assert [words for words, _ in points] == [1, 4]
    for words, cycles in points:
        both = [each["cycles"] for each in rows if each["words"] == words]
        assert cycles == sum(both) / 2
    axes = draw_cycles(cycles_panels(rows)).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_an_operator_is_said_once() -> None:
    sums = {"kind": "collective", "network": "mesh 2x2", "algorithm": "ring"}
    sums |= {"collective": "all-reduce", "operator": ["max", "xor"], "words": [4, 8]}
    titles = [f"mesh 2x2, all-reduce, {name}" for name in ("max", "xor")]
    assert list(cycles_panels(face.sweep(sweep_of(sums)))) == titles


def test_a_front_has_what_nothing_is_better_than() -> None:
    points = [
        Cost("small", 10, 90.0),
        Cost("worse", 12, 90.0),
        Cost("middle", 20, 50.0),
        Cost("slower", 20, 60.0),
        Cost("large", 40, 49.0),
        Cost("vain", 50, 49.0),
    ]
    front = pareto_front(points[::-1])
    assert [point.name for point in front] == ["small", "middle", "large"]
    axes = draw_pareto({"work": (points, front)}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["small", "middle", "large"]


def test_costs_of_one_work_are_together_and_those_without_luts_are_left_out() -> None:
    rows = [
        row(kind="collective", words=flits, vcs=vcs, configuration=f"c{vcs}", cycles=flits * 10)
        for flits in (1, 2)
        for vcs in (1, 2, 4)
    ]
    found = costs(rows, {"c1": 100, "c2": 200})
    assert found == {
        "words 1": [Cost("vcs 1", 100, 10), Cost("vcs 2", 200, 10)],
        "words 2": [Cost("vcs 1", 100, 20), Cost("vcs 2", 200, 20)],
    }


def test_equal_lines_are_one_with_all_names_beside_the_line_of_the_bound() -> None:
    same = [(1, 20.0), (16, 80.0)]
    series = {"eye": same, "chain": [(1, 25.0), (16, 30.0)], "tree": [*same]}
    short = {"chain": [(1, 25.0)]}
    figure = draw_cycles({"one": (series, [(1, 7), (16, 22)]), "other": (short, [])}, columns=2)
    axes, other = figure.axes
    assert [each.get_title(loc="left") for each in figure.axes] == ["one", "other"]
    assert [line.get_ydata().tolist() for line in axes.lines[:2]] == [[20, 80], [25, 30]]
    assert (axes.lines[2].get_linestyle(), [*axes.lines[2].get_ydata()]) == ("--", [7, 22])
    labels = {each.get_text(): each.get_color() for each in axes.texts}
    assert list(labels) == ["lower bound", "chain", "eye, tree"]
    assert labels["eye, tree"] == axes.lines[0].get_color() != axes.lines[1].get_color()
    # An algorithm has its colour in every panel, and its name at the end of its own line.
    assert other.texts[0].get_color() == labels["chain"] and other.texts[0].xy == (1, 25.0)


def test_labels_do_not_overlap_and_a_point_without_a_stream_is_of_its_line() -> None:
    sweep = BROADCAST | {"network": ["mesh 4x2", "torus 4x2"], "words": [1, 16], "algorithm": "all"}
    panels = cycles_panels(face.sweep(sweep_of(sweep)))
    assert list(panels) == ["mesh 4x2, broadcast", "torus 4x2, broadcast"]
    assert not any("stream" in name for series, _ in panels.values() for name in series)
    for columns in (0, 1):
        figure = draw_cycles(panels, columns=columns)
        figure.draw_without_rendering()
        for axes in figure.axes:
            boxes = sorted(text.get_window_extent().intervaly.tolist() for text in axes.texts)
            assert all(below[1] <= above[0] + 1 for below, above in pairwise(boxes))


def test_the_page_has_the_colours_of_steps_that_pictures_have() -> None:
    styles = (PACKAGE / "report" / "page" / "page.css").read_text()
    found = [re.search(rf"--{name}: (#\w+)", styles)[1] for name in STOPS]
    assert [to_hex(STEPS(place)) for place in np.linspace(0, 1, 5)] == found


STOPS = ("from", "middle-1", "middle-2", "middle-3", "to")
