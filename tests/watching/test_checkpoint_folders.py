"""Restart files of WRF in a folder of their own, as ``rst_outname`` says: watched as all others."""

from __future__ import annotations

from checkpoint_case import Scans, key, write

from burstlens.workflows.models.wrf import Wrf


def test_a_restart_file_in_a_folder_is_a_checkpoint(tmp_path, prober):
    (tmp_path / "namelist.input").write_text(
        "&time_control start_year = 1, start_month = 1, start_day = 1, run_hours = 1,\n"
        " rst_outname = 'rst/r_d<domain>_<date>' /\n"
    )
    (tmp_path / "rst").mkdir()
    scans = Scans(tmp_path, Wrf().configured(tmp_path), prober)
    scans.scan()
    write(tmp_path / "rst" / "r_d01_0001-01-01_00:01:00", 1)
    scans.scan()
    report = scans.scan(1.0)  # it has been quiet
    assert scans.whole == [key(1)]
    assert report.checkpoints[0].files == ("rst/r_d01_0001-01-01_00:01:00",)
