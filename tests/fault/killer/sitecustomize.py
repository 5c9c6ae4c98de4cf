"""Counts the outside calls of one process of a run, and kills it at one of them.

On PYTHONPATH, every Python process of the run imports this at its start. Outside calls are those
that change the run directory or the buffer, start or signal a process, or send a message between
Parsl's processes. ``FAULT_FOLDER`` receives one file of calls for each process. ``FAULT_KILL``,
a JSON object, names the role, the call, its number in that process and ``before`` or ``after``;
the first process that gets there dies of SIGKILL, and no other one after it.
"""

import builtins
import functools
import io
import json
import os
import re
import signal
import sys

FOLDER = os.environ.get("FAULT_FOLDER", "")
ROOTS = tuple(os.environ.get("FAULT_ROOTS", "").split(":"))
KILL = json.loads(os.environ.get("FAULT_KILL", "null"))
# What differs from run to run: identifiers, process numbers, times.
CHANGING = re.compile(
    r"[0-9a-f]{32}|(?<=/r-)[0-9a-f]{8}(?=/)|(?<=/)[0-9a-f]{12}\b|(?<=\.json\.)\d+|(?<=\.pvd\.)\d+|\d{9,}(\.\d+)?"
)

_open, _write, _close, _kill = os.open, os.write, os.close, os.kill


def role() -> str:
    """The role of this process in a run, by its command line; empty when it is not part of one."""
    words = [os.path.basename(word) for word in sys.orig_argv]
    if "burstlens" in words and {"run", "resume", "drive"} & set(words):
        return "driver"
    for program, name in (
        ("supervisor.py", "supervisor"),
        ("burstlens.cluster_configs.interchange", "interchange"),
        ("burstlens.cluster_configs.worker_pool", "manager"),
        ("replay.py", "model"),
    ):
        if program in words:
            return name
    if any("multiprocessing.spawn" in word for word in sys.orig_argv):
        return "early"
    # Workers are forks of this process, and so is the one that holds the pool's queues.
    if any("multiprocessing.forkserver" in word for word in sys.orig_argv):
        try:
            with open(f"/proc/{os.getppid()}/cmdline", "rb") as stream:
                return "worker" if b"cluster_configs.worker_pool" in stream.read() else ""
        except OSError:
            return ""
    return ""


ROLE = role() if FOLDER else ""
_counts: dict[str, int] = {}
_record = -1


def _place(path: object, folder: object = None) -> str | None:
    """The path below the run directory or the buffer, made alike in every run; else None."""
    if isinstance(path, int):
        try:
            text = os.readlink(f"/proc/self/fd/{path}")
        except OSError:
            return None
    else:
        text = os.fsdecode(path)  # type: ignore[arg-type]
        if isinstance(folder, int):
            text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)
        text = os.path.abspath(text)
    for root in ROOTS:
        if text.startswith(root + "/"):
            return CHANGING.sub("*", text.removeprefix(root + "/"))
    return None


def _call(label: str, function: object, *args: object, **named: object) -> object:
    """Make the call, recorded, and die just before or just after it when it is the one."""
    global _record
    if _record < 0:
        name = os.path.join(FOLDER, f"{ROLE}.{os.getpid()}.calls")
        _record = _open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    _counts[label] = _counts.get(label, 0) + 1
    _write(_record, f"{label}\n".encode())
    chosen = KILL and KILL["role"] == ROLE and KILL["call"] == label
    chosen = chosen and KILL["number"] == _counts[label]
    if chosen and KILL["when"] == "before":
        _die()
    try:
        return function(*args, **named)  # type: ignore[operator]
    finally:
        if chosen:  # also when it failed: that is just after it, too
            _die()


def _die() -> None:
    try:
        _close(_open(os.path.join(FOLDER, "killed"), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    _kill(os.getpid(), signal.SIGKILL)


def _wrap(module: object, name: str, label: object) -> None:
    """Route ``module.name`` through ``_call`` whenever ``label(args)`` gives its calls a name."""
    function = getattr(module, name)

    @functools.wraps(function)
    def outside(*args: object, **named: object) -> object:
        text = label(*args, **named)  # type: ignore[operator]
        return _call(text, function, *args, **named) if text else function(*args, **named)

    for group in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if function in group:
            group.add(outside)
    setattr(module, name, outside)


def _on_path(name: str) -> object:
    def label(path: object, *_: object, dir_fd: object = None, **__: object) -> str | None:
        place = _place(path, dir_fd)
        return place and f"{name} {place}"

    return label


def _opens(path: object, flags: int = 0, *_: object, dir_fd: object = None) -> str | None:
    writing = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    place = _place(path, dir_fd) if writing else None
    return place and f"open {place}"


def _opens_file(path: object, mode: str = "r", *_: object, **__: object) -> str | None:
    place = None if isinstance(path, int) or not set(mode) & set("wax+") else _place(path)
    return place and f"open {place}"


def _onto(name: str) -> object:
    def label(source: object, target: object, *_: object, **__: object) -> str | None:
        place = _place(target)
        return place and f"{name} {place}"

    return label


def _writes(descriptor: int, data: bytes, *_: object) -> str | None:
    place = _place(descriptor)
    if place is None:
        return None
    event = re.search(rb'"event":"([a-z.]+)"', bytes(data[:200]))
    return f"write {place} {event[1].decode()}" if event else f"write {place}"


def _starts(args: list[bytes | str], *_: object) -> str:
    words = [os.path.basename(os.fsdecode(word)) for word in args[:6]]
    for word in b" ".join(map(os.fsencode, args[:6])).decode().split():  # also what sh is handed
        if word in ("sbatch", "squeue", "scontrol", "scancel", "sacct"):
            return f"start {word}"
    programs = [word for word in words if word.endswith(".py")]
    return f"start {programs[0] if programs else words[0]}"


def _signals(target: int, number: int) -> str | None:
    return f"kill {signal.Signals(number).name}" if number else None


def _sends(socket: object, *_: object, **__: object) -> str:
    return "send"


def install() -> None:
    """Wrap the outside calls of this process."""
    # Before subprocess binds it; multiprocessing's spawn looks it up at each start.
    import _posixsubprocess

    _wrap(_posixsubprocess, "fork_exec", _starts)
    for name in ("mkdir", "rmdir", "unlink", "remove", "ftruncate", "chmod", "fsync"):
        _wrap(os, name, _on_path(name))
    for name in ("rename", "replace", "symlink"):
        _wrap(os, name, _onto("symlink" if name == "symlink" else "rename"))
    for name in ("write", "pwrite"):
        _wrap(os, name, _writes)
    _wrap(os, "open", _opens)
    _wrap(io, "open", _opens_file)
    builtins.open = io.open
    _wrap(os, "kill", _signals)
    _wrap(os, "killpg", _signals)
    if ROLE in {"interchange", "manager"}:
        import zmq.sugar.socket

        _wrap(zmq.sugar.socket.Socket, "send", _sends)


if ROLE:
    install()
