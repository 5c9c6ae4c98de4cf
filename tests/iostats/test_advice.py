"""What to try: the talk's samples give the talk's conclusions, and no rule says more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.workflows.iostats.advice import RULES, advise, streams
from burstlens.workflows.iostats.darshan_rules import aggregators_for
from burstlens.workflows.iostats.logs import read_log
from burstlens.workflows.iostats.mpiio_rules import aggregator_choices, unit_near
from burstlens.workflows.iostats.summary import Flow, Rank, Summary, Traffic

DATA = Path(__file__).parents[1] / "data" / "io"
MIB, GIB = 2**20, 2**30


def of(*files: Traffic, ranks: int | None = 64, **facts: object) -> dict[str, object]:
    """Advice by rule for these files."""
    total = Traffic("", write=Flow(bytes=sum(file.write.bytes for file in files)))
    summary = Summary("log", "test", ranks=ranks, total=total, files=files, **facts)
    return {advice.rule: advice for advice in advise(summary)}


def test_the_talks_wrf_gives_the_talks_conclusions():
    found = {advice.rule: advice for advice in advise(read_log(DATA / "mpiio_stats_wrf.txt"))}
    assert list(found) == ["data_send", "stripe_sized", "not_storage"]
    assert found["data_send"].hints == {"cb_nodes": ("8", "16")}
    assert found["data_send"].because == "data send is 78 % of the time, with 4 aggregators"
    assert "30.25 s with 4, 7.27 s with 16" in found["data_send"].source
    assert "114 of 797 writes (14.3 %)" in found["stripe_sized"].because
    assert found["stripe_sized"].hints == {"striping_unit": ("4194304",)}


def test_one_aggregator_on_one_stripe_is_striped_wider():
    found = of(Traffic("wrfrst", aggregators=1, stripe_count=1, write=Flow(bytes=360 * GIB)))
    assert "lfs setstripe" in found["one_aggregator"].what
    assert "674.26 s with 1, 10.35 s with 144" in found["one_aggregator"].source
    assert "one_aggregator" not in of(Traffic("wrfrst", aggregators=144, stripe_count=144))
    assert "one_aggregator" not in of(Traffic("w", aggregators=1, stripe_count=1), ranks=1)
    small = Flow(bytes=MIB)
    assert of(Traffic("w", aggregators=1, stripe_count=1, write=small)) == {}


def test_one_aggregator_that_reads_is_said_to_read():
    flow = Flow(bytes=360 * GIB, phases={"file read": 0.86})
    found = of(Traffic("wrfrst", aggregators=1, stripe_count=1, read=flow))["one_aggregator"]
    assert found.because == (
        "1 aggregator reads for all ranks, from 1 stripe; reading the file is 86 % of the time"
    )
    waits = replace(flow, phases={"file read": 0.1})
    assert of(Traffic("wrfrst", aggregators=1, stripe_count=1, read=waits)) == {}


def test_waiting_for_others_alone_is_no_sign():
    flow = Flow(bytes=GIB, phases={"wait for coll": 0.52, "data send": 0.1, "file write": 0.3})
    assert of(Traffic("best", aggregators=16, stripe_count=8, write=flow)) == {}


def test_sending_that_waits_for_the_file_system_is_no_reason_for_more_aggregators():
    # Holmberg 2017, 192 ranks: 1 aggregator 894 MiB/s, 2 gave 175, no collective buffering 436.
    phases = {"wait for coll": 0.52, "data send": 0.47, "file write": 0.86}
    flow = Flow(bytes=4382277718, calls=298, collective=192, mpi_calls=298, phases=phases,
                system_calls=4286, system_bytes=4382277718)  # fmt: skip
    file = Traffic("large.cube", aggregators=1, stripe_count=1, stripe_size=MIB, write=flow)
    assert list(of(file, ranks=192)) == ["one_aggregator"]


@pytest.mark.parametrize(("share", "advised"), [(0.29, False), (0.3, True), (0.8, True)])
def test_data_send_is_a_sign_from_a_share_on(share, advised):
    flow = Flow(bytes=GIB, phases={"data send": share})
    assert ("data_send" in of(Traffic("f", aggregators=4, stripe_count=4, write=flow))) == advised


def test_aggregators_divide_the_ranks_and_leave_two_ranks_each():
    assert aggregator_choices(4, None) == [8, 16]
    assert aggregator_choices(4, 1280) == [8, 16]
    assert aggregator_choices(4, 12) == []
    assert aggregator_choices(6, 160) == []
    assert aggregators_for(1024) == [64, 128]  # the talk's: not 100
    assert aggregators_for(2) == []
    assert aggregators_for(None) == []
    flow = Flow(bytes=GIB, phases={"data send": 0.8})
    found = of(Traffic("f", aggregators=6, write=flow), ranks=160)
    assert "no multiple of 6 divides 160 ranks" in found["data_send"].what
    assert not found["data_send"].hints


def test_a_stripe_size_is_a_power_of_2_from_64_kib_on():
    assert unit_near(197973) == 262144  # the talk's value is not aligned
    assert unit_near(3821006) == 4 * MIB
    assert unit_near(100) == 65536


def test_stripes_that_are_filled_need_no_other_size():
    flow = Flow(bytes=GIB, system_bytes=GIB, system_calls=100, stripe_sized=63)
    assert of(Traffic("f", write=flow, stripe_size=8 * MIB)) == {}
    few = replace(flow, stripe_sized=14, system_calls=1000)
    assert "stripe_sized" in of(Traffic("f", write=few, stripe_size=8 * MIB))
    assert of(Traffic("f", write=replace(few, stripe_sized=None), stripe_size=8 * MIB)) == {}
    small = replace(few, bytes=MIB, system_bytes=MIB)
    assert of(Traffic("f", write=small, stripe_size=8 * MIB)) == {}
    least = replace(few, bytes=64 * MIB, system_bytes=64 * MIB, system_calls=40_000)
    assert of(Traffic("f", write=least, stripe_size=64 * 1024)) == {}, "no less than 64 KiB"


def test_an_open_that_waits_is_no_reason_for_fewer_opens():
    waits = Traffic("pipe", meta_rank_s=90.0, opens=1, ranks=1, seconds=90.0)
    assert "metadata" not in of(waits)
    assert "metadata" in of(replace(waits, opens=5000))


def test_alignment_of_a_file_that_the_system_hardly_saw_is_nothing():
    flow = Flow(bytes=23 * GIB, system_bytes=78_480, mpi_calls=10, system_calls=294)
    file = Traffic("big", write=flow, seconds=90.0, misaligned=294, system_accesses=294)
    assert "misaligned" not in of(file)
    seen = replace(flow, system_bytes=23 * GIB)
    assert "misaligned" in of(replace(file, write=seen))


def test_large_pieces_with_exchange_may_do_without_it():
    flow = Flow(bytes=GIB, calls=1600, collective=1600, mpi_calls=1600, phases={"data send": 0.5})
    found = of(Traffic("f", write=flow, aggregators=2))
    assert found["large_pieces"].hints["romio_cb_write"] == ("disable",)
    assert "contiguous" in found["large_pieces"].what
    assert "large_pieces" not in of(Traffic("f", write=replace(flow, system_bytes=4 * GIB)))
    small = replace(flow, calls=200_000, mpi_calls=200_000, collective=200_000)
    assert "large_pieces" not in of(Traffic("f", write=small, aggregators=2))


def test_what_takes_little_of_the_run_is_not_worth_tuning():
    summary = read_log(DATA / "mpiio_stats_wrf.txt")
    assert [it.rule for it in advise(replace(summary, run_s=10_000.0))] == ["little"]
    assert "little" not in [it.rule for it in advise(replace(summary, run_s=60.0))]


def test_a_rank_that_is_slow_with_the_same_bytes_points_to_its_storage():
    slow, fast = Rank(1507, 778.0, 256 * MIB), Rank(959, 4.6, 256 * MIB)
    file = Traffic("f.*", files=2048, ranks=1, slowest=slow, fastest=fast, seconds=778.0)
    assert "storage target" in of(file)["straggler"].what
    more = replace(file, slowest=replace(slow, bytes=GIB))
    assert "evenly" in of(more)["straggler"].what
    assert "straggler" not in of(replace(file, slowest=Rank(0, 5.0), fastest=Rank(1, 4.5)))
    assert "straggler" not in of(replace(file, slowest=Rank(0, 0.9), fastest=Rank(1, 0.1)))


def test_ranks_that_wait_for_each_other_are_no_stragglers():
    flow = Flow(bytes=GIB, mpi_rank_s=100.0, mpi_system_rank_s=1.0)
    file = Traffic("f", ranks=64, slowest=Rank(0, 9.0), fastest=Rank(1, 2.0), write=flow)
    assert "straggler" not in of(file)
    assert "straggler" in of(replace(file, write=replace(flow, mpi_system_rank_s=90.0)))


def test_files_that_take_little_of_the_time_get_no_advice():
    slow = Traffic("slow", ranks=64, seconds=95.0, slowest=Rank(0, 95.0), fastest=Rank(1, 2.0))
    quick = replace(slow, name="quick", seconds=4.0, slowest=Rank(0, 4.0))
    total = Traffic("", seconds=100.0)
    for file, advised in ((quick, []), (slow, ["straggler"])):
        summary = Summary("log", "test", ranks=64, total=total, files=(file,))
        assert [advice.rule for advice in advise(summary)] == advised


def test_serial_output_is_named_but_not_one_file_per_rank():
    own = Rank(0, 30.0, 4 * GIB)
    serial = Traffic("wrfout_d01_*", files=8, ranks=1, slowest=own, fastest=own, seconds=240.0,
                     write=Flow(bytes=32 * GIB))  # fmt: skip
    found = of(serial)
    assert "rank 0 alone, of 64" in found["one_rank_writes"].because
    assert found["one_rank_writes"].inference
    assert "one_rank_writes" not in of(replace(serial, fastest=Rank(63, 28.0, 4 * GIB)))
    assert "one_rank_writes" not in of(serial, ranks=1)


def test_small_accesses_count_only_where_the_file_system_takes_the_time():
    sizes = (0, 0, 200_000, 0, 0, 0, 0, 0, 0, 0)
    flow = Flow(bytes=GIB, calls=200_000, mpi_calls=200_000, collective=0, system_calls=200_000,
                system_bytes=GIB, sizes=sizes, rank_s=50.0, mpi_rank_s=50.0,
                mpi_system_rank_s=45.0)  # fmt: skip
    file = Traffic("f", ranks=64, write=flow, seconds=50.0)
    found = of(file)
    assert found["small"].hints == {"romio_cb_write": ("enable",)}
    assert "measure" in found["small"].what
    waiting = replace(flow, mpi_system_rank_s=1.0, collective=200_000)
    assert "small" not in of(replace(file, write=waiting))
    assert "exchange" in of(replace(file, write=waiting))
    alone = replace(flow, mpi_calls=None, collective=None, mpi_rank_s=None, mpi_system_rank_s=None)
    assert not of(replace(file, write=alone))["small"].hints


def test_a_file_system_that_writes_more_than_the_program_points_to_data_sieving():
    flow = Flow(bytes=72 * GIB, mpi_calls=100, system_calls=300, system_bytes=284 * GIB)
    found = of(Traffic("f", write=flow, read=Flow(system_calls=300_000)))
    assert found["amplified"].hints == {"romio_ds_write": ("disable",)}
    assert "284 GiB, 3.9 times the program's 72.0 GiB, and read 300000 times" in (
        found["amplified"].because
    )
    assert of(Traffic("f", write=replace(flow, system_bytes=73 * GIB))) == {}
    assert of(Traffic("f", write=replace(flow, mpi_calls=None))) == {}


def test_files_of_an_anonymized_log_are_not_one_stream():
    files = [Traffic(f"/scratch/{name}", seconds=1.0) for name in (3710437467, 4028781608)]
    assert [one.files for one in streams(files)] == [1, 1]


def test_a_large_shared_file_on_one_stripe_is_striped_wider():
    file = Traffic("f", ranks=64, stripe_count=1, stripe_size=MIB, write=Flow(bytes=8 * GIB))
    assert "one_stripe" in of(file)
    assert "one_stripe" not in of(replace(file, ranks=1))
    assert "one_stripe" not in of(replace(file, stripe_count=24))


def test_hints_that_cut_the_aggregators_to_one_per_host_are_named():
    (advice,) = advise(read_log(DATA / "romio_print_hints.txt"))
    assert advice.rule == "one_per_host"
    assert "cb_config_list=*:N" in advice.what


def test_files_whose_names_differ_in_numbers_are_one_stream():
    names = [
        *(f"wrfout_d01_2007-04-03_0{hour}_00_00" for hour in range(2)),
        *("wrfout_d02_2007-04-03_00_00_00", "own.0001.txt", "own.0002.txt", "single_0001"),
    ]
    found = streams(Traffic(name, seconds=1.0) for name in names)
    assert sorted((one.name, one.files) for one in found) == [
        ("own.*.txt", 2), ("single_0001", 1), ("wrfout_d01_*", 2),
        ("wrfout_d02_2007-04-03_00_00_00", 1),
    ]  # fmt: skip


def test_every_rule_is_silent_on_nothing():
    empty = Summary("log", "test")
    assert advise(empty) == []
    assert [rule(empty, Traffic("f")) for rule in RULES] == [None] * len(RULES)


def test_every_advice_has_its_number_its_rule_and_its_source():
    for path in sorted(DATA.glob("*.txt")):
        for advice in advise(read_log(path)):
            assert any(sign.isdigit() for sign in advice.because)
            assert advice.source
            assert advice.what
