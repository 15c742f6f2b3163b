"""The page in a browser: opened from disk, and used by mouse and keys as people do."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.browser import browser, faults, missing
from helpers.report_cases import (
    HOSTILE,
    crowd,
    hostile_case,
    predicted,
    stuck_ring,
    wrong_verification,
)
from helpers.report_page import KINDS, flits, read_file

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.compare.recorded import check_recorded
from eyecast.model.compare.side_by_side import Entry, SideBySide
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.network.topology import hypercube, line, mesh, ring, torus
from eyecast.model.run.trace import TAIL_MARK, Trace
from eyecast.report import contents
from eyecast.report.contents import Report
from eyecast.report.reports import (
    report_case,
    report_prediction,
    report_recorded,
    report_traffic,
    report_verification,
)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


Opened = Callable[..., Any]


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Opened]:
    """Yield a report's page, opened from disk at cycle 0; it must load nothing and log no error."""
    seen: list[str] = []
    contexts = []

    def open_page(report: Report, at: str = "#cycle=0", **settings: Any) -> Any:
        report.write(tmp_path / "page.html")
        contexts.append(context := chromium.new_context(**settings))
        page = context.new_page()
        page.on("console", lambda message: seen.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("dialog", lambda dialog: seen.append(dialog.message))
        page.on("request", lambda request: seen.append(request.url.split("#")[0]))
        page.goto((tmp_path / "page.html").as_uri() + at)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    assert set(seen) <= {(tmp_path / "page.html").as_uri()}
    for context in contexts:
        context.close()


def broadcast(flits: int = 6) -> Report:
    return report_case(predicted(eyecast.schedule(mesh((4, 4)), "eye", source=5, words=flits)))


def crowded() -> Report:
    return report_traffic(crowd(), np.array([3, 5, 5]), [("mean", 4.3)], None)


def go(page: Any, cycle: int) -> None:
    """Move the slider by script; another test moves it by hand."""
    page.evaluate(
        "cycle => { const slider = document.getElementById('cycle'); slider.value = cycle;"
        "slider.dispatchEvent(new Event('input')); }",
        cycle,
    )


def wait_until(page: Any, condition: str) -> None:
    """Poll until a condition holds, because the page's policy forbids Playwright's own waiting."""
    for _ in range(500):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"not within ten seconds: {condition}")


def content(tmp_path: Path) -> dict[str, Any]:
    return read_file(tmp_path / "page.html")


def test_flits_that_never_go_on_are_there_at_the_end(opened: Opened) -> None:
    page = opened(stuck_ring())
    go(page, 1000)
    held = "0 of 3 packets delivered, 3 flits held up."
    assert page.locator("#now").inner_text().endswith(held)
    painted = """() => {
      const canvas = document.getElementById('flits');
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
      copy.drawImage(canvas, 0, 0);
      return copy.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value);
    }"""
    assert page.evaluate(painted)
    assert "wait for each other in a circle" in page.locator("#trouble").inner_text()
    waits = [" ".join(each.split()) for each in page.locator("#deadlock li").all_inner_texts()]
    assert waits[0] == (
        "the packet from 0 to 2 holds 0 to 1 (VC 0), waits for 1 to 2 (VC 0), "
        "held by the packet from 1 to 0"
    )
    assert len(waits) == 3 + 2
    glowing = page.locator(".links .circle")
    assert [each.get_attribute("aria-label") for each in glowing.all()] == [
        "Link 0 to 1",
        "Link 1 to 2",
        "Link 2 to 0",
    ]
    go(page, 0)
    assert glowing.count() == 0
    page.locator("#deadlock button").nth(1).click()
    assert page.inner_text("#selected h2") == "Link 1 to 2" and glowing.count() == 3


