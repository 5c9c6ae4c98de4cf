"""The site file of docs/look.md is right as it stands, and shows each key of its table."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from burstlens.cluster_configs.site import read

PAGE = Path(__file__).parents[2] / "docs" / "look.md"


def test_the_site_file_of_the_page_bounds_all_that_look_can_be_bounded_by(tmp_path: Path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / "ourcluster.toml"
    path.write_text(text)
    assert asdict(read(path).look) == {
        "workers": 2, "max_read_rate": 200_000_000, "poll_s": 5.0, "login_nodes": "allow",
        "enter_jobs": True,
    }  # fmt: skip
