"""PNG files hold the pixels and words given, by an independent reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from burstlens.core.errors import StagingError
from burstlens.viz.drawing.png import write_png


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 4), (5, 1, 3), (33, 57, 4), (64, 64, 3)])
def test_the_pixels_are_those_given(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    write_png(pixels, tmp_path / "a.png", {}, 100)
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "RGB"
        np.testing.assert_array_equal(np.asarray(image), pixels[..., :3])


@pytest.mark.parametrize("channels", [3, 4])
def test_rows_that_repeat_the_one_above_are_kept_and_take_almost_no_space(
    tmp_path: Path, channels: int
) -> None:
    row = np.random.default_rng(2).integers(0, 256, (1, 300, channels), dtype=np.uint8)
    write_png(row, tmp_path / "one.png", {}, 100)
    write_png(np.repeat(row, 200, axis=0), tmp_path / "many.png", {}, 100)
    with Image.open(tmp_path / "many.png") as image:
        np.testing.assert_array_equal(np.asarray(image), np.repeat(row[..., :3], 200, axis=0))
    sizes = [(tmp_path / f"{name}.png").stat().st_size for name in ("one", "many")]
    assert sizes[1] < sizes[0] + 1500


def test_texts_and_resolution_are_kept_and_the_bytes_repeat(tmp_path: Path) -> None:
    pixels = np.zeros((8, 9, 3), np.uint8)
    texts = {"Title": "Température à 2 m", "Source": "run r"}
    for name in ("a.png", "b.png"):
        write_png(pixels, tmp_path / name, texts, 144)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        image.load()
        assert {key: image.info[key] for key in texts} == texts
        assert image.info["dpi"] == pytest.approx((144, 144), abs=0.02)


def test_a_file_that_cannot_be_written_is_a_staging_error(tmp_path: Path) -> None:
    with pytest.raises(StagingError):
        write_png(np.zeros((8, 9, 3), np.uint8), tmp_path / "absent" / "a.png", {}, 100)
    assert not list(tmp_path.iterdir())