def test_it_opens_on_movement_and_stops_when_the_first_message_is_there(opened: Opened) -> None:
    case = predicted(eyecast.schedule(mesh((4, 4)), "eye", source=5, words=6))
    tail = min(each.cycle for each in case.predicted.trace if not each.port and each.kind & 2)
    page = opened(report_case(case), at="")
    wait_until(page, "document.getElementById('play').ariaPressed === 'true'")
    wait_until(page, "document.getElementById('play').ariaPressed === 'false'")
    assert page.inner_text("#cycle-text").split()[0] == str(tail + 1)
    assert page.locator("#network .node.full").count() == 2
    assert page.inner_text("#seen").endswith("has arrived. Press Space to go on.")


def test_keys_work_at_once(opened: Opened) -> None:
    page = opened(broadcast(), viewport={"width": 1280, "height": 500})
    for key, cycle in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        assert page.inner_text("#cycle-text").startswith(f"{cycle} / ")
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    # A click in the drawing leaves the keys to the time.
    page.locator('[data-node="5"]').click()
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-pressed") == "false"
    assert page.evaluate("scrollY") == 0


def test_no_motion_opens_still_on_the_first_message(opened: Opened) -> None:
    page = opened(broadcast(), at="", reduced_motion="reduce")
    wait_until(page, "document.getElementById('seen').textContent.includes('has arrived')")
    assert page.get_attribute("#play", "aria-pressed") == "false"


NETWORKS = {
    "3-D mesh": mesh((4, 4, 4)),
    "torus": torus((8, 8)),
    "cube": hypercube(6),
    "line": line(64),
    "star": eyecast.star_tree(21, 3),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_names_are_legible_and_nothing_is_cut(opened: Opened, network: Any) -> None:
    """Every name of up to 64 nodes has nine pixels, and the movement fits one screen."""
    case = predicted(eyecast.schedule(network, "tree", source=0, words=4))
    page = opened(report_case(case), viewport={"width": 1280, "height": 900})
    sizes = page.locator("#network .node text").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"
    )
    assert len(sizes) == network.nodes and min(sizes) >= 9
    box = page.locator("#watch").bounding_box()
    assert box["y"] + box["height"] <= 900 and box["x"] + box["width"] <= 1280
    wide = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
    assert page.locator(".scrolled").evaluate_all(wide) == 0


def test_contributions_fill_the_nodes_of_a_reduction(opened: Opened) -> None:
    made = eyecast.schedule(mesh((4, 4)), "eye", collective="reduce", source=5, words=6)
    page = opened(report_case(predicted(made, operators=("add",))))
    page.locator('[data-node="5"]').click()
    assert "1 of 16 contributions combined" in page.inner_text("#selected .state")
    page.locator("#cycle").focus()
    page.keyboard.press("End")
    assert "16 of 16 contributions combined" in page.inner_text("#selected .state")
    assert page.inner_text("#now").endswith("(1,1) has 16 of 16 contributions.")
    assert page.locator("#network .node.full").count() == 1
    go(page, 0)
    assert page.inner_text("#now").endswith("(1,1) has 1 of 16 contributions.")
    made = eyecast.schedule(mesh((4, 4)), "ring", collective="all-reduce", words=16)
    page = opened(report_case(predicted(made, operators=("add",))))
    assert page.inner_text("#now").endswith("0 of 16 nodes have all contributions.")


