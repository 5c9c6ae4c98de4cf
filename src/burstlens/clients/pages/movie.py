"""A movie of a product: its pictures in the order of their valid times.

MP4 is H.264 in 4:2:0 with even sizes and its index at the front, which browsers and slides play
at once; colours are marked as BT.709, so that players show those of the pictures. APNG needs
nothing but Pillow, keeps every pixel, and is for short series.
"""

from __future__ import annotations

import contextlib
import io
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from burstlens.clients.opened.file_errors import replacing
from burstlens.clients.opened.picture import is_picture, read_picture
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.run.index import Published, product_path

LASTS_S = 10.0
SLOWEST_FPS, FASTEST_FPS = 2.0, 12.0
LARGEST_APNG_BYTES = 1 << 30
"""Of its pictures in memory."""
_COLOURS = ("colorspace", "color_primaries", "color_trc")
_MP4 = [
    *("-preset", "medium", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"),
    *("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-color_range", "tv"),
    *(word for name in _COLOURS for word in (f"-{name}", "bt709")),
    *("-threads", "2"),  # it may be a login node
]

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Movie:
    """A complete movie at ``path``.

    ``frames`` counts its pictures, ``holes`` those that stand for a frame without one; ``missing``
    are names in the index whose file cannot be read as a picture, left out.
    """

    path: Path
    product: str
    frames: int
    holes: int
    missing: tuple[str, ...]
    size: Size
    fps: float
    bytes: int


def suffix() -> str:
    """``.mp4``, or ``.png`` (APNG) where imageio-ffmpeg is not installed."""
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        return ".png"
    return ".mp4"


def one_stream(entries: Sequence[Published]) -> list[Published]:
    """The pictures of a product's first stream: those of several would flicker."""
    pictures = [entry for entry in entries if is_picture(entry.name)]
    return [entry for entry in pictures if entry.stream == pictures[0].stream]


def make_movie(
    products: Path,
    entries: Sequence[Published],
    out: Path,
    *,
    fps: float | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Movie:
    """Write the pictures of ``entries``, in their order, as exactly ``out`` (.mp4, .png, .apng).

    ``fps`` is frames a second; by default the movie lasts about 10 s. ``progress`` gets the
    number of pictures taken so far. A picture of another size than most is fitted into theirs.
    Raises RunError when no picture can be read or the movie cannot be written; then, and when it is
    interrupted, no file is left and one that stood at ``out`` still does.
    """
    writer = {".mp4": _write_mp4, ".png": _write_apng, ".apng": _write_apng}.get(out.suffix.lower())
    if writer is None:
        raise RunError(f"{out.name}: a movie is .mp4, or .png or .apng for an animated PNG")
    sizes = {entry.name: size for entry in entries if (size := _size(products, entry))}
    if not sizes:
        raise RunError(f"none of the {len(entries)} pictures can be read")
    width, height = Counter(sizes.values()).most_common(1)[0][0]
    size = width + width % 2, height + height % 2
    shown = [entry for entry in entries if entry.name in sizes]
    rate = fps or min(FASTEST_FPS, max(SLOWEST_FPS, len(shown) / LASTS_S))

    def pictures() -> Iterator[Image.Image]:
        for number, entry in enumerate(shown, start=1):
            yield _fitted(_read(products, entry), size)
            progress(number)

    with replacing(out) as part:
        part.touch()  # ffmpeg would not report why it cannot write
        writer(part, pictures(), size, rate)
        written = part.stat().st_size
    holes = sum(bool(entry.placeholder) for entry in shown)
    missing = tuple(entry.name for entry in entries if entry.name not in sizes)
    return Movie(
        out, entries[0].product, frames=len(shown), holes=holes, missing=missing, size=size,
        fps=rate, bytes=written,
    )  # fmt: skip


def _write_mp4(part: Path, pictures: Iterator[Image.Image], size: Size, fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise RunError(f"an MP4 needs imageio-ffmpeg: {install_command('movie')}") from error
    writer: Any = imageio_ffmpeg.write_frames(
        str(part.absolute()), size, fps=fps, codec="libx264", quality=None, macro_block_size=2,
        ffmpeg_log_level="error", output_params=[*_MP4, "-g", str(max(1, round(2 * fps)))],
    )  # fmt: skip
    count = 0
    try:
        with _uninterrupted():  # an ffmpeg without its owner would keep writing
            writer.send(None)
        for picture in pictures:
            writer.send(picture.tobytes())
            count += 1
    except BaseException as error:
        with contextlib.suppress(BaseException):  # ends ffmpeg at once, and raises it again
            writer.throw(error)
        raise
    writer.close()
    # imageio-ffmpeg hides ffmpeg's exit status: the frames in the file are counted.
    try:
        held, _ = imageio_ffmpeg.count_frames_and_secs(str(part.absolute()))
    except RuntimeError:
        held = 0
    if held != count:
        raise RunError(f"ffmpeg wrote {held} of {count} pictures; is the disk full?")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _write_apng(part: Path, pictures: Iterator[Image.Image], size: Size, fps: float) -> None:
    # Pillow compares all pictures with each other, so it has to hold them.
    held: list[Image.Image] = []
    for picture in pictures:
        held.append(picture)
        if len(held) * size[0] * size[1] * 3 > LARGEST_APNG_BYTES:
            raise RunError(
                f"more than {len(held) - 1} pictures of this size are too many for an animated "
                f"PNG; MP4 needs imageio-ffmpeg: {install_command('movie')}"
            )
    held[0].save(
        part, format="PNG", save_all=True, append_images=held[1:], duration=1000 / fps, loop=0
    )


def _size(products: Path, entry: Published) -> Size | None:
    """The size of a picture, by its head alone; None for any other file."""
    try:
        path = product_path(products, entry.name)
        if not path.is_file():  # opening a pipe would block
            return None
        with Image.open(path) as image:
            return image.size
    except (RunError, OSError, ValueError, Image.DecompressionBombError):
        return None


def _read(products: Path, entry: Published) -> Image.Image | None:
    """The picture; None where only its head is valid."""
    try:
        data = read_picture(product_path(products, entry.name))
        return Image.open(io.BytesIO(data)).convert("RGBA")
    except (RunError, OSError, ValueError, SyntaxError):
        return None


def _fitted(picture: Image.Image | None, size: Size) -> Image.Image:
    """The picture on a canvas of that size, scaled down where it is larger; white around it."""
    canvas = Image.new("RGB", size, "white")
    if picture is None:
        return canvas
    if picture.width > size[0] or picture.height > size[1]:
        picture.thumbnail(size, Image.Resampling.LANCZOS)
    left, top = (size[0] - picture.width) // 2, (size[1] - picture.height) // 2
    canvas.paste(picture, (left, top), picture)
    return canvas
