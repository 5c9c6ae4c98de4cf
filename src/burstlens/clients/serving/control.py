"""Control: a request from the page to steer a run becomes a file in the run's ``control/``."""

from __future__ import annotations

import asyncio
import json
import os
import pwd

from aiohttp import web

from burstlens.clients.opened.status import has_ended
from burstlens.clients.opened.steering import stop_refused, told_directly
from burstlens.clients.serving.shelf import Shelf
from burstlens.core.errors import RunError
from burstlens.core.nearness import did_you_mean
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir
from burstlens.core.run.requests import STOPS

ASKS = ("stop", "stop-now", "pause", "resume-watching")
BODY_BYTES = 4096
BODY_S = 10.0
HEADER = "X-Burstlens"
"""A header that another site's page cannot send without a CORS preflight, which is refused."""


class RefusedError(Exception):
    """Why a request is refused, as text, and the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def asked(request: web.Request) -> str:
    """The action that a request names. Raises RefusedError when it is not well-formed."""
    if request.headers.get(HEADER) != "1":
        raise RefusedError(403, f"the header {HEADER}: 1 is missing")
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.read()
        ask = json.loads(body)["ask"]
    except web.HTTPRequestEntityTooLarge:
        raise RefusedError(413, f"the request is larger than {BODY_BYTES} bytes") from None
    except TimeoutError:
        raise RefusedError(408, "the request does not come to its end") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RefusedError(400, 'a JSON object is needed, such as {"ask": "stop"}') from None
    if ask not in ASKS:
        name = printable(str(ask))[:80]
        raise RefusedError(400, f'nothing is known by "{name}"{did_you_mean(name, ASKS)}')
    return str(ask)


def grant(shelf: Shelf, name: str, ask: str) -> None:
    """Drop the control file. Raises RefusedError, OSError when there is no such run."""
    run = shelf.run_dir(name)
    status = shelf.status(name)
    if has_ended(status):  # a model may outlive its driver
        raise RefusedError(409, f"{name} is over already: {status.state}")
    if ask in {"stop", "stop-now"} and (reason := stop_refused(name, status)) is not None:
        raise RefusedError(409, reason)
    if run.control.is_symlink():
        raise RefusedError(403, f"{run.control} leads elsewhere")
    try:
        run.request(ask)
    except RunError as error:
        if ask not in STOPS or not told_directly(run, ask):
            raise RefusedError(403, f"{error}{_whose(run)}") from None


def _whose(run: RunDir) -> str:
    owner = run.path.stat().st_uid
    if owner == os.geteuid():
        return ""
    try:
        known = pwd.getpwuid(owner).pw_name
    except KeyError:
        known = f"user {owner}"
    return f"; the run belongs to {known}"
