"""A real Chromium (Debian's) for tests, and pages that record errors and outside requests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from debian import UnavailableError, provided

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

SHELL = "chromium-headless-shell"
"""The same engine without the browser around it: a page in a profile of its own takes a sixth of
the CPU time."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WAIT_MS = 15_000
LOCAL = {"", "127.0.0.1", "localhost"}


@dataclass
class Watched:
    """A page, the errors it has logged, and its requests to other machines."""

    page: Page
    errors: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._logged)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(message.text)

    def _asked(self, url: str) -> None:
        if (urlsplit(url).hostname or "") not in LOCAL:
            self.strayed.append(url)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser, shared by the session. Without it tests are skipped, except where CI is set."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT_MS)  # 5 s by default: less than a busy machine may need
    try:
        program = provide()
    except UnavailableError as error:
        if os.environ.get("CI", "").lower() in ("", "0", "false"):
            pytest.skip(f"no Chromium: {error}")
        pytest.fail(f"no Chromium: {error}", pytrace=False)
    # Root's Chromium does not start inside its sandbox.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Browser) -> Iterator[Callable[..., Watched]]:
    """Opens pages, each in a profile of its own, 1440 x 900 by default. Fails at the test's end if
    one has left this machine or logged an error; a test that expects an error removes it.
    """
    opened: list[Watched] = []

    def make(**how: Any) -> Watched:
        context = chromium.new_context(**{"viewport": {"width": 1440, "height": 900}} | how)
        context.set_default_timeout(WAIT_MS)
        opened.append(Watched(context.new_page()))
        return opened[-1]

    yield make
    for one in opened:
        one.page.context.close()
    strayed = [url for one in opened for url in one.strayed]
    errors = [text for one in opened for text in one.errors]
    # With their text: what lies beside the tests is not rewritten by pytest.
    assert not strayed, strayed
    assert not errors, errors


@pytest.fixture
def watched(new_page: Callable[..., Watched]) -> Watched:
    """One such page."""
    return new_page()


@pytest.fixture
def page(watched: Watched) -> Page:
    """The Playwright page of :func:`watched`."""
    return watched.page


def provide() -> str:
    """The path of Chromium, installed from Debian's packages where it is missing.

    Raises UnavailableError.
    """
    try:
        return provided(SHELL, package=SHELL)
    except UnavailableError:
        return provided(*PROGRAMS, package="chromium")
