"""``eyecast explore`` in a browser: parameters, clicks in the drawing, a second run, links."""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from helpers.browser import browser, faults, missing

from eyecast.explore.server import Server

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.fixture
def page() -> Iterator[Any]:
    """Yield the page of a server, which ends when it is closed; it must log no error."""
    server = Server()
    thread = Thread(target=server.run)
    thread.start()
    seen: list[str] = []
    with browser() as chromium:
        page = chromium.new_page()
        page.on("console", lambda message: seen.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("request", lambda request: seen.append(request.url))
        page.goto(server.address)
        page.wait_for_selector("html[data-ready]")
        yield page
        page.close()
        thread.join(20)
        assert not thread.is_alive()
    assert [each for each in seen if not each.startswith(server.address)] == []


def shown(page: Any, command: str, at: str = "now") -> Any:
    """Wait for the run of a command, and return its frame."""
    page.locator(f"#{at} .command", has_text=command).wait_for()
    frame = page.frame_locator(f"#{at} iframe")
    frame.locator("html[data-ready]").wait_for()
    return frame


def test_a_change_is_a_run_and_a_link_is_its_state(page: Any) -> None:
    frame = shown(page, "--words 16")
    assert "139" in page.inner_text("#now .facts")
    frame.locator('#play[aria-pressed="true"]').wait_for()
    page.fill("[name=words]", "1")
    page.select_option("[name=circuits]", "1")
    shown(page, "--words 1 --circuits")
    page.click("#keep")
    page.select_option("[name=algorithm]", "light-tree")
    shown(page, "--algorithm light-tree")
    assert "--algorithm eye" in page.inner_text("#kept .command")
    assert "ratio 1.33" in page.inner_text("#now .facts")
    link = page.url
    page.select_option("[name=collective]", "traffic")
    shown(page, "traffic --mesh 8x8")
    page.goto(link)
    shown(page, "--algorithm light-tree --collective broadcast --source 0,0 --words 1 --circuits")
    page.fill("[name=size]", "99x99")
    page.locator("[name=size]").press("Enter")
    page.locator("#trouble", has_text="must be at most 256").wait_for()


def test_axe_finds_no_fault(page: Any) -> None:
    shown(page, "--words 16")
    assert faults(page) == []


def test_a_click_breaks_and_mends_and_makes_the_root(page: Any) -> None:
    page.select_option("[name=algorithm]", "tree")
    frame = shown(page, "--algorithm tree")
    page.select_option("#click", "faults")
    frame.locator('[data-node="27"]').click()
    frame = shown(page, "--faulty-node 3,3")
    frame.locator('[aria-label="Link (0,0) to (1,0)"] .hit').click(force=True)
    frame = shown(page, "--faulty-node 3,3 --faulty-link 0,0:1,0")
    frame.locator('[data-node="27"]').click()
    frame = shown(page, "--mesh 8x8 --faulty-link 0,0:1,0")
    page.select_option("#click", "source")
    frame.locator('[data-node="9"]').click()
    shown(page, "--source 1,1")
