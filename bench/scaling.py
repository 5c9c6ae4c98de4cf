"""Scaling: the costs from which docs/scaling.md takes the limits of a block of many nodes.

All of them are of the driver's side, which is one process for any number of nodes: of each product
and each batch, of looking for results, of bringing a product to disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.batches import COPY, COPY_PY
from bench.driver import LOGIN
from bench.pipeline import Ran, Scratch, run
from bench.report import Figure, median, percentile, spread
from burstlens.cluster_configs.parsl_internals import LeastLoaded
from burstlens.cluster_configs.site import choose
from burstlens.core.durable import sync_folder
from burstlens.core.model import Frame
from burstlens.core.run.directory import RunDir
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.instructions import Ask
from burstlens.workflows.viewing.graph import Graph
from burstlens.workflows.viewing.result_files import ResultFiles

MOST_PART = 0.05
"""Of a core, for looking at the results of batches under way."""
BEHIND = 10_000
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
WRITER = """
import sys, time
from burstlens.core.model import Receipt
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.making.results import Results

files, seconds = sys.argv[2:], float(sys.argv[1])
every, number, begin = 1.0 / len(files), 0, time.monotonic()
results = [Results(file) for file in files]
while (now := time.monotonic() - begin) < seconds:
    while number * every < now:
        receipt = Receipt("t2", "d01", "20050828T120000", 1, "uuid", ".incoming/a", "t2/a.png",
                          10, 11, {"started": time.time()}, {"size": [800, 600], "units": "K"})
        results[number % len(files)].write({number // len(files): OrderResult(receipt)})
        number += 1
    time.sleep(0.002)
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A short and a long backlog; tasks that do nothing; batches that write; a disk."""
    return [
        *_products(scratch, *((50, 300) if quick else (1000, 1000 + BEHIND))),
        *_tasks(scratch, 200 if quick else 2000),
        _choice(64, 32),
        *(
            figure
            for count in ((10, 100) if quick else (10, 100, 1000))
            for figure in _looks(scratch, count, 2.0 if quick else 10.0)
        ),
        *_disk(scratch, 50 if quick else 500),
    ]


def _products(scratch: Scratch, few: int, many: int) -> list[Figure]:
    """Two backlogs of products of 1 kB: what is between them is what products cost."""
    short, long = (_backlog(scratch, frames) for frames in (few, many))
    cpu = {role: [ran.census.cpu_s(role) for ran in (short, long)] for role in LOGIN}
    each = {role: 1000 * (after - before) / (many - few) for role, (before, after) in cpu.items()}
    sizes = [ran.census.rss_bytes("driver") / 1e6 for ran in (short, long)]
    note = f"{many} less {few} frames of a backlog, a product of 1 kB of each, 2 workers"
    return [
        Figure(f"{role}, CPU per product", ms, "ms", note=note) for role, ms in each.items()
    ] + [
        Figure(
            "driver, memory per 10,000 products", (sizes[1] - sizes[0]) / (many - few) * 10_000,
            "MB", note=f"{sizes[0]:.0f} MB after {few}, {sizes[1]:.0f} MB after {many}",
        ),
    ]  # fmt: skip


def _backlog(scratch: Scratch, frames: int) -> Ran:
    writer = {"frames": frames, "grid": [1, 8, 8], "variables": 1, "burst": True, "period": 0}
    return run(scratch, f"copies-{frames}", writer, COPY, workers=2, files={"copy.py": COPY_PY})


def _tasks(scratch: Scratch, count: int) -> list[Figure]:
    """Tasks that do nothing, through Parsl to a worker and back: each batch is one."""
    run = RunDir(scratch.runs / "tasks")
    run.create()
    with Graph(choose("local"), run, 1) as graph:
        graph.open_block()
        _end(graph, 10)
        before = _spent(graph)
        begin = time.monotonic()
        _end(graph, count)
        seconds, after = time.monotonic() - begin, _spent(graph)
    note = f"{count} tasks that do nothing, {count / seconds:.0f} per second"
    return [
        Figure(f"{role}, CPU per batch", 1000 * (after[role] - before[role]) / count, "ms",
               note=note)
        for role in LOGIN
    ]  # fmt: skip


def _choice(nodes: int, workers: int) -> Figure:
    """What the interchange takes to choose the node of a batch."""
    managers = {
        str(number).encode(): {"tasks": list(range(number, number + workers // 2)),
                               "max_capacity": workers + 1}
        for number in range(nodes)
    }  # fmt: skip
    chosen, begin = LeastLoaded(), time.process_time()
    for _ in range(1000):
        chosen.sort_managers(managers, managers.keys())
    ms = time.process_time() - begin  # of a thousand
    return Figure(f"choice of one of {nodes} nodes", ms, "ms of CPU")


def _end(graph: Graph, count: int) -> None:
    for _ in range(count):
        graph.view(Ask("nothing", os.getpid), os.getpid)
    done = 0
    while done < count:
        done += sum(1 for _ in graph.events(1.0))


def _spent(graph: Graph) -> dict[str, float]:
    assert graph._blocks is not None
    assert graph._blocks._block is not None
    pid = graph._blocks._block.interchange_proc.pid
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    interchange = (int(fields[11]) + int(fields[12])) * _TICK_S
    return {"driver": time.process_time(), "interchange": interchange}


def _looks(scratch: Scratch, count: int, seconds: float) -> list[Figure]:
    """The driver's looks at so many batches: silent ones, and such that write a result a second."""
    looks, _ = _sent(scratch, f"silent-{count}", count, 1)
    begin, spent, late = time.monotonic(), time.process_time(), list[float]()
    while time.monotonic() < begin + seconds:
        _look(looks, late)
    silent = (time.process_time() - spent) / seconds
    looks, files = _sent(scratch, f"writing-{count}", count, int(seconds) + 2)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(seconds), *files])
    begin, spent = time.monotonic(), time.process_time()
    while writer.poll() is None:
        _look(looks, late)
    writing = (time.process_time() - spent) / (time.monotonic() - begin)
    note = f"{len(late) / seconds:.0f} results per second found"
    return [
        Figure(f"looks at {count} silent batches", 100 * silent, "% of a core", 100 * MOST_PART,
               note=f"{seconds:g} s"),
        Figure(f"looks at {count} batches, each with a result per second", 100 * writing,
               "% of a core", note=note),
        Figure(f"a result of {count} batches is seen late by", 1000 * median(late), "ms",
               note=f"p95 {1000 * percentile(late, 0.95):.0f} ms"),
        _in_vain(looks),
    ]  # fmt: skip


