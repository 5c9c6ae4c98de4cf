"""What a recipe wants of its model's output and never gets."""

from __future__ import annotations

import pytest

from burstlens.workflows.models.command import Command
from burstlens.workflows.recipe.wanted import Wanted, remarks, wanted, with_remarks

RECIPE = """\
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[[product]]
name = "t2"
kind = "map"
variable = "T2"
[[guard]]
name = "calm"
variable = "T2"
max = 400
then = "alarm"
stream = "winds"
[stage_out]
keep = ["rst_*"]
"""


@pytest.fixture
def base(tmp_path):
    (tmp_path / "1" / "out").mkdir(parents=True)
    for name in ("out/rst_1", "model.log", "notes"):
        (tmp_path / "1" / name).write_text("")
    (tmp_path / "1" / "rst_0").symlink_to("../inputs/rst_0")
    return tmp_path / "1"


def test_streams_without_a_frame_are_named_with_who_wants_them(recipe):
    made = recipe(text=RECIPE)
    assert wanted(made, {"output"}) == Wanted(("rst_*",), {"winds": "guard calm"})
    assert wanted(made, {"output", "winds"}).streams == {}
    assert set(wanted(made, ()).streams) == {"output", "winds"}


def test_each_remark_says_where_was_looked_and_what_was_there(base, tmp_path):
    model = Command(argv=["x"], frames={"winds": "winds/*.nc"})
    what = Wanted(("rst_*", "out/*"), {"winds": "guard calm"})
    stream, keep = remarks(what, base, model, tmp_path / "output")
    assert stream == (
        f"no frame of stream winds came (guard calm); it was looked for in {base}/winds: "
        "there are notes, out/rst_1"
    )
    assert keep == f"stage_out.keep: no file matches 'rst_*' in {base}: there are out/rst_1, notes"


def test_what_came_home_before_it_was_released_is_not_missed(base, tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "rst_7").write_text("")
    assert remarks(Wanted(("rst_*",)), base, Command(argv=["x"]), tmp_path / "output") == []


def test_a_model_that_left_no_files_is_reported(tmp_path):
    (said,) = remarks(Wanted(("*.nc",)), tmp_path, Command(argv=["x"]), tmp_path / "output")
    assert said.endswith(": the model left no file there but logs")


UNMADE = "product w was not made: no frame of stream d02 came"
ABSENT = "no frame of stream d02 came (product w); it was looked for in /b: there is x"
UNKEPT = "stage_out.keep: no file matches '*.nc' in /b: the model left no file there but logs"


@pytest.mark.parametrize(
    ("message", "said", "told"),
    [
        ("", [UNKEPT], UNKEPT),
        (UNMADE, [ABSENT], f"{UNMADE}; it was looked for in /b: there is x"),
        ("product u failed", [ABSENT], f"product u failed; {ABSENT}"),
        (UNMADE, [ABSENT, UNKEPT], f"{UNMADE}; {ABSENT}; {UNKEPT}"),
    ],
)  # fmt: skip
def test_a_message_that_says_already_what_is_missing_only_gets_where_it_was_looked_for(
    message, said, told
):
    assert with_remarks(message, said) == told
