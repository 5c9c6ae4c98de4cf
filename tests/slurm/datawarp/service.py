"""The functions of ``dw_wlm_cli``, one for each ``--function`` that Slurm calls."""

from __future__ import annotations

import contextlib
import os
import pwd
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from datawarp.directives import DataWarpError, access_modes, check_script, parse_size
from datawarp.staging import run_stages
from datawarp.store import Row, State, Store

STEADY = {"actualized": True, "goal": "create", "mixed": False, "transitioning": False}


def pools(store: Store, _: Namespace) -> dict[str, Any]:
    """Pools, with what is free of them."""
    state = store.read()
    return {
        "pools": [
            {**pool, "free": pool["quantity"] - store.used_granules(state, pool["id"])}
            for pool in store.config["pools"]
        ]
    }


def show_instances(store: Store, _: Namespace) -> dict[str, Any]:
    """Instances, as Slurm looks for the persistent ones."""
    return {
        "instances": [
            {
                "id": i["id"], "label": i["label"], "public": i["public"], "intact": True,
                "created": i["created"], "expiration": 0, "expired": False,
                "capacity": {"bytes": i["bytes"], "nodes": len(store.config["nodes"])},
                "state": STEADY, "links": {"session": i["session"]},
            }
            for i in store.read()["instances"]
        ]
    }  # fmt: skip


def show_sessions(store: Store, _: Namespace) -> dict[str, Any]:
    """Sessions."""
    return {
        "sessions": [
            {
                "id": s["id"], "token": s["token"], "owner": s["owner"], "creator": s["creator"],
                "created": s["created"], "expiration": 0, "expired": False, "state": STEADY,
                "links": {"client_nodes": s["nodes"]},
            }
            for s in store.read()["sessions"]
        ]
    }  # fmt: skip


def show_configurations(store: Store, _: Namespace) -> dict[str, Any]:
    """Configurations."""
    return {
        "configurations": [
            {
                "id": c["id"], "type": c["type"], "access_mode": c["access_mode"],
                "state": STEADY, "links": {"instance": c["instance"]},
            }
            for c in store.read()["configurations"]
        ]
    }  # fmt: skip


def job_process(store: Store, call: Namespace) -> None:
    """Check a script at its submission."""
    request = check_script(call.job)
    if request.jobdw:
        store.pool(request.jobdw.get("pool", store.config["pools"][0]["id"]))


def create_persistent(store: Store, call: Namespace) -> str:
    """``#BB create_persistent``."""
    time.sleep(store.config["create_delay_s"])
    pool, size = call.capacity.split(":", 1)
    user = int(call.user)
    group = int(call.groupid) if call.groupid else pwd.getpwuid(user).pw_gid
    modes = access_modes(call.access or store.config["access_mode_default"])
    kind = call.type or "scratch"
    with store.changing() as state:
        session = store.new_session(state, call.token, user, group, call.caller or "CLI")
        store.new_instance(
            state, session, pool, parse_size(size), kind, modes, call.token, public=True
        )
    return "created"


def setup(store: Store, call: Namespace) -> None:
    """Make a job's own instance and activate the persistent ones that it names."""
    time.sleep(store.config["setup_delay_s"])
    request = check_script(call.job)
    creator = call.caller or "SLURM"
    with store.changing() as state:
        session = store.new_session(
            state, call.token, int(call.user), int(call.groupid or 0), creator
        )
        for name in request.persistent:
            _activate(store, state, session, name)
        if request.jobdw:
            own, pool = request.jobdw, call.capacity.split(":", 1)[0]
            store.new_instance(
                state, session, pool, parse_size(own["capacity"]), own["type"],
                access_modes(own["access_mode"]), f"I{session['id']}-0", public=False,
            )  # fmt: skip


def _activate(store: Store, state: State, session: Row, name: str) -> None:
    instance = store.instance(state, session, name)
    if store.session(state, name)["owner"] != session["owner"] and not instance["public"]:
        raise DataWarpError(f"persistent instance {name} is not public")
    state["activations"].append({
        "id": store.new_id(state), "session": session["id"], "instance": instance["id"],
        "name": name, "mode": "striped",
    })  # fmt: skip


def data_in(store: Store, call: Namespace) -> None:
    """Stage in."""
    run_stages(store, call.token, call.job, "stage_in")


def data_out(store: Store, call: Namespace) -> None:
    """Stage out, what the job put off to its end included."""
    run_stages(store, call.token, call.job, "stage_out")


def real_size(store: Store, call: Namespace) -> dict[str, Any]:
    """What was granted to a job."""
    state = store.read()
    session = store.session(state, call.token)
    size = sum(i["bytes"] for i in state["instances"] if i["session"] == session["id"])
    return {"token": call.token, "capacity": size, "units": "bytes"}


def paths(store: Store, call: Namespace) -> None:
    """Write a job's environment."""
    state = store.read()
    mounted = store.mounted(state, store.session(state, call.token))
    with open(call.pathfile, "w") as stream:
        stream.writelines(f"{variable}={point}/\n" for variable, point, _ in mounted)


def pre_run(store: Store, call: Namespace) -> None:
    """Mount what a job sees."""
    with store.changing() as state:
        found = next(s for s in state["sessions"] if s["token"] == call.token)
        if call.nodehostnamefile:
            with open(call.nodehostnamefile) as stream:
                found["nodes"] = stream.read().split()
        mounted = store.mounted(state, found)
    os.makedirs(store.mounts, exist_ok=True)
    _unmount(mounted)
    for _, point, instance in mounted:
        os.symlink(store.folder(instance), point)


def post_run(store: Store, call: Namespace) -> None:
    """Unmount it."""
    state = store.read()
    _unmount(store.mounted(state, store.session(state, call.token)))


def teardown(store: Store, call: Namespace) -> None:
    """Give back all that a token has: a job's, or a persistent buffer, whose token is its name."""
    if not call.token.isdecimal():
        time.sleep(store.config["destroy_delay_s"])
    with store.changing() as state:
        session = store.session(state, call.token)
        _unmount(store.mounted(state, session))
        store.drop_session(state, session)


def _unmount(mounted: list[tuple[str, str, Row]]) -> None:
    for _, point, _ in mounted:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(point)


FUNCTIONS: dict[str, Callable[[Store, Namespace], Any]] = {
    function.__name__: function
    for function in (
        pools, show_instances, show_sessions, show_configurations, job_process,
        create_persistent, setup, data_in, data_out, real_size, paths, pre_run, post_run, teardown,
    )
}  # fmt: skip
