"""Webhooks: the facts as JSON, with the newest picture, posted to one address."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from burstlens.workflows.notify.picture import Picture

WEBHOOK_S = 10.0
MOST_BYTES = 2 << 20
"""Bytes of the largest picture in a post; base64 makes a third more of it."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: facts are sent only to the address that was given."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post(url: str, facts: Mapping[str, Any], picture: Picture | None, mark: str) -> None:
    """POST the facts. ``mark`` is the same each time that this word is sent to this address.

    Raises OSError, HTTPException, ValueError.
    """
    shown = {} if picture is None else {"picture": picture.value(MOST_BYTES)}
    request = urllib.request.Request(  # noqa: S310  (ways are http or https)
        url,
        data=json.dumps({**facts, **shown}).encode(),
        headers={
            "Content-Type": "application/json",
            "User-Agent": "Burstlens",
            "Idempotency-Key": mark,
        },
        method="POST",
    )
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=WEBHOOK_S):
        return
