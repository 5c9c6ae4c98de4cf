"""What is built and installed, and what is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.slow


class TestBuild:
    def test_it_says_that_it_is_an_emulator(self, plain):
        says = b"Burstlens emulator of libdatawarp"
        assert says in (plain / "lib" / "libdatawarp.so").read_bytes()
        assert "mulator" in (plain / "lib" / "pkgconfig" / "cray-datawarp.pc").read_text()
        assert "EMULATOR" in (plain / "include" / "datawarp.h").read_text()
        tool = subprocess.run([plain / "bin" / "dw-emulator"], capture_output=True, text=True)
        assert "emulator" in tool.stderr

    def test_only_what_the_header_declares_is_exported(self, plain):
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", plain / "lib" / "libdatawarp.so"],
            capture_output=True, text=True, check=True,
        ).stdout.split()[2::3]  # fmt: skip
        header = (plain / "include" / "datawarp.h").read_text()
        assert listed
        assert [name for name in listed if f"{name}(" not in header and name != "dw_emulator"] == []

    def test_its_header_serves_a_cxx_program(self, plain, tmp_path):
        if not shutil.which("c++"):
            pytest.skip("no c++ here")
        (tmp_path / "a.cc").write_text(
            '#include <datawarp.h>\nint main() { return dw_emulator_owns("/nowhere/at/all"); }\n'
        )
        subprocess.run(
            ["c++", "-Wall", "-Wextra", "-Werror", f"-I{plain}/include", tmp_path / "a.cc", "-o",
             tmp_path / "a", f"-L{plain}/lib", "-ldatawarp", f"-Wl,-rpath,{plain}/lib"],
            check=True,
        )  # fmt: skip
        assert subprocess.run([tmp_path / "a"]).returncode == 0

    def test_without_a_compiler_or_a_folder_nothing_is_written_and_one_line_says_so(self, tmp_path):
        make = [shutil.which("make"), "--no-print-directory", "-C", ROOT]
        for words, line in (
            (["emulator", f"PREFIX={tmp_path}/new", "CC=no-such-cc"], "there is no no-such-cc on"),
            (["emulator"], "name the folder to install into: PREFIX=dir"),
        ):
            done = subprocess.run([*make, *words], capture_output=True, text=True)
            assert done.returncode == 2
            said = [it for it in done.stderr.splitlines() if not it.startswith("make")]
            assert len(said) == 1
            assert line in said[0]
        assert not (tmp_path / "new").exists()

    def test_a_relative_folder_is_below_the_callers(self, tmp_path):
        words = ["make", "-f", ROOT / "Makefile", f"--directory={ROOT}", "emulator"]
        place = os.path.relpath(tmp_path / "a b", ROOT)
        subprocess.run([*words, f"PREFIX={place}"], check=True, capture_output=True)
        assert (tmp_path / "a b" / "lib" / "libdatawarp.so").exists()


def test_records_of_files_that_have_gone_are_swept(plain, make_job):
    job = make_job(plain)
    (job.dw / "stays").write_text("a")
    assert job.call("file_out", job.dw / "stays", job.pfs / "stays", "now") == 0
    for i in range(255):
        (job.dw / "frame").write_text(str(i))
        subprocess.run(
            [plain / "clients" / "dwcall", "file_out", job.dw / "frame", job.pfs / "a", "now"],
            env=job.environment, check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run([plain / "clients" / "poll", job.dw / "frame"], env=job.environment)
        (job.dw / "frame").rename(job.pfs / "old")
    job.until(lambda: len([path for path in job.state.iterdir() if "-" in path.name]) < 10)
    assert job.call("query_file", job.dw / "stays") == job.complete
