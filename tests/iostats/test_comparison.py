"""Two logs side by side, and the JSON document."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.workflows.iostats.comparison import advise_on_change, compare, verdict
from burstlens.workflows.iostats.document import FORMAT, document
from burstlens.workflows.iostats.logs import read_log
from burstlens.workflows.iostats.merging import merged
from burstlens.workflows.iostats.summary import Flow, Rank, Summary, Traffic

DATA = Path(__file__).parents[1] / "data" / "io"
MIB = 2**20


def timed(seconds: float, size: int = 1000, **facts: object) -> Summary:
    total = Traffic("", write=Flow(bytes=size), seconds=seconds, **facts)
    return Summary("log", "test", total=total)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (timed(10.0), timed(5.0), r"10 s in the first and 5\.0 s in the second: 2 times as long in "
                                  "the first"),
        (timed(10.0), timed(40.0), "4 times as long in the second"),
        (timed(10.0), timed(10.3), "about as long in both"),
        (timed(10.0), timed(5.0, size=5000), "do not compare: the one moved 5 times"),
        (timed(10.0), Summary("log", "test"), "neither"),
        (timed(10.0, size=0, files=4), timed(30.0, size=0, files=20), "wrote 5 times the other's "
                                                                      "files"),
    ],
)  # fmt: skip
def test_the_verdict_never_claims_more_than_two_runs_say(first, second, said):
    assert re.search(said, verdict(first, second))


def test_rows_have_what_one_of_the_logs_has():
    first = timed(10.0, aggregators=4)
    rows = {row.quantity.key: row for row in compare(first, timed(5.0))}
    assert rows["io_s"].ratio == 0.5
    assert (rows["aggregators"].first, rows["aggregators"].second) == (4, None)
    assert rows["aggregators"].ratio is None
    assert "stripe_size" not in rows


def test_a_smaller_stripe_that_made_it_slower_is_taken_back():
    def btio(size: int, calls: int, seconds: float) -> Summary:
        flow = Flow(bytes=50 << 30, system_calls=calls, system_bytes=50 << 30)
        file = Traffic("btio.mpi", write=flow, stripe_size=size, seconds=seconds)
        return Summary("log", "test", files=(file,), total=file)

    (advice,) = advise_on_change(btio(8 * MIB, 6411, 17.7), btio(MIB, 51211, 23.6))
    assert advice.hints == {"striping_unit": (str(8 * MIB),)}
    assert "51211 writes of 6411" in advice.because
    assert advise_on_change(btio(8 * MIB, 6411, 17.7), btio(MIB, 51211, 12.0)) == []
    assert advise_on_change(btio(MIB, 51211, 17.7), btio(8 * MIB, 6411, 23.6)) == []


def test_the_document_is_json_with_the_same_keys_for_any_log():
    logs = [read_log(DATA / name) for name in ("mpiio_stats_wrf.txt", "romio_print_hints.txt")]
    one = json.loads(json.dumps(document(logs[:1]), allow_nan=False))
    two = json.loads(json.dumps(document(logs), allow_nan=False))
    assert (one["format"], one["comparison"]) == (FORMAT, None)
    assert two["logs"][0] == one["logs"][0]
    assert two["logs"][0].keys() == two["logs"][1].keys()
    assert two["logs"][0]["total"]["write"]["stripe_sized_share"] == pytest.approx(0.143, abs=1e-3)
    assert two["comparison"].keys() == {"quantities", "verdict", "advice"}


def test_merging_keeps_sums_and_leaves_out_shares_it_cannot_know():
    known = Traffic("a", write=Flow(bytes=10, system_calls=4, stripe_sized=2), seconds=1.0)
    unknown = Traffic("b", write=Flow(bytes=30, system_calls=6), seconds=3.0)
    both = merged("both", [known, unknown])
    assert (both.write.bytes, both.seconds, both.files) == (40, 4.0, 2)
    assert both.write.stripe_sized_share is None
    assert merged("one", [known]).write.stripe_sized_share == 0.5


def test_ranks_of_different_shared_files_are_not_compared():
    long = Traffic("a", ranks=4, slowest=Rank(1, 9.0), fastest=Rank(2, 8.0))
    short = Traffic("b", ranks=4, slowest=Rank(3, 0.2), fastest=Rank(0, 0.1))
    both = merged("", [short, long])
    assert (both.slowest, both.fastest) == (Rank(1, 9.0), Rank(2, 8.0))
    own = [replace(part, ranks=1) for part in (short, long)]
    assert merged("", own).fastest == Rank(0, 0.1)


def test_phases_are_weighted_by_their_time():
    slow = Traffic("a", write=Flow(seconds=9.0, phases={"data send": 0.8}))
    fast = Traffic("b", write=Flow(seconds=1.0, phases={"data send": 0.2}))
    assert merged("", [slow, fast]).write.phases["data send"] == pytest.approx(0.74)


def test_stripes_are_those_of_what_is_written():
    wrote = Traffic("f", write=Flow(bytes=9, system_calls=2), stripe_size=4 * MIB, stripe_count=8)
    read = Traffic("f", read=Flow(bytes=9, system_calls=2), stripe_size=MIB // 2, stripe_count=1)
    both = merged("f", [read, wrote])
    assert (both.stripe_size, both.stripe_count) == (4 * MIB, 8)
    assert merged("f", [read]).stripe_size == MIB // 2


def test_bandwidths_are_bytes_over_time():
    parts = [Traffic(str(net), write=Flow(seconds=1.0, net_bw=net, raw_bw=2 * net))
             for net in (100.0, 300.0)]  # fmt: skip
    both = merged("", parts).write
    assert (both.net_bw, both.raw_bw) == (200.0, 400.0)
    assert replace(both, net_bw=40.0).exchange_share == pytest.approx(0.9)