def _sent(scratch: Scratch, name: str, count: int, orders: int) -> tuple[ResultFiles, list[str]]:
    folder = scratch.runs / name
    folder.mkdir()
    files = ResultFiles(folder)
    return files, [files.open(Batch(_orders(n, max(2, orders)))) for n in range(count)]


def _look(files: ResultFiles, late: list[float]) -> None:
    """A turn of the driver's loop; notes how long each result lay there."""
    time.sleep(files.wait_s(0.5))
    for event in files.look():
        found = [one.receipt for one in event.results.values() if one.receipt is not None]
        late += [time.time() - receipt.clock["started"] for receipt in found]


def _in_vain(files: ResultFiles) -> Figure:
    """What it costs to read a file that has nothing new."""
    looks: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        for file in files._files.values():
            file.read(0.0)
        looks.append(1e6 * (time.process_time() - begin) / len(files._files))
    name = f"a file of results without news, of {len(files._files)}"
    return Figure(name, median(looks), "µs of CPU", note=spread(looks))


def _orders(number: int, count: int) -> tuple[Order, ...]:
    time_key = f"t{number:08d}"
    frame = Frame("storm", 1, "d01", time_key, ("1/a.nc",), 0, 1000, 1.0, 1.1, "header")
    context = Context("storm", "Storm", product="t2", stream="d01", time=time_key, files=Path())
    return (Order("map", None, context, frame, "products"),) * count


def _disk(scratch: Scratch, count: int) -> list[Figure]:
    """What publication asks of the disk, for groups of one product and of twenty."""
    folder = scratch.runs / "disk"
    (folder / "incoming").mkdir(parents=True)
    steps: dict[str, Callable[[], None]] = {}
    log = (folder / "journal").open("ab", buffering=0)
    place = iter(range(count * 21 + 21))

    def rename() -> None:
        number = next(place)
        (folder / "incoming" / str(number)).write_bytes(b"x" * 1024)
        begin = time.perf_counter()
        os.replace(folder / "incoming" / str(number), folder / str(number))
        renames.append(time.perf_counter() - begin)

    def sync_line() -> None:
        log.write(b"x" * 600 + b"\n")
        os.fsync(log.fileno())

    renames: list[float] = []
    steps = {"fsync of the journal": sync_line, "fsync of a folder": lambda: sync_folder(folder)}
    found: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(count):
        rename()
        for name, step in steps.items():
            begin = time.perf_counter()
            step()
            found[name].append(time.perf_counter() - begin)
    log.close()
    found["rename"] = renames
    return [
        Figure(f"{name}, wall time", 1000 * median(values), "ms",
               note=f"p95 {1000 * percentile(values, 0.95):.3g} ms; once for each group that is "
               "published" if name != "rename" else "once for each file of a product")
        for name, values in found.items()
    ]  # fmt: skip
