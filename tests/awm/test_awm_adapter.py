"""The adapter of the bundled model."""

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import forecast
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.awm.parameters import read
from burstlens.workflows.models.base import CAUSE, LogLine, Model, OutputName
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    NothingLeftError,
    Proof,
)

PARAMETERS = """
[grid]
nx = 20
ny = 16
nz = 14
spacing_m = 250.0
[time]
step_s = {step}
duration_s = 0.72
[material]
layers = [{{ vp_m_s = 6000, vs_m_s = 3460, rho_kg_m3 = 2700 }}]
[source]
x_m = 2000.0
y_m = 2000.0
depth_m = 1500.0
mxy_n_m = 1e16
function = "bell"
duration_s = 1.2
[output]
surface_every = {every}
"""


def test_it_stands_behind_the_seam():
    model = Awm(parameters="quake.toml")
    assert isinstance(model, Model)
    assert model.command()[1:] == ["-m", "burstlens.workflows.awm", "quake.toml"]
    assert model.keep_patterns == ("model.log", "quake.toml")


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        ("surface_000012.nc", "surface"),
        ("volume_1000000.nc", "volume"),
        ("surface.nc", "surface"),
        ("stations.nc", None),
        ("stations_000003.nc", "stations"),
        ("basin.nc", None),
        ("surface_000012.nc.tmp", None),
        ("surface_12.nc", None),
        ("checkpoint_0000500.awm", None),
    ],
)
def test_frames_are_identified_by_their_names(name, stream):
    assert Awm().identify(name) == (OutputName(stream) if stream else None)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("stations.nc", True),
        ("volume.nc", True),
        ("old/checkpoint_0000500.awm", True),
        (".checkpoint_0000500.awm.part", True),
        ("checkpoint_old.awm", False),
        ("basin.nc", False),
        ("awm.toml", False),
    ],
)
def test_output_of_an_earlier_run_is_distinguished_from_inputs(name, left):
    assert Awm().is_leftover(name) is left


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        (
            "awm: step 120 of 2400, t = 1.200 s of 24.000 s, 85.3 Mpoint/s\n",
            LogLine(
                "progress",
                "step 120 of 2400, t = 1.200 s of 24.000 s, 85.3 Mpoint/s",
                time="t00000001.200",
                elapsed_s=1.2,
                total_s=24.0,
                rate_mpps=85.3,
            ),
        ),
        (
            "awm: wrote volume record 3 of volume.nc, t = 4.800 s",
            LogLine(
                "written",
                "wrote volume record 3 of volume.nc, t = 4.800 s",
                stream="volume",
                time="t00000004.800",
                file="volume.nc",
            ),
        ),
        (
            "awm: wrote surface record 0 of surface_000003.nc, t = 0.960 s, in 0.012 s",
            LogLine(
                "written",
                "wrote surface record 0 of surface_000003.nc, t = 0.960 s, in 0.012 s",
                stream="surface",
                time="t00000000.960",
                file="surface_000003.nc",
                took_s=0.012,
            ),
        ),
        ("awm: compiling kernels", LogLine("phase", "compiling")),
        ("awm: compiled in 12.3 s", LogLine("phase", "running")),
        ("awm: error: no room", LogLine("trouble", "no room", weight=CAUSE)),
        (
            "awm: wrote checkpoint checkpoint_0000500.awm, t = 6.2525 s, in 0.084 s",
            LogLine(
                "checkpoint",
                "wrote checkpoint checkpoint_0000500.awm, t = 6.2525 s, in 0.084 s",
                time="t00000006.2525",
                file="checkpoint_0000500.awm",
                took_s=0.084,
            ),
        ),
        (
            "awm: stopped at step 500 of 2400, t = 6.250 s, with checkpoint checkpoint_0000500.awm",
            LogLine(
                "cut",
                "stopped at step 500 of 2400, t = 6.250 s, with checkpoint checkpoint_0000500.awm",
                time="t00000006.250",
                file="checkpoint_0000500.awm",
            ),
        ),
        ("awm: stopped by SIGTERM at step 184", None),  # the run's outcome gives the reason
        ("awm: stopped by SIGTERM at step 184, with checkpoint checkpoint_0000184.awm", None),
        (
            "awm: cannot write checkpoint_0000500.awm: No space left on device",
            LogLine("trouble", "cannot write checkpoint_0000500.awm: No space left on device"),
        ),
        (
            "awm: done, 2400 steps in 61.2 s, 84.9 Mpoint/s",
            LogLine("end", "done, 2400 steps in 61.2 s, 84.9 Mpoint/s"),
        ),
        ("awm: step 120 of 24", None),
        ("something else", None),
    ],
)
def test_log_lines_are_understood(line, meaning):
    assert Awm().read_line(line) == meaning


