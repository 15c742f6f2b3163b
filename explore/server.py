"""The server of the page: on the loopback only, for one browser, and gone with its page.

Another user or a foreign page knows neither the port nor the token of the address. A foreign page
that guesses both is refused by its ``Origin``; a name that leads here, by its ``Host``.
"""

import secrets
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

import anyio
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..model.base.errors import InvalidInput
from ..model.collectives.registry import algorithms_for
from ..model.schedule.collective import COLLECTIVES, Collective
from ..model.traffic.patterns import PATTERNS
from ..report.page import page_text
from .state import LIMITS, SIZES, TRAFFIC, State, answer

LOOPBACK = "127.0.0.1"
MOST_BYTES = 4096
"""Most bytes of a request's body."""

MOST_PAGES = 4
"""Pages of runs that are kept for their frames."""

GRACE = 2.0
"""Seconds without an open page after which the server ends; a page that is loaded again is back."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class Server:
    """The server, bound to a free port; :meth:`run` serves until its page is closed."""

    def __init__(self) -> None:
        self._socket = socket.create_server((LOOPBACK, 0))
        self.host = f"{LOOPBACK}:{self._socket.getsockname()[1]}"
        self._token = secrets.token_urlsafe(24)
        routes = [
            Route("/", _file("explore.html")),
            *(Route(f"/{name}", _file(name)) for name in ("explore.css", "explore.js")),
            Route("/choices", _choices),
            Route("/open", self._open),
            Route("/run", self._run, methods=["POST"]),
            Route("/page/{number:int}", self._page),
        ]
        site = Starlette(routes=[Mount(f"/{self._token}", routes=routes)])
        config = uvicorn.Config(
            _Guard(site, self.host, self._token),
            log_config=None,
            lifespan="off",
            limit_concurrency=32,
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = uvicorn.Server(config)
        self._pages: OrderedDict[int, str] = OrderedDict()
        self._viewers = self._asked = 0
        self._alone = anyio.Lock()

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{self.host}/{self._token}/"

    def run(self) -> None:
        """Serve until the page is closed."""
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """End :meth:`run`."""
        self._uvicorn.should_exit = True

    async def _open(self, _request: Request) -> Response:
        """Answer as long as a page is open; the last page that closes ends the server."""
        return StreamingResponse(self._beats(), media_type="text/event-stream", headers=HEADERS)

    async def _beats(self) -> AsyncIterator[str]:
        self._viewers += 1
        try:
            while True:
                yield ":\n\n"
                await anyio.sleep(1)
        finally:
            self._viewers -= 1
            with anyio.CancelScope(shield=True):
                await anyio.sleep(GRACE)
            if not self._viewers:
                self.stop()

    async def _run(self, request: Request) -> Response:
        """Run a state, unless a newer one has been asked for in the meantime."""
        self._asked = number = self._asked + 1
        try:
            state = msgspec.json.decode(await request.body(), type=State)
        except msgspec.DecodeError as error:
            return _json({"error": f"the state of the page must be a known one: {error}"}, 400)
        async with self._alone:
            if number != self._asked:
                return _json({"error": None})
            try:
                found, report = await anyio.to_thread.run_sync(answer, state)
            except InvalidInput as error:
                return _json({"error": str(error)})
        self._pages[number] = page_text(report.title, report.data, circuits=report.circuits)
        if len(self._pages) > MOST_PAGES:
            self._pages.popitem(last=False)
        return _json({"answer": found, "page": f"page/{number}"})

    async def _page(self, request: Request) -> Response:
        """Return the page of a run, which has a policy of its own."""
        page = self._pages.get(request.path_params["number"])
        if page is None:
            return PlainTextResponse("this run is gone", 404, HEADERS)
        framed = {"Content-Security-Policy": "frame-ancestors 'self'"}
        return HTMLResponse(page, headers=HEADERS | framed)


class _Guard:
    """What every request passes first: its host, its origin, its token, and its size."""

    def __init__(self, site: ASGIApp, host: str, token: str) -> None:
        self._site, self._host, self._token = site, host, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope), scope["path"])
        if refusal is None:
            body = await _limited(receive) if scope["method"] == "POST" else b""
            if body is not None:
                await self._site(scope, _replay(body, receive) if body else receive, send)
                return
            refusal = Response(status_code=413)
        await refusal(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        """Return the refusal of a request; None for one that may pass."""
        if headers.getlist("host") != [self._host]:
            return Response(status_code=421)
        if not {*headers.getlist("origin")} <= {f"http://{self._host}"}:
            return Response(status_code=403)
        token = path.lstrip("/").partition("/")[0].encode()
        if not secrets.compare_digest(token, self._token):
            return Response(status_code=404)
        return None


async def _limited(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it has more than :data:`MOST_BYTES`."""
    body, more = b"", True
    while more and len(body) <= MOST_BYTES:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body if len(body) <= MOST_BYTES else None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives a body that was read, and then what comes."""
    left = [body]

    async def give() -> Message:
        return {"type": "http.request", "body": left.pop()} if left else await receive()

    return give


def _file(name: str) -> Callable[[Request], Response]:
    """Return the endpoint of a file of the page."""
    text = (files(__package__) / "page" / name).read_text("utf-8")
    headers = HEADERS | {"Content-Security-Policy": POLICY}
    media = TYPES[name.rpartition(".")[2]]
    return lambda _request: Response(text, media_type=media, headers=headers)


def _choices(_request: Request) -> Response:
    """Return the names from which the page chooses."""
    names = [each for each in COLLECTIVES if each != Collective.MULTICAST]
    algorithms = {each: [algorithm.name for algorithm in algorithms_for(each)] for each in names}
    rooted = [each for each in names if each.rooted]
    return _json(
        {
            **{"networks": SIZES, "collectives": [*names, TRAFFIC], "algorithms": algorithms},
            **{"rooted": rooted, "patterns": [*PATTERNS], "limits": LIMITS},
        }
    )


def _json(content: object, status: int = 200) -> Response:
    headers = {**HEADERS, "Content-Type": "application/json"}
    return Response(msgspec.json.encode(content), status, headers)
