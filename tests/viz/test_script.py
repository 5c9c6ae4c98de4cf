"""The user's own functions and programs."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.command.kind import CommandKind
from burstlens.viz.kinds.command.options import CommandOptions
from burstlens.viz.kinds.python.kind import PythonKind
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.product import Context, Made

pytestmark = pytest.mark.integration

PLOT_T2 = """\
import sys
import matplotlib.pyplot as plt
from netCDF4 import Dataset

filename = sys.argv[1]
data = Dataset(filename)
t2 = data.variables["T2"][0, :, :]
plt.imshow(t2, origin="lower")
plt.colorbar()
plt.savefig("T2.png")
"""


def run(kind: Any, options: Any, path: Path, context: Context) -> tuple[Path, Made]:
    folder = context.files.parent / "out"
    folder.mkdir(exist_ok=True)
    out = folder / "product.1"
    try:
        with open_frame([path], stream="d01") as frame:
            return out, kind.make(options, frame, out, context)
    finally:
        # In every case only a complete product is left.
        assert {entry.name for entry in folder.iterdir()} <= {"product.1"}


def python(context: Context, code: str, path: Path, function: str = "plots.py:f") -> Any:
    (context.files / "plots.py").write_text(code)
    return run(PythonKind(), PythonOptions(function, "txt"), path, context)


def command(context: Context, code: str, path: Path, **options: Any) -> Any:
    (context.files / "s.py").write_text(code)
    arguments = options.pop("command", ("python", "s.py", "{frame}", "{out}"))
    asked = CommandOptions(arguments, files=("s.py",), **options)
    return run(CommandKind(), asked, path, context)


class TestPython:
    def test_the_function_gets_the_frame_and_the_path(self, supercell: Path, context: Context):
        out, made = python(
            context,
            "def f(frame, out):\n"
            "    out.write_text(f'{frame.read(\"W\").max():.6f} {frame.stream}')\n"
            "    return {'note': 'by hand'}",
            supercell,
        )
        assert out.read_text() == "4.577182 d01"
        assert made == Made("txt", {"note": "by hand"})

    def test_a_changed_file_is_loaded_anew(self, supercell: Path, context: Context):
        for text in ("first", "second!"):
            out, _ = python(context, f"def f(frame, out): out.write_text('{text}')", supercell)
            assert out.read_text() == text

    def test_a_failure_names_the_error_and_its_line(self, supercell: Path, context: Context):
        code = "def f(frame, out):\n    x = 1\n    return [][x]"
        with pytest.raises(FrameError, match=r"IndexError: .*\(plots.py, line 3\)"):
            python(context, code, supercell)

    def test_a_failure_takes_the_half_product_away(self, supercell: Path, context: Context):
        code = "def f(frame, out):\n    out.write_text('half')\n    raise ValueError('no rain')"
        with pytest.raises(FrameError, match="ValueError: no rain"):
            python(context, code, supercell)
        assert not (context.files.parent / "out" / "product.1").exists()

    def test_a_missing_variable_keeps_its_own_message(self, supercell: Path, context: Context):
        with pytest.raises(FrameError, match="no variable 'QRAINE'; did you mean QRAIN"):
            python(context, "def f(frame, out): frame.read('QRAINE')", supercell)

    def test_a_function_that_writes_nothing_is_reported(self, supercell: Path, context: Context):
        with pytest.raises(FrameError, match="wrote nothing to out_path"):
            python(context, "def f(frame, out): pass", supercell)

    def test_an_unknown_function_is_reported_with_near_names(
        self, supercell: Path, context: Context
    ):
        with pytest.raises(RecipeError, match="no function 'rian'; did you mean rain"):
            python(context, "def rain(frame, out): pass", supercell, "plots.py:rian")

    def test_a_file_that_does_not_load_is_reported(self, supercell: Path, context: Context):
        with pytest.raises(RecipeError, match=r"plots.py cannot be loaded: SyntaxError"):
            python(context, "def f(:", supercell)

    def test_a_link_out_of_the_run_s_files_is_refused(self, supercell: Path, context: Context):
        elsewhere = context.files.parent / "elsewhere.py"
        elsewhere.write_text("def f(frame, out): out.write_text('x')")
        (context.files / "away.py").symlink_to(elsewhere)
        with pytest.raises(RecipeError, match=r"away.py leads out of the folder"):
            run(PythonKind(), PythonOptions("away.py:f"), supercell, context)

    @pytest.mark.parametrize("function", ["plots.py", "../p.py:f", "/etc/p.py:f", "plots:f"])
    def test_a_name_that_is_not_a_function_beside_the_recipe_is_refused(self, function: str):
        with pytest.raises(ValueError, match=r"file\.py:name|relative path"):
            PythonOptions(function)

    def test_pyplot_figures_are_closed_after_each_frame(self, supercell: Path, context: Context):
        code = (
            "import matplotlib.pyplot as plt\n"
            "def f(frame, out):\n"
            "    plt.imshow(frame.read('W')[5])\n"
            "    plt.savefig(out)\n"
        )
        (context.files / "plots.py").write_text(code)
        out, _ = run(PythonKind(), PythonOptions("plots.py:f"), supercell, context)
        with Image.open(out) as image:
            assert image.format == "PNG"
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


class TestCommand:
    def test_a_plot_script_that_saves_into_its_own_folder_runs_unchanged(
        self, katrina: Path, context: Context
    ):
        (context.files / "plot_T2.py").write_text(PLOT_T2)
        options = CommandOptions(
            ("python", "plot_T2.py", "{frame}"), output="T2.png", files=("plot_T2.py",)
        )
        out, made = run(CommandKind(), options, katrina, context)
        with Image.open(out) as image:
            assert image.size == (640, 480)
        assert made.extension == "png"

    def test_placeholders_are_filled_and_the_frame_is_linked_by_its_name(
        self, supercell: Path, context: Context
    ):
        out, _ = command(
            context,
            "import os, sys; open(sys.argv[6], 'w').write(repr((sys.argv[1:6],"
            " sorted(os.listdir()), os.environ['HDF5_USE_FILE_LOCKING'],"
            " os.environ['MPLBACKEND'])))",
            supercell,
            command=("python", "s.py", "{frame}", "r{record}", "{time}", "{stream}", "{", "{out}"),
        )
        assert out.read_text() == repr(
            (
                [str(supercell), "r0", "00010101T000800", "d01", "{"],
                [".product", "s.py", supercell.name],
                "FALSE",
                "Agg",
            )
        )

    def test_a_failure_gives_the_end_of_what_the_program_said(
        self, supercell: Path, context: Context
    ):
        code = "import sys; open(sys.argv[2], 'w').write('half'); sys.exit('no such level')"
        with pytest.raises(FrameError, match="python failed with exit code 1: no such level"):
            command(context, code, supercell)

    def test_a_program_that_is_too_slow_is_ended_with_all_that_it_started(
        self, supercell: Path, context: Context
    ):
        note = context.files.parent / "pids"
        code = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen(['sleep', '600'])\n"
            f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
            "time.sleep(600)\n"
        )
        with pytest.raises(FrameError, match=r"took longer than 1\.5 s and was ended"):
            command(context, code, supercell, timeout_s=1.5)
        assert all(is_gone(int(pid)) for pid in note.read_text().split())

    def test_a_program_is_ended_when_the_run_is_stopped(self, supercell: Path, context: Context):
        stop = context.files.parent / "stop-now"
        stop.touch()
        stopping = dataclasses.replace(context, cancel=stop)
        with pytest.raises(FrameError, match="because the run is being stopped"):
            command(stopping, "import time; time.sleep(600)", supercell)

    def test_what_a_program_leaves_running_is_ended(self, supercell: Path, context: Context):
        note = context.files.parent / "pid"
        code = (
            "import subprocess, sys\n"
            "child = subprocess.Popen(['sleep', '600'])\n"
            f"open({str(note)!r}, 'w').write(str(child.pid))\n"
            "open(sys.argv[2], 'w').write('done')\n"
        )
        out, _ = command(context, code, supercell)
        assert out.read_text() == "done"
        assert is_gone(int(note.read_text()))

    @pytest.mark.parametrize(
        ("code", "output", "message"),
        [
            ("pass", "T2.png", r"left no 'T2.png'; it left nothing"),
            ("open('t2.png', 'w')", "T2.png", r"it left t2.png"),
            ("open('a.png', 'w'); open('b.png', 'w')", "*.png", r"fits 2 files: a.png, b.png"),
        ],
    )
    def test_another_output_than_the_stated_one_is_reported(
        self, supercell: Path, context: Context, code: str, output: str, message: str
    ):
        with pytest.raises(FrameError, match=message):
            command(context, code, supercell, output=output)

    def test_a_program_that_is_not_there_is_reported(self, supercell: Path, context: Context):
        with pytest.raises(RecipeError, match="'ncl-6' is not there"):
            command(context, "", supercell, command=("ncl-6", "{out}"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"command": ()}, "must name a program"),
            ({"command": ("a", "{fram}", "{out}")}, r"there is no \{fram\}, only \{frame\}"),
            ({"command": ("a", "{frame}")}, "say which file the program leaves"),
            ({"command": ("a", "{out}"), "files": ("../b",)}, "relative path"),
            ({"command": ("a", "{out}"), "timeout_s": 0}, "timeout_s"),
            ({"command": ("a", "{out}"), "extension": ".png"}, "without a dot"),
        ],
    )
    def test_options_that_cannot_work_are_refused(self, options: dict[str, Any], message: str):
        with pytest.raises(ValueError, match=message):
            CommandOptions(**options)


def is_gone(pid: int) -> bool:
    """Whether a process has ended (a zombie has), within a second or two."""
    for _ in range(40):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    os.kill(pid, 9)
    return False