def test_the_facts_come_from_the_parameter_file(tmp_path):
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.018, every=10))
    facts = Awm().facts(tmp_path)
    assert facts.total_s == pytest.approx(0.72)
    assert facts.serial_classic
    assert facts.checkpoint_bytes == forecast.checkpoint_bytes(read(tmp_path / "awm.toml"))
    assert 4 * 3 * 4 * 20 * 16 <= facts.output_bytes <= 2 * 4 * (3 * 4 * 20 * 16 + 16384)


def test_odd_settings_give_no_facts_and_no_error(tmp_path):
    assert Awm().facts(tmp_path).total_s is None


def test_the_time_of_a_checkpoint_is_that_of_its_step(tmp_path):
    name = "checkpoint_0000003.awm"
    assert Awm().checkpoint_of(name) is None
    assert Awm().configured(tmp_path).checkpoint_of(name) is None
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.1, every=10))  # too long: refused
    assert Awm().configured(tmp_path).checkpoint_of(name) is None
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.0125, every=10))
    model = Awm().configured(tmp_path)
    assert model.checkpoint_of(name) == CheckpointName("t00000000.0375")
    assert model.checkpoint_of("checkpoint_3.awm") is None
    assert model.checkpoint_of(f".{name}.part") is None
    assert model.checkpoint_proof(name) is Proof.NAME
    assert model.checkpoint_parts(tmp_path, "t00000000.0375") == ("",)


def test_a_run_is_cut_at_steps(tmp_path):
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.0125, every=10))  # 58 steps
    assert Awm().facts(tmp_path).total_s == 0.725
    assert Awm().cuts(tmp_path, 3) == [20 * 0.0125, 39 * 0.0125]
    cuts = Awm().cuts(tmp_path, 58)
    assert cuts == [n * 0.0125 for n in range(1, 58)]
    with pytest.raises(RecipeError, match="a run of 58 steps cannot be cut into 59 parts"):
        Awm().cuts(tmp_path, 59)


def test_a_start_is_a_command_with_its_checkpoint_and_where_it_stops(tmp_path):
    model, own = Awm(parameters="quake.toml"), Awm(parameters="quake.toml").command()
    assert model.start(tmp_path, Continuation()).command == own
    wanted = Continuation("t00000000.250", ("checkpoint_0000020.awm",), 0.4875, 0.1)
    started = model.start(tmp_path, wanted)
    assert started.command == [
        *own, "--restart", "checkpoint_0000020.awm", "--until", "0.4875",
        "--checkpoint-every", "0.1", "--checkpoint-keep", "0",
    ]  # fmt: skip
    assert (started.files, started.changes) == ({}, ())


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Continuation(settings={"time.step_s": "0.01"}), r"time\.step_s: .* from awm\.toml alone"),
        (Continuation("t00000000.250"), "from one checkpoint, not from 0"),
        (
            Continuation("t00000000.250", ("checkpoint_0000001.awm", "checkpoint_0000002.awm")),
            "from one checkpoint, not from 2",
        ),
        (Continuation("t00000000.250", ("surface.nc",)), r"surface\.nc is not a checkpoint of awm"),
        (
            Continuation("t00000000.250", ("checkpoint_0000020.awm",), 0.25),
            r"cannot stop at 0\.25 s: it starts at t = 0\.25 s",
        ),
    ],
)
def test_a_start_that_awm_cannot_make_is_refused(tmp_path, wanted, words):
    with pytest.raises(RecipeError, match=words) as refused:
        Awm().start(tmp_path, wanted)
    assert not isinstance(refused.value, NothingLeftError)


@pytest.mark.parametrize(("step", "left"), [(57, True), (58, False), (59, False)])
@pytest.mark.parametrize("until_s", [None, 0.725])
def test_a_checkpoint_at_the_end_of_the_run_leaves_nothing_to_do(tmp_path, step, left, until_s):
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.0125, every=10))  # 58 steps
    name = f"checkpoint_{step:07d}.awm"
    about = Awm().configured(tmp_path).checkpoint_of(name)
    wanted = Continuation(about.time, (name,), until_s)
    if left:
        assert "--restart" in Awm().start(tmp_path, wanted).command
        return
    with pytest.raises(NothingLeftError):
        Awm().start(tmp_path, wanted)


def test_the_check_refuses_what_the_model_would(tmp_path):
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.05, every=10))
    (found,) = Awm().check(tmp_path)
    assert found.startswith("error: ")
    assert "longest stable step" in found


def test_the_check_warns_of_a_run_without_frames(tmp_path):
    (tmp_path / "awm.toml").write_text(PARAMETERS.format(step=0.018, every=0))
    (found,) = Awm().check(tmp_path)
    assert found.startswith("output: ")


