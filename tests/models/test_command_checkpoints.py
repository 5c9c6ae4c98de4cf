"""The checkpoints of any program: their names, what proves them, and how it continues."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.checkpoint_names import CheckpointNames
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    NothingLeftError,
    Proof,
    Start,
)

HERE = Path()


def program(*files: str, argv=("./m",), restart=("./m", "{checkpoint}"), about=None, **keys):
    """The adapter of a program with these names of checkpoints."""
    names = CheckpointNames(files or ("state_{time}.nc",), **(about or {}))
    keys = {"frames": "*.nc"} | keys
    return Command(argv=argv, restart_command=restart, **keys).with_checkpoints(names)


def key(seconds: float) -> str:
    return f"t{seconds:012.3f}"


@pytest.mark.parametrize(
    ("pattern", "name", "time"),
    [
        ("state_{time}.nc", "state_12.5.nc", key(12.5)),
        ("state_{time}.nc", "./state_0007.nc", None),
        ("state_{time}.nc", "state_0007.nc", key(7)),
        ("rst/state_{time}", "rst/state_2005-08-28_12", "20050828T120000"),
        ("state_{time}.nc", "state_final.nc", None),
        ("state_{time}.nc", "other_7.nc", None),
        ("state_{step}.bin", "state_000030.bin", key(3)),
        ("state_{step}.bin", "state_12.5.bin", None),
    ],
)
def test_the_name_gives_the_model_time(pattern, name, time):
    model = program(pattern, about={"step_s": 0.1})
    assert model.checkpoint_of(name) == (time and CheckpointName(time))


def test_seconds_and_steps_count_from_the_begin_of_the_run():
    model = program("state_{step}", about={"step_s": 3600.0}, begin="2005-08-28")
    assert model.checkpoint_of("state_36") == CheckpointName("20050829T120000")
    assert model.facts(HERE).start == "20050828T000000"


def test_steps_name_the_checkpoints_of_frames_without_time_as_they_name_the_frames():
    model = program("state_{step}.bin", time_variable="", frames="out_*.nc")
    assert model.checkpoint_of("state_0120.bin") == CheckpointName("n0000000120")
    assert model.identify("out_0120.nc").time == "n0000000120"


def test_each_pattern_is_a_part_and_each_rank_a_tile():
    files = ("sea_{step}.{rank}", "ice_{step}.nc")
    model = program(*files, about={"step_s": 1.0, "tiles": 4})
    found = model.checkpoint_of("sea_0012.0003")
    assert found == CheckpointName(key(12), files[0], 3, "sea_0012.*")
    assert model.checkpoint_of("ice_12.nc") == CheckpointName(key(12), files[1])
    assert tuple(model.checkpoint_parts(HERE, key(12))) == files
    assert model.checkpoint_tiles == 4


def test_a_checkpoint_holds_no_frames_and_is_watched_in_its_folder():
    flagged = {"proof": Proof.FLAG, "flag": "done/{time}"}
    model = program("rst/state_{time}.nc", about=flagged)
    assert model.identify("rst/state_7.nc") is None
    assert model.identify("state_7.nc").stream == "output"
    assert model.facts(HERE).folders == ("", "done", "rst")
    assert model.output_names(HERE).written[-2:] == ("rst/state_*.nc", "done/*")


def test_what_proves_it_is_what_the_recipe_says():
    assert program().checkpoint_proof("state_1.nc") is Proof.FILE
    model = program(about={"proof": Proof.FLAG, "flag": "done_{time}"})
    assert model.checkpoint_proof("state_1.nc") is Proof.FLAG
    assert model.flag_of("state_1.5.nc") == "done_1.5"
    assert model.flag_of("out_1.nc") is None


@pytest.mark.parametrize(
    ("path", "part"), [("/run/rst/sea_7", "rst/sea_{time}"), ("/run/ice_7", "ice_{time}")]
)
def test_an_absolute_path_in_the_log_ends_as_its_pattern(path, part):
    about = {"proof": Proof.LOG, "line": "^saved (?P<file>.*)"}
    said = program("rst/sea_{time}", "ice_{time}", about=about).read_line(f"saved {path}")
    assert (said.time, said.stream) == (key(7), part)


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        (r"^saved (?P<file>\S+)$", "saved state_7.nc", key(7)),
        (r"^saved (?P<file>\S+)$", "saved ./state_7.nc", key(7)),
        (r"^saved (?P<file>\S+)$", "saved /buffer/run/attempt-1/state_7.nc", key(7)),
        (r"^saved (?P<file>\S+)$", "saved /buffer/run/attempt-1/state_7.nc.part", None),
        (r"^saved (?P<file>\S+)$", "saved other.nc", None),
        (r"state at t = (?P<time>\S+)", "state at t = 12.5", key(12.5)),
        (r"state at step (?P<step>\d+)", "state at step 40", key(20)),
        (r"state at step (?P<step>\d+)", "step 40", None),
    ],
)
def test_a_line_of_the_log_names_the_checkpoint(pattern, line, found):
    model = program(about={"proof": Proof.LOG, "line": pattern, "step_s": 0.5})
    said = model.read_line(line)
    assert (said and (said.kind, said.time)) == (found and ("checkpoint", found))


def test_a_line_may_say_how_long_the_checkpoint_took():
    line = r"saved (?P<file>\S+) in (?P<seconds>\S+) s"
    files = ("sea_{time}.nc", "ice_{time}.nc")
    model = program(*files, about={"proof": Proof.LOG, "line": line})
    said = model.read_line("saved ice_7.nc in 0.5 s")
    assert (said.stream, said.took_s) == ("ice_{time}.nc", 0.5)


def test_it_continues_with_the_files_as_words_and_the_time_as_in_their_names():
    files = ("sea_{time}.nc", "ice_{time}.nc")
    restart = ("./m", "-t={time}", "--from", "{checkpoint}", "{other}")
    model = program(*files, restart=restart)
    wanted = Continuation(key(7), ("sea_007.nc", "ice_007.nc"))
    words = ["./m", "-t=007", "--from", "sea_007.nc", "ice_007.nc", "{other}"]
    assert model.start(HERE, wanted) == Start(words)
    assert model.start(HERE, Continuation()) == Start(["./m"])


def test_the_time_of_a_step_is_in_seconds_or_a_date():
    restart = ("./m", "{step}", "{time}", "--restart={checkpoint}")
    steps = {"step_s": 0.5}
    wanted = Continuation(key(3.5), ("state_0007",))
    model = program("state_{step}", restart=restart, about=steps)
    words = ["./m", "0007", "3.5", "--restart=state_0007"]
    assert model.start(HERE, wanted).command == words
    model = program("state_{step}", restart=restart, about=steps, begin="2005-08-28")
    wanted = Continuation("20050828T000003.5", ("state_0007",))
    assert model.start(HERE, wanted).command[2] == "2005-08-28T00:00:03.5"


def test_it_stops_at_a_cut_or_at_its_length():
    ends = ("./m", "{until}", "{every}")
    about = {"every_s": 0.5}
    model = program(argv=ends, restart=(*ends, "{checkpoint}"), length=20.0, about=about)
    assert model.cuts(HERE, 4) == [5.0, 10.0, 15.0]
    assert model.facts(HERE).total_s == 20.0
    assert model.command() == ["./m", "20", "0.5"]
    assert model.start(HERE, Continuation(until_s=5.0)).command == ["./m", "5", "0.5"]
    wanted = Continuation(key(5), ("state_5.nc",), until_s=10.0)
    assert model.start(HERE, wanted).command == ["./m", "10", "0.5", "state_5.nc"]
    with pytest.raises(NothingLeftError):
        model.start(HERE, Continuation(key(20), ("state_20.nc",)))
    with pytest.raises(RecipeError, match="cut by the walltime"):
        program(length=20.0).cuts(HERE, 4)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("state_8.nc",), "state_8.nc is not a file of the checkpoint of t = 7 s"),
        (("other.nc",), "other.nc is not a file of the checkpoint"),
    ],
)
def test_files_of_another_checkpoint_are_refused(files, message):
    with pytest.raises(RecipeError, match=message):
        program().start(HERE, Continuation(key(7), files))


def test_a_missing_part_and_changed_settings_are_refused():
    model = program("sea_{time}.nc", "ice_{time}.nc")
    with pytest.raises(RecipeError, match=r"t = 7 s has no file ice_\{time\}\.nc"):
        model.start(HERE, Continuation(key(7), ("sea_7.nc",)))
    with pytest.raises(RecipeError, match="dt: no setting of a command can be changed"):
        model.start(HERE, Continuation(settings={"dt": "1"}))


def test_restart_files_among_the_inputs_are_brought_along_and_named(tmp_path):
    model = program(argv=("true",))
    for name in ("state_3.nc", "state_7.nc"):
        assert not model.is_leftover(name)
        (tmp_path / name).touch()
    assert (
        "state_3.nc and 1 other among the inputs look like checkpoints" in model.check(tmp_path)[-1]
    )
    assert model.output_names(tmp_path).written[-1] == "state_*.nc"


def test_it_travels_to_other_processes():
    model = program("state_{step}.nc", about={"step_s": 0.5, "tiles": 2})
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"files": ("state.nc",)}, r"checkpoint.files: 'state.nc' needs \{time\} or \{step\}"),
        ({"files": ("{time}_{step}",)}, "checkpoint.files: .* needs"),
        ({"files": ("a_{time}_*.nc",)}, "must name one file of each checkpoint"),
        ({"files": ("a_{time}_{part}.nc",)}, r"there is no \{part\}, only \{time\}"),
        ({"flag": "done"}, "checkpoint.witness.flag: 'done' must name one file for each"),
        ({"flag": "{step}.ok"}, r"checkpoint.witness.flag: \{step\} is not in files"),
        ({"line": "("}, "checkpoint.witness.log: .* is not a regular expression"),
        ({"line": "saved"}, "checkpoint.witness.log: 'saved' does not say which checkpoint"),
        (
            {"files": ("a_{time}_{rank}",), "line": "(?P<file>.*)"},
            "the file of one rank does not prove those of the others",
        ),
    ],
)
def test_names_that_do_not_serve_are_refused(keys, message):
    with pytest.raises(RecipeError, match=message):
        CheckpointNames(**({"files": ("state_{time}.nc",)} | keys))


@pytest.mark.parametrize(
    ("files", "keys", "message"),
    [
        (("a_{step}.nc",), {}, "checkpoint.step: is needed"),
        (("a_{time}.nc",), {"restart": ()}, "checkpoint.files: simulation.restart_command is need"),
        (
            ("a_{time}.nc", "b_{time}.nc"), {"restart": ("./m", "-r={checkpoint}")},
            "simulation.restart_command: {checkpoint} stands for several files",
        ),
        (("a_{time}.nc",), {"about": {"every_s": 1.0}}, "checkpoint.every: put {every} into"),
        (
            ("a_{time}.nc",), {"argv": ("./m", "{every}"), "restart": ("./m", "{every}")},
            "checkpoint.every: is needed",
        ),
        (
            ("a_{time}.nc",), {"argv": ("./m", "{until}")},
            "simulation.restart_command: {until} is needed here",
        ),
        (
            ("a_{time}.nc",), {"argv": ("./m", "{until}"), "restart": ("./m", "{until}")},
            "simulation.length: is needed",
        ),
    ],
)  # fmt: skip
def test_commands_that_do_not_fit_their_checkpoints_are_refused(files, keys, message):
    with pytest.raises(RecipeError, match=message):
        program(*files, **keys)


def test_a_restart_command_needs_the_names_of_checkpoints_and_a_begin_is_a_date():
    command = Command(argv=("./m",), restart_command=("./m", "{checkpoint}"))
    with pytest.raises(RecipeError, match=r"restart_command: \[checkpoint\] files"):
        command.with_checkpoints(None)
    with pytest.raises(RecipeError, match="expected a date"):
        Command(argv=("./m",), begin="90")
