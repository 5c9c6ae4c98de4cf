"""The reports of MPI-IO libraries in a log: cut, interleaved, labelled, of other versions."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from burstlens.workflows.iostats.block import Block
from burstlens.workflows.iostats.mpiio_blocks import MAX_KEYS, MAX_OPEN, Blocks

DATA = Path(__file__).parents[1] / "data" / "io"
SAMPLE = (DATA / "mpiio_stats_wrf.txt").read_text().splitlines()
ACCESSES, PHASES = SAMPLE[:19], SAMPLE[19:37]
RULE = "+--------------------------------------------------------+"
SISU = """\
| MPIIO write by phases, all ranks, for /wrk/cube with spaces
|   number of ranks writing        =     1
|                                          min         max         ave
|                                    ----------  ----------  ----------
|   open/close/trunc  time         =       0.00        0.00        0.00
|
|   time scale: 1 = 2**4     clock ticks    min         max         ave
|   total                          =                          760329267
|
|   open/close/trunc               =     247135      302731      251846  0%
|   wait for coll                  =      14746   752303980   398433146 52%
|   data send (*)                  =    7189592   759376475   357649987 47%
|   file write                     =          0   656363834   656363834 86%
|
|   net write BW (MiB/s)           =                            893.550
|
| (*) send and write overlap when number ranks != number of writers
""".splitlines()
HINTS = """\
PE 0: MPIIO hints for /lus/scratch/out.nc:
          cb_buffer_size           = 16777216
          cb_nodes                 = 8
          striping_factor          = 64
          new_hint_of_2031         = yes
          cb_config_list           = *:*
          romio_filesystem_type    = CRAY ADIO:
""".splitlines()
TABLE = """\
Aggregator Placement for /lus/scratch/out.nc
  RankReorderMethod=3  AggPlacementStride=-1
  AGG    Rank       nid
 ----  ------  --------
    0       0  nid00578
    1      32  nid00579
