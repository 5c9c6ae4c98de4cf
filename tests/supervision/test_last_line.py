"""The last line of a job's log, which goes with the job's end."""

from burstlens.workflows.placement.model_folder import LAST_BYTES, last_line


def test_it_is_the_last_one_with_text(tmp_path):
    log = tmp_path / "log"
    log.write_text("cc -o a a.c\na.c:1: error: no mpi.h\n\n  \n")
    assert last_line(log) == "a.c:1: error: no mpi.h"


def test_a_log_that_is_empty_or_missing_has_none(tmp_path):
    (tmp_path / "log").touch()
    assert last_line(tmp_path / "log") == last_line(tmp_path / "nowhere") == ""


def test_a_long_log_is_read_from_its_end(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"x" * 9 * LAST_BYTES + b"\nwhy \xff\n")
    assert last_line(log) == "why \ufffd"
    log.write_bytes(b"x" * 9 * LAST_BYTES)
    assert len(last_line(log)) == LAST_BYTES
