"""How runs end: all that is told of an end agrees, whoever is asked."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass

import pytest
from ended_runs import MAKINGS, EndedRun, run_to_its_end
from playwright.sync_api import expect


@dataclass(frozen=True)
class Words:
    """What is told of an end: patterns of the message, of the last line on the terminal, and of
    the page's sentence, with its tone."""

    state: str
    code: int
    message: str
    last: str
    page: str
    tone: str = "bad"


NAN = (
    r"t2m is NaN at 864 of 864 points, first at lat 0, lon 0 \(.*\), output 2001-02-03 01:00:00 UTC"
)
FREE = r"give its buffer back: burstlens free \w+"
RESUME = r"Resume it with burstlens resume \w+"
ROOM = r"When there is room again, resume it with burstlens resume \w+"
SAVED = r"(?: [\d.e-]+ node-hours were saved\.)?"
SPACE = "stopped for want of space: raw frames hold .*"
ABSENT = (
    "product cut was not made: no frame of stream output came; it was looked for in /.*: the model "
    "left no file there but logs"
)
LEFT = (
    r"/.*/buffer/burstlens-\d+/it-\w+ is not given back \((?:1|inputs|out): Device or resource "
    r"busy\): burstlens free it gives it back"
)
WORDS = {
    "done": Words("done", 0, "", r"pictures  +/.*", r"Done: 3 frames\.", "good"),
    "signal": Words("failed", 1, "the model was ended by SIGABRT", FREE,
                    f"The model was ended by SIGABRT\\. {RESUME}.*v_cfl.*"),
    "person": Words("stopped", 4, "stopped, as asked", FREE,
                    f"Stopped, as asked\\.{SAVED} {RESUME}", "warn"),
    "exit code": Words("failed", 1, "the model ended with exit code 3", FREE,
                       f"The model ended with exit code 3\\. {RESUME} *no such namelist"),
    "guard": Words("stopped", 3, f'stopped by guard "finite": {NAN}', FREE,
                   f'Stopped by guard "finite": {NAN}\\. {RESUME}'),
    "late guard": Words("failed", 7, f'guard "finite" tripped after the model\'s end: {NAN}', FREE,
                        f'Guard "finite" tripped after the model\'s end: {NAN}\\. '
                        r"Correct the model's settings and start a new run\."),
    "lost frame": Words("failed", 5, r"the model ended well, but 1 frame is lost or damaged \(.*\)",
                        FREE, r"The model ended well, but 1 frame is lost or damaged \(.*\)\. "
                        r"Only the model can write them again: start a new run\."),
    "full disk": Words("failed", 6, "the model ended with exit code 1", FREE,
                       f"The model ended with exit code 1\\. {ROOM} *write: No space left on .*"),
    "full buffer": Words("stopped", 6, SPACE, FREE, f"S{SPACE[1:]}\\. {ROOM}"),
    "no product": Words("failed", 1, "product cut could not be made of any frame: .* 'qv'.*", FREE,
                        f"Product cut could not be made of any frame: .* 'qv'.*\\. {RESUME}"),
    "no frame": Words("failed", 1, ABSENT, FREE, f"P{ABSENT[1:]}\\. {RESUME}"),
    "buffer left": Words("done", 8, "", LEFT, f"Done: 1 frame\\. {LEFT}\\.", "warn"),
}  # fmt: skip
STANDING = {"done": "done", "signal": "failed", "person": "stopped"}
ENDS = [pytest.param(name, marks=[pytest.mark.slow] * (name not in STANDING)) for name in WORDS]


@pytest.fixture(scope="session")
def ended(standing, injector, tmp_path_factory):
    """Returns the run that ended so; each is made once."""
    made: dict[str, EndedRun] = {}

    def find(name: str) -> EndedRun:
        if name in made:
            return made[name]
        if name in STANDING:
            kind = STANDING[name]
            one = getattr(standing, kind)()
            made[name] = EndedRun(standing.runs / kind, one.returncode, one.said, standing.call)
        else:
            folder = tmp_path_factory.mktemp("end") / "run"
            made[name] = run_to_its_end(folder, MAKINGS[name], injector)
        return made[name]

    return find


