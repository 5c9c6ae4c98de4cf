"""``burstlens movie``: which movies of a run to make, where to write them, and their progress."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from burstlens.clients.api.run import Run, open_run
from burstlens.clients.pages.movie import Movie, make_movie, one_stream, suffix
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.quantity import counted, show_bytes
from burstlens.core.run.index import Published


@dataclass(frozen=True, slots=True)
class Made:
    """A movie of a run, which may still be in progress; ``stale`` pictures were left out."""

    movie: Movie
    going_on: bool
    stale: int = 0
    for_want_of_mp4: bool = False

    def text(self) -> str:
        """In a sentence."""
        it = self.movie
        text = f"{it.path}: {counted(it.frames, 'frame')}{' so far' if self.going_on else ''}"
        text += f", {counted(it.holes, 'hole')}" if it.holes else ""
        text += f", {counted(self.stale, 'stale picture')} left out" if self.stale else ""
        if it.missing:
            text += f", {counted(len(it.missing), 'file')} left out that cannot be read"
        text += f", {it.fps:g} a second, {show_bytes(it.bytes)}"
        if self.for_want_of_mp4:
            text += f"; an animated PNG, as MP4 needs imageio-ffmpeg: {install_command('movie')}"
        return text

    def value(self) -> dict[str, Any]:
        """As JSON values."""
        it = self.movie
        return {
            "path": str(it.path), "product": it.product, "frames": it.frames, "holes": it.holes,
            "missing": list(it.missing), "size": list(it.size), "fps": it.fps, "bytes": it.bytes,
            "going_on": self.going_on, "stale": self.stale,
        }  # fmt: skip


def make_movies(
    name: str, product: str | None, out: str | None, fps: float | None, stream: str | None = None
) -> list[Made]:
    """Make the movie of a product, or one of each product that is a picture.

    A progress bar is shown on standard error, where it is a terminal. Raises RunError when
    there are no pictures, with near names for an unknown product.
    """
    run = open_run(name)
    series = _series(run, product, stream)
    if out is not None and len(series) > 1:
        raise RunError(f"--out is for one movie; name the product: {', '.join(series)}")
    going_on = bool(run.read_status().driver_alive)
    made = []
    count = TextColumn("{task.completed}/{task.total}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        for title, found in series.items():
            entries = [one for one in found if not one.stale]
            path = Path(out).expanduser() if out else Path(f"{run.id}-{title}{suffix()}")
            task = bar.add_task(title, total=len(entries))

            def progress(done: int, task: TaskID = task) -> None:
                bar.update(task, completed=done)

            movie = make_movie(run.directory.products, entries, path, fps=fps, progress=progress)
            left_out = len(found) - len(entries)
            made.append(Made(movie, going_on, left_out, out is None and path.suffix == ".png"))
    return made


def _series(run: Run, product: str | None, stream: str | None) -> dict[str, list[Published]]:
    """The pictures of one product, or of each that has some, in order of valid time; those of
    ``stream``, else of each product's first one."""
    products = run.products
    views = [products[product]] if product is not None else list(products.values())
    wanted = {
        view.name: [one for one in view.entries if stream in (None, one.stream)] for view in views
    }
    series = {name: shown for name, found in wanted.items() if (shown := one_stream(found))}
    series = {name: found for name, found in series.items() if not all(it.stale for it in found)}
    if not series:
        of = run.id if product is None else f"{product} of {run.id}"
        named = f"{of} has" if stream is None else f"{of}, stream {stream}, has"
        raise RunError(f"{named} no pictures that a movie could be made of")
    return series
