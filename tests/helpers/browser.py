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


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=[*ARGUMENTS])
        try:
            yield started
        finally:
            started.close()
