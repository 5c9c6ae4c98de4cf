"""What recipes ask of any picture: its size, and the limits of its colours."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_PX = 8000


@dataclass(frozen=True, slots=True)
class FirstFrames:
    """Colour limits frozen by what the first frames hold."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    first: int = 1
    """How many frames are looked at; frames in which the field is constant do not count."""

    def __post_init__(self) -> None:
        if self.first < 1:
            raise ValueError("limits: first must be 1 or more")


Limits = tuple[float, float] | FirstFrames


def frames_measured(limits: Limits) -> int:
    """How many frames are measured for these limits: 0 when they are given."""
    return limits.first if isinstance(limits, FirstFrames) else 0


def check_limits(limits: Limits | None, *, log: bool = False, centred: bool | None = None) -> None:
    """ValueError when limits do not ascend, or do not go with logarithmic or diverging colours."""
    if isinstance(limits, tuple) and not limits[0] < limits[1]:
        raise ValueError("limits: the first number must be below the second")
    if log and centred:
        raise ValueError("log and centred do not go together")
    if log and isinstance(limits, tuple) and limits[0] <= 0:
        raise ValueError("limits must be above zero with log = true")


def check_size(width_px: int, height_px: int | None, dpi: int, *, least: tuple[int, int]) -> None:
    """ValueError when a picture is too small to hold its words, or larger than anybody needs.

    ``least`` is the smallest width and height in pixels; ``height_px`` None stands for one that
    the domain's shape gives.
    """
    for name, given, lowest in zip(
        ("width_px", "height_px"), (width_px, height_px), least, strict=True
    ):
        if given is not None and not lowest <= given <= LARGEST_PX:
            raise ValueError(f"{name} must be {lowest} to {LARGEST_PX}, not {given}")
    if not 40 <= dpi <= 600:
        raise ValueError(f"dpi must be 40 to 600, not {dpi}")
