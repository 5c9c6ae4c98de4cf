import json
import re

from burstlens.viz.live.feed import CHUNK, LOG_BYTES, FrameFeed, LogFeed, write_recipe, write_status


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


def test_a_page_that_a_crash_has_emptied_is_written_again(run_dir):
    feed, lines = FrameFeed(run_dir), [{"n": n} for n in range(CHUNK + 5)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run_dir.index.write_text(text)
    for line in lines:
        feed.add(line)
    feed.write(end=len(text))
    end = sum(map(len, text.splitlines(keepends=True)[:CHUNK]))
    assert FrameFeed(run_dir).resume(len(text), len(lines)) == end
    (run_dir.products / "live" / "frames-0000.js").write_text("")
    assert FrameFeed(run_dir).resume(len(text), len(lines)) == 0


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


def test_the_end_of_each_log_is_a_script_with_the_size_of_the_whole(run_dir):
    (run_dir.logs / "burstlens").mkdir()
    (run_dir.logs / "burstlens" / "driver.log").write_text("begins\n")
    run_dir.model_log.write_text("".join(f"step {n}\n" for n in range(20_000)))
    LogFeed(run_dir).write(["model.log", "burstlens/driver.log", "gone.log"])
    logs = value(run_dir, "log")
    assert logs["burstlens/driver.log"] == {"size": 7, "text": "begins\n"}
    assert logs["model.log"]["size"] == run_dir.model_log.stat().st_size
    text = logs["model.log"]["text"]
    assert text.startswith("step ")
    assert text.endswith("step 19999\n")
    assert LOG_BYTES - 12 < len(text) < LOG_BYTES
    assert "gone.log" not in logs


def test_logs_that_have_not_changed_are_not_written_again(run_dir):
    run_dir.model_log.write_text("one\n")
    feed = LogFeed(run_dir)
    feed.write(["model.log"])
    file = run_dir.products / "live" / "log.js"
    before = file.stat().st_ino
    feed.write(["model.log"], force=True)
    assert file.stat().st_ino == before
    run_dir.model_log.write_text("one\ntwo\n")
    feed.write(["model.log"])
    assert file.stat().st_ino == before  # at most once a second
    feed.write(["model.log"], force=True)
    assert value(run_dir, "log")["model.log"]["text"] == "one\ntwo\n"


def test_logs_that_cannot_be_read_or_written_stop_nothing(run_dir):
    feed = LogFeed(run_dir)
    run_dir.model_log.mkdir()
    feed.write(["model.log"])
    run_dir.model_log.rmdir()
    run_dir.model_log.symlink_to("/etc/hostname")
    feed.write(["model.log"], force=True)
    assert not (run_dir.products / "live" / "log.js").exists()
    run_dir.model_log.unlink()
    run_dir.model_log.write_bytes(b"</script>\xff\n")
    feed.write(["model.log"], force=True)
    assert value(run_dir, "log")["model.log"]["text"] == "</script>\ufffd\n"
    assert "</" not in (run_dir.products / "live" / "log.js").read_text()


def test_the_recipe_and_the_runs_facts_are_a_script(run_dir):
    run_dir.recipe.write_text('title = "Storm"  # mine\n')
    write_recipe(run_dir)
    assert value(run_dir, "recipe") == {"recipe.toml": 'title = "Storm"  # mine\n', "run.json": ""}
