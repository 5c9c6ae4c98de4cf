"""What the service knows: pools, sessions, instances, configurations, activations.

Below its root lie:

    config.json                pools, mount root, the knobs
    state.json, lock           the objects, guarded by flock(2)
    instances/<id>/data/       what an instance holds
    instances/<id>/stages/     for a libdatawarp: the stages under way, one owner's alone
    instances/<id>/deferred/   stage-outs that a job put off to its end: *.json files, each
                               {"source": path in the instance, "destination": absolute path},
                               carried out at data_out; a program finds the folder beside the
                               real path of its mount
    mounts/batch/              a link for each mount, exactly while a job holds it
    calls.jsonl                one line for each call of the workload manager
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from typing import Any

from datawarp.directives import DataWarpError

DEFAULTS: dict[str, Any] = {
    "pools": [{"id": "wlm_pool", "units": "bytes", "granularity": 20 * 10**9, "quantity": 500}],
    "nodes": ["datawarp-s1", "datawarp-s2"],
    "access_mode_default": "striped",
    "enforce_capacity": True,
    "copy_bytes_per_s": 0,
    "fail_stage": "",
    "away": False,
    "setup_delay_s": 0.0,
    "create_delay_s": 0.0,
    "destroy_delay_s": 0.0,
}
EMPTY: dict[str, Any] = {
    "next": 1, "sessions": [], "instances": [], "configurations": [], "activations": []
}  # fmt: skip
State = dict[str, Any]
Row = dict[str, Any]


class Store:
    """The objects on disk. Every change is made inside :meth:`changing`."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.config = dict(DEFAULTS)
        with (
            contextlib.suppress(FileNotFoundError),
            open(os.path.join(self.root, "config.json")) as stream,
        ):
            self.config.update(json.load(stream))
        self._state = os.path.join(self.root, "state.json")
        self._lock = os.path.join(self.root, "lock")
        self.mounts = os.path.join(self.root, "mounts", "batch")

    @contextlib.contextmanager
    def changing(self) -> Iterator[State]:
        """The objects, to be changed by one process at a time; as they were if it fails."""
        with open(self._lock, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.read()
            before = json.dumps(state)
            yield state
            if json.dumps(state) != before:
                with open(self._state + ".new", "w") as stream:
                    json.dump(state, stream, indent=1)
                os.replace(self._state + ".new", self._state)

    def read(self) -> State:
        """The objects as they are; needs no more than the right to read."""
        try:
            with open(self._state) as stream:
                state: State = json.load(stream)
                return state
        except FileNotFoundError:
            state = json.loads(json.dumps(EMPTY))
            return state

    def log(self, **fields: object) -> None:
        """One line in calls.jsonl."""
        line = json.dumps({"t": time.time(), "pid": os.getpid(), **fields})
        with open(os.path.join(self.root, "calls.jsonl"), "a") as stream:
            stream.write(line + "\n")

    def pool(self, name: str) -> Row:
        """The pool of that name."""
        for pool in self.config["pools"]:
            if pool["id"] == name:
                return dict(pool)
        raise DataWarpError(f"no pool named {name!r}")

    def used_granules(self, state: State, pool: str) -> int:
        """Granules of the pool that are given away."""
        granule = self.pool(pool)["granularity"]
        return sum(i["bytes"] // granule for i in state["instances"] if i["pool"] == pool)

    def session(self, state: State, token: str) -> Row:
        """The session of that token: a job's id, or a persistent buffer's name."""
        for session in state["sessions"]:
            if session["token"] == token:
                return dict(session)
        raise DataWarpError(f"token not found: No matching session for token {token}")

    def folder(self, instance: Row, part: str = "data") -> str:
        """``data``, ``stages`` or ``deferred`` of an instance."""
        return os.path.join(self.root, "instances", str(instance["id"]), part)

    def instance(self, state: State, session: Row, name: str | None = None) -> Row:
        """The job's own instance, or the persistent one of that name."""
        owner = session if name is None else self.session(state, name)
        for instance in state["instances"]:
            if instance["session"] == owner["id"]:
                return dict(instance)
        raise DataWarpError("the job has no instance of its own")

    def held(self, state: State, session: Row) -> list[Row]:
        """The instances that a job sees: its own and those that it has activated."""
        active = {a["instance"] for a in state["activations"] if a["session"] == session["id"]}
        return [i for i in state["instances"] if i["session"] == session["id"] or i["id"] in active]

    def mounted(self, state: State, session: Row) -> list[tuple[str, str, Row]]:
        """(environment variable, mount point, instance) of all that a job sees."""
        found = []
        for config in state["configurations"]:
            for instance in state["instances"]:
                if instance["id"] == config["instance"] and instance["session"] == session["id"]:
                    mode, kind = config["access_mode"], config["type"]
                    cache = "_CACHE" if kind == "cache" else ""
                    point = os.path.join(self.mounts, f"{session['token']}_{mode}_{kind}")
                    found.append((f"DW_JOB_{mode.upper()}{cache}", point, instance))
        for active in state["activations"]:
            if active["session"] == session["id"]:
                name = active["name"]
                point = os.path.join(self.mounts, f"{name}_{session['token']}_striped_scratch")
                found += [
                    (f"DW_PERSISTENT_STRIPED_{name}", point, instance)
                    for instance in state["instances"]  # one that was destroyed in use has gone
                    if instance["id"] == active["instance"]
                ]
        return found

    def new_id(self, state: State) -> int:
        """The next number."""
        state["next"] += 1
        return int(state["next"]) - 1

    def new_session(self, state: State, token: str, user: int, group: int, creator: str) -> Row:
        """A session; a token is taken once."""
        if any(session["token"] == token for session in state["sessions"]):
            raise DataWarpError(f"token {token} already exists")
        session = {
            "id": self.new_id(state), "token": token, "owner": user, "group": group,
            "creator": creator, "created": int(time.time()), "nodes": [],
        }  # fmt: skip
        state["sessions"].append(session)
        return session

    def new_instance(
        self, state: State, session: Row, pool: str, size: int, kind: str, modes: list[str],
        label: str, public: bool,
    ) -> None:  # fmt: skip
        """Space for a session, in whole granules, in folders that the owner alone can enter."""
        granule = self.pool(pool)["granularity"]
        granules = max(1, -(-size // granule))
        free = self.pool(pool)["quantity"] - self.used_granules(state, pool)
        if granules > free:
            raise DataWarpError(
                f"insufficient free space in pool {pool}: need {granules * granule} bytes, "
                f"{free * granule} free"
            )
        instance = {
            "id": self.new_id(state), "session": session["id"], "pool": pool,
            "bytes": granules * granule, "created": int(time.time()), "label": label,
            "public": public, "type": kind,
        }  # fmt: skip
        state["instances"].append(instance)
        for mode in modes:
            state["configurations"].append({
                "id": self.new_id(state), "instance": instance["id"], "type": kind,
                "access_mode": mode,
            })  # fmt: skip
        for part in ("data", "stages", "deferred"):
            folder = self.folder(instance, part)
            os.makedirs(folder)
            os.chmod(folder, 0o700)
            os.chown(folder, session["owner"], session["group"])

    def drop_session(self, state: State, session: Row) -> None:
        """Give back all that a session has, and what its instances hold."""
        for instance in [i for i in state["instances"] if i["session"] == session["id"]]:
            shutil.rmtree(os.path.dirname(self.folder(instance)), ignore_errors=True)
            state["instances"].remove(instance)
            state["configurations"] = [
                c for c in state["configurations"] if c["instance"] != instance["id"]
            ]
        for key, name in (("activations", "session"), ("sessions", "id")):
            state[key] = [row for row in state[key] if row[name] != session["id"]]
