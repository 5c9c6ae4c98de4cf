"""The last line of a job's log."""

from burstlens.workflows.driver.launching import LOG_BYTES, MOST_SHOWN, last_line


def test_it_is_the_last_one_with_text(tmp_path):
    log = tmp_path / "log"
    log.write_text("cc -o a a.c\na.c:1: error: no mpi.h\n\n  \n")
    assert last_line(log) == "a.c:1: error: no mpi.h"


def test_a_log_that_is_empty_or_missing_has_none(tmp_path):
    (tmp_path / "log").touch()
    assert last_line(tmp_path / "log") == last_line(tmp_path / "nowhere") == ""


def test_a_long_log_is_read_from_its_end_and_a_long_line_is_shortened(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"x" * 9 * LOG_BYTES + b"\nwhy \x1b[31m\xff" + b"y" * 2 * MOST_SHOWN + b"\n")
    found = last_line(log)
    assert found.startswith("why ")
    assert len(found) <= MOST_SHOWN
    assert found.isprintable()