@pytest.mark.integration
@pytest.mark.parametrize("name", ENDS)
def test_exit_code_status_journal_terminal_list_and_page_agree(name, ended):
    words, run = WORDS[name], ended(name)
    assert run.code == words.code, run.said
    status, last = run.status(), run.journal()[-1]
    outcome = status["outcome"]
    assert (last["event"], last["outcome"]) == ("run.ended", words.state)
    assert {key: last[key] for key in outcome if key != "state"} == {
        key: value for key, value in outcome.items() if key != "state"
    }
    assert (status["state"], outcome["state"]) == (words.state, words.state)
    assert outcome["exit_code"] == words.code
    assert re.fullmatch(words.message, outcome["message"]), outcome["message"]
    assert bool(outcome["left"]) == (words.code == 8)
    assert status["buffer"]["released"] == (words.code == 0)

    said = run.said.splitlines()
    assert not outcome["message"] or f"burstlens: {outcome['message']}" in said
    assert not outcome["line"] or outcome["line"] in said
    assert re.fullmatch(words.last, said[-1].strip()), said[-1]
    shown = run.call("status", run.run.name).stdout.splitlines()
    assert shown[0] == f"{run.run.name}: {words.state}"
    assert shown[-1].strip() == said[-1].strip()
    texts = [alarm["text"] for alarm in status["alarms"]]
    assert not [text for text in texts if "stopped the model" in text]
    assert run.said.count(" is not given back (") == (words.code == 8)
    assert not [text for text in texts if "buffer" in text and words.code == 8], "said twice"

    listed = json.loads(run.call("list", "--json").stdout)
    (row,) = [row for row in listed if row["run"] == run.run.name]
    assert (row["state"], row["left"]) == (words.state, outcome["left"])
    (line,) = [
        line for line in run.call("list").stdout.splitlines() if line.startswith(f"{run.run.name} ")
    ]
    assert line.split()[1] == words.state
    assert ("its buffer is not given back" in line) == (words.code == 8)

    feed = (run.run / "products" / "live" / "status.js").read_text()
    page = json.loads(feed.removeprefix("burstlensFeed(").rstrip().removesuffix(");"))
    assert page == json.loads((run.run / "status.json").read_text())
    assert (page["state"], page["outcome"]) == (words.state, outcome)


@pytest.mark.parametrize("name", WORDS)
def test_the_page_says_the_same_of_an_end(name, ended, page):
    words, run = WORDS[name], ended(name)
    page.goto((run.run / "products" / "index.html").as_uri())
    expect(page.locator(".state")).to_have_text(words.state)
    expect(page.locator(".masthead")).to_have_attribute("data-tone", words.tone)
    said = " ".join(page.locator(".notice").inner_text().split())
    took = re.search(r" It took [\d.]+ (s|min)( \d+ s)?\.", said)
    assert took, said
    assert re.fullmatch(words.page, said.replace(took[0], "", 1)), said


@pytest.mark.integration
def test_after_free_nothing_says_that_a_buffer_is_left(ended, tmp_path):
    run = ended("buffer left")
    copy = shutil.copytree(run.run, tmp_path / "runs" / "it")
    freed = run.call("free", str(copy))
    assert (freed.returncode, freed.stdout) == (0, f"freed {run.status()['buffer']['path']}\n")
    status = json.loads(run.call("status", str(copy), "--json").stdout)
    assert (status["state"], status["outcome"]["exit_code"]) == ("done", 0)
    assert (status["outcome"]["left"], status["buffer"]["released"]) == (None, True)
    assert status["alarms"] == []
    told = run.call("status", str(copy)).stdout
    assert not re.search("burstlens free|not given back|kept, |still on", told), told
