"""``eyecast explore``: parameters and the run that they make, live in the user's browser."""

import webbrowser
from urllib.parse import quote

import click

from ..model.base.errors import InvalidInput
from .command import command
from .console import say


@command(
    "explore",
    "eyecast explore",
    "eyecast explore '#network=torus&size=8x8&vcs=2'",
)
@click.argument("link", default="")
def explore_command(link: str) -> None:
    """Open a page with parameters and the run that they make, in the browser.

    LINK is a link that you copied from the page, or its part from # on; the page then shows the
    same run.

    Only this machine can open the page, and the command ends when you close the page. Without a
    browser (BROWSER=true), the command only prints the address.
    """
    try:
        from ..explore.server import Server
    except ImportError as error:
        allowed = "installed (pip install 'eyecast[explore]')"
        raise InvalidInput.of("starlette and uvicorn", allowed, "missing") from error
    before, mark, state = link.partition("#")
    if before and not mark:
        raise InvalidInput.of("LINK", "a link of a page of explore, with a #", repr(link))
    server = Server()
    address = f"{server.address}{mark}{quote(state, safe='=&+%')}"
    say(f"the page is at {address}", "it ends when it is closed, or by Ctrl-C")
    webbrowser.open(address)
    server.run()
