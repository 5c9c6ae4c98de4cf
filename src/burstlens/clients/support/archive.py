"""One archive of a run for a site's support: what it was to do, what happened, with what.

It needs no driver and no whole journal, and works on another user's run.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from burstlens.clients.opened.file_errors import reading, replacing
from burstlens.clients.support.contents import KEYS, Contents, Taken
from burstlens.clients.support.hidden import Hidden
from burstlens.cluster_configs.schedulers import loadable
from burstlens.cluster_configs.site import known
from burstlens.cluster_configs.site_report import explain
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.quantity import counted
from burstlens.core.run.directory import RunDir
from burstlens.core.user_config import config_path
from burstlens.core.version import __version__

SUFFIX = "-support.tar.gz"
README = "README.txt"
_FIRST_LINE = "Burstlens support archive of run "
_MOST_NAMED = 200
_LIMIT_S = 5.0
"""How long a scheduler may take to name its version."""
_ABOUT = """\
In it: facts, recipe, status and journal of the run; attempts/ and steps/: its jobs with their batch
scripts; logs/; parsl/: scripts and messages of the viewing blocks; site.txt and versions.txt: of
the machine that wrote this archive, when it was written.

Not in it: products, raw output, inputs, files/ (programs that came with the recipe), control/, keys
of Parsl's channels (folders {keys}), the user's configuration, files that are data, and what a link
leads to.

Masked as [redacted], {masked}:
- values whose names speak of a token, password, key, cookie or webhook, in recipe, site, scripts,
  commands and logs; private keys; tokens of well-known forms; a file that is nothing but a token
- what follows the host in an address, and the user name in front of it
- values of environment tables
- values of such variables of the user who wrote this, and of such keys of the user's configuration,
  wherever they stand