def test_each_fault_of_the_parameter_file_has_its_line(tmp_path):
    text = PARAMETERS.format(step=0.05, every=10)
    file = tmp_path / "awm.toml"
    file.write_text(text.replace("x_m = 2000.0", "x_m = 9e9"))
    assert [found.partition(": ")[2] for found in Awm().check(tmp_path)] == [
        f"{file}:13:1: source.x_m: 9e+09 is outside 0 to 4750 m: in or beyond the absorbing "
        "layers, which lie around the grid",
        f"{file}:8:1: time.step_s: 0.05 s is unstable: with vp up to 6000 m/s and a spacing of "
        "250 m the longest stable step is 0.020619 s",
    ]
    file.write_text(text.replace("nz = 14", "nz = 3\nnzz = 4x"))
    (found,) = Awm().check(tmp_path)
    assert f"{file}:6:8: grid.nzz: unexpected text" in found


@pytest.mark.parametrize(
    ("old", "new", "sizes"),
    [
        ("nz = 14", "nz = 3", {}),
        ("nz = 14", "nz = 14x", {}),
        ("step_s", "stp_s", {"y": 16, "x": 20}),
        ("surface_every", "surface_evry", {"y": 16, "x": 20}),
        ("x_m = 2000.0", "x_m = 9e9", {"y": 16, "x": 20}),
    ],
)
def test_a_faulty_parameter_file_still_says_what_frames_hold(tmp_path, old, new, sizes):
    text = PARAMETERS.format(step=0.018, every=4)
    (tmp_path / "awm.toml").write_text(text.replace(old, new))
    assert Awm().check(tmp_path)[0].startswith("error: ")
    known = Awm().outline(tmp_path, "surface")
    assert {"vx", "vy", "vz"} <= known.variables.keys()
    assert (known.sizes, known.silent) == (sizes, "")
    with pytest.raises(RecipeError, match="no stream"):
        Awm().outline(tmp_path, "surfac")


@pytest.fixture
def quake(tmp_path):
    """An adapter with its inputs: waves at a surface of 20 x 16 points, 250 m apart."""

    def make(more="", every=4):
        text = PARAMETERS.format(step=0.012, every=every) + more
        (tmp_path / "awm.toml").write_text(text)
        return Awm(), tmp_path

    return make


def test_frames_are_known_from_the_parameter_file(quake):
    model, inputs = quake("peaks = true\nvolume_stride = 3\n")
    surface, volume = (model.outline(inputs, name) for name in ("surface", "volume"))
    assert {"vx", "vy", "vz", "pgv", "pga_larger"} <= surface.variables.keys()
    assert surface.sizes == {"y": 16, "x": 20}
    assert surface.coordinates("x")[-1] == 19 * 250
    assert surface.silent == ""
    assert volume.sizes == {"z": 5, "y": 6, "x": 7}
    assert volume.silent == "[output] volume_every is 0"
    assert "pgv" not in volume.variables
    assert "no stations" in model.outline(inputs, "stations").silent
    with pytest.raises(RecipeError, match=r"no stream 'surfac'; did you mean surface\?"):
        model.outline(inputs, "surfac")


def test_an_outline_is_what_the_model_writes(quake, tmp_path):
    from burstlens.workflows.awm.output import COMPONENTS, Frames

    model, inputs = quake()
    known = model.outline(inputs, "surface")
    axes = {name: known.coordinates(name) for name in ("y", "x")}
    shape = tuple(values.size for values in axes.values())
    frames = Frames(
        "surface", tmp_path, read(inputs / "awm.toml"), axes,
        lambda name: np.zeros(shape, np.float32), None,
    )  # fmt: skip
    _, name = frames.write(0.1)
    with netCDF4.Dataset(tmp_path / name) as data:
        written = {
            name: (variable.dimensions[variable.dimensions[:1] == ("time",) :], variable.units)
            for name, variable in data.variables.items()
        }
        for name, value in known.attributes.items():
            assert data.getncattr(name) == value
    assert written == {name: (d, about["units"]) for name, (d, about) in known.variables.items()}
    assert set(COMPONENTS) <= written.keys()


def test_a_material_file_that_is_not_there_is_named(quake):
    model, inputs = quake()
    assert model.lacks(inputs) == []
    text = (inputs / "awm.toml").read_text()
    begin, end = text.index("layers"), text.index("[source]")
    (inputs / "awm.toml").write_text(text[:begin] + 'file = "basin.nc"\n' + text[end:])
    (lack,) = model.lacks(inputs)
    assert (lack.file, lack.sure) == ("basin.nc", True)
    (inputs / "basin.nc").touch()
    assert model.lacks(inputs) == []
