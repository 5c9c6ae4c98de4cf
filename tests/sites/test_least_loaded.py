"""Which node of a viewing block gets the next task."""

from __future__ import annotations

from collections.abc import Sequence

from parsl.executors.high_throughput.manager_record import ManagerRecord
from parsl.executors.high_throughput.manager_selector import ManagerSelector

from burstlens.cluster_configs.parsl_internals import LeastLoaded, least_loaded


def first(**nodes: tuple[Sequence[int], int]) -> str:
    """The node that gets the next task, of nodes with these tasks and so many workers."""
    managers = {
        name.encode(): {"tasks": list(tasks), "max_capacity": capacity}
        for name, (tasks, capacity) in nodes.items()
    }
    return LeastLoaded().sort_managers(managers, set(managers))[-1].decode()


def test_the_node_with_the_largest_part_of_its_workers_idle_comes_first() -> None:
    assert first(full=([1, 2], 2), half=([3, 4], 4), most=([5], 4)) == "most"


def test_of_equal_nodes_the_one_whose_newest_task_is_the_oldest_comes_first() -> None:
    assert first(b=([7], 2), watches=([6], 2), c=([8], 2)) == "watches"


def test_batches_that_follow_each_other_go_to_different_nodes() -> None:
    managers = {name: {"tasks": list[int](), "max_capacity": 33} for name in (b"a", b"b", b"c")}
    managers[b"b"]["tasks"] = [1]  # it watches
    chosen = []
    for number in range(2, 5):
        chosen.append(LeastLoaded().sort_managers(managers, set(managers))[-1])
        managers[chosen[-1]]["tasks"].append(number)
    assert set(chosen) == set(managers)


def test_only_the_nodes_that_were_asked_about_are_sorted() -> None:
    managers = {name: {"tasks": [], "max_capacity": 2} for name in (b"a", b"b")}
    assert LeastLoaded().sort_managers(managers, {b"a"}) == [b"a"]


def test_parsl_still_asks_such_an_object_about_managers_with_these_fields() -> None:
    assert isinstance(least_loaded(), ManagerSelector)
    assert {"tasks", "max_capacity"} <= set(ManagerRecord.__annotations__)