A secret that is none of these is not recognised: look through the files before you send them.
"""


@dataclass(frozen=True, slots=True)
class Support:
    """A complete archive at ``path``. ``redacted`` counts masked texts, ``unreadable`` has the
    files that could not be read, with the reason."""

    path: Path
    run: str
    files: int
    bytes: int
    redacted: int
    unreadable: dict[str, str]


def write_support(run: RunDir, out: Path) -> Support:
    """Write the run's archive as ``out``, whole or not at all; replaces an older one.

    Raises RunError when ``out`` is another file, or cannot be written.
    """
    _require_ours(out)
    contents = Contents()
    with reading(run.path):
        taken = list(contents.read(run.path))
    files = {it.name: it.data for it in taken}
    site = _site_of(files)
    hidden = Hidden(files, [*_site_files(site), config_path()])
    now = time.time()
    members = [_masked(hidden, it) for it in taken]
    for name, text in (("versions.txt", versions()), ("site.txt", _site_text(site))):
        data = text.encode(errors="replace")
        members.append(_masked(hidden, Taken(name, data, len(data), now)))
    about = _readme(run, taken, contents, hidden.count)
    begin = Taken(README, about.encode(errors="replace"), 0, now)
    _write(out, f"{run.id}-support", [begin, *members])
    size = out.stat().st_size
    return Support(out, run.id, len(members) + 1, size, hidden.count, contents.unreadable)


def _require_ours(out: Path) -> None:
    """Raise RunError where ``out`` exists and is not an archive that this command has written."""
    if not os.path.lexists(out):
        return
    with suppress(OSError, EOFError, tarfile.TarError), tarfile.open(out, "r:gz") as archive:
        first = archive.next()
        if first is not None and first.name.endswith(f"-support/{README}"):
            return
    raise RunError(f"{out} exists already and is not a support archive; --out names another place")


def _masked(hidden: Hidden, taken: Taken) -> Taken:
    text = taken.data.decode("utf-8", "surrogateescape")
    data = hidden.mask(taken.name, text).encode("utf-8", "surrogateescape")
    return Taken(taken.name, data, taken.size, taken.mtime)


def _write(out: Path, folder: str, members: list[Taken]) -> None:
    with (
        replacing(out) as part,
        tarfile.open(part, "w:gz", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in members:
            about = tarfile.TarInfo(f"{folder}/{member.name}")
            about.size, about.mtime, about.mode = len(member.data), member.mtime, 0o644
            archive.addfile(about, io.BytesIO(member.data))


def _site_of(files: dict[str, bytes]) -> str | None:
    """The site that ``run.json`` names; None where that is damaged."""
    with suppress(ValueError, RecursionError):
        facts: Any = json.loads(files.get("run.json", b""))
        if isinstance(facts, dict) and isinstance(facts.get("site"), str):
            return str(facts["site"])
    return None


def _site_files(site: str | None) -> list[Path]:
    if site is None:
        return []
    if site.endswith(".toml"):
        return [Path(site).expanduser()]
    with suppress(OSError):
        return [path for name, path in known().items() if name == site]
    return []


def _site_text(site: str | None) -> str:
    """Each value of the site as it is here and now, as ``burstlens sites --explain`` shows it."""
    if site is None:
        return "run.json does not name the site\n"
    try:
        about, values = explain(site)
    except (BurstlensError, OSError, UnicodeError) as error:
        return f"site {site}: {error}\n"
    lines = [f"site {site}", about]
    for it in values:
        lines.append(f"{it.key} = {it.value}" if it.value else f"# {it.key} is not set")
        lines += [f"    {it.meaning}", f"    {it.origin}{f': {it.remark}' if it.remark else ''}"]
    return "\n".join(lines) + "\n"


def _readme(run: RunDir, taken: list[Taken], contents: Contents, masked: int) -> str:
    cut = [f"{it.name}: the end of {it.size} bytes" for it in taken if it.size > len(it.data)]
    lines = [
        f"{_FIRST_LINE}{run.id}",
        time.strftime("written %Y-%m-%dT%H:%M:%SZ", time.gmtime()) + f" from {run.path}",
        "",
        *_ABOUT.format(masked=counted(masked, "time"), keys=KEYS).splitlines(),
    ]
    left_out = [f"{name}: {reason}" for name, reason in sorted(contents.left_out.items())]
    unread = [f"{name}: {reason}" for name, reason in sorted(contents.unreadable.items())]
    for title, found in (("Cut", cut), ("Left out", left_out), ("Could not be read", unread)):
        if found:
            lines += ["", f"{title}:", *(f"  {line}" for line in found[:_MOST_NAMED])]
        if len(found) > _MOST_NAMED:
            lines.append(f"  and {len(found) - _MOST_NAMED} more")
    return "\n".join(lines) + "\n"


def versions() -> str:
    """What ran, a line for each: versions of the machine that writes the archive, now."""
    return "".join(f"{name}: {version}\n" for name, version in _found_versions())


def _found_versions() -> Iterator[tuple[str, str]]:
    yield "burstlens", __version__
    yield "python", f"{sys.version.split()[0]} ({sys.executable})"
    yield "host", platform.node()
    yield "kernel", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "C library", " ".join(platform.libc_ver())
    yield "distribution", _distribution()
    yield "CPUs", str(os.cpu_count())
    for scheduler in loadable():
        if command := scheduler.version_command():
            yield scheduler.name, _said(command)
    yield from _packages()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "not known")
    except OSError:
        return "not known"


def _said(command: Sequence[str]) -> str:
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not on PATH"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]}: {error}"
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
    return lines[-1] if lines else f"{command[0]} ended with {done.returncode}"


def _packages() -> Iterator[tuple[str, str]]:
    """The packages that Burstlens and its extras for users name, where they are installed."""
    try:
        wanted = metadata.requires("burstlens") or []
    except metadata.PackageNotFoundError:
        wanted = []
    wanted = [line for line in wanted if not re.search(r"extra == .(?:dev|docs)\b", line)]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in wanted}
    for name in sorted(names - {"burstlens"}):
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, "not installed"