""".splitlines()


def found(lines) -> list[Block]:
    blocks = Blocks()
    return [*blocks.take_all(lines), *blocks.finish()]


def labelled(lines, rank: int, form: str = "{}: ") -> list[str]:
    return [form.format(rank) + line for line in lines]


def test_the_sample_has_its_two_reports():
    accesses, phases = found(SAMPLE)
    assert (accesses.kind, accesses.way, accesses.whole) == ("accesses", "write", True)
    assert accesses.file == "wrfout_d01_2007-04-03_00_00_00"
    assert accesses.number("stripe sized writes") == 114
    assert accesses.number("total bytes for writes") == 3045341799
    assert accesses.numbers("aggregators active")[:4] == (234240, 0, 0, 318720)
    assert (phases.kind, phases.ranks) == ("phases", "writers only")
    assert phases.share("data send") == 0.78
    assert phases.number("net write BW (MiB/s)") == 98.114
    assert phases.numbers("file write time") == (2.30, 2.30, 2.30)


def test_a_report_is_there_as_soon_as_its_last_rule():
    blocks = Blocks()
    assert [len(blocks.take(line)) for line in ACCESSES].index(1) == len(ACCESSES) - 1


def test_labels_of_another_version_are_read_by_their_key():
    (phases,) = found([RULE, *SISU, RULE])
    assert phases.file == "/wrk/cube with spaces"
    assert phases.share("data send") == 0.47
    assert phases.share("open/close/trunc") == 0.0
    assert phases.numbers("open/close/trunc time") == (0.0, 0.0, 0.0)


def test_unknown_keys_are_kept_and_missing_ones_are_none():
    lines = [
        RULE, "| MPIIO read access patterns for f", "|   brand new counter = 7 pieces",
        "|   ave read gap size       = NA", RULE,
    ]  # fmt: skip
    (block,) = found(lines)
    assert block.number("brand new counter") == 7
    assert block.number("ave read gap size") is None
    assert block.number("stripe sized reads") is None


def test_a_version_without_any_known_key_still_ends_at_its_rule():
    lines = [RULE, "| MPIIO write access patterns for f", "|  novelty = 1", RULE, "model"]
    blocks = Blocks()
    assert [len(blocks.take(line)) for line in lines] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("end", range(1, len(SAMPLE)))
def test_a_log_may_end_anywhere(end):
    blocks = found(SAMPLE[:end])
    complete = [(0, 18), (19, 36)]
    for block, (_, last) in zip(blocks, complete, strict=False):
        if end > last:
            assert block.whole
        elif end < last - 2:
            assert not block.whole
        whole = found(SAMPLE)[blocks.index(block)]
        assert block.values.items() <= whole.values.items()


@pytest.mark.parametrize("cut", range(2, len(ACCESSES) - 2))  # beyond it has all keys
def test_the_next_attempt_appends_to_a_log_that_was_cut(cut):
    *rest, first, last = found([*ACCESSES[:cut], *SAMPLE])
    assert [(first.whole, first.mixed), (last.whole, last.mixed)] == [(True, False)] * 2
    assert first.values == found(SAMPLE)[0].values
    assert all(not block.whole and not block.mixed for block in rest)


def test_lines_of_the_model_stand_between_and_inside():
    rng = random.Random(3)
    noisy = []
    for line in SAMPLE:
        noisy.append(line)
        if rng.random() < 0.7 and line is not SAMPLE[0]:
            noisy.append("Timing for main: time 2007-04-03_00:00:36 on domain 1: 0.8 seconds")
    assert found(noisy) == found(SAMPLE)


@pytest.mark.parametrize(
    "form", ["{}: ", "  {}: ", "[{}] ", "[1,{}]<stderr>:", "[1,{}]<stdout>: ", "nid001234 {}: "]
)
def test_ranks_with_labels_are_told_apart_however_they_interleave(form):
    rng = random.Random(5)
    sources = [labelled(SAMPLE, 0, form), labelled([RULE, *SISU, RULE], 17, form)]
    lines = []
    while any(sources):
        source = rng.choice([one for one in sources if one])
        lines.append(source.pop(0))
    blocks = found(lines)
    assert {block.label for block in blocks} == {"0", "17"}
    assert [b.values for b in blocks if b.label == "0"] == [b.values for b in found(SAMPLE)]
    (other,) = [b for b in blocks if b.label == "17"]
    assert other.values == found([RULE, *SISU, RULE])[0].values
    assert all(block.whole and not block.mixed for block in blocks)


def test_interleaved_ranks_without_labels_are_marked():
    other = [line.replace("797", "4286").replace("_00_00_00", "_06_00_00") for line in ACCESSES]
    lines = [line for pair in zip(ACCESSES, other, strict=True) for line in pair]
    blocks = found(lines)
    assert len(blocks) == 2
    assert all(block.mixed for block in blocks)


def test_reports_of_different_kinds_interleave_without_harm():
    lines = [PHASES[0], PHASES[1], ACCESSES[1]]
    for pair in zip(PHASES[2:17], ACCESSES[2:17], strict=True):
        lines += pair
    phases, accesses = sorted(found([*lines, RULE, RULE]), key=lambda block: block.kind != "phases")
    assert accesses.values == found(ACCESSES)[0].values
    assert phases.share("data send") == 0.78
    assert not accesses.mixed
    assert not phases.mixed


def test_hints_and_the_aggregator_table():
    hints, table = found([*HINTS, "Timing for main: 3 s", *TABLE, "Timing for main: 3 s"])
    assert (hints.kind, hints.file) == ("hints", "/lus/scratch/out.nc")
    assert hints.values["cb_nodes"] == "8"
    assert hints.values["cb_config_list"] == "*:*"
    assert hints.values["new_hint_of_2031"] == "yes"
    assert (table.kind, table.file) == ("aggregators", "/lus/scratch/out.nc")
    assert table.values == {"0": "0 nid00578", "1": "32 nid00579"}


def test_hints_with_labels_and_lines_of_the_model_inside():
    lines = labelled(HINTS, 0)
    lines[3:3] = ["dt = 6", "0: alpha = 3.0", " 12:00:00 step"]
    assert found(lines)[0].values == found(HINTS)[0].values


def test_hints_that_any_romio_prints():
    lines = (DATA / "romio_print_hints.txt").read_text().splitlines()
    first, second = found([*lines, *lines])
    assert first.values == second.values
    assert first.values["cb_nodes"] == "1"
    assert first.values["cb_config_list"] == "*:1"
    assert first.values["romio_filesystem_type"].startswith("UFS: Generic")


def test_the_state_can_be_carried_on_after_any_line():
    lines = [*labelled(SAMPLE, 0), *SAMPLE, *HINTS, *TABLE, RULE, *SISU, RULE, ""]
    blocks, carried = Blocks(), []
    for line in lines:
        carried += blocks.take(line)
        held = pickle.dumps(blocks)
        assert len(held) < 20_000
        blocks = pickle.loads(held)
    assert [*carried, *blocks.finish()] == found(lines)


def test_memory_is_bounded_whatever_is_in_the_log():
    blocks = Blocks()
    for number in range(3 * MAX_OPEN):
        blocks.take(f"{number}: | MPIIO write access patterns for {'f' * 10**5}")
        for key in range(3 * MAX_KEYS):
            blocks.take(f"{number}: | k{key} = {'x' * 1000}")
    assert len(pickle.dumps(blocks)) < MAX_OPEN * (MAX_KEYS * 500 + 10_000)
    for _ in range(600):
        for number in range(3 * MAX_OPEN):
            blocks.take(f"{number}: a line of the model")
    assert not blocks.finish()


def test_thousands_of_reports_leave_nothing_behind():
    blocks = Blocks()
    for _ in range(3000):
        assert sum(len(blocks.take(line)) for line in SAMPLE) == 2
    assert len(pickle.dumps(blocks)) < 500


def test_binary_rubbish_is_passed_over():
    rng = random.Random(11)
    rubbish = [rng.randbytes(rng.randrange(200)).decode("utf-8", "replace") for _ in range(2000)]
    assert found(rubbish) == []
    noisy = [line for index, text in enumerate(SAMPLE) for line in (text, f"\0\x1b[{index}~")]
    assert found(noisy) == found(SAMPLE)


def test_pieces_of_reports_in_any_order_never_raise():
    rng = random.Random(13)
    pool = [
        *SAMPLE,
        *SISU,
        *HINTS,
        *TABLE,
        *labelled(SAMPLE, 3),
        RULE,
        "|",
        "| = ",
        "key = ",
        "=",
        "| MPIIO write access patterns for",
        "| MPIIO write by phases, for ",
        "0:",
        "[",
        "AGG",
    ]
    for _ in range(300):
        blocks = found(rng.choices(pool, k=rng.randrange(80)))
        assert all(block.values for block in blocks)


def test_a_text_without_line_end_may_stand_before_the_header():
    lines = ["progress 12 %" + ACCESSES[0], "progress 13 %" + ACCESSES[1], *ACCESSES[2:]]
    assert found(lines) == found(ACCESSES)


def test_a_report_that_was_indented_is_found():
    assert found([f"    {line}" for line in SAMPLE]) == found(SAMPLE)
