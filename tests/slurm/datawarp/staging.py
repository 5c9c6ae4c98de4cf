"""Stages: copies with the job owner's rights, before a job starts and after it has ended."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import re
import shlex
import stat
import time
from collections.abc import Callable
from typing import Any

from datawarp.directives import DataWarpError, check_script, split_target
from datawarp.store import Row, State, Store

CHUNK = 1 << 20


def as_user(user: int, group: int, work: Callable[[], Any]) -> Any:
    """What ``work`` returns, run in a child with that user's rights alone.

    It must survive JSON; its errors come back as DataWarpError.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        result, message = None, ""
        try:
            with contextlib.suppress(KeyError):
                os.initgroups(pwd.getpwuid(user).pw_name, group)
            os.setgid(group)
            os.setuid(user)
            os.umask(0o022)
            result = work()
        except DataWarpError as error:
            message = str(error)
        except OSError as error:
            message = f"{error.strerror}: {error.filename or ''}"
        except BaseException as error:
            message = f"internal error: {error!r}"
        with os.fdopen(write_end, "w") as stream:
            json.dump([result, message], stream)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        said = stream.read()
    os.waitpid(child, 0)
    result, message = json.loads(said) if said else (None, "staging process died")
    if message:
        raise DataWarpError(message)
    return result


class Copier:
    """Copies regular files. Links are not carried over and the executable bit is lost, as there.

    ``room`` is how many bytes the destination still takes, None for no bound.
    """

    def __init__(self, config: Row, room: int | None = None) -> None:
        self.rate, self.room = config["copy_bytes_per_s"], room
        self.fail = re.compile(config["fail_stage"]) if config["fail_stage"] else None

    def copy(self, kind: str, source: str, target: str) -> None:
        """Copy a ``file`` or a ``directory``."""
        (self.directory if kind == "directory" else self.file)(source, target)

    def file(self, source: str, target: str) -> None:
        """Copy one file, at the knob's rate."""
        if self.fail and self.fail.search(source):
            raise DataWarpError(f"Input/output error: {source}")
        found = os.stat(source)
        if not stat.S_ISREG(found.st_mode):
            raise DataWarpError(f"not a regular file: {source}")
        if self.room is not None:
            self.room -= found.st_size
            if self.room < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        begun, done = time.monotonic(), 0
        with open(source, "rb") as reader, open(target, "wb") as writer:
            while chunk := reader.read(CHUNK):
                writer.write(chunk)
                done += len(chunk)
                if self.rate:
                    time.sleep(max(0.0, begun + done / self.rate - time.monotonic()))
            writer.flush()
            os.fsync(writer.fileno())

    def directory(self, source: str, target: str) -> None:
        """Copy a tree."""
        if not os.path.isdir(source):
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), source)
        os.makedirs(target, exist_ok=True)
        for top, folders, names in os.walk(source):
            below = os.path.normpath(os.path.join(target, os.path.relpath(top, source)))
            for name in folders:
                if not os.path.islink(os.path.join(top, name)):
                    os.makedirs(os.path.join(below, name), exist_ok=True)
            for name in names:
                path = os.path.join(top, name)
                if not os.path.islink(path):
                    self.file(path, os.path.join(below, name))


def run_stages(store: Store, token: str, script: str, verb: str) -> None:
    """Carry out a script's ``stage_in`` or ``stage_out`` lines, and what its job put off."""
    state = store.read()
    session = store.session(state, token)
    if verb == "stage_out":
        _run_deferred(store, state, session)
    for what, kind, options in check_script(script).stages:
        if what == verb:
            for entry in _entries(session, kind, options):
                _stage(store, state, session, verb, entry)


def _entries(session: Row, kind: str, options: dict[str, str]) -> list[tuple[str, str, str]]:
    """(kind, source, destination): the line's own, or those of the list that it names."""
    if kind != "list":
        return [(kind, options["source"], options["destination"])]
    path = options["source"]

    def read() -> str:
        with open(path) as stream:
            return stream.read()

    entries = []
    for line in as_user(session["owner"], session["group"], read).splitlines():
        words = shlex.split(line, comments=True)
        if len(words) == 1 and "destination" in options:
            target = options["destination"].rstrip("/") + "/"
            entries.append(("file", words[0], target))
        elif len(words) == 2:
            entries.append(("file", words[0], words[1]))
        elif words:
            raise DataWarpError(f"bad line in list file {path}: {line!r}")
    return entries


def _stage(
    store: Store, state: State, session: Row, verb: str, entry: tuple[str, str, str]
) -> None:
    kind, source, target = entry
    room = None
    if verb == "stage_in":
        instance, target = _resolve(store, state, session, target)
        if store.config["enforce_capacity"]:
            room = instance["bytes"] - _tree_bytes(store.folder(instance))
    else:
        _, source = _resolve(store, state, session, source)
    if kind == "file" and target.endswith("/"):
        target = os.path.join(target, os.path.basename(source))
    copier = Copier(store.config, room)
    as_user(session["owner"], session["group"], lambda: copier.copy(kind, source, target))


def _resolve(store: Store, state: State, session: Row, path: str) -> tuple[Row, str]:
    where = split_target(path)
    if where is None:
        raise DataWarpError(f"{path!r} does not name a DataWarp path")
    instance = store.instance(state, session, where[0])
    slash = "/" if path.endswith("/") else ""
    return instance, os.path.join(store.folder(instance), where[2]).rstrip("/") + slash


def _run_deferred(store: Store, state: State, session: Row) -> None:
    for instance in store.held(state, session):
        data, queue = store.folder(instance), store.folder(instance, "deferred")

        def work(data: str = data, queue: str = queue) -> list[str]:
            done = []
            for name in sorted(os.listdir(queue)):
                path = os.path.join(queue, name)
                if not name.endswith(".json"):
                    continue
                with open(path) as stream:
                    request = json.load(stream)
                inside = os.path.normpath("/" + request["source"]).lstrip("/")
                Copier(store.config).file(os.path.join(data, inside), request["destination"])
                os.unlink(path)
                done.append(f"{inside} -> {request['destination']}")
            return done

        done = as_user(session["owner"], session["group"], work)
        if done:
            store.log(function="deferred", token=session["token"], argv=done, code=0)


def _tree_bytes(path: str) -> int:
    total = 0
    for top, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(top, name)).st_size
    return total
