"""The archive for a site's support: what is in it, and that no data, link or secret is."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile

import pytest

from burstlens import __version__
from burstlens.clients.support import contents
from burstlens.clients.support.archive import write_support
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir

pytestmark = pytest.mark.integration

SECRETS = {
    "webhook": "wh00k-Path-7f3a",
    "guard_bearer": "Bear3r-of-the-guard-0123456789",
    "variable": "variable-Pat-55",
    "named_variable": "hunter-without-digits",
    "parameter": "parameter-with-\"quote\"-8",
    "site": "site-Secret-31",
    "config": "config-Secret-94",
    "environment": "environment-Secret-17",
    "curve": "Kz$3b+curve-key-W]1f>",
    "served": "s3rved-token_of-the-live-page-0123456789abc",
    "token_file": "k3pt-token_of-the-live-page-0123456789abcd",
    "basic_auth": "basic-Auth-42",
    "pem": "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM",
    "git": "ghp_" + "q9" * 18,
    "job_init": "job-init-Secret-63",
    "escaped": "escap\u00e9d-Secret-88",
    "escaped_variable": "escap\u00e9d-Variable-7",
    "several_lines": "first-line-of-it-5\nsecond-line-of-it-6",
    "scheme": "scheme-Secret-Of-A-Header-77",
    "two_parts": "half-a; half-b-cookie-31",
    "split": "half-of-this-is-cut-off-29",
}  # fmt: skip


@pytest.fixture
def copied(standing, tmp_path):
    """A copy of the failed run that a test may change."""
    standing.failed()
    return RunDir(shutil.copytree(standing.runs / "failed", tmp_path / "failed"))


@pytest.fixture
def packed(tmp_path):
    """The archive of a run: its description and its files by name."""

    def make(run, out="failed-support.tar.gz"):
        made = write_support(run, tmp_path / out)
        with tarfile.open(made.path) as archive:
            files = {
                member.name.removeprefix(f"{run.id}-support/"): archive.extractfile(member).read()
                for member in archive
            }
        assert len(files) == made.files
        assert made.path.stat().st_size == made.bytes
        return made, files

    return make


def test_it_holds_what_a_support_asks_for_and_no_data(copied, packed):
    _, files = packed(copied)
    assert next(iter(files)) == "README.txt"
    assert {
        "journal.jsonl", "status.json", "run.json", "recipe.toml", "start.json", "driver-1",
        "attempts/1/job.json", "attempts/1/started.json", "attempts/1/ended.json",
        "attempts/1/supervisor.log", "logs/attempt-1/rsl.error.0000", "logs/burstlens/driver.log",
        "logs/burstlens/supervisor-attempt-1.log", "versions.txt", "site.txt",
    } <= files.keys()  # fmt: skip
    assert any(name.startswith("parsl/") and name.endswith(".sh") for name in files)
    assert any(name.endswith("manager.log") for name in files)
    tops = {name.partition("/")[0] for name in files if "/" in name}
    assert tops == {"attempts", "logs", "parsl"}
    assert not [name for name in files if "certificates" in name or "wrfout" in name]
    for name in ("journal.jsonl", "recipe.toml", "status.json", "logs/attempt-1/rsl.error.0000"):
        assert files[name] == (copied.path / name).read_bytes()


def test_versions_and_the_site_are_those_of_the_machine(copied, packed):
    _, files = packed(copied)
    versions = dict(line.split(": ", 1) for line in files["versions.txt"].decode().splitlines())
    assert versions["burstlens"] == __version__
    assert os.uname().release in versions["kernel"]
    assert versions["numpy"][0].isdigit()
    assert {"python", "C library", "slurm", "parsl"} <= versions.keys()
    assert "pytest" not in versions
    site = files["site.txt"].decode()
    assert site.startswith("site local\n")
    assert "\nviewing.poll_interval_s = " in site


def plant(run, tmp_path, monkeypatch):
    """Put each of the secrets where it may stand in a run, its site, its user's files."""
    place, logs = run.path, run.logs
    facts = json.loads(run.facts.read_text())
    hook = f"https://hooks.example.org/services/{SECRETS['webhook']}"
    command = ["curl", "-H", f"Authorization: Bearer {SECRETS['guard_bearer']}", "x"]
    variables = {"MODE": SECRETS["variable"], "DB_PASSWORD": SECRETS["named_variable"],
                 "OMP_NUM_THREADS": "4"}  # fmt: skip
    facts["table"]["guard"] = [{"name": "hot", "webhook": hook, "run": command}]
    facts["table"]["simulation"]["environment"] = variables
    site = tmp_path / "ours.toml"
    site.write_text(
        f"[viewing]\nworker_init = 'export X_TOKEN={SECRETS['site']}'\n", encoding="utf-8"
    )
    run.facts.write_text(json.dumps(facts | {"site": str(site)}))
    with run.recipe.open("a") as recipe:
        recipe.write(
            f'[[guard]]\nname = "hot"\nwebhook = "{hook}"\nrun = {json.dumps(command)}\n'
            f'[simulation.environment]\nMODE2 = "escap\\u00e9d-Variable-7"\n'
            f"[parameters]\nother_token = {{ default = '''{SECRETS['several_lines']}''' }}\n"
            f'pin_code = {{ default = "x", secret = "\\u0065scap\\u00e9d-Secret-88" }}\n'
            f"api_token = {{ default = {json.dumps(SECRETS['parameter'])} }}\n"
        )
    job = json.loads((place / "attempts/1/job.json").read_text())
    job["environment"] |= variables
    (place / "attempts/1/job.json").write_text(json.dumps(job))
    (place / "attempts/1/job.sh").write_text(f"export SITE_PASSWORD={SECRETS['job_init']}\n")
    with run.journal.open("a") as journal:
        texts = f"may not post to {hook}", f"it said {SECRETS['parameter']}", SECRETS["escaped"]
        for text in (*texts, SECRETS["variable"], SECRETS["named_variable"]):
            journal.write(json.dumps({"t": 1.0, "event": "alarm", "text": text}) + "\n")
    config = tmp_path / "config" / "burstlens" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[parameters]\nportal_secret = "{SECRETS["config"]}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CI_JOB_TOKEN", SECRETS["environment"])
    [keys] = place.glob("parsl/*/*/certificates")
    (keys / "server.key_secret").write_text(f'secret-key = "{SECRETS["curve"]}"\n')
    (keys / "copy.log").write_text(SECRETS["curve"])
    said = "\n".join([
        f"served at http://127.0.0.1:4711/x/?token={SECRETS['served']}",
        f"got {SECRETS['config']} of the portal, {SECRETS['environment']} of CI",
        f"cloned https://me:{SECRETS['basic_auth']}@git.example.org/x.git",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRETS['pem']}\n-----END RSA PRIVATE KEY-----",
        f"remote: {SECRETS['git']}",
        f"Authorization: Token {SECRETS['scheme']}",
        f"Cookie: a={SECRETS['two_parts']}",
    ])  # fmt: skip
    (logs / "driver.log").write_text(said)
    (logs / "attempt-1" / "rsl.out.0000").write_text(said)
    (logs / "token").write_text(f"{SECRETS['token_file']}\n")
    text = f"x{SECRETS['split']}\n" + "y" * (contents.LOG_BYTES - 10) + "\n"
    (logs / "attempt-1" / "long").write_text(f"password={text}")
    [script] = place.glob("parsl/*/submit_scripts/*.sh")
    script.write_text(f"export X_TOKEN={SECRETS['site']}\n")


