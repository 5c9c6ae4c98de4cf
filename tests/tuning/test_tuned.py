"""The recipe that a tuning writes, its table and its words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest

from burstlens.workflows.driver.run import create
from burstlens.workflows.recipe.file import known, read
from burstlens.workflows.recipe.load import check
from burstlens.workflows.tuning import plot, summary
from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.driving.results import base_of, tuned_recipe, write
from burstlens.workflows.tuning.plot import draw
from burstlens.workflows.tuning.search import Standing
from burstlens.workflows.tuning.space import (
    DEFAULT,
    Configuration,
    Factor,
    Measured,
    Origin,
    Plan,
    Space,
    Trial,
)
from burstlens.workflows.tuning.verdict import judge, noise_of

CB, NODES = (f'simulation.mpiio_hints."out.*".{name}' for name in ("romio_cb_write", "cb_nodes"))
SPACE = Space((Factor(CB, ("enable", "disable")), Factor(NODES, (1, 2), {CB: ("enable",)})))
LEADER = Configuration(((CB, "enable"), (NODES, 2)))
BASE = """
title = "Base"
[simulation]
model = "command"
inputs = "inputs"
command = ["./a"]
[simulation.mpiio_hints."out.*"]
cb_nodes = 1
striping_unit = 65536
"""


def trial(phase, configuration, origin, **seconds):
    measured = Measured(seconds) if seconds else None
    return Trial(Plan(phase, configuration, origin), measured, "it\nfailed\t!", 3.0, 1.5)


TRIALS = [replace(one, number=number) for number, one in enumerate((
    *[trial("pilot", DEFAULT, "default", a=1.0 + n, b=1.0) for n in range(3)],
    trial("search", Configuration(((CB, "disable"),)), "rule"),
    trial("search", LEADER, "model", a=0.5, b=0.5),
    *[trial("pair", DEFAULT, "default", a=2.0 + n, b=1.0) for n in range(3)],
    *[trial("pair", LEADER, "leader", a=0.5, b=0.5) for n in range(3)],
), 1)]  # fmt: skip
GAIN = Ending(judge([3.0, 4.0, 5.0], [1.0] * 3), Standing(LEADER, 1.0, 1), noise_of([2, 3, 4]))
NONE = Ending(judge([1.0], [2.0]), Standing(LEADER, 2.0, 1), noise_of([2, 3, 4]))


def test_the_tuned_recipe_finds_inputs_that_a_parameter_has_beside_the_base(tmp_path):
    text = BASE.replace('inputs = "inputs"', 'inputs = "{inputs}"')
    place = '[parameters]\ninputs = { type = "path", default = "." }\n'
    (tmp_path / "base.toml").write_text(text + place)
    made, table = check(read(str(tmp_path / "base.toml")))
    assert made.inputs == tmp_path
    run = create(made, table, tmp_path / "base.toml", "local", "t", folder=tmp_path / "runs")
    write(run, SPACE, TRIALS, GAIN)
    recipe, _ = check(read(str(run.path / "tuning" / "tuned.toml")))
    assert recipe.inputs == tmp_path
    assert recipe.simulation.mpiio_hints["out.*"]["cb_nodes"] == 2


def test_the_tuned_recipe_is_the_base_with_the_leaders_values(tmp_path):
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "inputs").mkdir()
    elsewhere = tmp_path / "runs" / "t" / "tuned.toml"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text(tuned_recipe(str(tmp_path / "base.toml"), LEADER, ["two\nlines"]))
    recipe, _ = check(read(str(elsewhere)))
    assert recipe.simulation.mpiio_hints == {
        "out.*": {"cb_nodes": 2, "striping_unit": 65536, "romio_cb_write": "enable"}
    }
    assert recipe.inputs == (tmp_path / "inputs").resolve()
    assert recipe.title == "Base"


def test_the_sentence_has_each_stream_before_and_after():
    said = summary.sentence(TRIALS, GAIN)
    assert "I/O for a: default 3 s, tuned 0.5 s; I/O for b: default 1 s, tuned 0.5 s." in said
    assert "4 times as fast (3 to 5)" in said
    assert "romio_cb_write=enable cb_nodes=2" in said


def test_without_a_gain_the_sentence_says_so_with_the_noise():
    said = summary.sentence(TRIALS, NONE)
    assert said.startswith("No gain beyond noise: ")
    assert "varies by 33% (3 runs)" in said


def test_noise_load_and_failures_are_remarked():
    said = " ".join(summary.remarks(TRIALS, GAIN))
    assert "noisy" in said
    assert "load average of 1.5" in said
    assert "1 of 11 trials failed" in said


def test_output_that_takes_longer_than_its_run_is_remarked():
    assert any(
        "In 3 of 11 trials output took longer" in one for one in summary.remarks(TRIALS, NONE)
    )
    shorter = [replace(one, wall_s=9.0) for one in TRIALS]
    assert not any("took longer" in one for one in summary.remarks(shorter, NONE))


def test_what_a_model_printed_breaks_no_line_of_the_table():
    lines = summary.as_tsv(TRIALS).splitlines()
    assert len(lines) == 1 + len(TRIALS)
    assert {len(line.split("\t")) for line in lines} == {len(summary.COLUMNS)}


def test_the_json_has_every_trial_and_is_json():
    found = json.loads(json.dumps(summary.as_json(TRIALS, GAIN)))
    assert len(found["trials"]) == len(TRIALS)
    assert found["leader"] == {CB: "enable", NODES: 2}
    assert found["trials"][3]["seconds"] is None


@pytest.mark.parametrize("trials", [TRIALS, TRIALS[:3], TRIALS[:4]])
def test_a_picture_is_drawn_of_any_part_of_a_tuning(tmp_path, trials):
    draw(tmp_path / "a.png", "Tuning of $x$ <b>", SPACE, trials, NONE)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_has_a_colour_and_words_for_every_reason_to_try():
    assert set(get_args(Origin)) == set(plot.COLOURS) == set(plot.WORDS)


def test_trials_keep_their_numbers_where_one_was_lost():
    kept = [one for one in TRIALS if one.number != 2]
    assert [row["trial"] for row in summary.rows(kept)] == [1, *range(3, 12)]


def test_a_small_gain_is_given_with_three_digits():
    verdict = judge([1.1, 1.12, 1.13], [1.0, 1.01, 1.02])
    said = summary.sentence(TRIALS, Ending(verdict, GAIN.leader, GAIN.noise))
    assert "1.11 times as fast (1.08 to 1.13)" in said


def test_a_recipe_that_has_a_name_is_extended_by_its_name():
    shipped = known()["io-btio"]
    assert base_of(str(shipped.resolve()), known()) == "io-btio"
    assert base_of("/home/me/storm.toml", known()) == "/home/me/storm.toml"
