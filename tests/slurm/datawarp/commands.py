"""``dw_wlm_cli`` and ``dwstat``: what Slurm's plugin runs, and what people look at."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from datawarp.directives import DataWarpError
from datawarp.service import FUNCTIONS
from datawarp.store import Store

GROUPS = {
    "most": ["pools", "sessions", "instances", "configurations", "activations"],
    "all": ["pools", "sessions", "instances", "configurations", "activations", "nodes"],
}
AWAY = "Error connecting to the DataWarp service"
OPTIONS = (
    *(("-t", "--token"), ("-j", "--job"), ("-u", "--user"), ("-g", "--groupid")),
    *(("-C", "--capacity"), ("-c", "--caller"), ("-a", "--access"), ("-T", "--type")),
    *(("-p", "--pathfile"), ("-n", "--nodehostnamefile"), ("-N", "--nidlistfile")),
)


def dw_wlm_cli(root: str, argv: list[str]) -> int:
    """One call of the workload manager; each is noted in calls.jsonl."""
    parser = argparse.ArgumentParser(prog="dw_wlm_cli", allow_abbrev=False)
    parser.add_argument("-f", "--function", required=True)
    for names in OPTIONS:
        parser.add_argument(*names)
    parser.add_argument("-H", "--hurry", action="store_true")
    call = parser.parse_args(argv)
    store, begun = Store(root), time.monotonic()
    code, said = 0, ""
    try:
        if store.config["away"]:
            raise DataWarpError(AWAY)
        if call.function not in FUNCTIONS:
            raise DataWarpError(f"invalid function {call.function}")
        result = FUNCTIONS[call.function](store, call)
        said = json.dumps(result) if isinstance(result, dict) else (result or "")
    except DataWarpError as error:
        code, said = 1, str(error)
    except (OSError, KeyError, ValueError) as error:
        code, said = 1, f"{type(error).__name__}: {error}"
    if code:
        # Slurm's plugin takes apostrophes for quotes.
        said = said.replace("'", "")
    store.log(
        function=call.function, token=call.token, argv=argv, code=code,
        seconds=round(time.monotonic() - begun, 3), error=said if code else "",
    )  # fmt: skip
    if said:
        print(said)
    return code


def dwstat(root: str, argv: list[str]) -> int:
    """Tables of what the service holds; anyone may look."""
    what = [word for word in argv if not word.startswith("-")] or ["pools"]
    names = [name for word in what for name in GROUPS.get(word, [word])]
    store = Store(root)
    if store.config["away"]:
        print(AWAY, file=sys.stderr)
        return 1
    try:
        print("\n\n".join(_table(store, store.read(), name) for name in names))
    except DataWarpError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _table(store: Store, state: dict[str, Any], name: str) -> str:
    made = {
        "pools": _pools, "sessions": _sessions, "instances": _instances,
        "configurations": _configurations, "activations": _activations, "nodes": _nodes,
    }  # fmt: skip
    if name not in made:
        raise DataWarpError(f"dwstat: unknown resource {name!r}")
    rows = [[str(cell) for cell in row] for row in made[name](store, state)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def _pools(store: Store, state: dict[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = [["pool", "units", "quantity", "free", "gran"]]
    for pool in store.config["pools"]:
        granule, quantity = pool["granularity"], pool["quantity"]
        free = quantity - store.used_granules(state, pool["id"])
        sizes = (_human(n * granule) for n in (quantity, free, 1))
        rows.append([pool["id"], pool["units"], *sizes])
    return rows


def _sessions(_: Store, state: dict[str, Any]) -> list[list[Any]]:
    head = ["sess", "state", "token", "creator", "owner", "created", "expiration", "nodes"]
    return [head] + [
        [s["id"], "CA---", s["token"], s["creator"], s["owner"], _when(s["created"]), "never",
         len(s["nodes"])]
        for s in state["sessions"]
    ]  # fmt: skip


def _instances(store: Store, state: dict[str, Any]) -> list[list[Any]]:
    head = [
        *("inst", "state", "sess", "bytes", "nodes", "created", "expiration", "intact", "label"),
        *("public", "confs"),
    ]
    return [head] + [
        [i["id"], "CA---", i["session"], _human(i["bytes"]), len(store.config["nodes"]),
         _when(i["created"]), "never", "true", i["label"], str(i["public"]).lower(),
         sum(c["instance"] == i["id"] for c in state["configurations"])]
        for i in state["instances"]
    ]  # fmt: skip


def _configurations(_: Store, state: dict[str, Any]) -> list[list[Any]]:
    return [["conf", "state", "inst", "type", "activs"]] + [
        [c["id"], "CA---", c["instance"], c["type"],
         sum(a["instance"] == c["instance"] for a in state["activations"])]
        for c in state["configurations"]
    ]  # fmt: skip


def _activations(_: Store, state: dict[str, Any]) -> list[list[Any]]:
    return [["activ", "state", "sess", "inst", "mount"]] + [
        [a["id"], "CA---", a["session"], a["instance"], a["name"]] for a in state["activations"]
    ]


def _nodes(store: Store, state: dict[str, Any]) -> list[list[Any]]:
    pool = store.config["pools"][0]
    share = pool["quantity"] * pool["granularity"] / len(store.config["nodes"])
    return [["node", "pool", "online", "drain", "gran", "capacity", "insts", "activs"]] + [
        [node, pool["id"], "online", "fill", _human(pool["granularity"]), _human(share),
         len(state["instances"]), len(state["activations"])]
        for node in store.config["nodes"]
    ]  # fmt: skip


def _human(size: float) -> str:
    unit = "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.6g}{unit}"


def _when(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))