def test_no_planted_secret_is_in_it(copied, packed, tmp_path, monkeypatch):
    plant(copied, tmp_path, monkeypatch)
    planted = b"".join(
        path.read_bytes()
        for folder in (copied.path, tmp_path / "config")
        for path in folder.rglob("*")
        if path.is_file()
    ) + (tmp_path / "ours.toml").read_bytes()  # fmt: skip
    made, files = packed(copied)
    for what, secret in SECRETS.items():
        escaped = json.dumps(secret)[1:-1].encode()
        assert escaped in planted or secret.encode() in planted, f"{what} was not planted"
        holders = [name for name, data in files.items() if secret.encode() in data]
        holders += [name for name, data in files.items() if escaped in data]
        assert not holders, (what, holders)
    assert made.redacted > 20
    assert b"ecret-88" not in files["recipe.toml"]
    assert b"line-of-it" not in files["recipe.toml"]
    whole = io.BytesIO(made.path.read_bytes())
    with tarfile.open(fileobj=whole) as archive:
        assert not [m.name for m in archive if any(it in m.name for it in SECRETS.values())]
    assert json.loads(files["run.json"])["table"]["simulation"]["environment"] == {
        "MODE": "[redacted]", "DB_PASSWORD": "[redacted]", "OMP_NUM_THREADS": "4"
    }  # fmt: skip
    assert b"may not post to [redacted]" in files["journal.jsonl"]
    assert files["logs/attempt-1/long"].startswith(b"yyy")  # not with the rest of a secret
    assert b"export X_TOKEN=[redacted]" in files["site.txt"]
    readme = files["README.txt"].decode()
    assert f"Masked as [redacted], {made.redacted} times" in readme
    assert "keys of Parsl's channels (folders certificates)" in " ".join(readme.split())


