"""Viewing blocks of three nodes: products go to all of them, and a node that is lost costs its own
products' time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch_case import BatchCase
from run_case import TIMES, WAITS
from testbed import Testbed

from burstlens.cluster_configs.batch_script import BLOCK_VARIABLE
from burstlens.cluster_configs.parsl_config import Block
from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import read
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.run.directory import RunDir
from burstlens.workflows.viewing.graph import Graph

NODES = {"dwn1", "dwn2", "dwn3"}
DEAR = ("one", "two", "three")
# Each takes far longer than to read its frame, so that it is worth a worker of its own.
MAKING = """
import os, time
from pathlib import Path
from PIL import Image

HERE = Path("{here}")

def make(name, frame, out):
    with (HERE / "calls.txt").open("a") as calls:
        calls.write(f"{{name}} {{frame.time}} {{os.environ['SLURMD_NODENAME']}} {{os.getpid()}}\\n")
    time.sleep(1.5)
    while (HERE / "hold").exists() and not (HERE / "release").exists():
        time.sleep(0.05)
    Image.new("RGB", (128, 128)).save(out)

def one(frame, out):
    make("one", frame, out)

def two(frame, out):
    make("two", frame, out)

def three(frame, out):
    make("three", frame, out)
"""
PRODUCT = """
[[product]]
name = "{name}"
kind = "python"
function = "making.py:{name}"
extension = "png"
"""
RECIPE = """
title = "Three nodes"
[simulation]
model = "wrf"
inputs = "inputs"
[buffer]
capacity = "{capacity}"
[stage_out]
keep = ["wrfout_*"]
""" + "".join(PRODUCT.format(name=name) for name in DEAR)


def on_node(node: str, variable: str, value: str) -> dict[int, bytes]:
    """The processes of that node with this variable, with their commands."""
    found = {}
    signs = {f"SLURMD_NODENAME={node}".encode(), f"{variable}={value}".encode()}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and signs <= set((entry / "environ").read_bytes().split(b"\0")):
                found[int(entry.name)] = (entry / "cmdline").read_bytes()
        except OSError:
            continue
    return found


def kill(processes: Any) -> None:
    for pid in processes:
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def make_run(slurm: Testbed, make_case: Any) -> Callable[[], BatchCase]:
    """A run of three frames, of each of which three dear products are made on three nodes."""

    def make() -> BatchCase:
        products = dict.fromkeys(DEAR, "python")
        case = make_case(model=WAITS, viewing="nodes = 3", recipe=RECIPE, products=products)
        (case.folder / "making.py").write_text(MAKING.format(here=case.folder))
        return case

    return make


def calls(case: BatchCase, time: str) -> dict[str, list[tuple[str, int]]]:
    """Node and process of each making of the dear products of a frame."""
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in DEAR}
    path = case.folder / "calls.txt"
    for line in path.read_text().splitlines() if path.exists() else ():
        name, when, node, pid = line.split()
        if when == time:
            found[name].append((node, int(pid)))
    return found


def hold_last(case: BatchCase) -> dict[str, str]:
    """Let the last frame come when the block is idle, and hold its products while they are made;
    returns the node of each."""
    case.await_event("product.published", 6)
    (case.folder / "hold").touch()
    case.go_on()
    case.await_that(lambda: all(calls(case, TIMES[-1]).values()), "products under way")
    return {name: where[0][0] for name, where in calls(case, TIMES[-1]).items()}


@pytest.mark.slow
def test_the_dear_products_of_a_frame_are_made_on_three_nodes_each_of_which_reads_it_once(
    make_run: Callable[[], BatchCase],
) -> None:
    case = make_run()
    driver = case.launch()
    nodes = hold_last(case)
    assert set(nodes.values()) == NODES
    (case.folder / "release").touch()
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.fault
@pytest.mark.parametrize("lost", ["pool", "node", "down"])
def test_a_node_lost_in_the_middle_of_a_batch_costs_its_own_products_time(
    slurm: Testbed, make_run: Callable[[], BatchCase], lost: str
) -> None:
    """Its pool is killed, all of its processes are, or Slurm takes it for down."""
    case = make_run()
    driver = case.launch()
    nodes = hold_last(case)
    batch_host = slurm.job(case.await_job("parsl")["JobId"])["BatchHost"]
    name, node = next((name, node) for name, node in nodes.items() if node != batch_host)
    processes = on_node(node, BLOCK_VARIABLE, str(case.run / "parsl"))
    if lost == "pool":
        kill(pid for pid, command in processes.items() if b"worker_pool" in command)
    elif lost == "node":
        kill(processes)
    else:
        slurm.daemons.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    try:
        case.await_that(lambda: len(calls(case, TIMES[-1])[name]) > 1, "another making", 60)
        (case.folder / "release").touch()
        assert case.wait(driver).code == 0, case.said()
    finally:
        if lost == "down":
            slurm.daemons.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
            slurm.daemons.wait_idle()
    assert not case.faults(), case.said()
    made = calls(case, TIMES[-1])
    again = {name for name, where in made.items() if len(where) > 1}
    assert again == {name for name in DEAR if nodes[name] == node}
    assert all(where[-1][0] != node for where in made.values())
    assert "viewing.ended" not in [line["event"] for line in case.journal()]


@pytest.mark.fault
def test_a_block_whose_first_node_is_lost_makes_every_product_once(
    slurm: Testbed, make_run: Callable[[], BatchCase]
) -> None:
    """Its script runs there, and srun, which holds the pools of the other nodes."""
    case = make_run()
    driver = case.launch()
    hold_last(case)
    node = slurm.job(case.await_job("parsl")["JobId"])["BatchHost"]
    slurm.daemons.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    (case.folder / "release").touch()
    try:
        assert case.wait(driver).code == 0, case.said()
    finally:
        slurm.daemons.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        slurm.daemons.wait_idle()
    assert not case.faults(), case.said()


@pytest.mark.fault
def test_the_workers_of_a_lost_node_are_no_longer_counted(
    slurm: Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, slurm.env[name])
    (tmp_path / "bed.toml").write_text(
        'scheduler = "slurm"\n[buffer]\nkind = "posix"\n'
        '[viewing]\nplacement = "separate"\nworkers = 1\nnodes = 3\n'
    )
    run = RunDir(tmp_path / "run")
    run.create()
    block = Block(
        scheduler=Slurm(BatchSite(query_interval_s=1.0)),
        comment="counted", token="counted", walltime_s=600.0,
    )  # fmt: skip
    with Graph(read(tmp_path / "bed.toml"), run, 1, block) as graph:
        graph.open_block()
        graph.ask_block(None)
        assert graph.workers == 3
        await_workers(graph, 5)  # two on each, one of which watches
        kill(
            pid
            for pid, command in on_node("dwn3", BLOCK_VARIABLE, str(run.parsl)).items()
            if b"worker_pool" in command
        )
        await_workers(graph, 3)
        assert graph.block_state() == "running"


def await_workers(graph: Graph, count: int) -> None:
    """Wait until the block has counted so many."""
    until = time.monotonic() + 90.0
    while graph.block_state() != "running" or graph.workers != count:
        assert time.monotonic() < until, (graph.block_state(), graph.workers)
        time.sleep(0.2)
