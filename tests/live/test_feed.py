import json
import re

from burstlens.viz.live.feed import CHUNK, FrameFeed, write_status


def value(run, name):
    text = (run.products / "live" / f"{name}.js").read_text(encoding="ascii")
    found = re.fullmatch(r"burstlensFeed\((.*)\);\n", text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_lines_are_written_in_files_of_a_thousand_and_counted(run_dir):
    feed = FrameFeed(run_dir)
    lines = [{"time": f"t{n}"} for n in range(CHUNK + 5)]
    for line in lines:
        feed.add(line)
    feed.write()
    assert value(run_dir, "frames-0000") + value(run_dir, "frames-0001") == lines
    assert value(run_dir, "count") == {"lines": CHUNK + 5}


def test_a_full_chunk_is_not_written_again(run_dir):
    feed = FrameFeed(run_dir)
    for n in range(CHUNK):
        feed.add({"n": n})
    feed.write()
    full = run_dir.products / "live" / "frames-0000.js"
    before = full.stat().st_mtime_ns, full.stat().st_ino
    feed.add({"n": CHUNK})
    feed.write(force=True)
    assert (full.stat().st_mtime_ns, full.stat().st_ino) == before
    assert value(run_dir, "frames-0001") == [{"n": CHUNK}]


def test_the_feed_is_written_once_a_second_at_most(run_dir):
    feed = FrameFeed(run_dir)
    feed.add({"n": 0})
    feed.write()
    feed.add({"n": 1})
    feed.write()
    assert value(run_dir, "count") == {"lines": 1}
    feed.write(force=True)
    assert value(run_dir, "count") == {"lines": 2}


def test_what_cannot_be_written_is_written_later_and_raises_nothing(run_dir):
    live = run_dir.products / "live"
    live.write_text("a file where the folder should be")
    feed = FrameFeed(run_dir)
    feed.add({"n": 0})
    feed.write()
    live.unlink()
    feed.write(force=True)
    assert value(run_dir, "frames-0000") == [{"n": 0}]
    assert value(run_dir, "count") == {"lines": 1}


def test_no_text_can_leave_the_script_that_carries_it(run_dir):
    title = "</script><script>alert(1)</script>\u2028\u2029<!--"
    write_status(run_dir, {"title": title})
    text = (run_dir.products / "live" / "status.js").read_text(encoding="ascii")
    assert "<" not in text
    assert value(run_dir, "status") == {"title": title}
