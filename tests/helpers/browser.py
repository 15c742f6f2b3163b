"""A browser for tests and measurements: Playwright drives the Chromium of the machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def missing() -> str:
    """Return the reason why browser tests cannot run here; "" if they can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed: pip install 'eyecast[browser]'"
    return "" if program() else "no Chromium is on the path"


def program() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def faults(page: Any) -> list[str]:
    """Return the faults that axe finds in a page: each rule, and what breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=[*ARGUMENTS])
        try:
            yield started
        finally:
            started.close()