def test_a_log_is_cut_to_its_end_and_the_readme_says_so(copied, packed):
    path = copied.logs / "attempt-1" / "rsl.error.0000"
    path.write_text("".join(f"line {number}\n" for number in range(200_000)))
    _, files = packed(copied)
    data = files["logs/attempt-1/rsl.error.0000"]
    assert contents.LOG_BYTES - 20 < len(data) <= contents.LOG_BYTES
    assert data.startswith(b"line ")
    assert data.endswith(b"line 199999\n")
    size = path.stat().st_size
    said = f"logs/attempt-1/rsl.error.0000: the end of {size} bytes"
    assert said in files["README.txt"].decode()


def test_a_long_journal_is_cut_to_its_end(copied, packed, monkeypatch):
    monkeypatch.setattr(contents, "JOURNAL_BYTES", 1000)
    _, files = packed(copied)
    assert 0 < len(files["journal.jsonl"]) <= 1000
    assert all(json.loads(line)["event"] for line in files["journal.jsonl"].splitlines())
    assert "journal.jsonl: the end of" in files["README.txt"].decode()


def test_of_a_journal_in_volumes_the_newest_are_packed_last(copied, packed, monkeypatch):
    for number in (1, 2, 3):
        (copied.path / f"journal-{number:06d}.jsonl").write_text('{"event":"alarm"}\n')
    (copied.path / "journal-000003.history").write_bytes(b"\0")
    _, files = packed(copied)
    names = [name for name in files if name.startswith("journal-")]
    assert names == [f"journal-{number:06d}.jsonl" for number in (3, 2, 1)]
    monkeypatch.setattr(contents, "MOST_FILES", len(files) - 2 - 2)
    _, fewer = packed(copied)
    assert "journal.jsonl" in fewer
    assert "journal-000001.jsonl" not in fewer


def test_of_thousands_of_logs_the_models_are_left_out_first(copied, packed, monkeypatch):
    for number in range(50):
        (copied.logs / "attempt-1" / f"rsl.out.{number:04d}").write_text("text\n")
    monkeypatch.setattr(contents, "MOST_FILES", 40)
    _, files = packed(copied)
    assert "logs/burstlens/driver.log" in files
    assert "logs/attempt-1/rsl.out.0049" not in files
    assert "logs/attempt-1/rsl.out.0049: the archive is full" in files["README.txt"].decode()


