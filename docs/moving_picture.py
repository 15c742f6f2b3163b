"""The moving picture of the README and the docs: a run's page, played in a browser.

Run by ``make pictures``; writes ``docs/eye-light.webp`` and ``docs/eye-dark.webp``, one frame
for each cycle. A browser and Pillow (a dependency of matplotlib) make it.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

import eyecast

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browser import browser, missing

DOCS = Path(__file__).parent
CYCLE_MILLISECONDS = 90
LAST_FRAME_MILLISECONDS = 2500
SHOW_CYCLE = """cycle => {
  const slider = document.querySelector("#cycle");
  slider.value = cycle;
  slider.dispatchEvent(new Event("input"));
}"""


def frames(page: Any) -> list[Image.Image]:
    """Return a picture of the network, with the line that describes it, for each cycle."""
    stage, line = (page.locator(part).bounding_box() for part in ("#stage", "#now"))
    clip = {
        "x": line["x"],
        "y": stage["y"],
        "width": line["width"],
        "height": line["y"] + line["height"] - stage["y"] + 8,
    }
    last = int(page.locator("#cycle").get_attribute("max"))
    shown = []
    for cycle in range(1, last + 1):
        page.evaluate(SHOW_CYCLE, cycle)
        shown.append(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"))
    return shown


def write_moving_picture(path: Path, colors: str, schedule: eyecast.Schedule) -> None:
    """Play a schedule's page in the browser's ``light`` or ``dark`` colors, into a WebP file."""
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        report = Path(folder) / "page.html"
        eyecast.write_report(schedule, report)
        page = started.new_page(viewport={"width": 1400, "height": 900}, color_scheme=colors)
        page.goto(f"{report.as_uri()}#cycle=0")
        page.wait_for_selector("html[data-ready]")
        first, *others = frames(page)
    times = [CYCLE_MILLISECONDS] * len(others) + [LAST_FRAME_MILLISECONDS]
    options = {"duration": times, "loop": 0, "quality": 60, "method": 6}
    first.save(path, save_all=True, append_images=others, **options)


def main() -> None:
    """Write both pictures."""
    if lack := missing():
        sys.exit(lack)
    schedule = eyecast.schedule(eyecast.mesh((8, 8)), "eye", source=(0, 0), words=8)
    for colors in ("light", "dark"):
        write_moving_picture(DOCS / f"eye-{colors}.webp", colors, schedule)


if __name__ == "__main__":
    main()
