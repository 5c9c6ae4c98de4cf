"""Starts, feeds and ends the process that renders a worker's scenes."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache
from multiprocessing import Pipe
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.kinds.scene.stage import Stage

TIMEOUT_S = 300.0
_GRACE_S = 5.0
_TAIL_BYTES = 2000
_NEEDS = (
    "off-screen pictures need vtk 9.4 or later and the system's libEGL (Mesa's works without a "
    "GPU) or libOSMesa"
)


class Renderer:
    """A process of :mod:`.render`: started when needed, and again after it ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Any = None
        self._words: Any = None
        self._rendered = 0

    @property
    def pid(self) -> int | None:
        """The process's number; None while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, unless it runs: it imports VTK while the worker continues."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._pipe, theirs = Pipe()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "XAUTHORITY")}
        # EGL first: asking for X takes time and warns. VTK falls back to OSMesa by itself.
        environment.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
        # Mesa takes all cores by itself, and the other workers have theirs.
        environment.setdefault("LP_NUM_THREADS", "2")
        numbers = str(theirs.fileno()), str(os.getpid())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "burstlens.viz.kinds.scene.render", *numbers],
                pass_fds=(theirs.fileno(),), env=environment, stdin=subprocess.DEVNULL,
                stdout=self._words, stderr=self._words,
            )  # fmt: skip

    def render(self, stage: Stage, timeout_s: float = TIMEOUT_S) -> NDArray[np.uint8]:
        """The picture as (height, width, 3) bytes, the top row first.

        Raises FrameError when the process fails, ends or is too slow; the next picture gets a new
        one, also after an interruption.
        """
        self.start()
        assert self._process is not None
        late = threading.Event()
        # Not only the answer may be late: a process that hangs does not read the stage either.
        watch = threading.Timer(timeout_s, _kill, (self._process, late))
        answered = False
        watch.start()
        try:
            self._pipe.send(stage)
            answer = self._pipe.recv()
            answered = True
        except (EOFError, OSError) as error:
            reason = self._end()
            if late.is_set():
                reason = f"the scene took longer than {timeout_s:g} s to render"
            raise FrameError(reason) from error
        finally:
            watch.cancel()
            # After any interruption: an answer left in the pipe would become the next picture.
            if not answered:
                self.close()
        if isinstance(answer, str):
            raise FrameError(f"the scene cannot be rendered: {answer}")
        self._rendered += 1
        return np.asarray(answer)

    def close(self) -> None:
        """End the process and forget it."""
        if self._process is None:
            return
        self._pipe.close()
        self._process.kill()
        self._process.wait()
        self._words.close()
        self._process = None
        self._rendered = 0

    def _end(self) -> str:
        """How the process ended, in words."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        code = self._process.poll()
        self._words.seek(max(0, os.fstat(self._words.fileno()).st_size - _TAIL_BYTES))
        said = self._words.read().decode(errors="replace").strip().splitlines()
        first = self._rendered == 0
        self.close()
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by {signal.Signals(-code).name}"
        reason = f" ({_NEEDS})" if first and code == -signal.SIGSEGV else ""
        last = f": {said[-1]}" if said and not reason else ""
        return f"the process that renders scenes was ended {how}{reason}{last}"


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


@cache
def _worker_s() -> Renderer:
    held = Renderer()
    atexit.register(held.close)
    return held


def renderer() -> Renderer:
    """This worker's renderer, running."""
    held = _worker_s()
    held.start()
    return held