def test_it_follows_no_link_and_reads_no_pipe(copied, packed, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.log").write_text("private")
    (copied.logs / "file").symlink_to(outside / "private.log")
    (copied.logs / "folder").symlink_to(outside)
    shutil.rmtree(copied.path / "attempts")
    (copied.path / "attempts").symlink_to(outside)
    (copied.path / "steps").symlink_to(tmp_path)
    copied.status.unlink()
    copied.status.symlink_to(outside / "private.log")
    os.mkfifo(copied.logs / "pipe")
    made, files = packed(copied)
    assert not [name for name, data in files.items() if b"private" in data and name != "README.txt"]
    assert "Left out:\n  attempts: a link" in files["README.txt"].decode()
    assert {"logs/file", "status.json"} <= made.unreadable.keys()
    assert "logs/pipe: not a regular file" in files["README.txt"].decode()


def test_data_among_the_logs_is_left_out(copied, packed):
    (copied.logs / "attempt-1" / "wrfout").write_bytes(b"CDF\x01" + bytes(100))
    (copied.logs / "attempt-1" / "core").write_bytes(b"\x7fELF\0" * 1000)
    _, files = packed(copied)
    assert not {"logs/attempt-1/wrfout", "logs/attempt-1/core"} & files.keys()
    assert "logs/attempt-1/core: data, not text" in files["README.txt"].decode()


@pytest.mark.parametrize("damage", ["", "{", "\0\0", '{"run": 1, "site": ["x"]}', "[" * 100_000])
def test_a_damaged_run_is_packed_as_it_is(copied, packed, damage):
    for path in (copied.facts, copied.journal, copied.recipe, copied.status, copied.start):
        path.write_text(damage)
    shutil.rmtree(copied.path / "attempts")
    _, files = packed(copied)
    assert {"site.txt", "versions.txt", "logs/burstlens/driver.log"} <= files.keys()
    assert files.get("journal.jsonl", b"") == (b"" if "\0" in damage else damage.encode())


def test_what_cannot_be_read_is_listed(copied, burstlens, tmp_path):
    (copied.logs / "attempt-1" / "rsl.error.0000").chmod(0)
    copied.parsl.chmod(0)
    done = burstlens("support", str(copied.path), "--json", ordinary=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["unreadable"] == {
        "logs/attempt-1/rsl.error.0000": "Permission denied", "parsl": "Permission denied"
    }  # fmt: skip
    with tarfile.open(tmp_path / "failed-support.tar.gz") as archive:
        readme = archive.extractfile("failed-support/README.txt").read().decode()
    assert "Could not be read:\n  logs/attempt-1/rsl.error.0000: Permission denied" in readme


def test_an_older_archive_is_replaced_and_another_file_is_not(copied, packed, tmp_path):
    packed(copied)
    packed(copied)
    foreign = tmp_path / "notes.tar.gz"
    foreign.write_text("mine")
    with pytest.raises(
        RunError, match=r"notes\.tar\.gz exists already and is not a support archive"
    ):
        write_support(copied, foreign)
    assert foreign.read_text() == "mine"
    with tarfile.open(foreign, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("README.txt"))
    with pytest.raises(RunError, match="--out names another place"):
        write_support(copied, foreign)


def test_an_archive_that_cannot_be_written_leaves_nothing(copied, tmp_path):
    with pytest.raises(RunError, match=r"cannot write .*/nowhere/x\.tar\.gz: No such file"):
        write_support(copied, tmp_path / "nowhere" / "x.tar.gz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match="exists already"):
        write_support(copied, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["failed", "folder"]


def test_the_command_says_where_it_is(copied, burstlens, tmp_path):
    done = burstlens("support", str(copied.path))
    assert done.returncode == 0
    assert done.stdout.startswith("failed-support.tar.gz: ")
    assert "README.txt says what is left out and masked" in done.stdout
    done = burstlens("support", str(copied.path), "-o", "mine.tar.gz", "--json")
    made = json.loads(done.stdout)
    assert made.keys() == {"path", "run", "files", "bytes", "redacted", "unreadable"}
    assert (tmp_path / "mine.tar.gz").stat().st_size == made["bytes"]