COUNTED = {
    "all-reduce": (mesh((4, 4)), "joining-tree", {}),
    "reduce": (mesh((3, 3)), "joining-tree", {"source": 4}),
    "reduce-scatter": (ring(5), "ring", {}),
    "with link registers": (line(4), "joining-tree", {}),
    "all-port": (torus((4, 4)), "joining-tree", {"ports": "all"}),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_word_on_circuits_has_the_contributions_that_it_sums(
    opened: Opened, tmp_path: Path, name: str
) -> None:
    """If all words are 1 at the start, each word on the way is the number of its contributions."""
    network, algorithm, asked = COUNTED[name]
    collective = name if name.startswith("reduce") else "all-reduce"
    made = eyecast.schedule(network, algorithm, collective=collective, words=3, **asked)
    registers = 2 if name == "with link registers" else 0
    case = predicted(made, circuits=True, operators=("add",), link_registers=registers)
    ones = case.payload.memory(case.program.config)
    ones[:] = 1
    counted = run_circuits(case.program, ones)
    report = report_prediction(
        name, case.program, counted, "", schedule=made, layout=case.payload.layout
    )
    page = opened(report)
    page.locator("#rows summary").click()
    shown = []
    for cycle in range(counted.cycles):
        go(page, cycle)
        shown += table_rows(page, "Words that leave routers")
    assert [int(row[3], 16) for row in shown] == [int(row[5]) for row in shown]
    assert len(shown) == len(counted.trace) and max(int(row[5]) for row in shown) > 2
    go(page, counted.cycles)
    owed = sum(content(tmp_path)["runs"][0]["contributions"]["owed"])
    assert page.locator("#network .node.full").count() == owed


def test_forks_of_circuits_are_counted_and_drawn(opened: Opened) -> None:
    made = eyecast.schedule(mesh((4, 4)), "light-tree", source=5, words=4)
    case = predicted(made, circuits=True)
    trace = case.predicted.trace
    page = opened(report_case(case))
    for cycle in range(4, case.predicted.cycles - 2):
        # No two words of the message are equal.
        now = zip(trace.node[trace.cycle == cycle], trace.data[trace.cycle == cycle], strict=True)
        forks = sum(number > 1 for number in Counter(now).values())
        go(page, cycle)
        said = page.inner_text("#seen")
        if "is the first node" not in said:
            assert ("several ways" in said) == (forks > 0) and str(forks or "") in said
    go(page, 5)
    inside = [(100 + 23, 100 + 7), (100 - 9, 100 + 23), (100 + 9, 100 - 23)]
    assert min(opacities(page, inside)) > 0


def test_links_over_cycles_follow_a_packet_and_are_zoomed(opened: Opened, tmp_path: Path) -> None:
    page = opened(crowded())
    data = content(tmp_path)
    (run,) = data["runs"]
    page.locator("#lanes option").last.wait_for(state="attached")
    row = int(page.locator("#lanes select").input_value())
    own = sorted(
        (each["cycle"], each["node"], each["port"]) for each in flits(data) if each["row"] == row
    )
    canvas, said = page.locator("#lanes canvas"), page.locator("#lanes .quiet")
    lanes = [*dict.fromkeys((node, port) for _, node, port in own)]
    box = canvas.bounding_box()
    assert box["height"] == 15 * len(lanes) + 18 and lanes[-1][1] == 0
    for cycle, node, port in own:
        x = 112 + (box["width"] - 112) * (cycle + 0.5) / run["cycles"]
        canvas.hover(position={"x": x, "y": 15 * lanes.index((node, port)) + 7})
        text = said.inner_text()
        assert f", cycle {cycle}: " in text and " of (" in text
    canvas.press("+")
    canvas.hover(position={"x": x, "y": 15 * len(lanes) - 8})
    assert f", cycle {cycle}: " not in said.inner_text()
    canvas.press("0")
    # A click goes to the cycle of a flit, and follows its packet.
    other = next(
        each
        for each in flits(data)
        if (each["node"], each["port"]) == lanes[0] and each["row"] not in (0, row)
    )
    x = 112 + (box["width"] - 112) * (other["cycle"] + 0.5) / run["cycles"]
    canvas.click(position={"x": x, "y": 7})
    assert page.inner_text("#cycle-text").startswith(f"{other['cycle']} / ")
    assert page.locator("#lanes select").input_value() == str(other["row"])
    page.select_option("#lanes select", "0")
    used = {(each["node"], each["port"]) for each in flits(data) if each["port"]}
    assert canvas.get_attribute("aria-label").startswith(f"{len(used)} links over ")


def test_a_lesson_hides_its_answers_until_it_is_played(opened: Opened) -> None:
    page = opened(broadcast(), at="#lesson&cycle=0")
    answers = [
        page.locator(each) for each in ("#verdict", "#activity", "#about", "#tables", "#lanes")
    ]
    assert not any(each.is_visible() for each in answers)
    assert (page.inner_text("#cycle-text"), page.inner_text("#step-text")) == ("0", "0")
    assert page.locator("#speed").input_value() == "1"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#cycle-text") == "1"
    page.click("#reveal")
    assert all(each.is_visible() for each in answers) and not page.locator("#reveal").is_visible()
    page = opened(broadcast(), at="#lesson&cycle=0")
    go(page, 1000)
    assert page.locator("#verdict").is_visible()


def test_a_dateline_is_where_packets_change_their_vc(opened: Opened) -> None:
    page = opened(crowded())
    assert page.locator(".dateline").count() > 0
    assert "dateline" in page.inner_text("#legend")
    assert opened(broadcast()).locator(".dateline").count() == 0


def test_chiplets_slow_links_and_idle_nodes_are_seen(opened: Opened) -> None:
    network = eyecast.chiplets((2, 1), (2, 2), latency=4)
    page = opened(report_case(predicted(eyecast.schedule(network, "tree", source=0, words=2))))
    counts = {name: page.locator(f"#network .{name}").count() for name in ("part", "slow", "idle")}
    assert counts == {"part": 2, "slow": 4, "idle": 0}
    made = eyecast.schedule(mesh((3, 3)), "tree", collective="multicast", source=0, targets=[8])
    page = opened(report_case(predicted(made)))
    counts = {name: page.locator(f"#network .{name}").count() for name in ("part", "slow", "idle")}
    assert counts == {"part": 0, "slow": 0, "idle": 7}
    assert "takes no part" in page.inner_text("#legend")


def test_the_drawing_is_zoomed_with_its_flits(opened: Opened, tmp_path: Path) -> None:
    page = opened(broadcast(), at="#cycle=3")
    wide = page.locator("#network").get_attribute("viewBox").split()
    page.locator('[data-node="5"]').focus()
    page.keyboard.press("+")
    assert (
        float(page.locator("#network").get_attribute("viewBox").split()[2]) == float(wide[2]) / 1.5
    )
    moving = {(e["node"], e["port"]) for e in flits(content(tmp_path)) if e["cycle"] == 3}
    near = [place for link, place in middles(content(tmp_path)).items() if link in moving]
    assert near and min(opacities(page, near)) == 255
    page.locator('[data-node="6"]').click()
    assert page.inner_text("#selected h2") == "Node (2,1)"
    page.keyboard.press("0")
    assert page.locator("#network").get_attribute("viewBox").split() == wide


def table_rows(page: Any, caption: str) -> list[list[str]]:
    """Return the cells of the table whose caption begins with these words."""
    rows = page.locator("table", has=page.locator("caption", has_text=caption)).locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def opacities(page: Any, places: list[tuple[float, float]]) -> list[int]:
    """Return the opacity, 0 to 255, of the canvas of flits at points of the drawing."""
    return page.evaluate(
        """places => {
          const canvas = document.getElementById('flits');
          const box = document.getElementById('network').viewBox.baseVal;
          const copy = new OffscreenCanvas(canvas.width, canvas.height);
          const context = copy.getContext('2d', { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const scale = canvas.width / box.width;
          return places.map(([x, y]) => {
            const at = [(x - box.x) * scale, (y - box.y) * scale].map(Math.round);
            return context.getImageData(...at, 1, 1).data[3];
          });
        }""",
        places,
    )


def middles(data: dict[str, Any]) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the middle of each straight link, in units of the drawing, right of its direction."""
    links, points = data["network"]["links"], data["network"]["points"]
    found = {}
    for node, port, to in zip(links["from"], links["port"], links["to"], strict=True):
        (x, y), (a, b) = points[node], points[to]
        length = ((a - x) ** 2 + (b - y) ** 2) ** 0.5
        aside = (-(b - y) / length, (a - x) / length)
        found[node, port] = (50 * (x + a) + 9 * aside[0], 50 * (y + b) + 9 * aside[1])
    return found


@pytest.mark.parametrize("colour", ["step", "packet", "virtual channel"])
def test_the_flits_that_are_drawn_are_those_of_the_trace(
    opened: Opened, tmp_path: Path, colour: str
) -> None:
    page = opened(broadcast())
    data = content(tmp_path)
    page.select_option("#color", colour)
    (run,) = data["runs"]
    for cycle in range(0, run["cycles"], 3):
        go(page, cycle)
        moving = {(each["node"], each["port"]) for each in flits(data) if each["cycle"] == cycle}
        opaque = opacities(page, [*middles(data).values()])
        drawn = {link for link, most in zip(middles(data), opaque, strict=True) if most == 255}
        assert drawn == {link for link in moving if link[1]}, cycle


def test_the_table_of_flits_is_the_trace(opened: Opened, tmp_path: Path) -> None:
    page = opened(crowded())
    data = content(tmp_path)
    names = data["network"]["names"]
    page.locator("#rows summary").click()
    for cycle in (0, 30, 77, 140):
        go(page, cycle)
        shown = [
            (row[0], int(row[1]), int(row[3]), row[4], row[5])
            for row in table_rows(page, "Flits that leave routers")
        ]
        expected = [
            (names[e["node"]], e["port"], e["vc"], KINDS[e["kind"]], f"{e['data']:x}")
            for e in flits(data)
            if e["cycle"] == cycle
        ]
        assert shown == expected


def test_flits_that_are_held_up_are_red(opened: Opened, tmp_path: Path) -> None:
    page = opened(crowded())
    data = content(tmp_path)
    links = data["network"]["links"]
    numbers = {place: n for n, place in enumerate(zip(links["from"], links["port"], strict=True))}
    for cycle in (20, 60, 100):
        go(page, cycle)
        held = [
            numbers[each["node"], each["port"]]
            for each in flits(data)
            if each["stay"] - each["stalled"] <= cycle - each["cycle"] < each["stay"]
            and each["stalled"]
        ]
        red = page.locator(".link.stalled").evaluate_all("all => all.map(e => +e.dataset.link)")
        assert held and set(red) == set(held)
        assert f" {len(held)} flit" in page.inner_text("#now")


def test_the_sliders_and_buttons_move_the_time(opened: Opened, tmp_path: Path) -> None:
    page = opened(broadcast())
    (run,) = content(tmp_path)["runs"]
    page.locator("#cycle").focus()
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#cycle-text") == f"1 / {run['cycles']}"
    page.locator("#step").focus()
    page.keyboard.press("End")
    assert page.inner_text("#cycle-text").split()[0] == str(run["steps"]["first"][-1])
    assert (
        page.inner_text("#step-text") == f"{len(run['steps']['end'])} / {len(run['steps']['end'])}"
    )
    page.locator("#cycle-on").click()
    page.keyboard.press(".")
    page.keyboard.press(",")
    assert page.inner_text("#cycle-text").split()[0] == str(run["steps"]["first"][-1] + 1)
    page.keyboard.press("[")
    page.keyboard.press("[")
    assert page.inner_text("#cycle-text").split()[0] in map(str, run["steps"]["first"])
    page.locator("#cycle").focus()
    page.keyboard.press("End")
    everyone = "16 of 16 nodes have all their data"
    assert page.inner_text("#now") == f"End, after {run['cycles']} cycles: {everyone}."
    assert page.locator("#network .node.full").count() == 16


def test_it_plays_and_pauses_and_ends(opened: Opened, tmp_path: Path) -> None:
    page = opened(broadcast())
    (run,) = content(tmp_path)["runs"]
    page.select_option("#speed", "10")
    page.locator("#play").click()
    wait_until(page, "+document.getElementById('cycle').value > 2")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    assert page.get_attribute("#now", "aria-live") == "off"
    page.keyboard.press("k")
    assert page.get_attribute("#now", "aria-live") == "polite"
    paused = page.inner_text("#cycle-text")
    page.wait_for_timeout(200)
    assert page.inner_text("#cycle-text") == paused
    page.select_option("#speed", "500")
    page.locator("#play").click()
    page.wait_for_selector("#play[aria-pressed=false]")
    assert page.inner_text("#cycle-text") == f"{run['cycles']} / {run['cycles']}"


def test_the_sentence_is_in_step_with_the_flits_while_they_move(opened: Opened) -> None:
    page = opened(broadcast())
    page.select_option("#speed", "50")
    page.evaluate(
        "() => { window.said = []; const text = id => document.getElementById(id).textContent;"
        "new MutationObserver(() => said.push([text('cycle-text'), text('now')]))"
        ".observe(document.getElementById('cycle-text'), { childList: true }); }"
    )
    page.locator("#play").click()
    page.wait_for_selector("#play[aria-pressed=false]")
    said = page.evaluate("said")
    assert len(said) > 10
    for cycle, sentence in said[:-1]:
        assert sentence.startswith((f"Cycle {cycle.split(' ')[0]},", "End"))


def test_who_wants_no_motion_gets_none(opened: Opened) -> None:
    page = opened(broadcast(), reduced_motion="reduce")
    page.select_option("#speed", "1")
    go(page, 10)
    before = page.evaluate("document.getElementById('flits').toDataURL()")
    page.locator("#play").click()
    page.wait_for_timeout(400)
    assert page.evaluate("document.getElementById('flits').toDataURL()") == before
    wait_until(page, "document.getElementById('cycle').value === '11'")


def injection_table(case: Case, node: int) -> list[list[str]]:
    """Return the rows that the page must show for a node; each node gets one packet."""
    trace = case.predicted.trace
    tails = [flit for flit in trace if flit.port == 0 and flit.kind & TAIL_MARK]
    arrival = {f"({flit.node % 4},{flit.node // 4})": flit.cycle for flit in tails}
    assert len(arrival) == len(tails)
    rows = []
    for row in case.program.table(node):
        cells = str(row.step), row.words, row.target, row.target_words, row.route, row.vcs
        rows += [[*cells, str(arrival[row.target])], [f"table words {row.table}"]]
    return rows


def late_trace() -> Report:
    """Return the page of a recorded broadcast in which node 15's packet arrives a cycle late."""
    case = predicted(eyecast.schedule(mesh((4, 4)), "eye", source=5, words=6))
    whole = case.predicted.trace
    late = [
        each._replace(cycle=each.cycle + (each.node == 15 and each.port == 0)) for each in whole
    ]
    trace = Trace.from_flits(late)
    found = check_recorded(case.program, case.predicted, trace)
    return report_recorded("late", case.program, trace, found, predicted=case.predicted)


def test_a_recorded_trace_shows_its_first_difference(opened: Opened, tmp_path: Path) -> None:
    page = opened(late_trace())
    model = [each for each in flits(content(tmp_path), run=1) if each["node"] == 15]
    head, *_, tail = [each["cycle"] for each in model if not each["port"]]
    late = "the trace is not as predicted: cycle of the last flit, trace rows"
    assert page.inner_text("#verdict") == f"✗ {late}"
    page.get_by_role("button", name=f"Show cycle {head}, node (3,3)", exact=True).click()
    assert page.inner_text("#cycle-text").startswith(f"{head} / ")
    assert page.inner_text("#selected h2") == "Node (3,3)"
    assert page.locator("#difference tr.wrong").count() == 1
    assert table_rows(page, "First difference")[0][0].isdigit()
    # The sender's table shows the packet's actual and its expected cycle.
    sender = page.locator("#selected tbody tr td").first.inner_text()
    x, y = map(int, sender.strip("()").split(","))
    page.locator(f'[data-node="{4 * y + x}"]').click()
    wrong = page.locator("#selected tr.wrong")
    assert wrong.count() == 1
    assert wrong.locator("td").nth(5).inner_text() == f"{tail + 1}, not {tail}"


@pytest.mark.parametrize("size", [(1280, 900), (1024, 768)])
def test_the_injection_table_is_shown_whole(opened: Opened, size: tuple[int, int]) -> None:
    """Nothing is cut off, even with remarks, routes of two segments and three-digit addresses."""
    made = eyecast.schedule(mesh((8, 8)), "eye", collective="reduce", source=0, words=200)
    case = predicted(made, operators=("add",), message_words=1024)
    page = opened(report_case(case), viewport={"width": size[0], "height": size[1]})
    turning = [n for n in range(64) for line in case.program.table(n) if "," in line.route]
    page.locator(f'[data-node="{turning[0]}"]').click()
    table = page.locator("#selected .wraps")
    assert "add · table words" in table.inner_text()
    widths = table.evaluate("shown => [shown.scrollWidth, shown.clientWidth]")
    assert widths[0] == widths[1]


def test_a_node_shows_its_memory_its_table_and_its_arrivals(opened: Opened, tmp_path: Path) -> None:
    case = predicted(eyecast.schedule(mesh((4, 4)), "eye", source=5, words=6))
    page = opened(report_case(case))
    node = next(n for n in range(16) if n != 5 and case.program.rows[n])
    page.locator(f'[data-node="{node}"]').click()
    assert page.inner_text("#selected h2") == f"Node ({node % 4},{node // 4})"
    memory = [f"{word:x}" for word in case.predicted.memory[node, :6].tolist()]
    assert page.locator(".memory li").all_text_contents() == memory
    assert table_rows(page, "Injection table") == injection_table(case, node)
    (arrival,) = table_rows(page, "Arrivals at")
    data = content(tmp_path)
    times = [e["cycle"] for e in flits(data) if (e["node"], e["port"]) == (node, 0)]
    assert arrival[0] == str(case.program.receives[node][0])
    assert [int(cell) for cell in arrival[2:]] == [6, min(times), max(times)]
    go(page, min(times))
    assert page.locator(".memory li.coming").count() == 6
    go(page, max(times) + 1)
    assert page.locator(".memory li.coming").count() == 0


def test_links_and_nodes_are_chosen_with_keys(opened: Opened, tmp_path: Path) -> None:
    page = opened(broadcast())
    page.locator('[data-node="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#selected h2") == "Node (1,1)"
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press(" ")
    assert page.inner_text("#selected h2") == "Link (1,1) to (2,1)"
    data = content(tmp_path)
    steps = data["runs"][0]["program"]["step"]
    loads = Counter(steps[e["row"] - 1] for e in flits(data) if (e["node"], e["port"]) == (5, 1))
    assert loads
    shown = {int(row[0]): int(row[1]) for row in table_rows(page, "Flits in each step")}
    assert +Counter(shown) == loads
    assert page.locator("#selected .plot .chart").count() == 1
    assert "at most 1" in page.get_attribute("#selected .plot", "aria-label")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text("#selected h2") == "Node (2,1)"
    assert page.locator('#network [tabindex="0"]').count() == 1


def test_a_plot_says_the_flits_below_the_pointer(opened: Opened, tmp_path: Path) -> None:
    page = opened(crowded())
    data = content(tmp_path)
    cycles = data["runs"][0]["cycles"]
    moving = Counter(each["cycle"] for each in flits(data) if each["port"])
    held = Counter(
        cycle
        for each in flits(data)
        if each["port"]
        for cycle in range(
            each["cycle"] + each["stay"] - each["stalled"], each["cycle"] + each["stay"]
        )
    )
    box = page.locator("#activity .chart").bounding_box()
    for cycle in (0, 20, 60, cycles - 1):
        at = box["x"] + box["width"] * (cycle + 0.5) / cycles
        page.mouse.move(at, box["y"] + 20)
        flit = "flit" if moving[cycle] == 1 else "flits"
        said = f"cycle {cycle}: {moving[cycle]} {flit} on links, {held[cycle]} held up"
        assert page.text_content("#activity .pointed") == said
    page.mouse.down()
    assert page.inner_text("#cycle-text") == f"{cycles - 1} / {cycles}"
    page.mouse.move(0, 0)
    assert page.text_content("#activity .pointed") == ""


def test_what_is_wrong_is_red(opened: Opened) -> None:
    page = opened(report_verification(wrong_verification()))
    assert page.inner_text("#verdict").startswith("✗ hardware and model differ")
    assert "node (0,0) has set bad_route" in page.inner_text("#trouble")
    assert page.locator("#network .node.flagged").count() == 1
    differing = page.locator("#difference tr.wrong")
    assert differing.count() == 1
    red = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--red')")
    shown = differing.locator("td").first.evaluate("e => getComputedStyle(e).color")
    assert shown == f"rgb({', '.join(str(int(red[i : i + 2], 16)) for i in (1, 3, 5))})"
    page.locator('[data-node="0"]').click()
    assert "error flags: bad_route" in page.inner_text("#selected")
    page.select_option("#run", "1")
    assert page.locator("#network .node.flagged").count() == 0
    assert not page.is_visible("#difference")


def test_an_algorithm_is_chosen_from_the_table(opened: Opened, tmp_path: Path) -> None:
    page = opened(side_by_side())
    data = content(tmp_path)
    runs = data["runs"]
    assert len(runs) == 4
    for number, run in enumerate(runs):
        page.locator(f'#comparison [data-run="{number}"]').click()
        assert run["name"] in page.inner_text("#subtitle")
        assert page.inner_text("#cycle-text").endswith(f"/ {run['cycles']}")


def side_by_side() -> Report:
    from eyecast.model.collectives.task import Task
    from eyecast.report.reports import report_comparison

    task = Task(topology=mesh((4, 4)), words=4, source=0)
    entries = []
    for name in ("eye", "tree"):
        entry = Entry(eyecast.schedule(task.topology, name, source=0, words=4))
        for timing in ("barrier", "self-timed"):
            entry.note(predicted(entry.schedule, timing), keep=True)
        entries.append(entry)
    return report_comparison(SideBySide(task, entries, {"ring": "no"}))


def test_hostile_names_stay_text(opened: Opened) -> None:
    page = opened(report_case(hostile_case()))
    assert HOSTILE.split("\u2028")[0] in page.inner_text("#title")
    assert page.locator("img").count() == 0
    page.locator('[data-node="1"]').click()


def test_a_run_of_too_many_flits_is_watched_as_loads(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MOST_FLITS", 0)
    page = opened(crowded())
    loads = content(tmp_path)["runs"][0]["loads"]
    assert "The trace has" in page.inner_text("#notes")
    page.locator("#cycle").focus()
    page.keyboard.press("ArrowRight")
    ports = content(tmp_path)["network"]["ports"]
    counts = loads["counts"][len(loads["lines"]) : 2 * len(loads["lines"])]
    crossing = sum(n for n, line in zip(counts, loads["lines"], strict=True) if line % ports)
    assert f": {crossing} flits cross links" in page.inner_text("#now")
    page.locator('[data-link="3"] .hit').dispatch_event("click")
    assert page.locator("#selected .plot .chart").count() == 1
    page.locator("#play").click()
    wait_until(page, "+document.getElementById('cycle').value > 3")


def background(page: Any) -> int:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))


def test_light_and_dark_are_as_the_reader_has_them(opened: Opened) -> None:
    page = opened(broadcast(), color_scheme="dark")
    assert background(page) < 100
    page.emulate_media(color_scheme="light")
    assert background(page) > 650


def test_on_paper_there_is_light_and_no_button(opened: Opened) -> None:
    page = opened(broadcast(), color_scheme="dark")
    go(page, 10)
    page.emulate_media(media="print")
    assert not page.is_visible("#play") and page.is_visible("#network")
    wait_until(page, "document.getElementById('rows').open")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(28, 36, 48)" and background(page) == 3 * 255
    page.emulate_media(media="screen")
    wait_until(page, "!document.getElementById('rows').open")
    assert len(page.pdf()) > 10_000


@pytest.mark.parametrize("make", [broadcast, crowded, side_by_side])
def test_a_phone_shows_all_of_it(opened: Opened, make: Callable[[], Report]) -> None:
    page = opened(make(), viewport=PHONE, has_touch=True)
    page.locator('[data-node="1"]').tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator("#stage").bounding_box()["width"] > 300


@pytest.mark.parametrize("make", [broadcast, crowded, side_by_side])
def test_axe_finds_no_fault(opened: Opened, make: Callable[[], Report]) -> None:
    report = make()
    for scheme, viewport in (("light", PHONE), ("dark", {"width": 1280, "height": 900})):
        assert faults(opened(report, color_scheme=scheme, viewport=viewport)) == []
