"""The staging provider: names, and the documented example with a real HTEX worker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parsl.data_provider.files import File

from burstlens.core.errors import SiteError, StagingError
from burstlens.stagers.parsl_provider import DataWarpStaging, Place

DOCS = Path(__file__).parents[2] / "docs" / "datawarp.md"


def staged(function, *, inputs=(), outputs=()):
    """``function`` as a worker gets it, and its file arguments."""
    provider = DataWarpStaging()
    for file in inputs:
        assert provider.can_stage_in(file)
        provider.stage_in(None, "", file, None)
        function = provider.replace_task(None, "", file, function)
    for file in outputs:
        assert provider.can_stage_out(file)
        function = provider.replace_task_stage_out(None, "", file, function)
    return lambda *args: function(*args, inputs=list(inputs), outputs=list(outputs))


def upper(*named, inputs, outputs):
    Path(outputs[0]).write_text(Path(inputs[0]).read_text().upper())
    return [os.fspath(file) for file in named]


@pytest.fixture
def words(tmp_path):
    (tmp_path / "words.txt").write_text("hail\n")
    return tmp_path / "words.txt"


class TestNames:
    def test_the_buffer_is_found_in_the_workers_environment(self, monkeypatch):
        monkeypatch.setenv("DW_PERSISTENT_STRIPED_case", "/mnt/1/")
        monkeypatch.setenv("DW_PERSISTENT_STRIPED_my_case", "/mnt/2/")
        monkeypatch.setenv("DW_JOB_STRIPED", "/mnt/3/")
        assert Place.of("dw://case/out/a.txt").local() == Path("/mnt/1/out/a.txt")
        assert Place.of("dw://my-case/a.txt").local() == Path("/mnt/2/a.txt")
        assert Place.of("dw://job/a.txt").local() == Path("/mnt/3/a.txt")

    def test_a_buffer_that_the_job_lacks_is_reported_with_near_names(self, monkeypatch):
        monkeypatch.setenv("DW_PERSISTENT_STRIPED_chapala", "/mnt/1/")
        with pytest.raises(SiteError, match="did you mean chapala"):
            Place.of("dw://chapla/a").local()

    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("dw:///a", "expected dw://"),
            ("dw://case", "expected dw://"),
            ("dw://case/../../etc/passwd", "leads out"),
            ("dw://case/a?to=/b", "pfs="),
            ("dw://case/a?pfs=b", "not absolute"),
        ],
    )
    def test_a_bad_name_is_refused_when_the_task_is_submitted(self, url, problem):
        with pytest.raises(StagingError, match=problem):
            DataWarpStaging().can_stage_in(File(url))

    def test_other_files_are_left_to_other_providers(self):
        assert not DataWarpStaging().can_stage_in(File("/lustre/a"))
        assert not DataWarpStaging().can_stage_out(File("https://example.org/a"))


@pytest.mark.usefixtures("emulator")
class TestTask:
    def test_inputs_come_before_and_outputs_go_after(self, buffer, words, tmp_path):
        given = File(f"dw://case/in/words.txt?pfs={words}")
        made = File(f"dw://case/out/upper.txt?pfs={tmp_path}/upper.txt")
        named = staged(upper, inputs=[given], outputs=[made])(File("dw://case/in/words.txt"))
        assert (tmp_path / "upper.txt").read_text() == "HAIL\n"
        assert (buffer / "out" / "upper.txt").read_text() == "HAIL\n"
        assert named == [str(buffer / "in" / "words.txt")]
        assert sorted(os.listdir(tmp_path)) == ["upper.txt", "words.txt"]
        assert os.listdir(buffer / "in") == ["words.txt"]

    def test_the_app_keeps_its_name(self, words):
        provider = DataWarpStaging()
        file = File(f"dw://case/words.txt?pfs={words}")
        assert provider.replace_task(None, "", file, upper).__name__ == "upper"
        assert provider.replace_task_stage_out(None, "", file, upper).__name__ == "upper"

    def test_an_input_is_brought_again_only_when_it_changed(self, buffer, words):
        task = staged(upper, inputs=[File(f"dw://case/words.txt?pfs={words}")],
                      outputs=[File("dw://case/upper.txt")])  # fmt: skip
        task()
        first = (buffer / "words.txt").stat().st_ino
        task()
        assert (buffer / "words.txt").stat().st_ino == first
        words.write_text("snow\n")
        task()
        assert (buffer / "upper.txt").read_text() == "SNOW\n"

    def test_a_file_that_a_task_hands_on_is_not_staged_in(self, buffer, words):
        (buffer / "made.txt").write_text("on the buffer")
        file = File(f"dw://case/made.txt?pfs={words}")
        provider = DataWarpStaging()
        provider.stage_in(None, "", file, parent_fut=object())
        provider.replace_task(None, "", file, lambda given: None)(file)
        assert (buffer / "made.txt").read_text() == "on the buffer"
        assert file.filepath == str(buffer / "made.txt")

    def test_an_app_that_fails_stages_nothing_out(self, buffer, words, tmp_path):
        def fails(*, inputs, outputs):
            Path(outputs[0]).write_text("half")
            raise ValueError("the app's own")

        with pytest.raises(ValueError, match="the app's own"):
            staged(fails, outputs=[File(f"dw://case/half?pfs={tmp_path}/half")])()
        assert not (tmp_path / "half").exists()

    def test_a_source_that_is_missing_is_reported(self, buffer, tmp_path):
        task = staged(upper, inputs=[File(f"dw://case/a?pfs={tmp_path}/gone")])
        with pytest.raises(StagingError, match="gone"):
            task()


@pytest.mark.slow
def test_the_documented_example_runs(emulator, buffer, tmp_path):
    text = DOCS.read_text(encoding="utf-8").partition("<!-- run by tests/stagers/")[2]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(code)
    (tmp_path / "words.txt").write_text("snow\nhail\nrain\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        env={**os.environ, "PATH": path},
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "hail\nrain\n"), done.stderr
    assert (tmp_path / "first.txt").read_text() == "hail\nrain\n"
    assert (buffer / "out" / "sorted.txt").read_text() == "hail\nrain\nsnow\n"
    assert not (tmp_path / "sorted.txt").exists()
